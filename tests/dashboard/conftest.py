"""What the page's tests share: databases built once, pages run without a browser, all the text of a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.launch import DB_VARIABLE
from tests import builders
from tests.dashboard import sample_findings
from tests.dashboard.pages import APP, Page

Database = Callable[[str], Path]
OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """Return the path of a named state; it is built at its first use and only read afterwards."""
    folder = tmp_path_factory.mktemp("databases")

    def build(name: str) -> Path:
        path = folder / f"{name}.db"
        if name != "missing" and not path.exists():
            if name == "analysed":
                builders.sixty_days(path)
                sample_findings.add_to(path)
            else:
                getattr(builders, name)(path)
        return path

    return build


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> OpenPage:
    """Run a page of the app on a database, with query parameters, and return it."""

    def run(path: Path, page: str = "now", /, **params: str) -> Page:
        monkeypatch.setenv(DB_VARIABLE, str(path))
        app = AppTest.from_file(APP, default_timeout=30)
        app.query_params.update(params)
        if page != "now":
            app.switch_page(f"app_pages/{page}.py")  # as the first run of a session: a deep link
        return Page(app.run())

    return run
