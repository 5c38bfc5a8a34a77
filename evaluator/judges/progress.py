"""What has been tried for one item: the calls made, what they came to, and whether one more is worth it. No network."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaluator.judges.prompts import RenderedPrompt
from evaluator.judges.replies import Reply
from evaluator.judges.requests import RequestPlan
from evaluator.records import Attempt, GradeOutcome, ParsedVerdict, StopReason, UnscoredReason

_READ_AGAIN = frozenset({UnscoredReason.EMPTY, UnscoredReason.UNPARSED})


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call that was made: what was sent, what came back, what it says, and its record."""

    plan: RequestPlan
    reply: Reply
    verdict: ParsedVerdict
    attempt: Attempt
    key: str = field(default="", repr=False)  # that a command gave for it
    expected_score: float | None = None


class Progress:
    """What has been tried for one item so far."""

    def __init__(self, prompt: RenderedPrompt, *, prompt_tokens: int) -> None:
        self.prompt = prompt
        self.prompt_tokens = prompt_tokens
        self.calls: list[Call] = []
        self.n_counted = 0
        self.n_adjusted = 0
        self.output_factor = 1
        self.was_read_again = False
        self.has_renewed_key = False

    def pending(self, stop: StopReason, message: str) -> GradeOutcome:
        """The item stays as it was, and the run ends."""
        attempts = tuple(call.attempt for call in self.calls)
        return GradeOutcome(
            verdict=None, attempts=attempts, prompt_cut=self.prompt.cut, stop=stop, stop_message=message
        )

    def finished(self, call: Call, *, stop: StopReason | None = None) -> GradeOutcome:
        """The item has the verdict of this call."""
        reply = call.reply
        return GradeOutcome(
            verdict=call.verdict,
            attempts=tuple(call.attempt for call in self.calls),
            instrument=None if reply.fault else call.plan.instrument(reply.model, reply.fingerprint),
            raw_reply=reply.content or "",
            finish_reason=reply.finish_reason,
            prompt_cut=self.prompt.cut,
            logprob_score=call.expected_score,
            stop=stop,
            stop_message=call.attempt.message if stop is not None else "",
        )

    def wants_another_reply(self, call: Call) -> bool:
        """Whether a reply without a score is worth one more call: cut off, with double the room; unreadable, as is."""
        reason = call.verdict.unscored_reason
        if reason is UnscoredReason.TRUNCATED and self.output_factor == 1:
            self.output_factor = 2
            return True
        if reason in _READ_AGAIN and not self.was_read_again:
            self.was_read_again = True
            return True
        return False
