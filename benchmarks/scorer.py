"""How much the scorer costs beside a bare loop around the ``openai`` client: throughput, processor, memory.

Both sides ask the same server for the same verdicts with the same bytes, 64 at once. The bare loop keeps nothing: no
attempts, no verdicts, no totals, no budget. The scorer's run is measured whole: plan, first call alone, grading,
writing, daily totals. Each runs in a process of its own: ``python benchmarks/scorer.py ours|bare ADDRESS N_CALLS``.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from harness import Measurement, Options, budget, run_apart
from slow_judge import slow_judge

IN_FLIGHT = 64
DELAY_S = 0.2
APP = "default"
FENCE = "benchmark"
_ANSWERED = datetime(2026, 1, 1, 12, tzinfo=UTC)


@budget("scorer, 64 in flight, 200 ms; beside: openai loop", 0.95, better="higher")
def scorer_throughput(options: Options) -> Measurement:
    """Verdicts a second."""
    ours, bare = _both(options.calls, options.full)
    return Measurement(ours=options.calls / ours["seconds"], comparator=options.calls / bare["seconds"], unit="/s")


@budget("scorer CPU a verdict; beside: openai loop", 1.5, better="lower")
def scorer_processor(options: Options) -> Measurement:
    """Milliseconds of processor time of the process that grades, writing included."""
    ours, bare = _both(options.calls, options.full)
    per_call = 1000 / options.calls
    return Measurement(ours=ours["cpu_s"] * per_call, comparator=bare["cpu_s"] * per_call, unit="ms")


@budget("scorer peak memory; beside: a tenth of the answers", 1.2, better="lower")
def scorer_memory(options: Options) -> Measurement:
    """Largest resident memory of a run; it must not grow with the answers. At ``--full`` it is 100,000 of them."""
    n_calls = 100_000 if options.full else max(options.calls, 10)
    with slow_judge(0.0) as address:
        few, many = (run_apart("scorer.py", "ours", address, n) for n in (n_calls // 10, n_calls))
    return Measurement(ours=many["peak_mb"], comparator=few["peak_mb"], unit="MB")


@cache
def _both(n_calls: int, full: bool) -> tuple[dict[str, float], dict[str, float]]:
    """Measure both sides against one server, in turns; of two turns the quicker, since other work only slows down."""
    with slow_judge(DELAY_S) as address:
        turns = [
            (run_apart("scorer.py", "ours", address, n_calls), run_apart("scorer.py", "bare", address, n_calls))
            for _ in range(1 if full else 2)
        ]
    ours, bare = ([turn[side] for turn in turns] for side in (0, 1))
    names = ("seconds", "cpu_s")
    return {name: min(run[name] for run in ours) for name in names}, {
        name: min(run[name] for run in bare) for name in names
    }


# ---------------------------------------------------------------- one side, in a process of its own


def settings_of(address: str) -> Any:
    """Return the judge that both sides ask."""
    from evaluator.anchor_sets import load_rubric
    from evaluator.judges.settings import JudgeSettings

    return JudgeSettings(
        model="slow-judge",
        base_url=address,
        api_key="none",
        rubric=load_rubric("general", folder=Path.cwd()),
        fence_secret=FENCE,
        max_connections=IN_FLIGHT + 4,
    )


def answers(n_answers: int) -> Iterator[tuple[str, Any]]:
    """Yield (item id, item), one a second, with texts of a usual length."""
    from evaluator.identity import base_item_id
    from evaluator.records import Item

    for number in range(n_answers):
        answered = _ANSWERED + timedelta(seconds=number % 40_000)
        item = Item(
            input=f"Question {number}: how long does it take until a refund is on my account?",
            output="Refunds are sent within two days of the parcel's arrival; " * 6 + f"case {number}.",
            external_id=f"answer-{number}",
            answered_utc=answered.isoformat().replace("+00:00", "Z"),
            tags={"topic": f"topic {number % 12}", "language": "en", "product": f"product {number % 8}"},
        )
        yield base_item_id(APP, item), item


def prepare_ours(address: str, n_calls: int, folder: Path) -> Callable[[], Awaitable[object]]:
    """Fill a store with answers; return the run that grades them."""
    import openai  # noqa: F401 - loading it is no part of the run

    from evaluator.config import TrafficConfig
    from evaluator.judges.openai_compatible import OpenAICompatibleJudge
    from evaluator.scoring.budget import Limits
    from evaluator.scoring.runner import RunSettings, run_once
    from evaluator.store.db import open_store
    from evaluator.store.write import import_answers

    path = folder / "scorer.db"
    with open_store(path) as store:
        import_answers(
            store, app=APP, answers=answers(n_calls), path="", file_sha256="", n_rejected=0, now=datetime.now(UTC)
        )
    settings = RunSettings(
        store_path=path,
        app=APP,
        zone=None,
        anchor_set_name="none",
        anchors=(),
        traffic=TrafficConfig(answers_per_day=n_calls),
        limits=Limits(),
        concurrency=IN_FLIGHT,
        slot=_ANSWERED + timedelta(days=1),
        kind="traffic",
    )
    judge = OpenAICompatibleJudge(settings_of(address))

    async def run() -> None:
        report = await run_once(settings, judge)
        await judge.close()
        if report.n_scored != n_calls:
            raise RuntimeError(f"{report.n_scored} of {n_calls} answers were scored: {report.message}")

    return run


def prepare_bare(address: str, n_calls: int, _folder: Path) -> Callable[[], Awaitable[object]]:
    """Render the same requests beforehand; return a loop that sends them and reads the scores."""
    import httpx2
    import openai

    from evaluator.judges.openai_compatible import PromptRenderer, first_plan

    settings = settings_of(address)
    renderer = PromptRenderer(
        settings.prompt_template, rubric=settings.rubric, fence_secret=FENCE, max_chars=settings.max_prompt_chars
    )
    plan = first_plan(settings)
    bodies = iter([plan.body(renderer.render(item, item_id=item_id).messages) for item_id, item in answers(n_calls)])
    limits = httpx2.Limits(max_connections=IN_FLIGHT + 4, max_keepalive_connections=IN_FLIGHT + 4)
    client = openai.AsyncOpenAI(
        api_key="none", base_url=address, max_retries=0, http_client=openai.DefaultAsyncHttpxClient(limits=limits)
    )
    scores: list[int] = []

    async def work() -> None:
        for body in bodies:
            reply = await client.chat.completions.create(**body)
            scores.append(json.loads(reply.choices[0].message.content or "")["score"])

    async def run() -> None:
        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
        await client.close()
        if len(scores) != n_calls:
            raise RuntimeError(f"{len(scores)} of {n_calls} calls came back")

    return run


def main() -> None:
    """Run one side once and print what it took."""
    side, address, n_calls = sys.argv[1], sys.argv[2], int(sys.argv[3])
    prepare = {"ours": prepare_ours, "bare": prepare_bare}[side]
    with tempfile.TemporaryDirectory() as folder:
        run = prepare(address, n_calls, Path(folder))
        started, cpu_before = time.perf_counter(), time.process_time()
        asyncio.run(_awaited(run))
        figures = {
            "seconds": time.perf_counter() - started,
            "cpu_s": time.process_time() - cpu_before,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    print(json.dumps(figures))


async def _awaited(run: Callable[[], Awaitable[object]]) -> None:
    await run()


if __name__ == "__main__":
    main()
