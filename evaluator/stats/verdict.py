"""What is said of a change that was split into shares: the result, the verdict, and both in plain words.

The numbers come from ``attribution``; nothing is estimated here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluator.stats.intervals import Finding, classify
from evaluator.stats.shares import rounded_to_add_up

Look = Literal["changed", "steady", "no change shown", "cannot tell yet", "not looked at"]
Verdict = Literal["judge", "assistant", "both", "mix", "undecided", "nothing"]

_LOOKS: dict[Finding, Look] = {
    Finding.CHANGED_UP: "changed",
    Finding.CHANGED_DOWN: "changed",
    Finding.STEADY: "steady",
    Finding.NO_CHANGE_SHOWN: "no change shown",
    Finding.CANNOT_TELL: "cannot tell yet",
}


@dataclass(frozen=True, kw_only=True)
class Share:
    """A change, or a share of it, in units of the scale.

    Attributes:
        estimate: None where nothing can be said.
        low: Lower bound; None where there is no interval.
        high: Upper bound; None where there is no interval.
        look: "changed"; "steady" (the whole interval lies within the tolerance); "no change shown" (it holds zero and
            is wider); "cannot tell yet" (no interval, or not sure enough after a change of the judge); "not looked at".
    """

    estimate: float | None
    low: float | None
    high: float | None
    look: Look


@dataclass(frozen=True, kw_only=True)
class PrintedShares:
    """Shares as they are printed: rounded so that judge, assistant and mix add up to raw."""

    raw: float
    judge: float
    assistant: float
    mix: float


@dataclass(frozen=True, kw_only=True)
class Attribution:
    """A change of the mean and whose it is. ``judge``, ``assistant`` and ``mix`` add up to ``raw``.

    Attributes:
        raw: Mean after less mean before, as the judge of each period gave it.
        judge: What the judge gives more for the same answers.
        assistant: Change of the answers within each kind of question.
        mix: Change from asking other questions; 0 and "not looked at" without segments.
        verdict: "judge", "assistant" or "both" moved; only the "mix" did; "nothing" did, and the intervals are within
            the tolerance's width; otherwise "undecided".
        more_answers: Answers after that it takes, beside those there are, until the assistant's interval is no wider
            than the tolerance to either side; 0 when it is, None when they never make it so.
        more_days: The same in days, at the present rate of answers a run and one run a day.
        more_anchors: Anchors that would do the same instead; None when they never make it so.
        more_together: Neither would do alone; so many answers and so many anchors together would.
        n_before: Scored answers before.
        n_after: Scored answers after.
        n_clusters: Clusters in the period that has fewer.
        n_anchors: Anchors used.
        df: Degrees of freedom of the intervals; None without intervals.
        level: Coverage of the intervals.
        tolerance: Largest change that does not matter.
        method: How; with the reason where only an offset was used.
        reason: Why there are no shares, or no intervals; None when there are.
    """

    raw: Share
    judge: Share
    assistant: Share
    mix: Share
    verdict: Verdict
    more_answers: int | None
    more_days: int | None
    more_anchors: int | None
    more_together: bool
    n_before: int
    n_after: int
    n_clusters: int
    n_anchors: int
    df: float | None
    level: float
    tolerance: float
    method: str
    reason: str | None

    def at_digits(self, digits: int) -> PrintedShares | None:
        """Shares rounded to so many digits that add up as printed; None where there are none.

        Raises:
            ValueError: digits negative.
        """
        known = [share.estimate for share in (self.judge, self.assistant, self.mix) if share.estimate is not None]
        if self.raw.estimate is None or len(known) < 3:
            return None
        raw, parts = rounded_to_add_up(self.raw.estimate, known, digits=digits)
        return PrintedShares(raw=raw, judge=parts[0], assistant=parts[1], mix=parts[2])

    def sentence(self, digits: int = 2) -> str:
        """Say it in plain words, with numbers of so many digits.

        Raises:
            ValueError: digits negative.
        """
        printed = self.at_digits(digits)
        if printed is None:
            raw = "an unknown change" if self.raw.estimate is None else _signed(self.raw.estimate, digits)
            return f"of {raw}, nothing can be said of judge and assistant: {self.reason}"
        said = [
            f"the judge accounts for {_words(printed.judge, self.judge, digits)}",
            f"the assistant for {_words(printed.assistant, self.assistant, digits)}",
        ]
        if self.mix.look != "not looked at":
            said.append(f"a changed mix of questions for {_words(printed.mix, self.mix, digits)}")
        return f"of {_signed(printed.raw, digits)}, {'; '.join(said)}{self._what_is_missing()}"

    def _what_is_missing(self) -> str:
        if self.verdict != "undecided":
            return ""
        wanted = []
        if self.more_days:
            wanted.append(f"about {_counted(self.more_days, 'more day')}")
        if self.more_anchors:
            wanted.append(f"{_counted(self.more_anchors, 'more anchor')}")
        return ". Cannot tell yet" + (
            f": it takes {(' and ' if self.more_together else ' or ').join(wanted)}" if wanted else ""
        )


def look_of(low: float | None, high: float | None, tolerance: float) -> Look:
    """The word for an interval; see ``Share``."""
    return _LOOKS[classify(low, high, tolerance)]


def decide(judge: Share, assistant: Share, mix: Share, *, tolerance: float, raw: Share | None = None) -> Verdict:
    """Say whose the change is, from what is to be said of each share; see ``Attribution.verdict``.

    A raw change that none of the three accounts for is undecided; without ``raw`` only the shares are looked at.
    """
    by_judge, by_assistant = judge.look == "changed", assistant.look == "changed"
    if by_judge or by_assistant:
        return "both" if by_judge and by_assistant else "judge" if by_judge else "assistant"
    if mix.look == "changed":
        return "mix"
    is_open = (raw is not None and raw.look == "changed") or not _all_narrow((judge, assistant), tolerance)
    return "undecided" if is_open else "nothing"


def _all_narrow(shares: Sequence[Share], tolerance: float) -> bool:
    """Whether each interval is no wider than the tolerance to either side, and none is waiting for more."""
    for share in shares:
        if share.low is None or share.high is None or share.look == "cannot tell yet":
            return False
        if share.high - share.low > 2 * tolerance:
            return False
    return True


def _words(printed: float, share: Share, digits: int) -> str:
    """A share with its interval, and what that shows where it is not a change."""
    if share.low is None or share.high is None:
        return f"{_signed(printed, digits)} (no interval)"
    look = "" if share.look == "changed" else f" ({share.look})"
    return f"{_signed(printed, digits)}, between {_plain(share.low, digits)} and {_plain(share.high, digits)}{look}"


def _signed(value: float, digits: int) -> str:
    """With its sign and a real minus; zero has none."""
    text = f"{value:+.{digits}f}"
    return _plain(0.0, digits) if float(text) == 0 else text.replace("-", "−")


def _plain(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")
