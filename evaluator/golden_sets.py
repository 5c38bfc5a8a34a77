"""Tells anchors from a golden set whose answers are generated anew each time, and refuses the latter before any call.

Such a set has the same questions and other answers every night. Its scores move when the assistant moves, so they
cannot tell what the judge did: an anchor must be the same text each time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.errors import DataFileError
from evaluator.records import Anchor
from evaluator.store import read
from evaluator.store.db import Store

LEAST_CHANGED = 3  # fewer are an edit, not a set that is generated anew
LEAST_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class AnswerChanges:
    """Two sets compared by their questions: answers to shared questions, and how many of them differ."""

    n_shared: int
    n_changed: int

    @property
    def generated_anew(self) -> bool:
        """Whether so many answers differ that nobody has edited them by hand."""
        return self.n_changed >= LEAST_CHANGED and self.n_changed >= LEAST_SHARE * self.n_shared


def compare_answers(before: Sequence[Anchor], now: Sequence[Anchor]) -> AnswerChanges:
    """Count the questions that two sets share and that are answered otherwise in the second.

    A question may have several answers in a set; an answer that is only added or only taken away is no change. White
    space around and within a question does not make it another one.
    """
    old, new = _answers_by_question(before), _answers_by_question(now)
    n_shared = n_changed = 0
    for question in old.keys() & new.keys():
        n_pairs = min(old[question].total(), new[question].total())
        n_shared += n_pairs
        n_changed += n_pairs - min(n_pairs, (old[question] & new[question]).total())
    return AnswerChanges(n_shared=n_shared, n_changed=n_changed)


def _answers_by_question(anchors: Sequence[Anchor]) -> dict[str, Counter[str]]:
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for anchor in anchors:
        answers[" ".join(anchor.item.input.split())][anchor.item.output] += 1
    return answers


def check_same_answers(store: Store, *, app: str, name: str, anchors: Sequence[Anchor]) -> None:
    """Compare an anchor set with the one of the same name that the last scheduled run used.

    Raises:
        DataFileError: it has the same questions but other answers.
    """
    used = read.anchor_set_in_use(store, app, name)
    if used is None:
        return
    day, before = used
    stored = [anchor for anchor in before if anchor.item.output]  # texts need not be kept
    changes = compare_answers(stored, anchors)
    if changes.generated_anew:
        raise DataFileError(
            f"anchor set {name}: {changes.n_changed} of {changes.n_shared} anchors have the same question but another"
            f" answer than in the set used on {day}. {why_no_anchors()} Put the answers of {day} back, or, if this set"
            " replaces that one for good, give its file a new name and name that in [anchors] set"
        )


def why_no_anchors() -> str:
    """Why answers that are generated anew cannot be anchors, in words."""
    return (
        "Answers that are generated anew measure the assistant as well; anchors must be the same texts in every run, or"
        " a change of the judge cannot be told from a change of the assistant."
    )
