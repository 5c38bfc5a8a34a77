"""A desk with a hundred answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.picking.helpers import Desk, varied


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A hundred answers that differ, about three topics."""
    made = Desk(tmp_path / "shop.db")
    made.add([varied(number) for number in range(100)])
    return made
