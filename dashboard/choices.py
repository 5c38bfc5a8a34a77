"""Widgets that write their choice into the URL, and the view that the URL holds.

The URL is the only place of a choice; widgets are set from it on every run. What is chosen for all pages (app, setup,
period) is also remembered in the session, because the menu's own links drop it from the URL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, Literal

import streamlit as st

from dashboard.filters import SHARED, View

ANY = ""  # an option of a drop-down; None would be "nothing chosen" to Streamlit
_MEMORY = "shared_choices"
_STARTS_LIST_ANEW = {"page": 1, "item": None}


def current_view() -> View:
    """The view of the URL; what is shared and missing there comes from the session, what is wrong is taken out."""
    params = st.query_params.to_dict()
    remembered = st.session_state.get(_MEMORY, {})
    view = View.from_params({**remembered, **params})
    if params != view.params():
        st.query_params.from_dict(view.params())
    _remember(view)
    return view


def choose(**changes: Any) -> None:
    """Change choices in the URL, from a widget's callback."""
    view = View.from_params(st.query_params.to_dict()).but(**changes)
    st.query_params.from_dict(view.params())
    _remember(view)


def _remember(view: View) -> None:
    params = view.params()
    st.session_state[_MEMORY] = {name: params[name] for name in SHARED if name in params}


def _picked(name: str, key: str, resets: dict[str, Any]) -> None:
    value = st.session_state[key]
    choose(**{**resets, name: None if value == ANY else value})


def pick_one(
    label: str,
    name: str,
    options: Sequence[Any],
    current: Any,
    *,
    wording: Callable[[Any], str] = str,
    help: str | None = None,  # noqa: A002 - the name Streamlit gives it
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """A drop-down bound to the choice ``name`` of the view; ``ANY`` among the options takes the choice back."""
    key = f"pick_{name}"
    wanted = ANY if current is None else current
    st.session_state[key] = wanted if wanted in options else options[0]
    st.selectbox(
        label,
        options,
        key=key,
        format_func=wording,
        help=help,
        width=width,
        on_change=_picked,
        args=(name, key, _STARTS_LIST_ANEW),
    )


def pick_switch(label: str, name: str, options: Sequence[Any], current: Any, *, wording: Callable[[Any], str]) -> None:
    """A row of buttons, exactly one pressed, bound to the choice ``name`` of the view."""
    key = f"pick_{name}"
    st.session_state[key] = current
    st.segmented_control(
        label,
        options,
        key=key,
        format_func=wording,
        required=True,
        on_change=_picked,
        args=(name, key, _STARTS_LIST_ANEW),
    )


def pick_text(label: str, name: str, current: str | None, *, placeholder: str) -> None:
    """A search field bound to the choice ``name`` of the view."""
    key = f"pick_{name}"
    st.session_state[key] = current or ""
    st.text_input(
        label,
        key=key,
        max_chars=200,
        placeholder=placeholder,
        on_change=_picked,
        args=(name, key, _STARTS_LIST_ANEW),
    )


def pick_period(current: tuple[str, str], available: tuple[str, str]) -> None:
    """Two dates for the period, within the days there are; the end day is included as a whole."""
    first, last = (date.fromisoformat(day) for day in available)
    start, end = (min(max(date.fromisoformat(day), first), last) for day in current)
    # one widget for each period: a calendar that closes late sends the dates it showed, and must not undo a choice
    # that was made elsewhere meanwhile
    key = f"pick_period_{start}_{end}"
    st.session_state[key] = (start, end)
    st.date_input(
        "Period, both days included",
        key=key,
        min_value=first,
        max_value=last,
        format="YYYY-MM-DD",
        on_change=_picked_period,
        args=(key, (start, end)),
    )


def _picked_period(key: str, shown: tuple[date, date]) -> None:
    found = st.session_state[key]
    # after the first of two clicks there is only one date
    if isinstance(found, tuple) and len(found) == 2 and found != shown:
        first, last = found
        choose(first_day=first.isoformat(), last_day=last.isoformat(), day=None, **_STARTS_LIST_ANEW)
