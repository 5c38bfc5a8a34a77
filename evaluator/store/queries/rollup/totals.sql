-- Follows the members: sums per segment and run, with the cluster sums. Parameters: app, source, day.
, cluster AS (
    SELECT ruler_id, criterion, segment_id, run_id, cluster_id, count(score) AS n, count(*) - count(score) AS n_unscored,
           coalesce(sum(CASE WHEN score IS NULL THEN 0 ELSE w END), 0) AS sum_w,
           coalesce(sum(CASE WHEN score IS NULL THEN 0 ELSE w * w END), 0) AS sum_w2,
           coalesce(sum(w * score), 0) AS sum_wy, coalesce(sum(w * w * score), 0) AS sum_w2y,
           coalesce(sum(w * w * score * score), 0) AS sum_w2y2
    FROM member GROUP BY ruler_id, criterion, segment_id, run_id, cluster_id
)
INSERT INTO daily_scores (app, ruler_id, criterion, source, segment_id, day, run_id, n, n_unscored, sum_w, sum_w2,
    sum_wy, sum_w2y, sum_w2y2, n_clusters, sum_t2, sum_tw, sum_ww)
SELECT :app, ruler_id, criterion, :source, segment_id, :day, run_id, sum(n), sum(n_unscored), sum(sum_w), sum(sum_w2),
    sum(sum_wy), sum(sum_w2y), sum(sum_w2y2), sum(CASE WHEN n > 0 THEN 1 ELSE 0 END), sum(sum_wy * sum_wy),
    sum(sum_wy * sum_w), sum(sum_w * sum_w)
FROM cluster GROUP BY ruler_id, criterion, segment_id, run_id
