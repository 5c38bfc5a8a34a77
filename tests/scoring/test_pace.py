"""How long calls will take is told from how long the last ones of this judge took."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.cli.progress import how_long
from evaluator.config import JudgeConfig
from evaluator.records import UnscoredReason
from evaluator.scoring.pace import ASSUMED_S, FEWEST, Pace, usual_pace
from evaluator.store.db import open_reader
from tests import builders


def pace_after(path: Path, scores: list[builders.Score]) -> Pace:
    """The pace of a judge that gave these scores, at 840 ms a call."""
    with builders.World(path=path) as world:
        ids = world.add_answers([builders.answer(n, builders.LAST_DAY) for n in range(len(scores))])
        world.run("2026-11-30", answers=dict(zip(ids, scores, strict=True)))
        ruler_id = world.ruler.ruler_id
    with open_reader(path) as store:
        assert usual_pace(store, builders.APP, "another setup") == Pace()
        return usual_pace(store, builders.APP, ruler_id)


def test_median_of_the_last_usable_calls_is_the_pace(tmp_path: Path) -> None:
    """Calls that failed took as long as the time limit allows; they tell nothing."""
    pace = pace_after(tmp_path / "w.db", [4.0] * 6 + [UnscoredReason.TIMEOUT] * 7)
    assert (pace.seconds, pace.n_calls, pace.is_assumed) == (0.84, 6, False)


def test_few_calls_tell_less_than_the_assumption(tmp_path: Path) -> None:
    """One slow call is no pace."""
    pace = pace_after(tmp_path / "w.db", [4.0] * (FEWEST - 1))
    assert (pace.seconds, pace.is_assumed) == (ASSUMED_S, True)


@pytest.mark.parametrize(
    ("limit", "minutes"),
    [(None, 100 * 0.6 / 5 / 60), (1000, 100 * 0.6 / 5 / 60), (10, 10.0)],
)
def test_minutes_follow_from_pace_concurrency_and_rate_limit(limit: int | None, minutes: float) -> None:
    """The slower of the two counts."""
    judge = JudgeConfig(model="m", concurrency=5, calls_per_minute=limit)
    assert Pace(seconds=0.6, n_calls=9).minutes(100, judge) == pytest.approx(minutes)


@pytest.mark.parametrize(
    ("minutes", "pace", "said"),
    [
        (0.1, Pace(), "about 1 minute if a call takes 3 s, which is assumed"),
        (1.6, Pace(seconds=0.84, n_calls=7), "about 2 minutes at 0.84 s a call, as the last 7 took"),
        (1200.0, Pace(seconds=12.345, n_calls=500), "about 1,200 minutes at 12 s a call, as the last 500 took"),
    ],
)
def test_words_say_whether_the_pace_was_seen_or_assumed(minutes: float, pace: Pace, said: str) -> None:
    """An assumption looks like a measurement otherwise."""
    assert how_long(minutes, pace) == said
