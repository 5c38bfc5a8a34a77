-- Follows the graded rows: each once for everything; an answer also once for each of its segments, and once for each
-- crossed pair. Anchors are read as a whole, never by segment. Parameters: app, source.
, member AS (
    SELECT g.*, s.segment_id FROM graded g JOIN segments s ON s.app = :app AND s.key = ''
    UNION ALL
    SELECT g.*, s.segment_id FROM graded g
    JOIN item_tags t ON t.item_id = g.item_id
    JOIN segment_keys k ON k.app = :app AND k.key = t.key AND k.key2 = ''
    JOIN segments s ON s.app = :app AND s.key = t.key AND s.value = t.value AND s.key2 = ''
    WHERE :source = 'traffic'
    UNION ALL
    SELECT g.*, s.segment_id FROM graded g
    JOIN segment_keys k ON k.app = :app AND k.key2 <> ''
    JOIN item_tags t ON t.item_id = g.item_id AND t.key = k.key
    JOIN item_tags u ON u.item_id = g.item_id AND u.key = k.key2
    JOIN segments s ON s.app = :app AND s.key = t.key AND s.value = t.value AND s.key2 = u.key AND s.value2 = u.value
    WHERE :source = 'traffic'
)
