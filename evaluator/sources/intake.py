"""Takes in the files that patterns lead to, each once: what it looked like is remembered, what is wrong is told.

Files of answers and files of stored scores go the same way; what becomes of the rows of one is a function.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from evaluator.clock import Clock
from evaluator.config import Config
from evaluator.errors import DataFileError
from evaluator.importing.file_set import hash_file
from evaluator.sources.base import PullOutcome, SourceKey, Taken, number_of
from evaluator.sources.files import FoundFile, find_files, look_at, settled
from evaluator.sources.notes import Note, count_note, merged_notes, merged_problems
from evaluator.sources.reading import changed_settings, reading_text
from evaluator.store import read, write
from evaluator.store.db import Store, open_reader, open_store
from evaluator.store.write import FileKind

_LEFT_OUT = ("1 row cannot be used and is left out", "{n} rows cannot be used and are left out")
_CHANGED = "was changed or removed while it was read; what is there later is taken by the next run"


@dataclass(frozen=True, kw_only=True)
class Intake:
    """How the files of one kind are taken in.

    Attributes:
        config: Says where to.
        key: The key of the configuration that names them.
        kind: What they hold.
        patterns: What leads to them.
        take: Takes in what can be used of one.
        clock: Wall clock.
        pause: Waits so many seconds.
    """

    config: Config
    key: SourceKey
    kind: FileKind
    patterns: Sequence[str]
    take: Callable[[FoundFile], Taken]
    clock: Clock
    pause: Callable[[float], None] = time.sleep

    def run(self) -> PullOutcome:
        """Take in what is new or has changed, one by one: what is wrong with one file is no fault of the others.

        Raises:
            UsageError: a setting that cannot be used.
            StoreError: the database cannot be used.
        """
        found = find_files(self.patterns, self.config.folder, key=self.key)
        with self._open() as store:
            unknown = [file for file in found.files if not is_known(store, self.config, file, self.kind)]
        ready, unfinished = settled(unknown, now=self.clock.now(), pause=self.pause)
        taken = [(file, self._take_once(file)) for file in ready]
        good = [(str(file.path), one) for file, one in taken if one.problem is None]
        notes = [*found.notes, *unfinished, *notes_of(good)]
        wrong = [(str(file.path), one.problem) for file, one in taken if one.problem is not None]
        problems = [*found.problems, *merged_problems(wrong)]
        return self._outcome([one for _, one in good], notes, problems)

    def _open(self) -> Store:
        return open_store(self.config.store_path, zone=self.config.schedule.zone)

    def _outcome(self, taken: Sequence[Taken], notes: Sequence[str], problems: Sequence[str]) -> PullOutcome:
        n_new, n_known = sum(one.n_new for one in taken), sum(one.n_known for one in taken)
        n_files, n_rows = number_of(len(taken), "file"), number_of(n_known, "row")
        if n_known:
            quiet = f"{n_files} repeated what is stored: {n_rows}, 0 new"
        else:
            quiet = f"{n_files} read, no answer in it" if len(taken) == 1 else f"{n_files} read, no answer in them"
            quiet = quiet if taken else "no new file"
        return PullOutcome(
            key=self.key,
            source=", ".join(self.patterns),
            status="failed" if problems else "ok" if n_new else "nothing_new",
            message="; ".join(problems) if problems else "" if n_new else quiet,
            n_files=len(taken),
            n_rows=sum(one.n_rows for one in taken),
            n_new=n_new,
            n_known=n_known,
            n_rejected=sum(one.n_rejected for one in taken),
            notes=tuple(notes),
        )

    def _take_once(self, file: FoundFile) -> Taken:
        """Take in one file and remember it; one that was only touched is not read again."""
        try:
            file_sha256 = hash_file(file.path)
        except DataFileError as error:
            return Taken(problem=str(error)) if look_at(file.path) == file else Taken(notes=(Note(text=_CHANGED),))
        taken = self._taken(file, file_sha256)
        if taken.problem is not None:
            return taken if look_at(file.path) == file else Taken(notes=(Note(text=_CHANGED),))
        with self._open() as store:
            write.save_source_file(
                store,
                app=self.config.app.name,
                kind=self.kind,
                path=str(file.path),
                size_bytes=file.size_bytes,
                mtime_ns=file.mtime_ns,
                file_sha256=file_sha256,
                n_rows=taken.n_rows,
                n_new=taken.n_new,
                now=self.clock.now(),
                reading=reading_text(self.config, self.kind, some_refused=taken.n_rejected > 0),
            )
        return taken

    def _taken(self, file: FoundFile, file_sha256: str) -> Taken:
        with self._open() as store:
            before = read.source_file(store, self.config.app.name, str(file.path), kind=self.kind)
        changed: list[str] = []
        if before is not None and before["file_sha256"] == file_sha256:
            changed = changed_settings(before["reading"], self.config, self.kind)
            if not changed:
                return Taken(n_rows=before["n_rows"], n_known=before["n_rows"])
        if file.size_bytes == 0:
            return Taken(notes=(Note(text="is empty"),))
        taken = self.take(file)
        if changed:
            why = Note(text=f"read again, since {' and '.join(changed)} changed")
            taken = replace(taken, notes=(why, *taken.notes))
        if taken.problem is None and taken.n_rows and not taken.n_usable:
            first = f"; {taken.first_reject}" if taken.first_reject else ""
            return replace(taken, problem=f"{file.path}: none of its rows can be used{first}")
        return taken


def is_known(store: Store, config: Config, file: FoundFile, kind: FileKind) -> bool:
    """Whether a file was taken in as it is now, by its size and time, and in the way it would be read now."""
    row = read.source_file(store, config.app.name, str(file.path), kind=kind)
    if row is None or (row["size_bytes"], row["mtime_ns"]) != (file.size_bytes, file.mtime_ns):
        return False
    return not changed_settings(row["reading"], config, kind)


def count_unknown(config: Config, patterns: Sequence[str], key: SourceKey, kind: FileKind) -> int:
    """Return how many files are new or have changed; nothing is read of them.

    Raises:
        StoreError: the database cannot be used.
    """
    if not patterns:
        return 0
    found = find_files(patterns, config.folder, key=key).files
    if not config.store_path.exists() or not config.store_path.stat().st_size:
        return len(found)
    with open_reader(config.store_path) as store:
        return sum(not is_known(store, config, file, kind) for file in found)


def notes_of(taken: Iterable[tuple[str, Taken]]) -> list[str]:
    """What a person should know of rows that were taken in, from files of these names."""
    return merged_notes((name, note) for name, one in taken for note in _notes_on(one))


def _notes_on(taken: Taken) -> list[Note]:
    if not taken.n_rejected or taken.problem is not None:
        return list(taken.notes)
    return [*taken.notes, count_note(taken.n_rejected, *_LEFT_OUT, example=taken.first_reject)]
