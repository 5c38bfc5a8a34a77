-- Sources of answers: files that were taken in, and what came of asking.

-- name: source_files(app, kind, most)
-- The files that were taken in, newest first.
SELECT path, size_bytes, mtime_ns, file_sha256, n_rows, n_new, taken_utc
FROM source_files WHERE app = :app AND kind = :kind
ORDER BY taken_utc DESC, path LIMIT :most;

-- name: source_file(app, kind, path)^
-- One file as it was when it was taken in.
SELECT path, size_bytes, mtime_ns, file_sha256, n_rows, n_new, taken_utc, reading
FROM source_files WHERE app = :app AND kind = :kind AND path = :path;

-- name: pulls(app, most)
-- What came of asking the sources, newest first.
SELECT pull_id, kind, source, slot_utc, status, message, n_rows, n_new, n_rejected, started_utc, finished_utc
FROM pulls WHERE app = :app
ORDER BY started_utc DESC, pull_id DESC LIMIT :most;

-- name: newest_answered(app, until_utc, until_day)^
-- The newest answer that is not ahead of an instant; only its day and the days after are looked through.
SELECT max(answered_utc) AS answered_utc FROM items
WHERE app = :app AND source = 'traffic' AND answered_utc <= :until_utc AND answered_day >= (
    SELECT coalesce(max(answered_day), '') FROM items
    WHERE app = :app AND source = 'traffic' AND answered_day < :until_day);
