"""Finds the data that ships with judgewatch: anchor sets, their rubrics, one sample of traffic.

The same in a checkout and in an installed wheel. Gives paths only; reading the files is the loaders' work.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from evaluator.errors import DataFileError, UsageError

# ``anchors`` lies beside ``evaluator`` both in a checkout and in site-packages; found so, no other package or folder
# of that name can stand in for it
_ROOT = Path(__file__).resolve().parent.parent
_SAMPLE_NAME = "sample_traffic.jsonl"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def anchor_set_names() -> tuple[str, ...]:
    """Return the names of the anchor sets that ship with judgewatch, sorted."""
    return tuple(sorted(path.parent.name for path in (_ROOT / "anchors").glob("*/anchors.jsonl")))


def anchor_set_path(name: str) -> Path:
    """Return the file of a shipped anchor set.

    Raises:
        UsageError: there is no set of this name.
    """
    return _shipped(name, "anchors.jsonl", "anchor set")


def rubric_path(name: str) -> Path:
    """Return the file of a shipped rubric, which has the name of its anchor set.

    Raises:
        UsageError: there is no rubric of this name.
    """
    return _shipped(name, "rubric.json", "rubric")


def sample_traffic_path() -> Path:
    """Return the file with the sample of traffic.

    Raises:
        DataFileError: the installation lacks it.
    """
    candidates = list(_sample_candidates())
    for path in candidates:
        if path.is_file():
            return path
    places = ", ".join(str(path.parent) for path in candidates)
    raise DataFileError(f"{_SAMPLE_NAME} is missing; looked in {places}. Install judgewatch again")


def _shipped(name: str, file_name: str, what: str) -> Path:
    folder = _ROOT / "anchors"
    path = folder / name / file_name
    # the name comes from a configuration: it must not be a way to any other file
    if _NAME.fullmatch(name) and path.is_file():
        return path
    known = sorted(path.parent.name for path in folder.glob(f"*/{file_name}"))
    raise UsageError(f"there is no {what} {name!r}; shipped are: {', '.join(known) or 'none'}")


def _sample_candidates() -> Iterator[Path]:
    """Yield where the sample can be: a checkout, then the data folders of each way to install a wheel."""
    yield _ROOT / "data" / _SAMPLE_NAME
    user_data = sysconfig.get_path("data", sysconfig.get_preferred_scheme("user"))
    # `pip install --target` puts the data beside the packages
    for prefix in (str(_ROOT), sysconfig.get_path("data"), user_data):
        yield Path(prefix) / "share" / "judgewatch" / _SAMPLE_NAME
