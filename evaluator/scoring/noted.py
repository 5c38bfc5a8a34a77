"""Notes in the database what pages show of the configuration: a page reads the database and nothing else."""

from __future__ import annotations

from pathlib import Path

from evaluator.config import Config
from evaluator.store import write
from evaluator.store.db import open_store


def note_settings(config: Config, *, imported_into: Path | None = None, app: str | None = None) -> None:
    """Note schedule, budget, the link to an answer, and whether texts are kept; nothing secret is among them.

    Args:
        config: The configuration.
        imported_into: The database of an import, which is there; None for the configured one, made when missing.
        app: The app; the configured one when None.

    Raises:
        StoreError: the database cannot be written.
    """
    values: dict[str, object] = {
        "item_url": config.traffic.item_url,
        "store_text": config.traffic.store_text,
        "usd_per_day": config.budget.usd_per_day,
        "calls_per_day": config.budget.calls_per_day,
        "cron": config.schedule.cron,
        "zone": config.schedule.zone,
    }
    if imported_into is not None:
        opened = open_store(imported_into, create=False)
    else:
        opened = open_store(config.store_path, zone=config.schedule.zone)
    with opened as store:
        write.save_app_settings(store, app or config.app.name, values)
