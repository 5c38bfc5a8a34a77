-- Rechecks: stored scores of one's own judge, graded again. The run of a recheck is of the instant it started.

-- name: recheck(recheck_id)^
-- One recheck.
SELECT c.recheck_id, c.app, c.ruler_id, c.criterion, c.run_id, c.source, c.file_sha256, c.stored_judge, c.n_asked,
    c.settings_json, c.started_utc, c.finished_utc, c.result_json
FROM rechecks c WHERE c.recheck_id = :recheck_id;

-- name: rechecks(app, most)
-- The rechecks of an app, newest first.
SELECT c.recheck_id, c.app, c.ruler_id, c.criterion, c.run_id, c.source, c.file_sha256, c.stored_judge, c.n_asked,
    c.settings_json, c.started_utc, c.finished_utc, c.result_json
FROM rechecks c WHERE c.app = :app ORDER BY c.started_utc DESC, c.recheck_id LIMIT :most;

-- name: recheck_ids(app, start)
-- Ids of rechecks that begin like this, three at most.
SELECT c.recheck_id FROM rechecks c
WHERE c.app = :app AND substr(c.recheck_id, 1, length(:start)) = :start ORDER BY c.recheck_id LIMIT 3;

-- name: same_recheck(app, ruler_id, file_sha256, n_asked, settings_json)^
-- The newest recheck that asked the same of the same file.
SELECT c.recheck_id, c.app, c.ruler_id, c.criterion, c.run_id, c.source, c.file_sha256, c.stored_judge, c.n_asked,
    c.settings_json, c.started_utc, c.finished_utc, c.result_json
FROM rechecks c
WHERE c.app = :app AND c.ruler_id = :ruler_id AND c.file_sha256 = :file_sha256 AND c.n_asked = :n_asked
    AND c.settings_json = :settings_json
ORDER BY c.started_utc DESC LIMIT 1;

-- name: recheck_scores(recheck_id)
-- Both scores of every answer of a recheck; no verdict yet: neither a score nor a reason.
SELECT k.item_id, k.part, k.stored_score, k.stored_utc, i.cluster_id, i.external_id, v.verdict_id, v.score,
    v.unscored_reason, v.explanation
FROM rechecks c
CROSS JOIN recheck_items k ON k.recheck_id = c.recheck_id
CROSS JOIN items i ON i.item_id = k.item_id
LEFT JOIN verdicts v ON v.app = c.app AND v.ruler_id = c.ruler_id AND v.criterion = c.criterion
    AND v.item_id = k.item_id AND v.repeat = 0 AND v.slot_utc = c.started_utc
WHERE c.recheck_id = :recheck_id
ORDER BY i.sample_key, k.item_id;
