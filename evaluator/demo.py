"""The demo: a simulated calendar, graded for real. A practice judge on loopback answers over HTTP; the scorer, the
importer and the analysis are the ones a user runs, and nothing in the database is written by any other way.

On one day the practice judge silently grows generous: a switch on its control port, which the scorer never sees. On
another, the answers in one segment get worse. The calendar ends yesterday.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from datetime import time as day_time
from pathlib import Path

from evaluator.analysis import AnalysisSettings, analyse_and_store
from evaluator.clock import Clock, SystemClock, utc_text
from evaluator.config import CONFIG_NAME, Config, load_config
from evaluator.errors import UsageError
from evaluator.findings import Findings
from evaluator.importing import import_files
from evaluator.judges.practice.control import PracticeJudge
from evaluator.resources import sample_traffic_path
from evaluator.scoring.closing import RunReport
from evaluator.scoring.runner import run_once
from evaluator.scoring.setup import build_judge, run_settings
from evaluator.store import write
from evaluator.store.db import open_store

DAYS = 60
JUDGE_CHANGES_IN_RUN = 37  # counted from 1
GENEROSITY = 0.35
ANSWERS_WORSE_IN_RUN = 49  # the first run that grades worse answers
WORSE_TOPIC = "delivery"
ANSWERS_A_DAY = {"billing": 34, "delivery": 34, "account": 32, "product": 11}
# share of answers written as excellent, good, acceptable, and poor or worse
USUAL_MIX = {5: 0.36, 4: 0.30, 3: 0.22, 2: 0.12}
WORSE_MIX = {5: 0.08, 4: 0.14, 3: 0.36, 2: 0.42}
SLOT_HOUR = 6
SEED = "judgewatch demo"
CONCURRENCY = 24
DATABASE = "judgewatch.db"
TRAFFIC = "traffic.jsonl"
ANCHORS, PROMPT = "anchors-demo.jsonl", "judge-prompt.txt"  # of the demo with a local model
# empty files that say that what lies beside them is a demo, which another one may replace
STARTED, FINISHED = "demo-unfinished", "demo-finished"

_CONFIG = """\
# The demo's configuration. The practice judge it names runs only while the demo does.
[judge]
model = "{model}"
base_url = "{base_url}"
api_key_env = ""
concurrency = {concurrency}
[store]
path = "judgewatch.db"
[traffic]
segments = ["topic", "language", "topic * language"]
[schedule]
cron = "0 {hour} * * *"
zone = "UTC"
[budget]
calls_per_day = {calls}
"""


@dataclass(frozen=True, kw_only=True)
class DemoReport:
    """What the demo did, with the two days on which something really changed (None when the calendar is shorter).

    ``n_calls`` is what the scorer counted, ``n_served`` what the practice judge itself counted; None of
    a judge that does not count.
    """

    folder: Path
    findings: Findings
    n_runs: int
    n_calls: int
    n_served: int | None
    n_scored: int
    n_unscored: int
    elapsed_s: float
    judge_changed_day: str | None
    answers_worse_day: str | None
    worse_topic: str = WORSE_TOPIC


def is_demo(folder: Path) -> bool:
    """Whether a folder holds a finished demo."""
    return (folder / FINISHED).exists() and (folder / DATABASE).exists()


def remove_demo(folder: Path) -> None:
    """Remove the files of a demo; nothing else in the folder is touched."""
    for name in (
        STARTED,
        FINISHED,
        DATABASE,
        f"{DATABASE}-wal",
        f"{DATABASE}-shm",
        CONFIG_NAME,
        TRAFFIC,
        ANCHORS,
        PROMPT,
    ):
        (folder / name).unlink(missing_ok=True)


def run_demo(
    folder: Path,
    *,
    days: int = DAYS,
    clock: Clock | None = None,
    on_day: Callable[[int, int], None] | None = None,
) -> DemoReport:
    """Grade a simulated calendar against the practice judge; leaves ``judgewatch.db`` and its configuration.

    Args:
        folder: Where to put the files; what an interrupted demo left there is replaced.
        days: Length of the calendar, at least 2; the two changes need the full 60.
        clock: Decides what "yesterday" is.
        on_day: Called after each simulated day with (days done, days in all).

    Raises:
        UsageError: the folder holds a database or a configuration, or the calendar is too short.
        JudgewatchError: the practice judge does not start, or the folder cannot be written.
    """
    if days < 2:
        raise UsageError(f"--days {days}: the demo needs at least 2 days")
    clock = clock or SystemClock()
    make_room(folder)
    started = time.monotonic()
    first = first_slot(clock, days)
    with PracticeJudge() as practice:
        config = _write_config(folder, practice, days)
        import_traffic(config, folder, deal_traffic(first, days), clock)
        _log_deploy(config, first, days)
        reports, ruler_id = asyncio.run(_grade(config, practice, first, days, on_day))
        n_served = int(practice.state()["calls"])
    findings = analyse_and_store(
        config.store_path, app=config.app.name, ruler_id=ruler_id, settings=AnalysisSettings(), now=clock.now()
    )
    (folder / STARTED).rename(folder / FINISHED)
    return DemoReport(
        folder=folder,
        findings=findings,
        n_runs=len(reports),
        n_calls=sum(report.n_calls for report in reports),
        n_served=n_served,
        n_scored=sum(report.n_scored for report in reports),
        n_unscored=sum(report.n_unscored for report in reports),
        elapsed_s=time.monotonic() - started,
        judge_changed_day=slot_day(first, JUDGE_CHANGES_IN_RUN) if days >= JUDGE_CHANGES_IN_RUN else None,
        # a run grades the answers of the day before
        answers_worse_day=slot_day(first, ANSWERS_WORSE_IN_RUN - 1) if days >= ANSWERS_WORSE_IN_RUN else None,
    )


def make_room(folder: Path) -> None:
    """Make the folder and mark it as a demo's, so that an interrupted one can be told from a user's own files.

    Raises:
        UsageError: the folder holds a database, a configuration or traffic.
    """
    folder.mkdir(parents=True, exist_ok=True)
    is_left_over = (folder / FINISHED).exists() and not (folder / DATABASE).exists()
    if (folder / STARTED).exists() or is_left_over:
        remove_demo(folder)
    for name in (DATABASE, CONFIG_NAME, TRAFFIC):
        if (folder / name).exists():
            raise UsageError(f"{folder / name} exists already; name another folder with --dir, or delete it")
    (folder / STARTED).touch()


def first_slot(clock: Clock, days: int) -> datetime:
    """The first scheduled instant, so that the last one is yesterday's."""
    yesterday = clock.now().astimezone(UTC).date() - timedelta(days=1)
    return datetime.combine(yesterday - timedelta(days=days - 1), day_time(SLOT_HOUR), tzinfo=UTC)


def slot_day(first_slot: datetime, number: int) -> str:
    """Day of a run, counted from 1."""
    return (first_slot + timedelta(days=number - 1)).date().isoformat()


def _write_config(folder: Path, practice: PracticeJudge, days: int) -> Config:
    path = folder / CONFIG_NAME
    text = _CONFIG.format(
        model=practice.model,
        base_url=practice.base_url,
        concurrency=CONCURRENCY,
        hour=SLOT_HOUR,
        calls=1_000 * days + 10_000,
    )
    path.write_text(text, encoding="utf-8")
    return load_config(path)


# ---------------------------------------------------------------- traffic


def import_traffic(config: Config, folder: Path, rows: Iterable[Mapping[str, str]], clock: Clock) -> None:
    """Write the calendar's answers to a file and import it, as a user would."""
    path = folder / TRAFFIC
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    import_files(
        config.store_path,
        [path],
        app=config.app.name,
        day_zone=config.schedule.zone,
        naive_zone=config.traffic.naive_zone,
        now=clock.now(),
    )


def deal_traffic(
    first_slot: datetime, days: int, answers_a_day: Mapping[str, int] | None = None
) -> Iterator[dict[str, str]]:
    """Deal the shipped sample over a calendar: each day's run grades the answers of the day before it.

    How good an answer was meant to be decides how often it is dealt and is not written into the row.

    Args:
        first_slot: The first run's instant.
        days: Number of days.
        answers_a_day: Answers of each topic, ``ANSWERS_A_DAY`` unless given.
    """
    pool = _sample_by_topic_and_level()
    for number in range(1, days + 1):
        day = first_slot.date() + timedelta(days=number - 2)
        # a simulation has to be repeatable, not unpredictable
        dice = random.Random(f"{SEED}:{number}")  # noqa: S311
        for topic, n_answers in (answers_a_day or ANSWERS_A_DAY).items():
            worse = topic == WORSE_TOPIC and number >= ANSWERS_WORSE_IN_RUN
            mix = WORSE_MIX if worse else USUAL_MIX
            levels = dice.choices(list(mix), weights=list(mix.values()), k=n_answers)
            for position, level in enumerate(levels, start=1):
                second = dice.randrange(7 * 3600, 22 * 3600)
                answered = datetime.combine(day, day_time(), tzinfo=UTC) + timedelta(seconds=second)
                row = dice.choice(pool[topic, level])
                yield {
                    "item_id": f"{day.isoformat()}-{topic}-{position:02d}",
                    "inputs": row["inputs"],
                    "outputs": row["outputs"],
                    "answered_at": utc_text(answered),
                    "model": "shop-assistant-2",
                    "topic": topic,
                    "language": row["language"],
                }


def _sample_by_topic_and_level() -> dict[tuple[str, int], list[dict[str, str]]]:
    """The shipped sample by topic and by how good the answer was written to be (2 = poor or worse)."""
    pool: dict[tuple[str, int], list[dict[str, str]]] = {}
    for line in sample_traffic_path().read_text("utf-8").split("\n"):
        if line.strip():
            row = json.loads(line)
            pool.setdefault((row["topic"], max(2, row["level"])), []).append(row)
    return pool


def _log_deploy(config: Config, first_slot: datetime, days: int) -> None:
    """Log what a team would log: the release that made the answers of one topic worse."""
    day = first_slot + timedelta(days=ANSWERS_WORSE_IN_RUN - 2)
    if days < ANSWERS_WORSE_IN_RUN:
        return
    with open_store(config.store_path) as store:
        write.add_event(store, app=config.app.name, at=day, kind="deploy", text="assistant release 2.4", by_whom="demo")


# ---------------------------------------------------------------- runs


async def _grade(
    config: Config,
    practice: PracticeJudge,
    first_slot: datetime,
    days: int,
    on_day: Callable[[int, int], None] | None,
) -> tuple[list[RunReport], str]:
    judge, rubric = build_judge(config)
    reports = []
    try:
        for number in range(1, days + 1):
            # the control port stands for the world outside: what day it is for the judge, and how it is disposed
            practice.set(day=number, generosity=GENEROSITY if number >= JUDGE_CHANGES_IN_RUN else 0.0)
            settings = run_settings(config, rubric, slot=first_slot + timedelta(days=number - 1))
            reports.append(await run_once(settings, judge))
            if on_day is not None:
                on_day(number, days)
    finally:
        await judge.close()
    return reports, judge.ruler.ruler_id
