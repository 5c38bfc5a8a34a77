"""Days from which a judge setup's alarm takes its scores as the norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

_STATEMENTS = (
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
    for statement in _STATEMENTS:
        db.execute(statement)
