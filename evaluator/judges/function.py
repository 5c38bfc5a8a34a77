"""A judge that is a Python function of one's own: ``python:package.module:function``.

The function takes an ``Item`` and returns a number, a verdict as a dict, or a reply as text. A plain function runs in
a thread, a coroutine function on the loop. No prompt, no retries: whoever writes the function decides on both.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evaluator.clock import SystemClock, utc_text
from evaluator.errors import ConfigError
from evaluator.judges.base import BudgetReachedError, CallGate
from evaluator.judges.parse import parse_reply, safe_text, verdict_from_mapping
from evaluator.records import (
    Attempt,
    GradeOutcome,
    Instrument,
    Item,
    ParsedVerdict,
    Rubric,
    Ruler,
    StopReason,
    UnscoredReason,
)

_CLOCK = SystemClock()
_PREFIX = "python:"
_DETAIL_CHARS = 300


@dataclass(frozen=True, kw_only=True)
class FunctionSettings:
    """Where the function is, the scale it grades on, and the most seconds one item may take.

    ``score_field`` and ``score_pattern`` say where the score stands in what it returns. ``version`` is part of the
    ruler: change it when the function starts to grade in another way.
    """

    target: str
    rubric: Rubric = field(repr=False)
    version: str = ""
    timeout_s: float = 60.0
    score_field: str = "score"
    score_pattern: str | None = None


class FunctionJudge:
    """Grades items by calling a function.

    A plain function that runs out of time is given up, but its thread cannot be ended; it goes on until it returns.

    Raises:
        ConfigError: the function cannot be found.
    """

    def __init__(self, settings: FunctionSettings, *, now: Callable[[], datetime] = _CLOCK.now) -> None:
        self._settings = settings
        self._now = now
        self._function = load_function(settings.target)
        name = settings.target.removeprefix(_PREFIX)
        asked = {"version": settings.version, "score_pattern": settings.score_pattern or ""}
        if settings.score_field != "score":
            asked["score_field"] = settings.score_field
        parameters = {name: value for name, value in asked.items() if value}
        self.ruler = Ruler(
            model_asked=_PREFIX + name,
            rubric=settings.rubric,
            prompt_template="",
            parameters=parameters,
            output_mode="function",
        )
        self._instrument = Instrument(
            resolved_model=_PREFIX + name, fingerprint=None, output_mode="function", parameters=parameters
        )

    async def grade(self, item: Item, *, item_id: str, gate: CallGate) -> GradeOutcome:  # noqa: ARG002 -- the protocol
        """Grade one item by one call; whatever the function raises is a verdict without a score."""
        if not item.output.strip():
            return GradeOutcome(verdict=_unscored(UnscoredReason.NO_ANSWER_TEXT), attempts=())
        try:
            reservation = await gate.reserve(0.0)
        except BudgetReachedError as error:
            return GradeOutcome(verdict=None, attempts=(), stop=StopReason.BUDGET, stop_message=str(error))
        started_utc, started = utc_text(self._now()), time.perf_counter()
        try:
            verdict, raw_reply = await self._call(item)
        finally:
            reservation.settle(0.0)
        reason = verdict.unscored_reason
        attempt = Attempt(
            started_utc=started_utc,
            duration_ms=(time.perf_counter() - started) * 1e3,
            http_status=None,
            reason=None if reason is None else reason.value,
            message="" if reason is None else verdict.detail,
        )
        return GradeOutcome(verdict=verdict, attempts=(attempt,), instrument=self._instrument, raw_reply=raw_reply)

    def plan_cost(self, items: Sequence[Item]) -> float | None:  # noqa: ARG002 -- the protocol
        """Return 0: what a function spends is its own affair."""
        return 0.0

    def forget_adjustments(self) -> None:
        """Nothing was adjusted."""

    async def close(self) -> None:
        """Nothing to release."""

    async def _call(self, item: Item) -> tuple[ParsedVerdict, str]:
        """Return the verdict and the text of what the function returned."""
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                if inspect.iscoroutinefunction(self._function):
                    returned = await self._function(item)
                else:
                    returned = await asyncio.to_thread(self._function, item)
                    if inspect.isawaitable(returned):
                        returned = await returned
                return self._read(returned), safe_text(returned if isinstance(returned, str) else repr(returned))
        except TimeoutError:
            message = f"no answer in {self._settings.timeout_s:g} s"
            return _unscored(UnscoredReason.TIMEOUT, message), ""
        except Exception as error:  # noqa: BLE001 -- someone else's code may raise anything, and the run must go on
            return _unscored(UnscoredReason.PROVIDER_ERROR, f"{type(error).__name__}: {error}"), ""

    def _read(self, returned: object) -> ParsedVerdict:
        rubric, field = self._settings.rubric, self._settings.score_field
        if isinstance(returned, str):
            pattern = self._settings.score_pattern
            return parse_reply(returned, rubric=rubric, score_field=field, score_pattern=pattern)
        if isinstance(returned, Mapping):
            return verdict_from_mapping(returned, rubric=rubric, score_field=field)
        return verdict_from_mapping({"score": returned}, rubric=rubric)


def load_function(place: str) -> Callable[[Item], Any]:
    """Import ``python:package.module:function``; the prefix may be left out.

    Raises:
        ConfigError: a name of another form, a module or function that is not there, or something that cannot be called.
    """
    module_name, _, function_name = place.removeprefix(_PREFIX).partition(":")
    if not module_name or not function_name:
        raise ConfigError(f"judge.function = {place!r}; write it as python:package.module:function")
    try:
        found = getattr(importlib.import_module(module_name), function_name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"judge.function = {place!r} cannot be imported: {error}; install the package or set PYTHONPATH"
        ) from error
    if not callable(found):
        raise ConfigError(f"judge.function = {place!r} is a {type(found).__name__} and cannot be called")
    function: Callable[[Item], Any] = found
    return function


def _unscored(reason: UnscoredReason, detail: str = "") -> ParsedVerdict:
    return ParsedVerdict(score=None, unscored_reason=reason, detail=safe_text(detail)[:_DETAIL_CHARS])
