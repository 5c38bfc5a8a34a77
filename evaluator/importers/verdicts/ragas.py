"""Ragas: result tables with a column for each metric, and annotated runs of one metric.

A table names its metrics freely, so a column counts as one when it is named like one, or when all that stands in it is
empty or a number and it is no field of the answer. A blank cell is a missing score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluator.importers.base import Reject, Row
from evaluator.importers.columns import FIELD_NAMES, normal_name
from evaluator.importers.verdicts.columns import VERDICT_FIELDS, metric_name
from evaluator.importers.verdicts.scores import NoScoreError, read_score

_NO_METRICS = frozenset(
    name for names in (*FIELD_NAMES.values(), *(VERDICT_FIELDS[field] for field in VERDICT_FIELDS)) for name in names
) | {"", "unnamed: 0", "index", "row", "latency", "cost", "duration", "tokens"}


def score_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns of a table that hold scores of metrics, from its first rows."""
    keys = dict.fromkeys(key for row in rows for key in row)
    return tuple(key for key in keys if metric_name(key) is not None or _all_numbers(key, rows))


def _all_numbers(key: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    if normal_name(key) in _NO_METRICS:
        return False
    n_scores = 0
    for row in rows:
        try:
            n_scores += read_score(row.get(key)).score is not None
        except NoScoreError:
            return False
    return n_scores > 0


def is_annotated(value: Mapping[str, Any]) -> bool:
    """Whether an object holds annotated runs: metric to a list of inputs with their outputs."""
    lists = list(value.values())
    return bool(lists) and all(
        isinstance(rows, list) and rows and isinstance(rows[0], dict) and "metric_output" in rows[0] for rows in lists
    )


def read_annotated(value: Mapping[str, Any]) -> Iterator[Row | Reject]:
    """Yield a row for each judged sample; what people said of it stays out: it is no score of the judge."""
    position = 0
    for metric, samples in value.items():
        for sample in samples:
            position += 1
            asked = sample.get("metric_input") if isinstance(sample, dict) else None
            if not isinstance(asked, dict):
                yield Reject.of(position, "no metric_input")
                continue
            yield Row(
                position,
                {
                    **{key: field for key, field in asked.items() if field is not None},
                    "score": sample.get("metric_output"),
                    "criterion": metric,
                    "reason": _reason(sample),
                },
            )


def _reason(sample: Mapping[str, Any]) -> str:
    """The judge's own words, where one prompt asked for them."""
    prompts = sample.get("prompts")
    for prompt in prompts.values() if isinstance(prompts, dict) else ():
        output = prompt.get("prompt_output") if isinstance(prompt, dict) else None
        if isinstance(output, dict) and isinstance(output.get("reason"), str):
            return str(output["reason"])
    return ""
