"""Rechecks from a file to the stored result: graded once, resumed, repeated, and kept out of everything else."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.config import Config
from evaluator.errors import DataFileError, LeaseHeldError, UsageError
from evaluator.exporting import export
from evaluator.findings import SCHEMA_VERSION
from evaluator.freshness import newest_analysis
from evaluator.identity import base_item_id
from evaluator.recheck import Question, Reading, RecheckReport, preview_recheck, run_recheck
from evaluator.records import Item, Purpose, Source, UnscoredReason
from evaluator.stats.recheck import RecheckFinding
from evaluator.store import locks, read, write
from evaluator.store.db import Store, open_reader, open_store
from tests.recheck_world import NOW, SetClock, config, moved_world, n_calls, stored_rows, write_now, write_rows
from tests.scoring.helpers import SLOT, ScriptedJudge, Shop
from tests.store.helpers import REPOSITORY, import_items


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and databases lie where the test runs."""
    monkeypatch.chdir(tmp_path)


def recheck(using: Config, path: Path, *, n: int = 60, clock: SetClock | None = None, **options: Any) -> RecheckReport:
    """Ask a question of a file and let it be graded."""
    return asyncio.run(run_recheck(using, Question(path=path, n=n, **options), clock=clock or SetClock()))


def query(using: Config, sql: str) -> list[dict[str, Any]]:
    """Rows of the database."""
    with open_reader(using.store_path) as store:
        return [dict(row) for row in store.connection.execute(sql)]


class TestResult:
    """What is said of judges that moved, stayed, or are other judges."""

    def test_judge_that_moved_is_told_from_one_that_is_reproduced(self, tmp_path: Path) -> None:
        """A third of the old answers get a point more; the recent ones what is stored."""
        report = recheck(config(tmp_path), moved_world(), n=120)
        result = report.result
        assert report.is_complete
        assert result["finding"] == RecheckFinding.CHANGED
        assert result["parity"]["value"] == 0.0
        assert result["drift"]["value"] == pytest.approx(1 / 3, abs=0.12)
        moved = result["old"]["now"]["value"] - result["old"]["then"]["value"]
        assert result["drift"]["value"] == pytest.approx(moved)
        assert (result["recent"]["n"], result["old"]["n"]) == (60, 60)
        assert result["sentences"][0] == "60 recent answers: same scores as stored (0.00)."
        assert result["sentences"][2].startswith("Your judge changed: +0.")
        assert " from August: then 2." in result["sentences"][1]

    def test_steady_judge_is_called_steady(self, tmp_path: Path) -> None:
        """All scores come back as they were."""
        rows = stored_rows(400)
        write_now({str(k): row["score"] for k, row in enumerate(rows)})
        result = recheck(config(tmp_path), write_rows(rows), n=300).result
        assert result["finding"] == RecheckFinding.SAME
        words = "Your judge did not change: 0.00, between −0.04 and 0.04, all of it within ±0.10."
        assert result["sentences"][2] == words
        assert result["furthest"] == []

    def test_other_prompt_is_parity_and_no_drift(self, tmp_path: Path) -> None:
        """Half a point on everything: said, and taken out of the judge's move."""
        rows = stored_rows(300, score=lambda number: 1 + number % 4)
        write_now({str(k): row["score"] + 0.5 for k, row in enumerate(rows)})
        result = recheck(config(tmp_path), write_rows(rows), n=200).result
        assert result["finding"] == RecheckFinding.SAME
        assert result["parity"]["is_off"]
        assert "does not reproduce the stored scores: +0.50" in result["headline"]
        assert "the difference of +0.50 was the same for the old scores" in result["headline"]

    def test_scores_of_one_day_tell_parity_only(self, tmp_path: Path) -> None:
        """And the result says so."""
        rows = [{**row, "graded_at": "2026-11-30T10:00:00Z"} for row in stored_rows(100)]
        write_now({str(k): row["score"] for k, row in enumerate(rows)})
        result = recheck(config(tmp_path), write_rows(rows)).result
        assert result["finding"] == RecheckFinding.PARITY_ONLY
        assert (result["old"], result["drift"], result["n_old_asked"]) == (None, None, 0)
        assert "All scores are of 30 November: whether the judge moved cannot be told" in result["headline"]

    def test_too_few_answers_show_nothing_and_say_how_many_would(self, tmp_path: Path) -> None:
        """Ten of each."""
        rows = stored_rows(60)
        write_now({str(k): max(1, row["score"] - (k % 9 == 0)) for k, row in enumerate(rows)})
        result = recheck(config(tmp_path), write_rows(rows), n=20).result
        assert result["finding"] == RecheckFinding.NO_CHANGE_SHOWN
        assert result["more_answers"] > 100
        assert "more answers would show a change of 0.10 four times in five." in result["headline"]

    def test_a_handful_of_answers_tells_nothing_and_says_so(self, tmp_path: Path) -> None:
        """Two of each: no interval, none beyond the scale above all."""
        rows = stored_rows(60)
        write_now({str(k): 1 + k % 2 * 4 for k in range(60)})
        result = recheck(config(tmp_path), write_rows(rows), n=4).result
        assert result["finding"] == RecheckFinding.CANNOT_TELL
        assert "cannot be told with 2 recent and 2 old answers that have both scores" in result["headline"]
        assert "needed are 5 of each at least" in result["headline"]
        assert (result["drift"]["low"], result["recent"]["now"]["high"], result["more_answers"]) == (None, None, None)

    def test_unscored_answers_are_counted_by_reason(self, tmp_path: Path) -> None:
        """Scores off the scale now; the rest is compared."""
        rows = stored_rows(90)
        write_now({str(k): 99 if k % 10 == 0 else row["score"] for k, row in enumerate(rows)})
        report = recheck(config(tmp_path), write_rows(rows), n=90)
        n_off = report.result["unscored"]["out_of_range"]
        assert 0 < n_off < 20
        assert report.result["recent"]["n"] + report.result["old"]["n"] + n_off == 60

    def test_furthest_answers_are_named_with_their_reasons(self, tmp_path: Path) -> None:
        """Three at most; the stored result keeps neither the reason nor the outside id."""
        using = config(tmp_path)
        report = recheck(using, moved_world(), n=120)
        furthest = report.result["furthest"]
        assert len(furthest) == 3
        assert all(row["now"] - row["stored"] == 1 and row["explanation"].startswith("looked up") for row in furthest)
        stored = query(using, "SELECT result_json FROM rechecks")[0]["result_json"]
        assert "looked up" not in stored
        assert "own-" not in stored

    def test_other_scale_is_mapped_when_named(self, tmp_path: Path) -> None:
        """Stored 0 to 1, judge 1 to 5."""
        rows = stored_rows(100, score=lambda number: (number % 3) / 2)
        write_now({str(k): 1 + 4 * row["score"] for k, row in enumerate(rows)})
        path = write_rows(rows)
        with pytest.raises(UsageError, match="--scale MIN MAX"):
            recheck(config(tmp_path), path)
        result = recheck(config(tmp_path), path, reading=Reading(scale=(0.0, 1.0))).result
        assert result["parity"]["value"] == 0.0
        assert result["stored_scale"] == [0.0, 1.0]

    def test_smallest_change_is_in_the_units_of_the_rubric(self, tmp_path: Path) -> None:
        """0.2 points of 1 to 5, as configured."""
        result = recheck(config(tmp_path, alarms={"smallest_change": 0.2}), moved_world()).result
        assert result["smallest_change"] == pytest.approx(0.2)


class TestRefused:
    """Files that cannot be rechecked are refused before any call."""

    @pytest.mark.parametrize(
        ("rows", "options", "words"),
        [
            ([{**row, "graded_at": None} for row in stored_rows(30)], {}, "0 of 30 .*30 no time"),
            ([{**row, "output": ""} for row in stored_rows(30)], {}, "30 no text of the answer"),
            (stored_rows(30)[:1], {}, "1 of 1 stored scores can be graded again"),
            (stored_rows(30), {"n": 1}, "--n 1: two answers at least"),
            (stored_rows(30), {"split": "2020-01-01"}, "no usable score was graded before that day"),
            ([{**row, "score": 100} for row in stored_rows(30)], {}, "run from 100 to 100"),
        ],
    )
    def test_unusable_file_is_refused(
        self, tmp_path: Path, rows: list[dict[str, Any]], options: dict[str, Any], words: str
    ) -> None:
        """With the count, the reason and what to do; nothing is stored."""
        using = config(tmp_path)
        write_now({})
        with pytest.raises(UsageError, match=words):
            recheck(using, write_rows(rows), **options)
        assert n_calls() == 0
        assert query(using, "SELECT * FROM rechecks") == []

    def test_missing_file_is_refused(self, tmp_path: Path) -> None:
        """By its name."""
        with pytest.raises(DataFileError, match=r"nowhere\.jsonl"):
            recheck(config(tmp_path), Path("nowhere.jsonl"))

    def test_judge_that_fails_on_everything_leaves_no_result(self, tmp_path: Path) -> None:
        """The run failed; nothing is claimed, and it can be taken up again."""
        broken = config(tmp_path, judge={"function": "python:tests.recheck_world:broken"})
        report = recheck(broken, moved_world(), n=40)
        assert not report.is_complete
        assert report.run is not None
        assert report.run.status == "failed"
        assert report.result["finding"] == RecheckFinding.CANNOT_TELL
        assert query(broken, "SELECT finished_utc FROM rechecks")[0]["finished_utc"] is None


class TestAgain:
    """The same question is answered once; what was cut off goes on."""

    def test_finished_recheck_is_shown_without_a_call(self, tmp_path: Path) -> None:
        """The same file, number and judge setup."""
        using, path = config(tmp_path), moved_world()
        first = recheck(using, path)
        n_first = n_calls()
        second = recheck(using, path)
        assert n_calls() == n_first == 60
        assert second.run is None
        assert second.result == first.result

    @pytest.mark.parametrize("change", ["n", "split", "file", "setup", "reading"])
    def test_other_question_is_graded(self, tmp_path: Path, change: str) -> None:
        """Whatever makes it another one."""
        using, path = config(tmp_path), moved_world()
        first = recheck(using, path)
        options: dict[str, Any] = {"n": {"n": 40}, "split": {"split": "2026-09-15"}}.get(change, {})
        if change == "file":
            path.write_text(path.read_text("utf-8") + "\n", "utf-8")
        if change == "reading":
            options = {"reading": Reading(scale=(1.0, 5.0))}
        if change == "setup":
            make_rubric(tmp_path / "general-2.json")
            using = config(tmp_path, judge={"rubric": "general-2.json"})
        second = recheck(using, path, **options)
        assert second.recheck_id != first.recheck_id
        assert n_calls() > 60

    def test_again_grades_anew_and_keeps_both(self, tmp_path: Path) -> None:
        """A later day, the same answers."""
        using, path = config(tmp_path), moved_world()
        clock = SetClock()
        first = recheck(using, path, clock=clock)
        second = recheck(using, path, again=True, clock=clock)
        assert n_calls() == 120
        assert second.recheck_id != first.recheck_id
        with open_reader(using.store_path) as store:
            assert [row["recheck_id"] for row in read.rechecks(store, "shop")] == [second.recheck_id, first.recheck_id]

    def test_a_judge_that_moved_since_the_last_recheck_is_told(self, tmp_path: Path) -> None:
        """Both compare with the stored scores; only together do they show that it is the judge that moved."""
        using, path, clock = config(tmp_path), moved_world(), SetClock()
        first = recheck(using, path, clock=clock)
        assert first.result["since_last"] is None
        then = json.loads(Path("now.json").read_text("utf-8"))
        write_now({name: min(score + (int(name) % 3 > 0), 5) for name, score in then.items()})
        second = recheck(using, path, again=True, clock=clock)
        last = second.result["since_last"]
        assert (last["recheck_id"], last["n"], last["finding"]) == (first.recheck_id, 60, "changed_up")
        assert 0 < last["low"] < last["value"] < last["high"] < 1
        assert "60 answers graded by this judge setup before" in second.result["sentences"][0]
        assert "Your judge changed since: +0." in second.result["headline"]

    def test_a_judge_that_stood_still_since_the_last_recheck_is_told(self, tmp_path: Path) -> None:
        """One answer flipped: no change shown since."""
        using, path, clock = config(tmp_path), moved_world(), SetClock()
        recheck(using, path, clock=clock)
        then = json.loads(Path("now.json").read_text("utf-8"))
        write_now({name: max(score - (int(name) % 50 == 0), 1) for name, score in then.items()})
        second = recheck(using, path, again=True, clock=clock)
        assert not second.result["since_last"]["finding"].startswith("changed")
        assert "changed since" not in second.result["headline"]

    @pytest.mark.parametrize("again", [False, True])
    def test_two_terminals_that_ask_the_same_pay_once(self, tmp_path: Path, again: bool) -> None:
        """Both were shown the cost before either began: the second gets the result of the first."""
        using, path, clock = config(tmp_path), moved_world(), SetClock()
        if again:
            recheck(using, path, clock=clock)
        n_before = n_calls()
        question = Question(path=path, n=60, again=again)
        shown = [preview_recheck(using, question, clock=clock).prepared for _ in range(2)]
        first, second = (
            asyncio.run(run_recheck(using, question, clock=clock, prepared=prepared)) for prepared in shown
        )
        assert n_calls() - n_before == 60
        assert second.run is None
        assert second.result == first.result
        assert len(query(using, "SELECT * FROM rechecks")) == 1 + again

    def test_stopped_recheck_goes_on_and_pays_nothing_twice(self, tmp_path: Path) -> None:
        """Stopped from outside after ten answers, started again by the same question."""
        using, path = config(tmp_path, judge={"concurrency": 1}), moved_world()
        clock = SetClock()

        async def stop_after_ten() -> RecheckReport:
            stop = asyncio.Event()

            def on_progress(progress: Any) -> None:
                if progress.n_done >= 10:
                    stop.set()

            return await run_recheck(using, Question(path=path, n=60), clock=clock, on_progress=on_progress, stop=stop)

        cut_off = asyncio.run(stop_after_ten())
        assert not cut_off.is_complete
        assert cut_off.result["n_pending"] == 50
        left = preview_recheck(using, Question(path=path, n=60), clock=clock)
        assert (left.n_calls, left.is_begun, left.is_finished) == (50, True, False)
        whole = recheck(using, path, clock=clock)
        assert whole.is_complete
        assert whole.recheck_id == cut_off.recheck_id
        texts = Path("calls.txt").read_text("utf-8").splitlines()
        assert len(texts) == len(set(texts)) == 60

    def test_killed_recheck_goes_on(self, tmp_path: Path) -> None:
        """A real process, killed half way: paid twice are at most the calls in flight and what was not stored yet."""
        moved_world()
        code = """
            import asyncio, time
            from pathlib import Path
            from evaluator.recheck import Question, run_recheck
            from tests.recheck_world import SetClock, by_number, config
            import tests.recheck_world as world

            def slowly(item):
                time.sleep(0.05)
                return by_number(item)

            world.by_number = slowly
            using = config(Path.cwd(), judge={"concurrency": 2})
            asyncio.run(run_recheck(using, Question(path=Path("scores.jsonl"), n=60), clock=SetClock()))
        """
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(REPOSITORY)}
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, env=environment)
        give_up = time.monotonic() + 60
        while n_calls() < 30:
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < give_up
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        report = recheck(config(tmp_path, judge={"concurrency": 2}), Path("scores.jsonl"))
        assert report.is_complete
        assert report.result["recent"]["n"] + report.result["old"]["n"] == 60
        assert len(query(config(tmp_path), "SELECT * FROM rechecks")) == 1
        assert 60 <= n_calls() <= 60 + 30

    def test_other_scorer_at_work_is_left_alone(self, tmp_path: Path) -> None:
        """The lease of the app counts; the plan that was written waits for the next try."""
        using, path = config(tmp_path), moved_world()
        using.store_path.parent.mkdir()
        with open_store(using.store_path, zone="UTC") as store:
            later = NOW + timedelta(hours=1)
            lease = locks.acquire_lease(store, app="shop", holder="elsewhere/1/x", what="run", now=later)
            with pytest.raises(LeaseHeldError, match="another scorer"):
                recheck(using, path)
            locks.release_lease(store, lease)
        assert n_calls() == 0
        assert recheck(using, path, clock=SetClock(NOW + timedelta(hours=1))).is_complete
        assert len(query(using, "SELECT * FROM rechecks")) == 1

    def test_budget_of_the_day_holds(self, tmp_path: Path) -> None:
        """What is left waits for another day; what was graded is told as far as it goes."""
        using, path = config(tmp_path, budget={"calls_per_day": 40}, judge={"concurrency": 1}), moved_world()
        clock = SetClock()
        report = recheck(using, path, clock=clock)
        assert not report.is_complete
        assert n_calls() == 40
        assert report.result["recent"]["n"] + report.result["old"]["n"] == 40
        assert min(report.result["recent"]["n"], report.result["old"]["n"]) >= 12
        clock.instant += timedelta(days=1)
        assert recheck(using, path, clock=clock).is_complete
        assert n_calls() == 60


class TestPreview:
    """The cost before the first call."""

    def test_preview_calls_nothing_and_stores_no_answer(self, tmp_path: Path) -> None:
        """Number of calls, minutes, what was chosen."""
        using, path = config(tmp_path, judge={"calls_per_minute": 10}), moved_world()
        preview = preview_recheck(using, Question(path=path, n=60), clock=SetClock())
        assert (preview.n_calls, preview.minutes, preview.is_finished) == (60, 6.0, False)
        assert preview.facts["n_recent_there"] == 100
        assert n_calls() == 0
        assert not using.store_path.exists()

    def test_finished_recheck_costs_nothing(self, tmp_path: Path) -> None:
        """And again costs as before."""
        using, path = config(tmp_path), moved_world()
        recheck(using, path)
        done = preview_recheck(using, Question(path=path, n=60), clock=SetClock())
        assert (done.n_calls, done.is_finished) == (0, True)
        assert preview_recheck(using, Question(path=path, n=60, again=True), clock=SetClock()).n_calls == 60


# ---------------------------------------------------------------- it enters nothing else


def facts_of(store: Store) -> dict[str, Any]:
    """Everything that pages and commands read of the app, but for its rechecks and picks."""
    setup = read.newest_ruler(store, "shop")
    assert setup is not None
    ruler_id, criterion = setup["ruler_id"], setup["criterion"]
    everything = read.AnswerFilter()
    facts: dict[str, Any] = {
        "setup": ruler_id,
        "answers": read.list_answers(store, app="shop", ruler_id=ruler_id, where=everything, most=1000),
        "n_answers": read.count_answers(store, app="shop", ruler_id=ruler_id, where=everything),
        "n_twos": read.count_answers(store, app="shop", ruler_id=ruler_id, where=read.AnswerFilter(level=2.0)),
        "n_unscored": read.count_answers(store, app="shop", ruler_id=ruler_id, where=read.AnswerFilter(unscored=True)),
        "anchors": read.list_answers(
            store, app="shop", ruler_id=ruler_id, where=read.AnswerFilter(source=Source.ANCHOR), most=1000
        ),
        "counts": read.counts(store, "shop"),
        "days": read.score_days(store, "shop", ruler_id),
        "reasons": read.unscored_reasons(store, app="shop", ruler_id=ruler_id, source=Source.TRAFFIC),
        "anchor reasons": read.unscored_reasons(store, app="shop", ruler_id=ruler_id, source=Source.ANCHOR),
        "anchor scores": read.anchor_scores(store, app="shop", ruler_id=ruler_id, criterion=criterion),
        "answer days": read.answer_days(store, "shop"),
        "runs": read.runs(store, "shop", aside=False),
        "slots": read.run_slots(store, "shop"),
        "pool": read.pick_pool(store, "shop", most=1000),
        "events": read.events(store, "shop"),
        "is due": newest_analysis(store, app="shop", ruler_id=ruler_id, criterion=criterion)[1],
        "again": read.to_grade_again(store, "shop", ruler_id, oldest_day="2000-01-01"),
        "totals": [dict(row) for row in store.connection.execute("SELECT * FROM daily_scores ORDER BY day, source")],
    }
    for what in ("verdicts", "items", "days"):
        out = Path(f"{what}.jsonl")
        export(store, app="shop", what=what, file_format="jsonl", out=out, force=True)  # type: ignore[arg-type]
        facts[f"exported {what}"] = out.read_text("utf-8")
    return facts


def facts_at(path: Path) -> dict[str, Any]:
    """The same of a database."""
    with open_store(path, create=False) as store:
        return facts_of(store)


def note_analysis(path: Path, ruler_id: str, criterion: str) -> None:
    """Let an analysis be up to date, so that whether one is due can change."""
    with open_store(path, create=False) as store:
        write.save_analysis(
            store, app="shop", ruler_id=ruler_id, criterion=criterion, first_day=None, last_day=None, baseline="",
            settings_hash="", code_version="", schema_version=SCHEMA_VERSION, payload={}, revision=1,
            now=SLOT + timedelta(minutes=1),
        )  # fmt: skip


def half_fails(score: float) -> Callable[[Item], float | UnscoredReason]:
    """A script that scores every other answer."""
    return lambda item: UnscoredReason.REFUSAL if "1" in item.output else score


@pytest.fixture
def graded_shop(tmp_path: Path) -> Shop:
    """An app with a scheduled run behind it: some scored, some not, the analysis up to date."""
    shop = Shop(path=tmp_path / "data" / "judgewatch.db")
    shop.path.parent.mkdir()
    open_store(shop.path, zone="UTC").close()
    shop.add_answers(8)
    judge = ScriptedJudge(half_fails(4.0))
    asyncio.run(shop.run(judge))
    note_analysis(shop.path, judge.ruler.ruler_id, judge.ruler.rubric.criterion)
    return shop


@pytest.mark.parametrize("purpose", [Purpose.RECHECK, Purpose.PICK])
def test_run_aside_over_traffic_leaves_every_read_as_it_was(graded_shop: Shop, purpose: Purpose) -> None:
    """Answers and anchors that have a score get a second one, and some none: no list, count, total or export moves."""
    before = facts_at(graded_shop.path)
    ids = [row["item_id"] for row in graded_shop.query("SELECT item_id FROM items")]
    slot = SLOT + timedelta(hours=3)
    judge = ScriptedJudge(half_fails(2.0))
    report = asyncio.run(graded_shop.run(judge, slot=slot, purpose=purpose, item_ids=ids))
    assert report.n_scored + report.n_unscored == len(ids)
    assert facts_at(graded_shop.path) == before


def test_recheck_leaves_every_read_as_it_was(graded_shop: Shop, tmp_path: Path) -> None:
    """Of another judge setup, with answers of its own: nothing but the rechecks shows it."""
    before = facts_at(graded_shop.path)
    using = config(tmp_path)
    assert using.store_path == graded_shop.path
    assert recheck(using, moved_world()).is_complete
    assert facts_at(graded_shop.path) == before
    with open_reader(graded_shop.path) as store:
        assert len(read.rechecks(store, "shop")) == 1


def test_next_scheduled_run_grades_no_rechecked_answer(graded_shop: Shop, tmp_path: Path) -> None:
    """Copies have no day: they wait for nothing, and the first scheduled run of a setup still notes the change."""
    using = config(tmp_path)
    recheck(using, moved_world())
    judge = ScriptedJudge(lambda _: 3.0)
    asyncio.run(graded_shop.run(judge, days=300))
    assert sum(judge.calls.values()) == 4
    assert graded_shop.events() == []


def test_first_scheduled_run_of_a_setup_that_a_recheck_used_notes_the_change(graded_shop: Shop) -> None:
    """The change made on purpose is that of the scheduled runs, whatever was tried before."""
    from tests.builders import ruler

    other = ScriptedJudge(lambda _: 3.0, ruler=ruler(model="judge-small"))
    ids = [row["item_id"] for row in graded_shop.query("SELECT item_id FROM items WHERE source = 'traffic'")]
    slot = SLOT + timedelta(hours=3)
    asyncio.run(graded_shop.run(other, slot=slot, purpose=Purpose.RECHECK, item_ids=ids))
    assert graded_shop.events() == []
    asyncio.run(graded_shop.run(other, days=1))
    asyncio.run(graded_shop.run(other, days=2))
    assert [(kind, text) for kind, _, text in graded_shop.events() if kind == "setup"] == [
        ("setup", "judge setup v2: model changed")
    ]


def test_item_shows_its_scheduled_score_first(graded_shop: Shop) -> None:
    """A newer verdict of a recheck comes after it, named as what it is."""
    item_id = graded_shop.query("SELECT item_id FROM verdicts WHERE score = 4 AND slot_utc = ''")[0]["item_id"]
    slot = SLOT + timedelta(hours=3)
    asyncio.run(graded_shop.run(ScriptedJudge(lambda _: 2.0), slot=slot, purpose=Purpose.RECHECK, item_ids=[item_id]))
    with open_reader(graded_shop.path) as store:
        verdicts = read.verdicts_of_item(store, item_id)
    assert [(row["score"], row["purpose"]) for row in verdicts] == [(4.0, "scheduled"), (2.0, "recheck")]


def test_copy_stands_in_for_an_answer_that_is_not_here_otherwise(tmp_path: Path) -> None:
    """Its id in the user's own system finds it, until the answer itself is imported."""
    using, path = config(tmp_path), moved_world()
    recheck(using, path)
    with open_store(using.store_path) as store:
        copy = read.recheck_scores(store, read.rechecks(store, "shop")[0]["recheck_id"])[0]
        assert read.find_item_ids(store, "shop", copy["external_id"]) == [copy["item_id"]]
        item = Item(input="q", output="a", external_id=copy["external_id"], answered_utc="2026-11-01T00:00:00.000Z")
        import_items(store, [item], app="shop")
        assert read.find_item_ids(store, "shop", copy["external_id"]) == [base_item_id("shop", item)]


class TestCopies:
    """Rechecked answers are copies, and never in the way of the traffic itself."""

    def test_file_can_be_imported_as_traffic_later(self, tmp_path: Path) -> None:
        """Every row is new, with its day; a second text under an id is a version of the traffic, not of the copy."""
        using, path = config(tmp_path), moved_world()
        recheck(using, path)
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        items = [
            Item(input=r["input"], output=r["output"], external_id=r["id"], answered_utc=r["graded_at"]) for r in rows
        ]
        with open_store(using.store_path) as store:
            counts = import_items(store, items, app="shop")
            assert (counts.n_new, counts.n_known, counts.n_without_time) == (300, 0, 0)
            first = Item(input="q", output="first", external_id="twice", answered_utc="2026-11-01T00:00:00.000Z")
            import_items(store, [first], app="shop")
        twice = [{**row, "id": "twice", "output": f"second {k}"} for k, row in enumerate(stored_rows(2))]
        second = write_rows(twice, Path("t.jsonl"))
        write_now({"0": 3, "1": 3})
        recheck(using, second, n=2)
        with open_store(using.store_path) as store:
            changed = Item(
                input="question 0", output="second 0", external_id="twice", answered_utc="2026-11-02T00:00:00.000Z"
            )
            assert import_items(store, [changed], app="shop").n_versions == 1
            versions = store.connection.execute(
                "SELECT version FROM items WHERE external_id = 'twice' AND answered_day IS NOT NULL ORDER BY 1"
            ).fetchall()
        assert [row[0] for row in versions] == [1, 2]

    def test_deleted_answer_is_not_brought_back(self, tmp_path: Path) -> None:
        """Neither by its copy nor by the traffic; it is told as not usable."""
        using, path = config(tmp_path), moved_world()
        first = recheck(using, path)
        with open_store(using.store_path) as store:
            copy = read.recheck_scores(store, first.recheck_id)[0]
            traffic = [Item(input=f"question {k}", output=f"answer {k}", external_id=f"own-{k}") for k in range(300)]
            import_items(store, traffic, app="shop")
            doomed = [copy["item_id"], *(base_item_id("shop", item) for item in traffic[:100])]
            write.delete_items(store, app="shop", item_ids=doomed, by_whom="test", now=NOW)
        second = recheck(using, path, again=True, clock=SetClock(NOW + timedelta(days=1)))
        assert second.result["unusable"]["deleted here"] >= 25
        assert second.result["n_old_asked"] <= 3
        texts = query(using, f"SELECT output FROM items WHERE item_id = '{copy['item_id']}'")
        assert texts == [{"output": ""}]

    def test_texts_kept_for_grading_only_go_and_come_back_for_the_next_recheck(self, tmp_path: Path) -> None:
        """With store_text off, a finished recheck leaves no text, and grading again works all the same."""
        using, path = config(tmp_path, traffic={"store_text": False}), moved_world()
        assert recheck(using, path).is_complete
        assert query(using, "SELECT DISTINCT output FROM items") == [{"output": ""}]
        again = recheck(using, path, again=True, clock=SetClock(NOW + timedelta(days=1)))
        assert again.result["unscored"] == {}
        assert again.result["recent"]["n"] == 30

    def test_personal_data_is_taken_out_before_anything_is_written(self, tmp_path: Path) -> None:
        """The judge sees what is stored."""
        using = config(tmp_path, traffic={"redact": ["email"]})
        rows = [{**row, "input": f"write to p{k}@example.com about {k}"} for k, row in enumerate(stored_rows(60))]
        write_now({str(k): row["score"] for k, row in enumerate(rows)})
        assert recheck(using, write_rows(rows)).is_complete
        texts = [row["input"] for row in query(using, "SELECT input FROM items")]
        assert texts
        assert all("[email]" in text and "example.com" not in text for text in texts)

    def test_any_first_candidates_for_anchors_are_a_random_sample(self, tmp_path: Path) -> None:
        """In the order of the hash, whatever they scored; unscored ones are left out."""
        using = config(tmp_path)
        rows = stored_rows(300)
        write_now({str(k): 99 if k % 7 == 0 else row["score"] for k, row in enumerate(rows)})
        report = recheck(using, write_rows(rows), n=200)
        with open_reader(using.store_path) as store:
            ids = read.recheck_anchor_candidates(store, report.recheck_id)
            scores = {row["item_id"]: row for row in read.recheck_scores(store, report.recheck_id)}
        assert len(ids) == report.result["recent"]["n"] + report.result["old"]["n"]
        assert all(scores[item_id]["score"] is not None for item_id in ids)
        places = [write.sample_key(item_id) for item_id in ids]
        assert places == sorted(places)


def test_benchmark_on_real_scores_runs() -> None:
    """It finds the switch of judges, and prints a line for each size."""
    command = [sys.executable, str(REPOSITORY / "benchmarks" / "recheck_real.py"), "--times", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    sizes = ["20", "40", "100", "200"]
    assert [line[:2] for line in lines[1:]] == [[name, n] for name in ("switch", "repeats") for n in sizes]
    assert lines[4][2] == "100.0%"


def make_rubric(path: Path) -> None:
    """Another rubric on the same scale."""
    from evaluator.anchor_sets import load_rubric

    body = load_rubric("general").as_dict()
    path.write_text(json.dumps({**body, "question": "Is it any good?"}), "utf-8")
