"""What is configured not to be written down is not in any file: on import, in the spool, after grading."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator import spool
from evaluator.config import TrafficConfig
from evaluator.errors import ConfigError
from evaluator.importing import ImportReport, Reading, RejectLog, import_files
from evaluator.importing.redacting import open_redactor, redacted, redaction_text
from evaluator.importing.spooled import import_spooled
from evaluator.item_links import item_link
from evaluator.records import Item, ItemFlag, ParsedVerdict, Purpose, UnscoredReason
from evaluator.scoring.sampler import draw_traffic
from evaluator.store import read, write
from evaluator.store.db import open_reader, open_store
from tests.builders import ruler
from tests.scoring.helpers import APP, DAY, ScriptedJudge, Shop
from tests.store.helpers import answer, import_items

NOW = datetime(2026, 3, 5, 6, tzinfo=UTC)
REDACT = TrafficConfig(redact=("email", "phone", "card", "key"))
HOOKS = "tests.test_privacy"


def shout(text: str) -> str:
    """A hook that changes texts."""
    return text.replace("Joe", "[name]")


def fail_on_joe(text: str) -> str:
    """A hook that cannot cope with some texts."""
    if "Joe" in text:
        raise ValueError(text)
    return text


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def import_rows(
    folder: Path, *rows: dict[str, Any], traffic: TrafficConfig = REDACT, **options: Any
) -> tuple[ImportReport, list[dict[str, Any]]]:
    """Import rows as the configuration says; returns the report and the rejects."""
    path = write_rows(folder / "rows.jsonl", *rows)
    with RejectLog() as rejects:
        report = import_files(
            folder / "jw.db", [path], app=APP, now=NOW, reading=Reading(redactor=open_redactor(traffic)),
            rejects=rejects, **options,
        )  # fmt: skip
        return report, list(rejects.rows())


def stored_items(db: Path) -> list[Item]:
    """All stored items, in the order of import."""
    with open_reader(db) as store:
        ids = [row[0] for row in store.connection.execute("SELECT item_id FROM items ORDER BY rowid")]
        found = read.load_items(store, ids)
        return [found[item_id] for item_id in ids]


def bytes_in(folder: Path, *, of: str = "jw.db*") -> bytes:
    """All bytes of the database and its log."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob(of)))


ROW: dict[str, Any] = {
    "id": "t-joe@example.com",
    "user_id": "joe@example.com",
    "conversation_id": "+49 30 123456",
    "input": "I am joe@example.org, call +49 30 7654321",
    "output": "Your card 4111 1111 1111 1111 is fine.",
    "reference": "ask sue@example.net",
    "contexts": ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "open until 5 pm"],
    "answered_at": "2026-03-04T10:00:00Z",
    "model": "m",
    "contact": "max@example.net",
}


# ---------------------------------------------------------------- import


def test_texts_and_tags_are_redacted_and_ids_stay(tmp_path: Path) -> None:
    """Ids say who an item is: without them a person's answers could not be deleted."""
    report, _ = import_rows(tmp_path, ROW)
    (item,) = stored_items(tmp_path / "jw.db")
    assert item.input == "I am [email], call [phone]"
    assert item.output == "Your card [card] is fine."
    assert item.reference == "ask [email]"
    assert item.contexts == ("[key]", "open until 5 pm")
    assert (item.external_id, item.user_id, item.conversation_id) == (ROW["id"], ROW["user_id"], ROW["conversation_id"])
    with open_reader(tmp_path / "jw.db") as store:
        row = read.item(store, next(iter(store.connection.execute("SELECT item_id FROM items")))[0])
    assert row is not None
    assert row["tags"] == {"contact": "[email]"}
    assert report.redaction == "3 e-mail addresses, 1 phone number, 1 card number and 1 key in 1 answer"
    assert b"example.org" not in bytes_in(tmp_path)
    assert b"4111 1111" not in bytes_in(tmp_path)


def test_nothing_is_redacted_unless_asked(tmp_path: Path) -> None:
    """The default keeps what the files hold."""
    report, _ = import_rows(tmp_path, ROW, traffic=TrafficConfig())
    assert stored_items(tmp_path / "jw.db")[0].input == ROW["input"]
    assert report.redaction == ""


def test_reading_a_file_again_adds_nothing(tmp_path: Path) -> None:
    """Identities are made of redacted texts, with and without ids of one's own."""
    anonymous = {name: value for name, value in ROW.items() if name != "id"}
    first, _ = import_rows(tmp_path, ROW, anonymous)
    again, _ = import_rows(tmp_path, ROW, anonymous)
    dry, _ = import_rows(tmp_path, ROW, anonymous, dry_run=True)
    assert (first.n_new, again.n_new, again.n_known, again.n_versions) == (2, 0, 2, 0)
    assert (dry.n_new, dry.n_known, dry.n_versions) == (0, 2, 0)


def test_rows_that_differ_only_in_what_was_taken_out_are_still_two(tmp_path: Path) -> None:
    """Two people who sent their addresses are two answers, though their texts are equal now."""
    rows = [{"input": f"{name}@example.com", "output": "Thanks."} for name in ("joe", "sue")]
    report, _ = import_rows(tmp_path, *rows)
    assert report.n_new == 2
    again, _ = import_rows(tmp_path, *rows)
    assert (again.n_new, again.n_known) == (0, 2)


def test_rejects_are_told_without_the_data(tmp_path: Path) -> None:
    """The start of a row is cut off, so what is left of an address or a number is hidden too."""
    bad = {"input": "x" * 40 + " joe@example.com +49 30 1234567", "output": "ok", "answered_at": "call 0151/23456789"}
    report, rejects = import_rows(tmp_path, bad, {"output": "fine", "id": 1}, skip_bad=True)
    assert report.n_rejected == 1
    told = json.dumps(rejects)
    assert "[phone]" in told
    for part in ("joe", "example", "1234", "2345", "0151"):
        assert part not in told


def test_a_row_on_which_the_hook_fails_is_rejected_and_not_stored(tmp_path: Path) -> None:
    """Nothing unredacted is written, and the reason quotes nothing."""
    traffic = TrafficConfig(redact_hook=f"python:{HOOKS}:fail_on_joe")
    rows = [{"id": 1, "output": "hello"}, {"id": 2, "output": "I am Joe Doe"}]
    report, rejects = import_rows(tmp_path, *rows, traffic=traffic, skip_bad=True)
    assert (report.n_new, report.n_rejected, report.n_rows) == (1, 1, 2)
    assert rejects[0]["line"] == 2
    assert rejects[0]["reason"] == "the redaction hook raised ValueError; nothing of the row is kept"
    assert b"Joe" not in bytes_in(tmp_path)
    assert rejects[0]["text_start"] == ""


def test_without_skip_bad_a_failing_hook_keeps_everything_out(tmp_path: Path) -> None:
    """As any other reject does."""
    traffic = TrafficConfig(redact_hook=f"python:{HOOKS}:fail_on_joe")
    report, _ = import_rows(tmp_path, {"output": "hello"}, {"output": "Joe"}, traffic=traffic)
    assert not report.stored
    assert not (tmp_path / "jw.db").exists()


def test_hook_and_own_patterns_come_from_the_configuration(tmp_path: Path) -> None:
    """They are counted under their names."""
    traffic = TrafficConfig(redact_patterns={"customer": "K-[0-9]+"}, redact_hook=f"{HOOKS}:shout")
    report, _ = import_rows(tmp_path, {"output": "Joe is K-12"}, {"output": "K-13"}, traffic=traffic)
    assert [item.output for item in stored_items(tmp_path / "jw.db")] == ["[name] is [customer]", "[customer]"]
    assert report.redaction == "2 customer and 1 text changed by the hook in 2 answers"


@pytest.mark.parametrize("place", ["python:no_such_module_here:f", f"{HOOKS}:nothing", f"{HOOKS}:HOOKS"])
def test_a_hook_that_is_not_there_is_refused_before_anything_is_read(place: str) -> None:
    """The message names the key and the place."""
    with pytest.raises(ConfigError, match=r"traffic\.redact_hook = "):
        open_redactor(TrafficConfig(redact_hook=place))


def test_redacted_leaves_an_item_alone_without_a_redactor() -> None:
    """What others store goes through the same door, open or not."""
    item = Item(input="joe@example.com", output="")
    assert redacted(item, None) is item
    assert redacted(item, open_redactor(REDACT)).input == "[email]"


def test_counts_are_told_in_words() -> None:
    """One is singular, none is nothing."""
    assert redaction_text({"email": 12, "phone": 3}, 9) == "12 e-mail addresses and 3 phone numbers in 9 answers"
    assert redaction_text({"email": 0}, 0) == ""


# ---------------------------------------------------------------- the spool


def test_recorded_answers_are_redacted_before_they_are_written(tmp_path: Path) -> None:
    """Texts within messages too; ids and the time stay."""
    messages = [{"role": "user", "content": [{"type": "text", "text": "joe@example.com"}]}]
    assert spool.record(
        input=messages, output="+49 30 123456", user_id="joe@example.com", contact="sue@example.com", path=tmp_path,
        redact=("email", "phone"),
    )  # fmt: skip
    (row,) = [json.loads(line) for path in tmp_path.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert row["input"][0]["content"][0]["text"] == "[email]"
    assert (row["output"], row["user_id"], row["contact"]) == ("[phone]", "joe@example.com", "[email]")
    assert len(row["item_id"]) == 32
    assert row["answered_at"].startswith("20")


def test_the_environment_says_what_to_take_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One setting for an application; a call can say otherwise."""
    monkeypatch.setenv("JUDGEWATCH_REDACT", "email, card")
    assert spool.record(output="joe@example.com +49 30 123456", path=tmp_path / "a")
    assert spool.record(output="joe@example.com", path=tmp_path / "b", redact=())
    assert b"[email] +49 30 123456" in bytes_in(tmp_path / "a", of="*")
    assert b"joe@example.com" in bytes_in(tmp_path / "b", of="*")


def test_nothing_is_recorded_when_it_cannot_be_redacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is not known must not mean that the text is written as it is."""
    monkeypatch.setattr(spool._Failures, "count", 1)
    assert not spool.record(output="joe@example.com", path=tmp_path, redact=("mail",))
    assert not list(tmp_path.iterdir())


def test_the_spool_is_redacted_when_it_is_taken_in(tmp_path: Path) -> None:
    """What an application wrote as it was does not reach the database."""
    spool.record(output="joe@example.com", path=tmp_path / "spool")
    import_spooled(
        tmp_path / "spool", store_path=tmp_path / "jw.db", app=APP, day_zone=None, naive_zone="UTC", now=NOW,
        redactor=open_redactor(REDACT),
    )  # fmt: skip
    assert stored_items(tmp_path / "jw.db")[0].output == "[email]"
    assert b"example.com" not in bytes_in(tmp_path)


# ---------------------------------------------------------------- texts that are kept for grading only


NO_TEXT = TrafficConfig(answers_per_day=3, store_text=False)
SECRET = "the-secret-of-number"


def secret_answers(n: int, day: str = DAY, **changes: Any) -> list[Item]:
    """Answers whose texts can be looked for in the file; every third fills pages of its own."""
    texts = [f"{SECRET} " * (900 if number % 3 == 0 else 2) for number in range(n)]
    return [
        answer(number, day=day, input=f"{SECRET} {number}", output=text, **changes) for number, text in enumerate(texts)
    ]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """An app with four anchors."""
    shop = Shop(path=tmp_path / "jw.db")
    open_store(shop.path, zone=shop.zone).close()
    return shop


def run(shop: Shop, judge: ScriptedJudge | None = None, **options: Any) -> Any:
    """Grade one slot."""
    return asyncio.run(shop.run(judge or ScriptedJudge(), **{"traffic": NO_TEXT, **options}))


def n_texts(shop: Shop) -> int:
    """Answers that still have their texts."""
    rows = shop.query("SELECT count(*) AS n FROM items WHERE source = 'traffic' AND output <> ''")
    return int(rows[0]["n"])


def test_texts_are_gone_from_the_file_after_the_run_that_took_their_day(shop: Shop, tmp_path: Path) -> None:
    """Those of graded answers and of those that were not drawn; scores, ids, tags and times stay."""
    shop.add_items(secret_answers(30, tags={"topic": "billing"}))
    report = run(shop)
    assert report.n_scored == 4 + 3
    assert SECRET.encode() not in bytes_in(tmp_path)
    rows = shop.query("SELECT * FROM items WHERE source = 'traffic'")
    assert {row["input"] + row["output"] + row["contexts_json"] for row in rows} == {"[]"}
    assert all(row["external_id"] and row["answered_day"] == DAY for row in rows)
    assert len(shop.query("SELECT * FROM item_tags")) == 30
    assert len(shop.scores()) == 3


def test_anchors_keep_their_texts(shop: Shop) -> None:
    """Every run needs them."""
    shop.add_items(secret_answers(2))
    run(shop)
    rows = shop.query("SELECT output FROM items WHERE source = 'anchor'")
    assert len(rows) == 4
    assert all(row["output"] for row in rows)


def test_days_that_are_still_to_be_drawn_keep_their_texts(shop: Shop) -> None:
    """Today's answers are graded tomorrow; those before the window never will be."""
    shop.add_items(secret_answers(2))
    shop.add_items(secret_answers(3, day="2026-02-28"))  # the day of the run goes on
    shop.add_items(secret_answers(4, day="2026-01-01"))
    run(shop)
    assert n_texts(shop) == 3
    run(shop, days=1)
    assert n_texts(shop) == 0
    assert len(shop.scores()) == 5


def test_texts_stay_by_default(shop: Shop) -> None:
    """Blanking is asked for."""
    shop.add_items(secret_answers(5))
    run(shop, traffic=TrafficConfig(answers_per_day=3))
    assert n_texts(shop) == 5


def test_an_answer_that_failed_keeps_its_text_until_its_last_try(shop: Shop) -> None:
    """A time-out may pass; after three runs no run tries it again."""
    shop.add_items(secret_answers(3))
    judge = ScriptedJudge(lambda item: UnscoredReason.TIMEOUT if item.input == f"{SECRET} 1" else 4.0)
    left = []
    for days in range(4):
        run(shop, judge, days=days)
        left.append(n_texts(shop))
    assert left == [1, 1, 0, 0]
    assert list(shop.scores().values()).count(None) == 1


def test_a_run_that_was_cut_off_keeps_what_it_has_not_graded(shop: Shop) -> None:
    """It is taken up again with the texts there."""
    shop.add_items(secret_answers(3))
    stop = asyncio.Event()

    def halt(progress: Any) -> None:
        if progress.n_done == 5:
            stop.set()

    report = run(shop, stop=stop, on_progress=halt, concurrency=1)
    assert report.status == "stopped"
    assert n_texts(shop) == report.n_left == 2
    assert run(shop).status == "finished"
    assert (n_texts(shop), sorted(shop.scores().values())) == (0, [4.0, 4.0, 4.0])


def test_reading_the_file_again_brings_no_text_back(shop: Shop, tmp_path: Path) -> None:
    """Known rows are known by the hash of their texts: none is a new version, with or without an id."""
    items = [*secret_answers(4), *secret_answers(4, external_id=None)]
    shop.add_items(items)
    run(shop)
    with open_store(shop.path) as store:
        counts = import_items(store, items)
    assert (counts.n_new, counts.n_known, counts.n_versions) == (0, 8, 0)
    assert n_texts(shop) == 0
    with open_store(shop.path) as store:
        write.scrub_log(store)
    assert SECRET.encode() not in bytes_in(tmp_path)


def test_a_dry_import_counts_blanked_answers_as_known(tmp_path: Path) -> None:
    """The preview follows the rule of the import."""
    rows = [{"id": 1, "output": "hello"}, {"output": "bye"}]
    import_rows(tmp_path, *rows)
    with open_store(tmp_path / "jw.db") as store:
        write.blank_texts(store, APP, still_needed=[], from_day="9999-99-99", closed_days=[])
    dry, _ = import_rows(tmp_path, *rows, dry_run=True)
    assert (dry.n_new, dry.n_known, dry.n_versions) == (0, 2, 0)


def test_another_text_under_a_blanked_id_is_a_version(shop: Shop) -> None:
    """The hash of the text stays, so a changed answer is still noticed."""
    (item,) = secret_answers(1)
    shop.add_items([item])
    run(shop)
    with open_store(shop.path) as store:
        counts = import_items(store, [answer(0, input="changed", output="changed")])
    assert counts.n_versions == 1


def test_another_judge_setup_does_not_draw_days_without_texts(shop: Shop) -> None:
    """It would grade empty answers."""
    shop.add_items(secret_answers(3))
    run(shop)
    shop.add_items(secret_answers(2, day="2026-02-28"))
    other = ScriptedJudge(ruler=ruler(model="judge-other"))
    report = run(shop, other, days=1)
    assert (report.n_traffic, report.n_unscored) == (2, 0)
    with open_store(shop.path) as store:
        sample = draw_traffic(store, app=APP, ruler_id="third", traffic=TrafficConfig(), slot_day="2026-03-05")
    assert sample.items == ()


def test_candidates_for_anchors_keep_their_texts_until_they_are_frozen(shop: Shop) -> None:
    """A person has yet to read them."""
    ids = shop.add_items(secret_answers(5))
    run(shop, kind="anchors")
    with open_store(shop.path) as store, store.transaction() as connection:
        connection.execute(
            "INSERT INTO picks VALUES ('p', ?, ?, '[]', '{}', '2026-02-28T06:00:00Z', NULL, 'mine')",
            (APP, ruler().ruler_id),
        )
        connection.executemany(
            "INSERT INTO pick_items (pick_id, item_id, position, decision) VALUES ('p', ?, ?, ?)",
            [(ids[0], 0, None), (ids[1], 1, "yes"), (ids[2], 2, "no")],
        )
    run(shop, days=1)
    assert n_texts(shop) == 2
    with open_store(shop.path) as store, store.transaction() as connection:
        connection.execute("UPDATE picks SET frozen_utc = '2026-03-01T06:00:00Z'")
    run(shop, days=2)
    assert n_texts(shop) == 0


def test_copies_of_a_run_that_stands_aside_are_blanked_too(shop: Shop) -> None:
    """A recheck needs its answers until it is finished."""
    ids = shop.add_items(secret_answers(2, answered_utc=None))
    run(shop, purpose=Purpose.RECHECK, item_ids=ids)
    assert n_texts(shop) == 0


def test_a_page_that_reads_does_not_stop_the_run(shop: Shop, tmp_path: Path) -> None:
    """The log cannot be emptied then; the next run does it."""
    shop.add_items(secret_answers(3))
    with open_reader(shop.path) as page:
        page.connection.execute("BEGIN")
        page.connection.execute("SELECT count(*) FROM items").fetchone()
        assert run(shop).status == "finished"
        assert SECRET.encode() in bytes_in(tmp_path)
    run(shop, days=1)
    assert SECRET.encode() not in bytes_in(tmp_path)


def test_blanked_items_say_so(shop: Shop) -> None:
    """Pages tell a text that is not kept from an empty one."""
    (item_id,) = shop.add_items(secret_answers(1))
    run(shop)
    with open_reader(shop.path) as store:
        assert read.load_items(store, [item_id])[item_id].flags == {ItemFlag.TEXT_NOT_KEPT}
        assert read.load_to_grade(store, [item_id]) == []


# ---------------------------------------------------------------- what the judge wrote


class TalkingJudge(ScriptedJudge):
    """A judge that explains itself."""

    async def grade(self, item: Item, **options: Any) -> Any:
        """Grade and quote."""
        from dataclasses import replace

        outcome = await super().grade(item, **options)
        verdict = ParsedVerdict(
            score=3.0, unscored_reason=None, explanation="said-why", strengths=("said-good",), weaknesses=("said-bad",),
            thinking="said-thought", detail="said-detail",
        )  # fmt: skip
        attempts = tuple(replace(call, message="said-message") for call in outcome.attempts)
        return replace(outcome, verdict=verdict, raw_reply="said-raw", attempts=attempts)


@pytest.mark.parametrize("keep", [True, False])
def test_reasons_are_not_written_at_all(shop: Shop, tmp_path: Path, keep: bool) -> None:
    """Not first written and then removed: no byte of them is in the file or its log."""
    shop.add_items(secret_answers(3))
    report = run(shop, TalkingJudge(), traffic=TrafficConfig(store_reasons=keep))
    assert report.n_scored == 7
    assert (b"said-" in bytes_in(tmp_path)) is keep
    assert set(shop.scores().values()) == {3.0}


# ---------------------------------------------------------------- settings and links


def test_settings_are_kept_by_app_and_removed_when_unset(shop: Shop) -> None:
    """Writing the same again raises no revision, so no page reads anew."""
    with open_store(shop.path) as store:
        write.save_app_settings(store, APP, {"usd_per_day": 5.0, "store_text": True, "cron": "0 6 * * *"})
        write.save_app_settings(store, "other", {"cron": "x"})
        assert read.app_settings(store, APP) == {"cron": "0 6 * * *", "store_text": "true", "usd_per_day": "5.0"}
        before = store.revision
        write.save_app_settings(store, APP, {"cron": "0 6 * * *", "item_url": None})
        assert store.revision == before
        write.save_app_settings(store, APP, {"usd_per_day": None})
        assert read.app_settings(store, APP) == {"cron": "0 6 * * *", "store_text": "true"}


@pytest.mark.parametrize(
    ("template", "item", "expected"),
    [
        ("https://x.io/t/{external_id}", {"external_id": "a b/../c?d#e&"}, "https://x.io/t/a%20b%2F..%2Fc%3Fd%23e%26"),
        ("https://x.io/?q={external_id}&i={item_id}", {"external_id": "{item_id}"}, "https://x.io/?q=%7Bitem_id%7D&i=i1"),
        ("http://x.io/{item_id}", {"external_id": None}, "http://x.io/i1"),
        ("https://x.io/t/{external_id}", {"external_id": "Grüße"}, "https://x.io/t/Gr%C3%BC%C3%9Fe"),
        ("https://x.io/t/{external_id}", {"external_id": None}, None),
        ("https://x.io/t/{external_id}", {"external_id": ".."}, None),
        ("javascript:alert('{item_id}')", {"external_id": "x"}, None),
        ("https://x.io/{item_id}", {"source": "anchor"}, None),
        (None, {"external_id": "x"}, None),
    ],
)  # fmt: skip
def test_links_come_from_the_configuration_and_ids_are_encoded(
    template: str | None, item: dict[str, Any], expected: str | None
) -> None:
    """An id from a file cannot lead elsewhere."""
    assert item_link(template, {"item_id": "i1", "source": "traffic", **item}) == expected


def test_the_database_keeps_no_copy_of_what_is_written_over(shop: Shop) -> None:
    """Every writer asks SQLite to overwrite what it frees."""
    with open_store(shop.path) as store:
        assert store.connection.execute("PRAGMA secure_delete").fetchone()[0] == 1
        with pytest.raises(sqlite3.IntegrityError, match="final"):
            _change_a_score(shop, store)


def _change_a_score(shop: Shop, store: Any) -> None:
    shop.add_items(secret_answers(1))
    run(shop)
    store.connection.execute("UPDATE verdicts SET explanation = '', score = 1 WHERE score IS NOT NULL")
