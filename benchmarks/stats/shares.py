"""Whether corrected means and shares of a change hold what they promise, when judge and assistant both move."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks.stats.coverage import share_error
from benchmarks.stats.settings import CHANGES, NOISES, Sizes
from benchmarks.stats.simulator import (
    NO_CHANGE,
    Change,
    FloatArray,
    Judge,
    Noise,
    day_shocks,
    draw_anchors,
    generator,
    simulate_runs,
)
from benchmarks.stats.tables import markdown
from benchmarks.stats.traffic import Traffic, draw_answers, grade, true_means
from evaluator.stats.attribution import attribute
from evaluator.stats.corrected import corrected_mean
from evaluator.stats.verdict import Attribution, Share

BASELINE_RUNS, ANSWERS_A_DAY = 20, 200
PERIOD_RUNS, ANSWERS_A_RUN = 20, 50
UNEVEN_DAYS = 0.05
TRUTH_ANSWERS = 400_000

_BY_NAME = {change.name: change for change in CHANGES} | {"none": NO_CHANGE}
DAY_CHANGES = ("none", "+0.2", "compr. to 4", "low end +0.3", "noise x3")
QUALITIES = (0.0, -0.3)
PERIOD_CASES = (
    ("none", 0.0), ("+0.2", 0.0), ("+0.1", 0.0), ("compr. to 4", 0.0), ("low end +0.3", 0.0),
    ("none", -0.2), ("none", -0.1), ("+0.2", -0.2), ("+0.2", -0.4), ("-0.2", -0.2),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Mean:
    """Corrected means of single days in one case; the raw one beside it. Points of the scale."""

    bias: float
    half_width: float
    holds: float
    se: float
    raw_bias: float
    n: int


@dataclass(frozen=True, kw_only=True)
class Split:
    """Shares of the change between two periods in one case.

    Attributes:
        verdicts: How often each was given.
        judge_holds: How often the judge's interval holds the truth.
        assistant_holds: How often the assistant's does.
        se: Standard error of the latter.
        half_width: Median half-width of the assistant's.
        n: Pairs of periods.
    """

    verdicts: dict[str, float]
    judge_holds: float
    assistant_holds: float
    se: float
    half_width: float
    n: int


def run(sizes: Sizes, seed: int) -> dict[str, Any]:
    """Run both tables and print them."""
    means = {}
    for label, noise in _panels().items():
        for change in DAY_CHANGES:
            for quality in QUALITIES:
                name = f"{label}; judge {change}; answers {quality:+g}"
                means[name] = correct(name, noise, _BY_NAME[change], quality, sizes.days, seed)
    print(f"### Corrected mean of a day, {ANSWERS_A_DAY} answers\n\n{_means_table(means)}\n", flush=True)
    splits = {}
    for name, noise, traffic, by_day, (change, quality) in _period_cases():
        splits[name] = split(name, noise, traffic, _BY_NAME[change], quality, sizes.periods, seed, by_day=by_day)
    title = f"Two periods of {PERIOD_RUNS} runs with {ANSWERS_A_RUN} answers each"
    print(f"### {title}\n\n{_splits_table(splits)}\n", flush=True)
    return {
        "corrected": {name: asdict(row) for name, row in means.items()},
        "attribution": {name: asdict(row) for name, row in splits.items()},
    }


def _panels() -> dict[str, Noise]:
    base, alike = NOISES["base"], Traffic().level_shares
    panels = {f"K = {k}, all levels": replace(base, n_anchors=k) for k in (20, 50, 200)}
    return panels | {"K = 50, like traffic": replace(base, level_shares=alike)}


def _period_cases() -> list[tuple[str, Noise, Traffic, bool, tuple[str, float]]]:
    even = [
        (
            f"K = {n_anchors}; judge {case[0]}; answers {case[1]:+g}",
            replace(NOISES["base"], n_anchors=n_anchors),
            Traffic(),
            False,
            case,
        )
        for n_anchors in (50, 200)
        for case in PERIOD_CASES
    ]
    uneven = [
        (
            f"K = 50; nothing moves, but days differ by {UNEVEN_DAYS:g}; clusters are {label}",
            NOISES["base"],
            Traffic(day_sd=UNEVEN_DAYS),
            by_day,
            ("none", 0.0),
        )
        for label, by_day in (("conversations", False), ("days", True))
    ]
    return even + uneven


# ---------------------------------------------------------------- the mean of a day


def correct(name: str, noise: Noise, change: Change, quality: float, n: int, seed: int) -> Mean:
    """Correct the mean of n days, each with anchors and a judge of its own.

    Args:
        name: The case's name.
        noise: The setting.
        change: What happened to the judge since the baseline.
        quality: What happened to the answers, in points.
        n: Days.
        seed: Of all draws.
    """
    rng = generator(seed, "truth of days", quality)
    plain = Judge(NOISES["base"], draw_anchors(NOISES["base"], rng), NO_CHANGE, rng)
    truth, _ = true_means(Traffic(), plain, quality, rng, n=TRUTH_ANSWERS)
    errors, halves, held, raw = [], [], [], []
    for number in range(n):
        rng = generator(seed, "day", name, number)
        judge = Judge(noise, draw_anchors(noise, rng), change, rng)
        shocks = day_shocks(noise, BASELINE_RUNS + 1, rng)
        anchors = simulate_runs(judge, BASELINE_RUNS + 1, BASELINE_RUNS, rng, shocks=shocks)
        answers = draw_answers(Traffic(), judge, ANSWERS_A_DAY, rng, quality=quality)
        scores = grade(answers, judge, 0, float(shocks[-1]), rng)
        found = corrected_mean(scores, anchors[-1], anchors[:-1], clusters=answers.conversations)
        if found.corrected is None or found.low is None or found.high is None or found.mean is None:
            continue
        errors.append(found.corrected - truth)
        halves.append((found.high - found.low) / 2)
        held.append(found.low <= truth <= found.high)
        raw.append(found.mean - truth)
    share = float(np.mean(held))
    return Mean(
        bias=float(np.mean(errors)),
        half_width=float(np.mean(halves)),
        holds=share,
        se=share_error(share, len(held)),
        raw_bias=float(np.mean(raw)),
        n=len(held),
    )


# ---------------------------------------------------------------- two periods


@dataclass(frozen=True, kw_only=True, eq=False)
class _Period:
    anchors: FloatArray
    scores: FloatArray
    clusters: FloatArray


def split(
    name: str, noise: Noise, traffic: Traffic, change: Change, quality: float, n: int, seed: int, *, by_day: bool
) -> Split:
    """Attribute the change between n pairs of periods, each with anchors and a judge of its own.

    Args:
        name: The case's name.
        noise: The setting.
        traffic: Whose answers.
        change: What happened to the judge between the periods.
        quality: What happened to the answers, in points.
        n: Pairs of periods.
        seed: Of all draws.
        by_day: Whether days are the clusters, and not conversations.
    """
    verdicts: Counter[str] = Counter()
    judge_held, assistant_held, halves = [], [], []
    for number in range(n):
        rng = generator(seed, "periods", name, number)
        judge = Judge(noise, draw_anchors(noise, rng), change, rng)
        first = _period(judge, traffic, -1, 0.0, rng, by_day=by_day)
        second = _period(judge, traffic, judge.change.runs, quality, rng, by_day=by_day)
        found = _attribute(first, second)
        # the same answers for both means, so that the truth is not blurred by drawing them
        before, _ = true_means(traffic, judge, 0.0, generator(seed, "truth", number))
        unchanged, now = true_means(traffic, judge, quality, generator(seed, "truth", number))
        verdicts[found.verdict] += 1
        judge_held.append(_holds(found.judge, now - unchanged))
        assistant_held.append(_holds(found.assistant, unchanged - before))
        if found.assistant.low is not None and found.assistant.high is not None:
            halves.append((found.assistant.high - found.assistant.low) / 2)
    share = float(np.mean(assistant_held))
    return Split(
        verdicts={verdict: count / n for verdict, count in verdicts.most_common()},
        judge_holds=float(np.mean(judge_held)),
        assistant_holds=share,
        se=share_error(share, n),
        half_width=float(np.median(halves)) if halves else math.nan,
        n=n,
    )


def _period(
    judge: Judge, traffic: Traffic, age: int, quality: float, rng: np.random.Generator, *, by_day: bool
) -> _Period:  # fmt: skip
    shocks = day_shocks(judge.noise, PERIOD_RUNS, rng)
    anchors = simulate_runs(judge, PERIOD_RUNS, 0 if age >= 0 else PERIOD_RUNS, rng, shocks=shocks)
    scores, clusters = [], []
    for day, shock in enumerate(shocks):
        answers = draw_answers(traffic, judge, ANSWERS_A_RUN, rng, quality=quality)
        scores.append(grade(answers, judge, age, float(shock), rng))
        names = np.zeros(ANSWERS_A_RUN) if by_day else answers.conversations
        clusters.append(day * ANSWERS_A_RUN + names)
    return _Period(anchors=anchors, scores=np.concatenate(scores), clusters=np.concatenate(clusters))


def _attribute(first: _Period, second: _Period) -> Attribution:
    return attribute(
        before=first.scores,
        after=second.scores,
        anchors_before=first.anchors,
        anchors_after=second.anchors,
        clusters_before=first.clusters,
        clusters_after=second.clusters,
    )


def _holds(share: Share, truth: float) -> bool:
    return share.low is not None and share.high is not None and share.low <= truth <= share.high


# ---------------------------------------------------------------- tables


def _means_table(rows: dict[str, Mean]) -> str:
    head = ["case", "days", "raw bias", "bias", "half-width", "interval holds the truth (se)"]
    return markdown(head, [
        [name, f"{row.n}", f"{row.raw_bias:+.2f}", f"{row.bias:+.3f}", f"{row.half_width:.2f}",
         f"{100 * row.holds:.1f} % ({100 * row.se:.1f})"]
        for name, row in rows.items()
    ])  # fmt: skip


def _splits_table(rows: dict[str, Split]) -> str:
    head = ["case", "pairs", "verdicts", "judge's interval holds", "assistant's interval holds (se)",
            "half-width of the assistant's"]  # fmt: skip
    return markdown(head, [
        [name, f"{row.n}", _verdicts(row.verdicts), f"{100 * row.judge_holds:.0f} %",
         f"{100 * row.assistant_holds:.1f} % ({100 * row.se:.1f})", f"{row.half_width:.3f}"]
        for name, row in rows.items()
    ])  # fmt: skip


def _verdicts(shares: dict[str, float]) -> str:
    parts: Sequence[str] = [f"{verdict} {100 * share:.0f} %" for verdict, share in shares.items()]
    return ", ".join(parts)
