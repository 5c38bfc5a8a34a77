-- Follows the graded rows: each once for everything; an answer also once for each of its segments, and once for each
-- crossed pair. Anchors are read as a whole, never by segment. Parameters: app, source.
-- CROSS JOIN keeps the order of the tables: from a row to its tags, and from these to their segments.
, member AS (
    SELECT g.*, s.segment_id FROM graded g CROSS JOIN segments s ON s.app = :app AND s.key = ''
    UNION ALL
    SELECT g.*, s.segment_id FROM graded g
    CROSS JOIN segment_keys k ON k.app = :app AND k.key2 = ''
    CROSS JOIN item_tags t ON t.item_id = g.item_id AND t.key = k.key
    CROSS JOIN segments s ON s.app = :app AND s.key = t.key AND s.value = t.value AND s.key2 = ''
    WHERE :source = 'traffic'
    UNION ALL
    SELECT g.*, s.segment_id FROM graded g
    CROSS JOIN segment_keys k ON k.app = :app AND k.key2 <> ''
    CROSS JOIN item_tags t ON t.item_id = g.item_id AND t.key = k.key
    CROSS JOIN item_tags u ON u.item_id = g.item_id AND u.key = k.key2
    CROSS JOIN segments s ON s.app = :app AND s.key = t.key AND s.value = t.value AND s.key2 = u.key
        AND s.value2 = u.value
    WHERE :source = 'traffic'
)
