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
-- The segments of an app; key '' is everything.
SELECT segment_id, key, value, key2, value2 FROM segments WHERE app = :app ORDER BY key, key2, value, value2;

-- name: segment_keys(app)
-- The keys an app is broken down by, in order.
SELECT key, key2 FROM segment_keys WHERE app = :app ORDER BY position;

-- name: anchor_scores(app, ruler_id, criterion)
-- Every anchor verdict with its run, for the matrix run x anchor. A failed run is left out.
SELECT r.slot_utc, r.slot_day, r.run_id, v.item_id, v.score
FROM runs r JOIN verdicts v ON v.run_id = r.run_id AND v.slot_utc = r.slot_utc
WHERE r.app = :app AND r.ruler_id = :ruler_id AND v.criterion = :criterion AND r.status <> 'failed' AND v.repeat = 0
ORDER BY r.slot_utc, v.item_id;

-- name: anchor_runs(app, ruler_id)
-- Every run that planned anchors, in the order of the slots.
SELECT run_id, slot_utc, slot_day, status, anchor_set_id, n_anchors FROM runs
WHERE app = :app AND ruler_id = :ruler_id AND n_anchors > 0 ORDER BY slot_utc;

-- name: anchors_of_set(anchor_set_id)
-- The anchors of a set in their order.
SELECT a.anchor_id, a.item_id, a.expected_score, a.why, a.position
FROM anchors a WHERE a.anchor_set_id = :anchor_set_id ORDER BY a.position;

-- name: anchor_names(app)
-- Name and expected score of every anchor item an app ever used; a later set's word replaces an earlier one's.
SELECT a.item_id, a.anchor_id, a.expected_score, a.why
FROM anchors a JOIN items i ON i.item_id = a.item_id JOIN anchor_sets s ON s.anchor_set_id = a.anchor_set_id
WHERE i.app = :app ORDER BY s.loaded_utc, a.position;

-- name: sampled_days(app, ruler_id)
-- The samples drawn: how many answers a day had and how many were planned.
SELECT answered_day, run_id, n_answers, n_planned FROM sampled_days
WHERE app = :app AND ruler_id = :ruler_id ORDER BY answered_day;

-- name: unscored_reasons(app, ruler_id, source, first_day, last_day)
-- Why verdicts have no score, per day.
SELECT CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE i.answered_day END AS day, v.unscored_reason, count(*) AS n
FROM verdicts v JOIN items i ON i.item_id = v.item_id JOIN runs r ON r.run_id = v.run_id
WHERE v.app = :app AND v.ruler_id = :ruler_id AND i.source = :source AND v.score IS NULL
    AND (CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE i.answered_day END) >= :first_day
    AND (CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE i.answered_day END) <= :last_day
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: newest_analysis(app, ruler_id, criterion)^
-- The newest stored analysis of a judge setup.
SELECT store_revision, first_day, last_day, baseline, settings_hash, code_version, schema_version, computed_utc, payload_json
FROM analyses
WHERE app = :app AND ruler_id = :ruler_id AND criterion = :criterion
ORDER BY store_revision DESC, analysis_id DESC LIMIT 1;
