"""What the tests of the scorer share: an app with four anchors in a new database."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.store.db import open_store
from tests.scoring.helpers import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """An app with four anchors and no answers."""
    shop = Shop(path=tmp_path / "judgewatch.db")
    open_store(shop.path, zone=shop.zone).close()
    return shop
