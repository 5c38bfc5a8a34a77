"""What the tests of the store share: answers, plans, outcomes, and processes that use a database at the same time."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from evaluator.clock import utc_text
from evaluator.identity import base_item_id
from evaluator.records import Anchor, Item, Ruler, Source, StopReason, content_hash
from evaluator.store import write
from evaluator.store.db import Store
from tests.builders import CRITERION, Score, ruler, scored

APP = "shop"
NOW = datetime(2026, 3, 1, 6, tzinfo=UTC)
DAY = "2026-02-27"
REPOSITORY = Path(__file__).resolve().parents[2]  # processes import the helpers of the tests from here


def answer(number: int, *, day: str = DAY, **changes: Any) -> Item:
    """One answer given at noon of a day, some seconds after."""
    instant = datetime.combine(date.fromisoformat(day), time(12), tzinfo=UTC) + timedelta(seconds=number)
    fields: dict[str, Any] = {
        "input": f"Question {number}?",
        "output": f"Answer {number}.",
        "external_id": f"{day}:{number}",
        "answered_utc": utc_text(instant),
    }
    return Item(**(fields | changes))


def anchor(number: int, *, expected: float | None = 3, **changes: Any) -> Anchor:
    """One anchor."""
    item = Item(input=f"Anchor question {number}?", output=f"Anchor answer {number}.", **changes)
    return Anchor(anchor_id=f"a{number}", item=item, expected_score=expected)


def import_items(
    store: Store, items: Iterable[Item], *, app: str = APP, now: datetime = NOW, sha: str = "sha"
) -> write.ImportCounts:
    """Import answers the way the importers do: under their own ids."""
    return write.import_answers(
        store,
        app=app,
        answers=((base_item_id(app, item), item) for item in items),
        path="answers.jsonl",
        file_sha256=sha,
        n_rejected=0,
        now=now,
    )


def ids_of(items: Sequence[Item], *, app: str = APP) -> list[str]:
    """Ids under which these answers are kept."""
    return [base_item_id(app, item) for item in items]


def plan_of(
    answers: Mapping[str, float] | Sequence[str] = (),
    *,
    anchors: Sequence[str] = (),
    slot_day: str = "2026-02-28",
    app: str = APP,
    use: Ruler | None = None,
    sampled: Mapping[str, tuple[int, int]] | None = None,
    anchor_set_id: str | None = None,
) -> write.RunPlan:
    """A run's plan: answers with their inclusion probabilities (1 when none are given), and anchors before them.

    ``sampled`` maps answered days to (answers of the day, number planned).
    """
    ruler_id = (use or ruler()).ruler_id
    probabilities = answers if isinstance(answers, Mapping) else dict.fromkeys(answers, 1.0)
    items = [write.PlannedItem(item_id=i, source=Source.ANCHOR, inclusion_probability=1.0) for i in anchors]
    items += [
        write.PlannedItem(item_id=i, source=Source.TRAFFIC, inclusion_probability=p) for i, p in probabilities.items()
    ]
    slot_utc = f"{slot_day}T06:00:00.000Z"
    return write.RunPlan(
        run_id=content_hash(app, ruler_id, slot_utc),
        app=app,
        ruler_id=ruler_id,
        anchor_set_id=anchor_set_id,
        slot_utc=slot_utc,
        slot_day=slot_day,
        kind="all",
        items=tuple(items),
        sampled_days=tuple(
            write.SampledDay(answered_day=day, n_answers=n, n_planned=planned)
            for day, (n, planned) in (sampled or {}).items()
        ),
    )


def begin(store: Store, plan: write.RunPlan, *, use: Ruler | None = None) -> None:
    """Register the setup and write the plan."""
    write.register_ruler(store, app=plan.app, ruler=use or ruler(), now=NOW)
    write.begin_run(store, plan, now=NOW)


def grade(store: Store, plan: write.RunPlan, scores: Mapping[str, Score], *, anchors: bool = False) -> None:
    """Store outcomes: a score, or a reason why there is none, by item id."""
    source = Source.ANCHOR if anchors else Source.TRAFFIC
    graded = [
        write.GradedItem(item_id=item_id, source=source, outcome=scored(score), graded_utc=utc_text(NOW))
        for item_id, score in scores.items()
    ]
    write.save_outcomes(store, plan, CRITERION, graded)


def finish(store: Store, plan: write.RunPlan, *, status: str = "finished", stop: StopReason | None = None) -> None:
    """End a run."""
    write.finish_run(store, plan.run_id, status=status, stop_reason=stop, message="", now=NOW)


def rows(store: Store, sql: str, *values: object) -> list[dict[str, Any]]:
    """Rows of a query as dictionaries."""
    return [dict(row) for row in store.connection.execute(sql, values)]


def one(store: Store, sql: str, *values: object) -> Any:
    """The single value of a query."""
    return store.connection.execute(sql, values).fetchone()[0]


def dump(path: Path) -> bytes:
    """The bytes of a file."""
    return path.read_bytes()


def start_python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a process that runs some code; ``sys.argv[1:]`` are the arguments."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY)


def result_of(process: subprocess.Popen[str], *, timeout_s: float = 60) -> str:
    """Wait for a process; return what it printed.

    Raises:
        AssertionError: it failed.
    """
    printed, complaint = process.communicate(timeout=timeout_s)
    assert process.returncode == 0, complaint
    return printed
