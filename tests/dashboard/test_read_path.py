"""What the page loads and what it may do: no heavy statistics, no write, one door to the database."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dashboard.launch import DB_VARIABLE
from tests.dashboard.conftest import Database
from tests.dashboard.pages import APP, PAGES

WALK = """
import os, sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file({app!r}, default_timeout=60).run()
for page in {pages!r}:
    app.switch_page(f"app_pages/{{page}}.py").run()
    assert not app.exception, app.exception[0].value
print(*sorted(name for name in sys.modules if name.split(".")[0] in ("statsmodels", "scipy", "openai")))
"""


def test_pages_load_no_heavy_statistics(database: Database) -> None:
    """Neither statsmodels nor scipy.stats nor the judge's client: a page must come up in a second."""
    code = WALK.format(app=str(APP), pages=PAGES)
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "PYTHONPATH": ":".join(sys.path)}
    environment[DB_VARIABLE] = str(database("analysed"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "scipy.special" in loaded  # else this would look at nothing
    assert not [name for name in loaded if name.startswith(("statsmodels", "scipy.stats", "openai"))]


def test_pages_never_write() -> None:
    """No module of the dashboard names a function of the store that writes."""
    sources = {path: path.read_text("utf-8") for path in Path(APP).parent.rglob("*.py")}
    assert len(sources) > 20
    assert not [path.name for path, text in sources.items() if "open_store" in text or "store.write" in text]
