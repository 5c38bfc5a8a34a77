"""The page looks for news by itself: a changed store is drawn anew, an unchanged one is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import queries
from tests import builders
from tests.builders import APP, LAST_DAY, World

WATCH = """
import streamlit as st
from pathlib import Path
from dashboard import header, queries

path = Path({path!r})
known = queries.StoreKey(*{known!r}) if {known!r} else None
st.session_state["runs"] = st.session_state.get("runs", 0) + 1
if st.session_state["runs"] > 1:
    known = queries.store_key_or_none(path)
header.watch_for_news(path, known)
st.text(f"run {{st.session_state['runs']}}")
"""


def runs_until_still(path: Path, known: queries.StoreKey | None) -> str:
    """How often the page is drawn when it was drawn last for the store in the state ``known``."""
    script = WATCH.format(path=str(path), known=None if known is None else tuple(known))
    app = AppTest.from_string(script, default_timeout=30).run()
    assert not app.exception
    return str(app.text[0].value)


def test_unchanged_store_is_left_alone(tmp_path: Path) -> None:
    """Twice a minute, for days: no flicker."""
    path = builders.one_day(tmp_path / "a.db")
    assert runs_until_still(path, queries.store_key(path)) == "run 1"


def test_new_data_is_drawn(tmp_path: Path) -> None:
    """A write since the page was drawn."""
    path = builders.one_day(tmp_path / "a.db")
    before = queries.store_key(path)
    with World(path=path) as world:
        world.add_answers([builders.answer(99, LAST_DAY)])
    assert queries.counts(queries.store_key(path), APP)["n_answers"] == 9
    assert runs_until_still(path, before) == "run 2"


@pytest.mark.parametrize("known", [None, queries.StoreKey("x", 1, "y")])
def test_store_that_comes_or_goes_is_news(known: queries.StoreKey | None, tmp_path: Path) -> None:
    """The first import makes the database; a moved one takes it away."""
    path = tmp_path / "a.db"
    if known is None:
        builders.schema_only(path)
    assert runs_until_still(path, known) == "run 2"
