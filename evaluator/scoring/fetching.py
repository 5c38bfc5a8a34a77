"""Asks the sources of answers before a run, as the one scorer of the app: two of them never ask at once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import datetime

from evaluator.analysis import AnalysisSettings
from evaluator.clock import Clock, utc_text
from evaluator.config import Config
from evaluator.errors import StoreError
from evaluator.scoring.holder import holder_name, is_dead
from evaluator.scoring.lease import LeaseKeeper
from evaluator.scoring.setup import configured_rubric
from evaluator.sources import PullOutcome, has_sources, pull_sources
from evaluator.store import locks
from evaluator.store.db import open_store


async def fetch_sources(
    config: Config,
    *,
    slot: datetime,
    clock: Clock,
    settings: AnalysisSettings | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[PullOutcome, ...]:
    """Take in what the configured sources have for a scheduled run.

    Args:
        config: The configuration.
        slot: The scheduled instant.
        clock: Wall clock.
        settings: As in ``pull_sources``.
        stop: Whether to give up; asked often, from another thread.

    Returns:
        One outcome for each source; none when there is none.

    Raises:
        LeaseHeldError: another scorer works on this app; nothing was asked.
        UsageError: a setting that cannot be used.
        StoreError: the database cannot be used.
    """
    if not has_sources(config):
        return ()
    rubric = configured_rubric(config)
    judge_scale = (rubric.scale_min, rubric.scale_max)
    with open_store(config.store_path, zone=config.schedule.zone) as store:
        lease = locks.acquire_lease(
            store,
            app=config.app.name,
            holder=holder_name(),
            what=f"fetches answers for the run of {utc_text(slot)}",
            now=clock.now(),
            is_dead=is_dead,
        )
        try:
            async with LeaseKeeper(config.store_path, lease, clock):
                return await _in_a_thread(
                    lambda ended: pull_sources(
                        config, slot=slot, clock=clock, settings=settings, judge_scale=judge_scale, stop=ended
                    ),
                    stop,
                )
        finally:
            with contextlib.suppress(StoreError):  # what cannot be given back ends by itself
                locks.release_lease(store, lease)


async def _in_a_thread(
    ask: Callable[[Callable[[], bool]], tuple[PullOutcome, ...]], stop: Callable[[], bool]
) -> tuple[PullOutcome, ...]:
    """Ask in a thread; whoever is cancelled meanwhile ends it and waits for that, since it uses the database."""
    cancelled = False
    task = asyncio.ensure_future(asyncio.to_thread(ask, lambda: cancelled or stop()))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancelled = True
        await asyncio.wait({task})
        raise
