-- Picking anchors: what may be drawn, what was drawn, what came of it; and the anchor set that was used last.

-- name: pick_pool_size(app, first_day, last_day, undated)^
-- How many answers a pick may draw from; undated is the day that stands for none.
SELECT count(*) AS n FROM items
WHERE app = :app AND source = 'traffic' AND coalesce(answered_day, :undated) >= :first_day
    AND coalesce(answered_day, :undated) <= :last_day;

-- name: pick_pool(app, first_day, last_day, undated, bound, most)
-- Answers drawn uniformly (the first in the order of the hash), with what decides whether they can be anchors. The
-- bound of the order lets the index alone pass over most answers; rows are read for few.
SELECT i.item_id, i.content_id, i.deleted_utc, length(i.input) AS n_input, length(i.output) AS n_output,
    coalesce(length(i.reference), 0) + length(i.contexts_json) AS n_beside
FROM (SELECT item_id FROM items
    WHERE app = :app AND source = 'traffic' AND version > 0 AND coalesce(answered_day, :undated) >= :first_day
        AND coalesce(answered_day, :undated) <= :last_day AND sample_key < :bound
    ORDER BY sample_key, item_id LIMIT :most) drawn
JOIN items i ON i.item_id = drawn.item_id
ORDER BY i.sample_key, i.item_id;

-- name: pick_pool_of_recheck(app, recheck_id, most)
-- The answers that a recheck graded, which were drawn at random, in the order of the hash; their stored scores are
-- none of the columns.
SELECT i.item_id, i.content_id, i.deleted_utc, length(i.input) AS n_input, length(i.output) AS n_output,
    coalesce(length(i.reference), 0) + length(i.contexts_json) AS n_beside
FROM recheck_items k JOIN items i ON i.item_id = k.item_id
WHERE k.recheck_id = :recheck_id AND i.app = :app
ORDER BY i.sample_key, i.item_id LIMIT :most;

-- name: newest_pick(app, name)^
-- The newest pick for a set of this name.
SELECT pick_id, app, ruler_id, run_ids_json, settings_json, started_utc, frozen_utc, anchor_set_name FROM picks
WHERE app = :app AND anchor_set_name = :name ORDER BY started_utc DESC, pick_id LIMIT 1;

-- name: picks(app)
-- Every pick of an app with the state of its review, newest first.
SELECT p.pick_id, p.app, p.ruler_id, p.run_ids_json, p.settings_json, p.started_utc, p.frozen_utc, p.anchor_set_name,
    count(i.item_id) AS n_items, count(CASE WHEN i.decision = 'yes' THEN 1 END) AS n_yes,
    count(CASE WHEN i.decision = 'no' THEN 1 END) AS n_no
FROM picks p LEFT JOIN pick_items i ON i.pick_id = p.pick_id
WHERE p.app = :app
GROUP BY p.pick_id, p.app, p.ruler_id, p.run_ids_json, p.settings_json, p.started_utc, p.frozen_utc, p.anchor_set_name
ORDER BY p.started_utc DESC, p.pick_id;

-- name: pick_items(pick_id)
-- The candidates of a pick in their order.
SELECT item_id, position, stratum, flags_json, decision, decided_utc, decided_by FROM pick_items
WHERE pick_id = :pick_id ORDER BY position;

-- name: scores_of_run(run_id)
-- The verdicts of one run by item.
SELECT item_id, score, unscored_reason FROM verdicts WHERE run_id = :run_id;

-- name: status_of_run(run_id)^
-- How a run ended; no row before it has begun.
SELECT status, stop_reason, message FROM runs WHERE run_id = :run_id;

-- name: planned_ids(run_id)
-- The items that a run planned, in order.
SELECT item_id FROM planned_items WHERE run_id = :run_id ORDER BY position;

-- name: anchor_set_in_use(app, name)^
-- The set of this name that a scheduled run used last, and the day of that run.
SELECT r.anchor_set_id, r.slot_day FROM runs r JOIN anchor_sets s ON s.anchor_set_id = r.anchor_set_id
WHERE r.app = :app AND r.purpose = 'scheduled' AND s.name = :name
ORDER BY r.slot_utc DESC LIMIT 1;
