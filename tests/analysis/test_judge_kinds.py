"""Ways in which a judge can change besides its mean, each named; and a new normal that a person accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from evaluator.analysis.comparison import Comparison, compare_runs
from evaluator.analysis.history import AnchorHistory
from evaluator.analysis.judge import Judge, find_judge
from evaluator.analysis.judge_words import beside_the_judge, judge_change_clause, judge_sentence
from evaluator.analysis.units import Scale
from evaluator.findings import AcceptedBaseline, JudgeFinding
from tests.analysis.findings import findings
from tests.analysis.simulate import World, simulate
from tests.builders import plus_days
from tests.stats.latent import whole_scores

N_ANCHORS, N_RUNS, CHANGE = 50, 70, 45
FIRST_DAY = "2026-03-01"
Score = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Of a simulated judge: most anchors repeat, those near a boundary flip."""

    anchor_sd: float = 0.05
    run_sd: float = 0.03


def history(
    drift: Score = lambda opinion, _expected, _rng: opinion,
    *,
    noise_after: float = 1.0,
    seed: int = 5,
    n_runs: int = N_RUNS,
) -> AnchorHistory:
    """Anchors of a judge whose opinions change in run ``CHANGE``."""
    rng = np.random.default_rng(seed)
    expected = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], N_ANCHORS // 5)
    opinion = np.clip(expected + rng.uniform(-0.45, 0.45, N_ANCHORS) + rng.normal(0, 0.3, N_ANCHORS), 0.6, 5.4)
    sd = Noise().anchor_sd * np.exp(rng.normal(0, 0.6, N_ANCHORS))
    after = drift(opinion, expected, rng)
    rows = np.arange(n_runs)[:, None]
    latent = np.where(rows >= CHANGE, after, opinion) + rng.normal(0, Noise().run_sd, (n_runs, 1))
    latent = latent + rng.normal(0, 1, (n_runs, N_ANCHORS)) * sd * np.where(rows >= CHANGE, noise_after, 1.0)
    return history_of(np.clip(np.floor(latent + 0.5), 1, 5))


def history_of(scores: np.ndarray) -> AnchorHistory:
    """A history with these scores, one run a day."""
    days = tuple(plus_days(FIRST_DAY, run) for run in range(len(scores)))
    names = {f"i{column}": {"anchor_id": f"gen-{column}", "expected_score": 3.0} for column in range(scores.shape[1])}
    return AnchorHistory(
        run_ids=tuple(f"r{run}" for run in range(len(scores))),
        slots=tuple(f"{day}T06:00:00.000Z" for day in days),
        days=days,
        item_ids=tuple(names),
        names=names,
        scores=scores,
        asked=np.ones(scores.shape, dtype=bool),
        n_planned=(scores.shape[1],) * len(scores),
    )


def compared(of: AnchorHistory, accepted_day: str | None = None) -> Comparison:
    """The comparison at the product's own threshold."""
    found = compare_runs(of, threshold=1043.0, level=0.95, tolerance=0.1, accepted_day=accepted_day)
    assert found is not None
    return found


def judged(of: AnchorHistory, accepted: AcceptedBaseline | None = None) -> Judge:
    """The whole finding, rubric 1 to 5."""
    settings = findings()["settings"]
    return find_judge(of, scale=Scale(low=1, high=5), settings=settings, events=[], accepted=accepted)


def finding(of: AnchorHistory, accepted: AcceptedBaseline | None = None) -> JudgeFinding:
    """The finding alone."""
    return judged(of, accepted).finding


# ---------------------------------------------------------------- kinds


@pytest.mark.parametrize(
    ("drift", "noise", "kind", "clause"),
    [
        (lambda opinion, *_: opinion + 0.3, 1.0, "level", "became more generous on"),
        (lambda opinion, *_: opinion - 0.3, 1.0, "level", "became stricter on"),
        (lambda opinion, *_: opinion + 0.3 * (3 - opinion), 1.0, "compression", "pull scores together"),
        (lambda opinion, expected, _: opinion + 0.5 * (expected <= 2), 1.0, "low_end", "more generous with weak"),
        (lambda opinion, expected, _: opinion - 0.5 * (expected >= 4), 1.0, "high_end", "stricter with strong"),
        (lambda opinion, *_: opinion, 4.0, "noisier", "began to scatter"),
    ],
    ids=["generous", "strict", "compression", "low end", "high end", "noise"],
)
def test_each_kind_is_found_dated_and_named(drift: Score, noise: float, kind: str, clause: str) -> None:
    """Within a few runs, whatever happens to the mean; and said in words."""
    of = history(drift, noise_after=noise)
    found = finding(of)
    assert (found["state"], found["kind"]) == ("changed", kind)
    assert of.days[CHANGE] in (found["since_first_day"], found["since_day"], found["since_last_day"]) or (
        (found["since_first_day"] or "") <= of.days[CHANGE] <= (found["since_last_day"] or "")
    )
    assert found["alarm_day"] is not None
    assert of.days[CHANGE] <= found["alarm_day"] <= of.days[CHANGE + 12]
    assert clause in judge_change_clause(found)


def test_a_judge_that_only_compresses_is_not_called_steady() -> None:
    """Its mean stands still: both ends are told, with intervals and n."""
    found = finding(history(lambda opinion, *_: opinion + 0.35 * (3 - opinion)))
    assert found["state"] == "changed"
    low, high = found["ends"]
    assert low["low"] is not None
    assert high["high"] is not None
    assert low["low"] > 0 > high["high"]
    sentence = judge_sentence(findings(judge=found))
    assert "weak answers +" in sentence
    assert "strong answers −" in sentence


def test_noise_is_told_as_a_ratio_with_its_interval() -> None:
    """And no direction is made up for the mean."""
    found = finding(history(noise_after=4.0))
    assert found["noise_ratio_low"] is not None
    assert found["noise_ratio_low"] > 1
    assert found["direction"] is None
    assert "scatter" in judge_sentence(findings(judge=found))


def test_noise_begins_no_new_stretch_of_the_correction() -> None:
    """The map from baseline to scores is the same; a moved level begins one."""
    assert len(judged(history(noise_after=4.0)).regimes) == 1
    assert len(judged(history(lambda opinion, *_: opinion + 0.3)).regimes) == 2


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_judge_that_moves_back_moved_and_is_not_called_calm(seed: int) -> None:
    """Nearer to its baseline again, its spread falls: still the map has to follow both moves."""
    world = World(n_days=90, judge_day=40, judge_until=65, judge_gain=0.3)
    of, _ = simulate(world, np.random.default_rng(seed))
    watched = compared(of).watched
    assert [(step.kind, step.row) for step in watched.steps] == [("level", 40), ("level", 65)]
    assert [step.row for step in watched.boundaries] == [40, 65]


def test_quiet_histories_stay_quiet() -> None:
    """Of forty, none changes in this sample: the promise is 0.35 of one a year, each is 60 runs long."""
    states = [compared(history(seed=seed)).watched.state for seed in range(100, 140)]
    assert states.count("changed") <= 2


# ---------------------------------------------------------------- one anchor


def broken(*, back_after: int | None = None) -> AnchorHistory:
    """One anchor of level 4 drops to 2; it may come back after some runs."""
    of = history()
    stop = None if back_after is None else CHANGE + back_after
    of.scores[CHANGE:stop, 3] = 2.0
    of.scores[:CHANGE, 3] = 4.0
    if stop is not None:
        of.scores[stop:, 3] = 4.0
    return of


def test_a_broken_anchor_is_named_dated_and_left_out() -> None:
    """The rest of the judge is told of as if it were not there."""
    found = judged(broken())
    judge = found.finding
    assert (judge["state"], judge["kind"]) == ("changed", "single_anchor")
    (one,) = judge["broken"]
    assert (one["anchor"]["anchor_id"], one["since_day"]) == ("gen-3", plus_days(FIRST_DAY, CHANGE))
    assert (one["anchor"]["before"], one["anchor"]["after"]) == (4.0, 2.0)
    assert judge["low"] is not None
    assert judge["high"] is not None
    assert -0.1 < judge["low"] < judge["high"] < 0.1
    assert np.isnan(found.history.scores[CHANGE:, 3]).all()
    assert len(found.regimes) == 1
    (said,) = beside_the_judge(judge)
    assert "gen-3" in said
    assert "left out" in said


def test_an_anchor_that_comes_back_is_not_broken() -> None:
    """Two runs away in a judge that otherwise repeats exactly: a glitch, and no drift."""
    exact = history_of(np.tile(np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 10), (40, 1)))
    exact.scores[30:32, 3] = 2.0
    watched = compared(exact).watched
    assert watched.broken == ()
    assert watched.steps == ()
    assert watched.state != "changed"


def test_a_break_long_ago_keeps_its_date_in_a_long_history() -> None:
    """Three hundred runs later its new score is usual; others that break by and by are dated, too."""
    scores = whole_scores(1, 400, n_anchors=100)
    for number, column in enumerate((0, 1, 2, 3)):
        row = 60 + 8 * number
        scores[row:, column] += np.where(scores[row:, column] > 3, -2, 2)
    watched = compared(history_of(scores)).watched
    found = {each.column: each.row for each in watched.broken}
    assert all(abs(row - (60 + 8 * column)) <= 2 for column, row in found.items())
    assert {0, 3} <= set(found)
    assert watched.steps == ()
    assert len(watched.broken) == len(found)


def test_an_anchor_that_came_back_after_weeks_is_left_out_while_it_was_away() -> None:
    """And the search ends: what it is left with is quiet."""
    scores = whole_scores(1, 300, n_anchors=40)
    scores[84:140, 3] += np.where(scores[84:140, 3] > 3, -2, 2)
    watched = compared(history_of(scores)).watched
    assert (watched.broken, watched.steps, watched.state) == ((), (), "steady")
    assert np.isnan(watched.scores[90:140, 3]).all()
    assert not np.isnan(watched.scores[140:, 3]).all()


def test_one_anchor_that_moves_the_slope_is_called_an_anchor() -> None:
    """From one end of a short scale of anchors to the other: the slope alarms before its own evidence does."""
    for seed in range(4):
        scores = whole_scores(300 + seed, 80, n_anchors=20)
        scores[40:, 5] += np.where(scores[40:, 5] > 3, -3, 3)
        watched = compared(history_of(scores)).watched
        assert [each.column for each in watched.broken] == [5]
        assert watched.steps == ()


def test_scatter_that_grew_without_an_alarm_is_not_steady() -> None:
    """The mean lies within the tolerance, the spread is shown to differ: nothing is promised."""
    assert compared(history()).watched.state == "steady"
    restless = []
    for seed in range(300, 320):
        watched = compared(history_of(whole_scores(seed, 80, change_at=20, noise=(1, 1.8)))).watched
        if not watched.steps and not watched.broken and (watched.spread.low or 0) > 0:
            restless.append(watched.state)
    assert restless
    assert "steady" not in restless


def test_a_broken_anchor_does_not_hide_what_the_judge_does_later() -> None:
    """The level moves ten runs after it."""
    of = broken()
    of.scores[CHANGE + 10 :, 10:40] = np.clip(of.scores[CHANGE + 10 :, 10:40] + 1, 1, 5)
    judge = finding(of)
    assert judge["kind"] != "single_anchor"
    assert judge["direction"] == "more generous"
    assert judge["since_day"] == of.days[CHANGE + 10]
    assert [each["anchor"]["anchor_id"] for each in judge["broken"]] == ["gen-3"]


# ---------------------------------------------------------------- an accepted normal


def accept(day: str) -> AcceptedBaseline:
    """A person's word."""
    return AcceptedBaseline(from_day=day, accepted_utc="2026-05-01T00:00:00.000Z", by_whom="ada", note="new model")


def test_an_accepted_change_is_told_no_more_and_stays_in_the_scale() -> None:
    """The alarm compares with the runs since; against the first runs the judge still gives more."""
    of = history(lambda opinion, *_: opinion + 0.3)
    before, after = judged(of), judged(of, accept(of.days[CHANGE]))
    assert before.finding["state"] == "changed"
    assert after.finding["state"] in ("steady", "no_change_shown", "cannot_tell")
    assert after.finding["against_first_runs_low"] is not None
    assert after.finding["against_first_runs_low"] > 0.1
    # the corrected line keeps the scale of the first runs: the same stretches, the same maps
    assert [regime.slot_utc for regime in after.regimes] == [regime.slot_utc for regime in before.regimes]
    assert after.maps == before.maps
    (said,) = beside_the_judge(after.finding)
    assert "accepted as normal by ada: new model" in said


def test_a_change_after_an_accepted_one_is_found() -> None:
    """The new reference is a reference like any other."""
    of = history(lambda opinion, *_: opinion + 0.3, n_runs=90)
    of.scores[75:] = np.clip(of.scores[75:] - (np.arange(N_ANCHORS) % 3 == 0), 1, 5)
    judge = finding(of, accept(of.days[CHANGE]))
    assert (judge["state"], judge["direction"], judge["since_day"]) == ("changed", "stricter", of.days[75])


def test_after_accepting_the_alarm_learns_anew() -> None:
    """Five runs since the new normal: no alarm is possible yet, and that is said."""
    of = history(lambda opinion, *_: opinion + 0.3)
    judge = finding(of, accept(of.days[N_RUNS - 5]))
    assert (judge["state"], judge["learning_runs_left"]) == ("learning", 5)


# ---------------------------------------------------------------- the norm itself


def test_a_norm_that_moves_while_it_is_made_is_told() -> None:
    """Slope and p of the first runs."""
    of = history(n_runs=30)
    drifting = history_of(np.clip(of.scores + 0.02 * np.arange(30)[:, None], 1, 5))
    judge = finding(drifting)
    assert judge["baseline_trend_p"] is not None
    assert judge["baseline_trend_p"] < 0.01
    assert any("trend" in said for said in beside_the_judge(judge))
    assert (finding(of)["baseline_trend_p"] or 0) > 0.01
