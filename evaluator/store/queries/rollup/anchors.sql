-- Daily totals of the anchors graded in one day's runs. Verdicts of a failed run count as unscored: the part that
-- happened to survive an outage is not the anchor set. Parameters: app, day.
-- CROSS JOIN keeps the order of the tables: from the anchors, which are few, to their verdicts of the slot.
WITH graded AS (
    SELECT v.ruler_id, v.criterion, v.run_id, i.item_id, i.cluster_id,
           CASE WHEN r.status = 'failed' OR r.not_counted <> '' THEN NULL ELSE v.score END AS score, 1.0 AS w
    FROM runs r
    CROSS JOIN rulers u ON u.ruler_id = r.ruler_id
    CROSS JOIN rubrics b ON b.rubric_id = u.rubric_id
    CROSS JOIN items i ON i.app = r.app AND i.source = 'anchor'
    CROSS JOIN verdicts v ON v.app = r.app AND v.ruler_id = r.ruler_id AND v.criterion = b.criterion
        AND v.item_id = i.item_id AND v.repeat = 0 AND v.slot_utc = r.slot_utc
    WHERE r.app = :app AND r.slot_day = :day AND r.purpose NOT IN ('recheck', 'pick')
)
