"""Finds tags of stored scores that say the same as a tag of their traffic, and takes them out, in the import's
transaction: the same thing under two names would be found, tested and told twice.

Whether two tags say the same is told from their values alone, on a sample of the completed answers.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping

from evaluator.records import Source
from evaluator.store import rollup

MOST_LOOKED_AT = 2_000  # ids are hashes: the first of them are a random sample
FEWEST = 20  # answers; fewer agree by chance
SAME_SHARE = 0.95

_PAIRS = """
SELECT o.key AS theirs, t.key AS ours, o.value AS their_value, t.value AS our_value
FROM (SELECT item_id, row FROM temp.completed ORDER BY item_id LIMIT ?) c
CROSS JOIN item_tags o ON o.item_id = c.item_id
CROSS JOIN temp.staged_tags t ON t.row = c.row AND t.key <> o.key
"""
_COUNTS = """
SELECT o.key, count(*)
FROM (SELECT item_id, row FROM temp.completed ORDER BY item_id LIMIT ?) c
CROSS JOIN item_tags o ON o.item_id = c.item_id
WHERE NOT EXISTS (SELECT 1 FROM temp.staged_tags t WHERE t.row = c.row AND t.key = o.key)
GROUP BY o.key
"""
_DROP = "DELETE FROM item_tags WHERE key = ? AND item_id IN (SELECT item_id FROM temp.completed)"

Pair = tuple[str, str]  # key of the scores, key of the traffic


def drop_same_tags(connection: sqlite3.Connection, *, kept: Collection[str]) -> dict[str, str]:
    """Take out tags of completed answers that say the same as a tag of their traffic.

    A tag says the same when at least ``FEWEST`` of the answers looked at have it, and for at least ``SAME_SHARE`` of
    them its value is that of the other, case and space aside. The same must hold for the answers that do not have its
    commonest value: two flags that are hardly ever set agree nearly everywhere, and are two things.

    Args:
        connection: In the transaction of the import, with its ``temp.completed`` and ``temp.staged_tags``, before the
            tags of the traffic are moved over.
        kept: Keys that stay whatever they say, since scores are to be broken down by them.

    Returns:
        Key taken out to key that says the same.
    """
    counts = {row[0]: row[1] for row in connection.execute(_COUNTS, (MOST_LOOKED_AT,))}
    wanted = {key for key, n in counts.items() if n >= FEWEST and key not in kept}
    if not wanted:
        return {}
    values: dict[Pair, Counter[tuple[str, bool]]] = {}
    for theirs, ours, their_value, our_value in connection.execute(_PAIRS, (MOST_LOOKED_AT,)):
        if theirs in wanted:
            value = _folded(their_value)
            values.setdefault((theirs, ours), Counter())[value, value == _folded(our_value)] += 1
    same: dict[str, str] = {}
    for (theirs, ours), found in sorted(values.items()):
        if theirs not in same and _says_the_same(found, counts[theirs]):
            same[theirs] = ours
    connection.executemany(_DROP, [(key,) for key in same])
    return same


def _folded(value: str) -> str:
    return value.strip().casefold()


def _says_the_same(found: Counter[tuple[str, bool]], n: int) -> bool:
    """Whether the values agree, also where they are not the commonest one.

    Args:
        found: (value, whether the other has it too) to a number of answers.
        n: Answers with the tag, also those without the other.
    """
    agreed = sum(count for (_, agrees), count in found.items() if agrees)
    by_value: Counter[str] = Counter()
    for (value, _), count in found.items():
        by_value[value] += count
    commonest = by_value.most_common(1)[0][0]
    rest = by_value.total() - by_value[commonest]
    agreed_rest = agreed - found[commonest, True]
    return agreed >= SAME_SHARE * n and rest > 0 and agreed_rest >= SAME_SHARE * rest


def rename_segment_keys(connection: sqlite3.Connection, app: str, same: Mapping[str, str]) -> None:
    """Let scores be broken down by the tags that stayed, in the place of those taken out; marks all days for a rebuild.

    Args:
        connection: In the transaction of the import.
        app: The app.
        same: As ``drop_same_tags`` returned it.
    """
    rows = connection.execute("SELECT key, key2 FROM segment_keys WHERE app = ? ORDER BY position", (app,))
    before = [(row[0], row[1]) for row in rows]
    after = list(dict.fromkeys((same.get(key, key), same.get(key2, key2)) for key, key2 in before))
    if after == before:
        return
    connection.execute("DELETE FROM segment_keys WHERE app = ?", (app,))
    connection.executemany(
        "INSERT INTO segment_keys VALUES (?, ?, ?, ?)",
        [(app, key, key2, position) for position, (key, key2) in enumerate(after)],
    )
    days = connection.execute("SELECT DISTINCT source, day FROM daily_scores WHERE app = ?", (app,)).fetchall()
    for source in Source:
        rollup.mark_stale(connection, app, source, [row[1] for row in days if row[0] == source])
