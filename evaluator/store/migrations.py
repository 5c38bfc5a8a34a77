"""The schema, in steps. Steps that were released are never edited; a change is the next ``mNNN_`` in ``STEPS``.

Times are UTC ISO-8601 text, days are calendar days of the store's zone (``meta.zone``). Three times never mix:
``answered_utc`` (of the answer), ``slot_utc`` (the run's scheduled instant), ``graded_utc`` (wall clock of the call).
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

MIGRATION_SET = "judgewatch"
MIGRATIONS_TABLE = "_sqlite_migrations"

_M001 = (
    # key -> value facts about the database itself: zone, store_revision, fence_salt
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    """CREATE TABLE imports (
        import_id TEXT PRIMARY KEY, app TEXT NOT NULL, path TEXT NOT NULL, file_sha256 TEXT NOT NULL,
        n_rows INTEGER NOT NULL, n_new INTEGER NOT NULL, n_known INTEGER NOT NULL, n_versions INTEGER NOT NULL,
        n_rejected INTEGER NOT NULL, imported_utc TEXT NOT NULL) STRICT""",
    """CREATE TABLE items (
        item_id TEXT PRIMARY KEY, app TEXT NOT NULL, source TEXT NOT NULL CHECK (source IN ('anchor', 'traffic')),
        external_id TEXT, version INTEGER NOT NULL DEFAULT 1, content_id TEXT NOT NULL,
        input TEXT NOT NULL, output TEXT NOT NULL, reference TEXT, contexts_json TEXT NOT NULL DEFAULT '[]',
        conversation_id TEXT, user_id TEXT, cluster_id TEXT NOT NULL, answered_utc TEXT, answered_day TEXT,
        answer_model TEXT, flags TEXT NOT NULL DEFAULT '', sample_key REAL NOT NULL, import_id TEXT) STRICT""",
    "CREATE INDEX items_by_day ON items (app, source, answered_day, sample_key)",
    "CREATE INDEX items_by_external_id ON items (app, external_id) WHERE external_id IS NOT NULL",
    """CREATE TABLE item_tags (
        item_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (item_id, key)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE anchor_sets (
        anchor_set_id TEXT PRIMARY KEY, name TEXT NOT NULL, n_anchors INTEGER NOT NULL,
        loaded_utc TEXT NOT NULL) STRICT""",
    """CREATE TABLE anchors (
        anchor_set_id TEXT NOT NULL, anchor_id TEXT NOT NULL, item_id TEXT NOT NULL, expected_score REAL,
        why TEXT NOT NULL DEFAULT '', position INTEGER NOT NULL,
        PRIMARY KEY (anchor_set_id, anchor_id)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE rubrics (
        rubric_id TEXT PRIMARY KEY, name TEXT NOT NULL, criterion TEXT NOT NULL, scale_min REAL NOT NULL,
        scale_max REAL NOT NULL, n_levels INTEGER NOT NULL, body_json TEXT NOT NULL,
        first_used_utc TEXT NOT NULL) STRICT""",
    """CREATE TABLE rulers (
        ruler_id TEXT PRIMARY KEY, model_asked TEXT NOT NULL, rubric_id TEXT NOT NULL REFERENCES rubrics,
        prompt_template TEXT NOT NULL, parameters_json TEXT NOT NULL, output_mode TEXT NOT NULL,
        first_used_utc TEXT NOT NULL) STRICT""",
    """CREATE TABLE app_rulers (
        app TEXT NOT NULL, ruler_id TEXT NOT NULL REFERENCES rulers, position INTEGER NOT NULL,
        PRIMARY KEY (app, ruler_id), UNIQUE (app, position)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE instruments (
        instrument_id TEXT PRIMARY KEY, resolved_model TEXT, fingerprint TEXT, output_mode TEXT NOT NULL,
        parameters_json TEXT NOT NULL) STRICT""",
    """CREATE TABLE runs (
        run_id TEXT PRIMARY KEY, app TEXT NOT NULL, ruler_id TEXT NOT NULL REFERENCES rulers, anchor_set_id TEXT,
        slot_utc TEXT NOT NULL, slot_day TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('all', 'anchors', 'traffic')),
        status TEXT NOT NULL CHECK (status IN ('running', 'finished', 'stopped', 'closed', 'failed')),
        stop_reason TEXT, message TEXT NOT NULL DEFAULT '', started_utc TEXT NOT NULL, finished_utc TEXT,
        n_anchors INTEGER NOT NULL DEFAULT 0, n_traffic INTEGER NOT NULL DEFAULT 0,
        UNIQUE (app, ruler_id, slot_utc)) STRICT""",
    # the plan of a run, written before its first call: what a restart goes on with
    """CREATE TABLE planned_items (
        run_id TEXT NOT NULL REFERENCES runs, item_id TEXT NOT NULL, source TEXT NOT NULL, position INTEGER NOT NULL,
        inclusion_probability REAL NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1),
        PRIMARY KEY (run_id, item_id)) STRICT, WITHOUT ROWID""",
    # a day's sample is drawn once per ruler; answers that arrive later are counted as late, not drawn
    """CREATE TABLE sampled_days (
        app TEXT NOT NULL, ruler_id TEXT NOT NULL, answered_day TEXT NOT NULL, run_id TEXT NOT NULL,
        n_answers INTEGER NOT NULL, n_planned INTEGER NOT NULL,
        PRIMARY KEY (app, ruler_id, answered_day)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE attempts (
        attempt_id INTEGER PRIMARY KEY, run_id TEXT NOT NULL, item_id TEXT NOT NULL, ruler_id TEXT NOT NULL,
        criterion TEXT NOT NULL, repeat INTEGER NOT NULL, started_utc TEXT NOT NULL, duration_ms REAL NOT NULL,
        http_status INTEGER, reason TEXT, message TEXT NOT NULL DEFAULT '', prompt_tokens INTEGER,
        completion_tokens INTEGER, cost_usd REAL NOT NULL DEFAULT 0, completion_id TEXT, instrument_id TEXT) STRICT""",
    "CREATE INDEX attempts_by_run ON attempts (run_id, item_id)",
    # slot_utc is '' for traffic: an answer is graded once, an anchor once a slot (NULL would not be unique)
    """CREATE TABLE verdicts (
        verdict_id INTEGER PRIMARY KEY, app TEXT NOT NULL, ruler_id TEXT NOT NULL, criterion TEXT NOT NULL,
        item_id TEXT NOT NULL, repeat INTEGER NOT NULL DEFAULT 0, slot_utc TEXT NOT NULL, run_id TEXT NOT NULL,
        score REAL, unscored_reason TEXT, explanation TEXT NOT NULL DEFAULT '',
        strengths_json TEXT NOT NULL DEFAULT '[]',
        weaknesses_json TEXT NOT NULL DEFAULT '[]', thinking TEXT NOT NULL DEFAULT '',
        raw_reply TEXT NOT NULL DEFAULT '',
        detail TEXT NOT NULL DEFAULT '', finish_reason TEXT, prompt_cut INTEGER NOT NULL DEFAULT 0,
        logprob_score REAL, instrument_id TEXT, latency_ms REAL, prompt_tokens INTEGER, completion_tokens INTEGER,
        cost_usd REAL NOT NULL DEFAULT 0, graded_utc TEXT NOT NULL,
        CHECK ((score IS NULL) <> (unscored_reason IS NULL)),
        UNIQUE (app, ruler_id, criterion, item_id, repeat, slot_utc)) STRICT""",
    "CREATE INDEX verdicts_by_run ON verdicts (run_id, item_id)",
    "CREATE INDEX verdicts_by_item ON verdicts (item_id)",
    # a score is a fact: only unscored -> scored (or another reason) may replace a row
    """CREATE TRIGGER verdicts_scores_are_final BEFORE UPDATE ON verdicts
        WHEN old.score IS NOT NULL AND (new.score IS NOT old.score OR new.run_id IS NOT old.run_id)
        BEGIN SELECT RAISE(ABORT, 'a scored verdict is final'); END""",
    # segment 0.. per app: '' / '' is everything, key2 is set for crossed keys
    """CREATE TABLE segments (
        segment_id INTEGER PRIMARY KEY, app TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        key2 TEXT NOT NULL DEFAULT '', value2 TEXT NOT NULL DEFAULT '',
        UNIQUE (app, key, value, key2, value2)) STRICT""",
    """CREATE TABLE segment_keys (
        app TEXT NOT NULL, key TEXT NOT NULL, key2 TEXT NOT NULL DEFAULT '', position INTEGER NOT NULL,
        PRIMARY KEY (app, key, key2)) STRICT, WITHOUT ROWID""",
    # day: answered_day for traffic, slot_day for anchors. Within a cluster T = sum of w y and W = sum of w; sum_t2 is
    # the sum of T^2 over the clusters, and so on
    """CREATE TABLE daily_scores (
        app TEXT NOT NULL, ruler_id TEXT NOT NULL, criterion TEXT NOT NULL, source TEXT NOT NULL,
        segment_id INTEGER NOT NULL, day TEXT NOT NULL, run_id TEXT NOT NULL,
        n INTEGER NOT NULL, n_unscored INTEGER NOT NULL, sum_w REAL NOT NULL, sum_w2 REAL NOT NULL,
        sum_wy REAL NOT NULL,
        sum_w2y REAL NOT NULL, sum_w2y2 REAL NOT NULL, n_clusters INTEGER NOT NULL, sum_t2 REAL NOT NULL,
        sum_tw REAL NOT NULL, sum_ww REAL NOT NULL,
        PRIMARY KEY (app, ruler_id, criterion, source, segment_id, day, run_id)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE daily_levels (
        app TEXT NOT NULL, ruler_id TEXT NOT NULL, criterion TEXT NOT NULL, source TEXT NOT NULL,
        segment_id INTEGER NOT NULL, day TEXT NOT NULL, run_id TEXT NOT NULL, level REAL NOT NULL,
        n INTEGER NOT NULL, sum_w REAL NOT NULL,
        PRIMARY KEY (app, ruler_id, criterion, source, segment_id, day, run_id, level)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE stale_days (
        app TEXT NOT NULL, source TEXT NOT NULL, day TEXT NOT NULL,
        PRIMARY KEY (app, source, day)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE analyses (
        analysis_id INTEGER PRIMARY KEY, store_revision INTEGER NOT NULL, app TEXT NOT NULL, ruler_id TEXT NOT NULL,
        criterion TEXT NOT NULL, first_day TEXT, last_day TEXT, baseline TEXT NOT NULL, settings_hash TEXT NOT NULL,
        code_version TEXT NOT NULL, schema_version INTEGER NOT NULL, computed_utc TEXT NOT NULL,
        payload_json TEXT NOT NULL,
        UNIQUE (app, ruler_id, criterion, first_day, last_day, baseline, settings_hash, store_revision)) STRICT""",
    """CREATE TABLE events (
        event_id INTEGER PRIMARY KEY, app TEXT NOT NULL, at_utc TEXT NOT NULL, day TEXT NOT NULL, kind TEXT NOT NULL,
        ruler_id TEXT, run_id TEXT, text TEXT NOT NULL, detail_json TEXT NOT NULL DEFAULT '{}',
        by_whom TEXT NOT NULL) STRICT""",
    "CREATE INDEX events_by_day ON events (app, day)",
    """CREATE TABLE leases (
        name TEXT PRIMARY KEY, holder TEXT NOT NULL, what TEXT NOT NULL, heartbeat_utc TEXT NOT NULL,
        expires_utc TEXT NOT NULL) STRICT""",
    # what was taken out of the day's budget, in portions, before the calls were made
    """CREATE TABLE budget_days (
        app TEXT NOT NULL, day TEXT NOT NULL, taken_usd REAL NOT NULL, taken_calls INTEGER NOT NULL,
        PRIMARY KEY (app, day)) STRICT, WITHOUT ROWID""",
)


def m001_first_schema(db: Database) -> None:
    """Create every table of the first release."""
    for statement in _M001:
        db.execute(statement)


_M002 = (
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
    for statement in _M002:
        db.execute(statement)


_M003 = (
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
    for statement in _M003:
        db.execute(statement)


_M004 = (
    # "this is the new normal": the reference of a judge setup's alarm begins on a day that a person named; a word taken
    # back stays, with who and why
    """CREATE TABLE accepted_baselines (
        accepted_id INTEGER PRIMARY KEY, app TEXT NOT NULL, ruler_id TEXT NOT NULL REFERENCES rulers,
        from_day TEXT NOT NULL, accepted_utc TEXT NOT NULL, by_whom TEXT NOT NULL, note TEXT NOT NULL DEFAULT '',
        undone_utc TEXT, undone_by TEXT, undone_note TEXT) STRICT""",
    "CREATE INDEX accepted_baselines_by_setup ON accepted_baselines (app, ruler_id, accepted_id)",
)


def m004_accepted_baselines(db: Database) -> None:
    """Days from which a judge setup's alarm takes its scores as the norm."""
    for statement in _M004:
        db.execute(statement)


STEPS = (m001_first_schema, m002_run_totals, m003_first_hour, m004_accepted_baselines)


def known_migrations() -> tuple[str, ...]:
    """Names of the steps that this version knows, in order."""
    return tuple(step.__name__ for step in STEPS)


def applied_migrations(connection: sqlite3.Connection) -> set[str]:
    """Names of the steps that a database has behind it."""
    rows = connection.execute(
        f"SELECT name FROM {MIGRATIONS_TABLE} WHERE migration_set = ?",  # noqa: S608 - a constant
        (MIGRATION_SET,),
    )
    return {str(row[0]) for row in rows}


def apply_migrations(connection: sqlite3.Connection) -> None:
    """Apply the missing steps, in the caller's transaction."""
    # loaded here because it loads pandas, and opening a database that is up to date should not wait for that
    from sqlite_utils import Database, Migrations

    migrations = Migrations(MIGRATION_SET)
    for step in STEPS:
        migrations()(step)
    migrations.apply(Database(connection))
