"""What commands say of money: what a plan can cost, what was spent, what is left of today's budget. Words only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluator.cli.output import counted, usd

if TYPE_CHECKING:
    from evaluator.config import Config
    from evaluator.scoring.allowance import Allowance

GOES_ON = "the rest goes on tomorrow with the same command"
LOWERS_THE_SAMPLE = "the rest of this run is not graded today"


def at_most(amount: float | None, config: Config) -> str:
    """The most that a plan can cost, with a comma in front; empty where nothing is paid for."""
    if amount:
        return f", at most {usd(amount)}"
    if config.judge.function is not None:
        return ", at what the function spends"
    return ", price unknown" if amount is None else ""


def spent(amount: float, config: Config) -> str:
    """What was spent, with a comma in front; empty where nothing is paid for by tokens."""
    if amount or config.price is not None:
        return f", {usd(amount)}"
    is_own = config.judge.function is not None or config.judge.base_url == "local"
    return "" if is_own else ", price not known"


def budget_lines(left: Allowance, n_calls: int, most_usd: float | None, *, rest: str = GOES_ON) -> list[str]:
    """What is left of today's budget, and a warning when a plan does not fit into it.

    Args:
        left: What is left.
        n_calls: Calls that are planned.
        most_usd: The most that these can cost; None when it is not known.
        rest: What becomes of what does not fit.
    """
    known = [text for text in (_calls_left(left), _usd_left(left)) if text]
    if not known:
        return []
    lines = [f"budget: {' and '.join(known)} are left today"]
    if left.fits(n_calls, most_usd):
        return lines
    n_most = left.most_calls(n_calls)
    if n_most < n_calls:
        lines.append(f"warning: this does not fit: it will stop after {n_most:,} of {counted(n_calls, 'call')}; {rest}")
    else:
        lines.append(f"warning: this may not fit: it stops when the day's dollars are used up; {rest}")
    return lines


def _calls_left(left: Allowance) -> str:
    return "" if left.calls_per_day is None else f"{left.calls_left:,} of {counted(left.calls_per_day, 'call')}"


def _usd_left(left: Allowance) -> str:
    if left.usd_per_day is None or left.usd_left is None:
        return ""
    return f"{usd(left.usd_left)} of {usd(left.usd_per_day)}"
