-- What a day has cost, and how much came of it.

-- name: budget_day(app, day)^
-- What was taken out of a day's budget; a run under way may hold a portion that it will give back.
SELECT taken_usd, taken_calls FROM budget_days WHERE app = :app AND day = :day;

-- name: cost_of_day(app, day)^
-- What the runs of a day have cost, with those that stand aside.
SELECT coalesce(sum(cost_usd), 0) AS cost_usd, coalesce(sum(n_calls), 0) AS n_calls
FROM runs WHERE app = :app AND slot_day = :day;

-- name: graded_answers(app)^
-- How many answers of traffic have a score.
SELECT coalesce(sum(n_scored_traffic), 0) AS n FROM runs WHERE app = :app AND purpose IN ('scheduled', 'imported');
