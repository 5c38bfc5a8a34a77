-- Answers, one by one: drill-down, always with a limit.

-- name: item(item_id)^
-- One item with its text.
SELECT item_id, app, source, external_id, version, input, output, reference, contexts_json, conversation_id, user_id,
    answered_utc, answered_day, answer_model, flags
FROM items WHERE item_id = :item_id;

-- name: items_by_id_start(app, start, end)
-- Items whose id, or whose id in the user's own system, begins with some characters.
SELECT item_id, external_id FROM items
WHERE app = :app AND ((item_id >= :start AND item_id < :end) OR external_id = :start) LIMIT 3;

-- name: item_tags(item_id)
-- The tags of an item.
SELECT key, value FROM item_tags WHERE item_id = :item_id ORDER BY key;

-- name: anchor_of_item(item_id)^
-- What is known of an item as an anchor.
SELECT a.anchor_id, a.expected_score, a.why FROM anchors a JOIN anchor_sets s ON s.anchor_set_id = a.anchor_set_id
WHERE a.item_id = :item_id ORDER BY s.loaded_utc DESC LIMIT 1;

-- name: verdicts_of_item(item_id, most)
-- Every verdict on an item, newest first.
SELECT v.verdict_id, v.ruler_id, v.criterion, v.slot_utc, v.run_id, r.slot_day, v.score, v.unscored_reason, v.explanation,
    v.strengths_json, v.weaknesses_json, v.thinking, v.raw_reply, v.detail, v.finish_reason, v.prompt_cut,
    v.prompt_tokens, v.completion_tokens, v.cost_usd, v.latency_ms, v.graded_utc, n.resolved_model, n.fingerprint,
    n.output_mode
FROM verdicts v JOIN runs r ON r.run_id = v.run_id LEFT JOIN instruments n ON n.instrument_id = v.instrument_id
WHERE v.item_id = :item_id ORDER BY r.slot_utc DESC LIMIT :most;

-- name: attempts_of_item(item_id, most)
-- Every call made for an item, newest first.
SELECT attempt_id, run_id, started_utc, duration_ms, http_status, reason, message, prompt_tokens, completion_tokens, cost_usd
FROM attempts WHERE item_id = :item_id ORDER BY attempt_id DESC LIMIT :most;

-- name: run_left(run_id)
-- What a run still has to grade: items without a verdict of this slot, or whose verdict failed in a way that may pass.
SELECT p.item_id, p.source, p.position, v.unscored_reason
FROM planned_items p JOIN runs r ON r.run_id = p.run_id
LEFT JOIN verdicts v ON v.app = r.app AND v.ruler_id = r.ruler_id AND v.item_id = p.item_id AND v.repeat = 0
    AND v.slot_utc = CASE WHEN p.source = 'anchor' THEN r.slot_utc ELSE '' END
WHERE p.run_id = :run_id AND v.score IS NULL
ORDER BY p.position;

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

-- name: segment_size(app, day, key, value)$
-- How many answers of one day belong to a segment.
SELECT count(*) FROM items i JOIN item_tags t ON t.item_id = i.item_id
WHERE i.app = :app AND i.source = 'traffic' AND i.answered_day = :day AND t.key = :key AND t.value = :value;

-- name: to_grade_again(app, ruler_id, most_attempts, oldest_day)
-- Answers whose verdict failed in a way that may pass, with the probability they were drawn with.
SELECT v.item_id, v.unscored_reason, p.inclusion_probability
FROM verdicts v JOIN items i ON i.item_id = v.item_id
JOIN planned_items p ON p.run_id = v.run_id AND p.item_id = v.item_id
WHERE v.app = :app AND v.ruler_id = :ruler_id AND v.slot_utc = '' AND v.score IS NULL AND i.answered_day >= :oldest_day
    AND (SELECT count(*) FROM planned_items q JOIN runs x ON x.run_id = q.run_id
         WHERE q.item_id = v.item_id AND x.ruler_id = v.ruler_id) < :most_attempts
ORDER BY i.sample_key;

-- name: counts(app)^
-- How much there is.
SELECT (SELECT count(*) FROM items WHERE app = :app AND source = 'traffic') AS n_answers,
    (SELECT count(*) FROM items WHERE app = :app AND source = 'traffic' AND answered_utc IS NULL) AS n_without_time,
    (SELECT count(*) FROM runs WHERE app = :app) AS n_runs,
    (SELECT count(*) FROM verdicts WHERE app = :app) AS n_verdicts,
    (SELECT count(score) FROM verdicts WHERE app = :app) AS n_scored,
    (SELECT min(answered_day) FROM items WHERE app = :app AND source = 'traffic') AS first_day,
    (SELECT max(answered_day) FROM items WHERE app = :app AND source = 'traffic') AS last_day;
