"""Keep with a run what came of it; find unscored verdicts fast; protect the whole of a scored one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

_STATEMENTS = (
    # what came of a run, kept with it: a page that lists runs must not count millions of verdicts and calls
    "ALTER TABLE runs ADD COLUMN n_scored_anchor INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN n_scored_traffic INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN n_unscored_anchor INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN n_unscored_traffic INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN n_calls INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN cost_usd REAL NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN prompt_tokens INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN completion_tokens INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE runs ADD COLUMN reasons_json TEXT NOT NULL DEFAULT '{}'",
    """UPDATE runs SET
        n_scored_anchor = (SELECT count(v.score) FROM verdicts v WHERE v.run_id = runs.run_id AND v.slot_utc <> ''),
        n_scored_traffic = (SELECT count(v.score) FROM verdicts v WHERE v.run_id = runs.run_id AND v.slot_utc = ''),
        n_unscored_anchor = (SELECT count(*) FROM verdicts v
            WHERE v.run_id = runs.run_id AND v.slot_utc <> '' AND v.score IS NULL),
        n_unscored_traffic = (SELECT count(*) FROM verdicts v
            WHERE v.run_id = runs.run_id AND v.slot_utc = '' AND v.score IS NULL),
        n_calls = (SELECT count(*) FROM attempts t WHERE t.run_id = runs.run_id),
        cost_usd = (SELECT coalesce(sum(t.cost_usd), 0) FROM attempts t WHERE t.run_id = runs.run_id),
        prompt_tokens = (SELECT coalesce(sum(t.prompt_tokens), 0) FROM attempts t WHERE t.run_id = runs.run_id),
        completion_tokens = (SELECT coalesce(sum(t.completion_tokens), 0) FROM attempts t
            WHERE t.run_id = runs.run_id),
        reasons_json = (SELECT coalesce(json_group_object(unscored_reason, n), '{}') FROM (
            SELECT v.unscored_reason, count(*) AS n FROM verdicts v
            WHERE v.run_id = runs.run_id AND v.score IS NULL GROUP BY v.unscored_reason))""",
    # the few verdicts without a score are looked for in every run, and those of anchors by every analysis
    "CREATE INDEX verdicts_unscored ON verdicts (app, ruler_id, run_id) WHERE score IS NULL",
    "CREATE INDEX verdicts_of_anchors ON verdicts (app, ruler_id, criterion, slot_utc, item_id) WHERE slot_utc <> ''",
    # lists of answers are sorted and filtered by score: these columns are read without their rows
    "DROP INDEX verdicts_by_item",
    "CREATE INDEX verdicts_by_item ON verdicts (item_id, ruler_id, score, unscored_reason, run_id)",
    # a score is a fact, and so is the reason given for it: no part of a scored verdict is ever written over
    "DROP TRIGGER verdicts_scores_are_final",
    """CREATE TRIGGER verdicts_scores_are_final BEFORE UPDATE ON verdicts WHEN old.score IS NOT NULL
        BEGIN SELECT RAISE(ABORT, 'a scored verdict is final'); END""",
)


def m002_run_totals(db: Database) -> None:
    """Keep with a run what came of it; find unscored verdicts fast; protect the whole of a scored one."""
    for statement in _STATEMENTS:
        db.execute(statement)
