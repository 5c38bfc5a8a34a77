"""Finds personal data in texts and takes it out: e-mail addresses, phone numbers, card numbers, keys, own patterns.

Pure: texts in, texts out. What is found is replaced by its name in brackets (``[email]``), and what has been taken out
is left alone from then on, so redacting twice is redacting once. The rules prefer precision: a date, a price or an
order number that is taken for a phone number makes an answer unreadable for the judge. Names and postal addresses are
not found; a hook is the place for a model that finds them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from evaluator.errors import ConfigError
from evaluator.redaction.numbers import find_cards, find_phones
from evaluator.redaction.words import find_emails, find_keys

Span = tuple[int, int]
Finder = Callable[[str], Iterator[Span]]

KINDS = ("email", "phone", "card", "key")

# Not the order of KINDS: a key may hold what looks like a card, a card what looks like a phone number.
_FINDERS: dict[str, Finder] = {"key": find_keys, "email": find_emails, "card": find_cards, "phone": find_phones}
_NAME = re.compile(r"[^\W\d][\w -]{0,39}")


class RedactionError(Exception):
    """The hook raised, or returned no text: what it was given must not be kept. The message holds none of the text."""


class Redactor:
    """Takes personal data out of texts and counts it."""

    def __init__(
        self,
        kinds: Iterable[str] = KINDS,
        patterns: Mapping[str, str] | None = None,
        hook: Callable[[str], str] | None = None,
    ) -> None:
        """Make a redactor.

        Args:
            kinds: Which of ``KINDS`` to look for.
            patterns: Regular expressions by name; what they match becomes ``[name]``. They go before the kinds.
            hook: Called last, with each text; returns the text to keep. The same text must give the same result.

        Raises:
            ConfigError: a kind is not known, a name cannot be used, or a pattern cannot be read.
        """
        chosen = set(kinds)
        unknown = sorted(chosen - set(KINDS))
        if unknown:
            raise ConfigError(f"redact: {unknown[0]!r} is not known; choose from {', '.join(KINDS)}")
        own = {name: _own_finder(name, pattern) for name, pattern in (patterns or {}).items()}
        self._finders = own | {kind: finder for kind, finder in _FINDERS.items() if kind in chosen}
        self._marks = re.compile("|".join(re.escape(f"[{name}]") for name in self._finders) or r"(?!)")
        self._hook = hook
        self.counts: Counter[str] = Counter()  # finds by name, over all texts so far

    def redact(self, text: str) -> str:
        """Return the text without what was looked for, and count that.

        Raises:
            RedactionError: the hook raised, or returned no text.
        """
        while (clean := self._once(text)) != text:
            text = clean
        return text if self._hook is None else self._hooked(text)

    def _once(self, text: str) -> str:
        for name, find in self._finders.items():
            text = self._replace(text, name, find)
        return text

    def _replace(self, text: str, name: str, find: Finder) -> str:
        marks = [found.span() for found in self._marks.finditer(text)] if "[" in text else []
        parts: list[str] = []
        done = 0
        for start, end in _beside(find(text), marks):
            parts += (text[done:start], f"[{name}]")
            done = end
            self.counts[name] += 1
        return "".join(parts) + text[done:] if parts else text

    def _hooked(self, text: str) -> str:
        if self._hook is None:
            return text
        try:
            kept: object = self._hook(text)
        except Exception as error:  # noqa: BLE001 - the user's own code may raise anything
            # only the kind of error: its message may quote the text
            raise RedactionError(f"the redaction hook raised {type(error).__name__}") from None
        if not isinstance(kept, str):
            raise RedactionError(f"the redaction hook returned {type(kept).__name__}, no text")
        self.counts["hook"] += kept != text
        return kept


def find_personal(text: str) -> tuple[str, ...]:
    """Return the kinds of personal data that a text holds, in the order of ``KINDS``; empty when there is none."""
    redactor = Redactor()
    redactor.redact(text)
    return tuple(kind for kind in KINDS if redactor.counts[kind])


def _own_finder(name: str, pattern: str) -> Finder:
    if not _NAME.fullmatch(name) or name in KINDS or name == "hook":
        raise ConfigError(
            f"redact_patterns: {name!r} cannot be the name of a pattern; use letters, digits, spaces, _ and -, a "
            f"letter first, at most 40, and none of {', '.join(KINDS)}, hook"
        )
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ConfigError(f"redact_patterns.{name}: {pattern!r} is no regular expression: {error}") from error
    if compiled.fullmatch(""):
        raise ConfigError(f"redact_patterns.{name}: {pattern!r} matches the empty text; ask for at least one character")
    return lambda text: (found.span() for found in compiled.finditer(text) if found.group())


def _beside(spans: Iterable[Span], marks: list[Span]) -> Iterator[Span]:
    """Spans that are not within a mark already made; one that cuts into a mark takes the whole of it."""
    following = iter(marks)
    mark = next(following, None)
    for start, end in spans:
        while mark is not None and mark[1] <= start:
            mark = next(following, None)
        if mark is not None and mark[0] <= start and end <= mark[1]:
            continue
        low, high = start, end
        while mark is not None and mark[0] < high:
            low, high = min(low, mark[0]), max(high, mark[1])
            mark = next(following, None)
        yield low, high
