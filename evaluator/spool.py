"""Takes answers from a running application: a JSON line each, appended to a file in a folder, for the scorer to fetch.

``record`` runs inside somebody's product, so it never raises and waits for nothing: no lock, no network, no thread, no
flush to disk. It is one ``write`` into the memory of the operating system, tens of microseconds, and needs no care at
fork or exit. The price: a folder on a hung network drive would hold up the caller, so keep the spool on a local disk;
and a machine that loses power loses the last seconds, while an application that crashes loses nothing.

How nothing is lost or counted twice. A writer locks its file (without waiting: a busy file means another file), checks
that the file is still the one of that name, appends one line, unlocks. The scorer renames a file only while it holds
that lock, so no line can land in a file that was already read. Every line carries an id, so importing a file again
after a crash adds nothing; it is removed when its items are stored. A line cut off by a full disk or a kill is ended by
the next writer, and shows up as one rejected line.

What ``redact`` names is taken out before the line is written, so the spool holds no more than the database will. When
that is not possible, nothing is written.

Only the standard library is used. Locks need a POSIX system; elsewhere ``record`` returns False.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluator.errors import JudgewatchError

if TYPE_CHECKING:
    from evaluator.redaction import Redactor

if sys.platform != "win32":
    import fcntl

FOLDER_VARIABLE = "JUDGEWATCH_SPOOL"
REDACT_VARIABLE = "JUDGEWATCH_REDACT"
DEFAULT_FOLDER = "judgewatch-spool"
OPEN_SUFFIX = ".open.jsonl"
TAKEN_SUFFIX = ".taken.jsonl"
MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_FILE_BYTES = 256 * 1024 * 1024

_MAX_SLOTS = 64
_MAX_OBJECT_CHARS = 1000
# The names under which importers look for an id and a time, best first; a record that has one needs no other.
_ID_NAMES = ("item_id", "id", "example_id")
_TIME_NAMES = ("answered_at", "timestamp", "created_at", "time", "answered_utc")
# What says who an answer is, and when it was given, is not redacted; written without underscores, in lower case.
_IDENTITIES = frozenset(
    name.replace("_", "")
    for name in (*_ID_NAMES, *_TIME_NAMES, "span_id", "trace_id", "conversation_id", "session_id", "thread_id")
) | {"userid", "model"}
_MISSING = object()

_log = logging.getLogger(__name__)


class _Failures:
    """How many answers this process could not record; only the first is logged, a broken disk must not flood a log."""

    count = 0


class SpoolError(Exception):
    """An answer cannot be recorded; never leaves this module."""


def record(
    *,
    output: object = _MISSING,
    input: object = "",  # noqa: A002 - the word of every file and column of the product
    path: str | os.PathLike[str] | None = None,
    redact: Iterable[str] | None = None,
    **fields: object,
) -> bool:
    """Hand one answer to the scorer; never raises and never waits.

    Args:
        output: The answer: text, a value of JSON, or a message of a chat API (anything with ``model_dump``). An object
            that is none of these is refused, and so is a call without an answer.
        input: The question: text, or a list of messages.
        path: The spool folder; else the environment variable JUDGEWATCH_SPOOL, else ``judgewatch-spool`` in the
            working directory. It is made when it is missing. The scorer looks into ``traffic.spool``, else the same
            variable, else ``judgewatch-spool`` beside its configuration.
        redact: What to take out of texts and tags before anything is written: any of "email", "phone", "card", "key";
            else the environment variable JUDGEWATCH_REDACT, like ``email,phone``. Ids and times stay as they are.
        fields: Anything an importer knows (``item_id``, ``conversation_id``, ``user_id``, ``model``, ``reference``,
            ``contexts``, ``answered_at``) and any tag. The time defaults to now, the id to a random one.
    Returns:
        True when the line is written. False when it is not; the first failure of a process is logged as a warning,
        all are counted (``failed_count``).
    """
    try:
        _append(spool_folder(path), _line(output, input, fields, _redactor(_kinds(redact))))
    except Exception as error:  # noqa: BLE001 - an object's own code may raise anything, and the application goes first
        _Failures.count += 1
        if _Failures.count == 1:
            _warn(error)
        return False
    return True


def failed_count() -> int:
    """Return how many answers this process could not record."""
    return _Failures.count


def spool_folder(path: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that ``record`` writes to."""
    return Path(path or os.environ.get(FOLDER_VARIABLE) or DEFAULT_FOLDER)


def take_spooled(folder: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Take over what applications have written, in the order of file names (by day); for the scorer.

    Yields files that no application writes to any more, those first that an earlier, interrupted pass took. A file
    that an application is writing to at this moment is left for the next pass. Import each file, then
    ``remove_spooled`` it; a file that is not removed is yielded again next time.

    Raises:
        JudgewatchError: the folder does not allow it.
    """
    spool = spool_folder(folder)
    if not spool.is_dir():
        return
    yield from sorted(spool.glob(f"*{TAKEN_SUFFIX}"))
    for path in sorted(spool.glob(f"*{OPEN_SUFFIX}")):
        taken = _take(path)
        if taken is not None:
            yield taken


def remove_spooled(path: Path) -> None:
    """Remove a file whose items are stored; a file that is gone already is fine."""
    path.unlink(missing_ok=True)


def _kinds(redact: Iterable[str] | None) -> tuple[str, ...]:
    """What to take out: as the call says, else as the environment does."""
    if redact is None:
        redact = os.environ.get(REDACT_VARIABLE, "").split(",")
    names = (redact,) if isinstance(redact, str) else tuple(redact)
    return tuple(name.strip() for name in names if name.strip())


@lru_cache(maxsize=16)
def _redactor(kinds: tuple[str, ...]) -> Redactor | None:
    if not kinds:
        return None
    from evaluator.redaction import Redactor  # its patterns take a moment to build; most applications need none

    return Redactor(kinds)


def _line(output: object, input_value: object, fields: dict[str, object], redactor: Redactor | None = None) -> bytes:
    _check_answer(output)
    values: dict[str, object] = {}
    if all(fields.get(name) in (None, "") for name in _ID_NAMES):
        values["item_id"] = os.urandom(16).hex()
    if all(fields.get(name) in (None, "") for name in _TIME_NAMES):
        values["answered_at"] = _now_utc()
    values.update(input=input_value, output=output)
    values.update((name, value) for name, value in fields.items() if value is not None)
    line = json.dumps(values, default=_plain).encode("ascii") + b"\n"
    if redactor is not None:
        line = json.dumps(_redacted_row(json.loads(line), redactor)).encode("ascii") + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise SpoolError(f"the answer takes {len(line)} bytes, more than {MAX_LINE_BYTES}")
    return line


def _redacted_row(row: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """A row whose texts are redacted, those within lists and messages too; its ids and its time are not."""
    return {name: value if _bare(name) in _IDENTITIES else _redacted(value, redactor) for name, value in row.items()}


def _bare(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _redacted(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.redact(value)
    if isinstance(value, list):
        return [_redacted(part, redactor) for part in value]
    if isinstance(value, dict):
        return {name: _redacted(part, redactor) for name, part in value.items()}
    return value


def _check_answer(output: object) -> None:
    """Refuse what has no text of its own: the printed name of an object would be graded as if a person had read it."""
    if output is _MISSING:
        raise SpoolError("output, the answer, is missing")
    for part in output if isinstance(output, list | tuple) else (output,):
        is_value = part is None or isinstance(part, str | int | float | dict | list | tuple)
        if not is_value and not callable(getattr(part, "model_dump", None)):
            raise SpoolError(f"output is a {type(part).__name__}; hand over its text, or a value of JSON")


def _plain(value: object) -> object:
    """JSON of an object: what it says of itself (replies of API clients do), else its text, shortened."""
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else str(value)[:_MAX_OBJECT_CHARS]


def _now_utc() -> str:
    now = datetime.fromtimestamp(time.time(), tz=UTC).replace(tzinfo=None)
    return now.isoformat(timespec="milliseconds") + "Z"


def _append(folder: Path, line: bytes) -> None:
    """Append to the first file of this process and day that nobody holds; more than one only under many threads."""
    if sys.platform == "win32":
        raise SpoolError("the spool needs a POSIX system")
    day = time.strftime("%Y%m%d", time.gmtime())
    for slot in range(_MAX_SLOTS):
        path = folder / f"{day}-{os.getpid()}-{slot}{OPEN_SUFFIX}"
        descriptor = _open(path)
        try:
            if _lock(descriptor) and _is_at(descriptor, path):
                return _write(descriptor, line)
        finally:
            os.close(descriptor)  # unlocks
    raise SpoolError(f"{_MAX_SLOTS} threads are writing at once")


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)


def _lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the open file still has that name: the scorer may have taken it between opening and locking."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _write(descriptor: int, line: bytes) -> None:
    size = os.fstat(descriptor).st_size
    if size + len(line) > MAX_FILE_BYTES:
        raise SpoolError(f"the spool file is full ({size} bytes); is a scorer running?")
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        line = b"\n" + line  # ends what a killed writer left
    if os.write(descriptor, line) != len(line):
        os.ftruncate(descriptor, size)
        raise SpoolError("the disk is full")


def _take(path: Path) -> Path | None:
    """Rename a file under its lock; None when it is being written to, or was taken by another scorer."""
    taken = path.with_name(f"{path.name.removesuffix(OPEN_SUFFIX)}-{os.urandom(4).hex()}{TAKEN_SUFFIX}")
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _cannot_take(path, error) from error
    try:
        if not (_lock(descriptor) and _is_at(descriptor, path)):
            return None
        path.rename(taken)
    except OSError as error:
        raise _cannot_take(path, error) from error
    finally:
        os.close(descriptor)
    return taken


def _cannot_take(path: Path, error: OSError) -> JudgewatchError:
    return JudgewatchError(f"{path}: cannot be taken over ({error.strerror}); the scorer must be able to rename it")


def _warn(error: Exception) -> None:
    try:
        _log.warning("an answer could not be recorded for judgewatch (later ones are only counted): %r", error)
    except Exception:  # noqa: BLE001 - the error's or a handler's own code; there is no one left to tell
        return
