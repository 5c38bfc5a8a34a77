"""Finds e-mail addresses and keys: what is known by its letters.

Every pattern is linear: a run of characters is entered at its beginning only, and never given back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Letters of scripts that part words by spaces, with their marks; Chinese, Japanese, Korean and Thai go on without one,
# so there an address ends where the script changes.
_SPACED = "\u00c0-\u0dff\u1e00-\u1fff"
_DENSE = "\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7ff"
_LOCAL = rf"[A-Za-z0-9_.%+\-{_SPACED}]"
_LABEL = rf"(?:[A-Za-z0-9_\-{_SPACED}]{{1,63}}|[{_DENSE}]{{1,63}})"
_TOP = rf"(?:xn--[A-Za-z0-9-]{{1,59}}|[A-Za-z{_SPACED}]{{2,63}}|[{_DENSE}]{{1,63}})"
_EMAIL = re.compile(
    rf"(?:(?<!{_LOCAL})(?<!{_LOCAL}')(?<!{_LOCAL}’){_LOCAL}++(?:['’]{_LOCAL}++)*|(?<![{_DENSE}])[{_DENSE}]++)"
    rf"[@＠](?!\dx\.)(?:{_LABEL}\.){{1,10}}{_TOP}"  # name@2x.png is a picture
)

_PRIVATE = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_BLOCK = re.compile(
    # without possessive groups: Python before 3.11.5 loses its way in them
    rf"-----BEGIN {_PRIVATE}(?:[^-]|-(?!----))*-----END {_PRIVATE}"
    # one that was cut off; nothing follows that could make it look back
    rf"|-----BEGIN {_PRIVATE}(?:[A-Za-z0-9+/=]{{16,}}|\\[nr]|\s)*"
)
_WITH_DIGIT = r"(?=[A-Za-z_\-]{0,64}+\d)"  # a key without a digit in its first 64 characters is a word
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9_\-])(?:"
    rf"[sr]k-{_WITH_DIGIT}[A-Za-z0-9_\-]{{16,}}+"
    r"|[sprw](?:k|hsec)_(?:live_|test_)?+[A-Za-z0-9]{16,}+"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|gh[opusr]_[A-Za-z0-9]{30,}+|github_pat_[A-Za-z0-9_]{22,}+|glpat-[A-Za-z0-9_\-]{20,}+"
    r"|xox[abeoprs]-[A-Za-z0-9\-]{10,}+|xapp-[A-Za-z0-9\-]{10,}+"
    r"|AIza[A-Za-z0-9_\-]{35}|hf_[A-Za-z0-9]{30,}+|npm_[A-Za-z0-9]{36}"
    r"|eyJ[A-Za-z0-9_\-]{8,}+\.[A-Za-z0-9_\-]{8,}+(?:\.[A-Za-z0-9_\-]*+)?"
    r")"
)
# group 1 is the key: the word before it stays, it says what was there
_BEARER = re.compile(
    r"(?:\b[Bb]earer|(?i:authorization)[\"']?\s{0,3}[:=]\s{0,3}[\"']?[Bb]asic)\s{1,8}"
    r"((?=[A-Za-z._~+/=\-]{0,64}+\d)[A-Za-z0-9._~+/=\-]{16,}+)"
)
_NAMED = re.compile(
    r"(?:(?<![A-Za-z])(?i:keys?|tokens?|secrets?|password|passwd|passphrase|pwd|passwort|schlüssel|contraseña|senha|clé)"
    r"|(?<=[a-z])(?:Key|Token|Secret|Password))"
    r"[\"'`”)]?\s{0,3}(?:[:=]{1,2}>?|is|was|ist|lautet|es|est)?\s{0,3}[\"'`“(]?"
    r"((?=[A-Za-z+/_=\-]{0,64}+\d)[A-Za-z0-9][A-Za-z0-9+/_=\-]{31,}+)"
)


def find_emails(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of each e-mail address, in order."""
    if "@" in text or "＠" in text:
        for found in _EMAIL.finditer(text):
            yield found.span()


def find_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of each key, in order and without overlap: private keys, tokens known by their beginning, what
    follows ``Bearer``, and long runs of letters and digits after a word like key, token, secret or password.
    """
    found = [match.span() for pattern in (_BLOCK, _PREFIXED) for match in pattern.finditer(text)]
    found += [match.span(1) for pattern in (_BEARER, _NAMED) for match in pattern.finditer(text)]
    done = 0
    for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
        if end > done:
            yield max(start, done), end
            done = end
