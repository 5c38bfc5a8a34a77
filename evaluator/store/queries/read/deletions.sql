-- What pages need to know of the configuration; whose texts can be deleted.

-- name: app_settings(app)
-- Settings of an app by name.
SELECT key, value FROM app_settings WHERE app = :app ORDER BY key;

-- name: items_of_own_id(app, own_id)
-- Traffic under an id in the user's own system: every version and every copy.
SELECT item_id, content_id, external_id, user_id FROM items
WHERE app = :app AND external_id = :own_id AND source = 'traffic' ORDER BY item_id;

-- name: items_of_user(app, user_id)
-- Traffic of a user.
SELECT item_id, content_id, external_id, user_id FROM items
WHERE app = :app AND user_id = :user_id AND source = 'traffic' ORDER BY item_id;

-- name: copies_of_content(app, content_id)
-- Copies, made to be graded again, of the same texts.
SELECT item_id, content_id, external_id, user_id FROM items
WHERE app = :app AND content_id = :content_id AND source = 'traffic' AND version = 0 ORDER BY item_id;

-- name: item_to_delete(item_id)^
-- What decides whether an item can be deleted.
SELECT item_id, app, source, content_id, external_id, user_id, deleted_utc FROM items WHERE item_id = :item_id;

-- name: anchors_of_content(app, content_id)
-- Anchors with these texts, each once with the name of the newest set it stands in.
SELECT i.item_id, a.anchor_id, max(s.name) AS set_name FROM items i
JOIN anchors a ON a.item_id = i.item_id JOIN anchor_sets s ON s.anchor_set_id = a.anchor_set_id
WHERE i.app = :app AND i.source = 'anchor' AND i.content_id = :content_id AND i.deleted_utc IS NULL
GROUP BY i.item_id, a.anchor_id ORDER BY i.item_id;

-- name: is_anchor_in_use(app, item_id)^
-- Whether an item stands in the anchor set of the newest run that had one.
SELECT count(*) AS n FROM anchors a WHERE a.item_id = :item_id AND a.anchor_set_id = (
    SELECT r.anchor_set_id FROM runs r WHERE r.app = :app AND r.anchor_set_id IS NOT NULL
    ORDER BY r.slot_utc DESC LIMIT 1);

-- name: tagged_with(app, value)
-- Tags of answers that are still there with this value, and how many answers have each.
SELECT t.key, count(*) AS n FROM item_tags t JOIN items i ON i.item_id = t.item_id
WHERE i.app = :app AND t.value = :value AND i.deleted_utc IS NULL GROUP BY t.key ORDER BY t.key;

-- name: count_deletions(app)^
-- How often answers were deleted.
SELECT count(*) AS n FROM deletions WHERE app = :app;

-- name: days_with_blank_texts(app, first_day, pattern)
-- Days from one on with answers whose texts are not kept.
SELECT DISTINCT answered_day FROM items
WHERE app = :app AND source = 'traffic' AND answered_day >= :first_day AND deleted_utc IS NULL
    AND flags LIKE :pattern;
