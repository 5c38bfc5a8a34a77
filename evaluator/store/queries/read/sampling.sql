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

-- name: to_grade_again(app, ruler_id, most_attempts, oldest_day)
-- Answers whose verdict failed in a way that may pass, with the probability they were drawn with.
SELECT v.item_id, v.unscored_reason, p.inclusion_probability
FROM verdicts v JOIN items i ON i.item_id = v.item_id
JOIN planned_items p ON p.run_id = v.run_id AND p.item_id = v.item_id
WHERE v.app = :app AND v.ruler_id = :ruler_id AND v.slot_utc = '' AND v.score IS NULL AND i.answered_day >= :oldest_day
    AND (SELECT count(*) FROM runs x JOIN planned_items q ON q.run_id = x.run_id AND q.item_id = v.item_id
         WHERE x.app = :app AND x.ruler_id = :ruler_id) < :most_attempts
ORDER BY i.sample_key;
