"""Databases of any size for the page's benchmark: 400 days, three judge setups, 50 segments, three tags an answer.

The rows are made inside SQLite, by arithmetic on their numbers, since ten million of them take hours one by one. They
are what grading would have left: answers with texts and tags, plans, calls, verdicts with reasons and replies, daily
totals, an analysis for each setup, the search index. The totals, the analysis and the index are made by the product.
"""

from __future__ import annotations

import random
import sqlite3
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from evaluator.analysis import AnalysisSettings, analyse_and_store
from evaluator.records import Anchor, Item, Rubric, RubricLevel, Ruler
from evaluator.store import rollup, write
from evaluator.store.db import open_store

APP, CRITERION = "default", "overall"
N_DAYS, N_SETUPS, N_ANCHORS = 400, 3, 100
FIRST_DAY = date(2025, 6, 1)
NOW = datetime.combine(FIRST_DAY + timedelta(days=N_DAYS), datetime.min.time(), UTC)
TAGS = {"topic": 40, "language": 6, "channel": 4}  # 50 segments
JUDGE_MOVES, SEGMENT_MOVES = 370, 380  # days
N_SENTENCES, N_WORDS = 2_000, 20_000
RARE_WORD = "zyzzyva"  # in one answer in 100,000
COMMON_WORD = "refund"  # in about a third of them
# a number that looks random, 0 to 4294967295, out of a row's number and a salt; no product leaves 64 bits
_DICE = "((({row} * 2654435761 + {salt} * 40503) % 4294967296) * 2246822519 % 4294967296)"


def build(path: Path, n_verdicts: int, *, say: bool = True) -> None:
    """Write a database with about ``n_verdicts`` verdicts of answers, the anchors' come on top.

    Args:
        path: A file that does not exist yet.
        n_verdicts: Verdicts of answers, over all setups.
        say: Print how far it is.
    """
    started = time.perf_counter()
    rulers = _register(path)
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = OFF", "cache_size = -1500000", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN IMMEDIATE")
    _make_days(connection)
    _make_sentences(connection)
    _insert_items(connection, max(N_DAYS, n_verdicts // N_SETUPS))
    for number, ruler_id in enumerate(rulers):
        _insert_runs(connection, ruler_id, number)
        _insert_graded(connection, ruler_id, number)
        _insert_anchor_verdicts(connection, ruler_id, number)
    for table in ("days", "sentences", "numbered"):
        connection.execute(f"DROP TABLE temp.{table}")
    _count_runs(connection)
    connection.execute("COMMIT")
    connection.close()
    _tell(say, f"rows: {time.perf_counter() - started:.0f} s")
    _derive(path, rulers)
    _tell(say, f"totals, analyses, search: {time.perf_counter() - started:.0f} s, {path.stat().st_size / 1e9:.1f} GB")


def _tell(say: bool, text: str) -> None:
    if say:
        print(f"  {text}", flush=True)


def dice(row: str, salt: int) -> str:
    """SQL of a number in 0..4294967295 that looks random.

    Args:
        row: SQL of the row's number.
        salt: Which of its dice.
    """
    return _DICE.format(row=row, salt=salt)


# ---------------------------------------------------------------- what is registered


def _register(path: Path) -> list[str]:
    """Make the database with its setups, anchors and segment keys; returns the setups' ids."""
    levels = tuple(RubricLevel(score=float(n), name=f"level {n}", description=f"Level {n}.") for n in range(1, 6))
    rubric = Rubric(name="bench", criterion=CRITERION, question="How good?", scale_min=1, scale_max=5, levels=levels)
    rulers = [
        Ruler(
            model_asked=f"judge-{number}",
            rubric=rubric,
            prompt_template="{{output}}",
            parameters={},
            output_mode="json_schema",
        )
        for number in range(N_SETUPS)
    ]
    anchors = [
        Anchor(
            anchor_id=f"a{n:03d}",
            item=Item(input=f"question {n}", output=f"answer {n}"),
            expected_score=float(1 + n % 5),
        )
        for n in range(N_ANCHORS)
    ]
    with open_store(path, zone="UTC") as store:
        for ruler in rulers:
            write.register_ruler(store, app=APP, ruler=ruler, now=NOW)
        write.save_anchor_set(store, app=APP, name="bench", anchors=anchors, now=NOW)
        rollup.choose_segment_keys(store, APP, [(key, "") for key in TAGS])
    return [ruler.ruler_id for ruler in rulers]


def _make_days(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TEMP TABLE days (number INTEGER PRIMARY KEY, day TEXT, next_day TEXT)")
    days = [(FIRST_DAY + timedelta(days=number)).isoformat() for number in range(N_DAYS + 1)]
    connection.executemany(
        "INSERT INTO days VALUES (?, ?, ?)", [(n, days[n], days[n + 1]) for n in range(N_DAYS)]
    )  # fmt: skip


def _make_sentences(connection: sqlite3.Connection) -> None:
    """Sentences of a made-up language in which few words are common and most are rare, as in real ones."""
    random_of_texts = random.Random(11)
    syllables = [a + b for a in "bdfgklmnprstv" for b in ("a", "e", "i", "o", "u", "an", "or")]
    words = ["".join(random_of_texts.choices(syllables, k=random_of_texts.randint(1, 4))) for _ in range(N_WORDS)]
    weights = [1 / (place + 3) for place in range(N_WORDS)]
    sentences = []
    for number in range(N_SENTENCES):
        chosen = random_of_texts.choices(words, weights, k=random_of_texts.randint(8, 22))
        if number % 8 == 0:
            chosen.insert(3, COMMON_WORD)
        sentences.append((number, " ".join(chosen).capitalize() + "."))
    connection.execute("CREATE TEMP TABLE sentences (number INTEGER PRIMARY KEY, text TEXT)")
    connection.executemany("INSERT INTO sentences VALUES (?, ?)", sentences)


# ---------------------------------------------------------------- answers


def _insert_items(connection: sqlite3.Connection, n_items: int) -> None:
    """Answers in order of time, their tags, and a table of their numbers for what follows."""
    connection.execute(
        f"""CREATE TEMP TABLE numbered AS
        WITH RECURSIVE row (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM row WHERE n + 1 < {n_items})
        SELECT n, n * {N_DAYS} / {n_items} AS day_number,
            printf('%08x%08x%016x', {dice("n", 1)}, {dice("n", 2)}, n) AS item_id FROM row"""
    )
    text = " || ' ' || ".join(
        f"(SELECT text FROM sentences WHERE number = {dice('n', salt)} % {N_SENTENCES})" for salt in (4, 5, 6)
    )
    connection.execute(
        f"""INSERT INTO items (item_id, app, source, external_id, content_id, input, output, conversation_id,
            cluster_id, answered_utc, answered_day, answer_model, sample_key)
        SELECT item_id, '{APP}', 'traffic', 'x' || n, item_id,
            (SELECT text FROM sentences WHERE number = {dice("n", 3)} % {N_SENTENCES}),
            {text} || CASE WHEN n % 100000 = 7 THEN ' {RARE_WORD}' ELSE '' END, 'c' || (n / 2), 'c' || (n / 2),
            day || 'T12:00:00.000Z', day, 'assistant-1', {dice("n", 7)} / 4294967296.0
        FROM numbered JOIN days ON days.number = day_number"""
    )
    for salt, (key, n_values) in enumerate(sorted(TAGS.items()), start=20):
        connection.execute(
            f"""INSERT INTO item_tags (item_id, key, value)
            SELECT item_id, '{key}', printf('{key} %02d', {dice("n", salt)} % {n_values}) FROM numbered"""
        )


# ---------------------------------------------------------------- what the judge made of them


def _insert_runs(connection: sqlite3.Connection, ruler_id: str, number: int) -> None:
    """A run a day, on the morning after the answers."""
    connection.execute(
        """INSERT INTO runs (run_id, app, ruler_id, anchor_set_id, slot_utc, slot_day, kind, status, started_utc,
            finished_utc, n_anchors)
        SELECT 'run-' || ? || '-' || number, ?, ?, (SELECT anchor_set_id FROM anchor_sets), next_day || ?, next_day,
            'all', 'finished', next_day || ?, next_day || 'T07:00:00.000Z', ? FROM days""",
        (number, APP, ruler_id, f"T06:0{number}:00.000Z", f"T06:0{number}:00.000Z", N_ANCHORS),
    )


def _insert_graded(connection: sqlite3.Connection, ruler_id: str, number: int) -> None:
    """Plan, call and verdict of every answer. One in a hundred has no score; one topic gets worse at the end."""
    run = f"'run-{number}-' || day_number"
    score = (
        f"min(5, max(1, 1 + (({dice('n', 30)} % 5) + ({dice('n', 31 + number)} % 3) + 2) / 2"
        f" + (day_number >= {JUDGE_MOVES} AND {dice('n', 40)} % 3 = 0)"
        f" - (day_number >= {SEGMENT_MOVES} AND {dice('n', 22)} % 40 = 3)))"
    )
    is_scored = f"({dice('n', 50 + number)} % 100 > 0)"
    connection.execute(
        f"""INSERT INTO planned_items (run_id, item_id, source, position, inclusion_probability)
        SELECT {run}, item_id, 'traffic', n, 1.0 FROM numbered"""
    )
    connection.execute(
        f"""INSERT INTO attempts (run_id, item_id, ruler_id, criterion, repeat, started_utc, duration_ms, http_status,
            prompt_tokens, completion_tokens, cost_usd)
        SELECT {run}, item_id, ?, '{CRITERION}', 0, day || 'T06:10:00.000Z', 900, 200, 700, 60, 0.0004
        FROM numbered JOIN days ON days.number = day_number""",
        (ruler_id,),
    )
    connection.execute(
        f"""INSERT INTO verdicts (app, ruler_id, criterion, item_id, slot_utc, run_id, score, unscored_reason,
            explanation, raw_reply, latency_ms, prompt_tokens, completion_tokens, cost_usd, graded_utc)
        SELECT '{APP}', ?, '{CRITERION}', item_id, '', {run},
            CASE WHEN {is_scored} THEN CAST({score} AS REAL) END, CASE WHEN {is_scored} THEN NULL ELSE 'timeout' END,
            (SELECT text FROM sentences WHERE number = {dice("n", 60 + number)} % {N_SENTENCES}),
            (SELECT text FROM sentences WHERE number = {dice("n", 60 + number)} % {N_SENTENCES}),
            900, 700, 60, 0.0004, day || 'T06:10:00.000Z'
        FROM numbered JOIN days ON days.number = day_number""",
        (ruler_id,),
    )
    connection.execute(
        f"""INSERT INTO sampled_days (app, ruler_id, answered_day, run_id, n_answers, n_planned)
        SELECT '{APP}', ?, day, {run}, count(*), count(*) FROM numbered JOIN days ON days.number = day_number
        GROUP BY day_number""",
        (ruler_id,),
    )


def _insert_anchor_verdicts(connection: sqlite3.Connection, ruler_id: str, number: int) -> None:
    """Anchors near their expected score, one flip in eight; from one day on the lower ones get more."""
    connection.execute(
        f"""INSERT INTO verdicts (app, ruler_id, criterion, item_id, slot_utc, run_id, score, explanation, raw_reply,
            latency_ms, prompt_tokens, completion_tokens, cost_usd, graded_utc)
        SELECT '{APP}', r.ruler_id, '{CRITERION}', a.item_id, r.slot_utc, r.run_id,
            CAST(min(5, max(1, a.expected_score + ({dice("(d.number * 1000 + a.position)", 70 + number)} % 8 = 0)
                + (d.number >= {JUDGE_MOVES} AND a.position % 3 = 0 AND a.expected_score < 4))) AS REAL),
            'As expected.', 'As expected.', 900, 700, 60, 0.0004, r.slot_utc
        FROM runs r JOIN days d ON d.next_day = r.slot_day JOIN anchors a ON a.anchor_set_id = r.anchor_set_id
        WHERE r.ruler_id = ?""",
        (ruler_id,),
    )


def _count_runs(connection: sqlite3.Connection) -> None:
    """What a finished run knows of itself."""
    connection.execute(
        f"""UPDATE runs SET n_traffic = c.n, n_scored_traffic = c.n - c.n_unscored, n_unscored_traffic = c.n_unscored,
            n_scored_anchor = {N_ANCHORS}, n_calls = c.n + {N_ANCHORS}, cost_usd = 0.0004 * (c.n + {N_ANCHORS}),
            prompt_tokens = 700 * c.n, completion_tokens = 60 * c.n,
            reasons_json = CASE WHEN c.n_unscored > 0 THEN '{{"timeout": ' || c.n_unscored || '}}' ELSE '{{}}' END
        FROM (SELECT run_id, count(*) AS n, count(*) - count(score) AS n_unscored FROM verdicts WHERE slot_utc = ''
            GROUP BY run_id) c WHERE c.run_id = runs.run_id"""
    )
    connection.execute(
        """INSERT INTO imports (import_id, app, path, file_sha256, n_rows, n_new, n_known, n_versions, n_rejected,
            imported_utc)
        SELECT 'import-1', ?, 'answers.jsonl', 'none', count(*), count(*), 0, 0, 0, ? FROM items
        WHERE source = 'traffic'""",
        (APP, f"{FIRST_DAY}T00:00:00.000Z"),
    )


# ---------------------------------------------------------------- what the product derives


def _derive(path: Path, rulers: list[str]) -> None:
    with open_store(path) as store:
        rollup.rebuild_everything(store, APP)
    for ruler_id in rulers:
        analyse_and_store(path, app=APP, ruler_id=ruler_id, settings=AnalysisSettings(), now=NOW)
    with open_store(path) as store:
        store.connection.execute("ANALYZE")
