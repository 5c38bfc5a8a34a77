"""Spans of OpenTelemetry and OpenInference, and exported traces of Langfuse: every call of a model is a row.

Read are OTLP as JSON (``resourceSpans``), lists and pages of spans, one span or one export a line, bare attributes, and
a trace with its ``observations``. A call is told by what the conventions say of it; its texts may stand under the old
names of the GenAI conventions (``gen_ai.prompt``), the new ones (``gen_ai.input.messages``), in events, or under those
of OpenInference. Spans that are no calls are counted. A text that was cut off is a reject: half a question is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluator.errors import DataFileError
from evaluator.importers.base import Limits, Reject, Row, Tally, open_file, physical_lines
from evaluator.importers.jsonl import json_problem
from evaluator.importers.otel_attributes import read_attributes
from evaluator.importers.otel_calls import NoCallError, UnusableCallError, read_call

_GROUPS = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_LISTS = ("spans", "data")
_SPAN_ID = ("spanId", "span_id")
_TRACE_ID = ("traceId", "trace_id")
_START = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
_OBSERVATION = ("GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING")
_LANGFUSE_TAGS = ("environment", "release", "version", "promptName", "promptVersion", "traceName")
# what a file of spans shows in its first few thousand bytes, and no table of answers has
_OF_SPANS = re.compile(rb'"(resourceSpans|resource_spans|scopeSpans|openinference\.span\.kind)"\s*:')
_OF_A_TRACE = re.compile(rb'^\s*\{\s*"trace"\s*:\s*\{')
_OBSERVATIONS = re.compile(rb'"observations"\s*:\s*\[')  # a row of a table may have a trace, too
_ATTRIBUTES = re.compile(rb'"attributes"\s*:')
_IDS = re.compile(rb'"(spanId|span_id)"\s*:')
_ANSWER = re.compile(rb'"(output|outputs|response|answer|completion)"\s*:\s*["\[]')


def looks_like_spans(start: bytes) -> bool:
    """Say whether a file that starts with these bytes holds spans or a trace."""
    if start.lstrip()[:1] not in (b"{", b"["):
        return False
    if _OF_SPANS.search(start) or (_OF_A_TRACE.match(start) and _OBSERVATIONS.search(start)):
        return True
    return bool(_ATTRIBUTES.search(start) and _IDS.search(start) and not _ANSWER.search(start))


def read_otel(path: Path, limits: Limits, tally: Tally, encoding: str) -> Iterator[Row | Reject]:
    """Read spans. Line numbers are positions of spans in a file that is one JSON value, else lines.

    Raises:
        DataFileError: a file that is one JSON value is broken, or larger than the limit.
    """
    for number, value in _values(path, limits, tally, encoding):
        if isinstance(value, Reject):
            yield value
            continue
        for position, (span, shared) in enumerate(_spans(value), start=1):
            yield from _row(position if number is None else number, span, shared, tally)


def _values(path: Path, limits: Limits, tally: Tally, encoding: str) -> Iterator[tuple[int | None, Any]]:
    """Yield (line, value) for a file of lines; (None, value) for one that is a single value."""
    with open_file(path) as file:
        begin = file.tell()
        first = next((line for _, line in physical_lines(file, limits.row_bytes) if line is None or line.strip()), b"")
        file.seek(begin)
        if first is None or (path.suffix.lower() not in (".jsonl", ".ndjson") and not _is_json(first, encoding)):
            yield None, _whole(path, file.read(limits.json_bytes + 1), limits, encoding)
            return
        lines = list(_first_two(file, limits))
        file.seek(begin)
        for number, line in physical_lines(file, limits.row_bytes):
            if line is not None and not line.strip():
                tally.n_blank += 1
            else:
                yield (number if len(lines) > 1 else None), _line(number, line, limits, encoding)


def _first_two(file: Any, limits: Limits) -> Iterator[int]:
    """Yield the numbers of the first two lines that hold something."""
    n_found = 0
    for number, line in physical_lines(file, limits.row_bytes):
        if line is None or line.strip():
            yield number
            n_found += 1
            if n_found == 2:
                return


def _is_json(line: bytes, encoding: str) -> bool:
    try:
        json.loads(line.decode(encoding))
    except (ValueError, RecursionError):
        return False
    return True


def _whole(path: Path, content: bytes, limits: Limits, encoding: str) -> Any:
    if len(content) > limits.json_bytes:
        raise DataFileError(
            f"{path}: spans of more than {limits.json_bytes} bytes in one JSON value; save a span a line"
        )
    try:
        return json.loads(content.decode(encoding) or "[]", parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise DataFileError(f"{path}: {json_problem(error, encoding)}") from error


def _line(number: int, line: bytes | None, limits: Limits, encoding: str) -> Any:
    if line is None:
        return Reject.of(number, f"the line is longer than {limits.row_bytes} bytes")
    try:
        return json.loads(line.decode(encoding), parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        return Reject.of(number, json_problem(error, encoding), line)


def _spans(value: object) -> Iterator[tuple[object, Mapping[str, Any]]]:
    """Yield (span, what its export says of all of its spans)."""
    if isinstance(value, list):
        for part in value:
            yield from _spans(part)
        return
    if not isinstance(value, dict):
        yield value, {}
        return
    groups = next((value[name] for name in _GROUPS if isinstance(value.get(name), list)), None)
    listed = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
    if groups is not None:
        for group in groups:
            yield from _of_group(group)
    elif isinstance(value.get("observations"), list):
        trace = value.get("trace")
        shared = trace if isinstance(trace, dict) else value
        yield from ((part, shared) for part in value["observations"])
    elif listed is not None:
        yield from _spans(listed)
    else:
        yield value, {}


def _of_group(group: object) -> Iterator[tuple[object, Mapping[str, Any]]]:
    """Spans of one resource, with its attributes."""
    if not isinstance(group, dict):
        yield group, {}
        return
    resource = group.get("resource")
    shared = read_attributes(resource.get("attributes")) if isinstance(resource, dict) else {}
    scopes: list[Any] = next((group[name] for name in _SCOPES if isinstance(group.get(name), list)), [])
    for scope in scopes:
        spans = scope.get("spans") if isinstance(scope, dict) else None
        yield from ((span, shared) for span in (spans if isinstance(spans, list) else []))


def _row(number: int, span: object, shared: Mapping[str, Any], tally: Tally) -> Iterator[Row | Reject]:
    """The row of a span, or its reject; nothing for a span that is no call."""
    if not isinstance(span, dict):
        yield Reject.of(number, "not a span: a JSON object is needed", json.dumps(span)[:200])
        return
    try:
        values = _observation(span, shared) if _is_observation(span) else _span(span, shared)
    except NoCallError:
        tally.n_skipped += 1
    except (UnusableCallError, ValueError) as error:
        yield Reject.of(number, str(error), f"span {_id_of(span) or 'without an id'}: {span.get('name') or ''}")
    else:
        yield Row(number, values)


def _id_of(span: Mapping[str, Any]) -> str | None:
    """Trace and span as one id; without the mark of hexadecimal numbers that some exporters write."""
    context = span.get("context")
    both = {**context, **span} if isinstance(context, dict) else span
    parts = [next((both[name] for name in names if both.get(name)), None) for names in (_TRACE_ID, _SPAN_ID)]
    return ":".join(str(part).removeprefix("0x") for part in parts if part is not None) or None


def _span(span: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a span that calls a model."""
    is_bare = "attributes" not in span
    attributes = read_attributes(span if is_bare else span["attributes"])
    values = read_call(attributes, span, shared)
    return {
        **values,
        "id": None if is_bare else _id_of(span),
        "answered_at": None if is_bare else next((span[name] for name in _START if span.get(name) is not None), None),
    }


def _is_observation(span: Mapping[str, Any]) -> bool:
    return span.get("type") in _OBSERVATION and "attributes" not in span


def _observation(span: Mapping[str, Any], trace: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a generation of Langfuse; ``trace`` is what it belongs to."""
    if span["type"] != "GENERATION":
        raise NoCallError
    if span.get("output") is None and span.get("level") == "ERROR":
        raise NoCallError
    both = {**trace, **{name: value for name, value in span.items() if value is not None}}
    tags = {name: both[name] for name in _LANGFUSE_TAGS if both.get(name) is not None}
    labels = trace.get("tags")
    return {
        **tags,
        "name": span.get("name"),
        "tags": labels if isinstance(labels, list) else None,
        "id": ":".join(str(both[name]) for name in ("traceId", "id") if both.get(name)) or None,
        "conversation_id": both.get("sessionId"),
        "user_id": both.get("userId"),
        "answered_at": span.get("startTime"),
        "model": both.get("model") or both.get("providedModelName"),
        "input": _plain(span.get("input")),
        "output": _plain(span.get("output")),
    }


def _plain(value: Any) -> Any:
    """What a text holds as JSON: exports give texts, messages and objects alike as strings."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{", '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
