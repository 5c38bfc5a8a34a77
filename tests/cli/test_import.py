"""``judgewatch import`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.store import read
from evaluator.store.db import open_reader
from tests.cli.conftest import invoke, ok, ok_json, refused, some_answers, write_answers, write_config

DB = Path("data/judgewatch.db")


def n_answers(db: Path = DB, app: str = "default") -> int:
    """Answers in the database."""
    with open_reader(db) as store:
        return int(read.counts(store, app)["n_answers"])


@pytest.fixture
def answers() -> Path:
    """A file of six good answers."""
    return write_answers(Path("answers.jsonl"), some_answers(6))


@pytest.fixture
def mixed() -> Path:
    """A file of two good rows between two bad ones."""
    good = some_answers(2)
    lines = ["{broken", json.dumps(good[0]), json.dumps({**good[1], "answered_at": "yesterday"}), json.dumps(good[1])]
    path = Path("mixed.jsonl")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_first_import_makes_the_database_and_tells_what_it_found(answers: Path) -> None:
    """Rows, new ones, days with their zone, tags, and the next step."""
    text = ok("import", answers)
    assert "answers.jsonl: 6 rows\n" in text
    assert "created data/judgewatch.db (days in zone UTC)\n" in text
    assert "6 answers new, 0 known already" in text
    assert "days: 2026-03-01 to 2026-03-01 (UTC)\n" in text
    assert "topic (2)" in text
    assert "next: `judgewatch run once --dry-run`" in text
    assert n_answers() == 6


def test_same_file_twice_adds_nothing_and_says_so(answers: Path) -> None:
    """An import may be repeated without a thought."""
    ok("import", answers)
    text = ok("import", answers)
    assert "nothing new: 6 answers known already, in data/judgewatch.db" in text
    assert "created" not in text
    assert "next:" not in text
    assert n_answers() == 6


def test_rejects_keep_everything_out(mixed: Path) -> None:
    """Lines, reasons, the fix; exit 1; and no trace of a database."""
    result = invoke("import", mixed)
    assert result.exit_code == 1
    assert "mixed.jsonl, line 1: broken JSON" in result.stderr
    assert "mixed.jsonl, line 3: " in result.stderr
    assert "2 rows cannot be used, so nothing was imported" in result.stderr
    assert "--skip-bad" in result.stderr
    assert not Path("data").exists() or not list(Path("data").iterdir())


def test_rejects_of_one_file_keep_out_the_others(answers: Path, mixed: Path) -> None:
    """All files are one import."""
    assert invoke("import", answers, mixed).exit_code == 1
    assert not DB.exists()


def test_skip_bad_imports_the_rest(mixed: Path) -> None:
    """Two of four rows, the others told."""
    result = invoke("import", mixed, "--skip-bad")
    assert result.exit_code == 0
    assert "4 rows, 2 of them rejected" in result.stdout
    assert "2 rows skipped" in result.stderr
    assert n_answers() == 2


def test_twenty_rejects_are_shown_and_all_are_counted() -> None:
    """A file of another kind must not fill the screen, though no two rows are wrong in the same way."""
    Path("bad.jsonl").write_text("".join("[" + "1," * n + "x\n" for n in range(50)), encoding="utf-8")
    result = invoke("import", "bad.jsonl")
    assert result.stderr.count("broken JSON") == 20
    assert "... and 30 more; --rejects FILE writes them all" in result.stderr


def test_rejects_go_to_a_file() -> None:
    """All of them, as JSON lines."""
    Path("bad.jsonl").write_text("nonsense\n" * 50, encoding="utf-8")
    assert "all rejected rows are in bad.txt" in invoke("import", "bad.jsonl", "--rejects", "bad.txt").stderr
    rows = [json.loads(line) for line in Path("bad.txt").read_text("utf-8").splitlines()]
    assert [row["line"] for row in rows] == list(range(1, 51))
    assert set(rows[0]) == {"file", "line", "reason", "text_start"}


def test_json_holds_every_reject(mixed: Path) -> None:
    """For programs; the exit code stays."""
    result = invoke("import", mixed, "--json")
    assert result.exit_code == 1
    payload = json.loads(result.stdout)
    assert [row["line"] for row in payload["rejects"]] == [1, 3]
    assert (payload["stored"], payload["n_rows"], payload["n_rejected"]) == (False, 4, 2)


def test_dry_run_writes_nothing(answers: Path) -> None:
    """It counts what would be new, and makes no database."""
    payload = ok_json("import", answers, "--dry-run")
    assert (payload["n_new"], payload["n_known"], payload["stored"], payload["dry_run"]) == (6, 0, False, True)
    assert not DB.exists()
    assert "6 answers would be new" in ok("import", answers, "--dry-run")


def test_another_text_under_a_known_id_is_listed() -> None:
    """The old one stays; people have to know."""
    ok("import", write_answers(Path("a.jsonl"), some_answers(3)))
    rows = some_answers(3)
    rows[1]["output"] = "corrected"
    text = ok("import", write_answers(Path("b.jsonl"), rows))
    assert "1 answer came with another text under a known id, kept beside it: 2026-03-01-1" in text
    assert n_answers() == 4


def test_answers_without_a_time_are_told_with_the_fix() -> None:
    """They count on no day, which nobody expects."""
    rows = [{key: value for key, value in row.items() if key != "answered_at"} for row in some_answers(2)]
    text = ok("import", write_answers(Path("a.jsonl"), rows))
    assert "2 answers without a time" in text
    assert "--answered-at TIME" in text


def test_time_can_be_given_to_those_without() -> None:
    """One time for the rows that have none."""
    rows = [{key: value for key, value in row.items() if key != "answered_at"} for row in some_answers(2)]
    payload = ok_json("import", write_answers(Path("a.jsonl"), rows), "--answered-at", "2026-03-05T10:00Z")
    assert (payload["n_without_time"], payload["first_day"]) == (0, "2026-03-05")


def test_columns_times_and_zones_can_be_named() -> None:
    """A table of another tool: semicolons, its own names, day first, local time."""
    text = "nr;frage;antwort;wann\n1;Offen?;Ja;01/03/2026 00:30\n"
    Path("a.csv").write_text(text, encoding="utf-8")
    options = ["--field", "output=antwort", "--field", "input=frage", "--field", "id=nr", "--field", "answered_at=wann"]
    payload = ok_json("import", "a.csv", *options, "--time-format", "%d/%m/%Y %H:%M", "--zone", "Europe/Berlin")
    assert payload["first_day"] == "2026-02-28"
    with open_reader(DB) as store:
        (item_id,) = read.find_item_ids(store, "default", "1")
        item = read.item(store, item_id)
    assert item is not None
    assert (item["input"], item["output"], item["answered_utc"]) == ("Offen?", "Ja", "2026-02-28T23:30:00Z")


def test_day_zone_is_that_of_a_new_database(answers: Path) -> None:
    """Chosen once, and told."""
    assert "(days in zone Asia/Tokyo)" in ok("import", answers, "--day-zone", "Asia/Tokyo")
    line = refused("import", answers, "--day-zone", "UTC", code=64)
    assert "db rebuild --zone UTC" in line


def test_configuration_names_app_database_and_zones(answers: Path) -> None:
    """With a configuration nothing has to be repeated."""
    config = write_config(**{'cron = "0 6 * * *"': 'cron = "0 6 * * *"\nzone = "Asia/Tokyo"'})
    config.write_text(config.read_text("utf-8") + '[store]\npath = "elsewhere/x.db"\n', encoding="utf-8")
    payload = ok_json("import", answers)
    assert payload["zone"] == "Asia/Tokyo"
    assert n_answers(Path("elsewhere/x.db"), "shop") == 6


def test_only_app_of_a_database_is_meant(answers: Path) -> None:
    """Without a configuration, a second import goes where the first went."""
    ok("import", answers, "--app", "shop")
    ok("import", write_answers(Path("b.jsonl"), some_answers(2, "2026-03-02")))
    assert n_answers(app="shop") == 8


def test_several_apps_have_to_be_told_apart(answers: Path) -> None:
    """A guess would put answers where nobody looks."""
    ok("import", answers, "--app", "shop")
    ok("import", answers, "--app", "bot")
    assert refused("import", answers, code=64).endswith("name one with --app: bot, shop")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--field", "output"], "write it as FIELD=COLUMN"),
        (["--field", "answer=x"], "there is no field 'answer'"),
        (["--field", "output=nothing"], "no row has the column 'nothing'"),
        (["--format", "xlsx"], "is not one of 'jsonl', 'csv', 'json'"),
        (["--time-format", "%Z"], "%Z depends on the machine"),
        (["--zone", "Mars/Base"], "time zone 'Mars/Base' is unknown"),
        (["--day-zone", "Mars/Base"], "unknown zone 'Mars/Base'"),
        (["--answered-at", "soon"], "time for rows without one"),
    ],
)
def test_wrong_option_is_refused_and_nothing_written(answers: Path, args: list[str], message: str) -> None:
    """Each names the value; 64; no database."""
    assert message in refused("import", answers, *args, code=64)
    assert not DB.exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.jsonl", None, "No such file or directory"),
        ("utf16.jsonl", b"\xff\xfex\x00", "is UTF-16; save it as UTF-8"),
        ("zipped.jsonl", b"\x1f\x8b\x08", "is compressed (gzip)"),
        ("nothing.jsonl", b'{"a": 1}\n', "no row has a field for the answer"),
        ("twice.csv", b"a,a\n1,2\n", "column 'a' occurs twice"),
    ],
)
def test_unusable_file_is_named(name: str, content: bytes | None, message: str) -> None:
    """The file, the reason, 64."""
    if content is not None:
        Path(name).write_bytes(content)
    line = refused("import", name, code=64)
    assert name in line
    assert message in line
    assert not DB.exists()


def test_folder_is_no_file() -> None:
    """A folder of files has to be listed."""
    Path("folder").mkdir()
    assert "folder: cannot be read: Is a directory" in refused("import", "folder", code=64)


def test_file_names_and_texts_cannot_steer_the_terminal() -> None:
    """What an import shows may come from strangers."""
    path = Path("a\x1b[31m.jsonl")
    path.write_text('{"output": "x", "\x1b[2J"\n', encoding="utf-8")
    assert "\x1b" not in invoke("import", path).output


def test_equal_reasons_share_a_line_with_their_line_numbers() -> None:
    """Fifty rows of one fault are one fault."""
    Path("bad.jsonl").write_text("nonsense\n" * 50, encoding="utf-8")
    lines = [line for line in invoke("import", "bad.jsonl").stderr.splitlines() if "broken JSON" in line]
    assert len(lines) == 1
    assert lines[0].startswith("bad.jsonl, lines 1, 2, 3, ")
    assert ", 20 and 30 more: broken JSON" in lines[0]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.json"])
def test_encoding_can_be_named_and_is_suggested(name: str) -> None:
    """A table of an old program is read as it was meant."""
    text = {"a.jsonl": '{"output": "für"}\n{"output": "ok"}\n', "a.csv": "output\nfür\nok\n"}
    Path(name).write_bytes(text.get(name, '[{"output": "für"}, {"output": "ok"}]').encode("cp1252"))
    assert "--encoding cp1252" in invoke("import", name).stderr
    ok("import", name, "--encoding", "cp1252", "--answered-at", "2026-03-01")
    with open_reader(DB) as store:
        assert {row[0] for row in store.connection.execute("SELECT output FROM items")} == {"für", "ok"}


@pytest.mark.parametrize(("name", "message"), [("klingon", "is unknown"), ("utf-16", "save the file as UTF-8")])
def test_encoding_that_cannot_be_used_is_refused(answers: Path, name: str, message: str) -> None:
    """Named, with the fix."""
    assert message in refused("import", answers, "--encoding", name, code=64)


@pytest.mark.parametrize("content", ["", "\n\n", "id,output\n"])
def test_file_without_an_answer_fails_in_one_line_and_leaves_nothing(content: str) -> None:
    """A pipeline that delivers nothing must not look well."""
    Path("a.csv").write_text(content, encoding="utf-8")
    result = invoke("import", "a.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: there is no answer in a.csv; nothing was imported\n"
    assert not Path("data").exists()


def test_skip_bad_is_not_advised_and_does_not_help_when_nothing_is_left() -> None:
    """There is no rest to import."""
    Path("bad.jsonl").write_text("nonsense\n" * 2, encoding="utf-8")
    for options in ([], ["--skip-bad"]):
        result = invoke("import", "bad.jsonl", *options)
        assert result.exit_code == 1
        assert "error: none of the 2 rows can be used in bad.jsonl; nothing was imported" in result.stderr
        assert "--skip-bad" not in result.stderr
    assert not Path("data").exists()


def test_nothing_usable_leaves_an_existing_database_as_it_was(answers: Path) -> None:
    """Also where there is a database already."""
    ok("import", answers)
    Path("b.jsonl").write_text("", encoding="utf-8")
    assert "there is no answer in b.jsonl" in refused("import", "b.jsonl", code=1)
    assert n_answers() == 6


def test_empty_answers_are_kept_and_counted() -> None:
    """They are part of the traffic, and nobody should wonder where scores are missing."""
    rows = some_answers(3)
    rows[0]["output"], rows[1]["output"] = None, ""
    text = ok("import", write_answers(Path("a.jsonl"), rows))
    assert "2 answers without any text: kept, and counted as unscored" in text
    assert n_answers() == 3


def test_answers_of_the_future_are_taken_with_a_note() -> None:
    """More than a day ahead is a wrong zone or format, or a test."""
    text = ok("import", write_answers(Path("a.jsonl"), some_answers(2, "2099-01-01") + some_answers(1)))
    assert "note: 2 answers more than a day in the future" in text
    assert n_answers() == 3


def test_named_database_replaces_only_the_path(answers: Path) -> None:
    """App and zones of the configuration here still count, and no configuration is asked for."""
    write_config(
        **{"[traffic]": '[traffic]\nnaive_zone = "Asia/Tokyo"', "[schedule]": '[schedule]\nzone = "Asia/Tokyo"'}
    )
    rows = [{**row, "answered_at": "2026-03-02 00:30:00"} for row in some_answers(1)]
    text = ok("import", write_answers(Path("b.jsonl"), rows), "--db", "other.db")
    assert "days: 2026-03-02 to 2026-03-02 (Asia/Tokyo)" in text
    assert "it needs a judgewatch.toml" not in text
    with open_reader(Path("other.db")) as store:
        assert store.connection.execute("SELECT app, answered_utc FROM items").fetchall()[0][:] == (
            "shop",
            "2026-03-01T15:30:00Z",
        )


def test_documented_names_stand_for_fields() -> None:
    """The words of the README, not those of the code."""
    Path("a.csv").write_text("nr,frage,antwort\n1,Offen?,Ja\n", encoding="utf-8")
    options = ["--field", "item_id=nr", "--field", "inputs=frage", "--field", "outputs=antwort"]
    ok("import", "a.csv", *options, "--answered-at", "2026-03-01")
    with open_reader(DB) as store:
        row = store.connection.execute("SELECT external_id, input, output FROM items").fetchone()
    assert tuple(row) == ("1", "Offen?", "Ja")


def test_field_named_twice_under_two_names_is_refused(answers: Path) -> None:
    """One of them would silently lose."""
    line = refused("import", answers, "--field", "id=topic", "--field", "item_id=id", code=64)
    assert "the field 'id' is named twice" in line


def test_answered_utc_is_a_time() -> None:
    """The name under which exports write it."""
    rows = [{"output": "x", "answered_utc": "2026-03-01T10:00:00Z"}]
    assert ok_json("import", write_answers(Path("a.jsonl"), rows))["first_day"] == "2026-03-01"
