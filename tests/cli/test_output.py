"""What reaches a terminal: nothing that steers it, tables that fit, JSON that parses."""

from __future__ import annotations

import io
import json
import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.cli import output


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m", "\\x9b31m"),
        ("back\x08\x7f", "back␈␡"),
        ("win\r\n", "win␍\n"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("half \ud800", "half \\ud800"),
        ("line\u2028mark", "line\\u2028mark"),
        ("Grüße 😀 日本", "Grüße 😀 日本"),
        (7, "7"),
    ],
)
def test_what_steers_a_terminal_becomes_visible(text: object, shown: str) -> None:
    """Escape, control, direction; ordinary text of any language stays."""
    assert output.visible(text) == shown


@given(st.text())
def test_no_text_steers_a_terminal(text: str) -> None:
    """Whatever a model writes, no control character but line feed and tab is left, and all can be encoded."""
    shown = output.visible(text)
    assert not [char for char in shown if (ord(char) < 0x20 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0]
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "n_chars", "shown"),
    [
        ("a\n b\t c", None, "a b c"),
        ("12345", 5, "12345"),
        ("123456", 5, "1234…"),
        ("123 56", 5, "123…"),
        ("", 5, ""),
    ],
)
def test_one_line_is_cut_with_an_ellipsis(text: str, n_chars: int | None, shown: str) -> None:
    """White space is folded; what does not fit is cut where it shows."""
    assert output.one_line(text, n_chars) == shown


def test_one_line_of_a_huge_text_is_quick() -> None:
    """Two million characters are not looked at to show sixty."""
    assert output.one_line("word " * 400_000, 10) == "word word…"


@given(st.dictionaries(st.text(max_size=5), st.text()))
def test_json_parses_and_steers_nothing(payload: dict[str, str]) -> None:
    """What a program reads back is what was there, and a person may look at it."""
    target, before = io.StringIO(), sys.stdout
    sys.stdout = target
    try:
        output.put_json({"texts": payload})
    finally:
        sys.stdout = before
    printed = target.getvalue()
    assert json.loads(printed) == {"schema_version": 1, "texts": payload}
    assert not [char for char in printed if (ord(char) < 0x20 and char != "\n") or 0x7F <= ord(char) < 0xA0]


def test_json_refuses_what_is_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    """NaN would break every reader but Python's."""
    with pytest.raises(ValueError, match="JSON"):
        output.put_json({"mean": float("nan")})
    assert capsys.readouterr().out == ""


def test_table_aligns_and_leaves_markup_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Square brackets and colons of a text are text; a missing cell is a dash; no line ends in blanks."""
    output.put_table(("name", "n"), [["[bold]x[/bold]", 12], [":smile:", None], ["\x1b[2J", 3]], numbers=("n",))
    assert capsys.readouterr().out.splitlines() == [
        "name             n",
        "[bold]x[/bold]  12",
        ":smile:          –",
        "␛[2J             3",
    ]


def test_piped_table_is_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    """A program that reads the table gets whole cells."""
    output.put_table(("text",), [["x" * 3000]])
    assert "x" * 3000 in capsys.readouterr().out


class Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch, *args: Any, **options: Any) -> list[str]:
    """Print a table on a terminal of forty columns; return its lines without the codes of bold headings."""
    target = Terminal()
    for name, value in {"COLUMNS": "40", "TERM": "xterm", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", target)
        output.put_table(*args, **options)
    return re.sub("\x1b\\[[0-9;]*m", "", target.getvalue()).splitlines()


def test_narrow_terminal_cuts_long_texts_and_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text makes room."""
    rows = [["a1", 12345, "word " * 20]]
    heading, line = on_terminal(monkeypatch, ("item", "n", "text"), rows, numbers=("n",), long=("text",))
    assert len(line) <= 40
    assert line.startswith("a1    12345  word word")
    assert line.endswith("…")
    assert heading.split() == ["item", "n", "text"]


def test_narrow_terminal_folds_where_nothing_may_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method or a date goes on in the next line."""
    rows = [[7, "one two three four five six seven eight nine"]]
    lines = on_terminal(monkeypatch, ("n", "method"), rows, long=("method",), fold=True)
    assert " ".join(" ".join(lines).split()) == "n method 7 one two three four five six seven eight nine"
    assert max(map(len, lines)) <= 40


def test_table_wider_than_the_terminal_loses_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal breaks the line; all of it is there."""
    columns = [f"column {place}" for place in range(9)]
    cells = [f"{place}234567" for place in range(9)]
    assert on_terminal(monkeypatch, columns, [cells], numbers=columns)[1].split() == cells


@pytest.mark.parametrize(
    ("value", "shown"), [(None, None), (1.005, "1.00"), (-0.001, "0.00"), (-1.5, "-1.50"), (2, "2.00")]
)
def test_number_has_two_digits_and_no_minus_zero(value: float | None, shown: str | None) -> None:
    """As many digits as an interval deserves."""
    assert output.number(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(0.3, "+0.30"), (-0.3, "-0.30"), (0.001, "0.00"), (None, None)])
def test_change_has_a_sign(value: float | None, shown: str | None) -> None:
    """No sign for no change."""
    assert output.signed(value) == shown


def test_bounds_need_both_ends() -> None:
    """Half an interval is none."""
    assert output.bounds(1.0, 2.5) == "[1.00, 2.50]"
    assert output.bounds(None, 2.5) is None


@pytest.mark.parametrize(("value", "shown"), [(0, "$0.00"), (0.0312, "$0.0312"), (12.345, "$12.35")])
def test_money_has_the_digits_it_deserves(value: float, shown: str) -> None:
    """A tenth of a cent matters while the sum is small."""
    assert output.usd(value) == shown


@pytest.mark.parametrize(
    ("n", "words", "shown"),
    [(1, ("day",), "1 day"), (2000, ("day",), "2,000 days"), (2, ("entry", "entries"), "2 entries")],
)
def test_count_agrees_with_its_noun(n: int, words: tuple[str, ...], shown: str) -> None:
    """One day, two days."""
    assert output.counted(n, *words) == shown
