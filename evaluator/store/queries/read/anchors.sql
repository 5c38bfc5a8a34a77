-- Anchors: their sets, their names, and every score they were given.

-- name: anchor_scores(app, ruler_id, criterion)
-- Every anchor verdict with its run, for the matrix run x anchor. A failed run, and one that does not count, is left
-- out.
SELECT r.slot_utc, r.slot_day, r.run_id, v.item_id, v.score
FROM verdicts v JOIN runs r ON r.run_id = v.run_id
WHERE v.app = :app AND v.ruler_id = :ruler_id AND v.criterion = :criterion AND v.slot_utc <> '' AND v.repeat = 0
    AND r.status <> 'failed' AND r.purpose = 'scheduled' AND r.not_counted = ''
ORDER BY v.slot_utc, v.item_id;

-- name: anchor_runs(app, ruler_id)
-- Every run that planned anchors, in the order of the slots.
SELECT run_id, slot_utc, slot_day, status, anchor_set_id, n_anchors, not_counted FROM runs
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

-- name: anchor_set(anchor_set_id)^
-- A set: its name, how many anchors it has, and when it was first used.
SELECT anchor_set_id, name, n_anchors, loaded_utc FROM anchor_sets WHERE anchor_set_id = :anchor_set_id;
