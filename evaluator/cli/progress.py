"""How far a run is, on stderr: a bar on a terminal, a plain line now and then elsewhere. And signals that end it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from evaluator.cli.output import say, usd

if TYPE_CHECKING:
    from evaluator.scoring.closing import Progress
    from evaluator.scoring.pace import Pace

LINE_EVERY_S = 10.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STOPPING = "stopping: calls in flight are waited for, ten seconds at most; once more ends at once"
_T = TypeVar("_T")

OnProgress = Callable[["Progress"], None]


@contextlib.contextmanager
def shown(*, quiet: bool) -> Iterator[OnProgress | None]:
    """Show progress while the context lasts; what it yields is to be called with each step."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar() as update:
            yield update
    else:
        yield lines()


def lines() -> OnProgress:
    """Return a callback that says a line every ten seconds of a run."""
    told_at = 0.0

    def update(progress: Progress) -> None:
        nonlocal told_at
        if progress.elapsed_s - told_at >= LINE_EVERY_S:
            told_at = progress.elapsed_s
            say(f"{progress.n_done:,} of {progress.n_planned:,}, {describe(progress)}")

    return update


def describe(progress: Progress) -> str:
    """Rate, cost and time left, in words."""
    if not progress.n_done or progress.elapsed_s <= 0:
        return "starting"
    rate = progress.n_done / progress.elapsed_s
    left_s = (progress.n_planned - progress.n_done) / rate
    spent = f"{usd(progress.spent_usd)} so far, " if progress.spent_usd else ""  # nothing is counted without a price
    return f"{rate:.1f} a second, {spent}{duration(left_s)} left"


def duration(seconds: float) -> str:
    """Return a time span as people say it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def how_long(minutes: float, pace: Pace) -> str:
    """How long something will take, and what that is told from."""
    about = f"about {max(1, round(minutes)):,} minute{'' if round(minutes) <= 1 else 's'}"
    if pace.is_assumed:
        return f"{about} if a call takes {pace.seconds:g} s, which is assumed"
    return f"{about} at {pace.seconds:.2g} s a call, as the last {pace.n_calls:,} took"


@contextlib.contextmanager
def _bar() -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def update(progress: Progress) -> None:
            bar.update(task, completed=progress.n_done, total=progress.n_planned, description=describe(progress))

        yield update


async def stoppable(work: Callable[[asyncio.Event], Awaitable[_T]]) -> _T:
    """Do some work that Ctrl-C or SIGTERM asks to stop, and a second one ends at once.

    Args:
        work: Takes the event that is set by the first signal.

    Raises:
        asyncio.CancelledError: ended by a second signal, unless the work came to its end all the same.
    """
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    task = asyncio.ensure_future(work(stop))

    def on_signal() -> None:
        if not stop.is_set():
            stop.set()
            say(_STOPPING)
        elif not task.cancelling():
            task.cancel()
        else:  # not even that helped: let the next one kill
            _restore(loop)

    # a test or another thread than the main one cannot take signals; the work then runs without
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        for number in _SIGNALS:
            loop.add_signal_handler(number, on_signal)
    try:
        return await task
    finally:
        _restore(loop)


@contextlib.contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end work that is not stoppable as Ctrl-C does, so that what it started is ended with it.

    Raises:
        KeyboardInterrupt: the signal came.
    """

    def interrupt(number: int, frame: object) -> None:
        del number, frame
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # another thread than the main one cannot take signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _restore(loop: Any) -> None:
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
