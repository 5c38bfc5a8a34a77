-- Runs: what they planned, how far they came, what answered.

-- name: runs(app, aside, most)
-- The newest runs with what came of them, those that stand aside if wanted (1); the totals of one that is under way are
-- not kept yet.
SELECT r.run_id, r.ruler_id, a.position AS setup, r.slot_utc, r.slot_day, r.kind, r.purpose, r.status, r.stop_reason, r.message,
    r.not_counted,
    r.started_utc, r.finished_utc, r.n_anchors, r.n_traffic, r.n_scored_anchor, r.n_scored_traffic, r.n_unscored_anchor,
    r.n_unscored_traffic, r.n_calls, r.cost_usd, r.prompt_tokens, r.completion_tokens, r.reasons_json
FROM runs r JOIN app_rulers a ON a.app = r.app AND a.ruler_id = r.ruler_id
WHERE r.app = :app AND (:aside = 1 OR r.purpose NOT IN ('recheck', 'pick'))
ORDER BY r.slot_utc DESC, r.started_utc DESC
LIMIT :most;

-- name: run_outcomes(run_id)
-- Verdicts of one run by source and reason; an anchor's verdict names its slot, an answer's does not, unless the run
-- stands aside.
SELECT CASE WHEN v.slot_utc = '' OR r.purpose IN ('recheck', 'pick') THEN 'traffic' ELSE 'anchor' END AS source,
    v.unscored_reason, count(*) AS n
FROM verdicts v JOIN runs r ON r.run_id = v.run_id WHERE v.run_id = :run_id
GROUP BY 1, 2;

-- name: run_calls(run_id)^
-- Calls and money of one run, retries included.
SELECT count(*) AS n_calls, coalesce(sum(cost_usd), 0) AS cost_usd, coalesce(sum(prompt_tokens), 0) AS prompt_tokens,
    coalesce(sum(completion_tokens), 0) AS completion_tokens
FROM attempts WHERE run_id = :run_id;

-- name: run_slots(app)
-- The scheduled instant of every run.
SELECT run_id, slot_utc, slot_day FROM runs WHERE app = :app AND purpose IN ('scheduled', 'imported');

-- name: run_at(app, ruler_id, slot_utc)^
-- The run of one scheduled instant.
SELECT run_id, app, ruler_id, anchor_set_id, slot_utc, slot_day, kind, status, n_anchors, n_traffic, purpose
FROM runs WHERE app = :app AND ruler_id = :ruler_id AND slot_utc = :slot_utc;

-- name: open_runs(app, before_slot_utc)
-- Runs of earlier slots that did not come to the end of their plan: interrupted, stopped, under way; or failed with
-- answers that were never tried.
SELECT run_id, app, ruler_id, anchor_set_id, slot_utc, slot_day, kind, status, message, n_anchors, n_traffic
FROM runs r
WHERE r.app = :app AND r.purpose = 'scheduled' AND r.slot_utc < :before_slot_utc AND (r.status IN ('running', 'stopped') OR (r.status = 'failed'
    AND EXISTS (SELECT 1 FROM planned_items p WHERE p.run_id = r.run_id AND p.source = 'traffic' AND NOT EXISTS (
        SELECT 1 FROM verdicts v WHERE v.item_id = p.item_id AND v.ruler_id = r.ruler_id AND v.slot_utc = ''))))
ORDER BY r.slot_utc;

-- name: run_left(run_id)
-- What a run still has to grade: items without a verdict of this slot, or whose verdict failed in a way that may pass.
SELECT p.item_id, p.source, p.position, v.unscored_reason
FROM planned_items p JOIN runs r ON r.run_id = p.run_id
LEFT JOIN verdicts v ON v.item_id = p.item_id AND v.ruler_id = r.ruler_id AND v.repeat = 0
    AND v.slot_utc = CASE WHEN p.source = 'anchor' OR r.purpose IN ('recheck', 'pick') THEN r.slot_utc ELSE '' END
WHERE p.run_id = :run_id AND v.score IS NULL
ORDER BY p.position;

-- name: run_size(run_id)^
-- How much a run planned.
SELECT n_anchors, n_traffic FROM runs WHERE run_id = :run_id;

-- name: instruments_of_run(run_id)
-- What answered in a run, commonest first.
SELECT n.instrument_id, n.resolved_model, n.fingerprint, n.output_mode, n.parameters_json, count(*) AS n
FROM verdicts v JOIN instruments n ON n.instrument_id = v.instrument_id
WHERE v.run_id = :run_id
GROUP BY n.instrument_id, n.resolved_model, n.fingerprint, n.output_mode, n.parameters_json
ORDER BY count(*) DESC, n.instrument_id;

-- name: runs_before(app, ruler_id, slot_utc, most)
-- The runs of a judge setup before a slot, newest first.
SELECT run_id, slot_utc FROM runs
WHERE app = :app AND ruler_id = :ruler_id AND purpose = 'scheduled' AND slot_utc < :slot_utc
ORDER BY slot_utc DESC LIMIT :most;
