-- Pairs of values that the crossed keys have among the answers of stale days. Parameters: app.
INSERT OR IGNORE INTO segments (app, key, value, key2, value2)
SELECT DISTINCT d.app, t.key, t.value, u.key, u.value FROM stale_days d
CROSS JOIN items i ON i.app = d.app AND i.source = 'traffic' AND i.answered_day = d.day
CROSS JOIN segment_keys k ON k.app = d.app AND k.key2 <> ''
CROSS JOIN item_tags t ON t.item_id = i.item_id AND t.key = k.key
CROSS JOIN item_tags u ON u.item_id = i.item_id AND u.key = k.key2
WHERE d.app = :app AND d.source = 'traffic'
