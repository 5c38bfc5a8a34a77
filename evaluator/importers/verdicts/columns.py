"""Names of columns that hold scores and what belongs to them: which of a row's keys is the score, the judge, the time.

What the other columns mean is said in ``evaluator.importers.columns``; names are compared as they are there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from evaluator.errors import DataFileError, UsageError
from evaluator.importers.columns import FIELD_NAMES, ColumnPlanner, field_of, normal_name
from evaluator.importers.paths import parse_path
from evaluator.importers.verdicts.content import Contents

VERDICT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "score": (
        "score", "rating", "grade", "judge_score", "judge_rating", "llm_score", "value", "verdict", "final_score",
        "overall_score", "points", "stars", "marks", "punkte", "sterne", "bewertung",
    ),
    "graded_at": (
        "graded_at", "scored_at", "judged_at", "evaluated_at", "graded_utc", "created_at", "timestamp", "tstamp",
        "time", "date", "datetime", "created", "ts", "zeitpunkt", "datum",
    ),
    "judge": ("judge", "judge_model", "evaluator", "evaluation_model", "grader", "grader_model"),
    "criterion": ("criterion", "metric", "metric_name", "name"),
    "explanation": (
        "reason", "reasoning", "explanation", "rationale", "comment", "judgment", "judgement", "feedback",
        "critique", "justification", "begründung", "kommentar",
    ),
}  # fmt: skip
_ALIASES = {"reason": "explanation"}  # what a file calls it, and its user
# names of the time of the answer as well: they tell the time of grading where nothing else does
_SHARED_TIMES = VERDICT_FIELDS["graded_at"][VERDICT_FIELDS["graded_at"].index("created_at") :]
# what failed, where there is no score
_ERRORS = frozenset(("error", "error_message", "error_text", "judge_error", "failure", "exception", "fehler"))
_SCORE_WORDS = frozenset(("points", "stars", "marks", "punkte", "sterne", "score", "rating", "grade"))
_JUDGE_WORDS = frozenset(("judge", "grader", "evaluator", "llm", "score"))
_METRIC_NAMES = (
    "faithfulness answer_relevancy answer_relevance response_relevancy context_precision context_recall"
    " context_relevancy context_relevance context_entity_recall context_utilization answer_correctness"
    " answer_similarity semantic_similarity factual_correctness noise_sensitivity response_groundedness"
    " answer_accuracy groundedness helpfulness harmfulness maliciousness coherence conciseness correctness"
    " relevance fluency toxicity hallucination summary_accuracy summary_score summarization_score rubrics_score"
    " aspect_critic simple_criteria agent_goal_accuracy tool_call_accuracy topic_adherence"
)
METRICS = frozenset(_METRIC_NAMES.split())
_MODE = re.compile(r"\(.*\)$")  # noise_sensitivity(mode=relevant)
_SCORE_ENDINGS = ("_score", "_rating", "_grade")


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictPlan:
    """The keys of rows of one shape.

    Attributes:
        scores: (key, criterion) of each column with scores; the criterion is "" where the row or the user names it.
        graded_at, judge, criterion, explanation: Their keys, in the order in which they count.
        errors: Keys of what failed, where there is no score.
        item_keys: Keys that are left for the answer.
    """

    scores: tuple[tuple[str, str], ...]
    graded_at: tuple[str, ...]
    judge: tuple[str, ...]
    criterion: tuple[str, ...]
    explanation: tuple[str, ...]
    errors: tuple[str, ...]
    item_keys: tuple[str, ...]


def metric_name(column: str) -> str | None:
    """Return the criterion of a column that is named like a metric, None for any other."""
    name = normal_name(column)
    if _MODE.sub("", name) in METRICS:
        return name
    if name in VERDICT_FIELDS["score"]:
        return None
    ending = next((ending for ending in _SCORE_ENDINGS if name.endswith(ending)), None)
    return None if ending is None else name.removesuffix(ending)


def verdict_field(name: str) -> str | None:
    """Return the field of a score that a name stands for in a map of fields; None when it is none."""
    return name if name in VERDICT_FIELDS else _ALIASES.get(name)


def _take_named(given: dict[str, str]) -> dict[str, str]:
    """Take the fields of scores out of a map of fields.

    Raises:
        UsageError: one of them was named twice.
    """
    named: dict[str, str] = {}
    for name in [name for name in given if verdict_field(name) is not None]:
        field, column = verdict_field(name) or name, given.pop(name)
        if field in named:
            raise UsageError(f"the field {field!r} is named twice, for {named[field]!r} and {column!r}")
        named[field] = column
    return named


class VerdictPlanner:
    """Makes the plan for each shape of row.

    Args:
        field_map: Field to column; fields of the answer and those of ``VERDICT_FIELDS``. An empty column means that
            there is none; several columns of scores are separated by commas.
        metrics: Columns that hold scores whatever their name.
        contents: What stands in the columns: of several that are named like a score, those that hold scores count.

    Raises:
        UsageError: a field that does not exist.
    """

    def __init__(
        self,
        field_map: Mapping[str, str] | None = None,
        metrics: Sequence[str] = (),
        contents: Contents | None = None,
    ) -> None:
        given = dict(field_map or {})
        self.named = _take_named(given)
        self.item_fields = given
        self._metrics = frozenset(metrics)
        self.contents = contents or Contents()
        self.paths = tuple(
            (column.strip(), steps) for column in self.named.values() if (steps := parse_path(column)) is not None
        )
        self._check(given)

    def _check(self, item_fields: Mapping[str, str]) -> None:
        unknown = next((field for field in item_fields if field_of(field) is None), None)
        if unknown is not None:
            raise UsageError(f"there is no field {unknown!r}; fields are {', '.join([*VERDICT_FIELDS, *FIELD_NAMES])}")

    def plan(self, keys: tuple[str, ...]) -> VerdictPlan:
        """Return what the keys of a row hold.

        Raises:
            DataFileError: two columns may be the score, or a column that was named is not there.
        """
        names = {key: normal_name(key) for key in keys}
        scores = self._scores(names)
        taken = {key for key, _ in scores}
        judge, criterion, explanation = (self._keys(field, names, taken) for field in _PLAIN_FIELDS)
        explanation = explanation if "explanation" in self.named else (*explanation, *self._told(names, taken))
        errors = tuple(key for key, name in names.items() if name in _ERRORS and key not in self._item_columns())
        taken |= {*judge, *criterion, *explanation, *errors}
        own, shared = self._times(names, taken)
        item_keys = tuple(key for key in keys if key not in taken and key not in own)
        plan = ColumnPlanner(self.item_fields).plan(item_keys)
        if not own:
            own = self._left_times(shared, plan.answered_at)
            item_keys = tuple(key for key in item_keys if key not in own or key in plan.answered_at[:1])
        return VerdictPlan(
            scores=scores,
            graded_at=own,
            judge=judge,
            criterion=criterion,
            explanation=explanation,
            errors=errors,
            item_keys=item_keys,
        )

    def _scores(self, names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        named = self.named.get("score")
        if named is not None:
            return self._named_scores(named, names)
        found = [
            (key, metric)
            for key in names
            if (metric := normal_name(key) if key in self._metrics else metric_name(key)) is not None
            and key not in self._item_columns()
            and names[key] not in VERDICT_FIELDS["score"]
        ]
        plain = self._plain_scores(names, has_metrics=bool(found))
        if len(plain) > 1:
            listed = " and ".join(repr(key) for key in plain)
            raise DataFileError(
                f"columns {listed} may each be the score; say which one it is: --field score={quote(plain[0])}"
            )
        return (*((key, "") for key in plain), *found)

    def _plain_scores(self, names: Mapping[str, str], *, has_metrics: bool) -> list[str]:
        """The columns that are named like a score; where some hold scores and others do not, those that do."""
        plain = [key for key, name in names.items() if name in VERDICT_FIELDS["score"]]
        scored = [key for key in plain if self.contents.is_score(key)]
        if scored or has_metrics:
            return scored or [key for key in plain if not self.contents.is_prose(key)]
        if not plain or all(map(self.contents.is_prose, plain)):
            by_words = [key for key, name in names.items() if self._is_score_by_words(key, name)]
            return by_words if len(by_words) == 1 else plain
        return plain

    def _is_score_by_words(self, key: str, name: str) -> bool:
        words = name.split("_")
        is_free = key not in self._item_columns() and name not in VERDICT_FIELDS["score"]
        return len(words) > 1 and words[-1] in _SCORE_WORDS and is_free and self.contents.is_score(key)

    def _told(self, names: Mapping[str, str], taken: set[str]) -> tuple[str, ...]:
        """Words about a score in columns that are named like one, or like the judge's explanation."""
        kinds = frozenset(VERDICT_FIELDS["explanation"])
        found = []
        for key, name in names.items():
            words = name.split("_")
            is_told = name in VERDICT_FIELDS["score"] and self.contents.is_prose(key)
            is_named = words[-1] in kinds and not _JUDGE_WORDS.isdisjoint(words[:-1])
            if (is_told or is_named) and key not in taken and key not in self._item_columns():
                found.append(key)
        return tuple(found)

    def _item_columns(self) -> frozenset[str]:
        return frozenset([*self.item_fields.values(), *self.named.values()])

    def _named_scores(self, named: str, names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        by_name = {name: key for key, name in names.items()}
        if normal_name(named) in by_name:
            return ((by_name[normal_name(named)], ""),)
        columns = [part.strip() for part in named.split(",") if part.strip()]
        return tuple(
            (by_name[normal_name(column)], normal_name(column)) for column in columns if normal_name(column) in by_name
        )

    def _keys(self, field: str, names: Mapping[str, str], taken: set[str]) -> tuple[str, ...]:
        wanted = VERDICT_FIELDS[field]
        if field in self.named:
            wanted = (normal_name(self.named[field]),)
        elsewhere = self._item_columns() - {self.named.get(field, "")}
        found = [key for key, name in names.items() if name in wanted and key not in taken and key not in elsewhere]
        return tuple(sorted(found, key=lambda key: wanted.index(names[key])))

    def _times(self, names: Mapping[str, str], taken: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns that tell when it was graded, and those that may tell that or when it was answered."""
        found = self._keys("graded_at", names, taken)
        if "graded_at" in self.named:
            return found, ()
        own = tuple(key for key in found if names[key] not in _SHARED_TIMES)
        return own, tuple(key for key in found if names[key] in _SHARED_TIMES)

    @staticmethod
    def _left_times(shared: tuple[str, ...], answered: tuple[str, ...]) -> tuple[str, ...]:
        """A time of its own where there are two, else the one there is, which then tells both."""
        return tuple(key for key in shared if key not in answered[:1]) or shared


_PLAIN_FIELDS = ("judge", "criterion", "explanation")
