"""How long the analysis at the end of a run takes on a long year of runs, beside reading the rows it works on.

The store is filled by ``executemany`` and not by grading, since only reading and computing are measured. One run in
ten lacks some anchors, the judge moves once, and one segment gets worse, so that every part of the analysis has work.
Runs in a process of its own: ``python benchmarks/analysis.py``.
"""

from __future__ import annotations

import json
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from harness import Measurement, Options, budget, run_apart

APP, CRITERION = "default", "overall"
N_RUNS, N_ANCHORS, N_SEGMENTS, N_ANSWERS = 400, 100, 50, 40
JUDGE_MOVES, SEGMENT_MOVES = 250, 320
FIRST_DAY = date(2025, 6, 1)
NOW = datetime(2026, 8, 1, tzinfo=UTC)
TIMES = 3


@budget("analysis, 400 runs x 100 anchors, 50 segments", 5.0, better="lower", on="ours")
def analysis_of_a_long_year(_options: Options) -> Measurement:
    """Wall clock of ``analyse``; the comparator reads the anchors' verdicts and the totals and drops them."""
    figures = run_apart("analysis.py")
    return Measurement(ours=figures["analysis_s"], comparator=figures["reading_s"], unit="s")


def measure() -> dict[str, float]:
    """Fill a store and measure both, medians of a few turns."""
    from evaluator.analysis import AnalysisSettings, analyse
    from evaluator.records import Source
    from evaluator.store import read
    from evaluator.store.db import open_store

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judgewatch.db"
        ruler_id = fill(path)
        with open_store(path) as store:

            def read_rows() -> None:
                read.anchor_scores(store, app=APP, ruler_id=ruler_id, criterion=CRITERION)
                read.segment_day_totals(store, app=APP, ruler_id=ruler_id, criterion=CRITERION, source=Source.TRAFFIC)

            return {
                "analysis_s": _median_s(
                    lambda: analyse(store, app=APP, ruler_id=ruler_id, settings=AnalysisSettings())
                ),
                "reading_s": _median_s(read_rows),
            }


def _median_s(work: Callable[[], object]) -> float:
    times = []
    for _ in range(TIMES):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


# ---------------------------------------------------------------- the store


def fill(path: Path) -> str:
    """Write the runs, their anchors' verdicts, and the totals of the answers; returns the judge setup's id."""
    from evaluator.records import Anchor, Item, Rubric, RubricLevel, Ruler
    from evaluator.store import rollup, write
    from evaluator.store.db import open_store

    levels = tuple(RubricLevel(score=float(n), name=f"level {n}", description=f"Level {n}.") for n in range(1, 6))
    rubric = Rubric(name="bench", criterion=CRITERION, question="How good?", scale_min=1, scale_max=5, levels=levels)
    ruler = Ruler(
        model_asked="judge", rubric=rubric, prompt_template="{{output}}", parameters={}, output_mode="json_schema"
    )
    anchors = [
        Anchor(anchor_id=f"a{n:03d}", item=Item(input=f"question {n}", output=f"answer {n}"), expected_score=None)
        for n in range(N_ANCHORS)
    ]
    dice = random.Random(7)
    with open_store(path, zone="UTC") as store:
        write.register_ruler(store, app=APP, ruler=ruler, now=NOW)
        set_id = write.save_anchor_set(store, app=APP, name="bench", anchors=anchors, now=NOW)
        rollup.choose_segment_keys(store, APP, [("topic", "")])
        with store.transaction() as connection:
            items = [write.anchor_item_id(APP, anchor) for anchor in anchors]
            segments = _insert_segments(connection)
            for number in range(N_RUNS):
                _insert_run(connection, ruler.ruler_id, set_id, number)
                _insert_verdicts(connection, ruler.ruler_id, items, number, dice)
                _insert_totals(connection, ruler.ruler_id, segments, number, dice)
    return ruler.ruler_id


def _slot(number: int) -> tuple[str, str, str]:
    """Run id, scheduled instant and day."""
    day = (FIRST_DAY + timedelta(days=number)).isoformat()
    return f"run-{number}", f"{day}T06:00:00.000Z", day


def _insert_segments(connection: sqlite3.Connection) -> list[int]:
    """Everything first, then one segment a topic."""
    connection.executemany(
        "INSERT OR IGNORE INTO segments (app, key, value) VALUES (?, ?, ?)",
        [(APP, "", ""), *((APP, "topic", f"topic {number:02d}") for number in range(N_SEGMENTS))],
    )
    return [row[0] for row in connection.execute("SELECT segment_id FROM segments ORDER BY segment_id")]


def _insert_run(connection: sqlite3.Connection, ruler_id: str, set_id: str, number: int) -> None:
    run_id, slot_utc, slot_day = _slot(number)
    connection.execute(
        "INSERT INTO runs (run_id, app, ruler_id, anchor_set_id, slot_utc, slot_day, kind, status, started_utc,"
        " finished_utc, n_anchors, n_traffic) VALUES (?, ?, ?, ?, ?, ?, 'all', 'finished', ?, ?, ?, ?)",
        (run_id, APP, ruler_id, set_id, slot_utc, slot_day, slot_utc, slot_utc, N_ANCHORS, N_SEGMENTS * N_ANSWERS),
    )


def _insert_verdicts(
    connection: sqlite3.Connection, ruler_id: str, items: Sequence[str], number: int, dice: random.Random
) -> None:
    run_id, slot_utc, _ = _slot(number)
    gain = 0.3 if number >= JUDGE_MOVES else 0.0
    graded = [pair for pair in enumerate(items) if number % 10 or dice.random() > 0.1]
    connection.executemany(
        "INSERT INTO verdicts (app, ruler_id, criterion, item_id, slot_utc, run_id, score, graded_utc)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (APP, ruler_id, CRITERION, item, slot_utc, run_id, _score(1 + place % 5 + gain, dice), slot_utc)
            for place, item in graded
        ],
    )


def _score(level: float, dice: random.Random) -> float:
    """A whole score that flips now and then."""
    return float(min(5, max(1, round(level + dice.gauss(0, 0.3)))))


def _insert_totals(
    connection: sqlite3.Connection, ruler_id: str, segments: Sequence[int], number: int, dice: random.Random
) -> None:
    run_id, _, _ = _slot(number)
    day = (FIRST_DAY + timedelta(days=number - 1)).isoformat()
    shift = (0.3 if number >= JUDGE_MOVES else 0.0) + dice.gauss(0, 0.03)
    sums = []
    for place, _segment in enumerate(segments[1:]):
        loss = 0.6 if place == 0 and number >= SEGMENT_MOVES else 0.0
        scores = [3.6 + shift - loss + dice.gauss(0, 1.0) for _ in range(N_ANSWERS)]
        sums.append((len(scores), sum(scores), sum(score * score for score in scores)))
    everything = tuple(sum(column) for column in zip(*sums, strict=True))
    connection.executemany(
        "INSERT INTO daily_scores (app, ruler_id, criterion, source, segment_id, day, run_id, n, n_unscored, sum_w,"
        " sum_w2, sum_wy, sum_w2y, sum_w2y2, n_clusters, sum_t2, sum_tw, sum_ww)"
        " VALUES (?, ?, ?, 'traffic', ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (APP, ruler_id, CRITERION, segment, day, run_id, n, n, n, total, total, squares, n, squares, total, n)
            for segment, (n, total, squares) in zip(segments, [everything, *sums], strict=True)
        ],
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure()))
