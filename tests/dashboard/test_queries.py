"""Reads for the pages: the same numbers as the statistics, gaps kept, cached by state and identity of the store."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dashboard import mean_queries, queries
from dashboard.answer_queries import PAGE_SIZE, answer_filter, find_item, list_answers, open_answer, then_and_now
from dashboard.filters import ANY_REASON, View
from dashboard.queries import Setup, StoreKey
from evaluator.errors import NewerDatabaseError, StoreError
from evaluator.records import Source, UnscoredReason
from evaluator.stats.intervals import mean_interval
from evaluator.store import read, write
from tests import builders
from tests.builders import APP, LAST_DAY, World, plus_days
from tests.dashboard.conftest import Database

PERIOD = ("2026-10-01", "2026-11-30")
KEY_AND_SETUP = tuple[StoreKey, Setup]


def opened(path: Path) -> KEY_AND_SETUP:
    """The state of a database and its only judge setup."""
    key = queries.store_key(path)
    row = queries.setups(key, APP)[0]
    return key, Setup(APP, row["ruler_id"], row["criterion"], row["scale_min"], row["scale_max"])


@pytest.fixture
def analysed(database: Database) -> KEY_AND_SETUP:
    """Sixty days with their analysis."""
    return opened(database("analysed"))


# ---------------------------------------------------------------- state of the store


def test_revision_changes_the_key(tmp_path: Path) -> None:
    """A committed write shows at once; nothing else is read anew."""
    path = builders.one_day(tmp_path / "a.db")
    before = queries.store_key(path)
    assert queries.store_key(path) == before
    n_before = queries.counts(before, APP)["n_answers"]
    with World(path=path) as world:
        world.add_answers([builders.answer(99, LAST_DAY)])
    after = queries.store_key(path)
    assert after.revision > before.revision
    assert queries.counts(after, APP)["n_answers"] == n_before + 1
    assert queries.counts(before, APP)["n_answers"] == n_before


def test_file_replaced_by_another_is_another_store(tmp_path: Path) -> None:
    """A demo that starts anew has the same name, maybe the same revision, and other numbers."""
    path = builders.one_day(tmp_path / "a.db", scores=(5, 5, 5))
    first, setup = opened(path)
    means = [mean_queries.segment_means(first, setup, LAST_DAY, LAST_DAY)["mean"].iloc[0]]
    other = builders.one_day(tmp_path / "b.db", scores=(1, 1, 1))
    path.unlink()
    shutil.move(other, path)
    second = queries.store_key(path)
    assert (first.path, first.revision) == (second.path, second.revision)
    assert first != second
    means.append(mean_queries.segment_means(second, setup, LAST_DAY, LAST_DAY)["mean"].iloc[0])
    assert means == [5.0, 1.0]


def test_key_holds_no_secret_of_the_store(tmp_path: Path) -> None:
    """The salt of the fences must not travel into logs and caches."""
    path = builders.schema_only(tmp_path / "a.db")
    salt = sqlite3.connect(path).execute("SELECT value FROM meta WHERE key = 'fence_salt'").fetchone()[0]
    assert salt not in str(queries.store_key(path))


def test_broken_store_is_an_error_with_a_kind(database: Database) -> None:
    """The pages tell a newer database from a missing one by the kind of error."""
    with pytest.raises(NewerDatabaseError):
        queries.store_key(database("newer"))
    with pytest.raises(StoreError):
        queries.store_key(database("missing"))
    assert queries.store_key_or_none(database("missing")) is None


def test_analysis_of_a_later_version_is_not_read(tmp_path: Path) -> None:
    """A payload of unknown shape would break every page."""
    path = builders.one_day(tmp_path / "a.db")
    setup = opened(path)[1]
    for version, known in ((1, True), (2, False)):
        with World(path=path) as world:
            write.save_analysis(
                world.store, app=APP, ruler_id=setup.ruler_id, criterion=setup.criterion, first_day=None,
                last_day=None, baseline="", settings_hash="", code_version="1", schema_version=version, payload={},
                revision=world.store.revision, now=builders.noon(LAST_DAY),
            )  # fmt: skip
        assert (queries.findings(queries.store_key(path), setup) is not None) is known


# ---------------------------------------------------------------- means


def test_daily_mean_is_the_student_interval_of_the_days_scores(tmp_path: Path) -> None:
    """Equal weights, no clusters: the totals give what the scores give."""
    scores = (4, 3, 5, 4, 2, 4, 5, 3)
    key, setup = opened(builders.one_day(tmp_path / "a.db", scores=scores))
    everything = queries.everything(key, APP)
    day = mean_queries.segment_days(key, setup, everything or 0, LAST_DAY, LAST_DAY).iloc[0]
    expected = mean_interval(scores)
    assert expected.interval is not None
    assert day["n"] == len(scores)
    assert day["mean"] == pytest.approx(expected.mean)
    assert (day["low"], day["high"]) == pytest.approx((expected.interval.low, expected.interval.high))


def test_every_calendar_day_has_a_row(analysed: KEY_AND_SETUP) -> None:
    """The day without a run stands between its neighbours, empty."""
    days = mean_queries.traffic_days(*analysed, *PERIOD)
    assert list(days["day"]) == mean_queries.every_day(*PERIOD)
    gap = days.set_index("day").loc["2026-10-13"]
    assert (gap["n"], gap["n_unscored"], gap["enough"]) == (0, 0, False)
    assert np.isnan(gap["mean"])


def test_day_with_fewer_than_half_scored_has_no_mean(analysed: KEY_AND_SETUP) -> None:
    """The third of November had more time-outs than scores: reasons instead of a mean, corrected line included."""
    day = mean_queries.traffic_days(*analysed, *PERIOD).set_index("day").loc["2026-11-03"]
    assert 0 < day["n"] < day["n_unscored"]
    assert not day["enough"]
    assert np.isnan(day["mean"])
    assert np.isnan(day["corrected"])
    assert "timeout" in day["reasons"]


@pytest.mark.parametrize(
    ("n_scored", "n_failed", "has_mean"), [(2, 2, True), (2, 3, False), (1, 0, True), (1, 1, True)]
)
def test_half_is_enough(n_scored: int, n_failed: int, has_mean: bool, tmp_path: Path) -> None:
    """Exactly half of the graded answers counts; one score gives a mean without an interval."""
    path = tmp_path / "a.db"
    with World(path=path, keys=[]) as world:
        ids = world.add_answers([builders.answer(n, LAST_DAY) for n in range(n_scored + n_failed)])
        scores: list[builders.Score] = [3.0 + n for n in range(n_scored)]
        scores += [UnscoredReason.TIMEOUT] * n_failed
        world.run(plus_days(LAST_DAY, 1), answers=dict(zip(ids, scores, strict=True)))
    day = mean_queries.traffic_days(*opened(path), LAST_DAY, LAST_DAY).iloc[0]
    assert bool(day["enough"]) is has_mean
    assert bool(np.isnan(day["mean"])) is not has_mean
    if n_scored == 1:
        assert np.isnan(day["low"])


def test_day_with_open_plans_is_unfinished(analysed: KEY_AND_SETUP) -> None:
    """The newest run stopped at its budget."""
    days = mean_queries.traffic_days(*analysed, *PERIOD).set_index("day")
    assert not days.loc["2026-11-29", "finished"]
    assert days.loc["2026-11-28", "finished"]
    assert (days.loc["2026-11-29", "n_planned"], days.loc["2026-11-29", "n_answers"]) == (48, 480)


def test_corrected_line_comes_from_the_analysis(analysed: KEY_AND_SETUP) -> None:
    """Under the raw line from the day on which the judge moved, on it before."""
    days = mean_queries.traffic_days(*analysed, *PERIOD).set_index("day")
    assert days.loc["2026-10-05", "corrected"] == days.loc["2026-10-05", "mean"]
    assert days.loc["2026-11-25", "corrected"] < days.loc["2026-11-25", "mean"] - 0.2


def test_without_an_analysis_there_is_the_raw_line(database: Database) -> None:
    """The first run is under way: raw means, nothing corrected."""
    days = mean_queries.traffic_days(*opened(database("sixty_days")), *PERIOD)
    assert days["mean"].notna().sum() == 57
    assert days["corrected"].isna().all()


def test_days_of_a_segment_add_up_to_everything(analysed: KEY_AND_SETUP) -> None:
    """Topics split the answers: their counts add up."""
    key, setup = analysed
    topics = [row["segment_id"] for row in queries.segments(key, APP) if (row["key"], row["key2"]) == ("topic", "")]
    parts = sum(mean_queries.segment_days(key, setup, topic, *PERIOD)["n"] for topic in topics)
    assert list(parts) == list(mean_queries.segment_days(key, setup, queries.everything(key, APP) or 0, *PERIOD)["n"])


def test_weeks_count_back_from_the_last_day(analysed: KEY_AND_SETUP) -> None:
    """Seven days a row, the first row shorter, every answer in one of them."""
    key, setup = analysed
    everything = queries.everything(key, APP) or 0
    weeks = mean_queries.segment_days(key, setup, everything, "2026-11-01", "2026-11-16", 7)
    assert list(weeks["day"]) == ["2026-11-01", "2026-11-03", "2026-11-10"]
    assert list(weeks["last_day"]) == ["2026-11-02", "2026-11-09", "2026-11-16"]
    assert weeks["n"].sum() == mean_queries.segment_days(key, setup, everything, "2026-11-01", "2026-11-16")["n"].sum()


def test_levels_cover_the_whole_scale(analysed: KEY_AND_SETUP) -> None:
    """A level that no answer has is a bar of height zero, not a missing one; shares add up."""
    key, setup = analysed
    found = mean_queries.levels(key, setup, queries.everything(key, APP) or 0, "2026-11-28", "2026-11-28")
    whole = mean_queries.whole_scale(found[found["level"] > 2], queries.setups(key, APP)[0])
    assert list(whole["label"]) == ["1 unacceptable", "2 poor", "3 acceptable", "4 good", "5 excellent"]
    assert found["share"].sum() == pytest.approx(1.0)
    assert whole["n"].iloc[0] == 0


def test_runs_have_counts_over_both_sources(analysed: KEY_AND_SETUP) -> None:
    """Planned, scored, not scored, not started add up."""
    newest = queries.runs(analysed[0], APP)[0]
    assert newest["n_planned"] == 68
    assert newest["n_scored"] + newest["n_unscored"] + newest["n_not_started"] == 68
    assert newest["n_not_started"] == 12


# ---------------------------------------------------------------- answers


def test_filter_of_a_level_takes_the_nearest_scores(analysed: KEY_AND_SETUP) -> None:
    """On a scale of five levels half a step is 0.5."""
    found = answer_filter(View(level=4.0, day="2026-11-28", reason=ANY_REASON), analysed[1], 5, PERIOD, None)
    assert (found.level, found.half_step) == (4.0, 0.5)
    assert (found.first_day, found.last_day) == ("2026-11-28", "2026-11-28")
    assert (found.unscored, found.reason) == (True, None)


def test_pages_of_a_list_hold_each_answer_once(analysed: KEY_AND_SETUP) -> None:
    """Three pages in a row have no row twice; the neighbours over the edge are the next page's first and last."""
    key, setup = analysed
    where = answer_filter(View(), setup, 5, PERIOD, None)
    pages = [list_answers(key, setup, where, "newest", page) for page in (1, 2, 3)]
    ids = [row["verdict_id"] for page in pages for row in page.rows]
    assert len(ids) == len(set(ids)) == 3 * PAGE_SIZE
    assert pages[0].before is None
    assert pages[1].before is not None
    assert pages[1].before["verdict_id"] == pages[0].rows[-1]["verdict_id"]
    assert pages[0].after is not None
    assert pages[0].after["verdict_id"] == pages[1].rows[0]["verdict_id"]


@pytest.mark.parametrize("source", list(Source))
@pytest.mark.parametrize("segment", [None, ("topic", "billing", "", ""), ("topic", "billing", "language", "de")])
@pytest.mark.parametrize("day", [None, "2026-10-22", "2026-11-03", "2026-10-13"])
def test_count_from_the_totals_is_the_count_of_the_rows(
    source: Source, segment: tuple[str, str, str, str] | None, day: str | None, analysed: KEY_AND_SETUP
) -> None:
    """The list says how many there are without counting them, unless it has to."""
    key, setup = analysed
    where = replace(answer_filter(View(source=source, day=day), setup, 5, PERIOD, None), segment=segment)
    with queries.opened(key) as store:
        counted = read.count_answers(store, app=APP, ruler_id=setup.ruler_id, where=where)
    assert list_answers(key, setup, where, "newest", 1).total == counted


def test_listed_answers_have_their_tags(analysed: KEY_AND_SETUP) -> None:
    """The chips of the table."""
    key, setup = analysed
    row = list_answers(key, setup, answer_filter(View(), setup, 5, PERIOD, None), "newest", 1).rows[0]
    assert set(row["tags"]) == {"topic", "language"}


def test_answer_is_found_by_either_id(analysed: KEY_AND_SETUP) -> None:
    """A link may hold our id, its start, or the id of the user's own system."""
    key, setup = analysed
    row = list_answers(key, setup, answer_filter(View(), setup, 5, PERIOD, None), "newest", 1).rows[0]
    assert find_item(key, APP, row["item_id"]) == [row["item_id"]]
    assert find_item(key, APP, row["item_id"][:12]) == [row["item_id"]]
    assert find_item(key, APP, row["external_id"]) == [row["item_id"]]
    assert find_item(key, APP, "nothing like it") == []


def test_answer_of_another_app_is_not_shown(analysed: KEY_AND_SETUP) -> None:
    """A link across apps finds nothing."""
    key, setup = analysed
    row = list_answers(key, setup, answer_filter(View(), setup, 5, PERIOD, None), "newest", 1).rows[0]
    assert open_answer(key, "another-app", row["item_id"]) is None
    assert open_answer(key, APP, row["item_id"]) is not None


def test_anchor_has_a_verdict_for_every_run_newest_first(analysed: KEY_AND_SETUP) -> None:
    """With the number and scale of the judge setup of each."""
    key, setup = analysed
    where = answer_filter(View(source=Source.ANCHOR), setup, 5, PERIOD, None)
    anchor = list_answers(key, setup, where, "newest", 1).rows[0]
    found = open_answer(key, APP, anchor["item_id"])
    assert found is not None
    days = [verdict["slot_day"] for verdict in found.verdicts]
    assert days == sorted(days, reverse=True)
    assert len(days) >= 58
    assert {(verdict["setup"], verdict["scale_max"]) for verdict in found.verdicts} == {(1, 5.0)}


def test_then_is_the_usual_score_before_the_change(analysed: KEY_AND_SETUP) -> None:
    """A lone flip on the eve of the change does not speak for the time before."""
    key, setup = analysed
    found = queries.findings(key, setup)
    assert found is not None
    moved = found["judge"]["moved"][0]
    pair = then_and_now(key, setup, moved["item_id"], found["judge"]["since_day"] or "")
    assert pair is not None
    assert pair[0]["slot_day"] < "2026-11-11" <= pair[1]["slot_day"]
    assert pair[0]["score"] == round(moved["before"])


def test_nothing_to_compare_without_a_before(analysed: KEY_AND_SETUP) -> None:
    """A change on the first day has no then."""
    key, setup = analysed
    found = queries.findings(key, setup)
    assert found is not None
    assert then_and_now(key, setup, found["judge"]["moved"][0]["item_id"], "2026-01-01") is None
