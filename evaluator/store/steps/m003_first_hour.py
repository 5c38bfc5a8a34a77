"""Runs with a purpose; rechecks, picks, sources, bridges, deletions; what pages know of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

_STATEMENTS = (
    # what a run is for; recheck and pick stand aside: their verdicts are kept under the run's slot, out of every mean
    """ALTER TABLE runs ADD COLUMN purpose TEXT NOT NULL DEFAULT 'scheduled'
        CHECK (purpose IN ('scheduled', 'imported', 'recheck', 'pick'))""",
    # why the anchors of a run are no measurement although it finished: a gateway answered from its cache, say
    "ALTER TABLE runs ADD COLUMN not_counted TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE attempts ADD COLUMN completion_created INTEGER",
    # texts and names of the item are gone for good; its id and its scores stay, so that reading a file again does not
    # bring it back and no mean changes
    "ALTER TABLE items ADD COLUMN deleted_utc TEXT",
    # what the judge wrote quotes the texts: it may be taken out of a scored verdict as a whole, with nothing changed
    "DROP TRIGGER verdicts_scores_are_final",
    """CREATE TRIGGER verdicts_scores_are_final BEFORE UPDATE ON verdicts WHEN old.score IS NOT NULL AND NOT (
            new.explanation = '' AND new.strengths_json = '[]' AND new.weaknesses_json = '[]' AND new.thinking = ''
            AND new.raw_reply = '' AND new.detail = ''
            AND new.verdict_id IS old.verdict_id AND new.app IS old.app AND new.ruler_id IS old.ruler_id
            AND new.criterion IS old.criterion AND new.item_id IS old.item_id AND new.repeat IS old.repeat
            AND new.slot_utc IS old.slot_utc AND new.run_id IS old.run_id AND new.score IS old.score
            AND new.unscored_reason IS old.unscored_reason AND new.finish_reason IS old.finish_reason
            AND new.prompt_cut IS old.prompt_cut AND new.logprob_score IS old.logprob_score
            AND new.instrument_id IS old.instrument_id AND new.latency_ms IS old.latency_ms
            AND new.prompt_tokens IS old.prompt_tokens AND new.completion_tokens IS old.completion_tokens
            AND new.cost_usd IS old.cost_usd AND new.graded_utc IS old.graded_utc)
        BEGIN SELECT RAISE(ABORT, 'a scored verdict is final'); END""",
    """CREATE TABLE deletions (
        deletion_id INTEGER PRIMARY KEY, app TEXT NOT NULL, at_utc TEXT NOT NULL, by_whom TEXT NOT NULL,
        n_items INTEGER NOT NULL, note TEXT NOT NULL DEFAULT '') STRICT""",
    # what pages and links need to know of the configuration: item_url, budget, schedule, ...
    """CREATE TABLE app_settings (
        app TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (app, key)) STRICT, WITHOUT ROWID""",
    # scores of ruler_id (imported) are of the same judge as the anchors that anchor_ruler_id grades, says a person
    """CREATE TABLE bridges (
        app TEXT NOT NULL, ruler_id TEXT NOT NULL REFERENCES rulers, anchor_ruler_id TEXT NOT NULL REFERENCES rulers,
        created_utc TEXT NOT NULL, by_whom TEXT NOT NULL, note TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (app, ruler_id)) STRICT, WITHOUT ROWID""",
    # files of traffic or verdicts that were taken in, as they were then
    """CREATE TABLE source_files (
        app TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('traffic', 'verdicts')), path TEXT NOT NULL,
        size_bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, file_sha256 TEXT NOT NULL, n_rows INTEGER NOT NULL,
        n_new INTEGER NOT NULL, taken_utc TEXT NOT NULL, reading TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (app, kind, path)) STRICT, WITHOUT ROWID""",
    # what came of asking a source, good or bad
    """CREATE TABLE pulls (
        pull_id INTEGER PRIMARY KEY, app TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('files', 'command')),
        source TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('ok', 'nothing_new', 'failed')),
        slot_utc TEXT NOT NULL DEFAULT '',
        message TEXT NOT NULL DEFAULT '', n_rows INTEGER NOT NULL DEFAULT 0, n_new INTEGER NOT NULL DEFAULT 0,
        n_rejected INTEGER NOT NULL DEFAULT 0, started_utc TEXT NOT NULL, finished_utc TEXT NOT NULL) STRICT""",
    "CREATE INDEX pulls_by_time ON pulls (app, started_utc)",
    """CREATE TABLE rechecks (
        recheck_id TEXT PRIMARY KEY, app TEXT NOT NULL, ruler_id TEXT NOT NULL REFERENCES rulers,
        criterion TEXT NOT NULL, run_id TEXT NOT NULL, source TEXT NOT NULL, file_sha256 TEXT NOT NULL,
        stored_judge TEXT NOT NULL, n_asked INTEGER NOT NULL, settings_json TEXT NOT NULL,
        started_utc TEXT NOT NULL, finished_utc TEXT, result_json TEXT) STRICT""",
    """CREATE TABLE recheck_items (
        recheck_id TEXT NOT NULL REFERENCES rechecks, item_id TEXT NOT NULL,
        part TEXT NOT NULL CHECK (part IN ('recent', 'old')), stored_score REAL NOT NULL, stored_utc TEXT NOT NULL,
        PRIMARY KEY (recheck_id, item_id)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE picks (
        pick_id TEXT PRIMARY KEY, app TEXT NOT NULL, ruler_id TEXT NOT NULL REFERENCES rulers,
        run_ids_json TEXT NOT NULL, settings_json TEXT NOT NULL, started_utc TEXT NOT NULL, frozen_utc TEXT,
        anchor_set_name TEXT) STRICT""",
    """CREATE TABLE pick_items (
        pick_id TEXT NOT NULL REFERENCES picks, item_id TEXT NOT NULL, position INTEGER NOT NULL,
        stratum TEXT NOT NULL DEFAULT '', flags_json TEXT NOT NULL DEFAULT '[]', decision TEXT
        CHECK (decision IN ('yes', 'no')), decided_utc TEXT, decided_by TEXT,
        PRIMARY KEY (pick_id, item_id)) STRICT, WITHOUT ROWID""",
)


def m003_first_hour(db: Database) -> None:
    """Runs with a purpose; rechecks, picks, sources, bridges, deletions; what pages know of the configuration."""
    for statement in _STATEMENTS:
        db.execute(statement)
