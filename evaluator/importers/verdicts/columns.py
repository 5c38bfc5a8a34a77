"""Names of columns that hold scores and what belongs to them: which of a row's keys is the score, the judge, the time.

What the other columns mean is said in ``evaluator.importers.columns``; names are compared as they are there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluator.errors import DataFileError, UsageError
from evaluator.importers.columns import FIELD_NAMES, ColumnPlanner, normal_name

VERDICT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "score": (
        "score", "rating", "grade", "judge_score", "judge_rating", "llm_score", "value", "verdict", "final_score",
        "overall_score",
    ),
    "graded_at": (
        "graded_at", "scored_at", "judged_at", "evaluated_at", "graded_utc", "created_at", "timestamp", "tstamp",
    ),
    "judge": ("judge", "judge_model", "evaluator", "evaluation_model", "grader", "grader_model"),
    "criterion": ("criterion", "metric", "metric_name", "name"),
    "explanation": ("reason", "reasoning", "explanation", "rationale", "comment", "judgment", "judgement"),
}  # fmt: skip
# names of the time of the answer as well: they tell the time of grading where nothing else does
_SHARED_TIMES = ("created_at", "timestamp", "tstamp")
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
        item_keys: Keys that are left for the answer.
        has_texts: Whether one of these is the answer's text.
    """

    scores: tuple[tuple[str, str], ...]
    graded_at: tuple[str, ...]
    judge: tuple[str, ...]
    criterion: tuple[str, ...]
    explanation: tuple[str, ...]
    item_keys: tuple[str, ...]
    has_texts: bool


def metric_name(column: str) -> str | None:
    """Return the criterion of a column that is named like a metric, None for any other."""
    name = normal_name(column)
    if _MODE.sub("", name) in METRICS:
        return name
    if name in VERDICT_FIELDS["score"]:
        return None
    ending = next((ending for ending in _SCORE_ENDINGS if name.endswith(ending)), None)
    return None if ending is None else name.removesuffix(ending)


class VerdictPlanner:
    """Makes the plan for each shape of row.

    Args:
        field_map: Field to column; fields of the answer and those of ``VERDICT_FIELDS``. An empty column means that
            there is none; several columns of scores are separated by commas.
        metrics: Columns that hold scores whatever their name.

    Raises:
        UsageError: a field that does not exist.
    """

    def __init__(self, field_map: Mapping[str, str] | None = None, metrics: Sequence[str] = ()) -> None:
        given = dict(field_map or {})
        self.named = {field: given.pop(field) for field in VERDICT_FIELDS if field in given}
        self.item_fields = given
        self._metrics = frozenset(metrics)
        self._check(given)

    def _check(self, item_fields: Mapping[str, str]) -> None:
        known = {*FIELD_NAMES, *(names[0] for names in FIELD_NAMES.values())}
        unknown = next((field for field in item_fields if field not in known), None)
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
        taken |= {*judge, *criterion, *explanation}
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
            item_keys=item_keys,
            has_texts=bool(plan.output),
        )

    def _scores(self, names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        named = self.named.get("score")
        if named is not None:
            return self._named_scores(named, names)
        plain = [key for key, name in names.items() if name in VERDICT_FIELDS["score"]]
        if len(plain) > 1:
            listed = " and ".join(repr(key) for key in plain)
            raise DataFileError(
                f"columns {listed} may each be the score; say which one it is: --field score={plain[0]}"
            )
        found = [(key, "") for key in plain]
        for key in names:
            metric = normal_name(key) if key in self._metrics else metric_name(key)
            if metric is not None and key not in plain and key not in self._item_columns():
                found.append((key, metric))
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
