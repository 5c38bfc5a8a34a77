-- Follows the members: how many of each level of the scale. The level of a score between two levels is the nearer
-- one, the upper one of a tie. Parameters: app, source, day.
, scale AS (
    SELECT r.ruler_id, b.scale_min,
           (b.scale_max - b.scale_min) / (CASE WHEN b.n_levels > 1 THEN b.n_levels - 1 ELSE 1 END) AS step
    FROM rulers r JOIN rubrics b ON b.rubric_id = r.rubric_id
)
INSERT INTO daily_levels (app, ruler_id, criterion, source, segment_id, day, run_id, level, n, sum_w)
SELECT :app, m.ruler_id, m.criterion, :source, m.segment_id, :day, m.run_id,
    scale.scale_min + round((m.score - scale.scale_min) / scale.step) * scale.step AS level, count(*), sum(m.w)
FROM member m JOIN scale ON scale.ruler_id = m.ruler_id
WHERE m.score IS NOT NULL
GROUP BY m.ruler_id, m.criterion, m.segment_id, m.run_id, level
