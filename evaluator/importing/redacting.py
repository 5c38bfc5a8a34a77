"""Takes personal data out of rows between reading and storing: what the configuration names never reaches the disk.

Texts and values of tags are redacted. Ids stay: they say who an item is, so that reading a file again adds nothing, and
with them a person's answers are found and deleted. It happens before any hash is made of a text.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluator.errors import ConfigError
from evaluator.identity import EqualCounter
from evaluator.importers import ImportedItem, ItemStream, Reject
from evaluator.records import Item
from evaluator.redaction import KINDS, RedactionError, Redactor

if TYPE_CHECKING:
    from evaluator.config import TrafficConfig

_PREFIX = "python:"
_HIDDEN = "(not shown)"
_MAYBE_CUT = re.compile(r"[^\s@]*+[@＠]\S*|\S{24,}|\d")


def open_redactor(traffic: TrafficConfig) -> Redactor | None:
    """Return the redactor that ``[traffic]`` asks for; None when nothing is to be taken out.

    Raises:
        ConfigError: the hook cannot be imported, or a pattern cannot be used.
    """
    if not (traffic.redact or traffic.redact_patterns or traffic.redact_hook):
        return None
    hook = None if traffic.redact_hook is None else _load_hook(traffic.redact_hook)
    return Redactor(traffic.redact, traffic.redact_patterns, hook)


def _load_hook(place: str) -> Callable[[str], str]:
    module_name, _, function_name = place.removeprefix(_PREFIX).partition(":")
    try:
        found: Any = getattr(importlib.import_module(module_name), function_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"traffic.redact_hook = {place!r} cannot be imported: {error}; install the package or set PYTHONPATH"
        ) from error
    if not callable(found):
        raise ConfigError(f"traffic.redact_hook = {place!r} is a {type(found).__name__} and cannot be called")
    hook: Callable[[str], str] = found
    return hook


def redacted(item: Item, redactor: Redactor | None) -> Item:
    """Return an item as it may be stored; whoever stores items of a file sends each through here first.

    Raises:
        RedactionError: the hook failed; the item must not be stored.
    """
    if redactor is None:
        return item
    clean = redactor.redact
    return replace(
        item,
        input=clean(item.input),
        output=clean(item.output),
        reference=None if item.reference is None else clean(item.reference),
        contexts=tuple(clean(context) for context in item.contexts),
        tags={key: clean(value) for key, value in item.tags.items()},
    )


def redacted_text(text: str, redactor: Redactor | None) -> str:
    """Return a text that is told or kept beside items: an explanation, a reason; what a hook fails on is left out."""
    if redactor is None or not text:
        return text
    try:
        return redactor.redact(text)
    except RedactionError:
        return _HIDDEN


def redacted_reject(reject: Reject, redactor: Redactor | None) -> Reject:
    """Return a reject as it may be told: its reason may quote the row, and its start is the row's.

    A start is cut off, and half a number or an address is not known as one: digits, long words and words with an at
    sign are hidden.
    """
    if redactor is None:
        return reject
    start = _MAYBE_CUT.sub("#", redacted_text(reject.text_start, redactor))
    return replace(reject, reason=redacted_text(reject.reason, redactor), text_start=start)


_WORDS = {
    "email": ("e-mail address", "e-mail addresses"),
    "phone": ("phone number", "phone numbers"),
    "card": ("card number", "card numbers"),
    "key": ("key", "keys"),
    "hook": ("text changed by the hook", "texts changed by the hook"),
}


def redaction_text(found: Mapping[str, int], n_answers: int) -> str:
    """Say what was taken out: "12 e-mail addresses and 3 phone numbers in 9 answers"; empty when nothing was."""
    order = [*KINDS, *sorted(set(found) - set(_WORDS)), "hook"]
    parts = [f"{found[name]:,} {_WORDS.get(name, (name, name))[found[name] != 1]}" for name in order if found.get(name)]
    if not parts:
        return ""
    listed = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    return f"{listed} in {n_answers:,} answer{'' if n_answers == 1 else 's'}"


class RedactedStream:
    """The items and rejects of one file, redacted; a row on which the hook fails is a reject.

    ``found`` counts what was taken out by name, ``n_redacted`` the answers it was taken out of.
    """

    def __init__(self, stream: ItemStream, redactor: Redactor | None) -> None:
        self._stream = stream
        self._redactor = redactor
        self._equals = EqualCounter()
        self._n_failed = 0
        self.found: Counter[str] = Counter()
        self.n_redacted = 0

    @property
    def n_rows(self) -> int:
        """Rows so far: items and rejects."""
        return self._stream.n_rows

    @property
    def n_blank(self) -> int:
        """Blank lines so far."""
        return self._stream.n_blank

    @property
    def n_rejected(self) -> int:
        """Rejects so far."""
        return self._stream.n_rejected + self._n_failed

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out so far, one sentence each."""
        return self._stream.notes

    def __iter__(self) -> Iterator[ImportedItem | Reject]:
        """Yield an item or a reject for each row.

        Raises:
            DataFileError: at the end, as ``ItemStream`` does.
        """
        if self._redactor is None:
            yield from self._stream
            return
        for entry in self._stream:
            yield redacted_reject(entry, self._redactor) if isinstance(entry, Reject) else self._clean(entry)

    def _clean(self, entry: ImportedItem) -> ImportedItem | Reject:
        redactor = self._redactor
        if redactor is None:
            return entry
        before = Counter(redactor.counts)
        try:
            item = redacted(entry.item, redactor)
        except RedactionError as error:
            self._n_failed += 1
            return Reject(line_number=entry.line_number, reason=f"{error}; nothing of the row is kept")
        found = redactor.counts - before
        self.found += found
        self.n_redacted += bool(found)
        # rows that differ only in what was taken out are equal now, and are told apart by their position
        return entry._replace(item=item, ordinal=self._equals.position(item))
