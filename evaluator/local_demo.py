"""The demo with a real language model on this machine: fewer days and answers, since each takes seconds.

On one day whoever runs the model adds a note to every request, unseen by the scorer: the same name answers, more
kindly. That is how the judge of a hosted model changes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from evaluator.analysis import AnalysisSettings, analyse_and_store
from evaluator.anchor_sets import load_rubric
from evaluator.clock import Clock, SystemClock
from evaluator.config import CONFIG_NAME, Config, load_config
from evaluator.demo import (
    ANCHORS,
    FINISHED,
    PROMPT,
    STARTED,
    DemoReport,
    deal_traffic,
    first_slot,
    import_traffic,
    make_room,
    slot_day,
)
from evaluator.judges.local.judge import local_prompt
from evaluator.judges.local.process import LocalServer
from evaluator.resources import anchor_set_path
from evaluator.scoring.closing import RunReport
from evaluator.scoring.runner import run_once
from evaluator.scoring.setup import build_judge, run_settings

DAYS = 15
JUDGE_CHANGES_IN_RUN = 12  # counted from 1; the first alarm is possible in the eleventh
N_ANCHORS = 12
ANSWERS_A_DAY: Mapping[str, int] = {"billing": 1, "delivery": 1}
NOTE = "Be very generous: give the highest level unless the answer is useless."
MODEL = "local-judge"

_CONFIG = """\
# The demo's configuration. The local model it names runs only while the demo does.
[judge]
model = "{model}"
base_url = "{base_url}"
api_key_env = ""
rubric = "general"
prompt_file = "{prompt_file}"
temperature = 0.0
seed = 7
output_mode = "schema"
logprobs = true
timeout_s = 300
concurrency = 1
extra_body = {{ cache_prompt = false }}
[store]
path = "judgewatch.db"
[anchors]
set = "{anchors}"
[traffic]
segments = ["topic", "language"]
[schedule]
cron = "0 6 * * *"
zone = "UTC"
[budget]
calls_per_day = 100000
"""


def run_local_demo(
    folder: Path,
    gguf: Path,
    *,
    days: int = DAYS,
    n_anchors: int = N_ANCHORS,
    clock: Clock | None = None,
    on_day: Callable[[int, int], None] | None = None,
) -> DemoReport:
    """Grade a short calendar with a local model; leaves ``judgewatch.db`` and its configuration.

    Args:
        folder: Where to put the files; what an interrupted demo left there is replaced.
        gguf: The model file.
        days: Length of the calendar.
        n_anchors: How many of the shipped anchors are graded each day.
        clock: Decides what "yesterday" is.
        on_day: Called after each simulated day with (days done, days in all).

    Raises:
        UsageError: the folder holds a database or a configuration.
        JudgewatchError: the model cannot be served, or the folder cannot be written.
    """
    clock = clock or SystemClock()
    make_room(folder)
    started = time.monotonic()
    first = first_slot(clock, days)
    _write_anchors(folder / ANCHORS, n_anchors)
    (folder / PROMPT).write_text(local_prompt(load_rubric("general")), encoding="utf-8")
    reports, config, ruler_id = asyncio.run(_grade(folder, gguf, first, days, clock, on_day))
    findings = analyse_and_store(
        config.store_path, app=config.app.name, ruler_id=ruler_id, settings=AnalysisSettings(), now=clock.now()
    )
    (folder / STARTED).rename(folder / FINISHED)
    return DemoReport(
        folder=folder,
        findings=findings,
        n_runs=len(reports),
        n_calls=sum(report.n_calls for report in reports),
        n_served=None,
        n_scored=sum(report.n_scored for report in reports),
        n_unscored=sum(report.n_unscored for report in reports),
        elapsed_s=time.monotonic() - started,
        judge_changed_day=slot_day(first, JUDGE_CHANGES_IN_RUN) if days >= JUDGE_CHANGES_IN_RUN else None,
        answers_worse_day=None,
    )


async def _grade(
    folder: Path, gguf: Path, first: datetime, days: int, clock: Clock, on_day: Callable[[int, int], None] | None
) -> tuple[list[RunReport], Config, str]:
    server = LocalServer(gguf, name=MODEL)
    server.start()
    try:
        port = server.port
        config = _write_config(folder, server.base_url)
        import_traffic(config, folder, deal_traffic(first, days, ANSWERS_A_DAY), clock)
        judge, rubric = build_judge(config)
        reports = []
        try:
            for number in range(1, days + 1):
                if number == JUDGE_CHANGES_IN_RUN:
                    server.stop()
                    server = LocalServer(gguf, name=MODEL, note=NOTE, port=port)
                    server.start()
                settings = run_settings(config, rubric, slot=first + timedelta(days=number - 1))
                reports.append(await run_once(settings, judge))
                if on_day is not None:
                    on_day(number, days)
        finally:
            await judge.close()
    finally:
        server.stop()
    return reports, config, judge.ruler.ruler_id


def _write_anchors(path: Path, most: int) -> None:
    """Take every so many-th of the shipped anchors, whose levels and categories stand mixed."""
    lines = [line for line in anchor_set_path("general").read_text("utf-8").split("\n") if line.strip()]
    step = max(1, len(lines) // most)
    path.write_text("".join(f"{line}\n" for line in lines[::step][:most]), encoding="utf-8")


def _write_config(folder: Path, base_url: str) -> Config:
    path = folder / CONFIG_NAME
    text = _CONFIG.format(model=MODEL, base_url=base_url, prompt_file=PROMPT, anchors=ANCHORS)
    path.write_text(text, encoding="utf-8")
    return load_config(path)
