"""Anchor sets and rubrics from their files. A file with a fault is refused whole: the message names file, line, field
and fix."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluator.errors import DataFileError
from evaluator.records import Anchor, Item, Rubric, RubricLevel
from evaluator.resources import anchor_set_path, rubric_path

MIN_ANCHORS_FOR_DRIFT = 10
_ANCHOR_FIELDS = {
    "anchor_id": "a name of its own",
    "inputs": "the question",
    "outputs": "the answer that is graded",
    "expected_output": "a reference answer, or null",
    "retrieved_contexts": "a list of texts the answer was written from",
    "expected_score": "a person's score, or null",
    "why": "why that score",
    "tags": "an object of texts",
}
_REQUIRED = ("anchor_id", "inputs", "outputs")
_RUBRIC_FIELDS = frozenset({"name", "version", "criterion", "question", "scale", "levels", "aspects"})


def load_rubric(name: str, *, folder: Path = Path()) -> Rubric:
    """Load a rubric by the name of a shipped one, or from a JSON file.

    Raises:
        DataFileError: no such rubric, an unknown field, or levels that do not fit the scale.
    """
    path = _find(name, folder, ".json", rubric_path)
    try:
        body = json.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataFileError(f"rubric {path} cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise DataFileError(f"rubric {path} is not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise DataFileError(f"rubric {path}: an object with name, question, scale and levels is needed")
    return parse_rubric(body, str(path))


def parse_rubric(body: Mapping[str, Any], where: str) -> Rubric:
    """Check a rubric's fields; ``where`` is what messages call it.

    Raises:
        DataFileError: an unknown or missing field, or levels that do not fit the scale.
    """
    unknown = sorted(set(body) - _RUBRIC_FIELDS)
    if unknown:
        raise DataFileError(f"rubric {where}: unknown field {unknown[0]!r}; known are {', '.join(sorted(_RUBRIC_FIELDS))}")
    try:
        low, high = _number(body["scale"]["min"]), _number(body["scale"]["max"])
        levels = tuple(
            RubricLevel(score=_number(level["score"]), name=str(level["name"]), description=str(level["description"]))
            for level in body["levels"]
        )
        aspects = tuple((str(part["name"]), str(part["description"])) for part in body.get("aspects", ()))
        rubric = Rubric(
            name=str(body["name"]),
            criterion=str(body.get("criterion", "overall")),
            question=str(body["question"]),
            scale_min=low,
            scale_max=high,
            levels=tuple(sorted(levels, key=lambda level: level.score)),
            aspects=aspects,
        )
    except KeyError as error:
        raise DataFileError(f"rubric {where}: the field {error.args[0]!r} is missing") from error
    except (TypeError, ValueError) as error:
        raise DataFileError(f"rubric {where}: {error}") from error
    if not low < high:
        raise DataFileError(f"rubric {where}: scale.min {low:g} must be less than scale.max {high:g}")
    if len(levels) < 2:
        raise DataFileError(f"rubric {where}: at least two levels are needed, there are {len(levels)}")
    for level in levels:
        if not low <= level.score <= high:
            raise DataFileError(
                f"rubric {where}: level {level.name!r} has score {level.score:g}, off the scale {low:g} to {high:g}"
            )
    return rubric


def load_anchors(name: str, rubric: Rubric, *, folder: Path = Path()) -> list[Anchor]:
    """Load an anchor set by the name of a shipped one, or from a JSONL file.

    Raises:
        DataFileError: no such set, or a line with a fault; the first twenty faults stand in the message.
    """
    path = _find(name, folder, ".jsonl", anchor_set_path)
    try:
        lines = path.read_text("utf-8-sig").split("\n")  # not splitlines: JSON texts may hold other line marks
    except (OSError, UnicodeDecodeError) as error:
        raise DataFileError(f"anchor set {path} cannot be read: {error}") from error
    anchors: list[Anchor] = []
    faults: list[str] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            anchor = _parse_anchor(line, rubric)
            if anchor.anchor_id in seen:
                raise ValueError(f"anchor_id {anchor.anchor_id!r} stands in line {seen[anchor.anchor_id]} already")
        except ValueError as error:
            faults.append(f"line {number}: {error}")
            continue
        seen[anchor.anchor_id] = number
        anchors.append(anchor)
    if faults:
        more = f" (and {len(faults) - 20} more)" if len(faults) > 20 else ""
        raise DataFileError(f"anchor set {path}: " + "; ".join(faults[:20]) + more)
    if not anchors:
        raise DataFileError(f"anchor set {path} holds no anchors")
    return anchors


def _parse_anchor(line: str, rubric: Rubric) -> Anchor:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON ({error.msg})") from error
    if not isinstance(row, dict):
        raise ValueError("an object is needed")  # noqa: TRY004 - one kind of fault for the caller
    unknown = sorted(set(row) - set(_ANCHOR_FIELDS))
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}; known are {', '.join(_ANCHOR_FIELDS)}")
    for name in _REQUIRED:
        if not isinstance(row.get(name), str) or (name == "anchor_id" and not row[name].strip()):
            raise ValueError(f"{name} is needed: {_ANCHOR_FIELDS[name]}")
    return Anchor(
        anchor_id=row["anchor_id"],
        item=Item(
            input=row["inputs"],
            output=row["outputs"],
            reference=_text_or_none(row, "expected_output"),
            contexts=tuple(str(text) for text in row.get("retrieved_contexts") or ()),
            tags=_tags(row.get("tags") or {}),
        ),
        expected_score=_expected_score(row.get("expected_score"), rubric),
        why=str(row.get("why") or ""),
    )


def _expected_score(value: object, rubric: Rubric) -> float | None:
    if value is None:
        return None
    score = _number(value)
    if not rubric.scale_min <= score <= rubric.scale_max:
        raise ValueError(
            f"expected_score {score:g} is off the scale of rubric {rubric.name!r},"
            f" {rubric.scale_min:g} to {rubric.scale_max:g}"
        )
    return score


def _tags(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError(f"tags {value!r}: {_ANCHOR_FIELDS['tags']} is needed")
    return {str(key): text for key, text in value.items()}


def _text_or_none(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} {value!r}: a text or null is needed")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _find(name: str, folder: Path, suffix: str, shipped: Any) -> Path:
    """A name without a suffix is a shipped one; anything else is a file, relative to the configuration."""
    if not name.endswith(suffix) and "/" not in name:
        path: Path = shipped(name)
        return path
    path = folder / name
    if not path.exists():
        raise DataFileError(f"there is no file {path}")
    return path
