"""Files of a folder: each is taken once, what is being written is left alone, what is broken stops nothing."""

from __future__ import annotations

import os
import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.config import Config
from evaluator.errors import ConfigError, UsageError
from evaluator.sources import check_reading, pull_sources, waiting_sources
from evaluator.sources import files as files_module
from evaluator.sources.files import find_files
from evaluator.sources.notes import Note, merged_notes
from evaluator.store import read
from evaluator.store.db import open_reader, open_store
from tests.sources.conftest import NOW, SLOT, Clock, lines, pull, put, row, settings, stored, told

SAID = {"answered_at": "said"}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """All JSON lines in a folder."""
    (tmp_path / "in").mkdir()
    return settings(tmp_path, files=["in/*.jsonl"])


# ---------------------------------------------------------------- stop


def test_stop_while_a_file_is_read_takes_nothing_of_it_and_the_next_run_takes_all(
    config: Config, tmp_path: Path
) -> None:
    """A large file does not keep a run from stopping; half of it is never stored."""
    put(tmp_path / "in/a.jsonl", lines(*(row(f"a{number}") for number in range(1500))))
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 3

    (outcome,) = pull_sources(config, slot=SLOT, clock=Clock(), stop=stop)
    assert outcome.status == "failed"
    assert "reading was stopped; nothing of it is taken in" in outcome.message
    assert stored(config) == set()
    assert pull(config).n_new == 1500


# ---------------------------------------------------------------- once


def test_new_files_are_taken_and_known_ones_are_not_read_again(config: Config, tmp_path: Path) -> None:
    """Each file once, remembered with what it looked like."""
    put(tmp_path / "in/a.jsonl", lines(row("a1"), row("a2")))
    put(tmp_path / "in/b.jsonl", lines(row("b1")))
    first = pull(config)
    assert (first.status, first.n_files, first.n_rows, first.n_new, first.n_known) == ("ok", 2, 3, 3, 0)
    assert stored(config) == {"a1", "a2", "b1"}
    second = pull(config)
    assert (second.status, second.n_files, second.message) == ("nothing_new", 0, "no new file")
    with open_reader(config.store_path) as store:
        found = read.source_file(store, "shop", str(tmp_path / "in/a.jsonl"))
        assert found is not None
        assert (found["n_rows"], found["n_new"], len(found["file_sha256"])) == (2, 2, 64)
        assert [pulled["status"] for pulled in read.pulls(store, "shop")] == ["nothing_new", "ok"]


def test_file_that_grew_is_read_again_and_known_rows_add_nothing(config: Config, tmp_path: Path) -> None:
    """Appending to the file of the day is the ordinary case."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")))
    pull(config)
    put(tmp_path / "in/a.jsonl", lines(row("a1"), row("a2")))
    again = pull(config)
    assert (again.status, again.n_new, again.n_known) == ("ok", 1, 1)
    assert stored(config) == {"a1", "a2"}


def test_file_that_was_only_touched_is_not_imported_again(config: Config, tmp_path: Path) -> None:
    """Its hash is the same; the new time is remembered, so that it is not hashed each night."""
    path = put(tmp_path / "in/a.jsonl", lines(row("a1")))
    pull(config)
    os.utime(path, (NOW.timestamp() - 60, NOW.timestamp() - 60))
    assert waiting_sources(config).n_files == 1
    again = pull(config)
    assert (again.status, again.n_new, again.n_known) == ("nothing_new", 0, 1)
    assert again.message == "1 file repeated what is stored: 1 row, 0 new"
    assert waiting_sources(config).n_files == 0


def test_answer_with_another_text_is_told(config: Config, tmp_path: Path) -> None:
    """A source that rewrites history is worth a word."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")))
    pull(config)
    put(tmp_path / "in/b.jsonl", lines(row("a1", output="Something else.")))
    assert "1 answer came with another text under a known id" in told(pull(config))


# ---------------------------------------------------------------- read otherwise now


def test_corrected_column_reads_a_known_file_again_and_gives_its_rows_their_time(tmp_path: Path) -> None:
    """The first try at ``traffic.fields`` is seldom the last; a second correction of nothing reads nothing."""
    rows = [{"id": "a1", "input": "q", "output": "x", "said": "2026-03-04T10:00:00Z"}]
    put(tmp_path / "a.jsonl", lines(*rows))
    before, after = settings(tmp_path, files="a.jsonl"), settings(tmp_path, files="a.jsonl", fields=SAID)
    assert "1 answer without a time" in told(pull(before))
    assert (pull(before).message, waiting_sources(before).n_files) == ("no new file", 0)
    assert waiting_sources(after).n_files == 1
    again = pull(after)
    assert (again.n_files, again.n_new, again.n_known) == (1, 0, 1)
    assert "a.jsonl: read again, since traffic.fields changed" in told(again)
    with open_reader(after.store_path) as store:
        (answered,) = store.connection.execute("SELECT answered_utc FROM items").fetchone()
    assert answered == "2026-03-04T10:00:00Z"
    assert pull(after).message == "no new file"


@pytest.mark.parametrize(
    ("traffic", "named"),
    [
        ({"time_format": "%Y-%m-%d %H:%M"}, "traffic.time_format"),
        ({"naive_zone": "Europe/Berlin", "fields": {"user_id": "customer"}}, "traffic.fields and traffic.naive_zone"),
    ],
)
def test_every_setting_that_decides_how_rows_are_read_counts(
    tmp_path: Path, traffic: dict[str, Any], named: str
) -> None:
    """Each is named."""
    put(tmp_path / "a.jsonl", lines(row("a1", customer="c", answered_at="2026-03-04 10:00")))
    pull(settings(tmp_path, files="a.jsonl", naive_zone="UTC"))
    outcome = pull(settings(tmp_path, files="a.jsonl", **traffic))
    assert outcome.n_files == 1
    assert f"since {named} changed" in told(outcome)


def test_redaction_reads_again_only_where_rows_were_refused(tmp_path: Path) -> None:
    """What is stored would come a second time, in other words."""
    put(tmp_path / "good.jsonl", lines(row("a1")))
    put(tmp_path / "bad.jsonl", lines(row("b1")) + b"{half\n")
    pull(settings(tmp_path, files="*.jsonl"))
    outcome = pull(settings(tmp_path, files="*.jsonl", redact=["email"]))
    assert outcome.n_files == 1
    assert "bad.jsonl: read again, since traffic.redact changed" in told(outcome)


def test_file_that_was_taken_before_this_was_kept_is_not_read_again(config: Config, tmp_path: Path) -> None:
    """How it was read is not known then."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")))
    pull(config)
    with open_store(config.store_path) as store, store.transaction() as connection:
        connection.execute("UPDATE source_files SET reading = ''")
    assert pull(settings(tmp_path, files=["in/*.jsonl"], fields={"user_id": "who"})).n_files == 0


# ---------------------------------------------------------------- many files


def test_same_remark_on_many_files_is_one_sentence_with_the_sum(config: Config, tmp_path: Path) -> None:
    """Eight weeks of exports are eight files."""
    for name in ("a", "b", "c"):
        put(tmp_path / f"in/{name}.jsonl", lines(row(f"{name}1", answered_at=""), row(f"{name}2", answered_at="")))
    put(tmp_path / "in/d.jsonl", lines(row("d1", answered_at="")) + b"{half\n")
    outcome = pull(config)
    timeless = [note for note in outcome.notes if "without a time" in note]
    assert [note.partition(":")[0] for note in timeless] == ["in 4 files"]
    assert "7 answers without a time: no day counts them" in timeless[0]
    (refused,) = [note for note in outcome.notes if "cannot be used" in note]
    assert "d.jsonl: 1 row cannot be used and is left out; line 2" in refused


def test_same_fault_of_many_files_is_one_error_with_the_first_of_them(config: Config, tmp_path: Path) -> None:
    """A wrong ``traffic.fields`` is one mistake."""
    for name in ("a", "b", "c"):
        put(tmp_path / f"in/{name}.jsonl", lines(row(name, **{f"column of {name}": "x"})))
    outcome = pull(settings(tmp_path, files=["in/*.jsonl"], fields={"output": "reply"}))
    assert outcome.status == "failed"
    assert outcome.message.count("reply") == 1
    assert "in/a.jsonl" in outcome.message
    assert outcome.message.endswith("; the same in 2 more")
    assert outcome.notes == ()


def test_few_notes_are_kept_and_the_others_counted(config: Config, tmp_path: Path) -> None:
    """The list of pulls is no log file."""
    for number in range(8):
        put(tmp_path / f"in/{number}.tmp", b"x")
    pull(settings(tmp_path, files=["in/*"]))
    with open_reader(config.store_path) as store:
        (kept,) = read.pulls(store, "shop")
    assert kept["message"].count("is left alone") == 5
    assert kept["message"].endswith("and 3 more notes")


def test_remarks_of_other_numbers_are_told_by_the_first() -> None:
    """Where nothing is counted, nothing can be added up."""
    pairs = [
        ("a", Note(text="column 'x' was left out in 3 rows")),
        ("b", Note(text="column 'x' was left out in 4 rows")),
    ]
    assert merged_notes(pairs) == ["a: column 'x' was left out in 3 rows; much the same in 1 more"]


# ---------------------------------------------------------------- not finished


@pytest.mark.parametrize("name", ["a.jsonl.tmp", "a.jsonl.part", "a.jsonl.CRDOWNLOAD", ".a.jsonl"])
def test_name_that_says_unfinished_is_left_alone_and_named(tmp_path: Path, name: str) -> None:
    """Whatever the pattern says."""
    put(tmp_path / "in" / name, lines(row("a1")))
    outcome = pull(settings(tmp_path, files=["in/*"]))
    assert (outcome.status, outcome.n_new) == ("nothing_new", 0)
    assert f"{name} is left alone: its name says that it is not finished" in told(outcome)


def test_fresh_file_without_a_last_line_end_waits(config: Config, tmp_path: Path) -> None:
    """It may be half-written; ten seconds later it is what it is."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")).rstrip(b"\n"), at=NOW.timestamp() - 5)
    outcome = pull(config)
    assert outcome.status == "nothing_new"
    assert "a.jsonl may be half-written" in told(outcome)
    assert pull(config, clock=Clock(NOW + timedelta(seconds=10))).n_new == 1


def test_fresh_file_with_a_last_line_end_is_taken(config: Config, tmp_path: Path) -> None:
    """Most files are written at one go."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")), at=NOW.timestamp() - 1)
    assert pull(config).n_new == 1


def test_old_last_line_without_end_is_taken_where_it_is_whole(config: Config, tmp_path: Path) -> None:
    """Many programs leave the last line end out."""
    put(tmp_path / "in/a.jsonl", lines(row("a1"), row("a2")).rstrip(b"\n"))
    outcome = pull(config)
    assert (outcome.status, outcome.n_new, outcome.n_rejected) == ("ok", 2, 0)


def test_old_half_line_is_told_and_the_rest_is_taken(config: Config, tmp_path: Path) -> None:
    """The writer died; when it goes on, the file has changed and is read again."""
    whole = lines(row("a1"), row("a2"))
    put(tmp_path / "in/a.jsonl", whole[:-20])
    outcome = pull(config)
    assert (outcome.status, outcome.n_new, outcome.n_rejected) == ("ok", 1, 1)
    assert "a.jsonl: 1 row cannot be used and is left out; line 2: broken JSON" in told(outcome)
    put(tmp_path / "in/a.jsonl", whole)
    assert (pull(config).n_new, stored(config)) == (1, {"a1", "a2"})


def test_file_that_changes_between_two_looks_waits(config: Config, tmp_path: Path) -> None:
    """Whatever its last byte is."""
    path = put(tmp_path / "in/a.jsonl", lines(row("a1")))
    put(tmp_path / "in/b.jsonl", lines(row("b1")))
    waits: list[float] = []

    def meanwhile(seconds: float) -> None:
        waits.append(seconds)
        put(path, lines(row("a1"), row("a2")))

    (outcome,) = pull_sources(config, slot=SLOT, clock=Clock(), pause=meanwhile)
    assert waits == [0.2]
    assert "a.jsonl is being written; the next run takes it" in told(outcome)
    assert stored(config) == {"b1"}


def test_file_that_vanishes_is_named_and_nothing_fails(config: Config, tmp_path: Path) -> None:
    """Between the two looks, or later."""
    path = put(tmp_path / "in/a.jsonl", lines(row("a1")))
    (outcome,) = pull_sources(config, slot=SLOT, clock=Clock(), pause=lambda _: path.unlink())
    assert outcome.status == "nothing_new"
    assert "a.jsonl was there a moment ago and is gone" in told(outcome)


def test_file_that_vanishes_while_it_is_read_is_named(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cleaner at work is no fault of the source."""
    path = put(tmp_path / "in/a.jsonl", lines(row("a1")))
    monkeypatch.setattr(files_module, "ends_with_line_end", lambda _: path.unlink() or True)
    monkeypatch.setattr(files_module, "_is_fresh", lambda *_: True)
    outcome = pull(config)
    assert outcome.status == "nothing_new"
    assert "a.jsonl: was changed or removed while it was read" in told(outcome)


# ---------------------------------------------------------------- broken


def test_bad_row_stops_neither_its_file_nor_the_others(config: Config, tmp_path: Path) -> None:
    """Counted and told, with the first line and its reason."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")) + b"no json\n5\n" + lines(row("a2")))
    put(tmp_path / "in/b.jsonl", lines(row("b1")))
    outcome = pull(config)
    assert (outcome.status, outcome.n_new, outcome.n_rejected) == ("ok", 3, 2)
    assert "a.jsonl: 2 rows cannot be used and are left out; line 2: broken JSON at character 1" in told(outcome)
    assert pull(config).message == "no new file"


def test_text_of_a_bad_row_is_not_stored(config: Config, tmp_path: Path) -> None:
    """What is kept of a pull names lines and reasons; texts are shown by a test of the source."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")) + b'secret person: {"\n')
    assert "secret" not in told(pull(config))
    with open_reader(config.store_path) as store:
        assert "secret" not in read.pulls(store, "shop")[0]["message"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x1f\x8b\x08\x00rest", "is compressed (gzip); unpack it first"),
        (b"PK\x03\x04rest", "zip archive"),
        (bytes(range(1, 256)) * 40, "none of its rows can be used"),
        (lines({"id": "x", "text": "no answer here"}), "no row has a field for the answer"),
        (b"\xff\xfex\0", "UTF-16"),
    ],
)
def test_file_that_cannot_be_used_is_a_failure_and_the_others_are_taken(
    config: Config, tmp_path: Path, content: bytes, reason: str
) -> None:
    """It is told every time, until somebody mends or removes it."""
    put(tmp_path / "in/a.jsonl", content)
    put(tmp_path / "in/b.jsonl", lines(row("b1")))
    outcome = pull(config)
    assert (outcome.status, outcome.n_files, stored(config)) == ("failed", 1, {"b1"})
    assert "a.jsonl" in outcome.message
    assert reason in outcome.message
    assert pull(config).status == "failed"


def test_random_bytes_fail_without_a_fault_of_the_program(config: Config, tmp_path: Path) -> None:
    """A picture, say, under a wrong name."""
    put(tmp_path / "in/a.jsonl", secrets.token_bytes(5_000))
    assert pull(config).status == "failed"


def test_empty_file_is_said_once(config: Config, tmp_path: Path) -> None:
    """Until it has something."""
    put(tmp_path / "in/a.jsonl", b"")
    first = pull(config)
    assert (first.status, first.message) == ("nothing_new", "1 file read, no answer in it")
    assert "a.jsonl: is empty" in told(first)
    assert told(pull(config)) == "no new file"
    put(tmp_path / "in/a.jsonl", lines(row("a1")))
    assert pull(config).n_new == 1


def test_answers_without_a_time_are_told(config: Config, tmp_path: Path) -> None:
    """They are stored, and no run would ever grade them."""
    put(tmp_path / "in/a.jsonl", lines({"id": "a1", "output": "x"}))
    assert "1 answer without a time: no day counts it and no run grades it" in told(pull(config))


# ---------------------------------------------------------------- patterns


def test_pattern_that_matches_nothing_is_said_once(tmp_path: Path) -> None:
    """One sentence a pattern, with the folder where it is missing."""
    (tmp_path / "in").mkdir()
    outcome = pull(settings(tmp_path, files=["in/*.jsonl", "out/*.jsonl", "in/*.jsonl"]))
    assert outcome.status == "nothing_new"
    assert outcome.notes == (
        "traffic.files = 'in/*.jsonl' matches no file",
        f"traffic.files = 'out/*.jsonl' matches no file: there is no {tmp_path / 'out'}",
    )


def test_patterns_may_be_deep_absolute_or_plain_and_overlap(tmp_path: Path) -> None:
    """Each file counts once."""
    for name in ("in/a.jsonl", "in/x/y/b.jsonl", "in/x/c[1].jsonl"):
        put(tmp_path / name, lines(row(name)))
    (tmp_path / "in/folder.jsonl").mkdir()
    patterns = ["in/**/*.jsonl", str(tmp_path / "in/*.jsonl"), "in/a.jsonl", "in/x/c[[]1].jsonl"]
    found = find_files(patterns, tmp_path)
    assert [file.path.name for file in found.files] == ["a.jsonl", "c[1].jsonl", "b.jsonl"]
    assert (found.notes, found.problems) == ((), ())


def test_pattern_that_is_none_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which patterns are refused differs between versions of Python."""

    def refuse(*_: object) -> None:
        raise ValueError("Invalid pattern")

    monkeypatch.setattr(Path, "glob", refuse)
    assert find_files(["in/*"], tmp_path).problems == ("traffic.files = 'in/*' is no pattern: Invalid pattern",)


def test_folder_that_may_not_be_read_is_a_failure(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named, with the fix; a pattern alone would find nothing and say nothing."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")))
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path / "in")
    outcome = pull(config)
    assert outcome.status == "failed"
    assert f"the folder {tmp_path / 'in'} of traffic.files = 'in/*.jsonl' cannot be read" in outcome.message


# ---------------------------------------------------------------- settings


def test_rows_are_read_by_the_settings(tmp_path: Path) -> None:
    """Columns, the form of times, the zone of times without one."""
    put(tmp_path / "a.jsonl", lines({"key": "k", "reply": "Yes.", "when": "04/03/2026 23:30"}))
    config = settings(
        tmp_path,
        files="a.jsonl",
        fields={"output": "reply", "id": "key", "answered_at": "when"},
        time_format="%d/%m/%Y %H:%M",
        naive_zone="Europe/Berlin",
    )
    assert pull(config).n_new == 1
    with open_reader(config.store_path) as store:
        assert read.newest_answered(store, "shop", until=NOW) == "2026-03-04T22:30:00Z"


def test_messages_name_the_keys_of_the_configuration(tmp_path: Path) -> None:
    """Not the options of a command that nobody typed."""
    put(tmp_path / "a.jsonl", lines({"reply": "Yes."}))
    message = pull(settings(tmp_path, files="a.jsonl")).message
    assert 'traffic.fields = {output = "NAME"}' in message
    assert "--field" not in message


def test_settings_by_which_nothing_can_be_read_are_refused_at_once(tmp_path: Path) -> None:
    """They are no fault of a file."""
    check_reading(settings(tmp_path, fields={"output": "reply"}, time_format="%d/%m/%Y"))
    with pytest.raises(ConfigError, match=r"traffic\.fields .* no field 'reply'"):
        check_reading(settings(tmp_path, fields={"reply": "output"}))
    with pytest.raises(ConfigError, match=r"traffic\.time_format: .*%Z"):
        check_reading(settings(tmp_path, time_format="%Y %Z"))
    put(tmp_path / "a.jsonl", lines(row("a1")))
    with pytest.raises(UsageError, match="no field 'reply'"):
        pull(settings(tmp_path, files="a.jsonl", fields={"reply": "output"}))


def test_personal_data_is_taken_out_before_anything_is_stored(tmp_path: Path) -> None:
    """As everywhere; the number is told."""
    put(tmp_path / "a.jsonl", lines(row("a1", output="Write to jo@example.com.")))
    config = settings(tmp_path, files="a.jsonl", redact=["email"])
    assert "redacted: 1 e-mail address in 1 answer" in told(pull(config))
    with open_reader(config.store_path) as store:
        assert store.connection.execute("SELECT output FROM items").fetchone()[0] == "Write to [email]."


# ---------------------------------------------------------------- quiet


def test_source_that_is_quiet_for_three_runs_is_warned_of(config: Config, tmp_path: Path) -> None:
    """A run that is tried again counts once, and news begin the count anew."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")))
    assert pull(config).n_quiet == 0
    days = [timedelta(days=n) for n in range(1, 6)]
    for number, after in enumerate(days[:3], start=1):
        pull(config, SLOT + after, Clock(NOW + after))
        again = pull(config, SLOT + after, Clock(NOW + after))
        assert (again.n_quiet, again.is_quiet) == (number, number == 3)
    put(tmp_path / "in/b.jsonl", lines(row("b1")))
    assert not pull(config, SLOT + days[3], Clock(NOW + days[3])).n_quiet
    assert pull(config, SLOT + days[4], Clock(NOW + days[4])).n_quiet == 1


def test_nothing_waits_and_nothing_is_asked_without_a_source(tmp_path: Path) -> None:
    """No database is made for it."""
    config = settings(tmp_path)
    assert pull_sources(config, slot=SLOT, clock=Clock()) == ()
    assert waiting_sources(config).n_files == 0
    assert not config.store_path.exists()


def test_stop_before_a_source_leaves_it_alone(config: Config, tmp_path: Path) -> None:
    """Ctrl-C is heard between sources."""
    put(tmp_path / "in/a.jsonl", lines(row("a1")))
    assert pull_sources(config, slot=SLOT, clock=Clock(), stop=lambda: True) == ()
