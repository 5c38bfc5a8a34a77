"""Opens the database of an import; a missing one is built beside its place, so that nobody ever finds a part of one."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from evaluator.errors import StoreError
from evaluator.store.db import Store, open_store

LEFT_OVER_AFTER_S = 3600.0  # an import that is alive writes far more often


@contextmanager
def open_or_build(path: Path, zone: str | None) -> Iterator[Store]:
    """Open the database; a missing one is built beside its place and put there when all went well.

    So an import that stores nothing leaves nothing behind, and whoever finds the new database finds it whole.

    Args:
        path: The database.
        zone: Zone of its days; None takes that of a database that is there.

    Raises:
        StoreError: it cannot be used, or not be completed.
    """
    _remove_left_over(path)
    if path.exists():
        with open_store(path, zone=zone) as store:
            yield store
        return
    made = [folder for folder in path.absolute().parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.new-{os.getpid()}")
    try:
        with open_store(unfinished, zone=zone) as store:
            yield store
        _put_in_place(unfinished, path)
    finally:
        for file in _files_of(unfinished):
            file.unlink(missing_ok=True)
        if not path.exists():
            _remove_empty(made)


def _files_of(database: Path) -> list[Path]:
    """A database with its log and what its readers share."""
    return [database.with_name(database.name + suffix) for suffix in ("", "-wal", "-shm")]


def _remove_left_over(path: Path) -> None:
    """Remove what a killed import left beside the place: it holds people's texts, and nobody goes on with it."""
    for unfinished in path.parent.glob(f"{glob.escape(path.name)}.new-*"):
        if not unfinished.name.rpartition("-")[2].isdecimal():
            continue
        with suppress(OSError):  # another import removes it too, or it may not be removed: no reason not to import
            files = [file for file in _files_of(unfinished) if file.exists()]
            if _now_of(path.parent) - max((file.stat().st_mtime for file in files), default=0.0) > LEFT_OVER_AFTER_S:
                for file in files:
                    file.unlink(missing_ok=True)


def _now_of(folder: Path) -> float:
    """The time of the file system, which may be that of another machine: what its files are compared with."""
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.fstat(file.fileno()).st_mtime


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, innermost first, as far as nobody has put anything into them."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _put_in_place(unfinished: Path, path: Path) -> None:
    """Give a new database its name, unless another process made one of that name meanwhile."""
    log = unfinished.with_name(unfinished.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise StoreError(f"{path} could not be completed (is the disk full?); nothing is stored, import again")
    try:
        os.link(unfinished, path)
    except FileExistsError as error:
        raise StoreError(f"another program made {path} meanwhile; nothing is stored, import again") from error
    except OSError:  # a file system without links
        unfinished.rename(path)
