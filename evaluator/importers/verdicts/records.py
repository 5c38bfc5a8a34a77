"""What a reader of stored scores yields: one score with the answer it was given to. Knows no file."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.records import Item


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredVerdict:
    """One score that somebody's own pipeline has stored, with the answer it was given to.

    Exactly one of ``score`` and ``unscored_reason`` is set.

    Attributes:
        item: The answer; its texts are empty when the row holds none. Without a time of its own it has the graded time,
            marked ``ItemFlag.GIVEN_TIME``.
        score: As it stands in the file; labels such as pass and fail are 1 and 0.
        unscored_reason: A value of ``UnscoredReason``, when the score is missing.
        graded_utc: When it was graded, UTC with milliseconds and a trailing Z; None when nothing says so.
        judge: Name of the judge, None when nothing says so.
        criterion: What was graded.
        explanation: The judge's own words.
        row_number: Line of the file, or position in its list; a row with several criteria has one number.
        ordinal: Position among equal rows without an id, for ``identity.base_item_id``.
        is_label: Whether the score stood there as a word, like pass.
        detail: What stood in the place of a missing score.
    """

    item: Item
    score: float | None
    unscored_reason: str | None
    graded_utc: str | None
    judge: str | None
    criterion: str
    explanation: str
    row_number: int
    ordinal: int = 0
    is_label: bool = False
    detail: str = ""
