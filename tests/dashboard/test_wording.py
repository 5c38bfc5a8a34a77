"""How numbers, days and reasons are written."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from dashboard import wording
from evaluator.records import UnscoredReason


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.31, "+0.31"), (-0.04, "−0.04"), (0.0, "0.00"), (-0.001, "0.00"), (0.004, "0.00"), (None, "–")],
)
def test_change_has_its_sign_and_zero_has_none(value: float | None, text: str) -> None:
    """A change that prints as zero is neither up nor down."""
    assert wording.change(value) == text


def test_missing_number_is_a_dash() -> None:
    """No number is never 0."""
    assert (wording.number(None), wording.number(0.0), wording.bounds(None, 1.0)) == ("–", "0.00", "")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(-0.1, 0.2, True), (0.0, 0.2, True), (0.1, 0.2, False), (-0.2, -0.1, False), (None, 0.2, True)],
)
def test_interval_that_could_be_zero(low: float | None, high: float | None, expected: bool) -> None:
    """A missing interval could be anything, zero too."""
    assert wording.holds_zero(low, high) is expected


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        ("2026-09-01", "2026-09-20", "1–20 Sep 2026"),
        ("2026-09-28", "2026-10-03", "28 Sep – 3 Oct 2026"),
        ("2025-12-30", "2026-01-02", "30 Dec 2025 – 2 Jan 2026"),
        ("2026-06-28", "2026-06-28", "28 Jun 2026"),
    ],
)
def test_range_of_days_names_what_differs(first: str, last: str, text: str) -> None:
    """Month and year stand once where they are the same."""
    assert wording.days(first, last) == text


def test_instant_is_shown_in_the_given_zone() -> None:
    """Half past eleven in the evening UTC is the next day in Tokyo, the afternoon in Los Angeles."""
    utc = "2026-06-27T23:30:00.000Z"
    shown = [wording.instant(utc, ZoneInfo(name)) for name in ("UTC", "Asia/Tokyo", "America/Los_Angeles")]
    assert shown == ["27 Jun 2026, 23:30", "28 Jun 2026, 08:30", "27 Jun 2026, 16:30"]


def test_every_reason_has_words() -> None:
    """A code never stands on the page, unless it is of a later version."""
    named = {str(reason): wording.reason(reason) for reason in UnscoredReason}
    assert not [code for code, words in named.items() if "_" in words or not words]
    assert set(named) == set(wording._REASONS)
    assert wording.reason("of_a_later_version") == "of a later version"


def test_reasons_come_with_counts_commonest_first() -> None:
    """As on the page: 2 timeout, 1 refusal."""
    assert wording.reasons({"refusal": 1, "timeout": 2}) == "2 timeout, 1 refusal"


@pytest.mark.parametrize(("usd", "text"), [(1.118, "$1.12"), (0.0605, "$0.060"), (0.0046, "$0.0046"), (0, "$0.00")])
def test_small_amounts_keep_their_digits(usd: float, text: str) -> None:
    """A run that costs half a cent is not free."""
    assert wording.money(usd) == text


def test_duration_of_an_open_run_is_unknown() -> None:
    """A run under way has no length yet."""
    start = "2026-06-27T06:00:00.000Z"
    assert wording.duration(start, None) == "–"
    assert wording.duration(start, "2026-06-27T06:01:30.000Z") == "90 s"
    assert wording.duration(start, "2026-06-27T06:10:00.000Z") == "10 min"


def test_segment_names_join_and_name_what_is_empty() -> None:
    """A crossed segment has both values; an empty value is visible."""
    assert wording.segment("billing", "de") == "billing · de"
    assert wording.segment("") == "(empty)"
    assert wording.segment("a", "", crossed=True) == "a · (empty)"


def test_one_line_folds_and_cuts() -> None:
    """A reason of a page becomes a line of a table."""
    assert wording.one_line("a\n b\tc") == "a b c"
    assert wording.one_line("x" * 300, 10) == "x" * 9 + "…"


def test_counts_agree_with_their_noun() -> None:
    """One answer, two answers, a thousand with a comma."""
    texts = [wording.counted(1, "answer"), wording.counted(2, "answer"), wording.counted(4310, "stretch", "stretches")]
    assert texts == ["1 answer", "2 answers", "4,310 stretches"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("start `judgewatch run watch`.", [("start ", False), ("judgewatch run watch", True), (".", False)]),
        ("`judgewatch check`", [("judgewatch check", True)]),
        ("`a` and `b`", [("“a” and “b”", False)]),
        ("a lone ` stays", [("a lone ` stays", False)]),
        ("``", [("``", False)]),
        ("", []),
    ],
)
def test_only_a_command_in_a_sentence_is_told_apart(text: str, pieces: list[tuple[str, bool]]) -> None:
    """A terminal's mark would be read letter by letter; other names in it, the data's too, are quoted."""
    assert wording.spoken(text) == pieces


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"input": "", "output": ""}, ""),
        ({"flags": "naive_time,text_not_kept", "input": ""}, "text not stored"),
        ({"flags": "text_not_kept", "deleted_utc": "2026-11-30T23:30:00.000Z"}, "deleted on 1 Dec 2026"),
        ({"flags": "from_scores"}, ""),
        ({"flags": "from_scores", "input": " ", "output": ""}, "text not stored"),
    ],
)
def test_a_missing_text_has_a_reason(changes: dict[str, str], words: str) -> None:
    """An answer that was empty is another thing than a text that is not there; days are the store's zone's."""
    item = {"flags": "", "deleted_utc": None, "input": "Why?", "output": "Because."} | changes
    assert wording.why_no_text(item, ZoneInfo("Europe/Berlin")) == words
