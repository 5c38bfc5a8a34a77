"""Charts by their traces: what is drawn where, gaps, intervals, marks, literal text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.charts import base
from dashboard.charts.anchors import anchor_title, plot_anchors
from dashboard.charts.levels import plot_levels
from dashboard.charts.runs import plot_runs
from dashboard.charts.segments import SegmentRow, plot_segments
from dashboard.charts.shares import plot_shares
from dashboard.charts.traffic import CORRECTED_NAME, RAW_NAME, plot_segment, plot_traffic, traffic_title
from dashboard.charts.verdicts import plot_verdicts
from tests.dashboard import frames
from tests.dashboard.frames import spec, trace

SCALE = (1.0, 5.0)


def draw(days: pd.DataFrame, **options: Any) -> base.Chart:
    """A traffic chart with a title."""
    return plot_traffic(days, scale=SCALE, title="Scores", **options)


# ---------------------------------------------------------------- shared


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>vip</b>", "&lt;b&gt;vip&lt;/b&gt;"),
        ("a<br>b", "a&lt;br&gt;b"),
        ("$help$", "&#36;help&#36;"),
        ("&lt;", "&amp;lt;"),
        ("a\nb", "a b"),
        (3, "3"),
    ],
)
def test_literal_leaves_nothing_for_plotly_to_read(text: object, shown: str) -> None:
    """Tags, entities and dollar signs come out as characters."""
    assert base.literal(text) == shown


def test_literal_cuts_before_it_escapes() -> None:
    """Half an entity would show as garbage."""
    assert base.literal("<" * 100, 5) == "&lt;" * 4 + "…"


def test_numbers_have_no_nan_and_no_infinity() -> None:
    """What is missing is a gap."""
    assert base.numbers([1, None, float("nan"), np.inf, np.nan, "2.5"]) == [
        1.0, None, None, None, None, 2.5,
    ]  # fmt: skip


def test_every_day_counts_both_ends_over_a_change_of_clocks() -> None:
    """Days are labels: the night on which clocks change has no hour too few."""
    assert base.every_day("2026-10-24", "2026-10-26") == ["2026-10-24", "2026-10-25", "2026-10-26"]


@pytest.mark.parametrize(
    ("present", "expected"),
    [([], []), ([True], [(0, 0)]), ([True, True, False, True], [(0, 1), (3, 3)]), ([False, False], [])],
)
def test_stretches_of_neighbours(present: list[bool], expected: list[tuple[int, int]]) -> None:
    """A gap ends a stretch."""
    assert base.stretches(present) == expected


@pytest.mark.parametrize("values", [[], [3.0], [1.0, 5.0], [4.9, 5.0], [1.0], [None, 3.9, 4.1]])
def test_score_range_holds_the_values_and_stays_near_the_scale(values: list[float | None]) -> None:
    """No axis runs far off the scale, none is so narrow that noise looks like a fall."""
    low, high = base.score_range(SCALE, values)
    present = [value for value in values if value is not None]
    assert all(low <= value <= high for value in present)
    assert low >= 0.88 - 1e-9
    assert high <= 5.12 + 1e-9
    assert high - low >= 0.3 * 4 * 0.89


def test_colours_belong_to_things_and_differ() -> None:
    """Judge, raw and corrected are never mixed up."""
    assert len({base.JUDGE, base.RAW, base.CORRECTED, base.LOOK, base.MIX}) == 5


# ---------------------------------------------------------------- traffic


def test_day_without_scores_keeps_its_place_and_has_no_point() -> None:
    """The axis is the calendar; a gap is null, not a line drawn through."""
    chart = draw(frames.traffic([4.0, None, 4.2]))
    raw = trace(chart.figure, "raw score")
    assert raw["x"] == ["2026-11-01", "2026-11-02", "2026-11-03"]
    assert raw["y"] == [4.0, None, 4.2]
    assert raw["connectgaps"] is False
    assert "gap: no graded answers (1 day)" in chart.caption


def test_x_are_date_strings() -> None:
    """An instant would be drawn in the reader's zone, on the day before or after."""
    raw = trace(draw(frames.traffic([4.0, 4.1])).figure, "raw score")
    assert all(isinstance(day, str) and len(day) == 10 for day in raw["x"])


def test_band_follows_the_interval_and_breaks_at_a_gap() -> None:
    """The band is a polygon a stretch; a lonely day has a whisker instead of an area."""
    data = spec(draw(frames.traffic([4.0, 4.2, None, 4.1])).figure)["data"]
    area, whisker = (found for found in data if found["name"] == "raw score, interval")
    assert area["x"] == ["2026-11-01", "2026-11-02", "2026-11-02", "2026-11-01"]
    assert area["y"] == pytest.approx([3.8, 4.0, 4.4, 4.2])
    assert area["fill"] == "toself"
    assert whisker["x"] == ["2026-11-04", "2026-11-04"]
    assert whisker["y"] == pytest.approx([3.9, 4.3])


def test_day_with_one_score_has_a_point_and_no_band() -> None:
    """One score has no spread to speak of."""
    days = frames.traffic([4.0], n=1, changes={0: {"low": np.nan, "high": np.nan}})
    data = spec(draw(days).figure)["data"]
    assert [found["name"] for found in data] == ["raw score"]
    assert data[0]["y"] == [4.0]


def test_corrected_line_has_a_band_of_its_own() -> None:
    """Two lines, two bands, each in its colour."""
    figure = draw(frames.traffic([4.3, 4.4], corrected=[4.0, 4.1])).figure
    assert trace(figure, CORRECTED_NAME)["y"] == [4.0, 4.1]
    band = trace(figure, f"{CORRECTED_NAME}, interval")
    assert band["y"] == pytest.approx([3.7, 3.8, 4.4, 4.3])
    assert trace(figure, CORRECTED_NAME)["line"]["color"] == base.CORRECTED


def test_corrected_band_never_hides_the_raw_line() -> None:
    """Bands first and faint, then the corrected line, the raw one last and thinner; the legend keeps raw first."""
    figure = draw(frames.traffic([4.3, 4.4], corrected=[4.3, 4.4])).figure
    names = [found["name"] for found in spec(figure)["data"]]
    assert names == [f"{RAW_NAME}, interval", f"{CORRECTED_NAME}, interval", CORRECTED_NAME, RAW_NAME]
    raw, fixed = trace(figure, RAW_NAME), trace(figure, CORRECTED_NAME)
    assert raw["line"]["width"] < fixed["line"]["width"]
    assert raw["legendrank"] < fixed["legendrank"]
    assert float(trace(figure, names[1])["fillcolor"].rpartition(",")[2].rstrip(")")) < 0.2


def test_legend_is_one_line_on_a_phone() -> None:
    """Two short names; events and thin days are named elsewhere."""
    thin = {"n": 3, "n_unscored": 9, "mean": np.nan, "low": np.nan, "high": np.nan, "enough": False}
    days = frames.traffic([4.0, None, 4.1], corrected=[4.0, None, 4.1], changes={1: thin})
    chart = draw(days, events=[{"day": "2026-11-02", "kind": "deploy", "text": "v2"}])
    traces = spec(chart.figure)["data"]
    assert {"event", "too few scores for a mean"} < {found["name"] for found in traces}
    named = [found["name"] for found in traces if found.get("showlegend", True)]
    assert sum(map(len, named)) <= 26
    assert "cross: too few scores" in chart.caption
    assert "corrected: as the baseline judge would have scored" in chart.caption


def test_no_corrected_line_before_there_is_one() -> None:
    """While the judge is learnt there is the raw line alone."""
    names = [found["name"] for found in spec(draw(frames.traffic([4.3, 4.4])).figure)["data"]]
    assert CORRECTED_NAME not in names


def test_hover_tells_day_mean_interval_and_n() -> None:
    """Every number shown has n, an interval and a date."""
    raw = trace(draw(frames.traffic([4.0], changes={0: {"n_unscored": 3}})).figure, "raw score")
    assert raw["hovertext"] == ["1 Nov 2026<br>raw score 4.00 [3.80, 4.20]<br>n 40, 3 not scored"]


def test_unfinished_day_is_hollow_and_said() -> None:
    """A day that is still being graded must not look like a fall."""
    chart = draw(frames.traffic([4.0, 3.5], changes={1: {"finished": False}}))
    raw = trace(chart.figure, "raw score")
    assert raw["marker"]["symbol"] == ["circle", "circle-open"]
    assert "(unfinished)" in raw["hovertext"][1]
    assert "hollow: day not finished" in chart.caption


def test_day_with_too_few_scores_is_a_cross_with_its_reasons() -> None:
    """Fewer than half of the graded answers scored: no mean, and the reasons are said."""
    thin = {"n": 10, "n_unscored": 30, "mean": np.nan, "low": np.nan, "high": np.nan, "enough": False}
    days = frames.traffic([4.0, None, 4.1], changes={1: thin | {"reasons": "28 timeout, 2 refusal"}})
    figure = draw(days).figure
    cross = trace(figure, "too few scores for a mean")
    assert cross["x"] == ["2026-11-02"]
    assert cross["hovertext"] == ["2 Nov 2026<br>10 of 40 graded answers have a score<br>28 timeout, 2 refusal"]
    assert trace(figure, "raw score")["y"][1] is None


def test_change_date_is_a_line_with_its_interval_shaded() -> None:
    """When it changed, and how sure that is."""
    change = {"since_day": "2026-11-03", "since_first_day": "2026-11-02", "since_last_day": "2026-11-04"}
    shapes = spec(draw(frames.traffic([4.0] * 6), change=change).figure)["layout"]["shapes"]
    area, line = shapes
    assert (area["type"], area["x0"], area["x1"]) == ("rect", "2026-11-02", "2026-11-04")
    assert (line["type"], line["x0"], line["x1"]) == ("line", "2026-11-03", "2026-11-03")


def test_change_outside_the_period_is_not_drawn() -> None:
    """A mark outside would stretch the axis."""
    change = {"since_day": "2026-01-03", "since_first_day": "2026-01-02", "since_last_day": "2026-01-04"}
    assert "shapes" not in spec(draw(frames.traffic([4.0] * 3), change=change).figure)["layout"]


def test_events_of_one_day_share_a_mark_and_their_text_is_literal() -> None:
    """A text that was logged may hold tags; they are shown, not read."""
    events = [
        {"day": "2026-11-02", "kind": "deploy", "text": "<b>v2</b> $now$"},
        {"day": "2026-11-02", "kind": "note", "text": "again"},
        {"day": "2026-12-24", "kind": "note", "text": "later"},
    ]
    marks = trace(draw(frames.traffic([4.0] * 3), events=events).figure, "event")
    assert marks["x"] == ["2026-11-02"]
    assert marks["hovertext"] == [
        "2 Nov 2026<br>deploy: &lt;b&gt;v2&lt;/b&gt; &#36;now&#36;<br>note: again",
    ]


def test_axis_has_the_rubrics_units() -> None:
    """Scale 0 to 1 or 1 to 5: the axis says which, and lies on it."""
    days = frames.traffic([0.7, 0.8], changes={0: {"low": 0.6, "high": 0.8}, 1: {"low": 0.7, "high": 0.9}})
    layout = spec(plot_traffic(days, scale=(0.0, 1.0), title="Scores").figure)["layout"]
    assert layout["yaxis"]["title"]["text"] == "mean score, 0 to 1"
    assert 0 <= layout["yaxis"]["range"][0] < layout["yaxis"]["range"][1] <= 1.03


def test_alt_text_tells_first_and_last_mean() -> None:
    """What a reader of the page without eyes gets."""
    assert "4.00 on 1 Nov 2026" in draw(frames.traffic([4.0, 4.2])).alt
    assert "No day" in draw(frames.traffic([None])).alt


RISING, FALLING, EITHER = (0.05, 0.30), (-0.30, -0.05), (-0.10, 0.10)


@pytest.mark.parametrize(
    ("raw", "assistant", "expected"),
    [
        (0.4, EITHER, "Raw scores rose, corrected scores did not"),
        (-0.4, EITHER, "Raw scores fell, corrected scores did not"),
        (0.0, EITHER, "The judge moved; raw scores stood still, and so did corrected ones"),
        (0.1, FALLING, "Raw scores rose, corrected scores fell"),
        (0.0, FALLING, "Raw scores stood still, corrected scores fell"),
        (0.5, RISING, "Raw and corrected scores both rose, by different amounts"),
    ],
)
def test_title_says_what_both_lines_did(raw: float, assistant: tuple[float, float], expected: str) -> None:
    """The judge moved: a corrected line that could have stood still is not called a fall."""
    middle = sum(assistant) / 2
    found = frames.shares(raw=raw, assistant=middle, assistant_low=assistant[0], assistant_high=assistant[1])
    findings: Any = {"judge": {"state": "changed"}, "assistant": {"state": "cannot_tell"}, "shares": found}
    assert traffic_title(findings) == expected


@pytest.mark.parametrize(
    ("judge_state", "assistant_state", "expected"),
    [
        ("changed", "changed", "The answers got worse, the judge moved too"),
        ("steady", "changed", "The answers got worse, the judge did not move"),
        ("steady", "steady", "Raw and corrected scores tell the same: no change shown"),
        ("changed", "steady", "The judge moved; the corrected line takes that out"),
        ("learning", "learning", "Raw scores so far; the corrected line starts once the judge's baseline is known"),
    ],
)
def test_title_states_the_finding(judge_state: str, assistant_state: str, expected: str) -> None:
    """The title is the sentence a reader would say, not the name of the chart."""
    assistant = {"state": assistant_state, "direction": "worse"}
    findings: Any = {"judge": {"state": judge_state}, "assistant": assistant, "shares": None}
    assert traffic_title(findings) == expected


# ---------------------------------------------------------------- one segment


def test_segment_is_drawn_beside_everything() -> None:
    """The same days, the rest as a dotted line without a band."""
    chart = plot_segment(
        frames.traffic([3.0, 3.1]), frames.traffic([4.0, 4.1]), name="billing", own=3.05, rest=4.05, scale=SCALE
    )
    assert trace(chart.figure, "everything")["y"] == [4.0, 4.1]
    assert trace(chart.figure, "billing")["y"] == [3.0, 3.1]
    assert chart.title == "billing: 3.05 over these days, everything together 4.05"


def test_segment_name_is_literal_in_legend_and_hover() -> None:
    """Case X01: the legend shows the tags."""
    days = frames.traffic([3.0, 3.1])
    chart = plot_segment(days, days, name="<b>vip</b> $x$", own=None, rest=None, scale=SCALE)
    shown = "&lt;b&gt;vip&lt;/b&gt; &#36;x&#36;"
    assert shown in trace(chart.figure, shown)["hovertext"][0]
    assert "<b>" not in chart.figure.to_json()
    assert chart.title == "<b>vip</b> $x$: too few scores in this period"


# ---------------------------------------------------------------- anchors


def test_runs_are_drawn_with_their_intervals_against_the_baseline() -> None:
    """A point a run, counted and not counted apart."""
    runs = [
        frames.anchor_run(0, 0.0),
        frames.anchor_run(1, 0.05),
        frames.anchor_run(2, 0.1, counted=False, n=6),
        frames.anchor_run(3, 0.3),
    ]
    chart = plot_anchors(frames.judge(runs), first_day="2026-11-01", last_day="2026-11-05", smallest_change=0.15)
    counted, left_out = trace(chart.figure, "run, all its anchors"), trace(chart.figure, "run that does not count")
    assert counted["x"] == ["2026-11-01", "2026-11-02", "2026-11-04"]
    assert counted["y"] == [0.0, 0.05, 0.3]
    assert counted["error_y"]["array"] == pytest.approx([0.1, 0.1, 0.1])
    assert left_out["marker"]["symbol"] == "circle-open"
    assert "n 6 of 20 anchors" in left_out["hovertext"][0]
    assert "not counted" in chart.caption


def test_baseline_and_band_of_no_matter_are_marked() -> None:
    """What the runs are compared with, and how small a change does not matter."""
    runs = [frames.anchor_run(place, 0.0) for place in range(4)]
    chart = plot_anchors(frames.judge(runs), first_day="2026-11-01", last_day="2026-11-05", smallest_change=0.15)
    layout = spec(chart.figure)["layout"]
    assert [note["text"] for note in layout["annotations"]] == ["baseline"]
    bands = [(s["y0"], s["y1"]) for s in layout["shapes"] if s["type"] == "rect" and s.get("yref") == "y"]
    assert bands == [(-0.15, 0.15)]
    low, high = layout["yaxis"]["range"]
    assert low == -high


@pytest.mark.parametrize(
    ("last_day", "side", "day"), [("2026-11-05", "left", "2026-11-01"), ("2026-11-02", "right", "2026-11-02")]
)
def test_name_of_the_baseline_stays_on_the_axis(last_day: str, side: str, day: str) -> None:
    """A baseline that begins near the right edge has its name to the left: on a phone it would be cut."""
    runs = [frames.anchor_run(place, 0.0) for place in range(2)]
    first_day = "2026-11-01" if side == "left" else "2026-10-18"
    chart = plot_anchors(frames.judge(runs), first_day=first_day, last_day=last_day, smallest_change=0.15)
    (note,) = spec(chart.figure)["layout"]["annotations"]
    assert (note["xanchor"], note["x"]) == (side, day)


def test_run_without_an_interval_has_a_point() -> None:
    """Early runs have no interval yet."""
    runs = [frames.anchor_run(0, 0.1, low=None, high=None)]
    chart = plot_anchors(frames.judge(runs), first_day="2026-11-01", last_day="2026-11-02", smallest_change=0.1)
    assert trace(chart.figure, "run, all its anchors")["error_y"]["array"] == [None]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "For the same answers the judge gives +0.31 since 4 Nov"),
        ({"state": "steady"}, "For the same answers the judge gives the same scores"),
        (
            {"state": "learning", "n_runs_counted": 6, "learning_runs_left": 4},
            "Learning how this judge scores: run 6 of 10",
        ),
        ({"state": "no_change_shown"}, "No change of the judge shown, though a small one could hide"),
        ({"state": "cannot_tell"}, "Too few runs to tell whether the judge moved"),
        ({"state": "no_data"}, "No anchors graded yet"),
    ],
)
def test_anchor_title_never_mixes_up_the_states(changes: dict[str, Any], expected: str) -> None:
    """Steady, no change shown, cannot tell: three different things."""
    assert anchor_title(frames.judge([], **changes)) == expected


# ---------------------------------------------------------------- shares


def test_shares_are_bars_in_the_colours_of_their_things() -> None:
    """Judge, assistant, mix, from the top; what could be zero says so."""
    chart = plot_shares(frames.shares())
    bars = spec(chart.figure)["data"][0]
    layout = spec(chart.figure)["layout"]
    assert chart.title == "Where the +0.40 comes from"
    assert bars["x"] == [0.31, 0.07, 0.02]
    assert bars["marker"]["color"][0] == base.JUDGE
    assert layout["yaxis"]["ticktext"] == [
        "judge +0.31",
        "assistant +0.07<br>could be zero",
        "mix of questions +0.02<br>could be zero",
    ]
    assert layout["yaxis"]["autorange"] == "reversed"


def test_intervals_of_shares_are_seen_on_every_bar_and_ground() -> None:
    """A dark line in a light casing, both over the bars; a share without an interval has none."""
    figure = plot_shares(frames.shares()).figure
    assert [found.get("name") for found in spec(figure)["data"]] == [None, "casing", "interval"]
    casing, line = trace(figure, "casing"), trace(figure, "interval")
    assert casing["x"] == line["x"] == [0.22, 0.40, None, -0.04, 0.18, None]
    assert line["y"] == [0, 0, None, 1, 1, None]
    assert casing["line"]["width"] >= line["line"]["width"] + 2
    assert (casing["line"]["color"], line["line"]["color"]) == ("#ffffff", "#1f2328")


def test_printed_shares_add_up_to_the_printed_change() -> None:
    """At the digits that are printed."""
    found = frames.shares()
    assert round(found["judge"] + found["assistant"] + found["mix"], 2) == found["raw"]
    assert "+0.31" in plot_shares(found).alt


# ---------------------------------------------------------------- segments


ROWS = [
    SegmentRow(segment_id=7, name="<b>vip</b>", n=12, mean=3.1, low=2.8, high=3.4, note="below the rest"),
    SegmentRow(segment_id=8, name="$help$", n=40, mean=4.0, low=3.9, high=4.1),
    SegmentRow(segment_id=9, name="one", n=1, mean=5.0, low=None, high=None),
    SegmentRow(segment_id=10, name="none", n=0, mean=None, low=None, high=None),
]


def forest(rows: list[SegmentRow] | None = None) -> base.Chart:
    """The rows above as a forest plot."""
    return plot_segments(
        ROWS if rows is None else rows, overall=(3.9, 3.8, 4.0), scale=SCALE, title="Of 4 segments", caption="c"
    )


def test_segments_carry_their_id_and_interval() -> None:
    """A click leads to the segment by its id, never by its name."""
    marked, others = trace(forest().figure, "needs a look"), trace(forest().figure, "segment")
    assert marked["customdata"] == [7]
    assert marked["y"] == [0]
    assert marked["error_x"]["array"] == [pytest.approx(0.3)]
    assert marked["marker"]["color"] == base.LOOK
    assert others["customdata"] == [8, 9]
    assert others["error_x"]["array"] == pytest.approx([0.1, 0.0])


def test_segment_names_are_literal_on_the_axis_and_in_the_hover() -> None:
    """Case X01 for the forest plot; n is at the right, and a row without a score says so."""
    layout = spec(forest().figure)["layout"]
    assert layout["yaxis"]["ticktext"] == ["&lt;b&gt;vip&lt;/b&gt;", "&#36;help&#36;", "one", "none"]
    assert [note["text"] for note in layout["annotations"]] == ["n 12", "n 40", "n 1", "no score"]
    assert "below the rest" in trace(forest().figure, "needs a look")["hovertext"][0]
    assert "<b>" not in forest().figure.to_json()


def test_grey_band_is_everything_together() -> None:
    """The band lies under the points."""
    band = next(shape for shape in spec(forest().figure)["layout"]["shapes"] if shape["type"] == "rect")
    assert (band["x0"], band["x1"], band["layer"]) == (3.8, 4.0, "below")


def test_forest_without_any_score_is_drawn() -> None:
    """All unscored: rows without points, and the text for screen readers says so."""
    chart = forest([ROWS[3]])
    assert spec(chart.figure)["data"] == []
    assert "No segment has a score" in chart.alt


# ---------------------------------------------------------------- levels and runs


def test_levels_are_shares_with_their_counts() -> None:
    """The distribution says what a mean hides."""
    levels = pd.DataFrame({"level": [1.0, 5.0], "label": ["1 bad", "5 $good$"], "n": [10, 30], "share": [0.25, 0.75]})
    chart = plot_levels(levels, name="billing")
    bars = spec(chart.figure)["data"][0]
    assert chart.title == "billing: 75% of the scores are 5"
    assert bars["y"] == [0.25, 0.75]
    assert bars["x"] == ["1 bad", "5 &#36;good&#36;"]
    assert "30 scores, 75% of 40" in bars["hovertext"][1]


def test_levels_without_scores_are_said() -> None:
    """An empty distribution has no commonest level."""
    levels = pd.DataFrame({"level": [1.0], "label": ["1"], "n": [0], "share": [0.0]})
    assert plot_levels(levels, name="x").title == "x: no scores in this period"


def a_verdict(day: str, score: float | None, **changes: Any) -> dict[str, Any]:
    """One verdict of a run."""
    failed = None if score is not None else "timeout"
    return {
        "slot_day": day,
        "score": score,
        "unscored_reason": failed,
        "setup": 1,
        "purpose": "scheduled",
        "explanation": "<b>ok</b>",
        **changes,
    }


def test_verdicts_are_a_strip_in_order_of_time() -> None:
    """One point a run; a verdict without a score is a cross with its reason, and no zero."""
    verdicts = [a_verdict("2026-11-03", 4.0), a_verdict("2026-11-02", None), a_verdict("2026-11-01", 3.0)]
    chart = plot_verdicts(verdicts, scale=SCALE)
    scores, failed = trace(chart.figure, "score, setup v1"), trace(chart.figure, "not scored")
    assert (scores["x"], scores["y"]) == (["2026-11-01", "2026-11-03"], [3.0, 4.0])
    assert failed["x"] == ["2026-11-02"]
    assert "not scored: timeout" in failed["hovertext"][0]
    assert "&lt;b&gt;ok&lt;/b&gt;" in scores["hovertext"][0]
    assert chart.title == "2 scores from 1 Nov to 3 Nov: 3 to 4, 4 in the newest"


def test_verdicts_of_two_setups_share_no_line() -> None:
    """Imported, graded by the configured judge, and graded again aside: a trace each, and the last one has no line."""
    verdicts = [
        a_verdict("2026-11-01", 2.0, purpose="imported"),
        a_verdict("2026-11-02", 3.0, setup=2),
        a_verdict("2026-11-03", 3.0, setup=3),
        a_verdict("2026-11-04", 4.0, setup=3, purpose="recheck"),
    ]
    figure = plot_verdicts(verdicts, scale=SCALE).figure
    traces = [trace(figure, name) for name in ("imported score", "score, setup v2", "score, setup v3", "recheck")]
    assert [found["y"] for found in traces] == [[2.0], [3.0], [3.0], [4.0]]
    assert [found["mode"] for found in traces] == ["lines+markers"] * 3 + ["markers"]
    assert traces[0]["marker"]["color"] != traces[1]["marker"]["color"] == traces[3]["marker"]["color"]
    assert spec(figure)["layout"]["showlegend"] is True


def test_verdicts_without_any_score_are_said() -> None:
    """An anchor that the judge never graded."""
    chart = plot_verdicts([a_verdict("2026-11-02", None)], scale=SCALE)
    assert chart.title == "1 verdict, none with a score"


def a_run(**changes: Any) -> dict[str, Any]:
    """One finished run."""
    fields = {"slot_day": "2026-11-01", "status": "finished", "n_scored": 9, "n_unscored": 1, "n_not_started": 0}
    fields["not_counted"] = ""
    return {**fields, "reasons": {"timeout": 1}, **changes}


def test_runs_are_stacked_bars_by_what_came_of_the_plan() -> None:
    """Scored, not scored, not started; the title counts the endings."""
    runs = [a_run(), a_run(slot_day="2026-11-02", status="failed", n_scored=0, n_unscored=0, n_not_started=10)]
    chart = plot_runs(runs)
    assert chart.title == "1 of 2 runs finished, 1 failed; 1 of 10 not scored"
    assert trace(chart.figure, "scored")["y"] == [9, 0]
    assert trace(chart.figure, "not started")["y"] == [0, 10]
    assert "1 timeout" in trace(chart.figure, "scored")["hovertext"][0]
    layout = spec(chart.figure)["layout"]
    assert layout["barmode"] == "stack"
    assert layout["xaxis"]["range"] == ["2026-10-19", "2026-11-03"]


@pytest.mark.parametrize(
    ("statuses", "title"),
    [
        (["finished"], "The run finished"),
        (["finished"] * 3, "All 3 runs finished"),
        (["running"], "0 of 1 run finished, 1 under way"),
        (["finished", "stopped"], "1 of 2 runs finished, 1 stopped early"),
    ],
)
def test_run_title_counts_the_endings(statuses: list[str], title: str) -> None:
    """Also while the first run is under way."""
    assert plot_runs([a_run(status=status, n_unscored=0) for status in statuses]).title == title


def test_run_title_counts_what_has_no_score() -> None:
    """A run that came to its end without a single score is no good news."""
    assert plot_runs([a_run(n_scored=0, n_unscored=10)]).title == "The run finished; 10 of 10 not scored"


def test_run_title_counts_what_is_no_measurement() -> None:
    """A run that came to its end behind a cache is finished and does not count; the hover says why."""
    chart = plot_runs([a_run(), a_run(slot_day="2026-11-02", not_counted="a cache answered")])
    assert chart.title == "All 2 runs finished; 2 of 20 not scored; 1 does not count"
    assert "does not count: a cache answered" in trace(chart.figure, "scored")["hovertext"][1]


def test_run_that_is_no_measurement_is_a_cross_on_the_anchors() -> None:
    """It has no shift: a mark on the zero line with the reason, and no point of its own."""
    runs = [frames.anchor_run(0, 0.1), frames.anchor_run(1, None, counted=False, not_counted="a <b>cache</b> answered")]
    days = {"first_day": "2026-11-01", "last_day": "2026-11-02"}
    chart = plot_anchors(frames.judge(runs), **days, smallest_change=0.1)
    cross = trace(chart.figure, "run that is no measurement")
    assert (cross["x"], cross["y"]) == (["2026-11-02"], [0.0])
    assert "does not count: a &lt;b&gt;cache&lt;/b&gt; answered" in cross["hovertext"][0]
    assert [found["name"] for found in spec(chart.figure)["data"]] == ["run, all its anchors", cross["name"]]
    assert "cross: run that is no measurement" in chart.caption
    assert "hollow" not in chart.caption


def test_imported_scores_without_anchors_title_their_means() -> None:
    """First and last days with their means; no baseline is promised."""
    days = {"n": 40, "low": 4.0, "high": 4.3}
    periods = [
        {"first_day": "2026-10-17", "last_day": "2026-10-30", "mean": 4.12, **days},
        {"first_day": "2026-11-17", "last_day": "2026-11-30", "mean": 5.12, **days},
    ]
    found: Any = {"imported": True, "anchor_setup": None, "raw_periods": periods}
    assert traffic_title(found) == (
        "Raw scores as imported: 4.12 on 17–30 Oct 2026, then 5.12 on 17–30 Nov 2026;"
        " judge or assistant, anchors would tell"
    )
    assert traffic_title({**found, "raw_periods": []}) == "Raw scores as imported"
