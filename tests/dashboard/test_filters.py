"""The view: bound to the URL, bad values dropped, links that come back as the same view."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.filters import ANY_REASON, ORDERS, TABS, View, clip_days, link
from evaluator.records import Source, UnscoredReason

DAYS = st.dates().map(lambda day: day.isoformat())
TEXTS = st.text(min_size=1, max_size=40).map(str.strip).filter(bool)
VIEWS = st.builds(
    View,
    app=st.none() | TEXTS,
    setup=st.none() | st.integers(1, 999),
    segment=st.none() | st.integers(1, 99_999),
    level=st.none() | st.integers(-50, 50).map(lambda n: n / 4),
    day=st.none() | DAYS,
    item=st.none() | TEXTS,
    text=st.none() | TEXTS,
    reason=st.none() | st.sampled_from([ANY_REASON, *(str(reason) for reason in UnscoredReason)]),
    source=st.sampled_from(list(Source)),
    order=st.sampled_from(ORDERS),
    page=st.integers(1, 50),
    key=st.none() | TEXTS,
    key2=st.none() | TEXTS,
    tab=st.none() | st.sampled_from(TABS),
    alert=st.none() | TEXTS,
    against=st.none() | st.integers(1, 999),
    baseline=st.none() | DAYS,
)


@given(VIEWS)
def test_view_survives_the_url(view: View) -> None:
    """What a link says is what the page shows, whatever the texts hold."""
    query = urlsplit(link("answers", view)).query
    assert View.from_params(dict(parse_qsl(query, keep_blank_values=True))) == view


def test_default_view_leaves_the_url_clean() -> None:
    """A link to the default has no query."""
    assert link("now", View()) == "/"
    assert link("segments", View(), base="http://127.0.0.1:8501") == "http://127.0.0.1:8501/segments"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("app", ""),
        ("app", "x" * 500),
        ("setup", "0"),
        ("setup", "v1"),
        ("setup", "²"),
        ("segment", "-3"),
        ("segment", "1e3"),
        ("segment", "9" * 30),
        ("level", "nan"),
        ("level", "inf"),
        ("level", "four"),
        ("day", "2026-02-30"),
        ("day", "yesterday"),
        ("day", "20260228"),
        ("first_day", "2026-1-1"),
        ("reason", "because"),
        ("source", "both"),
        ("order", "random"),
        ("page", "0"),
        ("page", "-1"),
        ("nonsense", "1"),
    ],
)
def test_bad_value_is_dropped(name: str, value: str) -> None:
    """A broken link shows the default, never an error."""
    assert View.from_params({name: value}) == View()


def test_period_upside_down_is_dropped() -> None:
    """An end before the start means nothing; the rest of the link still counts."""
    found = View.from_params({"first_day": "2026-11-02", "last_day": "2026-11-01", "segment": "4"})
    assert found == View(segment=4)


def test_one_sided_period_is_kept() -> None:
    """From a day on, without an end."""
    assert View.from_params({"first_day": "2026-11-02"}).first_day == "2026-11-02"


def test_shared_part_holds_what_is_chosen_for_all_pages() -> None:
    """A link to another page keeps app, setup and period, and drops the page's own filter."""
    view = View(app="a", setup=2, first_day="2026-11-01", last_day="2026-11-03", segment=4, text="x", page=3)
    assert view.shared() == View(app="a", setup=2, first_day="2026-11-01", last_day="2026-11-03")


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (None, None, ("2026-11-05", "2026-11-20")),
        ("2026-11-06", None, ("2026-11-06", "2026-11-20")),
        ("2026-10-01", "2026-11-05", ("2026-11-05", "2026-11-05")),
        ("2026-11-20", "2026-12-24", ("2026-11-20", "2026-11-20")),
        ("2026-12-01", "2026-12-24", None),
        (None, "2026-11-04", None),
    ],
)
def test_period_is_clipped_to_the_days_there_are(
    first: str | None, last: str | None, expected: tuple[str, str] | None
) -> None:
    """Both ends are days that are included; a period beside the data is nothing."""
    assert clip_days(View(first_day=first, last_day=last), "2026-11-05", "2026-11-20") == expected
