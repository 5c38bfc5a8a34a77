"""Completes answers that came with stored scores by the traffic that is imported later, in that import's transaction.

A file of scores knows little of its answers: often no time of their own, no user, no channel. When their traffic comes
under the same id, they get its texts, time, names and tags, keep their own id and their scores, and are no second
version. Rows without an id complete an answer whose texts are equal, where there is exactly one. Where it cannot be
told which row belongs to which answer, nothing is completed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from evaluator.records import ItemFlag, Purpose, Source
from evaluator.store import rollup
from evaluator.store.write.same_tags import drop_same_tags, rename_segment_keys

_FROM_SCORES = f"flags LIKE '%{ItemFlag.FROM_SCORES}%'"
_TEXT_GONE = f"items.flags LIKE '%{ItemFlag.TEXT_NOT_KEPT}%'"
_TRAFFIC = "i.source = 'traffic' AND i.version > 0 AND i.deleted_utc IS NULL"

# CROSS JOIN keeps the order: from the staged rows to the items of their ids, never through all items
_BY_ID_AND_TEXTS = f"""
INSERT OR IGNORE INTO temp.completed
SELECT i.item_id, min(s.row), i.answered_day
FROM temp.staged s CROSS JOIN items i ON i.app = ? AND i.external_id = s.external_id AND i.content_id = s.content_id
WHERE s.external_id IS NOT NULL AND {_TRAFFIC} AND i.{_FROM_SCORES}
GROUP BY i.item_id
"""  # noqa: S608 - constants
# other texts: only where one row and one answer have the id, so that no turn of a chat is taken for another
_BY_ID = f"""
INSERT OR IGNORE INTO temp.completed
SELECT i.item_id, s.row, i.answered_day
FROM (SELECT external_id, min(row) AS row FROM temp.staged WHERE external_id IS NOT NULL
      GROUP BY external_id HAVING count(DISTINCT content_id) = 1) s
CROSS JOIN items i ON i.app = ? AND i.external_id = s.external_id
WHERE {_TRAFFIC}
GROUP BY s.external_id HAVING count(*) = 1 AND max(i.{_FROM_SCORES})
"""  # noqa: S608 - constants
_BY_EQUAL_ID = f"""
INSERT OR IGNORE INTO temp.completed
SELECT i.item_id, min(s.row), i.answered_day
FROM temp.staged s CROSS JOIN items i ON i.item_id = s.item_id
WHERE s.external_id IS NULL AND {_TRAFFIC} AND i.{_FROM_SCORES}
GROUP BY i.item_id
"""  # noqa: S608 - constants
_HAS_NO_ID = "SELECT min(answered_day), max(answered_day) FROM temp.staged WHERE external_id IS NULL"
_DAYS_OF_ANSWERS = f"i.app = :app AND i.external_id IS NULL AND {_TRAFFIC} AND i.answered_day"
# an answer is graded on its day or later; the day before it is for clocks and zones
_BY_TEXTS = f"""
INSERT OR IGNORE INTO temp.completed
SELECT i.item_id, s.row, i.answered_day
FROM (SELECT content_id, min(row) AS row FROM temp.staged
      WHERE external_id IS NULL GROUP BY content_id HAVING count(DISTINCT item_id) = 1) s
JOIN (SELECT i.content_id, i.item_id, i.answered_day, i.flags FROM items i
      WHERE {_DAYS_OF_ANSWERS} >= date(:first, '-1 day')
      GROUP BY i.content_id HAVING count(*) = 1) i ON i.content_id = s.content_id
WHERE i.{_FROM_SCORES}
"""  # noqa: S608 - constants
_DROP_COMPLETED = f"""
DELETE FROM temp.staged WHERE external_id IS NULL AND (content_id, answered_utc) IN (
    SELECT i.content_id, i.answered_utc FROM items i
    WHERE {_DAYS_OF_ANSWERS} BETWEEN :first AND :last AND i.flags LIKE '%{ItemFlag.COMPLETED}%')
"""  # noqa: S608 - constants
# a time is taken where the row has one; texts that were not to be kept stay away
_COMPLETE = f"""
UPDATE items SET
    content_id = n.content_id,
    input = CASE WHEN {_TEXT_GONE} THEN items.input ELSE n.input END,
    output = CASE WHEN {_TEXT_GONE} THEN items.output ELSE n.output END,
    reference = CASE WHEN {_TEXT_GONE} THEN items.reference ELSE n.reference END,
    contexts_json = CASE WHEN {_TEXT_GONE} THEN items.contexts_json ELSE n.contexts_json END,
    conversation_id = CASE WHEN n.is_named THEN n.conversation_id ELSE items.conversation_id END,
    user_id = CASE WHEN n.is_named THEN n.user_id ELSE items.user_id END,
    cluster_id = CASE WHEN n.is_named THEN n.cluster_id ELSE items.cluster_id END,
    answered_utc = coalesce(n.answered_utc, items.answered_utc),
    answered_day = CASE WHEN n.answered_utc IS NULL THEN items.answered_day ELSE n.answered_day END,
    answer_model = coalesce(n.answer_model, items.answer_model),
    flags = trim(
        CASE WHEN n.answered_utc IS NOT NULL THEN n.flags
            WHEN items.flags LIKE '%{ItemFlag.GIVEN_TIME}%' THEN replace(n.flags, '{ItemFlag.NO_TIME}',
                '{ItemFlag.GIVEN_TIME}')
            ELSE replace(',' || n.flags, ',{ItemFlag.NO_TIME}', '') END
        || ',{ItemFlag.COMPLETED}' || CASE WHEN {_TEXT_GONE} THEN ',{ItemFlag.TEXT_NOT_KEPT}' ELSE '' END, ',')
FROM (SELECT c.item_id AS completed_id, s.*,
        s.conversation_id IS NOT NULL OR s.user_id IS NOT NULL AS is_named
      FROM temp.completed c JOIN temp.staged s ON s.row = c.row) AS n
WHERE n.completed_id = items.item_id
"""  # noqa: S608 - constants
# what the scores' file said of an answer, and its traffic does not, stays: days are broken down by it
_TAGS = """
INSERT OR REPLACE INTO item_tags
SELECT c.item_id, t.key, t.value FROM temp.completed c JOIN temp.staged_tags t ON t.row = c.row
"""
_TOUCHED_DAYS = """
SELECT day_before AS day FROM temp.completed WHERE day_before IS NOT NULL
UNION SELECT i.answered_day FROM temp.completed c CROSS JOIN items i ON i.item_id = c.item_id
    WHERE i.answered_day IS NOT NULL
"""
_IMPORTED_SETUPS = f"SELECT ruler_id FROM runs WHERE app = :app AND purpose = '{Purpose.IMPORTED}'"  # noqa: S608
_DROP_SAMPLE = f"""
DELETE FROM sampled_days WHERE app = :app AND answered_day = :day AND ruler_id IN ({_IMPORTED_SETUPS})
"""  # noqa: S608 - constants
_SAMPLE = f"""
INSERT INTO sampled_days (app, ruler_id, answered_day, run_id, n_answers, n_planned)
SELECT v.app, v.ruler_id, i.answered_day, max(v.run_id),
    (SELECT count(*) FROM items a WHERE a.app = v.app AND a.source = 'traffic' AND a.answered_day = i.answered_day),
    count(*)
FROM items i CROSS JOIN verdicts v ON v.item_id = i.item_id AND v.repeat = 0 AND v.slot_utc = ''
WHERE i.app = :app AND i.source = 'traffic' AND i.answered_day = :day AND v.ruler_id IN ({_IMPORTED_SETUPS})
GROUP BY v.app, v.ruler_id, i.answered_day
"""  # noqa: S608 - constants


@dataclass(frozen=True, kw_only=True)
class Completed:
    """How many answers were completed, and how many staged rows need not be moved over any more.

    ``same_tags``: tags of the scores that were taken out, with the tag of the traffic that says the same.
    """

    n_completed: int = 0
    n_rows: int = 0
    same_tags: Mapping[str, str] = field(default_factory=dict)


def complete_staged(connection: sqlite3.Connection, app: str, *, kept_tags: Collection[str] = ()) -> Completed:
    """Give answers that came with scores what the staged rows know of them, and take these rows out of the staged ones.

    Args:
        connection: In the transaction of the import, before its rows are moved over.
        app: The app the rows belong to.
        kept_tags: Keys that scores are to be broken down by; these stay beside tags that say the same.

    Returns:
        What was done; where answers were completed, ``retotal_completed`` comes after the rows have moved over.
    """
    connection.execute("DROP TABLE IF EXISTS temp.completed")
    connection.execute("CREATE TEMP TABLE completed (item_id TEXT PRIMARY KEY, row INTEGER, day_before TEXT)")
    if connection.execute(f"{_IMPORTED_SETUPS} LIMIT 1", {"app": app}).fetchone() is None:
        return Completed()
    connection.execute(_BY_ID_AND_TEXTS, (app,))
    connection.execute(_BY_ID, (app,))
    first, last = connection.execute(_HAS_NO_ID).fetchone()
    connection.execute(_BY_EQUAL_ID)
    n_rows = 0
    if first is not None:
        n_rows = connection.execute(_DROP_COMPLETED, {"app": app, "first": first, "last": last}).rowcount
        connection.execute(_BY_TEXTS, {"app": app, "first": first})
    n_completed = connection.execute(_COMPLETE).rowcount
    same_tags = drop_same_tags(connection, kept=kept_tags)
    connection.execute(_TAGS)
    n_rows += connection.execute("DELETE FROM temp.staged WHERE row IN (SELECT row FROM temp.completed)").rowcount
    return Completed(n_completed=n_completed, n_rows=n_rows, same_tags=same_tags)


def retotal_completed(connection: sqlite3.Connection, app: str, completed: Completed, *, widen: bool) -> None:
    """Bring samples and totals of the days that completed answers left and entered up to date, in the transaction.

    Args:
        connection: As of ``complete_staged``, after the rows have moved over.
        app: As of ``complete_staged``.
        completed: What ``complete_staged`` returned.
        widen: Whether tags that came with the traffic may join the keys that scores are broken down by.
    """
    days = [row[0] for row in connection.execute(_TOUCHED_DAYS)]
    for day in days:
        connection.execute(_DROP_SAMPLE, {"app": app, "day": day})
        connection.execute(_SAMPLE, {"app": app, "day": day})
    rollup.mark_stale(connection, app, Source.TRAFFIC, days)
    rename_segment_keys(connection, app, completed.same_tags)
    if widen:
        rollup.widen_segment_keys(connection, app)
    rollup.rebuild_stale(connection, app)
