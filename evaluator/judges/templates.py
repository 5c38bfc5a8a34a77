"""Takes a prompt template apart: the messages it holds, and the placeholders in each. Knows nothing of items.

A line ``=== system ===`` or ``=== user ===`` starts a message of that role; without one all of it is the user's
message. A shipped template is tidied: line ends become ``\\n`` and blanks around a message go. A template that is
verbatim is not: the lines that start a message go, with the one line end before the next of them, and nothing else.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from evaluator.errors import ConfigError

ITEM_PARTS = ("input", "output", "reference", "contexts", "reference_section", "contexts_section")

# what other tools call the parts of an item
_OTHER_WORDS = {
    "input": {"question", "query", "prompt", "user_input", "inputs", "instruction", "request"},
    "output": {"answer", "response", "completion", "prediction", "outputs", "actual_output", "submission", "result"},
    "reference": {"expected", "expected_output", "ground_truth", "reference_answer", "target", "ideal", "gold"},
    "contexts": {"context", "documents", "retrieved_contexts", "retrieval_context", "passages", "sources"},
}
_MEANT = {word: name for name, words in _OTHER_WORDS.items() for word in words}
_ANSWER_WORDS = "|".join(sorted({"output", *_OTHER_WORDS["output"]}))

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_ROLE_LINE = re.compile(r"^=== (system|user) ===[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_LAST_LINE_END = re.compile(r"\r?\n\Z")
_OTHER_MARK = re.compile(
    rf"(?<!\{{)\{{(?:{_ANSWER_WORDS})\}}(?!\}})|<(?:{_ANSWER_WORDS})>|\$\{{?(?:{_ANSWER_WORDS})\b\}}?|\[(?:{_ANSWER_WORDS})\]",
    re.IGNORECASE,
)


def split_roles(template: str, *, verbatim: bool) -> list[tuple[str, str]]:
    """Return (role, text) of each message of a template, see the module."""
    if not verbatim:
        return _split_tidied(template)
    pieces = _ROLE_LINE.split(template)
    if len(pieces) == 1:
        return [("user", template)]
    texts = [_LAST_LINE_END.sub("", text) for text in pieces[:-1:2]] + [pieces[-1]]
    opening = [("user", texts[0])] if texts[0].strip() else []
    return opening + [(role, text) for role, text in zip(pieces[1::2], texts[1:], strict=True) if text]


def _split_tidied(template: str) -> list[tuple[str, str]]:
    pieces = _ROLE_LINE.split(template.replace("\r\n", "\n"))
    if len(pieces) == 1:
        return [("user", template)]
    opening = [("user", pieces[0].strip())] if pieces[0].strip() else []
    return opening + [(role, text.strip()) for role, text in zip(pieces[1::2], pieces[2::2], strict=True)]


def compile_text(text: str, static: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (literal text, item placeholder after it) pairs, the last with an empty placeholder.

    Args:
        text: One message of a template.
        static: Texts of the placeholders that are the same for all items; filled in here.

    Raises:
        ConfigError: an unknown placeholder.
    """
    pieces: list[tuple[str, str]] = []
    literal, at = "", 0
    for match in _PLACEHOLDER.finditer(text):
        literal, at, name = literal + text[at : match.start()], match.end(), match[1]
        if name in static:
            literal += static[name]
        elif name in ITEM_PARTS:
            pieces.append((literal, name))
            literal = ""
        else:
            raise ConfigError(_unknown(match[0], name, (*ITEM_PARTS, *static)))
    return [*pieces, (literal + text[at:], "")]


def _unknown(mark: str, name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    close = difflib.get_close_matches(name.casefold(), names, n=1)
    meant = _MEANT.get(name.casefold()) or (close[0] if close else None)
    hint = "; known are" if meant is None else f"; did you mean {{{{{meant}}}}}? Known are"
    return f"the prompt has an unknown placeholder {mark}{hint} {', '.join(names)}"


def check_grades_an_answer(template: str, names: Iterable[str]) -> None:
    """Check that the answer has a place among the placeholders of a template.

    Raises:
        ConfigError: it has none; another tool's way to write it is named.
    """
    if "output" in names:
        return
    other = _OTHER_MARK.search(template)
    if other is None:
        raise ConfigError("the prompt has no {{output}}; put it where the answer to grade belongs")
    doubled = "" if "{{" not in template else ", and single braces where a brace is meant ({{ is only for placeholders)"
    raise ConfigError(f"the prompt has no {{{{output}}}}; it holds {other[0]}: write {{{{output}}}} instead{doubled}")
