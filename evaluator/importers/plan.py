"""The plan of a shape of row: which column holds what. A record only; ``columns.py`` makes it."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.importers.paths import Step


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The columns of rows of one shape, by what they hold; columns of one meaning in the order in which they count.

    Attributes:
        nested: Keys of objects whose entries are tags.
        tags: (key, name of the tag) of every other column.
        inside: (column, key, key inside of it) of columns that stand in an object.
        paths: (column, field, steps) of columns that were named by a path.
        used: (key, key inside of it) of entries that are no tags, since a field is taken from there.
        weak: Columns whose value is an id only when it looks like one.
    """

    input: tuple[str, ...]
    output: tuple[str, ...]
    reference: tuple[str, ...]
    contexts: tuple[str, ...]
    id: tuple[str, ...]
    conversation_id: tuple[str, ...]
    user_id: tuple[str, ...]
    answered_at: tuple[str, ...]
    model: tuple[str, ...]
    nested: tuple[str, ...]
    tags: tuple[tuple[str, str], ...]
    inside: tuple[tuple[str, str, str], ...] = ()
    paths: tuple[tuple[str, str, tuple[Step, ...]], ...] = ()
    used: frozenset[tuple[str, str]] = frozenset()
    weak: frozenset[str] = frozenset()
