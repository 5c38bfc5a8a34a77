"""``judgewatch segments`` and ``judgewatch event add --kind ignore``: what stands out, and what does not count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.segments import _looks, _stand_out
from tests.analysis.findings import findings, segment
from tests.cli.conftest import ok, ok_json, refused

Database = Callable[[str], Path]
LOOKS = {
    "n_segments": 50,
    "n_against_rest": 50,
    "n_below_the_rest": 1,
    "n_recent_change": 48,
    "n_recent_change_stands_out": 0,
    "n_watched": 50,
    "n_changed": 0,
    "n_suspects": 0,
    "lowest": 1,
    "most_moved": 2,
    "first_days_first_day": "2026-09-01",
    "first_days_last_day": "2026-09-20",
    "last_days_first_day": "2026-10-23",
    "last_days_last_day": "2026-11-05",
    "false_share": 0.05,
    "method": "",
}


@pytest.fixture
def sixty(database: Database) -> Path:
    """Sixty days."""
    return database("sixty_days")


def rows(**changes: Any) -> list[Any]:
    """billing, the lowest, and refunds, which moved most."""
    low = segment(1, "billing", against_rest_p_adjusted=0.0004, is_lowest=True, **changes)
    moved = {"recent_change": -0.4, "recent_change_low": -0.6, "recent_change_high": -0.2, "n_first_days": 300}
    return [low, segment(2, "refunds", **moved)]


class TestLooks:
    """The sentences under the table."""

    def test_lowest_and_most_moved_are_named_with_interval_n_and_days(self):
        """Their own numbers, not the shrunk ones."""
        lines = _looks(findings(segments=rows(), segment_looks=LOOKS))
        assert lines[0] == "Lowest: topic=billing, 3.10 [2.80, 3.40] (2026-10-23 to 2026-11-05, n 143)."
        assert lines[1].startswith("Moved most: topic=refunds, -0.40 [-0.60, -0.20] with the judge taken out")
        assert "n 300; 2026-10-23 to 2026-11-05, n 143" in lines[1]

    def test_what_stands_out_is_said_in_words(self):
        """With the p-value after the correction, and "none" where nothing is left."""
        lines = _looks(findings(segments=rows(), segment_looks=LOOKS))
        assert lines[2] == (
            "Against all other answers: 50 segments looked at; 1 stands out after that"
            " (topic=billing, adjusted p under 0.001)."
        )
        assert lines[3] == "Against the first days: 48 segments looked at; none stands out after that."

    def test_no_lowest_and_no_most_moved_are_left_out(self):
        """Segments that differ by chance only."""
        looks = {**LOOKS, "lowest": None, "most_moved": None}
        assert [line.split(":")[0] for line in _looks(findings(segments=rows(), segment_looks=looks))] == [
            "Against all other answers",
            "Against the first days",
        ]

    def test_suspects_and_the_judge_in_a_segment_have_their_lines(self):
        """Behind the others."""
        note = "The judge became stricter."
        changes = {"suspect": True, "judge_in_segment_used": True, "judge_in_segment_note": note}
        lines = _looks(findings(segments=rows(**changes), segment_looks=LOOKS))
        assert lines[-2].endswith("not sure enough for an alert: topic=billing.")
        assert lines[-1] == f"topic=billing: {note}"

    def test_many_are_named_up_to_three(self):
        """The surest first."""
        many = [segment(n, f"t{n}", against_rest_p_adjusted=0.01 * (5 - n)) for n in range(5)]
        assert _stand_out(9, many, "against_rest_p_adjusted") == (
            "9 segments looked at; 5 stand out after that (topic=t4, adjusted p 0.010; topic=t3, adjusted p 0.020;"
            " topic=t2, adjusted p 0.030; ...)"
        )

    def test_an_analysis_made_before_there_were_looks_has_none(self):
        """Stored by an older version."""
        assert _looks(findings(segments=rows())) == []


def test_looks_are_in_the_json_and_under_the_table(sixty: Path) -> None:
    """Additive: the rows are where they were."""
    payload = ok_json("segments", "--db", sixty)
    looks = payload["segment_looks"]
    assert looks["n_segments"] == len(payload["segments"]) == 14
    assert all("against_rest_p_adjusted" in row for row in payload["segments"])
    assert f"Against all other answers: {looks['n_against_rest']} segments looked at" in ok("segments", "--db", sixty)


class TestIgnore:
    """Days that do not count."""

    def test_a_stretch_of_days_is_logged_day_by_day_and_greyed(self, sixty: Path) -> None:
        """Both ends included; the analysis is made anew."""
        first = ok_json("history", "--db", sixty)["days"][5]["day"]
        last = f"{first[:8]}{int(first[8:]) + 2:02d}"
        line = ok(*("event", "add", "load test", "--kind", "ignore", "--day", first, "--last-day", last, "--db", sixty))
        assert f"ignore logged on {first} and on each day until {last}" in line
        logged = [row["day"] for row in ok_json("event", "list", "--db", sixty)["events"] if row["kind"] == "ignore"]
        assert logged == [first, f"{first[:8]}{int(first[8:]) + 1:02d}", last]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--kind", "ignore", "--last-day", "2026-11-20"], "goes with --day and --kind ignore"),
            (["--day", "2026-11-20", "--last-day", "2026-11-21"], "goes with --day and --kind ignore"),
            (["--kind", "ignore", "--day", "2026-11-20", "--last-day", "2026-11-19"], "from --day '2026-11-20' on"),
            (["--kind", "ignore", "--day", "2026-11-20", "--last-day", "2030-11-19"], "at most 366 days later"),
            (["--kind", "ignore", "--day", "2026-11-20", "--last-day", "soon"], "write it like 2026-03-01"),
        ],
    )
    def test_a_stretch_that_is_none_is_refused(self, sixty: Path, options: list[str], message: str) -> None:
        """And nothing is logged."""
        before = ok_json("event", "list", "--db", sixty)["events"]
        assert message in refused("event", "add", "x", *options, "--db", sixty, code=64)
        assert ok_json("event", "list", "--db", sixty)["events"] == before
