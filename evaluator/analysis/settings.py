"""What the user decides about alarms, and how the promise of few false ones is shared out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from evaluator.records import content_hash
from evaluator.stats.judge_evidence import WEIGHTS

# shares of the false alarms that a year may have, over all that one judge setup watches; they add up to 1
JUDGE_WEIGHT = 0.35
ASSISTANT_WEIGHT = 0.35
SEGMENTS_WEIGHT = 0.15
LIMITS_WEIGHT = 0.10
RAW_WEIGHT = 0.05
# of the judge's share, what a move of the level alone may use: the rest is for the other ways in which it can change
JUDGE_LEVEL_WEIGHT = JUDGE_WEIGHT * WEIGHTS["level"]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A level that someone promised.

    Attributes:
        kind: What is watched: the corrected mean, the share of answers at or under ``level``, or that without a score.
        bound: The mean, in rubric units, under which it is crossed; or the share over which it is.
        level: Score that counts as low, in rubric units; None but for a share of low answers.
        segment: The segment as it is written, ``topic=billing * language=de``; "" for all answers.
    """

    kind: Literal["mean_under", "share_at_or_under", "unscored_share"]
    bound: float
    level: float | None = None
    segment: str = ""


@dataclass(frozen=True, kw_only=True)
class AnalysisSettings:
    """What the user decides: how many false alarms a year, the smallest change worth one (rubric units), limits."""

    false_alarms_per_year: float = 1.0
    smallest_change: float = 0.1
    runs_per_year: float = 365.0
    limits: tuple[Limit, ...] = ()

    @property
    def settings_hash(self) -> str:
        """Hash of the settings."""
        return content_hash(asdict(self))


def settings_from(used: Mapping[str, Any]) -> AnalysisSettings:
    """The settings that an analysis says it used; one made before there were limits had none."""
    return AnalysisSettings(
        false_alarms_per_year=used["false_alarms_per_year"],
        smallest_change=used["smallest_change"],
        runs_per_year=used["runs_per_year"],
        limits=tuple(Limit(**limit) for limit in used.get("limits", [])),
    )
