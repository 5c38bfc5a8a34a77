"""promptfoo results (version 3): a row for each assertion that a model graded. Plain assertions, such as a regular
expression, are no judge and are left out.

The answer's own model is the tag ``model``; the judge is the provider that the assertion names, where it names one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluator.errors import DataFileError
from evaluator.importers.base import Reject, Row

# https://www.promptfoo.dev/docs/configuration/expected-outputs/model-graded/
_JUDGED_NAMES = (
    "llm-rubric model-graded-closedqa model-graded-factuality factuality answer-relevance context-faithfulness"
    " context-recall context-relevance conversation-relevance g-eval pi search-rubric trajectory:goal-success"
)
JUDGED = frozenset(_JUDGED_NAMES.split())
_ERROR = 2  # failureReason of a row whose provider or grader failed


def is_promptfoo(value: Mapping[str, Any]) -> bool:
    """Whether an object holds promptfoo results."""
    results = value.get("results")
    return isinstance(results, dict) and isinstance(results.get("results"), list) and "version" in results


def read_promptfoo(name: str, value: Mapping[str, Any] | None) -> Iterator[Row | Reject]:
    """Yield the judged assertions of each result.

    Raises:
        DataFileError: the file holds no promptfoo results, another version of them, or no judged assertion.
    """
    if value is None or not is_promptfoo(value):
        raise DataFileError(f"{name}: no promptfoo results (an object with results.version and results.results)")
    results = value["results"]
    if results["version"] != 3:
        raise DataFileError(f"{name}: promptfoo results of version {results['version']!r}; version 3 is read")
    return _rows(name, value)


def _rows(name: str, value: Mapping[str, Any]) -> Iterator[Row | Reject]:
    results, judge, n_judged = value["results"], _default_judge(value), 0
    for position, result in enumerate(results["results"], start=1):
        if not isinstance(result, dict):
            yield Reject.of(position, "not a JSON object")
            continue
        answer = _answer(result, results.get("timestamp"))
        for component in _components(result):
            assertion = component.get("assertion")
            if not isinstance(assertion, dict) or _kind(assertion) not in JUDGED:
                continue
            n_judged += 1
            yield Row(position, {**answer, **_verdict(component, assertion, judge)})
    if not n_judged:
        raise DataFileError(f"{name}: no assertion was graded by a model ({', '.join(sorted(JUDGED))})")


def _kind(assertion: Mapping[str, Any]) -> str:
    return str(assertion.get("type", "")).removeprefix("not-")


def _answer(result: Mapping[str, Any], timestamp: object) -> dict[str, Any]:
    variables = result.get("vars")
    asked = {key: text for key, text in (variables if isinstance(variables, dict) else {}).items() if text != ""}
    response, provider = result.get("response"), _provider(result.get("provider"))
    test = result.get("testCase")
    tags = {"model": provider, "test": test.get("id") or test.get("description")} if isinstance(test, dict) else {}
    return {
        "id": result.get("id"),
        "input": asked,
        "output": response.get("output") if isinstance(response, dict) else "",
        "model": provider,
        "graded_at": timestamp,
        "tags": {key: tag for key, tag in tags.items() if tag},
    }


def _components(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The graded assertions; those of a row whose grading failed as a whole are its test's, without a score."""
    grading = result.get("gradingResult")
    components = grading.get("componentResults") if isinstance(grading, dict) else None
    if isinstance(components, list) and components:
        return [component for component in components if isinstance(component, dict)]
    test = result.get("testCase")
    asserts = test.get("assert") if isinstance(test, dict) else None
    return [
        {"assertion": assertion, "reason": result.get("error") or "", "score": None}
        for assertion in (asserts if isinstance(asserts, list) else ())
        if isinstance(assertion, dict)
    ]


def _verdict(component: Mapping[str, Any], assertion: Mapping[str, Any], judge: str | None) -> dict[str, Any]:
    has_failed = bool(component.get("error")) or component.get("failureReason") == _ERROR
    metric = assertion.get("metric")
    return {
        "score": None if has_failed else component.get("score"),
        "criterion": metric if isinstance(metric, str) and metric else str(assertion.get("type")),
        "judge": _provider(assertion.get("provider")) or judge,
        "explanation": component.get("reason") or component.get("error") or "",
    }


def _default_judge(value: Mapping[str, Any]) -> str | None:
    found: object = value.get("config")
    for key in ("defaultTest", "options", "provider"):
        found = found.get(key) if isinstance(found, dict) else None
    return _provider(found)


def _provider(value: object) -> str | None:
    """Name of a provider: a text, an object with an id, or one by use (text, embedding)."""
    if isinstance(value, dict):
        value = value.get("label") or value.get("id") or _provider(value.get("text"))
    return value if isinstance(value, str) and value else None
