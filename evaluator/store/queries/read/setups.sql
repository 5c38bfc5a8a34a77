-- Apps, judge setups (rulers), events.

-- name: apps()
-- Every app that has answers, runs or judge setups.
SELECT app FROM (SELECT DISTINCT app FROM runs UNION SELECT DISTINCT app FROM imports UNION SELECT DISTINCT app FROM app_rulers) a
ORDER BY app;

-- name: rulers(app)
-- The app's judge setups in the order of their first use, with the days they were used on.
SELECT a.position, r.ruler_id, r.model_asked, r.output_mode, r.parameters_json, r.prompt_template, r.first_used_utc,
    b.rubric_id, b.name AS rubric_name, b.criterion, b.scale_min, b.scale_max, b.body_json AS rubric_json,
    (SELECT min(slot_day) FROM runs x WHERE x.app = a.app AND x.ruler_id = a.ruler_id
        AND x.purpose IN ('scheduled', 'imported')) AS first_day,
    (SELECT max(slot_day) FROM runs x WHERE x.app = a.app AND x.ruler_id = a.ruler_id
        AND x.purpose IN ('scheduled', 'imported')) AS last_day,
    (SELECT max(slot_utc) FROM runs x WHERE x.app = a.app AND x.ruler_id = a.ruler_id
        AND x.purpose IN ('scheduled', 'imported')) AS last_slot_utc,
    (SELECT count(*) FROM runs x WHERE x.app = a.app AND x.ruler_id = a.ruler_id
        AND x.purpose IN ('scheduled', 'imported')) AS n_runs,
    (SELECT coalesce(sum(x.n_scored_traffic), 0) FROM runs x WHERE x.app = a.app AND x.ruler_id = a.ruler_id
        AND x.purpose IN ('scheduled', 'imported')) AS n_scored_traffic
FROM app_rulers a JOIN rulers r ON r.ruler_id = a.ruler_id JOIN rubrics b ON b.rubric_id = r.rubric_id
WHERE a.app = :app
ORDER BY a.position;

-- name: events(app, first_day, last_day)
-- What was logged in a period.
SELECT event_id, at_utc, day, kind, ruler_id, run_id, text, detail_json, by_whom
FROM events WHERE app = :app AND day >= :first_day AND day <= :last_day ORDER BY at_utc, event_id;

-- name: counts(app)^
-- How much there is. Answers come in by imports only (copies for a recheck have version 0); verdicts are counted in
-- the totals of their runs. Runs that stand aside are left out.
SELECT (SELECT coalesce(sum(n_new), 0) FROM imports WHERE app = :app) AS n_answers,
    (SELECT count(*) FROM items WHERE app = :app AND source = 'traffic' AND answered_day IS NULL
        AND version > 0) AS n_without_time,
    (SELECT count(*) FROM runs WHERE app = :app AND purpose NOT IN ('recheck', 'pick')) AS n_runs,
    (SELECT coalesce(sum(n_scored_anchor + n_scored_traffic), 0) FROM runs
     WHERE app = :app AND status <> 'running' AND purpose NOT IN ('recheck', 'pick'))
        + (SELECT count(v.score) FROM runs r JOIN verdicts v ON v.run_id = r.run_id
           WHERE r.app = :app AND r.status = 'running' AND r.purpose NOT IN ('recheck', 'pick')) AS n_scored,
    (SELECT count(*) FROM app_rulers a JOIN verdicts v ON v.app = a.app AND v.ruler_id = a.ruler_id AND v.score IS NULL
     JOIN runs r ON r.run_id = v.run_id AND r.purpose NOT IN ('recheck', 'pick')
     WHERE a.app = :app) AS n_unscored,
    (SELECT min(answered_day) FROM items WHERE app = :app AND source = 'traffic') AS first_day,
    (SELECT max(answered_day) FROM items WHERE app = :app AND source = 'traffic') AS last_day;
