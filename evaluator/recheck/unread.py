"""Why most replies of a recheck could not be read: which setting says where the score stands, and how a reply begins.

Says something only of replies that came and hold no usable score; what else failed is said by the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.config import JudgeConfig
from evaluator.records import UnscoredReason
from evaluator.store import read
from evaluator.store.db import Store

_START_CHARS = 80
_NOT_READ = frozenset(
    {
        UnscoredReason.MISSING,
        UnscoredReason.WRONG_TYPE,
        UnscoredReason.NOT_FINITE,
        UnscoredReason.NOT_A_NUMBER,
        UnscoredReason.OUT_OF_RANGE,
        UnscoredReason.FOREIGN_SCALE,
        UnscoredReason.AMBIGUOUS,
        UnscoredReason.UNPARSED,
    }
)


def why_unread(store: Store, recheck_id: str, judge: JudgeConfig, *, show_reply: bool) -> str:
    """Say where the score was looked for, and how one of the replies begins; empty where that was not the trouble.

    Args:
        store: A store, read-only is enough.
        recheck_id: The recheck.
        judge: The configured judge.
        show_reply: Whether words of the judge may be shown: those that are not to be kept are not.
    """
    rows = read.recheck_scores(store, recheck_id)
    unread = [row for row in rows if row["unscored_reason"] in _NOT_READ]
    if not unread or len(unread) * 2 < sum(row["unscored_reason"] is not None for row in rows):
        return ""
    begins = _start_of(store, unread) if show_reply else ""
    return _where(judge) + (f"; one of these replies begins {begins!r}" if begins else "")


def _where(judge: JudgeConfig) -> str:
    if judge.score_pattern is not None:
        return f"the score is what judge.score_pattern = {judge.score_pattern!r} finds in a reply"
    if judge.score_field is not None:
        return (
            f"the score is looked for at judge.score_field = {judge.score_field!r} (judge.score_pattern finds it in"
            " prose)"
        )
    return "judge.score_field says where in a reply the score stands, judge.score_pattern finds it in prose"


def _start_of(store: Store, unread: Sequence[Mapping[str, Any]]) -> str:
    """How the first reply begins that is stored, on one line."""
    for row in unread:
        verdicts = read.verdicts_of_item(store, row["item_id"])
        reply = next((verdict["raw_reply"] for verdict in verdicts if verdict["verdict_id"] == row["verdict_id"]), "")
        if reply:
            return " ".join(reply.split())[:_START_CHARS]
    return ""
