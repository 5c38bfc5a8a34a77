-- Answers, one by one: drill-down, always with a limit.

-- name: item(item_id)^
-- One item with its text.
SELECT item_id, app, source, external_id, version, input, output, reference, contexts_json, conversation_id, user_id,
    answered_utc, answered_day, answer_model, flags, deleted_utc
FROM items WHERE item_id = :item_id;

-- name: items_by_id_start(app, start, end)
-- Items whose id begins with some characters, or whose id in the user's own system is these; newest versions first. A
-- copy for a recheck (version 0) stands in for an answer that is not here otherwise.
-- Each way has an index of its own; joined by OR neither would be used.
SELECT f.item_id, f.external_id FROM (
    SELECT item_id, external_id, version FROM items WHERE app = :app AND external_id = :start AND (version > 0
        OR NOT EXISTS (SELECT 1 FROM items o WHERE o.app = :app AND o.external_id = :start AND o.version > 0))
    UNION
    SELECT item_id, external_id, version FROM (
        SELECT item_id, external_id, version, app FROM items WHERE item_id >= :start AND item_id < :end
        ORDER BY item_id LIMIT 100) s
    WHERE s.app = :app) f
ORDER BY f.version DESC, f.item_id LIMIT 3;

-- name: count_in_totals(app, ruler_id, source, first_day, last_day)^
-- Verdicts of a period by the daily totals, and how many of its days are not up to date in them.
SELECT coalesce(sum(d.n + d.n_unscored), 0) AS n,
    (SELECT count(*) FROM stale_days s WHERE s.app = :app AND s.source = :source
        AND s.day >= :first_day AND s.day <= :last_day) AS n_stale
FROM daily_scores d JOIN segments s ON s.segment_id = d.segment_id AND s.key = ''
WHERE d.app = :app AND d.ruler_id = :ruler_id AND d.source = :source AND d.day >= :first_day AND d.day <= :last_day;

-- name: item_tags(item_id)
-- The tags of an item.
SELECT key, value FROM item_tags WHERE item_id = :item_id ORDER BY key;

-- name: anchor_of_item(item_id)^
-- What is known of an item as an anchor.
SELECT a.anchor_id, a.expected_score, a.why FROM anchors a JOIN anchor_sets s ON s.anchor_set_id = a.anchor_set_id
WHERE a.item_id = :item_id ORDER BY s.loaded_utc DESC LIMIT 1;

-- name: verdicts_of_item(item_id, most)
-- Every verdict on an item, newest first; those of runs that stand aside come after the others.
SELECT v.verdict_id, v.ruler_id, v.criterion, v.slot_utc, v.run_id, r.slot_day, r.purpose, v.score, v.unscored_reason, v.explanation,
    v.strengths_json, v.weaknesses_json, v.thinking, v.raw_reply, v.detail, v.finish_reason, v.prompt_cut,
    v.prompt_tokens, v.completion_tokens, v.cost_usd, v.latency_ms, v.graded_utc, n.resolved_model, n.fingerprint,
    n.output_mode
FROM verdicts v JOIN runs r ON r.run_id = v.run_id LEFT JOIN instruments n ON n.instrument_id = v.instrument_id
WHERE v.item_id = :item_id
ORDER BY CASE WHEN r.purpose IN ('recheck', 'pick') THEN 1 ELSE 0 END, r.slot_utc DESC LIMIT :most;

-- name: attempts_of_item(item_id, most)
-- Every call made for an item, newest first; found by way of the runs, which are few.
SELECT t.attempt_id, t.run_id, t.started_utc, t.duration_ms, t.http_status, t.reason, t.message, t.prompt_tokens,
    t.completion_tokens, t.cost_usd
FROM items i JOIN runs r ON r.app = i.app JOIN attempts t ON t.run_id = r.run_id AND t.item_id = i.item_id
WHERE i.item_id = :item_id ORDER BY t.attempt_id DESC LIMIT :most;
