-- Daily totals of one day's traffic. Parameters: app, day.
-- A cluster is a conversation, else a user, else the answer itself; its answers are not independent.
-- CROSS JOIN keeps the order of the tables: from the answers of the day to their verdicts, never through all verdicts.
WITH graded AS (
    SELECT v.ruler_id, v.criterion, v.run_id, i.item_id, i.cluster_id, v.score, 1.0 / p.inclusion_probability AS w
    FROM items i
    CROSS JOIN verdicts v ON v.item_id = i.item_id AND v.repeat = 0 AND v.slot_utc = ''
    CROSS JOIN planned_items p ON p.run_id = v.run_id AND p.item_id = v.item_id
    WHERE i.app = :app AND i.source = 'traffic' AND i.answered_day = :day
)
