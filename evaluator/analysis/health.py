"""Whether an app's anchors can do their work, from what they were given so far; with advice in words.

The runs looked at are those since the judge last changed: what a judge did to the anchors is no fault of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

import numpy as np

from evaluator.analysis.history import AnchorHistory, read_anchor_history
from evaluator.analysis.units import Scale
from evaluator.stats.agreement import Agreement, weighted_kappa
from evaluator.stats.anchor_health import ANCHORS_PER_LEVEL, AnchorHealth, anchor_health, baseline_trend
from evaluator.stats.numeric import BoolArray, FloatArray
from evaluator.stats.paired import MIN_ANCHORS, enough_anchors, normalise
from evaluator.stats.reliability import Reliability, reliability
from evaluator.store import read
from evaluator.store.db import Store

OLD_DAYS = 180
MANY_PINNED = 0.3
FEW_RUNS = 3
_LEVEL_WORDS = ("lowest", "second", "middle", "fourth", "highest")


@dataclass(frozen=True, kw_only=True)
class AnchorRow:
    """One anchor. Scores in rubric units; None where there is none.

    ``troubles`` are words of: no score, restless, at the ceiling, at the floor.
    """

    anchor_id: str
    item_id: str
    expected_score: float | None
    mean: float | None
    usual_share: float | None
    noise_sd: float | None
    n: int
    troubles: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SetHealth:
    """The anchors in use, the numbers about them, and what to do.

    Attributes:
        app: The app.
        setup: Number of the judge setup that graded them.
        anchor_set: Name of the newest set.
        first_day: First run looked at.
        last_day: Last run looked at.
        n_runs: Counted runs looked at.
        n_anchors: Anchors of the newest run.
        age_days: Days since the set was first loaded, at the last run.
        per_level: Anchors near each fifth of the scale, low to high.
        reliability: How repeatable the judge is on them.
        agreement: Quadratic kappa of the judge's usual scores with the scores people gave; None without such scores.
        n_with_expected: Anchors with a person's score.
        trend_per_run: Slope of the baseline's runs; None with too few.
        trend_p: Its p-value.
        advice: Sentences, the weightiest first; empty when all is well.
        anchors: The anchors, those with troubles first.
    """

    app: str
    setup: int
    anchor_set: str
    first_day: str
    last_day: str
    n_runs: int
    n_anchors: int
    age_days: int
    per_level: tuple[int, ...]
    reliability: Reliability
    agreement: Agreement | None
    n_with_expected: int
    trend_per_run: float | None
    trend_p: float | None
    advice: tuple[str, ...]
    anchors: tuple[AnchorRow, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class QuietRuns:
    """The counted runs since the judge last changed, over the anchors that the newest run asked for.

    Attributes:
        scores: 1..5 equivalents, runs by anchors, nan where missing.
        days: Days of the runs.
        item_ids: The anchors.
        history: All that was read.
    """

    scores: FloatArray
    days: tuple[str, ...]
    item_ids: tuple[str, ...]
    history: AnchorHistory


def longest_quiet_runs(store: Store, *, app: str, setup: read.Row, change_days: Sequence[str]) -> QuietRuns | None:
    """The longest stretch of runs between two changes of the judge, the newest of several; None without any run."""
    ends = [None, *change_days, None]
    found = [
        quiet_runs(store, app=app, setup=setup, since_day=first, before_day=after) for first, after in pairwise(ends)
    ]
    return max((each for each in reversed(found) if each is not None), key=lambda runs: len(runs.days), default=None)


def quiet_runs(
    store: Store, *, app: str, setup: read.Row, since_day: str | None, before_day: str | None = None
) -> QuietRuns | None:
    """Read the runs of a judge setup in which the judge did not change.

    Args:
        store: A store, read-only is enough.
        app: The app.
        setup: The judge setup, a row of ``read.rulers``.
        since_day: Day of the judge's last change; None without one.
        before_day: Day of its next change; None without one.

    Returns:
        The runs; None while no run has graded enough anchors.
    """
    scale = (float(setup["scale_min"]), float(setup["scale_max"]))
    criterion = str(setup["criterion"])
    history = read_anchor_history(store, app=app, ruler_id=str(setup["ruler_id"]), criterion=criterion, scale=scale)
    if not len(history.run_ids):
        return None
    present = ~np.isnan(history.scores) & history.asked
    counted = enough_anchors(present.sum(axis=1), history.asked.sum(axis=1))
    since = np.array(
        [(since_day or "") <= day and (before_day is None or day < before_day) for day in history.days], dtype=np.bool_
    )
    # a change dated to the very last run would leave nothing to look at
    rows = np.flatnonzero(counted & since) if (counted & since).any() else np.flatnonzero(counted)
    if not len(rows):
        return None
    used = np.flatnonzero(history.asked[-1])
    return QuietRuns(
        scores=history.scores[np.ix_(rows, used)],
        days=tuple(history.days[row] for row in rows),
        item_ids=tuple(history.item_ids[column] for column in used),
        history=history,
    )


def set_health(store: Store, *, app: str, setup: read.Row, since_day: str | None) -> SetHealth | None:
    """Look at the anchors in use; arguments and None as for ``quiet_runs``."""
    quiet = quiet_runs(store, app=app, setup=setup, since_day=since_day)
    if quiet is None:
        return None
    scale = Scale(low=float(setup["scale_min"]), high=float(setup["scale_max"]))
    scores = scale.low + (quiet.scores - 1.0) * scale.unit
    found = anchor_health(scores, scale=scale.bounds)
    history = quiet.history
    slope, p = baseline_trend(history.scores[history.baseline_mask()])
    newest = _newest_set(store, app, str(setup["ruler_id"]))
    expected = _expected(quiet)
    agreement = _agreement(normalise(found.mean, scale.bounds), normalise(expected, scale.bounds))
    age = max((date.fromisoformat(quiet.days[-1]) - date.fromisoformat(newest["loaded_utc"][:10])).days, 0)
    return SetHealth(
        app=app,
        setup=int(setup["position"]),
        anchor_set=str(newest["name"]),
        first_day=quiet.days[0],
        last_day=quiet.days[-1],
        n_runs=len(quiet.days),
        n_anchors=len(quiet.item_ids),
        age_days=age,
        per_level=tuple(int(n) for n in found.per_level),
        reliability=reliability(scores),
        agreement=agreement,
        n_with_expected=int((~np.isnan(expected)).sum()),
        trend_per_run=scale.change(slope),
        trend_p=p,
        advice=tuple(_advice(found, agreement, p, scale.change(slope), age)),
        anchors=_rows(quiet, found, expected),
    )


def _newest_set(store: Store, app: str, ruler_id: str) -> read.Row:
    newest = read.anchor_runs(store, app=app, ruler_id=ruler_id)[-1]
    return read.anchor_set(store, newest["anchor_set_id"]) or {"name": "", "loaded_utc": newest["slot_utc"]}


def _expected(quiet: QuietRuns) -> FloatArray:
    given = [quiet.history.names[item_id]["expected_score"] for item_id in quiet.item_ids]
    return np.array([np.nan if score is None else float(score) for score in given], dtype=np.float64)


def _agreement(usual: FloatArray, expected: FloatArray) -> Agreement | None:
    """Kappa on the five levels of the 1..5 equivalents, so that any rubric's scale is treated alike."""
    if (~np.isnan(expected) & ~np.isnan(usual)).sum() < MIN_ANCHORS:
        return None
    return weighted_kappa(np.round(usual), np.round(expected), weights="quadratic")


# ---------------------------------------------------------------- advice


def _advice(
    found: AnchorHealth, agreement: Agreement | None, p: float | None, slope: float | None, age: int
) -> list[str]:
    said: list[str] = []
    if p is not None and p < 0.01 and slope is not None:
        said.append(
            f"The first runs themselves have a trend ({slope:+.3f} a run, p {p:.2g}): the judge may have moved while it"
            " was learned. `judgewatch baseline accept DAY` takes later runs as the normal."
        )
    if not found.is_enough:
        said.append(f"Only {found.n_usable} anchors get scores; a run needs {MIN_ANCHORS} to count: add some.")
    if found.is_dead.any():
        said.append(
            f"{_anchors(found.is_dead)} without a score in most runs: see why with `judgewatch items show`, or replace."
        )
    said += _coverage_advice(found)
    if found.is_restless.any():
        said.append(
            f"{_anchors(found.is_restless)} off the usual score in over 30 % of the runs: they add noise and little"
            " else; replace them when you next change the set."
        )
    n_runs = found.n_runs
    if n_runs < FEW_RUNS:
        said.append(f"Graded {n_runs} time{'' if n_runs == 1 else 's'} so far: restless anchors show after a few more.")
    if agreement is not None and agreement.high is not None and agreement.high < 0.6:
        said.append(
            f"The judge agrees little with the people who scored these anchors (kappa {agreement.value:.2f}, between"
            f" {agreement.low:.2f} and {agreement.high:.2f}): steady it may be, right it is not."
        )
    if age > OLD_DAYS:
        said.append(
            f"The set is {age} days old: what users ask may have moved away from it. `judgewatch anchors pick` proposes"
            " anchors from recent traffic."
        )
    return said


def _coverage_advice(found: AnchorHealth) -> list[str]:
    said = []
    if found.thin_levels:
        names = ", ".join(f"{_LEVEL_WORDS[place]} ({found.per_level[place]})" for place in found.thin_levels)
        said.append(
            f"Fewer than {ANCHORS_PER_LEVEL} anchors in these fifths of the scale: {names}. A judge that moves only"
            " there is seen late, and the corrected line has to guess."
        )
    n = max(len(found.mean), 1)
    for mask, where, what in (
        (found.at_ceiling, "highest", "more generous"),
        (found.at_floor, "lowest", "stricter"),
    ):
        if mask.sum() > MANY_PINNED * n:
            said.append(
                f"{_anchors(mask)} always at the {where} score: they cannot show a judge that grows {what};"
                " trade some for answers in the middle."
            )
    return said


def _anchors(mask: BoolArray) -> str:
    n = int(mask.sum())
    return f"{n} anchor is" if n == 1 else f"{n} anchors are"


def _rows(quiet: QuietRuns, found: AnchorHealth, expected: FloatArray) -> tuple[AnchorRow, ...]:
    rows = [
        AnchorRow(
            anchor_id=str(quiet.history.names[item_id]["anchor_id"]),
            item_id=item_id,
            expected_score=_known(expected[place]),
            mean=_known(found.mean[place]),
            usual_share=_known(1 - found.flip_rate[place]),
            noise_sd=_known(found.noise_sd[place]),
            n=int(found.n_scores[place]),
            troubles=_troubles(found, place),
        )
        for place, item_id in enumerate(quiet.item_ids)
    ]
    return tuple(sorted(rows, key=lambda row: (-len(row.troubles), row.usual_share or 0.0, row.anchor_id)))


def _troubles(found: AnchorHealth, place: int) -> tuple[str, ...]:
    masks: Sequence[tuple[BoolArray, str]] = (
        (found.is_dead, "no score"),
        (found.is_restless, "restless"),
        (found.at_ceiling, "at the ceiling"),
        (found.at_floor, "at the floor"),
    )
    return tuple(word for mask, word in masks if mask[place])


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
