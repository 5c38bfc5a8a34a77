"""What commands print: data to stdout, as a table for people or JSON for programs; messages to stderr.

Graded text comes from strangers. Whatever could steer a terminal is made visible here, once, for every command.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

SCHEMA_VERSION = 1
NOTHING = "–"
_LONG_AT_LEAST = 18
_GAP = 2

# control characters but line feed and tab; marks that turn the direction of text; line marks; half pairs
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NOT_IN_JSON = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_CONTROL_PICTURES = 0x2400
_DELETE_PICTURE = "\u2421"


def visible(text: object) -> str:
    """Return a text that a terminal only shows: what could steer it becomes a visible character of its own.

    Line feeds and tabs stay; escape (the start of every terminal sequence) becomes ␛, other characters their code.
    """
    return _STEERING.sub(_picture, str(text))


def one_line(text: object, n_chars: int | None = None) -> str:
    """Return a visible text on one line, cut after ``n_chars`` characters with an ellipsis."""
    # cut before the work: a graded text may have millions of characters
    start = str(text) if n_chars is None else str(text)[: 4 * n_chars]
    line = " ".join(visible(start).split())
    return line if n_chars is None or len(line) <= n_chars else line[: n_chars - 1].rstrip() + "…"


def _picture(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return _DELETE_PICTURE
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def say(text: object) -> None:
    """Tell a person something, on stderr."""
    click.echo(visible(text), err=True)


def put(text: object = "") -> None:
    """Print a line of the result, on stdout."""
    click.echo(visible(text))


def put_json(payload: Mapping[str, Any]) -> None:
    """Print the result as one JSON object, with the version of its shape."""
    text = json.dumps({"schema_version": SCHEMA_VERSION, **payload}, ensure_ascii=False, indent=2, allow_nan=False)
    click.echo(_NOT_IN_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


def put_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers: Sequence[str] = (),
    long: Sequence[str] = (),
    fold: bool = False,
) -> None:
    """Print rows under their columns. On a terminal, long columns take what the others leave of its width.

    Args:
        columns: Headings, in order.
        rows: Cells; None is shown as a dash.
        numbers: Headings of columns that are set to the right.
        long: Headings of columns that may be narrower than their text.
        fold: Whether text that does not fit goes on in the next line; else it is cut, with an ellipsis.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    cells = [[NOTHING if cell is None else one_line(cell) for cell in row] for row in rows]
    natural = [max(cell_len(row[place]) for row in [columns, *cells]) for place in range(len(columns))]
    is_long = [name in long for name in columns]
    # a table that is piped is never cut, and no number is ever cut: the terminal may break a line that is too long
    widths = _fit(natural, is_long, console.width) if console.is_terminal else natural
    console.width = sum(widths) + _GAP * len(widths)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for name, width, may_fold in zip(columns, widths, is_long, strict=True):
        table.add_column(
            Text(name),
            justify="right" if name in numbers else "left",
            width=width,
            no_wrap=not (fold and may_fold),
            overflow="fold" if fold else "ellipsis",
        )
    for row in cells:
        table.add_row(*(Text(text) for text in row))
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _fit(natural: Sequence[int], is_long: Sequence[bool], total: int) -> list[int]:
    """Widths that fit into a total where possible: long columns share what the others leave, narrow ones first."""
    left = total - _GAP * len(natural) - sum(width for width, long in zip(natural, is_long, strict=True) if not long)
    widths = list(natural)
    places = sorted((place for place, long in enumerate(is_long) if long), key=lambda place: natural[place])
    for n_done, place in enumerate(places):
        share = left // (len(places) - n_done)
        widths[place] = min(natural[place], max(_LONG_AT_LEAST, share))
        left -= widths[place]
    return widths


def number(value: float | None, digits: int = 2) -> str | None:
    """Return a number with a fixed number of digits, None for none."""
    if value is None:
        return None
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed(value: float | None) -> str | None:
    """Return a change with its sign, None for none."""
    text = number(value)
    return text if text is None or value is None or float(text) <= 0 else f"+{text}"


def bounds(low: float | None, high: float | None) -> str | None:
    """Return an interval as ``[low, high]``, None when there is none."""
    return None if low is None or high is None else f"[{number(low)}, {number(high)}]"


def usd(value: float) -> str:
    """Return an amount of money with the digits it deserves."""
    return f"${value:.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def counted(n: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 answer``, ``2,000 answers``."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"
