"""What the user decides about alarms, and how the promise of few false ones is shared out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any, Literal

from evaluator.findings import SettingsUsed
from evaluator.records import content_hash
from evaluator.stats.judge_evidence import WEIGHTS

# shares of the false alarms that a year may have, over all that one judge setup watches; they add up to 1
JUDGE_WEIGHT = 0.35
ASSISTANT_WEIGHT = 0.35
SEGMENTS_WEIGHT = 0.15
LIMITS_WEIGHT = 0.10
RAW_WEIGHT = 0.05  # kept for the raw mean, of which nothing alarms
# of the judge's share, what a move of the level alone may use: the rest is for the other ways in which it can change
JUDGE_LEVEL_WEIGHT = JUDGE_WEIGHT * WEIGHTS["level"]

WATCHED_DAYS = 8  # a setup without a run for longer than a week is not watched any more
IMPORTED = "imported"


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


def n_watched(setups: Sequence[Mapping[str, Any]]) -> int:
    """How many judge setups of an app are watched side by side: they share the promise of few false alarms.

    A setup whose last run came before the first one of a later setup was replaced by it. Imported scores are no watch
    of their own.

    Args:
        setups: Rows of ``read.rulers``.
    """
    own = [row for row in setups if row["output_mode"] != IMPORTED and row["last_day"] is not None]
    newest = max((str(row["last_day"]) for row in own), default=None)
    if newest is None:
        return 1
    recent = (date.fromisoformat(newest) - timedelta(days=WATCHED_DAYS)).isoformat()
    return max(1, sum(str(row["last_day"]) >= recent and not _is_replaced(row, own) for row in own))


def _is_replaced(setup: Mapping[str, Any], setups: Sequence[Mapping[str, Any]]) -> bool:
    return any(other["position"] > setup["position"] and other["first_day"] > setup["last_day"] for other in setups)


def share_of_one(used: SettingsUsed) -> SettingsUsed:
    """The settings for one of the setups that are watched side by side: an equal part of the false alarms."""
    return {**used, "false_alarms_per_year": used["false_alarms_per_year"] / used.get("n_watched", 1)}


def settings_from(used: Mapping[str, Any]) -> AnalysisSettings:
    """The settings that an analysis says it used; one made before there were limits had none."""
    return AnalysisSettings(
        false_alarms_per_year=used["false_alarms_per_year"],
        smallest_change=used["smallest_change"],
        runs_per_year=used["runs_per_year"],
        limits=tuple(Limit(**limit) for limit in used.get("limits", [])),
    )
