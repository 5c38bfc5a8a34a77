"""A page that ran without a browser: its text, its charts, its links, whatever element they are drawn with."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "dashboard" / "app.py"
PAGES = ("now", "segments", "answers", "runs")


def _seen(body: str) -> str:
    """HTML as a reader sees it."""
    return html.unescape(re.sub(r"<[^>]*>", "", body))


class Page:
    """One run of the app."""

    def __init__(self, app: AppTest) -> None:
        self.app = app

    @property
    def errors(self) -> list[str]:
        """Exceptions that the page shows."""
        return [str(found.value) for found in self.app.exception]

    @property
    def headings(self) -> list[str]:
        """Texts of the headings and small print, as a reader sees them."""
        return [_seen(body) for body in self.html if not body.startswith("<p ")]

    @property
    def plain(self) -> list[str]:
        """Texts that are drawn letter by letter, and sentences."""
        sentences = [_seen(body) for body in self.html if body.startswith("<p ")]
        return [*(found.value for found in self.app.text), *sentences]

    @property
    def html(self) -> list[str]:
        """What the browser reads as HTML, in order."""
        return [found.proto.body for found in self.app.get("html")]

    @property
    def typed(self) -> list[str]:
        """Commands that stand in sentences, set as code."""
        return [_seen(found) for body in self.html for found in re.findall(r"<code [^>]*>.*?</code>", body)]

    @property
    def commands(self) -> list[str]:
        """Commands and ids that can be copied."""
        return [found.value for found in self.app.code]

    @property
    def markdown(self) -> list[str]:
        """Everything that Streamlit would read as Markdown: labels, captions, badges."""
        found = [element.value for kind in ("markdown", "caption", "title", "header", "subheader")
                 for element in self.app.get(kind)]  # fmt: skip
        labels = [element.label for kind in ("button", "selectbox", "metric", "expander", "toggle")
                  for element in self.app.get(kind)]  # fmt: skip
        return [*found, *labels, *(metric.value for metric in self.app.metric)]

    @property
    def words(self) -> str:
        """All the text of the page."""
        return "\n".join([*self.headings, *self.plain, *self.commands, *self.markdown])

    @property
    def figures(self) -> list[dict[str, Any]]:
        """Figures of the charts, in order."""
        return [json.loads(found.proto.spec) for found in self.app.get("plotly_chart")]

    def figure(self, place: int = 0) -> dict[str, Any]:
        """One figure."""
        return self.figures[place]

    def trace(self, name: str) -> dict[str, Any]:
        """The trace of this name in whichever chart has it."""
        found = [trace for figure in self.figures for trace in figure["data"] if trace.get("name") == name]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} traces are called {name!r}")
        return dict(found[0])

    @property
    def links(self) -> list[tuple[str, str, str]]:
        """Page links as (label, page, query)."""
        protos = [found.proto for found in self.app.get("page_link")]
        return [(proto.label, proto.page, proto.query_string) for proto in protos]

    def pick(self, label: str, value: Any) -> Page:
        """Choose an option of a drop-down by its value, and run."""
        box = next(box for box in self.app.selectbox if box.label == label)
        box.set_value(value).run()
        return self

    def press(self, label: str) -> Page:
        """Press a button and run."""
        next(button for button in self.app.button if button.label == label).click().run()
        return self
