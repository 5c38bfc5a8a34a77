"""Writes what pages need to know of the configuration: a page reads the database and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.store.db import Store


def save_app_settings(store: Store, app: str, values: Mapping[str, object]) -> None:
    """Keep settings of an app by name; one that is None is removed, those not named stay. No secret belongs here.

    Truth values are kept as ``true`` and ``false``, all else as its text. Nothing is written when nothing changed.
    """
    rows = dict(store.connection.execute("SELECT key, value FROM app_settings WHERE app = ?", (app,)).fetchall())
    wanted = {key: _text(value) for key, value in values.items()}
    changed = {key: text for key, text in wanted.items() if rows.get(key) != text}
    if not changed:
        return
    with store.transaction() as connection:
        for key, text in changed.items():
            connection.execute("DELETE FROM app_settings WHERE app = ? AND key = ?", (app, key))
            if text is not None:
                connection.execute("INSERT INTO app_settings VALUES (?, ?, ?)", (app, key, text))


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)
