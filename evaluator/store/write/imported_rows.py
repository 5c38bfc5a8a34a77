"""Moves staged scores over: which answer each belongs to, which grading counts, what is known already, what is written.

Steps of ``imported.take_scores``, in its transaction; they work on the tables that it has staged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo

from evaluator.clock import utc_text
from evaluator.errors import DataFileError
from evaluator.records import Item, ItemFlag, Purpose, Ruler, Source, content_hash
from evaluator.store import rollup
from evaluator.store.write.runs import keep_totals
from evaluator.store.write.setups import put_ruler

EMPTY_CONTENT = Item(input="", output="").content_id


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """What became of the scores of one judge and criterion.

    Attributes:
        n_scored: Answers with a score in the files.
        n_missing: Answers without one.
        n_new: Verdicts added, those included that replaced a missing score.
        n_known: Verdicts that were stored already.
        n_other: Verdicts left out because another score is stored.
        n_earlier: Earlier gradings of the same answers in the files, left out for the latest.
        first_day, last_day, n_days: Days of the answers.
    """

    n_scored: int = 0
    n_missing: int = 0
    n_new: int = 0
    n_known: int = 0
    n_other: int = 0
    n_earlier: int = 0
    first_day: str | None = None
    last_day: str | None = None
    n_days: int = 0


# a row that brings only an id is the answer that has it, be it stored or on another line of the file
_DROP_BARE = """
DELETE FROM temp.staged WHERE content_id = ? AND external_id IS NOT NULL AND (
    EXISTS (SELECT 1 FROM items i WHERE i.item_id = temp.staged.item_id)
    OR EXISTS (SELECT 1 FROM temp.staged_verdicts t WHERE t.base_id = temp.staged.item_id AND t.is_bare = 0))
"""
# the texts of an answer are those of its traffic; its scores' file, read again, goes on having its own
_OF_COMPLETED = f"""
UPDATE temp.staged_verdicts SET is_bare = 1 WHERE base_id IN (
    SELECT s.item_id FROM (SELECT item_id, min(external_id) AS external_id FROM temp.staged
                           WHERE external_id IS NOT NULL GROUP BY item_id HAVING count(DISTINCT content_id) = 1) s
    CROSS JOIN items i ON i.item_id = s.item_id
    WHERE i.flags LIKE '%{ItemFlag.COMPLETED}%' AND 1 = (
        SELECT count(*) FROM items o WHERE o.app = i.app AND o.external_id = s.external_id
            AND o.source = 'traffic' AND o.version > 0))
"""  # noqa: S608 - constants
_DROP_OF_COMPLETED = f"""
DELETE FROM temp.staged WHERE item_id IN (SELECT base_id FROM temp.staged_verdicts WHERE is_bare = 1) AND EXISTS (
    SELECT 1 FROM items i WHERE i.item_id = temp.staged.item_id AND i.flags LIKE '%{ItemFlag.COMPLETED}%')
"""  # noqa: S608 - constants
_FIND_ITEMS = """
UPDATE temp.staged_verdicts SET item_id = CASE
    WHEN version_id IS NULL OR is_bare = 1 THEN base_id
    WHEN EXISTS (SELECT 1 FROM items i WHERE i.item_id = base_id AND i.content_id = staged_verdicts.content_id)
        THEN base_id
    WHEN EXISTS (SELECT 1 FROM items i WHERE i.item_id = version_id) THEN version_id
    ELSE base_id END
"""
# of several gradings of an answer by one judge the latest that has a score counts
_CHOOSE = """
CREATE TEMP TABLE chosen AS
SELECT row, pair, item_id, score, reason, detail, graded_utc, graded_day, explanation, n_gradings FROM (
    SELECT s.*, count(*) OVER (PARTITION BY pair, item_id) AS n_gradings,
        row_number() OVER (PARTITION BY pair, item_id ORDER BY score IS NULL, graded_utc DESC, row DESC) AS place
    FROM temp.staged_verdicts s)
WHERE place = 1
"""
# what a person had deleted is not told again by the words about it
_WITHOUT_WORDS = """
UPDATE temp.chosen SET explanation = '', detail = '' WHERE EXISTS (
    SELECT 1 FROM items i WHERE i.item_id = chosen.item_id AND i.deleted_utc IS NOT NULL)
"""
_CONTRADICTION = """
SELECT coalesce(i.external_id, i.item_id) AS name, s.score, c.score AS other, c.graded_utc
FROM temp.chosen c JOIN temp.staged_verdicts s ON s.pair = c.pair AND s.item_id = c.item_id
    AND s.graded_utc = c.graded_utc AND s.score <> c.score
JOIN items i ON i.item_id = c.item_id
WHERE c.n_gradings > 1 ORDER BY c.row LIMIT 1
"""


def settle_bare(connection: sqlite3.Connection) -> int:
    """Leave out staged answers that are known: without texts, or completed by traffic; return how many have none."""
    connection.execute("CREATE INDEX temp.staged_verdicts_by_base ON staged_verdicts (base_id)")
    connection.execute(_DROP_BARE, (EMPTY_CONTENT,))
    connection.execute(_OF_COMPLETED)
    connection.execute(_DROP_OF_COMPLETED)
    row = connection.execute(
        "SELECT count(DISTINCT item_id) FROM temp.staged WHERE content_id = ? AND external_id IS NOT NULL",
        (EMPTY_CONTENT,),
    ).fetchone()
    return int(row[0])


def find_items(connection: sqlite3.Connection) -> None:
    """Tell which stored answer each staged score belongs to: the one with the same texts under its id."""
    connection.execute(_FIND_ITEMS)


def register_pairs(connection: sqlite3.Connection, app: str, rulers: Sequence[Ruler | None], now: datetime) -> None:
    """Store the judge setup of each pair; scores of a pair that has none are let go."""
    connection.execute("CREATE TEMP TABLE pairs (pair INTEGER PRIMARY KEY, ruler_id TEXT, criterion TEXT)")
    for pair, ruler in enumerate(rulers):
        if ruler is None:
            connection.execute("DELETE FROM temp.staged_verdicts WHERE pair = ?", (pair,))
            continue
        put_ruler(connection, app=app, ruler=ruler, now=now)
        connection.execute("INSERT INTO temp.pairs VALUES (?, ?, ?)", (pair, ruler.ruler_id, ruler.rubric.criterion))


def choose(connection: sqlite3.Connection) -> None:
    """Keep one grading of each answer and pair."""
    connection.execute(_CHOOSE)
    connection.execute(_WITHOUT_WORDS)
    connection.execute("CREATE INDEX temp.chosen_by_item ON chosen (pair, item_id)")


def refuse_contradictions(connection: sqlite3.Connection) -> None:
    """Refuse an answer with two scores of one pair and one time.

    Raises:
        DataFileError: naming the answer and both scores.
    """
    connection.execute("CREATE INDEX temp.staged_verdicts_by_item ON staged_verdicts (pair, item_id)")
    row = connection.execute(_CONTRADICTION).fetchone()
    if row is not None:
        raise DataFileError(
            f"the answer {row['name']} has two scores of the same judge, criterion and time"
            f" ({row['score']:g} and {row['other']:g}, {row['graded_utc']}): which one counts cannot be told. Keep one,"
            " or give each row its own time of grading or its own id; nothing is stored"
        )


_COMPARE = """
SELECT c.pair, count(c.score) AS n_scored, count(*) - count(c.score) AS n_missing,
    coalesce(sum(v.verdict_id IS NULL OR (v.score IS NULL AND c.score IS NOT NULL)), 0) AS n_new,
    coalesce(sum(v.verdict_id IS NOT NULL AND (c.score IS NULL OR v.score = c.score)), 0) AS n_known,
    coalesce(sum(v.score <> c.score), 0) AS n_other, sum(c.n_gradings - 1) AS n_earlier,
    min(i.answered_day) AS first_day, max(i.answered_day) AS last_day, count(DISTINCT i.answered_day) AS n_days
FROM temp.chosen c JOIN temp.pairs p ON p.pair = c.pair JOIN items i ON i.item_id = c.item_id
LEFT JOIN verdicts v ON v.app = :app AND v.ruler_id = p.ruler_id AND v.criterion = p.criterion
    AND v.item_id = c.item_id AND v.repeat = 0 AND v.slot_utc = ''
GROUP BY c.pair
"""
_KEEP_NEW_ONLY = """
DELETE FROM temp.chosen WHERE EXISTS (
    SELECT 1 FROM temp.pairs p JOIN verdicts v ON v.app = ? AND v.ruler_id = p.ruler_id AND v.criterion = p.criterion
        AND v.item_id = chosen.item_id AND v.repeat = 0 AND v.slot_utc = ''
    WHERE p.pair = chosen.pair AND (v.score IS NOT NULL OR chosen.score IS NULL))
"""


def compare(connection: sqlite3.Connection, app: str, n_pairs: int) -> tuple[PairCounts, ...]:
    """Count by pair, and leave only what is to be written."""
    rows = {row["pair"]: row for row in connection.execute(_COMPARE, {"app": app})}
    connection.execute(_KEEP_NEW_ONLY, (app,))
    return tuple(
        PairCounts(**{name: rows[pair][name] for name in rows[pair].keys() if name != "pair"})  # noqa: SIM118 - a Row
        if pair in rows
        else PairCounts()
        for pair in range(n_pairs)
    )


_BEGIN_RUN = """
INSERT INTO runs (run_id, app, ruler_id, anchor_set_id, slot_utc, slot_day, kind, status, started_utc, finished_utc,
    n_anchors, n_traffic, purpose)
VALUES (?, ?, ?, NULL, ?, ?, 'traffic', 'finished', ?, ?, 0, 0, ?)
ON CONFLICT (run_id) DO UPDATE SET finished_utc = excluded.finished_utc
"""
_PLAN = """
INSERT OR IGNORE INTO planned_items (run_id, item_id, source, position, inclusion_probability)
SELECT r.run_id, c.item_id, 'traffic', c.row, 1.0 FROM temp.chosen c
JOIN temp.staged_runs r ON r.pair = c.pair AND r.day = c.graded_day
"""
_VERDICTS = """
INSERT INTO verdicts (app, ruler_id, criterion, item_id, repeat, slot_utc, run_id, score, unscored_reason, explanation,
    detail, graded_utc)
SELECT ?, p.ruler_id, p.criterion, c.item_id, 0, '', r.run_id, c.score, c.reason,
    c.explanation, c.detail, c.graded_utc
FROM temp.chosen c JOIN temp.pairs p ON p.pair = c.pair
JOIN temp.staged_runs r ON r.pair = c.pair AND r.day = c.graded_day
WHERE true ORDER BY c.row
ON CONFLICT (app, ruler_id, criterion, item_id, repeat, slot_utc) DO UPDATE SET
    run_id = excluded.run_id, score = excluded.score, unscored_reason = excluded.unscored_reason,
    explanation = excluded.explanation, detail = excluded.detail, graded_utc = excluded.graded_utc
WHERE verdicts.score IS NULL
"""
# every answer of a day that came with a score is its own sample
_SAMPLES = """
INSERT OR REPLACE INTO sampled_days (app, ruler_id, answered_day, run_id, n_answers, n_planned)
SELECT v.app, v.ruler_id, i.answered_day, max(v.run_id),
    (SELECT count(*) FROM items a WHERE a.app = v.app AND a.source = 'traffic' AND a.answered_day = i.answered_day),
    count(*)
FROM items i CROSS JOIN verdicts v ON v.item_id = i.item_id AND v.repeat = 0 AND v.slot_utc = ''
WHERE i.app = ? AND i.source = 'traffic' AND i.answered_day = ? AND v.ruler_id IN (SELECT ruler_id FROM temp.pairs)
GROUP BY v.app, v.ruler_id, i.answered_day
"""


def write_chosen(
    connection: sqlite3.Connection, zone: ZoneInfo, app: str, rulers: Sequence[Ruler | None], now: datetime
) -> None:
    """Write what is left, as runs by day of grading; the days it touches are marked for their totals."""
    connection.execute("CREATE TEMP TABLE staged_runs (pair INTEGER, day TEXT, run_id TEXT, PRIMARY KEY (pair, day))")
    keys = connection.execute("SELECT DISTINCT pair, graded_day FROM temp.chosen ORDER BY 2, 1").fetchall()
    run_ids = [_begin_run(connection, zone, app, rulers[row[0]], row[0], row[1], now) for row in keys]
    connection.execute(_PLAN)
    connection.execute(_VERDICTS, (app,))
    days = connection.execute(
        "SELECT DISTINCT i.answered_day FROM temp.chosen c JOIN items i ON i.item_id = c.item_id"
        " WHERE i.answered_day IS NOT NULL"
    ).fetchall()
    for row in days:
        connection.execute(_SAMPLES, (app, row[0]))
    for run_id in run_ids:
        connection.execute(
            "UPDATE runs SET n_traffic = (SELECT count(*) FROM planned_items p WHERE p.run_id = runs.run_id)"
            " WHERE run_id = ?",
            (run_id,),
        )
        keep_totals(connection, run_id)
    rollup.mark_stale(connection, app, Source.TRAFFIC, [row[0] for row in days])


def _begin_run(
    connection: sqlite3.Connection,
    zone: ZoneInfo,
    app: str,
    ruler: Ruler | None,
    pair: int,
    day: str,
    now: datetime,
) -> str:
    """Note the run of one day of grading; one that is there is gone on with."""
    if ruler is None:
        raise ValueError(f"pair {pair} has no judge setup")
    slot_utc = utc_text(datetime.combine(datetime.fromisoformat(day), time.min, tzinfo=zone))
    run_id = content_hash("imported", app, ruler.ruler_id, slot_utc)
    at = utc_text(now)
    connection.execute(_BEGIN_RUN, (run_id, app, ruler.ruler_id, slot_utc, day, at, at, Purpose.IMPORTED))
    connection.execute("INSERT INTO temp.staged_runs VALUES (?, ?, ?)", (pair, day, run_id))
    return run_id
