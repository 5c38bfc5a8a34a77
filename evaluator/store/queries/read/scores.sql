-- Scores as totals: what charts and analyses are made of.

-- name: day_totals(app, ruler_id, criterion, source, segment_id, first_day, last_day)
-- Totals per day and run of one segment.
SELECT day, run_id, n, n_unscored, sum_w, sum_w2, sum_wy, sum_w2y, sum_w2y2, n_clusters, sum_t2, sum_tw, sum_ww
FROM daily_scores
WHERE app = :app AND ruler_id = :ruler_id AND criterion = :criterion AND source = :source
    AND segment_id = :segment_id AND day >= :first_day AND day <= :last_day
ORDER BY day, run_id;

-- name: segment_day_totals(app, ruler_id, criterion, source, first_day, last_day)
-- Totals per segment, day and run, all segments.
SELECT segment_id, day, run_id, n, n_unscored, sum_w, sum_w2, sum_wy, sum_w2y, sum_w2y2, n_clusters, sum_t2, sum_tw, sum_ww
FROM daily_scores
WHERE app = :app AND ruler_id = :ruler_id AND criterion = :criterion AND source = :source
    AND day >= :first_day AND day <= :last_day
ORDER BY segment_id, day, run_id;

-- name: day_levels(app, ruler_id, criterion, source, segment_id, first_day, last_day)
-- How many of each level of the scale, per day.
SELECT day, level, sum(n) AS n, sum(sum_w) AS sum_w
FROM daily_levels
WHERE app = :app AND ruler_id = :ruler_id AND criterion = :criterion AND source = :source
    AND segment_id = :segment_id AND day >= :first_day AND day <= :last_day
GROUP BY day, level ORDER BY day, level;

-- name: score_days(app, ruler_id)^
-- First and last day with totals, of either source.
SELECT min(day) AS first_day, max(day) AS last_day FROM daily_scores WHERE app = :app AND ruler_id = :ruler_id;

-- name: segments(app)
-- The segments of the keys in use; key '' is everything.
SELECT s.segment_id, s.key, s.value, s.key2, s.value2 FROM segments s
WHERE s.app = :app AND (s.key = '' OR EXISTS (
    SELECT 1 FROM segment_keys k WHERE k.app = s.app AND k.key = s.key AND k.key2 = s.key2))
ORDER BY s.key, s.key2, s.value, s.value2;

-- name: segment_keys(app)
-- The keys an app is broken down by, in order.
SELECT key, key2 FROM segment_keys WHERE app = :app ORDER BY position;

-- name: sampled_days(app, ruler_id)
-- The samples drawn: how many answers a day had and how many were planned.
SELECT answered_day, run_id, n_answers, n_planned FROM sampled_days
WHERE app = :app AND ruler_id = :ruler_id ORDER BY answered_day;

-- name: unscored_reasons(app, ruler_id, source, first_day, last_day)
-- Why verdicts have no score, per day; runs that stand aside are left out.
SELECT CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE i.answered_day END AS day, v.unscored_reason, count(*) AS n
FROM verdicts v JOIN items i ON i.item_id = v.item_id JOIN runs r ON r.run_id = v.run_id
WHERE v.app = :app AND v.ruler_id = :ruler_id AND i.source = :source AND v.score IS NULL
    AND r.purpose NOT IN ('recheck', 'pick')
    AND (CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE i.answered_day END) >= :first_day
    AND (CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE i.answered_day END) <= :last_day
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: newest_analysis(app, ruler_id, criterion)^
-- The newest stored analysis of a judge setup.
SELECT store_revision, first_day, last_day, baseline, settings_hash, code_version, schema_version, computed_utc, payload_json
FROM analyses
WHERE app = :app AND ruler_id = :ruler_id AND criterion = :criterion
ORDER BY store_revision DESC, analysis_id DESC LIMIT 1;
