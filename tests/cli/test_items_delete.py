"""``judgewatch items delete``: a person's answers are gone from every byte, and nothing else is."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from evaluator.deletion import count_recorded
from evaluator.spool import record
from evaluator.store import read, rollup
from evaluator.store.db import open_reader, open_store
from tests.cli.conftest import invoke, ok, ok_json, refused, write_anchors, write_answers, write_config

DB = Path("data/judgewatch.db")
PERSON = "user-7734-jane"
TEXT = "janes-secret-words"
ANSWERS = Path("answers.jsonl")
RUN_SLOT = "2026-03-02T06:00Z"


def person_row(number: int, **changes: Any) -> dict[str, Any]:
    """An answer to the person, every other of it of many pages."""
    row = {
        "id": f"trace-jane-{number}",
        "user_id": PERSON,
        "conversation_id": f"talk-jane-{number % 2}",
        "input": f"{TEXT} question {number}",
        "output": f"{TEXT} " * (2 if number % 2 else 4000),
        "contexts": [f"{TEXT} context"],
        "reference": f"{TEXT} reference",
        "answered_at": f"2026-03-01T12:00:{number:02d}Z",
        "topic": "billing",
        "account": PERSON,
    }
    return row | changes


def other_row(number: int) -> dict[str, Any]:
    """An answer to somebody else."""
    return person_row(
        number, id=f"trace-bob-{number}", user_id="user-bob", conversation_id="talk-bob", account="user-bob",
        input=f"bob asks {number}", output="bob is told", contexts=["bob"], reference="bob",
    )  # fmt: skip


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with answers of two people, imported and graded by a judge that quotes."""
    write_config(answers_per_day="answers_per_day = 100 #")
    write_anchors()
    write_answers(ANSWERS, [*(person_row(n) for n in range(6)), *(other_row(n) for n in range(20))])
    ok("import", ANSWERS)
    monkeypatch.setattr("tests.cli.graders.by_words", _quote)
    ok("run", "once", "--slot", RUN_SLOT, "--since", "2026-03-01")
    return DB


def _quote(item: Any) -> dict[str, Any]:
    """Grade, and quote what was graded in every field."""
    return {
        "score": 3,
        "explanation": f"because {item.output[:30]}",
        "strengths": [item.input],
        "weaknesses": [item.output[:30]],
    }


def everything() -> bytes:
    """All bytes of the database and its log."""
    return b"".join(path.read_bytes() for path in sorted(DB.parent.glob("judgewatch.db*")))


def person_bytes(content: bytes) -> list[str]:
    """Which of the person's words stand in some bytes."""
    return [word for word in (TEXT, PERSON, "trace-jane", "talk-jane") if word.encode() in content]


def totals() -> list[tuple[Any, ...]]:
    """The daily totals but for the names of segments."""
    with open_reader(DB) as store:
        rows = store.connection.execute(
            "SELECT day, source, segment_id, n, n_unscored, sum_w, sum_wy, sum_w2y2, n_clusters, sum_t2"
            " FROM daily_scores ORDER BY day, source, segment_id, run_id"
        )
        return [tuple(row) for row in rows]


def test_every_byte_of_a_person_goes_and_every_score_stays(graded: Path) -> None:
    """Texts of many pages, ids in indexes, tags, what the judge wrote: database, log and a new backup hold none."""
    assert person_bytes(everything()) == [TEXT, PERSON, "trace-jane", "talk-jane"]
    before, daily = ok_json("history"), totals()
    text = ok("items", "delete", "--user", PERSON, "--yes")
    assert "6 answers of shop deleted; scores stay" in text
    assert person_bytes(everything()) == []
    ok("db", "backup", "copy.db")
    assert person_bytes(Path("copy.db").read_bytes()) == []
    assert b"bob is told" in everything()
    assert ok_json("history")["days"] == before["days"]
    assert totals() == daily


def test_totals_built_anew_are_the_same(graded: Path) -> None:
    """Who belongs together is kept without a name, so that intervals stay as wide as they were."""
    daily = totals()
    ok("items", "delete", "--user", PERSON, "--yes")
    with open_store(DB) as store:
        rollup.rebuild_everything(store, "shop")
    assert [row[:5] for row in totals()] == [row[:5] for row in daily]
    for now, then in zip(totals(), daily, strict=True):
        assert now == pytest.approx(then)


def test_importing_the_file_again_brings_nothing_back(graded: Path) -> None:
    """A deleted answer is known: neither new nor a version, in a dry run neither."""
    ok("items", "delete", "--user", PERSON, "--yes")
    dry = ok_json("import", ANSWERS, "--dry-run")
    report = ok_json("import", ANSWERS)
    for told in (dry, report):
        assert (told["n_new"], told["n_known"], told["n_versions"]) == (0, 26, 0)
    assert TEXT.encode() not in everything()
    changed = write_answers(Path("changed.jsonl"), [person_row(0, output=f"{TEXT} again")])
    report = ok_json("import", changed)
    assert (report["n_new"], report["n_known"], report["n_versions"]) == (0, 1, 0)
    assert TEXT.encode() not in everything()


def test_answers_without_an_id_of_ones_own_stay_away_too(graded: Path) -> None:
    """They are known by the hash under which they were kept."""
    anonymous = {name: value for name, value in person_row(30).items() if name != "id"}
    path = write_answers(Path("anonymous.jsonl"), [anonymous])
    assert ok_json("import", path)["n_new"] == 1
    ok("items", "delete", "--user", PERSON, "--yes")
    report = ok_json("import", path)
    assert (report["n_new"], report["n_known"], report["n_versions"]) == (0, 1, 0)


def test_what_was_not_graded_yet_is_not_graded_any_more(graded: Path) -> None:
    """A deleted answer would be graded as an empty one."""
    day = "2026-03-02"
    fresh = [person_row(40, id="new", answered_at=f"{day}T10:00:00Z"), *(other_row(50 + n) for n in range(2))]
    rows = [row | {"answered_at": f"{day}T10:00:0{n}Z"} for n, row in enumerate(fresh)]
    ok("import", write_answers(Path("fresh.jsonl"), rows))
    ok("items", "delete", "--user", PERSON, "--yes")
    ok("run", "once", "--slot", "2026-03-03T06:00Z", "--since", "2026-03-01")
    with open_reader(DB) as store:
        row = store.connection.execute(
            "SELECT count(*), count(score) FROM verdicts v JOIN items i ON i.item_id = v.item_id"
            " WHERE i.answered_day = ? AND v.slot_utc = ''",
            (day,),
        ).fetchone()
    assert tuple(row) == (2, 2)


def test_one_answer_by_its_own_id_takes_all_its_versions(graded: Path) -> None:
    """The same id with two texts is one answer to the person."""
    ok("import", write_answers(Path("changed.jsonl"), [person_row(1, output=f"{TEXT} second")]))
    assert ok_json("items", "delete", "--external-id", "trace-jane-1", "--yes")["n_items"] == 2
    assert b"trace-jane-1" not in everything()
    assert b"trace-jane-2" in everything()
    shown = invoke("items", "show", "trace-jane-1")
    assert shown.exit_code == 1


def test_one_item_by_the_start_of_its_id(graded: Path) -> None:
    """As ``items list`` shows it; what is shown of it afterwards says that it was deleted."""
    with open_reader(DB) as store:
        item_id = read.items_of_own_id(store, "shop", "trace-jane-3")[0]["item_id"]
    ok("items", "delete", "--id", item_id[:12], "--yes")
    text = ok("items", "show", item_id)
    assert "question and answer: deleted on 20" in text
    assert "verdict: 3" in text
    assert TEXT not in text


def test_it_asks_first_and_no_is_no(graded: Path) -> None:
    """Deleting cannot be undone."""
    result = invoke("items", "delete", "--user", PERSON)  # no answer on standard input
    assert result.exit_code == 1
    assert "delete 6 answers of shop for good?" in result.stderr
    assert person_bytes(everything()) == [TEXT, PERSON, "trace-jane", "talk-jane"]


def test_a_dry_run_tells_and_writes_nothing(graded: Path) -> None:
    """The same numbers, no change."""
    told = ok_json("items", "delete", "--user", PERSON, "--dry-run")
    assert (told["n_items"], told["is_clean"], told["dry_run"]) == (6, None, True)
    assert "6 answers of shop would be deleted; nothing was written" in ok(
        "items", "delete", "--user", PERSON, "--dry-run"
    )
    assert TEXT.encode() in everything()


def test_the_deletion_is_recorded_without_ids(graded: Path) -> None:
    """Who, when, how many."""
    ok("items", "delete", "--user", PERSON, "--yes")
    with open_reader(DB) as store:
        (row,) = [dict(row) for row in store.connection.execute("SELECT * FROM deletions")]
    assert (row["app"], row["n_items"], row["note"]) == ("shop", 6, "")
    assert row["by_whom"]
    assert row["at_utc"].endswith("Z")


def test_deleting_again_is_no_error(graded: Path) -> None:
    """It makes the bytes go once more, for when something was in the way."""
    for option, value in (("--user", PERSON), ("--external-id", "trace-jane-1")):
        ok("items", "delete", option, value, "--yes")
        assert "it was deleted before" in ok("items", "delete", option, value, "--yes")


def test_while_a_page_reads_the_log_keeps_the_bytes_and_that_is_said(graded: Path) -> None:
    """Exit code 1: the wish is not fulfilled yet; the same command ends it later."""
    with open_reader(DB) as page:
        page.connection.execute("BEGIN")
        page.connection.execute("SELECT count(*) FROM items").fetchone()
        result = invoke("items", "delete", "--user", PERSON, "--yes")
        assert result.exit_code == 1
        assert "judgewatch.db-wal still holds the old texts" in result.stderr
        page.connection.execute("ROLLBACK")
    ok("items", "delete", "--user", PERSON, "--yes")
    assert person_bytes(everything()) == []


def test_a_database_written_without_overwriting_is_cleaned_too(graded: Path) -> None:
    """Older versions left copies in free space."""
    with sqlite3.connect(DB) as raw:
        raw.execute("PRAGMA secure_delete = OFF")
        raw.execute("CREATE TABLE old_copy (x TEXT)")
        raw.executemany("INSERT INTO old_copy VALUES (?)", [(f"{TEXT} " * 200,) for _ in range(50)])
        raw.execute("DROP TABLE old_copy")
    raw.close()
    ok("items", "delete", "--user", PERSON, "--yes")
    assert person_bytes(everything()) == []


def test_other_copies_are_named(graded: Path) -> None:
    """What judgewatch cannot remove, a person has to."""
    ok("db", "backup", "data/before.db")
    Path("data/notes.db").write_text("no database", encoding="utf-8")
    result = invoke("items", "delete", "--user", PERSON, "--yes")
    assert result.exit_code == 0
    assert "not touched: 1 other database beside judgewatch.db" in result.stderr
    assert "before.db" in result.stderr
    assert "notes.db" not in result.stderr
    assert "judgewatch does not know of backups made before" in result.stderr


def test_recorded_answers_that_wait_are_told(graded: Path) -> None:
    """They would come in with the next run."""
    record(output="x", user_id=PERSON, path="spool")
    record(output="x", user_id="user-bob", path="spool")
    Path("spool/old.rejected.jsonl").write_text(f'{{"user_id": "{PERSON}", broken\n', encoding="utf-8")
    result = invoke("items", "delete", "--user", PERSON, "--yes")
    assert result.exit_code == 1
    assert "2 recorded answers in" in result.stderr
    assert count_recorded(Path("spool"), {"nobody"}) == 0
    assert count_recorded(Path("no-such-folder"), {PERSON}) == 0


def test_an_anchor_in_use_is_refused(graded: Path) -> None:
    """Every run would grade an empty text."""
    with open_reader(DB) as store:
        item_id = store.connection.execute("SELECT item_id FROM items WHERE source = 'anchor'").fetchone()[0]
    assert "is an anchor that every run grades" in refused("items", "delete", "--id", item_id, "--yes", code=64)


def test_an_anchor_with_the_same_texts_is_told(graded: Path) -> None:
    """It stays in the database and in the file of its set; taken out of the set it can be deleted."""
    row = person_row(1)
    anchors = Path("anchors.jsonl").read_text(encoding="utf-8")
    own = {"anchor_id": "jane", "inputs": row["input"], "outputs": row["output"]}
    own |= {"expected_output": row["reference"], "retrieved_contexts": row["contexts"]}
    Path("anchors.jsonl").write_text(anchors + json.dumps(own) + "\n", encoding="utf-8")
    ok("run", "once", "--slot", "2026-03-03T06:00Z")
    result = invoke("items", "delete", "--user", PERSON, "--yes")
    assert result.exit_code == 1
    assert "still there: anchor jane of the set anchors.jsonl has the same texts" in result.stderr
    (anchor,) = ok_json_of(invoke("items", "delete", "--user", PERSON, "--yes", "--json"))["anchors"] or [None]
    assert anchor is None  # of what was deleted before nothing is known
    Path("anchors.jsonl").write_text(anchors, encoding="utf-8")
    ok("run", "once", "--slot", "2026-03-04T06:00Z")
    start = result.stderr.split("--id ")[1].split("`")[0]
    ok("items", "delete", "--id", start, "--yes")
    assert TEXT.encode() not in everything()


def ok_json_of(result: Any) -> Any:
    """The object that a command printed."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_scorer_at_work_is_waited_for_by_the_user(graded: Path) -> None:
    """It holds texts in memory and would write them again."""
    with open_store(DB) as store, store.transaction() as connection:
        connection.execute(
            "INSERT INTO leases VALUES ('scorer:shop', 'elsewhere/1/x', 'run', '2099-01-01T00:00:00Z',"
            " '2099-01-01T00:00:00Z')"
        )
    assert "another scorer" in refused("items", "delete", "--user", PERSON, "--yes", code=1)
    assert TEXT.encode() in everything()


@pytest.mark.parametrize(
    "options", [[], ["--id", "a", "--user", "b"], ["--user", ""], ["--user", "nobody"], ["--id", "zz"]]
)
def test_what_names_nobody_is_refused(graded: Path, options: list[str]) -> None:
    """Exactly one way to say whose, and somebody must fit."""
    refused("items", "delete", *options, "--yes", code=64)
    assert len(person_bytes(everything())) == 4


def test_a_person_as_a_segment_loses_the_name(graded: Path) -> None:
    """A tag that holds the user's id names the person on every page."""
    with open_reader(DB) as store:
        named = [row["value"] for row in read.segments(store, "shop")]
    assert PERSON in named
    ok("items", "delete", "--user", PERSON, "--yes")
    with open_reader(DB) as store:
        now = [row["value"] for row in read.segments(store, "shop")]
    assert len(now) == len(named)
    assert PERSON not in now
    assert "user-bob" in now


def test_scores_imported_for_a_deleted_answer_bring_no_words_back(graded: Path) -> None:
    """The explanation of a score quotes the answer."""
    row = {"id": "trace-jane-1", "output": TEXT, "score": 4, "explanation": f"{TEXT} is why", "judge": "own"}
    times = {"answered_at": "2026-03-01T12:00:01Z", "graded_at": "2026-03-01T13:00:00Z"}
    rows = [row | times, *({**other_row(n), "score": 2 + n % 3, "judge": "own", **times} for n in range(20))]
    path = write_answers(Path("scores.jsonl"), rows)
    ok("items", "delete", "--user", PERSON, "--yes")
    ok("import", path, "--verdicts")
    with open_reader(DB) as store:
        n = store.connection.execute("SELECT count(*) FROM verdicts WHERE explanation <> ''").fetchone()[0]
    assert n > 0
    assert person_bytes(everything()) == []


def test_notes_of_the_configuration_reach_show(graded: Path) -> None:
    """``items show`` links to the trace store that the configuration names, after a run or an import."""
    write_config(answers_per_day='item_url = "https://t.example/{external_id}"\nanswers_per_day = 100 #')
    ok("import", ANSWERS)
    assert "in your trace store: https://t.example/trace-bob-1\n" in ok("items", "show", "trace-bob-1")
    assert ok_json("items", "show", "trace-bob-1")["item"]["link"] == "https://t.example/trace-bob-1"
    with open_reader(DB) as store:
        noted = read.app_settings(store, "shop")
    assert noted["cron"] == "0 6 * * *"
    assert noted["store_text"] == "true"


def test_answers_that_carry_the_person_as_a_tag_are_told(graded: Path) -> None:
    """Imported without the word that the column names a person, they are not found by it; that is told."""
    row = {"nr": "7", "output": "something else", "kunde": PERSON, "answered_at": "2026-03-02T12:00:00Z"}
    ok("import", write_answers(Path("tagged.jsonl"), [row]))
    for _ in range(2):  # the second time nothing is left but what is told
        result = invoke("items", "delete", "--user", PERSON, "--yes")
        assert result.exit_code == 1
        assert "answers carry it as a tag (1 as kunde)" in result.stderr
    assert PERSON.encode() in everything()
    message = refused("items", "delete", "--external-id", PERSON, "--yes", code=64)
    assert "1 as kunde" in message
