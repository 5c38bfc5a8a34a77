"""Fences graded text with a marker that the text cannot guess, and reads fenced text back.

A fenced part of a prompt looks like this, the marker being 16 hex digits that are the same for one item every time:

    <<<answer 3f9a1c0b2d4e6f80
    the text, as it is
    answer 3f9a1c0b2d4e6f80>>>

Who writes the text does not know the local secret, so no text can close its own fence. What the parts mean to the
judge is said by the prompt, not here.
"""

from __future__ import annotations

import hmac
import re

_FENCED = re.compile(
    r"^<<<(?P<name>[a-z]+(?: \d+)?) (?P<marker>[0-9a-f]{16})\n(?P<text>.*?)\n(?P=name) (?P=marker)>>>$",
    re.DOTALL | re.MULTILINE,
)
_MARKER_DIGITS = 16


def make_marker(secret: bytes, item_id: str) -> str:
    """Return the marker of an item: the start of an HMAC-SHA256 of its id, so the same item gives the same bytes."""
    return hmac.digest(secret, item_id.encode("utf-8", "replace"), "sha256").hex()[:_MARKER_DIGITS]


def fence(name: str, text: str, marker: str) -> str:
    """Return a text between its opening and its closing line.

    Args:
        name: Lower-case name of the part, with a number where there are several: ``answer``, ``context 2``.
        text: Any text. Should it hold the marker, which takes a collision, the marker is broken up in it.
        marker: From ``make_marker``.
    """
    if marker in text:
        text = text.replace(marker, f"{marker[:8]} {marker[8:]} ")
    return f"<<<{name} {marker}\n{text}\n{name} {marker}>>>"


def read_fenced(prompt_text: str) -> dict[str, str]:
    """Return the fenced parts of a prompt by name, the inverse of ``fence``; a fence inside a part is text of it."""
    return {match["name"]: match["text"] for match in _FENCED.finditer(prompt_text)}


def cut_middle(text: str, max_chars: int) -> tuple[str, bool]:
    """Shorten a text to at most ``max_chars`` characters by leaving out its middle, with a visible note there.

    Returns:
        The text, and whether anything was left out.
    """
    if len(text) <= max_chars:
        return text, False
    note = f"\n[... {len(text) - max_chars} characters and more left out here ...]\n"
    kept = max(max_chars - len(note), 0)
    head = kept - kept // 2
    return f"{text[:head]}{note}{text[len(text) - kept // 2 :]}", True
