"""Reads for the pages: cached, read-only, one connection a query; plain records come back.

Nothing here creates, migrates or writes a database. The cache key holds the store's revision and identity, so new data
shows at once, and a file that was replaced by another is never mistaken for it. Means and charts are in
``mean_queries``, single answers in ``answer_queries``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import streamlit as st

from evaluator.errors import StoreError
from evaluator.findings import SCHEMA_VERSION, Findings
from evaluator.store import read
from evaluator.store.db import Store, open_reader

Row = dict[str, Any]
_Query = TypeVar("_Query", bound=Callable[..., Any])


class StoreKey(NamedTuple):
    """Which state of which database a cached read belongs to."""

    path: str
    revision: int
    identity: str


class Setup(NamedTuple):
    """One judge setup of one app: what a read of scores needs to know."""

    app: str
    ruler_id: str
    criterion: str
    scale_min: float
    scale_max: float


def cached(query: _Query) -> _Query:
    """Keep the newest few answers of a query; old revisions fall out by themselves."""
    return cast("_Query", st.cache_data(max_entries=64, ttl=3600, show_spinner=False)(query))


@contextmanager
def opened(key: StoreKey) -> Iterator[Store]:
    """A read-only connection for one query."""
    with open_reader(key.path) as store:
        yield store


def store_key(path: Path) -> StoreKey:
    """The present state of a database.

    Raises:
        StoreError: it cannot be read.
    """
    with open_reader(path) as store:
        # made once with the database, so that another file under the same name has another identity
        identity = hashlib.sha256((store.meta("fence_salt") or "").encode()).hexdigest()[:12]
        return StoreKey(path=str(path), revision=store.revision, identity=identity)


def store_key_or_none(path: Path) -> StoreKey | None:
    """The present state of a database, None while it cannot be read."""
    try:
        return store_key(path)
    except StoreError:
        return None


@cached
def zone(key: StoreKey) -> str:
    """Name of the zone in which the store counts its days."""
    with opened(key) as store:
        return store.zone.key


@cached
def apps(key: StoreKey) -> list[str]:
    """Names of the apps."""
    with opened(key) as store:
        return read.apps(store)


@cached
def setups(key: StoreKey, app: str) -> list[Row]:
    """Judge setups of an app in the order of first use."""
    with opened(key) as store:
        return read.rulers(store, app)


@cached
def newest_setup(key: StoreKey, app: str) -> int | None:
    """Number of the setup of the newest run."""
    with opened(key) as store:
        found = read.newest_ruler(store, app)
        return None if found is None else int(found["position"])


@cached
def counts(key: StoreKey, app: str) -> Row:
    """How many answers, runs and verdicts an app has."""
    with opened(key) as store:
        return read.counts(store, app)


@cached
def graded_days(key: StoreKey, setup: Setup) -> tuple[str, str] | None:
    """First and last day with verdicts under a setup; None when there are none."""
    with opened(key) as store:
        return read.score_days(store, setup.app, setup.ruler_id)


@cached
def runs(key: StoreKey, app: str, *, aside: bool = False) -> list[Row]:
    """The newest runs of an app, newest first; n_scored and n_unscored are over both sources.

    Without ``aside`` rechecks and choices of anchors are left out: they are no measurement of the app.
    """
    with opened(key) as store:
        found = read.runs(store, app, aside=aside)
    for run in found:
        for state in ("scored", "unscored"):
            run[f"n_{state}"] = run[f"n_{state}_anchor"] + run[f"n_{state}_traffic"]
        run["n_planned"] = run["n_anchors"] + run["n_traffic"]
    return found


@cached
def events(key: StoreKey, app: str, first_day: str, last_day: str) -> list[Row]:
    """What was logged in a period."""
    with opened(key) as store:
        return read.events(store, app, first_day=first_day, last_day=last_day)


@cached
def findings(key: StoreKey, setup: Setup) -> Findings | None:
    """The newest analysis of a setup; None when there is none, or one of a later version that cannot be read."""
    with opened(key) as store:
        row = read.newest_analysis(store, app=setup.app, ruler_id=setup.ruler_id, criterion=setup.criterion)
    if row is None or row["schema_version"] != SCHEMA_VERSION:
        return None
    return cast("Findings", row["payload"])


@cached
def segments(key: StoreKey, app: str) -> list[Row]:
    """Segments of an app: segment_id, key, value, key2, value2; key "" is everything."""
    with opened(key) as store:
        return read.segments(store, app)


@cached
def segment_keys(key: StoreKey, app: str) -> list[tuple[str, str]]:
    """Keys and crossed pairs of keys that the app is broken down by."""
    with opened(key) as store:
        return read.segment_keys(store, app)


def everything(key: StoreKey, app: str) -> int | None:
    """Id of the segment that holds all items."""
    return next((row["segment_id"] for row in segments(key, app) if row["key"] == ""), None)
