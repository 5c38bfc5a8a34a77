-- Daily totals of one day's traffic. Parameters: app, day.
-- A cluster is a conversation, else a user, else the answer itself; its answers are not independent.
WITH graded AS (
    SELECT v.ruler_id, v.criterion, v.run_id, i.item_id, i.cluster_id, v.score, 1.0 / p.inclusion_probability AS w
    FROM items i
    JOIN verdicts v ON v.item_id = i.item_id AND v.app = i.app AND v.repeat = 0 AND v.slot_utc = ''
    JOIN planned_items p ON p.run_id = v.run_id AND p.item_id = v.item_id
    WHERE i.app = :app AND i.source = 'traffic' AND i.answered_day = :day
)
