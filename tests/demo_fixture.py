"""The demo of sixty days, graded once a test session for all tests that look at it. They read it and change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from evaluator.demo import DemoReport


@dataclass(frozen=True, kw_only=True)
class DemoStore:
    """A finished demo: its folder, its database, and what it reported."""

    folder: Path
    path: Path
    report: DemoReport


@pytest.fixture(scope="session")
def demo_store(tmp_path_factory: pytest.TempPathFactory, clean_environment: None) -> DemoStore:
    """Run the whole demo against the practice judge, over HTTP on this machine; about half a minute."""
    from evaluator.demo import DATABASE, run_demo

    folder = tmp_path_factory.mktemp("demo")
    report = run_demo(folder)
    return DemoStore(folder=folder, path=folder / DATABASE, report=report)
