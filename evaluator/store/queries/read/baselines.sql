-- From which day a judge setup's scores are taken as the norm, by a person's word.

-- name: accepted_baselines(app, ruler_id)
-- Every such word about a judge setup, newest first, those taken back included.
SELECT accepted_id, from_day, accepted_utc, by_whom, note, undone_utc, undone_by, undone_note
FROM accepted_baselines WHERE app = :app AND ruler_id = :ruler_id ORDER BY accepted_id DESC;

-- name: accepted_baseline(app, ruler_id)^
-- The word that holds: the newest that was not taken back.
SELECT accepted_id, from_day, accepted_utc, by_whom, note FROM accepted_baselines
WHERE app = :app AND ruler_id = :ruler_id AND undone_utc IS NULL ORDER BY accepted_id DESC LIMIT 1;
