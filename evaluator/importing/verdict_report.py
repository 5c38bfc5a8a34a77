"""What came of an import of stored scores, as it is told."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.importing.file_set import FilesRead


@dataclass(frozen=True, kw_only=True)
class JudgeReport:
    """What came of the scores of one judge and criterion.

    Attributes:
        judge, criterion: Their names.
        setup: Number of the judge setup; None when nothing was stored.
        ruler_id: Its id; None without a single score.
        scale_low, scale_high, scale_how: The scale, and how it was told.
        n_scored, n_missing: Answers with and without a score.
        n_new, n_known, n_other, n_earlier: As in ``store.write.PairCounts``.
        first_day, last_day, n_days: Days of the answers.
        mean, low, high, level: Mean of all scores of the setup with its interval; None when nothing was stored.
        is_bridged: Whether the configured judge's anchors speak for it.
    """

    judge: str
    criterion: str
    setup: int | None
    ruler_id: str | None
    scale_low: float | None
    scale_high: float | None
    scale_how: str
    n_scored: int
    n_missing: int
    n_new: int
    n_known: int
    n_other: int
    n_earlier: int
    first_day: str | None
    last_day: str | None
    n_days: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    is_bridged: bool = False


@dataclass(frozen=True, kw_only=True)
class VerdictReport(FilesRead):
    """What came of an import of scores.

    Attributes:
        files: What each file held.
        judges: What came of each judge and criterion.
        stored: Whether it is in the store; False after a dry run, and where rejects kept everything out.
        created: Whether the database was made for it.
        zone: Zone of the store's days.
        n_new_answers: Answers added.
        n_bare: Of these, answers of which only an id is known.
        redaction: What was taken out before anything was written, in words.
    """

    judges: tuple[JudgeReport, ...]
    stored: bool
    created: bool
    zone: str
    n_new_answers: int
    n_bare: int
    redaction: str

    @property
    def n_scored(self) -> int:
        """Answers with a score, of all judges and criteria."""
        return sum(judge.n_scored for judge in self.judges)
