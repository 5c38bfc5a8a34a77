-- Apps, judge setups (rulers), runs, events.

-- name: apps()
-- Every app that has answers, runs or judge setups.
SELECT app FROM (SELECT DISTINCT app FROM runs UNION SELECT DISTINCT app FROM imports UNION SELECT DISTINCT app FROM app_rulers) a
ORDER BY app;

-- name: rulers(app)
-- The app's judge setups in the order of their first use, with the days they were used on.
SELECT a.position, r.ruler_id, r.model_asked, r.output_mode, r.parameters_json, r.prompt_template, r.first_used_utc,
    b.rubric_id, b.name AS rubric_name, b.criterion, b.scale_min, b.scale_max, b.body_json AS rubric_json,
    (SELECT min(slot_day) FROM runs x WHERE x.app = a.app AND x.ruler_id = a.ruler_id) AS first_day,
    (SELECT max(slot_day) FROM runs x WHERE x.app = a.app AND x.ruler_id = a.ruler_id) AS last_day,
    (SELECT count(*) FROM runs x WHERE x.app = a.app AND x.ruler_id = a.ruler_id) AS n_runs
FROM app_rulers a JOIN rulers r ON r.ruler_id = a.ruler_id JOIN rubrics b ON b.rubric_id = r.rubric_id
WHERE a.app = :app
ORDER BY a.position;

-- name: runs(app, most)
-- The newest runs with what came of their plan. An anchor's verdict belongs to the slot, an answer's to the run.
SELECT r.run_id, r.ruler_id, a.position AS setup, r.slot_utc, r.slot_day, r.kind, r.status, r.stop_reason, r.message,
    r.started_utc, r.finished_utc, r.n_anchors, r.n_traffic
FROM runs r JOIN app_rulers a ON a.app = r.app AND a.ruler_id = r.ruler_id
WHERE r.app = :app
ORDER BY r.slot_utc DESC, r.started_utc DESC
LIMIT :most;

-- name: run_outcomes(app, first_slot)
-- Verdicts per run, source and reason for runs from a slot on.
SELECT r.run_id, i.source, v.unscored_reason, count(*) AS n, sum(v.cost_usd) AS cost_usd
FROM runs r JOIN verdicts v ON v.run_id = r.run_id JOIN items i ON i.item_id = v.item_id
WHERE r.app = :app AND r.slot_utc >= :first_slot
GROUP BY r.run_id, i.source, v.unscored_reason;

-- name: run_calls(app, first_slot)
-- Calls and money per run, retries included.
SELECT r.run_id, count(*) AS n_calls, sum(t.cost_usd) AS cost_usd, sum(coalesce(t.prompt_tokens, 0)) AS prompt_tokens,
    sum(coalesce(t.completion_tokens, 0)) AS completion_tokens
FROM runs r JOIN attempts t ON t.run_id = r.run_id
WHERE r.app = :app AND r.slot_utc >= :first_slot
GROUP BY r.run_id;

-- name: run_at(app, ruler_id, slot_utc)^
-- The run of one scheduled instant.
SELECT run_id, app, ruler_id, anchor_set_id, slot_utc, slot_day, kind, status, n_anchors, n_traffic
FROM runs WHERE app = :app AND ruler_id = :ruler_id AND slot_utc = :slot_utc;

-- name: open_runs(app)
-- Runs that are not finished: interrupted, stopped, or under way.
SELECT run_id, app, ruler_id, anchor_set_id, slot_utc, slot_day, kind, status, message, n_anchors, n_traffic
FROM runs WHERE app = :app AND status IN ('running', 'stopped') ORDER BY slot_utc;

-- name: events(app, first_day, last_day)
-- What was logged in a period.
SELECT event_id, at_utc, day, kind, ruler_id, run_id, text, detail_json, by_whom
FROM events WHERE app = :app AND day >= :first_day AND day <= :last_day ORDER BY at_utc, event_id;

-- name: instruments_by_run(app, ruler_id)
-- What answered, per run, in the order of the slots.
SELECT r.run_id, r.slot_utc, r.slot_day, n.instrument_id, n.resolved_model, n.fingerprint, n.output_mode,
    n.parameters_json, count(*) AS n
FROM runs r JOIN verdicts v ON v.run_id = r.run_id JOIN instruments n ON n.instrument_id = v.instrument_id
WHERE r.app = :app AND r.ruler_id = :ruler_id
GROUP BY r.run_id, r.slot_utc, r.slot_day, n.instrument_id, n.resolved_model, n.fingerprint, n.output_mode, n.parameters_json
ORDER BY r.slot_utc, n.instrument_id;

-- name: run_counts(run_id)^
-- How far a run's plan is: verdicts with a score, verdicts without one.
SELECT r.n_anchors, r.n_traffic,
    (SELECT count(v.score) FROM verdicts v WHERE v.run_id = r.run_id) AS n_scored,
    (SELECT count(*) FROM verdicts v WHERE v.run_id = r.run_id AND v.score IS NULL) AS n_unscored
FROM runs r WHERE r.run_id = :run_id;

-- name: run_slots(app)
-- The scheduled instant of every run.
SELECT run_id, slot_utc, slot_day FROM runs WHERE app = :app;
