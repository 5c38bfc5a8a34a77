"""Reads scores that somebody's own pipeline has stored: one file beside this one a format, one line here registers it.

A format turns its file into plain rows (``formats.py`` and the files it names); ``stream.py`` makes verdicts of rows;
``columns.py`` says which column holds the score, ``scores.py`` what its cell says. Nothing here writes, and no score
is made up: a missing one stays missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evaluator.importers.base import UTF8, Limits, Reject, Tally, check_encoding
from evaluator.importers.verdicts.columns import VERDICT_FIELDS
from evaluator.importers.verdicts.content import look_ahead
from evaluator.importers.verdicts.formats import FORMATS, detect_verdict_format, read_verdict_rows
from evaluator.importers.verdicts.records import StoredVerdict
from evaluator.importers.verdicts.stream import VerdictConverter, VerdictStream

__all__ = [
    "FORMATS",
    "Reject",
    "StoredVerdict",
    "VerdictStream",
    "detect_verdict_format",
    "iter_verdicts",
]


def iter_verdicts(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word of the option that users type
    field_map: Mapping[str, str] | None = None,
    naive_zone: str = "UTC",
    time_format: str | None = None,
    encoding: str = UTF8,
    default_judge: str | None = None,
    default_criterion: str | None = None,
    default_graded_utc: str | None = None,
    limits: Limits | None = None,
) -> VerdictStream:
    """Read a file of any size: iterate over the result for a ``StoredVerdict`` or a ``Reject``.

    A row with a column for each of several criteria yields one verdict for each. A score that is missing is a verdict
    without one; what cannot be a score is a reject.

    Args:
        path: The file.
        format: A name of ``FORMATS``; found from the file when None.
        field_map: Field to column: those of ``iter_items``, and score, graded_at, judge, criterion, explanation. An
            empty column means that there is none.
        naive_zone: Zone of times that name none.
        time_format: As of ``datetime.strptime``, for times that are no ISO times.
        encoding: How text is written in the file.
        default_judge: The judge of rows that name none.
        default_criterion: The criterion of rows that name none.
        default_graded_utc: The time of rows that have none.
        limits: Bounds; the defaults when None.

    Raises:
        UsageError: a setting that cannot be used.
        DataFileError: the file as a whole cannot be used; also raised while it is read, when no column or more than one
            may be the score.
    """
    path, limits, tally = Path(path), limits or Limits(), Tally()
    source = read_verdict_rows(path, format=format, limits=limits, tally=tally, encoding=check_encoding(encoding))
    contents, rows = look_ahead(source.rows, frozenset(VERDICT_FIELDS["score"]))
    converter = VerdictConverter(
        field_map=field_map,
        metrics=source.metrics,
        contents=contents,
        naive_zone=naive_zone,
        time_format=time_format,
        default_judge=default_judge,
        default_criterion=default_criterion,
        default_graded_utc=default_graded_utc,
        limits=limits,
    )
    return VerdictStream(str(path), rows, converter, tally, format=source.format)
