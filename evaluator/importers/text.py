"""Makes text safe to store, once, at the entrance.

Half a surrogate pair cannot be written to a database or a page, and SQL functions stop at a NUL; both become U+FFFD.
All other characters, control and direction marks included, stay as they are.
"""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"

_UNSAFE = re.compile("[\\x00\\ud800-\\udfff]")


def repair_text(text: str) -> tuple[str, bool]:
    """Replace lone surrogates and NUL characters.

    Returns:
        The text, and whether anything in it was replaced.
    """
    if "\0" not in text and _is_encodable(text):
        return text, False
    return _UNSAFE.sub(REPLACEMENT, text), True


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def excerpt(text: str, n_chars: int) -> str:
    """Return the start of a text on one line, safe to print and to store."""
    start = repair_text(text[:n_chars])[0]
    return "".join(char if char.isprintable() else " " for char in start).strip()
