"""Near-duplicates among texts, found exactly: of each cluster the first is kept.

Texts are compared by the groups of three words they share (Jaccard), as one sparse matrix product. A sketch (MinHash)
would be needed for millions of texts; for the few thousand candidates of a pick the exact answer takes less than a
second and has no chance in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from scipy.sparse import csr_array

ALIKE_FROM = 0.8  # share of common word groups
GROUP_WORDS = 3
MOST_CHARS = 20_000  # of each text: what differs only after that is alike
_ROWS_AT_ONCE = 500
# a script that is written without spaces counts by characters
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


def find_near_duplicates(texts: Sequence[str], *, alike_from: float = ALIKE_FROM) -> list[bool]:
    """Say of each text whether it is nearly the same as one before it that is kept.

    Args:
        texts: Texts in order of preference.
        alike_from: Least share of common word groups, in (0, 1].

    Raises:
        ValueError: a share outside (0, 1].
    """
    if not 0 < alike_from <= 1:
        raise ValueError(f"alike_from {alike_from} is outside (0, 1]")
    if not texts:
        return []
    matrix = _matrix([_groups(text) for text in texts])
    sizes = matrix.sum(axis=1)
    dropped = np.zeros(len(texts), dtype=bool)
    for start in range(0, len(texts), _ROWS_AT_ONCE):
        common = (matrix[start : start + _ROWS_AT_ONCE] @ matrix.T).tocoo()
        rows, columns = common.row + start, common.col
        alike = common.data / (sizes[rows] + sizes[columns] - common.data) >= alike_from
        earlier = alike & (columns < rows)
        for row, column in sorted(zip(rows[earlier].tolist(), columns[earlier].tolist(), strict=True)):
            dropped[row] |= not dropped[column]
    return [bool(each) for each in dropped]


def _groups(text: str) -> np.ndarray:
    """The groups of words of a text as numbers, each once; a text of fewer words is one group."""
    words = _WORDS.findall(text[:MOST_CHARS].casefold())
    if len(words) < GROUP_WORDS:
        return np.array([crc32(text.strip().casefold().encode("utf-8", "surrogatepass"))], dtype=np.int64)
    places = range(len(words) - GROUP_WORDS + 1)
    codes = {crc32(" ".join(words[place : place + GROUP_WORDS]).encode("utf-8", "surrogatepass")) for place in places}
    return np.fromiter(codes, dtype=np.int64)


def _matrix(groups: Sequence[np.ndarray]) -> csr_array:
    """One row a text, one column a group that occurs."""
    starts = np.concatenate([[0], np.cumsum([len(each) for each in groups])])
    known, columns = np.unique(np.concatenate(groups), return_inverse=True)
    ones = np.ones(len(columns), dtype=np.int32)
    return csr_array((ones, columns, starts), shape=(len(groups), len(known)))
