"""Reads files of stored scores one after the other for the store, notes their rejects, and counts what they hold.

What a row means is the importers' business; what becomes of it is ``evaluator.importing.verdicts``'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluator.errors import DataFileError
from evaluator.identity import EqualCounter, base_item_id
from evaluator.importers.base import Reject
from evaluator.importers.verdicts import StoredVerdict, VerdictStream, iter_verdicts
from evaluator.importing.file_set import FileReport, FileSet, KeptOutError, RejectLog, Stop, never
from evaluator.importing.redacting import redacted, redacted_reject, redacted_text
from evaluator.importing.verdict_scale import (
    UNIT_FORMATS,
    UNKNOWN_JUDGE,
    Bounds,
    ScaleFound,
    ScoreTally,
    find_scale,
    judge_scale_of,
)
from evaluator.records import Item
from evaluator.redaction import RedactionError, Redactor
from evaluator.store.write import ImportedScore

MOST_JUDGES = 50
MOST_CRITERIA = 100

Pair = tuple[str | None, str]  # judge, criterion


@dataclass(frozen=True, kw_only=True)
class VerdictReading:
    """How files of scores are read; see ``evaluator.importers.verdicts.iter_verdicts``.

    Attributes:
        only: Criteria that are taken; all when empty.
        scale: Lowest and highest score of all of them; found from the numbers when None.
        judge_scale: That of the configured judge, taken where the numbers lie within it and reach its upper half; None
            without a configured judge.
        redactor: Takes personal data out before anything is written.
        keep_reasons: Whether the judge's own words are kept.
        stop: Whether to give up; then nothing of the files is taken in.
    """

    format: str | None = None
    field_map: Mapping[str, str] = field(default_factory=dict)
    naive_zone: str = "UTC"
    time_format: str | None = None
    encoding: str = "utf-8"
    judge: str | None = None
    criterion: str | None = None
    graded_at: str | None = None
    only: tuple[str, ...] = ()
    scale: Bounds | None = None
    judge_scale: Bounds | None = None
    redactor: Redactor | None = None
    keep_reasons: bool = True
    stop: Stop = never

    def stream(self, path: Path) -> VerdictStream:
        """Return the scores of a file.

        Raises:
            UsageError: a setting that cannot be used.
            DataFileError: the file as a whole cannot be read.
        """
        return iter_verdicts(
            path,
            format=self.format,
            field_map=self.field_map,
            naive_zone=self.naive_zone,
            time_format=self.time_format,
            encoding=self.encoding,
            default_judge=self.judge,
            default_criterion=self.criterion,
            default_graded_utc=self.graded_at,
        )


class VerdictFilesReader:
    """Reads files as scores, and counts what it sees.

    Args:
        paths: The files.
        app: The app the answers belong to.
        reading: How the files are read.
        rejects: Receives the rows that cannot be used.
        skip_bad: Whether readable rows count although there are rejects.

    Raises:
        DataFileError: a file cannot be read.
    """

    def __init__(
        self, paths: Sequence[Path], app: str, reading: VerdictReading, rejects: RejectLog, *, skip_bad: bool
    ) -> None:
        self.file_set = FileSet(paths, rejects, skip_bad=skip_bad, stop=reading.stop)
        self._app = app
        self._reading = reading
        self.known: dict[Pair, Bounds] = {}  # scales of earlier imports, by judge and criterion
        self.files: list[FileReport] = []
        self.tallies: dict[Pair, ScoreTally] = {}
        self.formats: Counter[str] = Counter()
        self._numbers: dict[Pair, int] = {}
        self._equals: dict[Pair, EqualCounter] = {}
        self._last: tuple[Item, Item] | None = None
        self._n_timed = 0
        self._untimed: str | None = None
        self.found: Counter[str] = Counter()

    @property
    def n_scored(self) -> int:
        """Scores of all pairs."""
        return sum(tally.n for tally in self.tallies.values())

    def scores(self) -> Iterator[ImportedScore]:
        """Yield each score; after a reject that keeps everything out, nothing more.

        Raises:
            DataFileError: a file cannot be used, or changed since this reader was made; or no row has a time.
            KeptOutError: at the end, when a reject keeps everything out, or there is nothing to store.
        """
        for path in self.file_set.paths:
            yield from self._scores_of(path)
        if self._untimed is not None and not self._n_timed:
            raise DataFileError(
                f"{self._untimed}: no row says when it was graded; name the column with --field graded_at=COLUMN, or"
                " give all of them one time with --graded-at TIME"
            )
        if self.file_set.keeps_out or not self.n_scored:
            raise KeptOutError

    def _scores_of(self, path: Path) -> Iterator[ImportedScore]:
        stream = self._reading.stream(path)
        n_more = 0
        for entry in self.file_set.watched(path, stream):
            found = entry if isinstance(entry, Reject) else self._take(path, entry, stream.format)
            if isinstance(found, Reject):
                n_more += not isinstance(entry, Reject)
                shown = redacted_reject(found, self._reading.redactor)
                self.file_set.reject(path, shown, n_usable=self._n_timed)
            elif found is not None and not self.file_set.keeps_out:
                yield found
        self.file_set.check_unchanged(path)
        self.formats[stream.format] += 1
        self.files.append(
            FileReport(
                path=str(path),
                n_rows=stream.n_rows,
                n_blank=stream.n_blank,
                n_rejected=stream.n_rejected + n_more,
                notes=stream.notes,
            )
        )

    def _take(self, path: Path, entry: StoredVerdict, found_format: str) -> ImportedScore | Reject | None:
        """Count one verdict and make it ready; None when its criterion is not wanted."""
        if self._reading.only and entry.criterion not in self._reading.only:
            return None
        if entry.graded_utc is None:
            self._untimed = self._untimed or str(path)
            return Reject.of(entry.row_number, "no time of grading")
        self._n_timed += 1
        pair = (entry.judge, entry.criterion)
        number, tally = self._number(path, pair), self.tallies[pair]
        if entry.score is not None:
            off = _off_scale(entry.score, self._hint(pair, found_format))
            if off is not None:
                return Reject.of(entry.row_number, f"{entry.criterion}: {off}")
            tally.add(entry.score, is_label=entry.is_label, place=f"{path}, line {entry.row_number}")
        else:
            tally.n_missing += 1
        return self._ready(entry, pair, number)

    def _ready(self, entry: StoredVerdict, pair: Pair, number: int) -> ImportedScore | Reject:
        redactor, item, ordinal = self._reading.redactor, entry.item, entry.ordinal
        if redactor is not None:
            try:
                item = self._redacted(entry.item, redactor)
            except RedactionError as error:
                return Reject(line_number=entry.row_number, reason=f"{error}; nothing of the row is kept")
            # rows that differ only in what was taken out are equal now, and are told apart by their position
            ordinal = self._equals.setdefault(pair, EqualCounter()).position(item)
        return ImportedScore(
            item_id=base_item_id(self._app, item, ordinal),
            item=item,
            pair=number,
            score=entry.score,
            reason=entry.unscored_reason,
            detail=redacted_text(entry.detail, redactor),
            graded_utc=entry.graded_utc or "",
            explanation=redacted_text(entry.explanation, redactor) if self._reading.keep_reasons else "",
        )

    def _redacted(self, item: Item, redactor: Redactor) -> Item:
        """The item without personal data; the several scores of one row share one."""
        if self._last is None or self._last[0] is not item:
            before = Counter(redactor.counts)
            self._last = item, redacted(item, redactor)
            self.found += redactor.counts - before
        return self._last[1]

    def _number(self, path: Path, pair: Pair) -> int:
        number = self._numbers.get(pair)
        if number is not None:
            return number
        self._numbers[pair] = number = len(self._numbers)
        self.tallies[pair] = ScoreTally()
        for place, (field_name, most) in enumerate((("judge", MOST_JUDGES), ("criterion", MOST_CRITERIA))):
            names = list(dict.fromkeys(known[place] for known in self._numbers))
            if len(names) > most:
                shown = ", ".join(repr(name) for name in names[:3])
                raise DataFileError(
                    f"{path}: more than {most} different names of the {field_name} ({shown}, ...): that column looks"
                    f" like an id; name the right one with --field {field_name}=COLUMN, or none with"
                    f" --field {field_name}= and --{field_name} NAME; nothing is stored"
                )
        return number

    def _hint(self, pair: Pair, found_format: str) -> tuple[Bounds, str] | None:
        """A scale that is known before the scores are read, and how."""
        if self._reading.scale is not None:
            return self._reading.scale, "given with --scale"
        if pair in self.known:
            return self.known[pair], "as in earlier imports of this judge and criterion"
        return ((0.0, 1.0), f"scores of {found_format}") if found_format in UNIT_FORMATS else None

    def scales(self) -> list[ScaleFound | None]:
        """Return the scale of each pair, in the order of their numbers; None for one that never had a score.

        Raises:
            DataFileError: the numbers of one fit two scales, or none.
        """
        only_format = next(iter(self.formats)) if len(self.formats) == 1 else ""
        return [
            find_scale(
                pair_name(pair),
                tally,
                hint=self._hint(pair, only_format) or judge_scale_of(tally, self._reading.judge_scale),
                is_unit_format=only_format == "ragas",
            )
            if tally.n or pair in self.known
            else None
            for pair, tally in self.tallies.items()
        ]


def _off_scale(score: float, hint: tuple[Bounds, str] | None) -> str | None:
    """Why a score cannot be on a scale that is known; None when it can, or when none is known."""
    if hint is None or hint[0][0] <= score <= hint[0][1]:
        return None
    (low, high), how = hint
    return (
        f"the score {score:g} is off the scale {low:g} to {high:g} ({how}); another scale is named with --scale MIN MAX"
    )


def pair_name(pair: Pair) -> str:
    """A judge and a criterion in words."""
    return f"{pair[0] or UNKNOWN_JUDGE}, {pair[1]}"
