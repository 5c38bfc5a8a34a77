"""Stored scores taken into the store: all or nothing, once, on one scale, with a history of their own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.analysis import AnalysisSettings
from evaluator.errors import DataFileError, JudgewatchError, UsageError
from evaluator.importing import file_set, import_files
from evaluator.importing.verdict_scale import ScoreTally, find_scale
from evaluator.importing.verdicts import VerdictReading, VerdictReport, import_verdicts
from evaluator.redaction import Redactor
from evaluator.store import read, rollup
from evaluator.store.db import Store, open_reader, open_store
from tests.importers.verdicts.helpers import DATA, write_rows

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
Import = Callable[..., VerdictReport]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where the database is, or will be."""
    return tmp_path / "data" / "scores.db"


@pytest.fixture
def take(tmp_path: Path, db: Path) -> Import:
    """Import rows, or a file, as the app shop."""

    def take_rows(*rows: Mapping[str, Any] | Path, **options: Any) -> VerdictReport:
        lines = [row for row in rows if not isinstance(row, Path)]
        paths = [row for row in rows if isinstance(row, Path)]
        if lines:
            paths.append(write_rows(tmp_path / "rows.jsonl", *lines))
        kept = ("same_judge", "skip_bad", "dry_run", "segment_keys", "day_zone", "rejects")
        known = {name: options.pop(name) for name in kept if name in options}
        return import_verdicts(
            db,
            paths,
            app="shop",
            now=NOW,
            reading=VerdictReading(**options),
            settings=AnalysisSettings(),
            **known,
        )

    return take_rows


def row(number: int, score: Any, day: str = "2026-03-01", **more: Any) -> dict[str, Any]:
    """One stored score of one answer."""
    return {
        "id": f"a{number}",
        "question": f"Question {number}?",
        "answer": f"Answer {number}.",
        "score": score,
        "graded_at": f"{day}T09:00:{number % 60:02d}Z",
    } | more


def days_of_rows(n_days: int, per_day: int = 4, **more: Any) -> list[dict[str, Any]]:
    """Scores from 2 to 5 over some days."""
    first = datetime(2026, 3, 1, tzinfo=UTC)
    return [
        row(
            day * per_day + place,
            2 + (day + place) % 4,
            f"{first + timedelta(days=day):%Y-%m-%d}",
            topic=("refund", "billing")[place % 2],
            **more,
        )
        for day in range(n_days)
        for place in range(per_day)
    ]


def table(db: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows of the database as they stand there."""
    with sqlite3.connect(db) as connection:
        return connection.execute(sql).fetchall()


def everything(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All that an import may change, but for the note that it took place."""
    tables = ("items", "item_tags", "verdicts", "runs", "planned_items", "sampled_days", "daily_scores", "app_rulers")
    return {name: table(db, f"SELECT * FROM {name} ORDER BY 1, 2, 3") for name in tables}


def judge_finding(store: Store, report: VerdictReport) -> dict[str, Any]:
    """The stored analysis of the first judge of an import."""
    judge = report.judges[0]
    found = read.newest_analysis(store, app="shop", ruler_id=judge.ruler_id or "", criterion=judge.criterion)
    assert found is not None
    payload: dict[str, Any] = found["payload"]
    return payload


# ---------------------------------------------------------------- what is stored


def test_scores_become_a_judge_setup_with_a_history_at_once(take: Import, db: Path) -> None:
    """Runs by day of grading, daily means with intervals, segments, an analysis; and not one call."""
    report = take(*days_of_rows(6), judge="gpt-4o", criterion="helpful")
    assert (report.stored, report.created, report.n_new_answers) == (True, True, 24)
    judge = report.judges[0]
    assert (judge.judge, judge.criterion, judge.setup, judge.n_scored, judge.n_new) == ("gpt-4o", "helpful", 1, 24, 24)
    assert (judge.first_day, judge.last_day, judge.n_days) == ("2026-03-01", "2026-03-06", 6)
    assert judge.mean == pytest.approx(3.5)
    assert judge.low is not None
    assert judge.high is not None
    assert judge.low < 3.5 < judge.high
    with open_reader(db) as store:
        findings = judge_finding(store, report)
        runs = read.runs(store, "shop")
    assert [day["n"] for day in findings["days"]] == [4] * 6
    assert all(day["low"] < day["mean"] < day["high"] for day in findings["days"])
    assert {row["value"] for row in findings["segments"]} == {"refund", "billing"}
    assert {run["purpose"] for run in runs} == {"imported"}
    assert [run["n_scored_traffic"] for run in runs] == [4] * 6
    assert table(db, "SELECT count(*) FROM attempts") == [(0,)]


def test_the_same_file_twice_adds_nothing(take: Import, db: Path) -> None:
    """Row for row; the second report says that all was known."""
    rows = days_of_rows(3)
    take(*rows)
    before = everything(db)
    report = take(*rows)
    assert everything(db) == before
    assert (report.judges[0].n_new, report.judges[0].n_known, report.n_new_answers) == (0, 12, 0)


def test_totals_agree_with_a_rebuild_from_zero(take: Import, db: Path) -> None:
    """The totals of two imports on the same days are those of all verdicts."""
    rows = days_of_rows(4)
    take(*rows[::2])
    take(*rows[1::2])
    before = table(db, "SELECT * FROM daily_scores ORDER BY 1, 2, 3, 4, 5, 6, 7")
    with open_store(db, create=False) as store:
        rollup.rebuild_everything(store, "shop")
    assert table(db, "SELECT * FROM daily_scores ORDER BY 1, 2, 3, 4, 5, 6, 7") == before


def test_days_are_those_of_the_stores_zone(take: Import, db: Path) -> None:
    """23:30 UTC is the next day in Berlin, for the answer and for the run."""
    take(row(1, 4) | {"graded_at": "2026-03-01T23:30:00Z"}, row(2, 2), day_zone="Europe/Berlin")
    assert table(db, "SELECT slot_day, slot_utc FROM runs ORDER BY 1") == [
        ("2026-03-01", "2026-02-28T23:00:00.000Z"),
        ("2026-03-02", "2026-03-01T23:00:00.000Z"),
    ]
    assert table(db, "SELECT answered_day FROM items ORDER BY 1") == [("2026-03-01",), ("2026-03-02",)]


def test_a_dry_run_counts_and_leaves_nothing_behind(take: Import, db: Path) -> None:
    """Neither a new database nor a row in one that is there."""
    report = take(*days_of_rows(2), dry_run=True)
    assert (report.stored, report.judges[0].n_new, report.n_new_answers) == (False, 8, 8)
    assert not db.exists()
    take(*days_of_rows(1))
    before = everything(db)
    assert take(*days_of_rows(2), dry_run=True).judges[0].n_new == 4
    assert everything(db) == before


def test_missing_scores_are_kept_with_their_reason(take: Import, db: Path) -> None:
    """None, blank and error: no number, and counted."""
    report = take(row(1, 4), row(2, 2), row(3, None), row(4, "error: timeout"))
    assert (report.judges[0].n_scored, report.judges[0].n_missing) == (2, 2)
    assert table(db, "SELECT unscored_reason, detail FROM verdicts WHERE score IS NULL ORDER BY 1") == [
        ("missing", "no score"),
        ("wrong_type", "error: timeout"),
    ]


def test_a_missing_score_may_come_later_and_a_score_stays(take: Import, db: Path) -> None:
    """Unscored to scored is allowed; another score for a scored answer is counted and left out."""
    take(row(1, 4), row(2, None), row(3, 3))
    report = take(row(1, 5, "2026-03-09"), row(2, 2, "2026-03-09"), row(3, 3, "2026-03-09"))
    judge = report.judges[0]
    assert (judge.n_new, judge.n_known, judge.n_other) == (1, 1, 1)
    stored = table(db, "SELECT i.external_id, v.score FROM verdicts v JOIN items i USING (item_id) ORDER BY 1")
    assert stored == [("a1", 4.0), ("a2", 2.0), ("a3", 3.0)]


def test_of_several_gradings_in_a_file_the_latest_valid_counts(take: Import, db: Path) -> None:
    """Twenty answers of which ten were graded twice, four of these after a failure: the mean of the latest is 9.55."""
    report = take(DATA / "mtbench.jsonl")
    judge = report.judges[0]
    assert (judge.n_scored, judge.n_missing, judge.n_earlier) == (20, 0, 10)
    assert judge.mean == pytest.approx(9.55)
    assert (judge.scale_low, judge.scale_high) == (1, 10)
    later, earlier = row(1, 5, "2026-03-09"), row(1, 2, "2026-03-01")
    take(later, earlier, row(2, 4), criterion="other")
    assert table(db, "SELECT score FROM verdicts WHERE criterion = 'other' ORDER BY score") == [(4.0,), (5.0,)]


def test_two_scores_of_one_time_are_refused_by_name(take: Import, db: Path) -> None:
    """Which one counts cannot be told; equal ones are one."""
    with pytest.raises(
        DataFileError, match=r"the answer a1 has two scores .*\(2 and 4|the answer a1 has two .*4 and 2"
    ):
        take(row(1, 4), row(1, 2), row(2, 3))
    assert not db.exists()
    report = take(row(1, 4), row(1, 4), row(2, 3))
    assert (report.judges[0].n_scored, report.judges[0].n_earlier) == (2, 1)


def test_scores_of_stored_answers_need_no_texts(take: Import, db: Path, tmp_path: Path) -> None:
    """A row with an id only is the answer that has it; the answer keeps its own time."""
    answers = write_rows(tmp_path / "answers.jsonl", row(1, None) | {"answered_at": "2026-02-01T00:00:00Z"})
    import_files(db, [answers], app="shop", now=NOW)
    report = take(
        {"id": "a1", "score": 4, "graded_at": "2026-03-01"}, {"id": "b", "score": 2, "graded_at": "2026-03-01"}
    )
    assert (report.n_new_answers, report.n_bare) == (1, 1)
    stored = table(
        db,
        "SELECT i.external_id, i.output, i.answered_day, v.score FROM items i JOIN verdicts v USING (item_id)"
        " ORDER BY 1",
    )
    assert stored == [("a1", "Answer 1.", "2026-02-01", 4.0), ("b", "", "2026-03-01", 2.0)]


def test_another_text_under_a_known_id_is_another_version_with_its_own_score(take: Import, db: Path) -> None:
    """Two texts, two answers, two scores."""
    take(row(1, 4), row(2, 2))
    take(row(1, 3) | {"answer": "Another answer."})
    stored = table(
        db,
        "SELECT i.version, v.score FROM verdicts v JOIN items i USING (item_id) WHERE i.external_id = 'a1' ORDER BY 1",
    )
    assert stored == [(1, 4.0), (2, 3.0)]


def test_each_judge_and_criterion_is_a_setup_of_its_own(take: Import, db: Path) -> None:
    """On its own scale, never in one mean."""
    rows = [row(n, n % 5 + 1) | {"judge": "a", "metric": "tone"} for n in range(10)]
    rows += [row(n, n / 10) | {"judge": "b", "metric": "tone"} for n in range(10)]
    report = take(*rows)
    assert [(found.judge, found.scale_high) for found in report.judges] == [("a", 5), ("b", 1)]
    assert table(db, "SELECT count(DISTINCT ruler_id), count(*) FROM verdicts") == [(2, 20)]
    assert table(db, "SELECT count(*) FROM items") == [(10,)]


def test_a_metric_without_any_score_is_told_and_becomes_no_setup(take: Import) -> None:
    """There is nothing to draw, and no scale to tell."""
    report = take(DATA / "ragas_table.csv", graded_at="2026-01-05")
    assert [(found.criterion, found.setup, found.n_scored, found.n_missing) for found in report.judges] == [
        ("faithfulness", None, 0, 6),
        ("answer_relevancy", None, 0, 6),
        ("context_precision", 1, 4, 2),
        ("context_recall", 2, 3, 3),
    ]


def test_without_anchors_the_analysis_says_what_it_cannot_tell(take: Import, db: Path) -> None:
    """The headline is honest, the raw mean is there with its interval, and the way on is named."""
    report = take(*days_of_rows(10))
    with open_reader(db) as store:
        findings = judge_finding(store, report)
    assert findings["headline"].startswith("These scores were imported: no anchors, so a change cannot be split")
    said = " ".join(findings["sentences"])
    assert "Raw mean as the judge gave it: 3.50, between" in said
    assert "--same-judge" in said
    assert "judgewatch recheck FILE" in said
    assert findings["tone"] == "unknown"
    assert {day["note"] for day in findings["days"]} == {"not corrected: imported, without anchors"}
    assert all(day["finished"] for day in findings["days"])


def test_a_later_import_of_failures_is_stored_beside_the_scores_of_others(take: Import) -> None:
    """The scale is known; that the judge failed must not be lost."""
    rows = [row(n, n % 5 + 1) | {"metric": metric} for n in range(5) for metric in ("tone", "facts")]
    take(*rows)
    report = take(*(row(n, score) | {"metric": m} for n in (8, 9) for m, score in (("tone", 3), ("facts", None))))
    assert {found.criterion: (found.n_new, found.n_missing) for found in report.judges} == {
        "tone": (2, 0),
        "facts": (2, 2),
    }


def test_personal_data_is_taken_out_before_anything_is_written(take: Import, db: Path) -> None:
    """Of texts, tags and the judge's words."""
    redactor = Redactor(("email",))
    report = take(
        row(1, 4, reason="jo@example.org was polite") | {"answer": "Write to jo@example.org."},
        row(2, 3),
        redactor=redactor,
    )
    assert "e-mail" in report.redaction
    assert b"jo@example.org" not in db.read_bytes()
    assert table(db, "SELECT explanation FROM verdicts WHERE score = 4") == [("[email] was polite",)]


def test_reasons_need_not_be_kept(take: Import, db: Path) -> None:
    """As the configuration says."""
    take(row(1, 4, reason="Clear."), row(2, 3), keep_reasons=False)
    assert table(db, "SELECT DISTINCT explanation FROM verdicts") == [("",)]


def test_one_criterion_may_be_chosen(take: Import) -> None:
    """The others are left out, their faults with them."""
    report = take(DATA / "promptfoo.json", only=("llm-rubric",))
    assert [(found.criterion, found.n_scored) for found in report.judges] == [("llm-rubric", 12)]


# ---------------------------------------------------------------- what is refused


def refused(take: Import, db: Path, match: str, *rows: Mapping[str, Any] | Path, **options: Any) -> None:
    """An import that must fail with a message and leave nothing behind."""
    existed = db.exists()
    with pytest.raises(JudgewatchError, match=match):
        take(*rows, **options)
    assert db.exists() == existed


def test_without_a_time_of_grading_everything_is_refused_with_the_fix(take: Import, db: Path) -> None:
    """And one time for all is a fix."""
    rows = [{"id": f"a{n}", "answer": "x", "score": n} for n in (1, 2, 3)]
    refused(take, db, r"no row says when it was graded; .*--field graded_at=COLUMN.*--graded-at TIME", *rows)
    assert take(*rows, graded_at="2026-03-01").stored


def test_a_single_row_without_a_time_is_a_reject(take: Import, db: Path) -> None:
    """It keeps everything out unless bad rows are skipped."""
    rows = [row(1, 4), row(2, 3), row(3, 5) | {"graded_at": ""}]
    assert not take(*rows).stored
    assert not db.exists()
    assert take(*rows, skip_bad=True).judges[0].n_scored == 2


def test_a_score_off_the_named_scale_is_a_reject_with_row_and_value(take: Import, db: Path, tmp_path: Path) -> None:
    """Nothing is clipped."""
    from evaluator.importing import RejectLog

    with RejectLog() as log:
        report = take(row(1, 4), row(2, 7), scale=(1.0, 5.0), rejects=log)
        rejects = list(log.rows())
    assert not report.stored
    assert not db.exists()
    assert rejects[0]["line"] == 2
    assert "the score 7 is off the scale 1 to 5 (given with --scale)" in rejects[0]["reason"]


def test_a_promptfoo_score_below_zero_is_off_its_scale(take: Import) -> None:
    """One similarity of twelve is -0.0042; the other 35 scores can be taken."""
    assert not take(DATA / "promptfoo.json").stored
    report = take(DATA / "promptfoo.json", skip_bad=True)
    assert sum(found.n_scored for found in report.judges) == 35
    assert {found.scale_how for found in report.judges} == {"scores of promptfoo"}


def test_a_judge_column_that_is_an_id_is_refused(take: Import, db: Path) -> None:
    """Five hundred judges are none; the fix is named and works."""
    rows = [row(n, n % 5 + 1) | {"judge": f"run-{n}"} for n in range(500)]
    refused(take, db, r"more than 50 different names of the judge .*looks like an id.*--field judge=COLUMN", *rows)
    assert len(take(*rows, field_map={"judge": ""}, judge="gpt-4o").judges) == 1


def test_a_criterion_column_that_is_a_persons_name_is_refused(take: Import, db: Path) -> None:
    """A column called name may hold anything."""
    rows = [row(n, n % 5 + 1) | {"name": f"Person {n}"} for n in range(200)]
    refused(take, db, "more than 100 different names of the criterion", *rows)


@pytest.mark.parametrize("content", ["", "\n\n", "[]"])
def test_an_empty_file_stores_nothing(take: Import, db: Path, tmp_path: Path, content: str) -> None:
    """And says so by its counts."""
    path = tmp_path / ("e.json" if content == "[]" else "e.jsonl")
    path.write_text(content)
    report = take(path)
    assert (report.stored, report.n_rows, report.n_scored) == (False, 0, 0)
    assert not db.exists()


def test_a_file_with_errors_only_stores_nothing(take: Import, db: Path) -> None:
    """No score, no setup."""
    report = take(row(1, None), row(2, "error"))
    assert not report.stored
    assert report.judges[0].n_missing == 2
    assert not db.exists()


def test_what_is_no_file_of_scores_is_given_up(take: Import, db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After many rows without one that can be used."""
    monkeypatch.setattr(file_set, "FLOOD", 50)
    with pytest.raises(DataFileError, match="50 rows cannot be used and 0 can"):
        take(*(row(number, "inf") for number in range(200)), skip_bad=True)
    assert not db.exists()


@pytest.mark.parametrize("score", ["inf", "-Infinity", "excellent"])
def test_a_score_that_is_no_finite_number_is_a_reject(take: Import, db: Path, score: str) -> None:
    """Nothing is stored; the rest can be taken."""
    rows = [row(1, 4), row(2, 2), row(3, score)]
    assert not take(*rows).stored
    assert not db.exists()
    assert take(*rows, skip_bad=True).judges[0].n_scored == 2


def test_a_later_import_off_the_scale_of_the_earlier_is_refused(take: Import, db: Path) -> None:
    """A pipeline that changes its scale must not look like drift; another scale is another setup."""
    take(*(row(n, n % 5 + 1) for n in range(10)))
    before = everything(db)
    assert not take(row(20, 80), row(21, 90)).stored
    assert everything(db) == before
    report = take(row(20, 80), row(21, 90), scale=(0.0, 100.0))
    assert report.judges[0].setup == 2


def test_a_later_import_of_few_scores_takes_the_scale_that_is_known(take: Import) -> None:
    """A day with nothing but ones is no riddle then."""
    take(*(row(n, n % 5 + 1) for n in range(10)))
    judge = take(row(20, 1), row(21, 1)).judges[0]
    assert (judge.setup, judge.scale_high) == (1, 5)
    assert judge.scale_how == "as in earlier imports of this judge and criterion"


# ---------------------------------------------------------------- scales


def scale_of(*scores: float, labels: bool = False, is_unit_format: bool = False) -> tuple[float, float]:
    """The scale that is told from some scores."""
    tally = ScoreTally()
    for place, score in enumerate(scores, start=1):
        tally.add(score, is_label=labels, place=f"f.csv, line {place}")
    return find_scale("j, c", tally, hint=None, is_unit_format=is_unit_format).bounds


@pytest.mark.parametrize(
    ("scores", "bounds"),
    [
        ((0.1, 0.5, 1.0), (0, 1)),
        ((0, 1, 1, 0), (0, 1)),
        ((0, 0, 0), (0, 1)),
        ((1, 2, 5), (1, 5)),
        ((1.5, 4.5), (1, 5)),
        ((2, 3, 4), (1, 5)),
        ((1, 7, 10), (1, 10)),
        ((6.5, 8), (1, 10)),
        ((0, 50, 100), (0, 100)),
        ((35, 80.5), (0, 100)),
        ((1, 5, 8, 12, 60, 99), (0, 100)),
    ],
)
def test_the_scale_is_told_from_the_numbers(scores: tuple[float, ...], bounds: tuple[float, float]) -> None:
    """The usual scales."""
    assert scale_of(*scores) == bounds


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ((0.2, 0.9, 0.7, 0.4, 4, 5, 3), "4 scores lie in 0 to 1 and 3 above 1, up to 5 .*line 6.*two scales"),
        ((0.5, 80, 90), "two scales are mixed"),
        ((2, 3, 4, 80, 90), "3 scores lie in 1 to 5, 2 in 10 to 100, and none between"),
        ((1, 1, 1), "every score is 1, the best of 0 to 1 or the worst of 1 to 5.*--scale 0 1"),
        ((0, 3, 5), "may be on 0 to 5 .*--scale 0 5"),
        ((0, 3, 9), "may be on 0 to 10"),
        ((-1, 0.5, 1), "line 1: the score -1 is on no usual scale"),
        ((50, 800), "line 2: the score 800 is on no usual scale"),
        ((*range(11), *range(11), 47), "above 10 lie 1 of 23 scores, up to 47 .*line 23.*--scale 0 10.*--scale 0 100"),
        ((*range(1, 6), *range(1, 6), 1, 7), "above 5 lie 1 of 12 scores, up to 7 .*--scale 1 5.*--scale 1 10"),
        ((*range(1, 6), *range(1, 6), 1, 80), "above 10 lie 1 of 12 scores, up to 80 .*--scale 1 10"),
    ],
)
def test_what_may_be_two_scales_is_refused(scores: tuple[float, ...], message: str) -> None:
    """With counts or the place of the value, and the fix."""
    with pytest.raises(DataFileError, match=message):
        scale_of(*scores)


def test_labels_are_fail_and_pass(take: Import, db: Path) -> None:
    """A scale of two, with names."""
    take(row(1, "pass"), row(2, "fail"), row(3, "pass"))
    body = json.loads(table(db, "SELECT body_json FROM rubrics")[0][0])
    assert [(level["score"], level["name"]) for level in body["levels"]] == [(0.0, "fail"), (1.0, "pass")]


def test_labels_beside_numbers_of_another_scale_are_refused(take: Import, db: Path) -> None:
    """Pass is 1 of 1, not 1 of 5."""
    refused(take, db, "1 labels such as pass and 2 numbers up to 5", row(1, "pass"), row(2, 5), row(3, 4))


def test_scores_of_one_from_a_format_of_zero_to_one_are_no_riddle(take: Import) -> None:
    """DeepEval's scores lie between 0 and 1 by its own words."""
    judge = take(DATA / "deepeval_with_error.json", graded_at="2026-01-05").judges[0]
    assert (judge.scale_low, judge.scale_high, judge.n_scored, judge.n_missing) == (0, 1, 1, 1)


def test_an_unknown_format_is_a_usage_error(take: Import, db: Path) -> None:
    """Before anything is read."""
    with pytest.raises(UsageError, match="format 'xlsx' is unknown"):
        take(row(1, 1), format="xlsx")
    assert not db.exists()
