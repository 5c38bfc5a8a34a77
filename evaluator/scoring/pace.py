"""How long some calls to the judge will take: told from how long its last ones took, else assumed."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from evaluator.config import JudgeConfig
from evaluator.store import read
from evaluator.store.db import Store

ASSUMED_S = 3.0  # of an ordinary judge
FEWEST = 5  # calls that tell more than the assumption does


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long one call takes. ``n_calls``: of how many calls this is the median; 0 where it is assumed."""

    seconds: float = ASSUMED_S
    n_calls: int = 0

    @property
    def is_assumed(self) -> bool:
        """Whether nothing is known of this judge."""
        return self.n_calls == 0

    def minutes(self, n_calls: int, judge: JudgeConfig) -> float:
        """How long so many calls take; what the day's budget or the provider slows down comes on top."""
        seconds = n_calls * self.seconds / judge.concurrency
        if judge.calls_per_minute is not None:
            seconds = max(seconds, 60 * n_calls / judge.calls_per_minute)
        return seconds / 60


def usual_pace(store: Store, app: str, ruler_id: str) -> Pace:
    """The median duration of the last usable calls of a judge setup, retries and waiting apart.

    Args:
        store: A store.
        app: The app.
        ruler_id: The judge setup.
    """
    seconds = [duration_ms / 1e3 for duration_ms in read.recent_durations(store, app, ruler_id)]
    return Pace() if len(seconds) < FEWEST else Pace(seconds=median(seconds), n_calls=len(seconds))
