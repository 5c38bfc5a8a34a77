-- Daily totals of the anchors graded in one day's runs. Verdicts of a failed run count as unscored: the part that
-- happened to survive an outage is not the anchor set. Parameters: app, day.
WITH graded AS (
    SELECT v.ruler_id, v.criterion, v.run_id, i.item_id, i.cluster_id,
           CASE WHEN r.status = 'failed' THEN NULL ELSE v.score END AS score, 1.0 AS w
    FROM runs r
    JOIN verdicts v ON v.run_id = r.run_id AND v.slot_utc = r.slot_utc AND v.repeat = 0
    JOIN items i ON i.item_id = v.item_id
    WHERE r.app = :app AND r.slot_day = :day
)
