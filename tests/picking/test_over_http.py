"""A pick graded over HTTP by the practice judge, on the shipped sample of traffic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.judges.practice.control import PracticeJudge
from evaluator.resources import sample_traffic_path
from evaluator.store import read
from evaluator.store.db import open_reader
from tests.cli.conftest import ok, ok_json


def test_sample_of_traffic_becomes_a_set_that_a_run_grades(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From files to the first run with own anchors; the dollars named before are the most that is spent."""
    monkeypatch.chdir(tmp_path)
    with PracticeJudge() as practice:
        Path("judgewatch.toml").write_text(
            f'[judge]\nmodel = "{practice.model}"\nbase_url = "{practice.base_url}"\napi_key_env = ""\n'
            '[anchors]\nset = "anchors-own.jsonl"\n[budget]\nusd_per_day = 5\n'
            f'[prices."{practice.model}"]\ninput_usd_per_million = 2\noutput_usd_per_million = 8\n',
            encoding="utf-8",
        )
        ok("import", sample_traffic_path(), "--answered-at", "2026-03-01T12:00:00Z")
        preview = ok_json("anchors", "pick", "--n", "40", "--per-segment", "topic", "--dry-run")
        picked = ok_json("anchors", "pick", "--n", "40", "--per-segment", "topic", "--yes")
        assert practice.state()["calls"] == preview["calls"] == 160
        ok("anchors", "freeze")
        run = ok_json("run", "once", "--kind", "anchors", "--slot", "2026-03-02T06:00")
    most = max(level["chosen"] for level in picked["levels"])
    assert sum(level["chosen"] for level in picked["levels"]) == 40
    assert all(level["chosen"] in (most - 1, most, level["found"]) for level in picked["levels"])
    assert (run["status"], run["n_anchors"], run["n_scored"]) == ("finished", 40, 40)
    with open_reader("data/judgewatch.db") as store:
        spent = sum(row["cost_usd"] for row in read.runs(store, "default") if row["purpose"] == "pick")
    assert 0 < spent < preview["most_usd"] < 5
    rows = [json.loads(line) for line in Path("anchors-own.jsonl").read_text("utf-8").splitlines()]
    assert len({row["tags"]["topic"] for row in rows}) > 3
