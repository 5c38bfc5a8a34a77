"""The pages on a normal history: the verdict, its numbers and links, choices in the URL, drill-down to one answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pyarrow as pa
import pytest
import time_machine

from dashboard import queries
from dashboard.answer_queries import AnswerList
from dashboard.answer_view import neighbours
from dashboard.filters import View
from dashboard.needs_look import look_sentence, looks, nothing_to_look_at
from dashboard.wording import bounds, change
from dashboard.wording import day as day_text
from evaluator.findings import Findings
from evaluator.records import UnscoredReason
from tests import builders
from tests.builders import APP, LAST_DAY, World, plus_days
from tests.dashboard import sample_findings
from tests.dashboard.conftest import Database, OpenPage
from tests.dashboard.pages import Page


@pytest.fixture
def page(database: Database, open_page: OpenPage) -> Page:
    """Now, on sixty days with their analysis."""
    return open_page(database("analysed"))


@pytest.fixture(scope="module")
def stored(database: Database) -> Findings:
    """The analysis of the sixty days."""
    key = queries.store_key(database("analysed"))
    row = queries.setups(key, APP)[0]
    setup = queries.Setup(APP, row["ruler_id"], row["criterion"], row["scale_min"], row["scale_max"])
    found = queries.findings(key, setup)
    if found is None:
        raise AssertionError("no analysis is stored")
    return found


def metric(page: Page, label: str) -> tuple[str, str]:
    """Value and change of a number below the verdict."""
    found = next(found for found in page.app.metric if found.label == label)
    return found.value, found.delta


# ---------------------------------------------------------------- now


def test_verdict_is_the_analysis_in_its_own_words(page: Page, stored: Findings) -> None:
    """Headline as a heading, every sentence below it, and the same as a text to copy."""
    assert page.errors == []
    assert stored["headline"] in page.headings
    assert set(stored["sentences"]) <= set(page.plain)
    assert any(stored["headline"] in command for command in page.commands)
    assert any("needs a look" in text for text in page.markdown)


def test_header_says_app_period_baseline_setup_and_zone(page: Page) -> None:
    """Whoever gets a screenshot knows what it shows."""
    header = "support-bot · 1 Oct – 30 Nov 2026 · baseline 1–21 Oct 2026 · judge setup v1 (judge-large) · days in UTC"
    assert header in page.plain


def test_printed_numbers_add_up(page: Page) -> None:
    """Raw minus the judge's share is the corrected score, at the digits shown."""
    raw, corrected, judge = (metric(page, label)[0] for label in ("Raw score", "Corrected score", "Judge's share"))
    assert round(float(raw) - float(judge.lstrip("+")), 2) == float(corrected)


def test_graded_says_target_and_how_many_there_were(page: Page) -> None:
    """35 of 48 planned, of 480 answers of the day."""
    assert metric(page, "Graded, 29 Nov")[0] == "35"


def test_charts_are_trend_anchors_and_shares(page: Page) -> None:
    """Each with a title that states the finding, and a text for screen readers."""
    assert len(page.figures) == 3
    assert "Raw scores rose, corrected scores did not" in page.headings
    assert "For the same answers the judge gives +0.42 since 11 Nov" in page.headings
    assert any(heading.startswith("Where the +0.37 comes from") for heading in page.headings)
    assert all(chart.proto.alt for chart in page.app.get("plotly_chart"))


def test_trend_equals_the_stored_analysis(page: Page, stored: Findings) -> None:
    """What the page draws is what `check --json` prints."""
    raw, fixed = page.trace("raw score"), page.trace("corrected score")
    drawn = {day: (y, c) for day, y, c in zip(raw["x"], raw["y"], fixed["y"], strict=True) if y is not None}
    known = {day["day"]: (day["mean"], day["corrected"]) for day in stored["days"] if day["mean"] is not None}
    assert drawn.keys() == known.keys()
    assert all(drawn[day] == pytest.approx(known[day]) for day in known)


def test_needs_a_look_leads_to_segment_and_run(page: Page, stored: Findings) -> None:
    """Each thing to look at has a link to where it is seen; choices travel with it."""
    links = {label: (target, dict(parse_qsl(query))) for label, target, query in page.links}
    assert links["See why"][0].endswith("runs")
    target, query = links["See this segment"]
    assert target.endswith("segments")
    billing = next(s for s in stored["segments"] if (s["value"], s["value2"]) == ("billing", "de"))
    assert query == {"segment": str(billing["segment_id"])}
    assert stored["needs_a_look"][0] not in page.plain  # in short here, whole in the verdict and on the segment's page
    short = next(text for text in page.plain if text.startswith("billing · de: worse since"))
    assert f"n {billing['n_after']}." in short
    assert len(short) < 80


def test_judge_that_moved_is_shown_on_anchors_then_and_now(page: Page) -> None:
    """Two reasons side by side convince; the anchor can be opened."""
    assert "The same answers, graded then and now" in page.headings
    assert [label for label, _, _ in page.links].count("Open this anchor") >= 2
    assert any("on 30 Nov 2026" in heading for heading in page.headings)


def test_freshness_says_last_run_and_why_it_stopped(page: Page) -> None:
    """When, how much, what is missing, why."""
    line = next(text for text in page.headings if text.startswith("Last run"))
    assert "run of 30 Nov 2026, 06:00 stopped early, 20 of 20 anchors, 35 of 48 answers" in line
    assert "the day's budget of $0.06 is spent" in line
    assert "1 a year on average" in line


@pytest.mark.parametrize(("now", "silent"), [("2026-12-01T08:00:00Z", False), ("2026-12-05T08:00:00Z", True)])
def test_silence_is_said(now: str, silent: bool, database: Database, open_page: OpenPage) -> None:
    """A scorer that died is told from a quiet judge."""
    with time_machine.travel(now, tick=True):
        found = open_page(database("analysed"))
    assert ("No run since 30 Nov 2026, 06:00" in found.words) is silent


def test_before_the_first_analysis_the_raw_line_is_shown(database: Database, open_page: OpenPage) -> None:
    """The first run is under way: learning, the raw trend, its mean with an interval."""
    found = open_page(database("sixty_days"))
    assert found.errors == []
    assert "Learning how this judge scores" in found.headings
    assert len(found.figures) == 1
    assert sum(y is not None for y in found.trace("raw score")["y"]) == 57
    assert metric(found, "Raw score")[0] == "3.96"


@pytest.mark.parametrize("state", ["steady", "no_change_shown", "cannot_tell", "learning", "no_data"])
@pytest.mark.parametrize("name", ["now", "segments"])
def test_every_state_of_the_judge_is_drawn(state: str, name: str, tmp_path: Path, open_page: OpenPage) -> None:
    """Also with everything missing that may be missing."""
    path = builders.one_day(tmp_path / "a.db")
    nothing = {
        "judge": empty_judge(state), "assistant": empty_quality(state), "segments": [], "shares": None, "days": [],
        "events": [], "needs_a_look": [], "look_segments": [], "sentences": [],
        "headline": "Nothing to say.", "tone": "unknown", "baseline_first_day": None, "baseline_last_day": None,
    }  # fmt: skip
    sample_findings.add_bare(path, nothing)
    found = open_page(path, name)
    assert found.errors == []
    if name == "now":
        assert "Nothing to say." in found.headings


@pytest.mark.parametrize(("state", "is_drawn"), [("learning", False), ("no_data", False), ("steady", True)])
def test_corrected_line_is_drawn_once_the_judge_is_known(
    state: str, is_drawn: bool, stored: Findings, tmp_path: Path, open_page: OpenPage
) -> None:
    """The title says that it starts later; an analysis may hold corrected means all the same."""
    path = builders.sixty_days(tmp_path / "a.db")
    sample_findings.add_bare(path, {**stored, "judge": {**stored["judge"], "state": state}})
    found = open_page(path)
    assert found.errors == []
    drawn = {trace.get("name") for figure in found.figures for trace in figure["data"]}
    assert ("corrected score" in drawn) is is_drawn
    assert ("corrected score, interval" in drawn) is is_drawn
    assert any(heading.startswith("Raw scores so far") for heading in found.headings) is not is_drawn


def empty_judge(state: str) -> dict[str, object]:
    """A judge of which nothing is known."""
    unknown = dict.fromkeys(
        ("direction", "estimate", "low", "high", "since_day", "since_first_day", "since_last_day", "alarm_day",
         "evidence", "first_alarm_day", "likely_cause")
    )  # fmt: skip
    counts = dict.fromkeys(("n_anchors", "n_runs", "n_runs_counted", "n_runs_after", "learning_runs_left"), 0)
    return {"state": state, "method": "", "threshold": 2.56, "runs": [], "moved": [], **unknown, **counts}


def empty_quality(state: str) -> dict[str, object]:
    """An assistant of which nothing is known."""
    return {"state": state, "direction": None, "estimate": None}


def test_news_of_the_scorer_shows_at_the_next_look(tmp_path: Path, open_page: OpenPage) -> None:
    """A run that finishes meanwhile is there after a rerun; nothing is stale."""
    path = builders.one_day(tmp_path / "a.db")
    found = open_page(path)
    assert metric(found, "Graded, 29 Nov")[0] == "8"
    with World(path=path, keys=[("topic", "")]) as world:
        ids = world.add_answers([builders.answer(n, plus_days(LAST_DAY, 1)) for n in range(3)])
        world.run(plus_days(LAST_DAY, 2), answers=dict.fromkeys(ids, 4.0))
    found.app.run()
    assert metric(found, "Graded, 30 Nov")[0] == "3"


# ---------------------------------------------------------------- choices


def test_chosen_period_goes_into_the_url_and_over_to_other_pages(database: Database, open_page: OpenPage) -> None:
    """The menu's links drop the query; what is chosen for all pages stays."""
    found = open_page(database("analysed")).press("14 days")
    assert found.app.query_params == {"first_day": "2026-11-17", "last_day": "2026-11-30"}
    found.app.query_params.clear()
    found.app.switch_page("app_pages/answers.py").run()
    assert "17–30 Nov 2026" in found.words
    assert found.app.query_params == {"first_day": "2026-11-17", "last_day": "2026-11-30"}


def test_back_to_the_defaults_takes_every_choice_back(database: Database, open_page: OpenPage) -> None:
    """Also the remembered one."""
    found = open_page(database("analysed"), first_day="2026-11-17").press("Back to the defaults")
    assert found.app.query_params == {}
    assert "1 Oct – 30 Nov 2026" in found.words


def test_bad_choice_is_taken_out_of_the_url(database: Database, open_page: OpenPage) -> None:
    """The link that is shared next is clean."""
    found = open_page(database("analysed"), level="many", segment="11")
    assert found.app.query_params == {"segment": "11"}


def test_half_a_period_is_not_yet_a_choice(database: Database, open_page: OpenPage) -> None:
    """After the first of two clicks into the calendar nothing changes."""
    found = open_page(database("analysed"))
    first = found.app.date_input[0].value[0]
    found.app.date_input[0].set_value((first,)).run()
    assert found.errors == []
    assert found.app.query_params == {}


def test_two_setups_are_never_on_one_line(tmp_path: Path, open_page: OpenPage) -> None:
    """The newest setup by default; the older one by choice."""
    path = builders.one_day(tmp_path / "a.db", scores=(2, 2, 3))
    with World(path=path, ruler=builders.ruler(model="judge-small"), keys=[("topic", "")]) as world:
        ids = world.add_answers([builders.answer(n + 50, plus_days(LAST_DAY, 1)) for n in range(3)])
        world.run(plus_days(LAST_DAY, 2), answers=dict.fromkeys(ids, 5.0))
    newest, older = open_page(path), open_page(path, setup="1")
    assert "judge setup v2 (judge-small)" in newest.words
    assert [y for y in newest.trace("raw score")["y"] if y is not None] == [5.0]
    assert [y for y in older.trace("raw score")["y"] if y is not None] == [pytest.approx(7 / 3)]


# ---------------------------------------------------------------- segments


def test_segments_are_summed_up_in_words(database: Database, open_page: OpenPage) -> None:
    """How many, which, after how many looks."""
    found = open_page(database("analysed"), "segments")
    assert found.errors == []
    line = "Of 14 segments, 1 is below the rest after correcting for 14 looks: billing · de."
    assert any(heading.startswith(line) for heading in found.headings)


def test_crossed_keys_are_chosen_like_single_ones(database: Database, open_page: OpenPage) -> None:
    """Eight rows for topic × language, the lowest on top, the marked one in the one accent."""
    found = open_page(database("analysed"), "segments").pick("Break down by", ("topic", "language"))
    ticks = found.figure()["layout"]["yaxis"]["ticktext"]
    assert len(ticks) == 8
    assert ticks[0] == "billing · de"
    assert found.trace("needs a look")["y"] == [0]


def test_segment_opens_by_link_with_trend_levels_and_answers(
    database: Database, open_page: OpenPage, stored: Findings
) -> None:
    """Trend beside everything, the levels, and the way to the answers."""
    billing = next(s for s in stored["segments"] if (s["value"], s["value2"]) == ("billing", "de"))
    found = open_page(database("analysed"), "segments", segment=str(billing["segment_id"]))
    assert found.errors == []
    assert len(found.figures) == 3
    assert found.trace("billing · de")["y"]
    assert found.trace("everything")["y"]
    label, target, query = found.links[0]
    assert (label, target.endswith("answers")) == ("Read these answers, lowest first", True)
    assert dict(parse_qsl(query)) == {"segment": str(billing["segment_id"]), "order": "lowest"}


def test_segment_is_chosen_from_the_list_by_keyboard(database: Database, open_page: OpenPage, stored: Findings) -> None:
    """What a click in the chart does, without a mouse; another key closes the segment."""
    returns = next(s["segment_id"] for s in stored["segments"] if (s["value"], s["key2"]) == ("returns", ""))
    found = open_page(database("analysed"), "segments").pick("Segment", returns)
    assert found.app.query_params == {"segment": str(returns)}
    assert found.trace("returns")["y"]
    found.pick("Break down by", ("language", ""))
    assert found.app.query_params == {}
    assert len(found.figures) == 1


def test_table_has_the_numbers_of_the_chart(database: Database, open_page: OpenPage) -> None:
    """One order, one set of numbers."""
    found = open_page(database("analysed"), "segments")
    table = found.app.dataframe[0].value
    points = sorted(zip(found.trace("segment")["y"], found.trace("segment")["x"], strict=True))
    assert [x for _, x in points] == pytest.approx(list(table["mean"]))


def test_segments_before_an_analysis_are_raw_means(database: Database, open_page: OpenPage) -> None:
    """Nothing is claimed about who is below the rest."""
    found = open_page(database("sixty_days"), "segments")
    assert found.errors == []
    assert any(text.startswith("Raw scores by topic: 3.65 (billing, n 669) to ") for text in found.headings)
    assert list(found.app.dataframe[0].value.columns) == ["segment", "n", "not scored", "mean", "low", "high"]


def test_app_without_tags_says_how_to_get_segments(tmp_path: Path, open_page: OpenPage) -> None:
    """No tag, no breakdown: what to do about it."""
    path = builders.timed(tmp_path / "a.db", [("2026-06-27T23:30:00Z", 3.0)])
    found = open_page(path, "segments")
    assert "No segments yet" in found.words
    assert "judgewatch import" in found.words


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("params", "summary"),
    [
        ({}, "2,772 answers · 1 Oct – 30 Nov 2026"),
        ({"day": "2026-11-28"}, "48 answers · 28 Nov 2026"),
        ({"level": "1", "day": "2026-11-28"}, " · score 1 · 28 Nov 2026"),
        ({"reason": "any", "day": "2026-11-03"}, " · not scored · 3 Nov 2026"),
        ({"reason": "refusal"}, " · refusal · 1 Oct – 30 Nov 2026"),
        ({"text": "Case 7."}, "58 answers · with “Case 7.” · 1 Oct – 30 Nov 2026"),
        ({"source": "anchor", "day": "2026-11-28"}, "20 anchor verdicts · 28 Nov 2026"),
    ],
)
def test_filter_is_said_in_one_line(
    params: dict[str, str], summary: str, database: Database, open_page: OpenPage
) -> None:
    """How many answers, which filter, which days."""
    found = open_page(database("analysed"), "answers", **params)
    assert found.errors == []
    assert any(text.endswith(summary) for text in found.plain)


def test_unscored_answers_show_their_reason(database: Database, open_page: OpenPage) -> None:
    """A missing score is a dash with a reason, never 0."""
    table = open_page(database("analysed"), "answers", reason="timeout").app.dataframe[0].value
    assert set(table["judge's reason"]) == {"not scored: timeout"}
    assert table["score"].isna().all()


def test_order_is_a_choice(database: Database, open_page: OpenPage) -> None:
    """Lowest first: the worst answers on top, those without a score at the end."""
    table = open_page(database("analysed"), "answers", order="lowest").app.dataframe[0].value
    assert list(table["score"]) == sorted(table["score"])


def test_choosing_a_filter_starts_the_list_anew(database: Database, open_page: OpenPage) -> None:
    """Page 3 of another filter means nothing."""
    found = open_page(database("analysed"), "answers", page="3").pick("Score", 5.0)
    assert found.app.query_params == {"level": "5"}


def test_pages_turn(database: Database, open_page: OpenPage) -> None:
    """Fifty at a time."""
    found = open_page(database("analysed"), "answers").press("Next page")
    assert found.app.query_params == {"page": "2"}
    assert "page 2 of 56" in found.plain


@pytest.fixture
def answer(database: Database, open_page: OpenPage) -> Page:
    """One answer of 28 November."""
    return open_page(database("analysed"), "answers", item="2026-11-28-4", day="2026-11-28")


def test_answer_shows_question_answer_and_verdict(answer: Page) -> None:
    """Plain text in two columns, every verdict with score, setup, model, reason, raw reply."""
    assert answer.errors == []
    assert "Question 4 about billing: what do I have to do?" in answer.plain
    assert "Open your account, choose billing, and follow the steps there. Case 4." in answer.plain
    assert any(heading in answer.headings for heading in ("3 of 5", "4 of 5", "5 of 5"))
    assert any("judge setup v1 · judge-large-2026-10-11" in heading for heading in answer.headings)
    assert any('"score":' in command for command in answer.commands)
    assert "1 verdict, 1 call to the judge" in answer.headings
    assert any("610 + 74 tokens" in heading for heading in answer.headings)


def test_answer_has_ids_to_copy(answer: Page) -> None:
    """Ours and the one of the user's own system."""
    assert "2026-11-28-4" in answer.commands
    assert any(len(command) == 32 for command in answer.commands)


def test_answer_leads_to_its_neighbours_and_back(answer: Page) -> None:
    """Next and previous stay within the filter."""
    first = answer.app.query_params["item"]
    answer.press("Next")
    second = answer.app.query_params["item"]
    assert second != first
    assert answer.app.query_params["day"] == "2026-11-28"
    answer.press("Previous").press("Back to the list")
    assert answer.app.query_params == {"day": "2026-11-28"}
    assert "48 answers · 28 Nov 2026" in answer.plain


def rows(*names: str) -> list[dict[str, str]]:
    """Rows of a list by their ids."""
    return [{"item_id": name} for name in names]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("a", (("z", 1), ("b", 2))),
        ("b", (("a", 2), ("c", 2))),
        ("c", (("b", 2), ("d", 3))),
        ("elsewhere", (None, None)),
    ],
)
def test_neighbours_lie_over_the_edge_of_a_page_too(item: str, expected: tuple[object, object]) -> None:
    """The last answer of a page leads to the first of the next."""
    listed = AnswerList(
        rows=rows("a", "b", "c"), total=9, page=2, n_pages=3, before={"item_id": "z"}, after={"item_id": "d"}
    )
    assert neighbours(item, listed) == expected


def test_anchor_shows_what_a_person_said_and_all_its_verdicts(database: Database, open_page: OpenPage) -> None:
    """Expected score and why; all scores as a strip, three verdicts first, all on request."""
    opened = open_page(database("analysed"), "answers", item=anchor_id(database("analysed")), source="anchor")
    assert opened.errors == []
    assert any(heading.startswith("Anchor gen-") for heading in opened.headings)
    assert any("A person gave it" in text for text in opened.plain)
    n_before = sum("judge setup v1 · judge-large" in heading for heading in opened.headings)
    next(toggle for toggle in opened.app.toggle).set_value(True).run()
    assert n_before == 3
    assert len(opened.trace("score, setup v1")["x"]) == 59
    assert sum("judge setup v1 · judge-large" in heading for heading in opened.headings) == 59


def anchor_id(path: Path) -> str:
    """Item id of the first anchor, which even the failed run graded."""
    with builders.open_store(path, create=False) as store:
        return str(store.connection.execute("SELECT item_id FROM anchors ORDER BY position LIMIT 1").fetchone()[0])


def test_unscored_answer_says_why(tmp_path: Path, open_page: OpenPage) -> None:
    """The reason in words and the calls that were made."""
    path = tmp_path / "a.db"
    with World(path=path, keys=[]) as world:
        ids = world.add_answers([builders.answer(0, LAST_DAY, reference="The reference.", contexts=("One context.",))])
        world.run(plus_days(LAST_DAY, 1), answers={ids[0]: UnscoredReason.CONTENT_FILTER})
    found = open_page(path, "answers", item=ids[0])
    assert any(text.startswith("No score: content filter.") for text in found.plain)
    assert "not scored" in found.headings
    assert {"The reference.", "One context."} <= set(found.plain)


def test_unknown_answer_offers_the_way_back(database: Database, open_page: OpenPage) -> None:
    """A link to an answer that was deleted."""
    found = open_page(database("analysed"), "answers", item="gone")
    assert "There is no such answer" in found.words
    assert found.press("Back to the list").app.query_params == {}


# ---------------------------------------------------------------- runs


def test_runs_show_what_stopped_the_last_one_and_the_next_step(database: Database, open_page: OpenPage) -> None:
    """The newest trouble stands open, what was overcome is folded away."""
    found = open_page(database("analysed"), "runs")
    assert found.errors == []
    assert "The run of 30 Nov 2026, 06:00 stopped before its end" in found.headings
    assert any("raise usd_per_day" in text for text in found.plain)
    assert any(text.startswith("57 of 59 runs finished, 1 failed, 1 stopped early; ") for text in found.headings)
    assert "Earlier runs that failed or stopped (1)" in [box.label for box in found.app.expander]
    assert any("22 Oct 2026, 06:00, failed: the judge refused the key (401)" in text for text in found.plain)


def test_run_table_counts_add_up(database: Database, open_page: OpenPage) -> None:
    """Planned = scored + not scored + not started, in every row."""
    table = open_page(database("analysed"), "runs").app.dataframe[0].value
    assert len(table) == 59
    assert (table["planned"] == table["scored"] + table["not scored"] + table["not started"]).all()
    assert table["time"].iloc[0] == "30 Nov 2026, 06:00"
    assert set(table["kind"]) == {"scheduled run"}


def test_run_under_way_says_how_far_it_is(tmp_path: Path, open_page: OpenPage) -> None:
    """A long run is not a dead one."""
    path = builders.one_day(tmp_path / "a.db")
    with World(path=path, keys=[("topic", "")]) as world:
        ids = world.add_answers([builders.answer(n, plus_days(LAST_DAY, 1)) for n in range(4)])
        day = plus_days(LAST_DAY, 2)
        world.run(day, answers={ids[0]: 4.0}, untried=ids[1:], status="running")
    found = open_page(path, "runs")
    assert found.errors == []
    assert "A run is under way: 1 of 4 graded so far." in found.plain


# ---------------------------------------------------------------- what needs a look


def looked_at(stored: Findings) -> Findings:
    """An analysis that names two segments and one thing that is no segment."""
    ids = {(s["value"], s["value2"]): s["segment_id"] for s in stored["segments"]}
    sentences = ["billing: 3.7, low.", "billing · de: 2.9, low.", "The judge is noisy."]
    return {**stored, "needs_a_look": sentences, "look_segments": [ids["billing", ""], ids["billing", "de"], None]}


def test_look_is_led_to_the_segment_it_is_about(stored: Findings) -> None:
    """ "billing" and "billing · de" are two segments; a sentence about neither stays whole and has no link."""
    found = looks(looked_at(stored), [], View(app="a"))
    ids = {(s["value"], s["value2"]): s["segment_id"] for s in stored["segments"]}
    assert found[2].text == "The judge is noisy."
    assert [look.view.segment for look in found] == [ids["billing", ""], ids["billing", "de"], None]
    assert [look.page for look in found] == ["segments", "segments", ""]
    assert all(look.view.app == "a" for look in found)


def test_look_says_segment_size_since_and_n_in_short(stored: Findings) -> None:
    """At night on a phone: one line each; a segment that fell and one that is below the rest."""
    found = {look.text.partition(":")[0]: look.text for look in looks(looked_at(stored), [], View())}
    by_name = {(s["value"], s["value2"]): s for s in stored["segments"]}
    fell, low = by_name["billing", "de"], by_name["billing", ""]
    assert found["billing · de"] == (
        f"billing · de: worse since {day_text(fell['since_day'] or '')}, {change(fell['estimate'])}"
        f" {bounds(fell['low'], fell['high'])}, n {fell['n_after']}."
    )
    assert found["billing (topic)"] == (
        f"billing (topic): below the rest in the last 14 days, {change(low['against_rest'])}"
        f" {bounds(low['against_rest_low'], low['against_rest_high'])}, n {low['n']}."
    )


def test_table_has_the_minus_of_the_sentences_and_sorts_as_numbers(database: Database, open_page: OpenPage) -> None:
    """The note says −0.62, so the column beside it says no hyphen."""
    table = open_page(database("analysed"), "segments").app.dataframe[0]
    shown = pa.ipc.open_stream(table.proto.arrow_data.styler.display_values).read_pandas()
    falls = [text for text in shown["change"] if not text.startswith(("+", "0"))]
    assert falls
    assert all(text.startswith("−") for text in falls)
    assert not any("-" in text for column in ("mean", "change", "change, low") for text in shown[column])
    assert table.value["change"].dtype == "float64"


def test_whole_sentence_of_a_segment_stands_on_its_page(
    stored: Findings, database: Database, open_page: OpenPage
) -> None:
    """Where the short one leads."""
    segment_id = stored["look_segments"][0]
    assert stored["needs_a_look"][0] in open_page(database("analysed"), "segments", segment=str(segment_id)).plain
    assert look_sentence(looked_at(stored), 4711) is None


def test_finished_run_needs_no_look() -> None:
    """Only what failed or stopped does."""
    assert looks(None, [{"status": "finished", "slot_day": LAST_DAY}], View()) == []
    failed = looks(None, [{"status": "failed", "slot_day": LAST_DAY}], View())
    assert [(look.text, look.page) for look in failed] == [("The last run (29 Nov) failed.", "runs")]


def test_empty_list_says_no_more_than_is_known() -> None:
    """After a finding there is nothing else; while nothing is known there is nothing so far."""
    tones: list[Any] = [{"tone": tone} for tone in ("look", "quiet", "unknown")]
    said = [nothing_to_look_at(found) for found in (*tones, None)]
    assert said == ["Nothing else stands out.", "Nothing stands out.", "Nothing stands out so far.", "Nothing yet."]
