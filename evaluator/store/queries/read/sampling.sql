-- What a run may draw from.

-- name: answer_days(app)
-- How many answers each day has.
SELECT answered_day, count(*) AS n FROM items
WHERE app = :app AND source = 'traffic' AND answered_day IS NOT NULL GROUP BY answered_day ORDER BY answered_day;

-- name: sampling_order(app, day, most)
-- The answers of one day in the order in which they are drawn.
SELECT item_id, sample_key FROM items
WHERE app = :app AND source = 'traffic' AND answered_day = :day ORDER BY sample_key LIMIT :most;

-- name: sampling_order_of_segment(app, day, key, value, most)
-- The answers of one day and segment in the order in which they are drawn.
SELECT i.item_id, i.sample_key FROM items i JOIN item_tags t ON t.item_id = i.item_id
WHERE i.app = :app AND i.source = 'traffic' AND i.answered_day = :day AND t.key = :key AND t.value = :value
ORDER BY i.sample_key LIMIT :most;

-- name: segment_size(app, day, key, value)^
-- How many answers of one day belong to a segment.
SELECT count(*) AS n FROM items i JOIN item_tags t ON t.item_id = i.item_id
WHERE i.app = :app AND i.source = 'traffic' AND i.answered_day = :day AND t.key = :key AND t.value = :value;

-- name: to_grade_again(app, ruler_id, oldest_day)
-- Answers of recent days whose verdict has no score, with the probability they were drawn with. A run grades answers of
-- days before its own, so only recent runs can hold them.
SELECT v.item_id, v.unscored_reason, p.inclusion_probability
FROM runs r JOIN verdicts v ON v.app = r.app AND v.ruler_id = r.ruler_id AND v.run_id = r.run_id AND v.score IS NULL
JOIN items i ON i.item_id = v.item_id
JOIN planned_items p ON p.run_id = v.run_id AND p.item_id = v.item_id
WHERE r.app = :app AND r.ruler_id = :ruler_id AND r.slot_day >= :oldest_day AND v.slot_utc = ''
    AND i.answered_day >= :oldest_day AND i.deleted_utc IS NULL
ORDER BY i.sample_key;

-- name: times_planned(app, ruler_id, item_id)^
-- In how many runs an answer was planned.
SELECT count(*) AS n FROM runs r JOIN planned_items p ON p.run_id = r.run_id
WHERE r.app = :app AND r.ruler_id = :ruler_id AND r.purpose = 'scheduled' AND p.item_id = :item_id;
