"""Takes secrets out of texts that are kept or shown: servers and tools like to repeat the key they refuse."""

from __future__ import annotations

import re

HIDDEN = "***"
_SHORTEST_SECRET = 12  # servers without keys are given words like "none", which a message may well hold
_SECRET_LIKE = re.compile(
    r"\b(?:sk|pk|key)-[\w*-]{4,}|\beyJ[\w.-]{8,}|\bbearer\s+\S+|(?<=//)[^/@\s]+(?=@)", re.IGNORECASE
)
_LONG_WORD = re.compile(r"[A-Za-z0-9_=+-]{24,}")


def hide_secrets(text: str, *secrets: str) -> str:
    """Return a text without some known secrets and without anything that looks like a key, token or password."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, HIDDEN)
    return _SECRET_LIKE.sub(HIDDEN, text)


def hide_tokens(text: str) -> str:
    """Return a text without secrets and without any long word: what is said about tokens may well hold one."""
    return _LONG_WORD.sub(HIDDEN, hide_secrets(text))
