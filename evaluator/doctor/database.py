"""Can the database be used: opened, written, with room to grow, in the zone of the configuration? Creates nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from evaluator.doctor.base import Check, Patient, fail, ok, warn
from evaluator.store.inspection import journal_mode

NAME = "database"
FULL_BELOW_MB, TIGHT_BELOW_MB = 100, 1_000
_MB = 1_000_000


def check_place(path: Path) -> Iterator[Check]:
    """The folder can be written and has room."""
    folder = _existing_folder(path)
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        what = path if path.exists() else folder
        yield fail(
            NAME, f"{what} cannot be written by this user", "change its permissions, or name another with store.path"
        )
    free_mb = shutil.disk_usage(folder).free / _MB
    if free_mb < FULL_BELOW_MB:
        yield fail(
            "disk", f"{free_mb:,.0f} MB are free at {folder}", "make room: verdicts that are paid for must be stored"
        )
    elif free_mb < TIGHT_BELOW_MB:
        yield warn(
            "disk", f"{free_mb:,.0f} MB are free at {folder}", "a million verdicts take about 1,000 MB; make room"
        )
    else:
        yield ok("disk", f"{free_mb / 1000:,.0f} GB are free at {folder}")


def _existing_folder(path: Path) -> Path:
    return next(parent for parent in path.absolute().parents if parent.is_dir())


def check_database(patient: Patient) -> Iterator[Check]:
    """What is inside agrees with the configuration."""
    path, store = patient.config.store_path, patient.store
    if store is None:
        yield ok(NAME, f"{path} is not there yet; it will be created by the first import or run")
        return
    yield ok(NAME, f"{path} opens; {path.stat().st_size / _MB:,.1f} MB")
    yield _check_log(journal_mode(store))
    configured, stored = patient.config.schedule.zone, store.zone.key
    if configured == stored:
        yield ok("zone", f"days are counted in {stored}")
    else:
        yield fail(
            "zone",
            f"the database counts its days in {stored}, the configuration says {configured}",
            f"set schedule.zone = {stored!r}, or run `judgewatch db rebuild --zone {configured}`",
        )


def _check_log(mode: str) -> Check:
    if mode == "wal":
        return ok("write-ahead log", "on: the page reads while the scorer writes")
    return warn(
        "write-ahead log",
        f"off (journal mode {mode}), as on a network share: page and scorer wait for one another",
        "move store.path to a local disk",
    )
