"""Bringing a database up to the schema of this version, step by step."""

from __future__ import annotations

import sqlite3

from evaluator.store.steps import STEPS

MIGRATION_SET = "judgewatch"
MIGRATIONS_TABLE = "_sqlite_migrations"


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
