"""The name of a pick, which becomes part of a file's name."""

from __future__ import annotations

import re

from evaluator.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def check_name(name: str) -> str:
    """Return a name that can be part of a file's name.

    Raises:
        UsageError: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"--name {name!r}: letters, digits, _ and - are allowed, at most 40, a letter or digit first")
    return name
