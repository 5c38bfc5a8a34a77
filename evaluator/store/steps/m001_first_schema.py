"""Create every table of the first release."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

_STATEMENTS = (
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
    for statement in _STATEMENTS:
        db.execute(statement)
