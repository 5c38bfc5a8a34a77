"""The demo: its story is found and told apart, all of it was graded over HTTP, and it can be started anew."""

from __future__ import annotations

import ast
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import demo
from evaluator.analysis.history import AnchorHistory, read_anchor_history
from evaluator.demo import deal_traffic, is_demo, remove_demo, run_demo
from evaluator.errors import UsageError
from evaluator.store import read
from evaluator.store.db import open_store
from tests.demo_fixture import DemoStore

START_TIMEOUT_S = 60.0
QUIET_RUNS = 36


@pytest.fixture(scope="session")
def anchors(demo_store: DemoStore) -> AnchorHistory:
    """The matrix run x anchor of the demo."""
    with open_store(demo_store.path) as store:
        (app,) = read.apps(store)
        (ruler,) = read.rulers(store, app)
        options = {"app": app, "ruler_id": ruler["ruler_id"], "criterion": ruler["criterion"]}
        return read_anchor_history(store, **options, scale=(1.0, 5.0))


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows of a query."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


class TestStory:
    """Two changes, found, dated, told apart."""

    def test_the_judges_change_is_dated_to_the_day(self, demo_store):
        """The true day lies in the reported interval and is at most a day from the reported one."""
        report = demo_store.report
        judge, truth = report.findings["judge"], report.judge_changed_day
        assert (judge["state"], judge["direction"]) == ("changed", "more generous")
        assert judge["since_first_day"] <= truth <= judge["since_last_day"]
        assert abs((date.fromisoformat(judge["since_day"]) - date.fromisoformat(truth)).days) <= 1
        # the switch adds 0.35 before rounding and before the end of the scale
        assert 0.2 < judge["low"] < judge["estimate"] < judge["high"] < 0.45

    def test_the_worse_segment_is_dated_and_traced_to_the_release(self, demo_store):
        """One topic and no other; the interval holds the day; the logged deploy is the likely cause."""
        report = demo_store.report
        changed = [row for row in report.findings["segments"] if row["state"] == "changed" and not row["key2"]]
        assert [(row["value"], row["direction"]) for row in changed] == [(report.worse_topic, "worse")]
        (row,) = changed
        assert row["since_first_day"] <= report.answers_worse_day <= row["since_last_day"]
        assert row["high"] < -0.5
        assert row["likely_cause"].startswith("assistant release 2.4")

    def test_judge_and_assistant_are_told_apart(self, demo_store):
        """The judge has its share of the raw change, and the fall is not the judge's."""
        findings = demo_store.report.findings
        shares = findings["shares"]
        assert shares["judge"] + shares["assistant"] + shares["mix"] == pytest.approx(shares["raw"], abs=1e-9)
        assert shares["judge_low"] > 0.1
        assert shares["assistant_high"] < 0
        assert shares["mix"] == pytest.approx(0.0, abs=0.02)
        # the raw mean hides both: it rose
        assert shares["raw"] > 0
        assert findings["judge"]["likely_cause"] is None, "the release cannot have moved the judge"

    def test_the_headline_says_both(self, demo_store):
        """In one sentence, with both days."""
        report = demo_store.report
        headline = report.findings["headline"]
        judge, answers = (date.fromisoformat(day) for day in (report.judge_changed_day, report.answers_worse_day))
        assert headline == (
            f"The judge became more generous on {judge.day} {judge:%b}; apart from that, answers in delivery got worse"
            f" on {answers.day} {answers:%b}."
        )
        assert report.findings["needs_a_look"][0].startswith("delivery: worse since")
        assert report.findings["tone"] == "look"

    def test_before_the_change_nothing_was_claimed(self, demo_store, anchors):
        """Evidence of the quiet runs stays under the threshold."""
        judge = demo_store.report.findings["judge"]
        quiet = [run["evidence"] for run in judge["runs"][:QUIET_RUNS] if run["evidence"] is not None]
        assert len(quiet) > 20
        assert max(quiet) < judge["threshold"]
        assert anchors.run_ids == tuple(run["run_id"] for run in judge["runs"])


class TestGradedForReal:
    """Every verdict was an HTTP call to the practice judge."""

    def test_the_judges_own_counter_equals_the_attempts_stored(self, demo_store):
        """And what the scorer counted."""
        report = demo_store.report
        ((n_attempts,),) = rows(demo_store.path, "SELECT count(*) FROM attempts")
        assert report.n_served == report.n_calls == n_attempts
        assert report.n_runs == demo.DAYS

    def test_every_verdict_has_its_call_and_its_reply(self, demo_store):
        """An attempt of the same run and item, an id of its own, and a raw reply that holds the stored score."""
        orphans = rows(
            demo_store.path,
            "SELECT count(*) FROM verdicts v WHERE NOT EXISTS (SELECT 1 FROM attempts a WHERE a.run_id = v.run_id"
            " AND a.item_id = v.item_id AND a.http_status = 200)",
        )
        assert orphans == [(0,)]
        ids = [row[0] for row in rows(demo_store.path, "SELECT completion_id FROM attempts")]
        assert len(set(ids)) == len(ids)
        replies = rows(demo_store.path, "SELECT raw_reply, score FROM verdicts ORDER BY verdict_id LIMIT 500")
        assert all(json.loads(reply)["score"] == score for reply, score in replies)

    def test_all_is_graded_and_nothing_twice(self, demo_store):
        """Anchors in every run, answers once."""
        report = demo_store.report
        ((n_verdicts, n_scored),) = rows(demo_store.path, "SELECT count(*), count(score) FROM verdicts")
        assert (report.n_scored, report.n_unscored) == (n_scored, n_verdicts - n_scored)
        assert report.n_unscored == 0
        twice = rows(demo_store.path, "SELECT 1 FROM verdicts WHERE slot_utc = '' GROUP BY item_id HAVING count(*) > 1")
        assert twice == []

    def test_the_demo_itself_writes_no_verdict(self):
        """Of the store's writes it uses one: to log the release, as a team would."""
        tree = ast.parse(Path(demo.__file__).read_text("utf-8"))
        used = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "write"
        }
        assert used == {"add_event"}
        assert "execute" not in {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


class TestCalendar:
    """Sixty days that end yesterday, and what each holds."""

    def test_the_last_run_is_yesterdays(self, demo_store):
        """In UTC; one run a day, no gap."""
        days = [row[0] for row in rows(demo_store.path, "SELECT slot_day FROM runs ORDER BY slot_utc")]
        finished = datetime.fromtimestamp(demo_store.path.stat().st_mtime, tz=UTC).date()
        # the demo may have run over midnight
        assert date.fromisoformat(days[-1]) in (finished - timedelta(days=1), finished - timedelta(days=2))
        first = date.fromisoformat(days[0])
        assert days == [(first + timedelta(days=number)).isoformat() for number in range(demo.DAYS)]

    def test_three_topics_have_thirty_answers_a_day(self, demo_store):
        """Enough to be watched day by day; every answer is from before the slot that grades it."""
        counts: Counter[tuple[str, str]] = Counter()
        sql = "SELECT i.answered_day, t.value FROM items i JOIN item_tags t USING (item_id) WHERE t.key = 'topic'"
        for day, topic in rows(demo_store.path, f"{sql} AND i.source = 'traffic'"):
            counts[topic, day] += 1
        least = {topic: min(n for (name, _), n in counts.items() if name == topic) for topic, _ in counts}
        assert sum(n >= 30 for n in least.values()) == 3
        assert len({day for _, day in counts}) == demo.DAYS

    def test_the_judge_is_as_noisy_as_real_ones(self, anchors):
        """On the quiet days one anchor in ten to one in four ever flips; the days differ by 0.02 to 0.04."""
        quiet = anchors.scores[:QUIET_RUNS]
        modal = np.array([np.bincount(column.astype(int)).argmax() for column in quiet.T])
        assert 0.10 <= (quiet != modal).any(axis=0).mean() <= 0.25
        assert 0.02 <= quiet.mean(axis=1).std(ddof=1) <= 0.04

    def test_traffic_is_the_same_on_every_machine(self):
        """Seeded by the day's number; the level an answer was written for is not in the row."""
        slot = datetime(2026, 3, 1, 6, tzinfo=UTC)
        first, again = list(deal_traffic(slot, 2)), list(deal_traffic(slot, 2))
        assert first == again
        assert set(first[0]) == {"item_id", "inputs", "outputs", "answered_at", "model", "topic", "language"}
        assert len({row["item_id"] for row in first}) == len(first)


class TestFolder:
    """Where the files go, and whose they are."""

    def test_a_short_calendar_has_no_changes_and_says_what_it_is(self, tmp_path):
        """Five runs: the judge is being learned; progress is told day by day."""
        told: list[tuple[int, int]] = []
        short = run_demo(tmp_path, days=5, on_day=lambda done, of: told.append((done, of)))
        assert told == [(done, 5) for done in range(1, 6)]
        assert (short.n_runs, short.judge_changed_day, short.answers_worse_day) == (5, None, None)
        assert short.findings["headline"].startswith("Learning: run 5 of 10;")
        assert short.n_served == short.n_calls
        assert is_demo(short.folder)

    def test_a_finished_demo_is_not_overwritten(self, demo_store):
        """It has to be removed first."""
        before = demo_store.path.stat().st_mtime_ns
        with pytest.raises(UsageError, match=r"judgewatch\.db exists already"):
            run_demo(demo_store.folder, days=2)
        assert demo_store.path.stat().st_mtime_ns == before
        assert is_demo(demo_store.folder)

    def test_removing_a_demo_takes_its_own_files_only(self, tmp_path):
        """Whatever else lies in the folder stays."""
        for name in (
            "judgewatch.db",
            "judgewatch.db-wal",
            "judgewatch.toml",
            "traffic.jsonl",
            "demo-finished",
            "notes",
        ):
            (tmp_path / name).touch()
        assert is_demo(tmp_path)
        remove_demo(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["notes"]
        assert not is_demo(tmp_path)

    @pytest.mark.parametrize("name", ["judgewatch.db", "judgewatch.toml", "traffic.jsonl"])
    def test_a_folder_with_a_users_own_files_is_refused(self, tmp_path, name):
        """A database, a configuration, traffic: nothing of it is touched."""
        (tmp_path / name).write_text("mine", encoding="utf-8")
        with pytest.raises(UsageError, match="exists already"):
            run_demo(tmp_path, days=2)
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert (tmp_path / name).read_text("utf-8") == "mine"

    def test_a_day_is_too_short_a_calendar(self, tmp_path):
        """Two at least; nothing is written."""
        with pytest.raises(UsageError, match="at least 2 days"):
            run_demo(tmp_path / "demo", days=1)
        assert not (tmp_path / "demo").exists()

    def test_a_demo_that_was_killed_can_be_started_again(self, tmp_path):
        """Ended by SIGKILL between two runs: what is there is no demo, and the next start replaces it."""
        folder = tmp_path / "demo"
        code = (
            f"from pathlib import Path; from evaluator.demo import run_demo; run_demo(Path({str(folder)!r}), days=40)"
        )
        process = subprocess.Popen([sys.executable, "-c", code])
        try:
            _wait_for_a_run(folder / "judgewatch.db", process)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert not is_demo(folder)
        report = run_demo(folder, days=2)
        assert is_demo(folder)
        assert report.n_runs == 2
        assert rows(folder / "judgewatch.db", "SELECT count(*) FROM runs") == [(2,)]


def _wait_for_a_run(path: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until the first run is stored."""
    give_up_at = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < give_up_at:
        if process.poll() is not None:
            raise AssertionError(f"the demo ended by itself with code {process.returncode}")
        try:
            if path.exists() and rows(path, "SELECT count(*) FROM runs WHERE status = 'finished'") != [(0,)]:
                return
        except sqlite3.OperationalError:
            pass  # the tables are not there yet
        time.sleep(0.05)
    raise AssertionError("the demo stored no run in time")
