"""Whatever is wrong outside: one clear line that names the thing and the fix, the right code, nothing lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluator.cli.target import CONFIG_NAME
from evaluator.store import db as store_db
from evaluator.store import read
from evaluator.store.db import open_reader, open_store
from tests.cli.conftest import (
    CONFIG,
    invoke,
    ok,
    refused,
    some_answers,
    write_anchors,
    write_answers,
    write_config,
)
from tests.conftest import as_another_user

Database = Callable[[str], Path]
SERVER = CONFIG.replace(
    'function = "python:tests.cli.graders:by_words"', 'base_url = "http://127.0.0.1:9/v1"\napi_key_env = "SHOP_KEY"'
)
LIMIT = "[budget]\ncalls_per_day = 100\n"
READ_VERBS = (
    ["check"], ["history"], ["segments"], ["items", "list"], ["items", "show", "x"], ["event", "list"], ["db", "info"],
    ["export", "--format", "csv", "--out", "x.csv"],
)  # fmt: skip
WRITE_VERBS = (["import", "answers.jsonl"], ["event", "add", "x"], ["db", "migrate"], ["db", "rebuild"])


@pytest.fixture
def answers() -> Path:
    """A file to import."""
    return write_answers(Path("answers.jsonl"), some_answers(4))


# ---------------------------------------------------------------- configuration


@pytest.mark.parametrize("name", ["", "  ", "x" * 81])
@pytest.mark.parametrize("verb", [["run", "once"], ["import", "answers.jsonl"], ["check"], ["source", "list"]])
def test_app_without_a_name_is_refused(answers: Path, verb: list[str], name: str) -> None:
    """An empty variable of a script must not begin another app beside the configured one."""
    write_config(CONFIG)
    write_anchors(Path("anchors.jsonl"))
    assert "a name of 1 to 80 characters is needed" in refused(*verb, "--app", name, code=64)
    assert not Path("data").exists()


def test_configuration_that_is_not_there_is_named() -> None:
    """The default one, and one named by hand."""
    assert refused("run", "once", code=64).startswith(
        f"there is no configuration at {CONFIG_NAME}; name one with --config"
    )
    assert "no configuration at other.toml" in refused("check", "--config", "other.toml", code=64)


def test_configuration_that_cannot_be_read_is_named() -> None:
    """A folder of that name, or bytes that are no text."""
    Path("folder.toml").mkdir()
    assert "folder.toml cannot be read: " in refused("run", "once", "--config", "folder.toml", code=64)
    Path("bytes.toml").write_bytes(b"\xff\xfe\x00")
    assert "bytes.toml cannot be read: " in refused("run", "once", "--config", "bytes.toml", code=64)


def test_configuration_that_is_no_toml_names_the_line() -> None:
    """The parser's own words, with the file."""
    write_config("[judge\n")
    line = refused("run", "once", code=64)
    assert line.startswith(f"{CONFIG_NAME} is not valid TOML: ")
    assert "line 1" in line


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("answers_per_day", "answers_a_day", "unknown key 'traffic.answers_a_day'; did you mean 'answers_per_day'?"),
        ('model = "by-words"\n', "", "judge.model is missing"),
        ("[traffic]", "[trafic]", "unknown key 'trafic'; did you mean 'traffic'?"),
        ('cron = "0 6 * * *"', 'cron = "at six"', "schedule.cron = 'at six': not a cron expression"),
        ('cron = "0 6 * * *"', 'zone = "Mars/Base"', "schedule.zone = 'Mars/Base': unknown zone"),
        ("lookback_days = 3", "lookback_days = 0", "traffic.lookback_days = 0"),
        ("answers_per_day = 10", "answers_per_day = 10\nsample_rate = 0.1", "not both"),
    ],
)
@pytest.mark.parametrize("verb", [["run", "once"], ["run", "watch"], ["check"], ["import", "answers.jsonl"]])
def test_configuration_with_a_mistake_names_key_and_fix(
    answers: Path, verb: list[str], old: str, new: str, message: str
) -> None:
    """Every verb that reads it refuses it, before anything is made."""
    write_config(CONFIG.replace(old, new))
    line = refused(*verb, code=64)
    assert line.startswith(f"{CONFIG_NAME}: ")
    assert message in line
    assert not Path("data").exists()


def test_all_mistakes_are_told_at_once() -> None:
    """Nobody likes to correct one a time."""
    write_config(CONFIG.replace("[traffic]", "[trafic]").replace('model = "by-words"\n', ""))
    line = refused("run", "once", code=64)
    assert "trafic" in line
    assert "judge.model is missing" in line


def test_broken_configuration_does_not_hinder_a_database_that_is_named(database: Database) -> None:
    """Read verbs work with --db alone."""
    write_config("[judge\n")
    assert invoke("db", "info", "--db", database("one_day")).exit_code == 0


# ---------------------------------------------------------------- the judge


@pytest.mark.parametrize("value", [None, "", "  "])
def test_missing_key_names_its_variable(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it is there and empty; no call, no database."""
    if value is not None:
        monkeypatch.setenv("SHOP_KEY", value)
    write_config(SERVER + LIMIT)
    line = refused("run", "once", code=64)
    assert line.startswith("the environment variable SHOP_KEY is not set")
    assert not Path("data").exists()


def test_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key with a blank in it cannot be sent; it is refused and hidden."""
    monkeypatch.setenv("SHOP_KEY", "s3cret key")
    write_anchors()
    write_config(SERVER + LIMIT)
    result = invoke("run", "once")
    assert result.exit_code == 64
    assert "s3cret" not in result.output


def test_address_that_is_none_names_the_setting() -> None:
    """Before a call."""
    write_config(SERVER.replace("http://127.0.0.1:9/v1", "api.example.invalid/v1"))
    line = refused("run", "once", code=64)
    assert "judge.base_url" in line
    assert "an address that starts with http:// or https:// is needed" in line


def test_budget_without_a_price_is_refused() -> None:
    """Dollars cannot be kept without knowing what a call costs."""
    write_config(SERVER + "[budget]\nusd_per_day = 5\n")
    line = refused("run", "once", code=64)
    assert "'by-words' has no known price" in line
    assert "budget.calls_per_day" in line


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("tests.cli.graders", "write it as python:package.module:function"),
        ("python:tests.cli.nowhere:by_words", "cannot be imported"),
        ("python:tests.cli.graders:nothing", "cannot be imported"),
        ("python:tests.cli.graders:Path.cwd", "write it as python:package.module:function"),
    ],
)
def test_function_that_is_not_there_is_named(function: str, message: str) -> None:
    """The setting, its value, the reason."""
    write_anchors()
    write_config(CONFIG.replace("python:tests.cli.graders:by_words", function))
    line = refused("run", "once", code=64)
    assert f"judge.function = {function!r}" in line
    assert message in line


# ---------------------------------------------------------------- anchors and rubric


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"score": 4}, "line 2: unknown field 'score'; known are anchor_id"),
        ({"expected_score": 7}, "line 2: expected_score 7 is off the scale of rubric 'general', 1 to 5"),
        ({"expected_score": "good"}, "line 2: expected_score 'good' is not a number"),
        ({"anchor_id": "a00"}, "anchor_id 'a00' stands in line 1 already"),
        ({"outputs": None}, "line 2: outputs is needed: the answer that is graded"),
    ],
)
@pytest.mark.parametrize("verb", [["run", "once"], ["run", "watch"], ["anchors", "list"]])
def test_anchor_with_a_fault_is_named_by_its_line(verb: list[str], row: dict[str, object], message: str) -> None:
    """File, line, field, fix; no run is begun."""
    write_config()
    path = write_anchors(n=1)
    good = {"anchor_id": "a01", "inputs": "q", "outputs": "a", "expected_score": 3}
    write_answers(Path("second.jsonl"), [{**good, **row}])
    path.write_text(path.read_text("utf-8") + Path("second.jsonl").read_text("utf-8"), encoding="utf-8")
    line = refused(*verb, code=64)
    assert line.startswith("anchor set anchors.jsonl: ")
    assert message in line


def test_anchor_set_that_is_not_there_is_named() -> None:
    """A file, or the name of a shipped set."""
    write_config()
    assert refused("run", "once", code=64) == "there is no file anchors.jsonl"
    assert "there is no anchor set 'fine'; shipped are: general" in refused("anchors", "list", "--set", "fine", code=64)


def test_rubric_with_a_fault_is_named() -> None:
    """Before a run that would grade by it."""
    Path("mine.json").write_text('{"name": "x", "question": "q", "scale": {"min": 5, "max": 1}, "levels": []}')
    write_config(CONFIG.replace("[anchors]", 'rubric = "mine.json"\n[anchors]'))
    assert "rubric mine.json: scale.min 5 must be less than scale.max 1" in refused("run", "once", code=64)


# ---------------------------------------------------------------- the database


@pytest.mark.parametrize("verb", READ_VERBS)
def test_missing_database_is_named_and_not_made(verb: list[str]) -> None:
    """With what to do first."""
    line = refused(*verb, "--db", "typo.db", code=1)
    assert "there is no database at typo.db; import answers or run the scorer first" in line
    assert not Path("typo.db").exists()


@pytest.mark.parametrize("verb", [*READ_VERBS, *WRITE_VERBS])
def test_folder_is_no_database(answers: Path, verb: list[str]) -> None:
    """Named; the folder stays empty."""
    Path("folder").mkdir()
    assert "folder" in refused(*verb, "--db", "folder", code=64)
    assert list(Path("folder").iterdir()) == []


@pytest.mark.parametrize("verb", [*READ_VERBS, *WRITE_VERBS])
def test_file_that_is_no_database_is_named_and_left_as_it_is(answers: Path, verb: list[str]) -> None:
    """A picture given by mistake is not written into."""
    content = b"\x89PNG\r\n" + bytes(4096)
    Path("picture.png").write_bytes(content)
    line = refused(*verb, "--db", "picture.png", code=1)
    assert "picture.png is not a judgewatch database" in line
    assert Path("picture.png").read_bytes() == content


@pytest.mark.parametrize("verb", [*READ_VERBS, *WRITE_VERBS])
def test_database_of_another_program_is_left_as_it_is(answers: Path, verb: list[str]) -> None:
    """SQLite, but not ours."""
    with sqlite3.connect("other.db") as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = Path("other.db").read_bytes()
    assert "other.db" in refused(*verb, "--db", "other.db", code=1)
    assert Path("other.db").read_bytes() == before


@pytest.mark.parametrize("verb", [*READ_VERBS, *WRITE_VERBS])
def test_database_of_a_newer_version_is_refused(answers: Path, database: Database, verb: list[str]) -> None:
    """With the way to upgrade; nothing is written into it."""
    db = database("newer")
    line = refused(*verb, "--db", db, code=1)
    assert "was written by a newer judgewatch" in line
    assert "pip install -U judgewatch" in line


def test_run_on_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    """Before a call."""
    write_config()
    write_anchors()
    assert "newer judgewatch" in refused("run", "once", "--db", database("newer"), code=1)


@pytest.mark.parametrize("verb", [["check"], ["items", "list"], ["db", "info"]])
def test_database_of_an_older_version_names_the_command(database: Database, verb: list[str]) -> None:
    """A read verb never migrates; it says which verb does, and then it works."""
    db = database("one_day")
    newest = store_db.known_migrations()[-1]
    with open_store(db) as store, store.transaction() as connection:
        connection.execute("DELETE FROM _sqlite_migrations WHERE name = ?", (newest,))
    assert "run `judgewatch db migrate`" in refused(*verb, "--db", db, code=1)


@pytest.fixture
def locked(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A database that another program holds locked, and little patience."""
    from evaluator.store import sqlite

    monkeypatch.setattr(store_db, "LOCK_RETRY_FOR_S", 0.0)
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.05)
    db = database("one_day")
    holder = sqlite3.connect(db, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    yield db
    holder.execute("ROLLBACK")
    holder.close()


@pytest.mark.parametrize("verb", [["import", "answers.jsonl"], ["event", "add", "x"]])
def test_locked_database_is_told_and_nothing_is_lost(answers: Path, locked: Path, verb: list[str]) -> None:
    """Who writes has to wait; when patience ends, the line says so."""
    line = refused(*verb, "--db", locked, code=1)
    assert f"{locked} is locked by another program for too long" in line
    assert "nothing is lost" in line


@pytest.mark.parametrize("verb", [["items", "list"], ["db", "info"], ["event", "list"]])
def test_locked_database_can_be_read(locked: Path, verb: list[str]) -> None:
    """Readers do not wait for a writer."""
    assert invoke(*verb, "--db", locked).exit_code == 0


# ---------------------------------------------------------------- permissions and disks


def as_nobody(*args: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a user without rights; root ignores permissions."""
    command = as_another_user([sys.executable, "-m", "evaluator.cli", *map(str, args)])
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nonexistent"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def reachable(tmp_path: Path) -> None:
    """Let another user reach the files of a test."""
    for folder in (tmp_path, *tmp_path.parents):
        if str(folder).startswith("/tmp/") and folder.owner() == Path.home().owner():
            folder.chmod(folder.stat().st_mode | 0o055)


@pytest.mark.other_user
@pytest.mark.usefixtures("reachable")
def test_read_only_database_says_that_it_cannot_be_written(database: Database, tmp_path: Path) -> None:
    """Someone else's file: one line, with what has to be allowed."""
    db = database("one_day")
    with sqlite3.connect(db) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    for file in tmp_path.iterdir():
        file.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        found = as_nobody("event", "add", "x", "--db", db)
        assert found.returncode == 1
        (line,) = found.stderr.splitlines()
        assert line.startswith(f"error: {db} cannot be written")
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.other_user
@pytest.mark.usefixtures("reachable")
def test_folder_without_permission_is_named(answers: Path, tmp_path: Path) -> None:
    """A database cannot be made there."""
    tmp_path.chmod(0o555)
    try:
        found = as_nobody("import", answers)
        assert found.returncode == 1
        assert found.stderr == "error: data: Permission denied\n"
    finally:
        tmp_path.chmod(0o755)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.small_disk
def test_import_onto_a_full_disk_stores_nothing(tiny_disk: Path) -> None:
    """One line, no half database; a smaller file then fits."""
    big = write_answers(Path("big.jsonl"), [{**row, "output": "x" * 20_000} for row in some_answers(400)])
    line = refused("import", big, "--db", tiny_disk / "x.db", code=1)
    assert "full" in line
    assert list(tiny_disk.iterdir()) == []
    ok("import", write_answers(Path("small.jsonl"), some_answers(4)), "--db", tiny_disk / "x.db")


@pytest.mark.small_disk
def test_import_into_a_database_on_a_full_disk_keeps_what_was_there(tiny_disk: Path) -> None:
    """The answers of before are all still there."""
    db = tiny_disk / "x.db"
    ok("import", write_answers(Path("small.jsonl"), some_answers(4)), "--db", db)
    big = write_answers(Path("big.jsonl"), [{**row, "output": "x" * 20_000} for row in some_answers(400, "2026-04-01")])
    assert "full" in refused("import", big, "--db", db, code=1)
    with open_reader(db) as store:
        assert read.counts(store, "default")["n_answers"] == 4


@pytest.mark.small_disk
def test_export_onto_a_full_disk_leaves_no_half_file(tiny_disk: Path, database: Database) -> None:
    """The file is named with the reason."""
    out = tiny_disk / "x.jsonl"
    line = refused("export", "--db", database("sixty_days"), "--format", "jsonl", "--out", out, code=1)
    assert line == f"{out} cannot be written: No space left on device"
    assert list(tiny_disk.iterdir()) == []


@pytest.mark.small_disk
def test_backup_onto_a_full_disk_leaves_no_half_file(tiny_disk: Path, database: Database) -> None:
    """A backup that is not whole is none."""
    line = refused("db", "backup", tiny_disk / "copy.db", "--db", database("sixty_days"), code=1)
    assert "full" in line
    assert not (tiny_disk / "copy.db").exists()


def test_run_on_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it happens, the line says that the disk is full and that nothing is lost."""
    write_config()
    write_anchors()

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    from evaluator.scoring import plan

    monkeypatch.setattr(plan.write, "begin_run", full)
    line = refused("run", "once", code=1)
    assert line == "the disk that holds data/judgewatch.db is full; free some space, then start again (nothing is lost)"
