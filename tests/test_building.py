"""The database of an import is built beside its place, and what a killed one left there does not stay."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from evaluator.errors import StoreError
from evaluator.importing.building import LEFT_OVER_AFTER_S, open_or_build


def leave_behind(database: Path, *, age_s: float, number: int = 4_000_000) -> list[Path]:
    """Files as an import leaves them that is killed."""
    files = [database.with_name(f"{database.name}.new-{number}{suffix}") for suffix in ("", "-wal", "-shm")]
    for file in files:
        file.write_bytes(b"answers of people")
        os.utime(file, (time.time() - age_s, time.time() - age_s))
    return files


@pytest.mark.parametrize("is_there", [False, True])
def test_left_over_files_are_removed_by_the_next_import(tmp_path: Path, is_there: bool) -> None:
    """Whether the database came to be meanwhile or not; a bracket in its name is no pattern."""
    path = tmp_path / "a[1].db"
    if is_there:
        with open_or_build(path, "UTC"):
            pass
    leave_behind(path, age_s=LEFT_OVER_AFTER_S + 60)
    with open_or_build(path, "UTC"):
        pass
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name]


def test_files_of_an_import_at_work_and_of_others_stay(tmp_path: Path) -> None:
    """Its log was written lately; another database, and a name that no import gives, are not its own."""
    path = tmp_path / "a.db"
    at_work = leave_behind(path, age_s=LEFT_OVER_AFTER_S + 60)
    os.utime(at_work[1])
    kept = [*at_work, *leave_behind(tmp_path / "b.db", age_s=2 * LEFT_OVER_AFTER_S), tmp_path / "a.db.new-idea"]
    kept[-1].write_text("mine")
    os.utime(kept[-1], (0, 0))
    with open_or_build(path, "UTC"):
        pass
    assert all(file.exists() for file in kept)


def test_database_that_another_made_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    """And nothing stays of one's own."""
    path = tmp_path / "a.db"
    with pytest.raises(StoreError, match="another program made"), open_or_build(path, "UTC"):
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]
