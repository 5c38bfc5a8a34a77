"""Takes the pictures of the page that README and docs show: ``make screenshots``.

Runs the demo into a temporary folder (or uses ``--db``), opens each page in a real browser, and writes PNG files.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from dashboard.launch import command, environment
from evaluator.demo import run_demo

PAGES = ("now", "segments", "answers", "runs")
SIZES = {"": (1440, 1180, "light"), "-phone": (390, 1180, "dark")}
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_TIMEOUT_S = 60.0


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description="Take the pictures of the page.")
    parser.add_argument("--db", type=Path, help="a finished demo (default: a new one)")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parents[1] / "docs" / "images")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        db = arguments.db
        if db is None:
            run_demo(Path(folder) / "demo")
            db = Path(folder) / "demo" / "judgewatch.db"
        with _page(db) as address, sync_playwright() as playwright:
            executable = str(CHROMIUM) if CHROMIUM.exists() else None
            browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
            _take(browser, address, arguments.out)
            browser.close()


def _take(browser: Browser, address: str, out: Path) -> None:
    for suffix, (width, height, scheme) in SIZES.items():
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        view = context.new_page()
        for name in PAGES:
            view.goto(f"{address}/{'' if name == 'now' else name}")
            view.wait_for_selector(".js-plotly-plot .main-svg, [data-testid=stDataFrame]", timeout=30_000)
            view.wait_for_timeout(2_000)  # charts settle
            view.screenshot(path=out / f"{name}{suffix}.png")
            print(out / f"{name}{suffix}.png")
        context.close()


@contextmanager
def _page(db: Path) -> Iterator[str]:
    """Run the page of a database; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(command(db, port=port, headless=True), env=environment(db), stdout=subprocess.DEVNULL)
    try:
        _wait(f"http://127.0.0.1:{port}/_stcore/health", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < give_up and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5)
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
    raise SystemExit("the page did not start")


if __name__ == "__main__":
    main()
