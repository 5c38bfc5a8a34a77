"""What the reader chose, bound to the URL: a frozen view, read from query parameters and written back as such.

Bad values are dropped, defaults leave the URL clean, so every view can be shared as a link. No Streamlit here, so that
alerts and tests can build the same links.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode

from evaluator.records import Source, UnscoredReason

ANY_REASON = "any"  # every verdict without a score, whatever the reason
ORDERS = ("newest", "oldest", "lowest", "highest")
SHARED = ("app", "setup", "first_day", "last_day")  # chosen once, for all pages
PAGES = {"apps": "apps", "now": "", "segments": "segments", "answers": "answers", "runs": "runs"}
TABS = ("drift", "anchors", "plan", "setups", "runs", "cost", "open", "closed")  # of all pages; a page drops others'
_MOST_TEXT = 200


@dataclass(frozen=True, kw_only=True)
class View:
    """One view of the data. None means: not chosen, take the default.

    Attributes:
        app: The product watched.
        setup: Number of the judge setup (v1, v2, ...).
        first_day: First day of the period.
        last_day: Last day of the period, included as a whole.
        segment: Id of a segment.
        level: A level of the scale: only answers whose score is nearest to it.
        day: One day of the period.
        item: Id (or a start of it, or the outside id) of the answer that is open.
        text: Words to find in question, answer or reason.
        reason: Only verdicts without a score: ``any``, or one reason.
        source: Answers from traffic, or anchors.
        order: Order of the list.
        page: Page of the list, from 1.
        key: Tag that segments are broken down by.
        key2: The second tag where two are crossed.
        tab: The open tab of a page that has some.
        alert: Id of the alert that is open.
        against: Number of the judge setup to compare with.
        baseline: First day of the runs to compare with, instead of the analysis's own.
    """

    app: str | None = None
    setup: int | None = None
    first_day: str | None = None
    last_day: str | None = None
    segment: int | None = None
    level: float | None = None
    day: str | None = None
    item: str | None = None
    text: str | None = None
    reason: str | None = None
    source: Source = Source.TRAFFIC
    order: str = "newest"
    page: int = 1
    key: str | None = None
    key2: str | None = None
    tab: str | None = None
    alert: str | None = None
    against: int | None = None
    baseline: str | None = None

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> View:
        """Read a view from query parameters; a value that cannot be used is dropped."""
        found: dict[str, Any] = {}
        for name, read in _READERS.items():
            value = read(params[name]) if name in params else None
            if value is not None:
                found[name] = value
        if found.get("first_day", "") > found.get("last_day", "9999-99-99"):
            del found["first_day"], found["last_day"]
        return cls(**found)

    def params(self) -> dict[str, str]:
        """The view as query parameters, without what is a default."""
        values = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        return {name: _written(value) for name, value, default in values if value != default}

    def but(self, **changes: Any) -> View:
        """The same view with some choices changed."""
        return replace(self, **changes)

    def shared(self) -> View:
        """Only what is chosen for all pages."""
        return View(**{name: getattr(self, name) for name in SHARED})


def link(page: str, view: View, *, base: str = "") -> str:
    """URL of a page in a view, below ``base``.

    Raises:
        KeyError: an unknown page.
    """
    query = urlencode(view.params())
    return f"{base}/{PAGES[page]}" + (f"?{query}" if query else "")


def clip_days(view: View, first: str, last: str) -> tuple[str, str] | None:
    """The chosen period within the days there are; None when it does not touch them."""
    chosen_first, chosen_last = max(view.first_day or first, first), min(view.last_day or last, last)
    return (chosen_first, chosen_last) if chosen_first <= chosen_last else None


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _text(value: str) -> str | None:
    text = value.strip()
    return text if 0 < len(text) <= _MOST_TEXT else None


def _day(value: str) -> str | None:
    try:
        return date.fromisoformat(value).isoformat() if len(value) == 10 else None
    except ValueError:
        return None


def _whole(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() and 0 < len(value) <= 9 and int(value) > 0 else None


def _real(value: str) -> float | None:
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _source(value: str) -> Source | None:
    return Source(value) if value in set(Source) else None


def _reason(value: str) -> str | None:
    return value if value == ANY_REASON or value in set(UnscoredReason) else None


def _order(value: str) -> str | None:
    return value if value in ORDERS else None


def _tab(value: str) -> str | None:
    return value if value in TABS else None


_READERS: dict[str, Callable[[str], Any]] = {
    "app": _text,
    "setup": _whole,
    "first_day": _day,
    "last_day": _day,
    "segment": _whole,
    "level": _real,
    "day": _day,
    "item": _text,
    "text": _text,
    "reason": _reason,
    "source": _source,
    "order": _order,
    "page": _whole,
    "key": _text,
    "key2": _text,
    "tab": _tab,
    "alert": _text,
    "against": _whole,
    "baseline": _day,
}
