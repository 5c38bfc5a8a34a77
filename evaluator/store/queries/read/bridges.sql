-- Bridges: scores that were imported are of the same judge as the anchors of another setup, says a person.

-- name: bridge_of(app, ruler_id)^
-- The setup whose anchors speak for an imported one.
SELECT anchor_ruler_id, created_utc, by_whom, note FROM bridges WHERE app = :app AND ruler_id = :ruler_id;

-- name: bridged_rulers(app, anchor_ruler_id)
-- The imported setups that the anchors of a setup speak for.
SELECT ruler_id FROM bridges WHERE app = :app AND anchor_ruler_id = :anchor_ruler_id ORDER BY ruler_id;
