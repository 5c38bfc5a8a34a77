"""The stored shape: every state of a database gives plain JSON, and what is stored is what was computed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.analysis import CODE_VERSION, AnalysisSettings, analyse, analyse_and_store
from evaluator.errors import StoreError
from evaluator.findings import (
    SCHEMA_VERSION,
    AnchorRun,
    Findings,
    JudgeFinding,
    MovedAnchor,
    QualityFinding,
    SegmentFinding,
    SettingsUsed,
    Shares,
    TrafficDay,
)
from evaluator.store import read
from evaluator.store.db import open_store
from tests import builders
from tests.builders import APP, noon

STATES: dict[str, Callable[[Path], Path]] = {
    "anchor_only": builders.anchor_only,
    "one_day": builders.one_day,
    "one_score": lambda path: builders.one_day(path, scores=[3]),
    "all_unscored": builders.all_unscored,
    "hostile": builders.hostile,
}


@pytest.fixture(scope="module")
def sixty_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty days with all that happens to runs."""
    return builders.sixty_days(tmp_path_factory.mktemp("sixty") / "world.db")


def analyse_file(path: Path) -> Findings:
    """Analyse the newest setup of a database's only app."""
    with open_store(path) as store:
        (app,) = read.apps(store)
        ruler = read.newest_ruler(store, app)
        assert ruler is not None
        return analyse(store, app=app, ruler_id=ruler["ruler_id"], settings=AnalysisSettings())


def has_shape(found: Any, shape: Any) -> bool:
    """Whether a dictionary has exactly the keys of a typed one."""
    return set(found) == set(shape.__annotations__) | set(getattr(shape, "__required_keys__", ()))


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_plain_json_without_nan(tmp_path, state):
    """Nothing that no page and no program could read."""
    found = analyse_file(STATES[state](tmp_path / "world.db"))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["headline"]
    assert found["tone"] in ("unknown", "quiet")
    assert "None" not in " ".join([found["headline"], *found["sentences"], *found["needs_a_look"]])


def test_the_payload_has_the_shape_that_is_promised(sixty_days):
    """Every key of every typed dictionary, and no other."""
    found = analyse_file(sixty_days)
    json.dumps(found, allow_nan=False)
    assert has_shape(found, Findings)
    assert has_shape(found["settings"], SettingsUsed)
    assert has_shape(found["judge"], JudgeFinding)
    assert all(has_shape(run, AnchorRun) for run in found["judge"]["runs"])
    assert all(has_shape(anchor, MovedAnchor) for anchor in found["judge"]["moved"])
    assert has_shape(found["assistant"], QualityFinding)
    assert all(has_shape(segment, SegmentFinding) for segment in found["segments"])
    assert has_shape(found["shares"], Shares)
    assert all(has_shape(day, TrafficDay) for day in found["days"])
    assert len(found["needs_a_look"]) == len(found["look_segments"])


def test_sixty_days_tell_the_judges_move_and_its_cause(sixty_days):
    """The builder's story: the judge moves on day 40, another model answers; failed and missing runs are in it."""
    found = analyse_file(sixty_days)
    judge = found["judge"]
    story = builders.Story()
    truth = builders.plus_days(found["first_day"], story.judge_moves + 1)
    assert (judge["state"], judge["direction"]) == ("changed", "more generous")
    assert judge["since_first_day"] <= truth <= judge["since_last_day"]
    assert judge["likely_cause"].startswith("the returned model changed")
    assert found["assistant"]["state"] != "changed"
    assert [run["counted"] for run in judge["runs"]].count(False) == 1
    assert judge["moved"]
    assert all(anchor["after"] > anchor["before"] for anchor in judge["moved"])


def test_what_is_stored_is_what_was_computed(sixty_days):
    """The row that page and check read."""
    ruler_id = builders.ruler().ruler_id
    settings = AnalysisSettings(smallest_change=0.2)
    found = analyse_and_store(sixty_days, app=APP, ruler_id=ruler_id, settings=settings, now=noon("2026-12-01"))
    with open_store(sixty_days) as store:
        row = read.newest_analysis(store, app=APP, ruler_id=ruler_id, criterion=found["criterion"])
    assert row is not None
    assert row["payload"] == found
    assert (row["schema_version"], row["code_version"]) == (SCHEMA_VERSION, CODE_VERSION)
    assert row["settings_hash"] == settings.settings_hash != AnalysisSettings().settings_hash
    assert (row["first_day"], row["last_day"]) == (found["first_day"], found["last_day"])


def test_the_same_store_gives_the_same_analysis(sixty_days):
    """A pure function of what is stored."""
    assert analyse_file(sixty_days) == analyse_file(sixty_days)


def test_a_missing_database_is_not_created(tmp_path):
    """An analysis never makes a file."""
    with pytest.raises(StoreError):
        analyse_and_store(
            tmp_path / "nothing.db", app=APP, ruler_id="x", settings=AnalysisSettings(), now=noon("2026-12-01")
        )
    assert not (tmp_path / "nothing.db").exists()
