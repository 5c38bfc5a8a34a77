"""DeepEval test runs: a row for each metric of each test case. A metric that failed with an error has no score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluator.errors import DataFileError
from evaluator.importers.base import Reject, Row


def is_deepeval(value: Mapping[str, Any]) -> bool:
    """Whether an object holds a test run."""
    return isinstance(_run(value).get("testCases"), list)


def _run(value: Mapping[str, Any]) -> Mapping[str, Any]:
    run = value.get("testRunData", value)
    return run if isinstance(run, dict) else {}


def read_deepeval(name: str, value: Mapping[str, Any] | None) -> Iterator[Row | Reject]:
    """Yield the metrics of each test case.

    Raises:
        DataFileError: the file holds no test run.
    """
    if value is None or not is_deepeval(value):
        raise DataFileError(f"{name}: no DeepEval test run (an object with testRunData.testCases)")
    return _rows(_run(value)["testCases"])


def _rows(cases: list[Any]) -> Iterator[Row | Reject]:
    for position, case in enumerate(cases, start=1):
        if not isinstance(case, dict):
            yield Reject.of(position, "not a JSON object")
            continue
        metrics = case.get("metricsData")
        for metric in metrics if isinstance(metrics, list) else ():
            if isinstance(metric, dict):
                yield Row(position, {**_answer(case), **_verdict(metric)})


def _answer(case: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "input": case.get("input"),
        "output": case.get("actualOutput"),
        "reference": case.get("expectedOutput"),
        "contexts": case.get("retrievalContext") or case.get("context"),
        "tags": {"test": case["name"]} if isinstance(case.get("name"), str) else {},
    }


def _verdict(metric: Mapping[str, Any]) -> dict[str, Any]:
    error = metric.get("error")
    return {
        "score": None if error else metric.get("score"),
        "criterion": metric.get("name"),
        "judge": metric.get("evaluationModel"),
        "explanation": metric.get("reason") or (error if isinstance(error, str) else ""),
    }
