"""The judge behind any OpenAI-compatible address: one item in, one outcome out, every call on record.

This layer alone decides on retries. It knows nothing of runs, stores and days: permission and money come from the
gate, time and pauses are arguments.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from evaluator.clock import SystemClock, utc_text
from evaluator.judges.base import BudgetReachedError, CallGate
from evaluator.judges.costs import max_prompt_tokens
from evaluator.judges.expected_score import expected_score
from evaluator.judges.faults import Fault
from evaluator.judges.first_call import FirstCall, StopNotice
from evaluator.judges.hiding import hide_secrets
from evaluator.judges.keys import CommandKey, KeyCommandError
from evaluator.judges.parse import parse_reply
from evaluator.judges.progress import Call, Progress
from evaluator.judges.prompts import PromptRenderer
from evaluator.judges.replies import Reply
from evaluator.judges.requests import RequestPlan, adjust_plan, encode_body, first_plan
from evaluator.judges.settings import (
    BACKOFF_CAP_S,
    BACKOFF_FIRST_S,
    MAX_ADJUSTMENTS,
    PROBE_WAIT_S,
    SPREAD_CAP_S,
    JudgeSettings,
)
from evaluator.judges.transport import Transport
from evaluator.records import Attempt, GradeOutcome, Item, ParsedVerdict, StopReason, UnscoredReason

REFUSED_PARAMETER = "refused_parameter"
_UNAUTHORIZED = 401

_CLOCK = SystemClock()
_OUTGREW = frozenset({UnscoredReason.INVALID_REQUEST, UnscoredReason.TOO_LONG})


class OpenAICompatibleJudge:
    """Grades items over HTTP.

    What a server refuses is learned once for all items and forgotten by ``forget_adjustments``, which the scorer calls
    at the start of every run. Between two calls of ``close`` an instance belongs to one event loop.

    Args:
        settings: Whom to ask, and how.
        sleep: Pauses before a retry; takes seconds.
        now: The time in UTC, for the record and for waits given as a date.
        jitter: Returns a number in [0, 1) that spreads the retries of many items.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], datetime] = _CLOCK.now,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.settings = settings
        self.ruler = settings.ruler
        self._sleep = sleep
        self._now = now
        self._jitter = jitter
        self._renderer = PromptRenderer(
            settings.prompt_template,
            rubric=settings.rubric,
            fence_secret=settings.fence_secret,
            max_chars=settings.max_prompt_chars,
            verbatim=settings.verbatim,
        )
        self._plan = first_plan(settings)
        self._first_call = FirstCall(wait_s=PROBE_WAIT_S)
        self._transport: Transport | None = None

    async def grade(self, item: Item, *, item_id: str, gate: CallGate) -> GradeOutcome:
        """Grade one item; never raises for anything the server or the reply does wrong.

        Args:
            item: What to grade; without an answer text, or with a text that is too long, nothing is sent.
            item_id: Stands behind the fence of the prompt: the same item under the same id sends the same bytes.
            gate: Asked before every single call.
        Returns:
            A score, a reason why there is none, or a pending item with the reason why the run should stop. It takes at
            most ``settings.max_seconds_per_item``, waiting for the gate apart.
        """
        nothing = self._nothing_to_send(item)
        if nothing is not None:
            return GradeOutcome(verdict=nothing, attempts=())
        prompt = self._renderer.render(item, item_id=item_id)
        # without a price nothing is set aside, and counting would be for nothing
        n_tokens = 0 if self.settings.price is None else max_prompt_tokens(prompt.messages)
        progress = Progress(prompt, prompt_tokens=n_tokens)
        notice = await self._first_call.enter()
        if notice is not None:
            return progress.pending(notice.reason, notice.message)
        try:
            return await self._grade(progress, gate)
        except BudgetReachedError as error:
            return progress.pending(StopReason.BUDGET, str(error))
        except KeyCommandError as error:
            self._first_call.stop(StopNotice(reason=StopReason.AUTH, message=str(error)))
            return progress.pending(StopReason.AUTH, str(error))
        finally:
            self._first_call.leave()

    def request_body(self, item: Item, *, item_id: str) -> bytes | None:
        """Return the body of the request for an item, to the byte, as it is first asked; None when none is sent."""
        if self._nothing_to_send(item) is not None:
            return None
        return encode_body(first_plan(self.settings).body(self._renderer.render(item, item_id=item_id).messages))

    def _nothing_to_send(self, item: Item) -> ParsedVerdict | None:
        """Return the verdict on an item for which no call is made; None for any other."""
        if not item.output.strip():
            return ParsedVerdict(score=None, unscored_reason=UnscoredReason.NO_ANSWER_TEXT)
        over = None if self.settings.too_long == "cut" else self._renderer.too_long(item)
        if over is None:
            return None
        name, length = over
        most = self.settings.max_prompt_chars
        detail = f"the {name} has {length:,} characters, more than judge.max_prompt_chars = {most}"
        return ParsedVerdict(score=None, unscored_reason=UnscoredReason.TOO_LONG, detail=detail)

    def plan_cost(self, items: Sequence[Item]) -> float | None:
        """Return the most that grading these items once could cost, in USD; None when no price is known."""
        if self.settings.price is None:
            return None
        sent = (item for item in items if self._nothing_to_send(item) is None)
        prompts = (self._renderer.render(item, item_id="").messages for item in sent)
        return sum(self._max_cost(max_prompt_tokens(messages)) for messages in prompts)

    def forget_adjustments(self) -> None:
        """Ask for everything again, as at first: a server may take today what it refused yesterday."""
        self._plan = first_plan(self.settings)
        self._first_call.close()

    async def close(self) -> None:
        """Release connections. Grading another item opens new ones."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.close()
        if isinstance(self.settings.api_key, CommandKey):
            self.settings.api_key.close()

    async def _grade(self, progress: Progress, gate: CallGate) -> GradeOutcome:
        """Call until there is a verdict, nothing left to try, or a reason to stop."""
        while True:
            call = await self._call(progress, gate)
            progress.calls.append(call)
            if call.attempt.reason == REFUSED_PARAMETER:
                progress.n_adjusted += 1
                continue
            if await self._has_another_key(call, progress):
                continue
            progress.n_counted += 1
            has_calls_left = progress.n_counted < self.settings.max_attempts
            fault = call.reply.fault
            if fault is None:
                self._first_call.open()
                if not (has_calls_left and progress.wants_another_reply(call)):
                    return progress.finished(call)
                continue
            if not (fault.can_retry and has_calls_left):
                return self._give_up(call, fault, progress)
            self._first_call.open()
            ended = await self._pause(fault, progress, gate)
            if ended is not None:
                return ended

    async def _has_another_key(self, call: Call, progress: Progress) -> bool:
        """Ask the command for another key, once for an item, when the server refuses the one it gave."""
        fault, key = call.reply.fault, self.settings.api_key
        if not isinstance(key, CommandKey) or progress.has_renewed_key:
            return False
        if fault is None or fault.stop is not StopReason.AUTH or call.attempt.http_status != _UNAUTHORIZED:
            return False
        progress.has_renewed_key = True
        await key.renew(call.key)
        return True

    def _give_up(self, call: Call, fault: Fault, progress: Progress) -> GradeOutcome:
        """Return the outcome of a fault that is not tried again."""
        if fault.stop is not None:
            message = call.attempt.message
            self._first_call.stop(StopNotice(reason=fault.stop, message=message))
            if fault.unscored is None:
                return progress.pending(fault.stop, message)
            return progress.finished(call, stop=fault.stop)
        self._first_call.open()
        if progress.output_factor > 1 and fault.unscored in _OUTGREW:
            # the doubled room was refused: what stands is that the reply was cut off
            call = next(earlier for earlier in reversed(progress.calls) if earlier.reply.fault is None)
        return progress.finished(call)

    async def _pause(self, fault: Fault, progress: Progress, gate: CallGate) -> GradeOutcome | None:
        """Wait before the next call; when the server asks for too long a wait, end the run instead."""
        if fault.wait_s is None:
            ceiling = min(BACKOFF_CAP_S, BACKOFF_FIRST_S * 2 ** (progress.n_counted - 1))
            await self._sleep(self._jitter() * ceiling)
            return None
        if fault.wait_s > self.settings.max_wait_s:
            is_rate = fault.unscored is UnscoredReason.RATE_LIMITED
            return progress.pending(
                StopReason.RATE_LIMITED if is_rate else StopReason.UNREACHABLE,
                f"the judge's server asks to wait {fault.wait_s:.0f} s, more than max_wait_s ="
                f" {self.settings.max_wait_s:g}; what is left waits for the next run",
            )
        await gate.pause(fault.wait_s)
        # the spread keeps items that wait together from coming back in the same instant
        await self._sleep(fault.wait_s + self._jitter() * min(SPREAD_CAP_S, fault.wait_s / 10))
        return None

    async def _call(self, progress: Progress, gate: CallGate) -> Call:
        """Make one call, with permission and on record."""
        factor = progress.output_factor
        max_cost = self._max_cost(progress.prompt_tokens, output_factor=factor)
        command = self.settings.api_key
        key = await command() if isinstance(command, CommandKey) else ""
        reservation = await gate.reserve(max_cost)
        plan = self._plan  # after the wait: another call may have learned something in the meantime
        if self._transport is None:
            self._transport = Transport(self.settings, now=self._now)
        started_utc, started = utc_text(self._now()), time.perf_counter()
        cost = max_cost
        try:
            body = plan.body(progress.prompt.messages, output_factor=factor)
            status, reply = await self._transport.post(encode_body(body))
            cost = self._cost(reply, max_cost)
        finally:
            reservation.settle(cost)  # also of a call that is cancelled: it may be paid for
        duration_ms = (time.perf_counter() - started) * 1e3
        verdict = self._read(reply)
        reason = self._reason(plan, reply, verdict, progress)
        attempt = Attempt(
            started_utc=started_utc,
            duration_ms=duration_ms,
            http_status=status,
            reason=reason,
            message=verdict.detail if reason is not None else "",
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cost_usd=cost,
            completion_id=reply.completion_id,
            completion_created=reply.created,
        )
        expected = self._expected_score(reply, verdict)
        return Call(plan=plan, reply=reply, verdict=verdict, attempt=attempt, key=key, expected_score=expected)

    def _read(self, reply: Reply) -> ParsedVerdict:
        """Return what the reply says; of a fault, why there is no score."""
        fault = reply.fault
        if fault is not None:
            reason = fault.unscored or UnscoredReason.PROVIDER_ERROR
            return ParsedVerdict(score=None, unscored_reason=reason, detail=self._without_secrets(fault.message))
        return parse_reply(
            reply.content,
            rubric=self.settings.rubric,
            finish_reason=reply.finish_reason,
            refusal=reply.refusal,
            reasoning=reply.thinking,
            score_field=self.settings.score_field,
            score_pattern=self.settings.score_pattern,
        )

    def _expected_score(self, reply: Reply, verdict: ParsedVerdict) -> float | None:
        if reply.logprobs is None or verdict.score is None or not self.settings.logprobs:
            return None
        return expected_score(
            reply.content or "",
            reply.logprobs,
            score=verdict.score,
            rubric=self.settings.rubric,
            score_field=self.settings.score_field,
            score_pattern=self.settings.score_pattern,
        )

    def _reason(self, plan: RequestPlan, reply: Reply, verdict: ParsedVerdict, progress: Progress) -> str | None:
        """Return the reason of an attempt. A refused parameter is learned here, before any other call is made."""
        fault = reply.fault
        if fault is None:
            return None if verdict.unscored_reason is None else verdict.unscored_reason.value
        may_learn = fault.unscored is UnscoredReason.INVALID_REQUEST and progress.n_adjusted < MAX_ADJUSTMENTS
        if may_learn and fault.error is not None:
            adjusted = adjust_plan(plan, message=fault.error.message, param=fault.error.param)
            if adjusted is not None:
                if self._plan is plan:
                    self._plan = adjusted
                return REFUSED_PARAMETER
        return fault.reason

    def _max_cost(self, prompt_tokens: int, *, output_factor: int = 1) -> float:
        price = self.settings.price
        return 0.0 if price is None else price.cost_usd(prompt_tokens, self.settings.max_tokens * output_factor)

    def _cost(self, reply: Reply, max_cost: float) -> float:
        """Return what a call cost, in USD; where nobody knows, all that was set aside for it."""
        price = self.settings.price
        if price is None:
            return 0.0
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            return price.cost_usd(reply.prompt_tokens, reply.completion_tokens)
        return 0.0 if reply.fault is not None and not reply.fault.may_cost else max_cost

    def _without_secrets(self, message: str) -> str:
        """Servers like to repeat the key they refuse; no record may hold it."""
        key = self.settings.api_key
        return hide_secrets(message, key) if isinstance(key, str) else hide_secrets(message)
