"""Bounds the tokens of a prompt without a tokenizer, so that money can be set aside before a call."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Mapping

_LETTERS = (string.ascii_letters + " ").encode("ascii")
_BYTES_OF_OTHER_SCRIPTS = bytes(range(0x80, 0x100))
_SPARSE = _LETTERS + _BYTES_OF_OTHER_SCRIPTS
_MESSAGE_TOKENS = 16
_REQUEST_TOKENS = 400


def max_prompt_tokens(messages: Iterable[Mapping[str, str]]) -> int:
    """Return a number of tokens that the prompt does not exceed with any tokenizer in common use.

    Digits, punctuation and line ends count one token each, as the densest tokenizers split them; ASCII letters, blanks
    and the UTF-8 bytes of other scripts count one token for two bytes (words take three bytes and more a token, random
    letters and rare scripts about two). Message frames and a reply schema are allowed for. A text made up to defeat
    this costs more than was set aside, by less than its own double; the true cost is settled after the call.
    """
    n_tokens = _REQUEST_TOKENS
    for message in messages:
        encoded = message["content"].encode("utf-8", "replace")
        n_dense = len(encoded.translate(None, _SPARSE))
        n_tokens += _MESSAGE_TOKENS + n_dense + math.ceil((len(encoded) - n_dense) / 2)
    return n_tokens
