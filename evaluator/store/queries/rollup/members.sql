-- Follows the graded rows: each once for everything, once for each of its segments, once for each crossed pair.
, member AS (
    SELECT g.*, s.segment_id FROM graded g JOIN segments s ON s.app = :app AND s.key = ''
    UNION ALL
    SELECT g.*, s.segment_id FROM graded g
    JOIN item_tags t ON t.item_id = g.item_id
    JOIN segments s ON s.app = :app AND s.key = t.key AND s.value = t.value AND s.key2 = ''
    UNION ALL
    SELECT g.*, s.segment_id FROM graded g
    JOIN item_tags t ON t.item_id = g.item_id
    JOIN item_tags u ON u.item_id = g.item_id
    JOIN segments s ON s.app = :app AND s.key = t.key AND s.value = t.value AND s.key2 = u.key AND s.value2 = u.value
)
