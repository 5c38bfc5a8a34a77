"""The spool: an application is never stopped by it, and no line is lost or torn, whoever dies when."""

from __future__ import annotations

import errno
import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator import spool
from evaluator.errors import JudgewatchError
from evaluator.importers import load_items
from evaluator.importers.columns import FIELD_NAMES
from evaluator.records import Item, ItemFlag
from evaluator.spool import failed_count, record, remove_spooled, spool_folder, take_spooled


@pytest.fixture(autouse=True)
def _fresh_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool._Failures, "count", 0)


def taken_items(folder: Path) -> list[Item]:
    """Take everything over, read it as the scorer does, remove it."""
    items: list[Item] = []
    for path in take_spooled(folder):
        loaded = load_items(path)
        assert loaded.rejects == ()
        items += [entry.item for entry in loaded.items]
        remove_spooled(path)
    return items


def held(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_a_recorded_answer_is_read_as_an_item(tmp_path: Path) -> None:
    """What the application hands in comes out of the importer, tags included."""
    question = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Open?"}]
    assert record(
        input=question, output="Yes.", path=tmp_path, conversation_id="c1", model="m", language="en", beta=True
    )
    (item,) = taken_items(tmp_path)
    assert item.input == "System: Be brief.\n\nUser: Open?"
    assert (item.output, item.conversation_id, item.model) == ("Yes.", "c1", "m")
    assert item.tags == {"language": "en", "beta": "true"}


def test_the_time_is_now_in_utc(tmp_path: Path) -> None:
    """The default time is aware and within seconds of the clock."""
    record(output="Yes.", path=tmp_path)
    (item,) = taken_items(tmp_path)
    assert item.flags == {ItemFlag.EMPTY_INPUT}
    moment = datetime.fromisoformat(str(item.answered_utc))
    assert abs(datetime.now(tz=moment.tzinfo) - moment) < timedelta(minutes=1)


def test_a_given_time_and_id_are_kept(tmp_path: Path) -> None:
    """Under any name the importer knows; a time object is written as text."""
    moment = datetime.fromisoformat("2026-01-05T09:00:00+01:00")
    assert record(output="Yes.", path=tmp_path, id=7, timestamp=moment)
    (item,) = taken_items(tmp_path)
    assert (item.external_id, item.answered_utc) == ("7", "2026-01-05T08:00:00Z")


def test_every_record_without_an_id_gets_one_of_its_own(tmp_path: Path) -> None:
    """So that importing the same line twice adds nothing, and two equal answers are two items."""
    for _ in range(3):
        record(output="Yes.", path=tmp_path, item_id=None)
    assert len({item.external_id for item in taken_items(tmp_path)} - {None}) == 3


def test_the_names_of_ids_and_times_are_those_of_the_importer() -> None:
    """The spool keeps its own copy, because it must not import the importers."""
    assert FIELD_NAMES["id"][: len(spool._ID_NAMES)] == spool._ID_NAMES
    assert FIELD_NAMES["answered_at"] == spool._TIME_NAMES


def test_the_folder_is_the_argument_then_the_variable_then_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing folder is made, with its parents."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGEWATCH_SPOOL", raising=False)
    assert record(output="default")
    assert len(held(tmp_path / "judgewatch-spool")) == 1
    monkeypatch.setenv("JUDGEWATCH_SPOOL", str(tmp_path / "a" / "b"))
    assert spool_folder() == tmp_path / "a" / "b"
    assert record(output="variable")
    assert [row["output"] for row in held(tmp_path / "a" / "b")] == ["variable"]
    assert record(output="argument", path=tmp_path / "c")
    assert [row["output"] for row in held(tmp_path / "c")] == ["argument"]


class Reply:
    """Like the message objects of API clients."""

    def model_dump(self) -> dict[str, Any]:
        """Return the message as plain values."""
        return {"role": "assistant", "content": "Yes.", "at": datetime.fromisoformat("2026-01-05")}


def test_a_message_object_is_written_as_what_it_holds(tmp_path: Path) -> None:
    """The answer of an API client can be handed over as it is."""
    assert record(output=Reply(), path=tmp_path)
    assert taken_items(tmp_path)[0].output == "Yes."


def test_an_unknown_object_is_written_as_bounded_text(tmp_path: Path) -> None:
    """A tag that is some object does not cost the answer, nor megabytes."""

    class Huge:
        def __str__(self) -> str:
            return "x" * 100_000

    assert record(output="Yes.", path=tmp_path, where=Path("a/b"), huge=Huge())
    (row,) = held(tmp_path)
    assert (row["where"], len(row["huge"])) == ("a/b", 1000)


class Hostile:
    """Raises whatever is asked of it."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def endless() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["again"] = value
    return value


@pytest.mark.parametrize("output", [Hostile(), endless(), {("a", "tuple"): 1}, "x" * (8 * 1024 * 1024)])
def test_what_cannot_be_written_returns_false(tmp_path: Path, output: object) -> None:
    """Objects that raise, circles, odd keys, too much text: no exception, no half line."""
    assert record(output="before", path=tmp_path)
    assert record(output=output, path=tmp_path) is False
    assert record(output="after", path=tmp_path)
    assert [row["output"] for row in held(tmp_path)] == ["before", "after"]
    assert failed_count() == 1


def test_half_a_surrogate_pair_is_written_and_repaired_by_the_importer(tmp_path: Path) -> None:
    """Text cut inside an emoji is no reason to lose the answer."""
    assert record(output="cut \ud83d", path=tmp_path)
    (item,) = taken_items(tmp_path)
    assert (item.output, ItemFlag.ALTERED_TEXT in item.flags) == ("cut \ufffd", True)


def test_failures_are_logged_once_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A broken disk must not flood the application's log."""
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with caplog.at_level(logging.DEBUG):
        results = [record(output="Yes.", path=tmp_path / "file") for _ in range(3)]
    assert results == [False, False, False]
    assert failed_count() == 3
    assert [(entry.levelname, entry.name) for entry in caplog.records] == [("WARNING", "evaluator.spool")]


def test_a_log_handler_that_fails_does_not_reach_the_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the warning may raise."""

    def fail(*_args: object) -> None:
        raise OSError("the log is broken, too")

    monkeypatch.setattr(spool._log, "warning", fail)
    assert record(output=Hostile(), path=tmp_path) is False


def test_a_full_disk_returns_false_and_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short write is taken back, an error is swallowed, and the next answer is whole."""
    assert record(output="before", path=tmp_path)
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, line: real_write(descriptor, line[:10]))
    assert record(output="short", path=tmp_path) is False

    def no_space(_descriptor: int, _line: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", no_space)
    assert record(output="none", path=tmp_path) is False
    monkeypatch.undo()
    assert record(output="after", path=tmp_path)
    assert [row["output"] for row in held(tmp_path)] == ["before", "after"]


@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES, errno.EMFILE, errno.EIO])
def test_a_folder_that_cannot_be_written_returns_false(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    """Read-only disks, missing rights and exhausted descriptors are none of the application's business."""

    def refuse(*_args: object) -> int:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "open", refuse)
    assert record(output="Yes.", path=tmp_path) is False


def test_a_full_file_returns_false_and_asks_for_a_scorer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a scorer the spool does not grow for ever."""
    monkeypatch.setattr(spool, "MAX_FILE_BYTES", 400)
    results = [record(output="x" * 50, path=tmp_path) for _ in range(4)]
    assert results == [True, True, False, False]
    assert "is a scorer running?" in caplog.text


def test_a_line_that_a_killed_writer_left_is_ended_by_the_next(tmp_path: Path) -> None:
    """The torn line is one reject; the answer after it is whole."""
    record(output="before", path=tmp_path)
    (path,) = tmp_path.glob("*.open.jsonl")
    with path.open("ab") as file:
        file.write(b'{"output": "to')
    record(output="after", path=tmp_path)
    (taken,) = take_spooled(tmp_path)
    loaded = load_items(taken)
    assert [entry.item.output for entry in loaded.items] == ["before", "after"]
    assert [reject.line_number for reject in loaded.rejects] == [2]


def test_a_taken_file_comes_again_until_it_is_removed(tmp_path: Path) -> None:
    """A scorer killed before its commit finds the file again; what comes later is in another file."""
    record(output="first", path=tmp_path)
    (first,) = take_spooled(tmp_path)
    record(output="second", path=tmp_path)
    again = list(take_spooled(tmp_path))
    assert again[0] == first
    assert [load_items(path).items[0].item.output for path in again] == ["first", "second"]
    for path in again:
        remove_spooled(path)
        remove_spooled(path)
    assert list(take_spooled(tmp_path)) == []


def test_a_spool_that_does_not_exist_yet_holds_nothing(tmp_path: Path) -> None:
    """The scorer may start before the application."""
    assert list(take_spooled(tmp_path / "none")) == []


def test_a_file_that_is_being_written_to_waits_for_the_next_pass(tmp_path: Path) -> None:
    """The scorer leaves a locked file alone, and the writer does not wait for the scorer's lock either."""
    record(output="first", path=tmp_path)
    (path,) = tmp_path.glob("*.open.jsonl")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert spool._lock(descriptor)
        assert list(take_spooled(tmp_path)) == []
        assert record(output="second", path=tmp_path)
    finally:
        os.close(descriptor)
    assert sorted(item.output for item in taken_items(tmp_path)) == ["first", "second"]


def test_more_writers_at_once_than_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The number of files is bounded, and nobody waits."""
    record(output="first", path=tmp_path)
    monkeypatch.setattr(spool, "_lock", lambda _descriptor: False)
    assert record(output="second", path=tmp_path) is False
    assert "threads are writing at once" in caplog.text
    assert len(list(tmp_path.iterdir())) == spool._MAX_SLOTS


def test_without_posix_locks_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Rather no record than lines that may be lost without notice."""
    record(output="first", path=tmp_path)
    monkeypatch.setattr(sys, "platform", "win32")
    assert record(output="second", path=tmp_path) is False
    assert "needs a POSIX system" in caplog.text
    assert list(take_spooled(tmp_path)) == []


def test_a_file_that_another_scorer_took_first_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between listing and opening the file may go; a file that may not be read is an error."""
    record(output="Yes.", path=tmp_path)
    failures: list[OSError] = [FileNotFoundError(errno.ENOENT, "gone"), PermissionError(errno.EACCES, "not yours")]

    def refuse(*_args: object) -> int:
        raise failures.pop(0)

    monkeypatch.setattr(os, "open", refuse)
    assert list(take_spooled(tmp_path)) == []
    with pytest.raises(JudgewatchError, match="not yours"):
        list(take_spooled(tmp_path))


def test_a_file_taken_between_opening_and_locking_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one moment in which a line could land in a file that was read already."""
    record(output="first", path=tmp_path)
    taken: list[Path] = []
    real_lock = spool._lock

    def take_then_lock(descriptor: int) -> bool:
        monkeypatch.setattr(spool, "_lock", real_lock)
        taken.extend(take_spooled(tmp_path))
        return real_lock(descriptor)

    monkeypatch.setattr(spool, "_lock", take_then_lock)
    assert record(output="second", path=tmp_path)
    assert [entry.item.output for entry in load_items(taken[0]).items] == ["first"]
    assert "second" in [row["output"] for row in held(tmp_path)]


def test_a_folder_that_cannot_be_changed_is_an_error_for_the_scorer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the file and what is needed."""
    record(output="Yes.", path=tmp_path)

    def refuse(_self: Path, _target: Path) -> Path:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(JudgewatchError, match=r"open\.jsonl: cannot be taken over \(Permission denied\)"):
        list(take_spooled(tmp_path))


def write_many(folder: Path, writer: str, n_records: int) -> None:
    for number in range(n_records):
        if not record(output=f"{writer}-{number}", path=folder, padding=["x" * 3000]):
            os._exit(1)


def test_threads_and_processes_lose_and_tear_nothing_while_files_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes of four threads each write while the scorer takes over all the time."""
    # a new process runs the main module again, and page tests leave the page there
    monkeypatch.setitem(sys.modules, "__main__", sys.modules[__name__])
    n_threads, n_records = 4, 100
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=write_in_threads, args=(tmp_path, name, n_threads, n_records)) for name in "ab"]
    for process in processes:
        process.start()
    outputs: list[str] = []
    while any(process.is_alive() for process in processes):
        outputs += [item.output for item in taken_items(tmp_path)]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    outputs += [item.output for item in taken_items(tmp_path)]
    expected = [f"{name}{thread}-{n}" for name in "ab" for thread in range(n_threads) for n in range(n_records)]
    assert sorted(outputs) == sorted(expected)


def write_in_threads(folder: Path, name: str, n_threads: int, n_records: int) -> None:
    threads = [
        threading.Thread(target=write_many, args=(folder, f"{name}{number}", n_records)) for number in range(n_threads)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


FORKING_WRITER = """
import os, signal, sys
from evaluator.spool import record
record(output="parent", path=sys.argv[1])
child = os.fork()
record(output="child" if child == 0 else "parent again", path=sys.argv[1])
if child == 0:
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(child, 0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_answers_survive_fork_and_kill(tmp_path: Path) -> None:
    """A preforking server, killed right after the call: nothing waits in memory."""
    done = subprocess.run([sys.executable, "-c", FORKING_WRITER, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert sorted(item.output for item in taken_items(tmp_path)) == ["child", "parent", "parent again"]


def test_recording_imports_the_standard_library_alone() -> None:
    """It runs in somebody's application: no third-party module comes with it."""
    code = (
        "import sys; before = set(sys.modules); import evaluator.spool; "
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(tops - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['evaluator']"


def test_a_call_without_an_answer_is_counted_and_never_raises(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A forgotten argument must not reach the application as an exception; it is told once."""
    with caplog.at_level(logging.WARNING):
        assert record(input="Open?", path=tmp_path) is False
        assert record(path=tmp_path) is False
    assert failed_count() == 2
    assert [line.count("output, the answer, is missing") for line in caplog.messages] == [1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", [object(), [object()], b"bytes", {1, 2}])
def test_an_answer_that_is_no_text_is_refused(tmp_path: Path, output: object) -> None:
    """What would be graded is the printed name of an object."""
    assert record(output=output, path=tmp_path) is False
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", [None, "", 3, 0.5, True, {"content": "x"}, [Reply()], ("a", "b")])
def test_every_value_of_json_is_an_answer(tmp_path: Path, output: object) -> None:
    """None is an answer without text, which is kept."""
    assert record(output=output, path=tmp_path) is True
