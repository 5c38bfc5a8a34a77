"""From the 1..5 equivalents that the statistics run on back to the rubric's own units."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Lowest and highest score of the rubric. A number that is missing (None, nan) or infinite comes back as None."""

    low: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest score."""
        return self.low, self.high

    @property
    def unit(self) -> float:
        """Rubric units in one point of 1..5."""
        return (self.high - self.low) / 4.0

    def change(self, value: float | None) -> float | None:
        """A difference in rubric units."""
        return None if value is None or not math.isfinite(value) else float(value) * self.unit

    def known_score(self, value: float) -> float:
        """A score that is there, in rubric units."""
        return self.low + (float(value) - 1.0) * self.unit

    def score(self, value: float | None) -> float | None:
        """A score in rubric units."""
        return None if value is None or not math.isfinite(value) else self.known_score(value)

    def drawn(self, value: float | None) -> float | None:
        """A score or a bound in rubric units, cut to the scale, as it is drawn."""
        score = self.score(value)
        return None if score is None else min(max(score, self.low), self.high)
