-- Calls of runs, as the search for answers out of a cache compares them.

-- name: anchor_calls(run_id)
-- The usable calls of a run's anchors in the order they were made, each with what the judge wrote in the end.
SELECT t.item_id, t.started_utc, t.duration_ms, t.http_status, t.completion_id, t.completion_created,
    t.prompt_tokens, t.completion_tokens, v.raw_reply
FROM attempts t
CROSS JOIN planned_items p ON p.run_id = t.run_id AND p.item_id = t.item_id AND p.source = 'anchor'
CROSS JOIN runs r ON r.run_id = t.run_id
LEFT JOIN verdicts v ON v.app = r.app AND v.ruler_id = t.ruler_id AND v.criterion = t.criterion
    AND v.item_id = t.item_id AND v.repeat = t.repeat AND v.slot_utc = r.slot_utc
WHERE t.run_id = :run_id AND t.reason IS NULL
ORDER BY t.attempt_id;

-- name: runs_to_compare(run_id, most)
-- The newest scheduled runs of the same judge setup that began before a run, graded anchors, and count.
SELECT e.run_id, e.started_utc, e.slot_utc
FROM runs r JOIN runs e ON e.app = r.app AND e.ruler_id = r.ruler_id
WHERE r.run_id = :run_id AND e.run_id <> r.run_id AND e.started_utc <= r.started_utc AND e.n_scored_anchor > 0
    AND e.purpose = 'scheduled' AND e.not_counted = '' AND e.status <> 'running'
ORDER BY e.started_utc DESC, e.slot_utc DESC LIMIT :most;

-- name: run_before(run_id)^
-- The scheduled run of the same judge setup that planned anchors for the slot before.
SELECT e.run_id, e.not_counted
FROM runs r JOIN runs e ON e.app = r.app AND e.ruler_id = r.ruler_id
WHERE r.run_id = :run_id AND e.slot_utc < r.slot_utc AND e.n_anchors > 0 AND e.purpose = 'scheduled'
ORDER BY e.slot_utc DESC LIMIT 1;

-- name: recent_durations(app, ruler_id, most)
-- How long the usable calls of a judge setup's three newest runs took, in milliseconds.
SELECT duration_ms FROM attempts
WHERE reason IS NULL AND run_id IN (
    SELECT run_id FROM runs WHERE app = :app AND ruler_id = :ruler_id AND purpose <> 'imported'
    ORDER BY started_utc DESC LIMIT 3)
LIMIT :most;
