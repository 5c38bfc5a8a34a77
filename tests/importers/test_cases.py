"""The shared import cases I01 to I04, by name."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from evaluator.identity import base_item_id, versioned_item_id
from evaluator.importers import LoadedFile, load_items
from evaluator.records import Item, ItemFlag
from tests.importers.conftest import CASES


def expected(case_id: str) -> dict[str, Any]:
    with (CASES / "cases.jsonl").open(encoding="utf-8") as file:
        cases = {case["id"]: case for case in map(json.loads, file)}
    value: dict[str, Any] = cases[case_id]["expected"]
    return value


def by_id(loaded: LoadedFile) -> dict[str | None, Item]:
    return {entry.item.external_id: entry.item for entry in loaded.items}


def store(held: dict[str, str], loaded: LoadedFile) -> dict[str, list[str | None]]:
    """Put items into a dictionary by the rule of the identity module; return what came of each row."""
    outcome: dict[str, list[str | None]] = {"new": [], "version": [], "duplicate": []}
    for entry in loaded.items:
        item = entry.item
        item_id, kind = base_item_id("default", item, entry.ordinal), "new"
        if held.get(item_id, item.content_id) != item.content_id:
            item_id, kind = versioned_item_id("default", str(item.external_id), item.content_id), "version"
        outcome["duplicate" if item_id in held else kind].append(item.external_id)
        held.setdefault(item_id, item.content_id)
    return outcome


def test_i01_the_table_keeps_every_row_and_its_texts() -> None:
    """A mark, CRLF, line breaks in cells, an empty answer, a row without id."""
    want = expected("I01")["csv"]
    loaded = load_items(CASES / "inputs" / "i01_bom_crlf_duplicates.csv")
    assert (loaded.n_rows, loaded.rejects) == (want["rows_in_file"], ())
    ids = [entry.item.external_id or "" for entry in loaded.items]
    assert list(dict.fromkeys(ids)) == want["ids_seen"]
    items = by_id(loaded)
    assert items["r2"].output == want["response_r2"]
    assert items["r7"].output == ""
    assert ItemFlag.EMPTY_OUTPUT in items["r7"].flags
    assert items["r1"].tags == {"segment": "help"}
    assert items[None].output == "Short answer."


def test_i01_duplicates_count_once_and_conflicts_are_versions() -> None:
    """r1 twice is one item, r3 with another text is a second version, and a second import adds nothing."""
    want = expected("I01")
    held: dict[str, str] = {}
    path = CASES / "inputs" / "i01_bom_crlf_duplicates.csv"
    first = store(held, load_items(path))
    assert len(first["duplicate"]) == want["csv"]["exact_duplicates_dropped"]
    assert first["version"] == want["csv"]["conflicting_ids"]
    assert len(held) == 6
    second = store(held, load_items(path))
    assert len(second["new"]) + len(second["version"]) == want["second_import"]["new_rows"]


def test_i01_json_lines_survive_their_last_line() -> None:
    """Three good rows, one bad line with its number, one blank line; the first record is there."""
    want = expected("I01")["jsonl"]
    loaded = load_items(CASES / "inputs" / "i01_bom_blank_and_broken_line.jsonl")
    assert (len(loaded.items), len(loaded.rejects)) == (want["rows_good"], want["rows_bad"])
    assert [reject.line_number for reject in loaded.rejects] == [want["bad_line_number"]]
    assert loaded.n_blank == want["blank_lines_ignored"]
    assert loaded.items[0].item.external_id == "r1"


@pytest.mark.parametrize("machine_zone", ["Asia/Tokyo", "America/New_York"])
def test_i02_every_way_to_write_a_time(machine_zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All instants, their days in two zones, the marks, and the refusal, whatever the zone of the machine."""
    want = expected("I02")
    monkeypatch.setitem(os.environ, "TZ", machine_zone)
    time.tzset()
    try:
        loaded = load_items(CASES / "inputs" / "i02_timestamps.jsonl", naive_zone="UTC")
    finally:
        monkeypatch.undo()
        time.tzset()
    items = by_id(loaded)
    assert {key: items[key].answered_utc for key in want["utc"]} == want["utc"]
    for zone, days in (("UTC", want["day_utc"]), ("Europe/Berlin", want["day_berlin"])):
        assert {key: day_of(items[key], zone) for key in days} == days
    assert [(reject.line_number, "--time-format" in reject.reason) for reject in loaded.rejects] == [(11, True)]
    assert items["t12"].answered_utc is None
    assert ItemFlag.NO_TIME in items["t12"].flags
    naive = [key for key, item in items.items() if ItemFlag.NAIVE_TIME in item.flags]
    assert naive == ["t9", "t10"]


def test_i02_a_given_format_reads_the_day_first_row() -> None:
    """With a format t11 is the same instant as the others."""
    loaded = load_items(CASES / "inputs" / "i02_timestamps.jsonl", time_format="%d/%m/%Y %H:%M")
    assert by_id(loaded)["t11"].answered_utc == "2026-03-29T00:30:00Z"
    assert loaded.rejects == ()


def day_of(item: Item, zone: str) -> str:
    return datetime.fromisoformat(str(item.answered_utc)).astimezone(ZoneInfo(zone)).date().isoformat()


def test_i03_hostile_text_is_repaired_once_and_the_rest_is_untouched(tmp_path: Path) -> None:
    """All eight rows reach a database; what was altered is marked, what need not be is as written."""
    source = (CASES / "inputs" / "i03_hostile_text.jsonl").read_text(encoding="utf-8")
    path = tmp_path / "hostile.jsonl"
    path.write_text(source.replace("x" * 50, "x" * 2_000_000), encoding="utf-8")
    loaded = load_items(path)
    assert (len(loaded.items), loaded.rejects) == (expected("I03")["imported"], ())
    items = by_id(loaded)
    assert items["h2"].output == "cut emoji \ufffd end"
    assert items["h3"].output == "nul \ufffd inside"
    altered = [key for key, item in items.items() if ItemFlag.ALTERED_TEXT in item.flags]
    assert altered == ["h2", "h3"]
    assert items["h4"].output == "\u202eright to left\u202c and \u0645\u0631\u062d\u0628\u0627"
    assert items["h5"].output == "\U0001f469\u200d\U0001f4bb family of code points"
    assert items["h6"].output == "tab\tand bell \x07 and form feed \f"
    assert len(items["h7"].output) == 2_000_000
    with sqlite3.connect(":memory:") as connection:
        lengths = [connection.execute("select length(?)", (item.output,)).fetchone()[0] for item in items.values()]
    connection.close()
    assert lengths == [len(item.output) for item in items.values()]


def test_i04_chat_prompts_are_read_as_conversations() -> None:
    """Messages, parts, JSON text, answer objects, a tool call, an answer that looks like messages, no prompt."""
    want = expected("I04")["chat"]
    loaded = load_items(CASES / "inputs" / "i04_chat_prompts.jsonl")
    assert (len(loaded.items), loaded.rejects) == (want["imported"], ())
    items = by_id(loaded)
    for case_id, wanted in want.items():
        if case_id == "imported":
            continue
        assert all(text in items[case_id].input for text in wanted.get("prompt_contains", []))
        assert not any(text in items[case_id].input for text in wanted.get("prompt_not_contains", []))
    assert {key: items[key].output for key in ("c1", "c4", "c6")} == {
        key: want[key]["response"] for key in ("c1", "c4", "c6")
    }
    assert (items["c5"].output, ItemFlag.TOOL_CALL in items["c5"].flags) == ("", True)
    assert (items["c7"].input, ItemFlag.EMPTY_INPUT in items["c7"].flags) == ("", True)
    for item in items.values():
        assert not any(mark in item.input for mark in ("{", "'role'", '"role"', "base64"))
