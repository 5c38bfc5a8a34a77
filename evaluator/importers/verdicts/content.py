"""What stands in the columns of a file of scores, from its first rows: numbers and labels, words, or nothing.

A name such as ``verdict`` may be that of a score or of a sentence about it; what stands there decides. Looks at the
first rows only, and chooses nothing.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evaluator.importers.base import Reject, Row
from evaluator.importers.columns import FIELD_NAMES
from evaluator.importers.names import SECOND_NAMES, normal_name
from evaluator.importers.verdicts.scores import NoScoreError, read_score

FILLED_ROWS = 200
MOST_ROWS = 2_000
_MOST_SUGGESTED = 3
_NO_SCORES = frozenset(("ms", "tokens", "usd", "cost", "duration", "latency", "index", "row", "id", "turn", "version"))
_ANSWERS = frozenset(name for names in (*FIELD_NAMES.values(), *SECOND_NAMES.values()) for name in names)


class Contents:
    """Counts of what stands in each column.

    Args:
        rows: The rows looked at.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self._scores: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        for row in rows:
            for key, value in row.items():
                self._count(key, value)

    def _count(self, key: str, value: object) -> None:
        try:
            self._scores[key] += read_score(value).score is not None
        except NoScoreError:
            self._others[key] += 1

    def is_score(self, key: str) -> bool:
        """Whether most of what stands in the column is a number or a label of two."""
        return self._scores[key] > self._others[key]

    def is_prose(self, key: str) -> bool:
        """Whether most of what stands in the column is something else."""
        return self._others[key] > 0 and not self.is_score(key)

    def suggested(self) -> tuple[str, ...]:
        """Columns of numbers that are named like nothing else, in their order."""
        return tuple(key for key in self._scores if self.is_score(key) and not _is_other(key))[:_MOST_SUGGESTED]


def _is_other(key: str) -> bool:
    name = normal_name(key)
    return name in _ANSWERS or not _NO_SCORES.isdisjoint(name.split("_"))


def look_ahead(rows: Iterator[Row | Reject], names: frozenset[str]) -> tuple[Contents, Iterator[Row | Reject]]:
    """Return what stands in the columns, and all the rows.

    Looks at rows until 200 of them have something in a column of one of the names, at most at 2,000.

    Args:
        rows: The rows of a file, read once.
        names: As ``normal_name`` writes them.
    """
    seen: list[Row | Reject] = []
    n_filled = 0
    for row in itertools.islice(rows, MOST_ROWS):
        seen.append(row)
        if isinstance(row, Row):
            named = [value for key, value in row.values.items() if normal_name(key) in names]
            n_filled += not named or any(value not in (None, "") for value in named)
        if n_filled >= FILLED_ROWS:
            break
    return Contents([row.values for row in seen if isinstance(row, Row)]), itertools.chain(seen, rows)
