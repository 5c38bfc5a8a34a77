"""Times every query behind every page: the pages run as they are, with cold caches, and each query is clocked.

A page runs without a browser and without a server. A query is one opening of the database by one function of the page;
whatever the pages ask, now or later, is found by itself.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import streamlit as st
from streamlit.testing.v1 import AppTest

import dashboard
from benchmarks.page.database import COMMON_WORD, RARE_WORD
from dashboard import queries
from dashboard.filters import PAGES
from dashboard.launch import DB_VARIABLE

APP_FILE = Path(queries.__file__).parent / "app.py"
SEARCHES = {
    "a rare word": RARE_WORD,
    "a common word": COMMON_WORD,
    "two words": f"{COMMON_WORD} {RARE_WORD}",
    "no answer has it": "nosuchword",
}
_TIMEOUT_S = 300


@dataclass(frozen=True, kw_only=True)
class View:
    """A page in a view: the page's name, what stands in the URL, and how it is called in the table."""

    page: str
    params: Mapping[str, str]
    name: str


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds: of the whole page's script, and of each query by (page, function)."""

    pages: dict[str, list[float]]
    queries: dict[tuple[str, str], list[float]]

    def add(self, page: str, took: float, clocked: Sequence[tuple[str, float]]) -> None:
        """Note one run of a page."""
        self.pages.setdefault(page, []).append(took)
        for name, seconds in clocked:
            self.queries.setdefault((page, name), []).append(seconds)

    def median(self) -> dict[tuple[str, str], float]:
        """The median of each query, in seconds."""
        return {name: float(np.median(found)) for name, found in self.queries.items()}

    def p95(self) -> dict[tuple[str, str], float]:
        """The 95th percentile of each query, in seconds."""
        return {name: float(np.quantile(found, 0.95)) for name, found in self.queries.items()}


def default_views() -> list[View]:
    """Every page at its default choice."""
    return [View(page=page, params={}, name=page) for page in PAGES if page != "apps"]


def search_views() -> list[View]:
    """The list of answers with a text to find."""
    return [View(page="answers", params={"text": text}, name=name) for name, text in SEARCHES.items()]


def clock_views(databases: Sequence[Path], views: Sequence[View], *, times: int) -> list[Times]:
    """Run each view some times with nothing cached, the databases in turn, and clock its queries.

    In turn, so that whatever else the machine does meets all of them.

    Args:
        databases: The databases to compare.
        views: What is looked at.
        times: How often each.

    Returns:
        Times of each database.

    Raises:
        RuntimeError: a page showed an exception.
    """
    found = [Times(pages={}, queries={}) for _ in databases]
    before = os.environ.get(DB_VARIABLE)
    try:
        for view in views:
            for turn in range(times + 1):
                for db, its in zip(databases, found, strict=True):
                    os.environ[DB_VARIABLE] = str(db)
                    clocked: list[tuple[str, float]] = []
                    with _clocked(clocked):
                        took = _run(view)
                    if turn:  # the first warms the file's pages up, as the scorer's own work does
                        its.add(view.name, took, clocked)
    finally:
        os.environ.pop(DB_VARIABLE) if before is None else os.environ.update({DB_VARIABLE: before})
    return found


def _run(view: View) -> float:
    st.cache_data.clear()
    app = AppTest.from_file(str(APP_FILE), default_timeout=_TIMEOUT_S)
    for name, value in view.params.items():
        app.query_params[name] = value
    if view.page != "now":
        app.switch_page(f"app_pages/{view.page}.py")
    ours = sys.modules["__main__"]
    started = time.perf_counter()
    app.run()
    took = time.perf_counter() - started
    sys.modules["__main__"] = ours  # Streamlit leaves the page's script there, which spawned processes would run
    if app.exception:
        raise RuntimeError(f"the page {view.page} failed: {app.exception[0].value}")
    return took


@contextmanager
def _clocked(found: list[tuple[str, float]]) -> Iterator[None]:
    """Clock every opening of the database by the pages' modules."""
    original = queries.opened

    @contextmanager
    def opened(key: queries.StoreKey) -> Iterator[Any]:
        caller = inspect.stack(context=0)[2].function  # past the context manager's own, the function that asks
        started = time.perf_counter()
        with original(key) as store:
            yield store
        found.append((caller, time.perf_counter() - started))

    modules = [module for module in _reading_modules() if getattr(module, "opened", None) is original]
    for module in modules:
        module.opened = opened  # type: ignore[attr-defined]  # put back below
    try:
        yield
    finally:
        for module in modules:
            module.opened = original  # type: ignore[attr-defined]  # as it was


def _reading_modules() -> list[ModuleType]:
    """The page's modules that ask the database; pages themselves are scripts and are not imported."""
    names = [found.name for found in pkgutil.iter_modules(dashboard.__path__) if found.name.endswith("queries")]
    return [importlib.import_module(f"dashboard.{name}") for name in names]
