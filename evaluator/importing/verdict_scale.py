"""The scale of stored scores: as it was given, as earlier imports had it, or as the numbers say. Pure.

A wrong scale turns every later number wrong, so what could be two scales is refused, with the counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluator.errors import DataFileError
from evaluator.records import Rubric, RubricLevel, Ruler

UNKNOWN_JUDGE = "unknown judge"
IMPORTED = "imported"
# formats whose scores lie between 0 and 1 whatever the metric
UNIT_FORMATS = frozenset(("promptfoo", "deepeval"))
_SHARE_OF_A_BLOCK = 0.1  # of the scores, that is no stray value
_MOST_LEVELS = 10
_BINARY = ((0.0, "fail"), (1.0, "pass"))

Bounds = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class ScaleFound:
    """A scale and how it was told. ``is_binary``: only its ends occur, as pass and fail."""

    low: float
    high: float
    how: str
    is_binary: bool = False

    @property
    def bounds(self) -> Bounds:
        """Lowest and highest score."""
        return self.low, self.high

    @property
    def text(self) -> str:
        """The scale in words: 0 to 1."""
        return f"{self.low:g} to {self.high:g}"


@dataclass(kw_only=True)
class ScoreTally:
    """What is known of the scores of one judge and criterion; grows while files are read.

    Attributes:
        n: Scores.
        n_missing: Rows without one.
        n_labels: Scores that stood there as words.
        n_unit: Scores from 0 to 1; n_between of them lie strictly between.
        n_to_5, n_to_10, n_to_100: Scores above 1, 5, 10, up to that.
        n_zero, n_one: Scores of exactly 0 and 1.
        all_whole: Whether all are whole numbers.
        low, high: Lowest and highest score, each with the place where it stands.
    """

    n: int = 0
    n_missing: int = 0
    n_labels: int = 0
    n_unit: int = 0
    n_between: int = 0
    n_zero: int = 0
    n_one: int = 0
    n_to_5: int = 0
    n_to_10: int = 0
    n_to_100: int = 0
    all_whole: bool = True
    low: tuple[float, str] = field(default=(float("inf"), ""))
    high: tuple[float, str] = field(default=(float("-inf"), ""))

    def add(self, score: float, *, is_label: bool, place: str) -> None:
        """Count a score; ``place`` says where it stands."""
        self.n += 1
        self.n_labels += is_label
        self.all_whole = self.all_whole and score == int(score)
        if score < self.low[0]:
            self.low = score, place
        if score > self.high[0]:
            self.high = score, place
        self.n_zero += score == 0
        self.n_one += score == 1
        self.n_unit += 0 <= score <= 1
        self.n_between += 0 < score < 1
        self.n_to_5 += 1 < score <= 5
        self.n_to_10 += 5 < score <= 10
        self.n_to_100 += 10 < score <= 100


def judge_scale_of(tally: ScoreTally, judge_scale: Bounds | None) -> tuple[Bounds, str] | None:
    """Return the configured judge's scale, with how it was told, where the scores may be of it; None elsewhere.

    All scores have to lie within it, and one at least in its upper half: scores from 0 to 1 lie within 0 to 10, too,
    and are not of it.
    """
    if judge_scale is None or not tally.n or tally.n_labels:
        return None
    low, high = judge_scale
    if not (low <= tally.low[0] and (low + high) / 2 < tally.high[0] <= high):
        return None
    return judge_scale, f"the configured judge's; scores from {tally.low[0]:g} to {tally.high[0]:g}"


def find_scale(name: str, tally: ScoreTally, *, hint: tuple[Bounds, str] | None, is_unit_format: bool) -> ScaleFound:
    """Return the scale of the scores of one judge and criterion.

    Args:
        name: Their names, for messages.
        tally: At least one score.
        hint: A scale that is known beforehand, with how; the scores have been checked against it.
        is_unit_format: Whether the format's scores lie between 0 and 1 by its own words.

    Raises:
        DataFileError: two scales are mixed, or the numbers fit no usual scale, or several.
    """
    binary = tally.n_zero + tally.n_one == tally.n
    if hint is not None:
        return ScaleFound(low=hint[0][0], high=hint[0][1], how=hint[1], is_binary=binary and hint[0] == (0, 1))
    _refuse_mixture(name, tally)
    low, high = tally.low[0], tally.high[0]
    if tally.n_labels == tally.n:
        return ScaleFound(low=0, high=1, how="labels such as pass and fail", is_binary=True)
    if low < 0 or high > 100:
        worst, place = tally.low if low < 0 else tally.high
        raise DataFileError(f"{name}: {place}: the score {worst:g} is on no usual scale; {_name_it('MIN MAX')}")
    if high <= 1:
        if tally.n_one == tally.n and not is_unit_format:
            raise DataFileError(
                f"{name}: every score is 1, the best of 0 to 1 or the worst of 1 to 5; {_name_it('0 1')}"
            )
        return ScaleFound(low=0, high=1, how=f"all {tally.n:,} scores lie in 0 to 1", is_binary=binary)
    _refuse_stray(name, tally)
    if high > 10:
        return ScaleFound(low=0, high=100, how=f"scores from {low:g} to {high:g}")
    top = 5 if high <= 5 else 10
    if low < 1:
        raise DataFileError(
            f"{name}: scores from {low:g} to {high:g} may be on 0 to {top} or something else; {_name_it(f'0 {top}')}"
        )
    kind = "whole numbers" if tally.all_whole else "numbers"
    return ScaleFound(low=1, high=top, how=f"{kind} from {low:g} to {high:g}")


def _refuse_mixture(name: str, tally: ScoreTally) -> None:
    """Two blocks of scores that no one scale has."""
    n_above = tally.n - tally.n_unit - (tally.low[0] < 0)
    if tally.n_labels and tally.n_labels < tally.n and tally.high[0] > 1:
        n_numbers = tally.n - tally.n_labels
        raise DataFileError(
            f"{name}: {tally.n_labels:,} labels such as pass and {n_numbers:,} numbers up to {tally.high[0]:g}"
            f" ({tally.high[1]}): two scales; split the file"
        )
    if tally.n_between and n_above:
        raise DataFileError(
            f"{name}: {tally.n_unit:,} scores lie in 0 to 1 and {n_above:,} above 1, up to {tally.high[0]:g}"
            f" ({tally.high[1]}): two scales are mixed; split the file, or {_name_it('MIN MAX')} if it is one"
        )
    n_small = tally.n_to_5 + tally.n_one
    least = _SHARE_OF_A_BLOCK * tally.n
    if not tally.n_to_10 and min(n_small, tally.n_to_100) >= max(1.0, least):
        raise DataFileError(
            f"{name}: {n_small:,} scores lie in 1 to 5, {tally.n_to_100:,} in 10 to 100, and none between: two scales"
            f" are mixed; split the file, or {_name_it('0 100')} if it is one"
        )


def _refuse_stray(name: str, tally: ScoreTally) -> None:
    """A few scores above a usual scale that all others keep to: one slip must not stretch the scale of the rest."""
    for top, wider, n_above in ((10, "0 100", tally.n_to_100), (5, "1 10", tally.n_to_10 + tally.n_to_100)):
        if 0 < n_above < _SHARE_OF_A_BLOCK * tally.n:
            low = "1" if tally.low[0] >= 1 else "0"
            raise DataFileError(
                f"{name}: above {top} lie {n_above:,} of {tally.n:,} scores, up to {tally.high[0]:g}"
                f" ({tally.high[1]}): slips, or another scale; {_name_it(f'{low} {top}')}, and --skip-bad to take"
                f" in the others, or with --scale {wider}"
            )


def _name_it(bounds: str) -> str:
    return f"name the scale with --scale {bounds}"


def imported_ruler(judge: str | None, criterion: str, scale: ScaleFound) -> Ruler:
    """Return the judge setup that stands for scores of somebody else's pipeline: what was asked is not known."""
    return Ruler(
        model_asked=judge or UNKNOWN_JUDGE,
        rubric=Rubric(
            name=IMPORTED,
            criterion=criterion,
            question="",
            scale_min=float(scale.low),
            scale_max=float(scale.high),
            levels=_levels(scale),
        ),
        prompt_template="",
        parameters={},
        output_mode=IMPORTED,
    )


def _levels(scale: ScaleFound) -> tuple[RubricLevel, ...]:
    """Whole numbers where the scale has few; fail and pass; else tenths of the scale, as bins of a chart."""
    low, high = float(scale.low), float(scale.high)
    if scale.is_binary and (low, high) == (0.0, 1.0):
        return tuple(RubricLevel(score=score, name=name, description="") for score, name in _BINARY)
    is_whole = low == int(low) and high == int(high) and 1 < high - low <= _MOST_LEVELS
    n = int(high - low) if is_whole else _MOST_LEVELS
    scores = [round(low + (high - low) * step / n, 9) for step in range(n + 1)]
    return tuple(RubricLevel(score=score, name=f"{score:g}", description="") for score in scores)


def stored_ruler(row: Mapping[str, Any], body: Mapping[str, Any]) -> Ruler:
    """Return an imported judge setup as it is stored.

    Args:
        row: Of ``read.rulers``.
        body: Its rubric, as plain JSON.
    """
    return Ruler(
        model_asked=str(row["model_asked"]),
        rubric=Rubric(
            name=str(body["name"]),
            criterion=str(body["criterion"]),
            question=str(body["question"]),
            scale_min=float(body["scale"]["min"]),
            scale_max=float(body["scale"]["max"]),
            levels=tuple(RubricLevel(**level) for level in body["levels"]),
        ),
        prompt_template="",
        parameters={},
        output_mode=IMPORTED,
    )
