"""What a person should know of the rows of files: the same remark on several files is one sentence. Words only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NOTES_SHOWN = 5
_NUMBER = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True, kw_only=True)
class Note:
    """One remark on the rows of a file.

    Attributes:
        text: In words, for one file.
        n: What it counts; 0 where it counts nothing.
        many: The words for more than one, with ``{n}`` for the number; empty where it counts nothing.
        example: What stands for all of them.
    """

    text: str
    n: int = 0
    many: str = ""
    example: str = ""

    @property
    def key(self) -> str:
        """Equal for remarks that say the same of other numbers."""
        return self.many or _NUMBER.sub("#", self.text)


def count_note(n: int, one: str, many: str, *, example: str = "") -> Note:
    """Return a remark that counts something: ``one`` are the words for a single one, ``many`` have ``{n}``."""
    return Note(text=one if n == 1 else _counted(many, n), n=n, many=many, example=example)


def _counted(many: str, n: int) -> str:
    # not str.format: the words may hold a piece of configuration, with braces of its own
    return many.replace("{n}", f"{n:,}")


def merged_notes(found: Iterable[tuple[str, Note]]) -> list[str]:
    """Return remarks as sentences, each once for all files it was made on.

    Args:
        found: Names of files with the remarks on them, in order.
    """
    groups: dict[str, list[tuple[str, Note]]] = {}
    for name, note in found:
        groups.setdefault(note.key, []).append((name, note))
    return [_sentence(group) for group in groups.values()]


def _sentence(group: Sequence[tuple[str, Note]]) -> str:
    name, first = group[0]
    if len(group) == 1:
        return f"{name}: {first.text}" + (f"; {first.example}" if first.example else "")
    if first.n:
        words = _counted(first.many, sum(note.n for _, note in group))
        return f"in {len(group)} files: {words}" + (f"; the first: {name}, {first.example}" if first.example else "")
    if all(note == first for _, note in group):
        return f"in {len(group)} files: {first.text}"
    return f"{name}: {first.text}; much the same in {len(group) - 1} more"


def merged_problems(found: Iterable[tuple[str, str]]) -> list[str]:
    """Return what is wrong with files, the same fault once: with the first of them, and how many there are more.

    Faults are the same whose first clauses are; what columns were seen instead differs from file to file.

    Args:
        found: Names of files with what is wrong with each; a name may stand in its own problem.
    """
    groups: dict[str, list[str]] = {}
    for name, problem in found:
        clause = problem.replace(name, "").partition(";")[0]
        groups.setdefault(_NUMBER.sub("#", clause), []).append(problem)
    return [
        problems[0] if len(problems) == 1 else f"{problems[0]}; the same in {len(problems) - 1} more"
        for problems in groups.values()
    ]


def shown_notes(notes: Sequence[str]) -> list[str]:
    """Return the first few notes, and of the others how many there are."""
    more = len(notes) - NOTES_SHOWN
    return [*notes[:NOTES_SHOWN], *([f"and {more:,} more {'note' if more == 1 else 'notes'}"] if more > 0 else [])]
