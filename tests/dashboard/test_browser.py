"""The page in a real browser: clicks lead on, nothing leaves the machine, hostile text stays text, phones, dark."""

from __future__ import annotations

import re
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from dashboard.launch import command, environment
from tests import builders
from tests.builders import HOSTILE_SEGMENTS
from tests.conftest import find_free_port
from tests.dashboard.conftest import Database
from tests.dashboard.test_hostile import CELLS, outside_id

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 30_000
CHART = ".js-plotly-plot .main-svg"
LUMINANCE = "((e, what) => e && Number(getComputedStyle(e)[what].match(/[0-9]+/)[0]))"  # the red part will do
# On a deep link the client asks for its server's health and settings below the page's own path first, then at the
# root: it cannot know whether an app is served from a folder. Both first tries are 404 and harmless. Neither
# server.baseUrlPath nor another option of Streamlit 1.67 spares them: only window.__streamlit, set by a host page.
PROBES = re.compile(r"/(apps|segments|answers|runs)/_stcore/(health|host-config)")
expect.set_options(timeout=PATIENCE_MS)
Serve = Callable[[Path], str]


@pytest.fixture(scope="module")
def browser(chromium_path: str | None) -> Iterator[Browser]:
    """Start the system's Chromium, else playwright's own; ``make test`` sees to it that there is one."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Serve databases, each on a port of its own, with the command that users run; ended by their pids."""
    servers: list[subprocess.Popen[bytes]] = []
    log = (tmp_path_factory.mktemp("server") / "log").open("wb")

    def start(path: Path) -> str:
        port = find_free_port()
        line = command(path, port=port, headless=True)
        server = subprocess.Popen(line, env=environment(path), stdout=log, stderr=subprocess.STDOUT)
        servers.append(server)
        _wait_until_healthy(server, f"http://127.0.0.1:{port}")
        return f"http://127.0.0.1:{port}"

    yield start
    for server in servers:
        server.terminate()
        server.wait(timeout=20)
    log.close()


def _wait_until_healthy(server: subprocess.Popen[bytes], base: str) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{base}/_stcore/health", timeout=5) as reply:
                if reply.status == 200:
                    return
        except OSError:  # refused, or accepted and too busy to reply
            time.sleep(0.1)
    raise AssertionError(f"the page did not come up (exit code {server.poll()})")


@pytest.fixture(scope="module")
def site(serve: Serve, database: Database) -> str:
    """The address of sixty days with their analysis."""
    return serve(database("analysed"))


@pytest.fixture(scope="module")
def hostile_site(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the hostile database of case X01."""
    path = tmp_path_factory.mktemp("hostile") / "hostile.db"
    return serve(builders.hostile(path, [(cell["response"], cell["segment"]) for cell in CELLS]))


@contextmanager
def visit(browser: Browser, url: str, *, width: int = 1440, dark: bool = False) -> Iterator[tuple[Page, list[str]]]:
    """Open a page and watch it: errors on the console and requests to anyone but the server."""
    context: BrowserContext = browser.new_context(
        viewport={"width": width, "height": 1400}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    seen: list[str] = []
    base = "/".join(url.split("/")[:3])

    def on_request(address: str) -> None:
        if not address.startswith((base, base.replace("http", "ws"), "data:", "blob:")):
            seen.append(address)

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error" and not PROBES.fullmatch(message.location.get("url", "").removeprefix(base)):
            seen.append(message.text)

    page.on("request", lambda request: on_request(request.url))
    page.on("console", on_console)
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("dialog", lambda dialog: seen.append(dialog.message))
    page.goto(url)
    yield page, seen
    context.close()


def sideways_on_a_phone(page: Page) -> int:
    """By how many pixels the page can be scrolled sideways at a width of 390 pixels."""
    desk = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 1400})
    page.wait_for_timeout(400)  # charts and tables follow the new width a moment later, on a busy machine much later
    main = "document.querySelector('[data-testid=stMain]')"
    with suppress(PlaywrightTimeout):
        page.wait_for_function(f"{main}.scrollWidth <= {main}.clientWidth", timeout=10_000)
    found = int(page.evaluate(f"{main}.scrollWidth - {main}.clientWidth"))
    page.set_viewport_size(desk or {"width": 1440, "height": 1400})
    return found


def click_to(target: Locator, leads_to: Locator | re.Pattern[str], **options: Any) -> None:
    """Click until something is seen or the URL is reached: the first click may come before the element listens."""
    give_up = time.monotonic() + 2 * PATIENCE_MS / 1000
    while True:
        with suppress(PlaywrightTimeout):  # redrawn under the mouse, or gone because an earlier click was followed
            target.click(timeout=PATIENCE_MS / 6, **options)
        try:
            if isinstance(leads_to, re.Pattern):
                expect(target.page).to_have_url(leads_to, timeout=PATIENCE_MS / 6)
            else:
                expect(leads_to).to_be_visible(timeout=PATIENCE_MS / 6)
        except AssertionError:
            if time.monotonic() > give_up:
                raise
        else:
            return


def menu(page: Page, name: str) -> Locator:
    """The link of the menu to a page."""
    return page.get_by_role("link", name=name, exact=True).first


def title(page: Page, name: str) -> Locator:
    """The title of a page."""
    return page.get_by_role("heading", name=name, exact=True)


def test_from_the_verdict_to_one_answer_by_clicks(browser: Browser, site: str) -> None:
    """Now → Segments → a point of the chart → its answers → one answer → its run; each step fits a phone."""
    with visit(browser, site) as (page, seen):
        expect(page.get_by_text("The judge became more generous.").first).to_be_visible()
        expect(page.locator(".js-plotly-plot")).to_have_count(3)
        widths = {"now": sideways_on_a_phone(page)}
        click_to(menu(page, "Segments"), title(page, "Segments"))
        expect(page.locator(".js-plotly-plot")).to_have_count(1)  # the charts of the page before are gone
        point = page.locator(".js-plotly-plot .scatterlayer .points path").first
        click_to(point, re.compile("segment="), force=True)
        link = page.locator('[data-testid="stPageLink-NavLink"]:visible', has_text="Read these answers").first
        expect(link).to_be_visible()
        widths["segments"] = sideways_on_a_phone(page)
        click_to(link, re.compile("/answers.*order=lowest"))
        table = page.locator('[data-testid="stDataFrame"] canvas').first
        expect(table).to_be_visible()
        widths["answers"] = sideways_on_a_phone(page)
        click_to(table, re.compile("item="), position={"x": 17, "y": 52}, force=True)
        expect(page.get_by_text("1 verdict, 1 call to the judge")).to_be_visible()
        widths["answer"] = sideways_on_a_phone(page)
        click_to(page.get_by_role("button", name="Next"), page.get_by_role("button", name="Previous", disabled=False))
        click_to(menu(page, "Runs"), title(page, "Runs"))
        expect(page.locator(".js-plotly-plot")).to_have_count(1)
        widths["runs"] = sideways_on_a_phone(page)
        assert widths == dict.fromkeys(widths, 0)
        assert seen == []


def test_choices_survive_the_menu(browser: Browser, site: str) -> None:
    """A period chosen on one page holds on the next, and stands in its URL."""
    with visit(browser, site) as (page, seen):
        expect(page.locator(".js-plotly-plot")).to_have_count(3)
        span = page.get_by_role("button", name="14 days")
        click_to(page.get_by_role("button", name="View"), span)
        click_to(span, re.compile("first_day=2026-11-17"))
        page.keyboard.press("Escape")
        click_to(menu(page, "Runs"), re.compile("/runs.*first_day=2026-11-17"))
        expect(page.get_by_text("17–30 Nov 2026").first).to_be_visible()
        assert seen == []


def test_hostile_answers_are_visible_as_they_are(browser: Browser, hostile_site: str) -> None:
    """Case X01: the very characters are on the screen; no image, no script, no formula, no request leaves."""
    responses = [cell["response"] for cell in CELLS if cell["id"] in ("o6", "o7", "o8")]
    with visit(browser, hostile_site) as (page, seen):
        for response in responses:
            page.goto(f"{hostile_site}/answers?item={outside_id(response)}")
            shown = page.get_by_text(response, exact=True).first
            expect(shown).to_be_visible()
            assert shown.inner_text() == response
            assert page.locator("a[href^='javascript'], img[src*='example.invalid'], .katex").count() == 0
        assert seen == []


def test_hostile_segment_names_are_visible_as_they_are(browser: Browser, hostile_site: str) -> None:
    """Axis and legend show the tags and the dollar signs; nothing is bold, nothing is a formula."""
    with visit(browser, f"{hostile_site}/segments") as (page, seen):
        expect(page.locator(CHART).first).to_be_visible()
        expect(page.locator(".ytick text").first).to_be_visible()
        ticks = page.locator(".ytick text").all_text_contents()
        for name in HOSTILE_SEGMENTS[:4]:
            assert name in ticks
        assert page.locator(".js-plotly-plot tspan[style*='bold'], .js-plotly-plot a").count() == 0
        assert seen == []


def test_dark_readers_get_a_dark_page(browser: Browser, site: str) -> None:
    """By the system's setting; text of the charts in contrast to the ground, tables and charts included."""
    with visit(browser, site, dark=True) as (page, seen):
        expect(page.locator(".ytick text").first).to_be_visible()
        page.wait_for_function(f"{LUMINANCE}(document.querySelector('.ytick text'), 'fill') > 100")
        ground = brightness(page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor"))
        chart = page.evaluate("getComputedStyle(document.querySelector('.js-plotly-plot .main-svg')).backgroundColor")
        tick = brightness(page.evaluate("getComputedStyle(document.querySelector('.ytick text')).fill"))
        assert ground < 60
        assert brightness(chart) < 60
        assert tick - ground > 80
        assert seen == []


def brightness(colour: str) -> float:
    """Mean of red, green and blue of an ``rgb(...)`` text."""
    parts = [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]
    return sum(parts) / 3
