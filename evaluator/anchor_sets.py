"""Anchor sets and rubrics from their files. A file with a fault is refused whole: the message names file, line, field
and fix.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluator.errors import DataFileError, JudgewatchError, UsageError
from evaluator.records import Anchor, Item, Rubric, RubricLevel
from evaluator.resources import anchor_set_path, rubric_path

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
_FAULTS_NAMED = 20
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # no database and no request can carry it
_RUBRIC_FIELDS = frozenset({"name", "version", "criterion", "question", "scale", "levels", "aspects"})


def load_rubric(name: str, *, folder: Path = Path()) -> Rubric:
    """Load a rubric by the name of a shipped one, or from a JSON file.

    Raises:
        DataFileError: no such rubric, an unknown field, or levels that do not fit the scale.
    """
    path = _find(name, folder, ".json", rubric_path)
    try:
        body = _load_json(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataFileError(f"rubric {path} cannot be read: {error}") from error
    except ValueError as error:
        raise DataFileError(f"rubric {path}: {error}") from error
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
        known = ", ".join(sorted(_RUBRIC_FIELDS))
        raise DataFileError(f"rubric {where}: unknown field {unknown[0]!r}; known are {known}")
    try:
        rubric = Rubric(
            name=_text(body["name"], "name"),
            criterion=_text(body.get("criterion", "overall"), "criterion"),
            question=_text(body["question"], "question"),
            scale_min=_number(body["scale"]["min"], "scale.min"),
            scale_max=_number(body["scale"]["max"], "scale.max"),
            levels=tuple(sorted(map(_parse_level, body["levels"]), key=lambda level: level.score)),
            aspects=tuple(
                (_text(part["name"], "aspects.name"), _text(part["description"], "aspects.description"))
                for part in body.get("aspects", ())
            ),
        )
        _check_scale(rubric)
    except KeyError as error:
        raise DataFileError(f"rubric {where}: the field {error.args[0]!r} is missing") from error
    except (TypeError, ValueError) as error:
        raise DataFileError(f"rubric {where}: {error}") from error
    return rubric


def _parse_level(level: Mapping[str, Any]) -> RubricLevel:
    return RubricLevel(
        score=_number(level["score"], "levels.score"),
        name=_text(level["name"], "levels.name"),
        description=_text(level["description"], "levels.description"),
    )


def _check_scale(rubric: Rubric) -> None:
    """Raises:
    ValueError: levels that do not fit the scale.
    """
    low, high, scores = rubric.scale_min, rubric.scale_max, [level.score for level in rubric.levels]
    if not low < high:
        raise ValueError(f"scale.min {low:g} must be less than scale.max {high:g}")
    if len(scores) < 2:
        raise ValueError(f"at least two levels are needed, there are {len(scores)}")
    if len(set(scores)) < len(scores):
        raise ValueError(
            f"each level needs a score of its own; they have {', '.join(f'{score:g}' for score in scores)}"
        )
    for level in rubric.levels:
        if not low <= level.score <= high:
            raise ValueError(f"level {level.name!r} has score {level.score:g}, off the scale {low:g} to {high:g}")


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
    anchors: dict[str, Anchor] = {}
    line_of: dict[str, int] = {}
    faults: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            anchor = _parse_anchor(line, rubric)
            if anchor.anchor_id in anchors:
                raise ValueError(f"anchor_id {anchor.anchor_id!r} stands in line {line_of[anchor.anchor_id]} already")
        except ValueError as error:
            faults.append(f"line {number}: {error}")
            continue
        anchors[anchor.anchor_id] = anchor
        line_of[anchor.anchor_id] = number
    if faults:
        more = f" (and {len(faults) - _FAULTS_NAMED} more)" if len(faults) > _FAULTS_NAMED else ""
        raise DataFileError(f"anchor set {path}: " + "; ".join(faults[:_FAULTS_NAMED]) + more)
    if not anchors:
        raise DataFileError(f"anchor set {path} holds no anchors; add a line for each")
    return list(anchors.values())


def save_anchors(anchors: Sequence[Anchor], path: Path, *, force: bool = False) -> bool:
    """Write an anchor set as JSON lines, in the form ``load_anchors`` reads; whole or not at all.

    Returns:
        Whether anything was written; False when the file holds exactly this set already.

    Raises:
        UsageError: a file with other contents is there, and ``force`` is not set.
        JudgewatchError: it cannot be written; none is left behind.
    """
    content = "".join(json.dumps(_anchor_row(anchor), ensure_ascii=False) + "\n" for anchor in anchors).encode("utf-8")
    unfinished = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        if path.exists():
            if path.read_bytes() == content:
                return False
            if not force:
                raise UsageError(f"{path} holds other anchors; take another name, or replace it with --force")
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        raise JudgewatchError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return True


def _anchor_row(anchor: Anchor) -> dict[str, Any]:
    item = anchor.item
    return {
        "anchor_id": anchor.anchor_id,
        "inputs": item.input,
        "outputs": item.output,
        "expected_output": item.reference,
        "retrieved_contexts": list(item.contexts),
        "expected_score": anchor.expected_score,
        "why": anchor.why,
        "tags": dict(item.tags),
    }


def _parse_anchor(line: str, rubric: Rubric) -> Anchor:
    row = _load_json(line)
    if not isinstance(row, dict):
        raise ValueError("an object is needed")
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
            contexts=_texts(row.get("retrieved_contexts")),
            tags=_tags(row.get("tags")),
        ),
        expected_score=_expected_score(row.get("expected_score"), rubric),
        why=_text_or_none(row, "why") or "",
    )


def _load_json(text: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON ({error.msg}, character {error.pos + 1})") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _HALF_CHARACTER.search(json.dumps(value, ensure_ascii=False)):
        raise ValueError("a text holds half of a character (an escape like \\ud83d without its other half)")
    return value


def _expected_score(value: object, rubric: Rubric) -> float | None:
    if value is None:
        return None
    score = _number(value, "expected_score")
    if not rubric.scale_min <= score <= rubric.scale_max:
        raise ValueError(
            f"expected_score {score:g} is off the scale of rubric {rubric.name!r},"
            f" {rubric.scale_min:g} to {rubric.scale_max:g}"
        )
    return score


def _tags(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError(f"tags {value!r}: {_ANCHOR_FIELDS['tags']} is needed")
    return {str(key): text for key, text in value.items()}


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"retrieved_contexts {value!r}: a list of texts is needed")
    return tuple(value)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} {value!r}: a text is needed")
    return value


def _text_or_none(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} {value!r}: a text or null is needed")
    return value


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} {value!r} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} is not a finite number")
    return number


def _find(name: str, folder: Path, suffix: str, shipped: Any) -> Path:
    """A name without a suffix is a shipped one; anything else is a file, relative to the configuration."""
    if not name.endswith(suffix) and "/" not in name:
        path: Path = shipped(name)
        return path
    path = folder / name
    if not path.exists():
        raise DataFileError(f"there is no file {path}")
    return path
