"""How a number of anchors is shared out over levels and segments: as equally as what there is allows. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evaluator.records import Rubric

N_PARTS = 5  # of a scale whose rubric names no levels

_K = TypeVar("_K")


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A candidate with what it is spread by: its level (by a fresh score), then its segment."""

    item_id: str
    level: float
    stratum: str


def share_out(available: Mapping[_K, int], total: int) -> dict[_K, int]:
    """Share ``total`` out over groups, as equally as their sizes allow.

    Args:
        available: Size of each group; what is over after equal shares goes to the first in this order.
        total: How many to take in all.

    Returns:
        How many to take of each group, never more than there are; the sum is ``total``, or all there are.

    Raises:
        ValueError: a negative number.
    """
    if total < 0 or any(size < 0 for size in available.values()):
        raise ValueError("sizes and total must not be negative")
    shares = dict.fromkeys(available, 0)
    left = min(total, sum(available.values()))
    while left:
        hungry = [group for group, size in available.items() if shares[group] < size]
        portion = max(1, left // len(hungry))
        for group in hungry[:left]:
            taken = min(portion, available[group] - shares[group], left)
            shares[group] += taken
            left -= taken
    return shares


def levels_of(rubric: Rubric) -> list[tuple[float, str]]:
    """Scores that answers are spread over, from the lowest, with their names: the rubric's levels, else equal steps."""
    if len(rubric.levels) > 1:
        return sorted((level.score, level.name) for level in rubric.levels)
    step = (rubric.scale_max - rubric.scale_min) / (N_PARTS - 1)
    scores = [rubric.scale_min + step * place for place in range(N_PARTS)]
    return [(score, f"{score:g}") for score in scores]


def level_of(score: float, levels: Iterable[tuple[float, str]]) -> float:
    """The level nearest to a score; of two equally near ones the lower."""
    return min((level for level, _ in levels), key=lambda level: (abs(level - score), level))


def choose(candidates: Sequence[Placed], total: int) -> list[Placed]:
    """Choose ``total`` candidates, spread equally over levels and, within each level, over segments.

    Within a level and segment the first ones are taken, so the order of the candidates must not depend on a score.
    """
    groups: dict[float, dict[str, list[Placed]]] = defaultdict(lambda: defaultdict(list))
    for candidate in candidates:
        groups[candidate.level][candidate.stratum].append(candidate)
    by_level = {level: groups[level] for level in sorted(groups)}
    n_of_level = share_out({level: sum(map(len, strata.values())) for level, strata in by_level.items()}, total)
    chosen: set[str] = set()
    for level, strata in by_level.items():
        n_of_stratum = share_out({name: len(strata[name]) for name in sorted(strata)}, n_of_level[level])
        chosen.update(one.item_id for name, n in n_of_stratum.items() for one in strata[name][:n])
    return [candidate for candidate in candidates if candidate.item_id in chosen]
