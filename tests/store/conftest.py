"""What the tests of the store share: a database, and a user who may not write everywhere."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.store.db import Store, open_store

NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database of a test lies."""
    return tmp_path / "judgewatch.db"


@pytest.fixture(scope="session")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as ``open_store`` makes it; copied, since making one takes some thirty times as long."""
    made = tmp_path_factory.mktemp("new") / "judgewatch.db"
    open_store(made).close()
    return made


@pytest.fixture
def store(path: Path, new_database: Path) -> Iterator[Store]:
    """A new database, open for writing."""
    shutil.copyfile(new_database, path)
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def guarded_folder() -> Iterator[Path]:
    """A folder that ordinary users can reach but not write to; the test itself may, until it takes the right away."""
    folder = Path(tempfile.mkdtemp(prefix="judgewatch-guarded-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def as_ordinary_user() -> Iterator[None]:
    """Give up root's right to write everywhere for the rest of the test."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    yield
    os.seteuid(0)
