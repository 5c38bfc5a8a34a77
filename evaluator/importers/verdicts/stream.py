"""Rows to stored verdicts, one pass with flat memory, with the counts that belong to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from evaluator.errors import DataFileError, UsageError
from evaluator.identity import EqualCounter
from evaluator.importers.base import Limits, Reject, Row, Tally
from evaluator.importers.fields import RowConverter, RowError
from evaluator.importers.messages import json_text
from evaluator.importers.paths import MISSING, follow, same_name
from evaluator.importers.text import excerpt, repair_text
from evaluator.importers.times import UnreadableTimeError, check_time_format, load_zone, parse_time
from evaluator.importers.verdicts.columns import VERDICT_FIELDS, VerdictPlan, VerdictPlanner
from evaluator.importers.verdicts.content import Contents
from evaluator.importers.verdicts.records import StoredVerdict
from evaluator.importers.verdicts.scores import NoScoreError, ReadScore, is_blank, read_score
from evaluator.records import Item, ItemFlag, UnscoredReason

DEFAULT_CRITERION = "score"
_NO_TEXT = "__no_text__"  # stands in for the column of the answer where a file has none
_MAX_PLANS = 1000
_COLUMNS_SHOWN = 30
_DETAIL_CHARS = 200
_WHOLE_SECONDS = len("2026-03-01T09:00:00Z")


class VerdictConverter:
    """Turns rows of one file into verdicts.

    Args:
        field_map: Field to column name, for columns that are named otherwise.
        metrics: Columns that hold scores whatever their name.
        contents: What stands in the columns.
        naive_zone: Zone of times that name none.
        time_format: How to read times that are no ISO times.
        default_judge: The judge of rows that name none.
        default_criterion: The criterion of rows that name none.
        default_graded_utc: The time of rows that have none.
        limits: Bounds of ids and tags.

    Raises:
        UsageError: a setting that cannot be used.
    """

    def __init__(
        self,
        *,
        field_map: Mapping[str, str] | None = None,
        metrics: Sequence[str] = (),
        contents: Contents | None = None,
        naive_zone: str = "UTC",
        time_format: str | None = None,
        default_judge: str | None = None,
        default_criterion: str | None = None,
        default_graded_utc: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.planner = VerdictPlanner(field_map, metrics, contents)
        self._zone = load_zone(naive_zone)
        self._time_format = None if time_format is None else check_time_format(time_format)
        self._limits = limits or Limits()
        self._judge, self._criterion = default_judge, default_criterion
        self._default_graded = self._given_time(default_graded_utc)
        fields = self.planner.item_fields
        self._items, self._bare = (
            RowConverter(field_map=columns, naive_zone=naive_zone, time_format=time_format, limits=limits)
            for columns in (fields, {**_without(fields, "output"), "output": _NO_TEXT})
        )
        self._plans: dict[tuple[str, ...], VerdictPlan] = {}
        self._equals: dict[tuple[str | None, str], EqualCounter] = {}
        self._counts: Counter[str] = Counter()
        self.columns: dict[str, None] = {}
        self.found: set[str] = set()

    def _given_time(self, value: str | None) -> str | None:
        try:
            return _with_milliseconds(parse_time(value, naive_zone=self._zone).utc)
        except UnreadableTimeError as error:
            raise UsageError(f"time for scores without one: {error}") from error

    @property
    def knows_answers(self) -> bool:
        """Whether any row had a column that says which answer was graded: a text of it, or its id."""
        texts = ("input", "output", "id")
        return any(self._items.planner.found(field) for field in texts) or any(
            self._bare.planner.found(field) for field in texts if field != "output"
        )

    def notes(self) -> tuple[str, ...]:
        """Return what was left out or assumed, one sentence each."""
        own = {
            "naive": "times of grading that name no zone, read in the zone of naive times",
            "given": "rows without a time of the answer; the time of grading was taken",
        }
        counted = tuple(f"{text} ({self._counts[key]:,})" for key, text in own.items() if self._counts[key])
        return (*counted, *self._items.notes(), *self._bare.notes())

    def convert(self, row: Row) -> list[StoredVerdict | Reject]:
        """Return a verdict, or a reject in its place, for each criterion of a row.

        Raises:
            RowError: the row has no score column, or a time or an id that cannot be read.
            DataFileError: more than one column may be the score.
        """
        values = self._with_paths(row.values) if self.planner.paths else row.values
        plan = self._plan(tuple(values))
        if not plan.scores:
            raise RowError("no column for the score")
        graded = self._graded(values, plan)
        item = self._item(values, plan, graded)
        judge = self._text(values, plan.judge) or self._judge
        explanation = self._text(values, plan.explanation)
        named = self._text(values, plan.criterion)
        found: list[StoredVerdict | Reject] = []
        for key, metric in plan.scores:
            criterion = (metric if metric and not named else named) or self._criterion or DEFAULT_CRITERION
            try:
                score = read_score(values[key], column=key, explanation=explanation)
            except NoScoreError as error:
                found.append(Reject.of(row.line_number, str(error), _start_of(values)))
                continue
            if score.reason is UnscoredReason.MISSING and plan.errors:
                score = self._failed(values, plan, score)
            found.append(self._verdict(row, item, score, graded, judge, criterion, explanation))
        return found

    def _verdict(
        self,
        row: Row,
        item: Item,
        score: ReadScore,
        graded: str | None,
        judge: str | None,
        criterion: str,
        explanation: str,
    ) -> StoredVerdict:
        equals = self._equals.setdefault((judge, criterion), EqualCounter()) if item.external_id is None else None
        return StoredVerdict(
            item=item,
            score=score.score,
            unscored_reason=score.reason,
            graded_utc=graded,
            judge=judge,
            criterion=criterion,
            explanation=explanation,
            row_number=row.line_number,
            ordinal=0 if equals is None else equals.position(item),
            is_label=score.is_label,
            detail=score.detail,
        )

    def _with_paths(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The row with a column for each field that was named by a path; a key of that name is left as it is."""
        found = {
            column: follow(values, steps) for column, steps in self.planner.paths if same_name(values, column) is None
        }
        return {**values, **{column: value for column, value in found.items() if value is not MISSING}}

    def _failed(self, values: Mapping[str, Any], plan: VerdictPlan, score: ReadScore) -> ReadScore:
        """A missing score with what the row says of why it is missing."""
        text = self._text(values, plan.errors)
        return score if is_blank(text) else replace(score, detail=excerpt(text, _DETAIL_CHARS))

    def _plan(self, keys: tuple[str, ...]) -> VerdictPlan:
        plan = self._plans.get(keys)
        if plan is None:
            plan = self.planner.plan(keys)
            if len(self._plans) < _MAX_PLANS:  # a file whose rows all differ must not fill the memory
                self._plans[keys] = plan
                self.columns.update(dict.fromkeys(keys))
            fields = ("graded_at", "judge", "criterion", "explanation")
            self.found.update(name for name in fields if getattr(plan, name))
            if plan.scores:
                self.found.add("score")
        return plan

    def _item(self, values: Mapping[str, Any], plan: VerdictPlan, graded: str | None) -> Item:
        kept = {key: values[key] for key in plan.item_keys}
        has_texts = bool(self._items.locate(kept)[1].output)
        item = self._items.convert(kept) if has_texts else self._bare.convert({**kept, _NO_TEXT: ""})
        if item.answered_utc is not None or graded is None:
            return item
        self._counts["given"] += 1
        flags = (item.flags - {ItemFlag.NO_TIME}) | {ItemFlag.GIVEN_TIME}
        return replace(item, answered_utc=graded, flags=flags)

    def _graded(self, values: Mapping[str, Any], plan: VerdictPlan) -> str | None:
        for key in plan.graded_at:
            try:
                parsed = parse_time(values[key], naive_zone=self._zone, time_format=self._time_format)
            except UnreadableTimeError as error:
                raise RowError(f"{key}: {error}") from error
            if parsed.utc is not None:
                self._counts["naive"] += parsed.naive
                return _with_milliseconds(parsed.utc)
        return self._default_graded

    def _text(self, values: Mapping[str, Any], keys: tuple[str, ...]) -> str:
        for key in keys:
            value = values[key]
            text = (value if isinstance(value, str) else "" if value is None else json_text(value)).strip()
            if text:
                return repair_text(text)[0]
        return ""


def _without(fields: Mapping[str, str], field: str) -> dict[str, str]:
    return {name: column for name, column in fields.items() if name not in (field, field + "s")}


def _with_milliseconds(utc: str | None) -> str | None:
    """The form in which times of grading are stored and sorted."""
    return f"{utc[:-1]}.000Z" if utc is not None and len(utc) == _WHOLE_SECONDS else utc


class VerdictStream:
    """The verdicts and rejects of one file, in its order; can be read once. Counts and notes are complete at its end.

    Attributes:
        format: How the file was read.
        n_rows: Rows so far.
        n_verdicts: Verdicts so far; a row with several criteria has several.
        n_rejected: Rejects so far.
    """

    def __init__(
        self,
        name: str,
        rows: Iterable[Row | Reject],
        converter: VerdictConverter,
        tally: Tally,
        *,
        format: str,  # noqa: A002 - the word of the option that users type
    ) -> None:
        self.format = format
        self.n_rows = self.n_verdicts = self.n_rejected = 0
        self._name, self._rows, self._converter, self._tally = name, rows, converter, tally

    @property
    def n_blank(self) -> int:
        """Blank lines so far."""
        return self._tally.n_blank

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or assumed so far, one sentence each."""
        return self._converter.notes()

    def __iter__(self) -> Iterator[StoredVerdict | Reject]:
        """Yield a verdict or a reject for each score of each row.

        Raises:
            DataFileError: no column may be the score, or more than one, or a column that was named is missing.
        """
        line_number = None
        for row in self._rows:
            if row.line_number != line_number:
                self.n_rows += 1
                line_number = row.line_number
            for entry in self._entries(row):
                if isinstance(entry, Reject):
                    self.n_rejected += 1
                else:
                    self.n_verdicts += 1
                yield entry
        self._check_columns()

    def _entries(self, row: Row | Reject) -> Sequence[StoredVerdict | Reject]:
        if isinstance(row, Reject):
            return (row,)
        try:
            return self._converter.convert(row)
        except RowError as error:
            return (Reject.of(row.line_number, str(error), _start_of(row.values)),)
        except RecursionError:
            return (Reject.of(row.line_number, "nested too deeply"),)
        except DataFileError as error:
            raise DataFileError(f"{self._name}: {error}") from error

    def _check_columns(self) -> None:
        converter = self._converter
        if not converter.columns:
            return
        names = [repr(column[:60]) for column in converter.columns]
        shown = ", ".join(names[:_COLUMNS_SHOWN]) + (", ..." if len(names) > _COLUMNS_SHOWN else "")
        for field, column in converter.planner.named.items():
            if column and field not in converter.found:
                raise DataFileError(
                    f"{self._name}: no row has the column {column!r}, named by --field {field}; columns seen: {shown}"
                )
        if "score" not in converter.found:
            likely = converter.planner.contents.suggested()
            hint = f"; it could be {' or '.join(map(repr, likely))}: --field score={quote(likely[0])}" if likely else ""
            raise DataFileError(
                f"{self._name}: no row has a column for the score (one of {', '.join(VERDICT_FIELDS['score'])}, or"
                f" a metric such as faithfulness); columns seen: {shown}. Say which one it is: --field score=NAME{hint}"
            )
        if self.n_verdicts and not converter.knows_answers:
            raise DataFileError(
                f"{self._name}: no row has a column for the question, the answer or an id, so nobody can tell what was"
                f" graded; columns seen: {shown}. Say which ones they are: --field output=NAME, --field input=NAME,"
                " --field id=NAME"
            )


def _start_of(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {str(value)[:60]}" for key, value in list(values.items())[:4])
