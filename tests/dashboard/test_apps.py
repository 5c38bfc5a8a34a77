"""Several apps in one database: the index that comes first, its cards, the way into an app; the cost of the day."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine
from playwright.sync_api import expect

from dashboard.day_queries import day_plan
from dashboard.filters import View, link
from dashboard.queries import store_key
from dashboard.wording import of_limit
from evaluator.records import UnscoredReason
from evaluator.store import locks, write
from evaluator.store.db import open_store
from tests import builders
from tests.builders import APP, LAST_DAY, World, answer, plus_days
from tests.dashboard import sample_findings
from tests.dashboard.conftest import Database, OpenPage
from tests.dashboard.test_browser import browser, click_to, serve, sideways_on_a_phone, visit  # noqa: F401 - fixtures

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOSTILE = "a $b$ <i>c</i> **d**"


def add_app(path: Path, app: str, *, graded: bool = True) -> None:
    """A small app of its own: five answers of the last day, graded in one run."""
    with World(path=path, app=app, keys=[]) as world:
        ids = world.add_answers([answer(number, LAST_DAY) for number in range(5)])
        if graded:
            scores: dict[str, float | UnscoredReason] = dict.fromkeys(ids, 4.0)
            world.run(plus_days(LAST_DAY, 1), answers=scores, sampled=(LAST_DAY, 5))


def note(path: Path, app: str, **settings: object) -> None:
    """Note settings of an app, as its scorer would."""
    with open_store(path) as store:
        write.save_app_settings(store, app, settings)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three apps: sixty days with an analysis, five graded answers, five that wait."""
    path = builders.sixty_days(tmp_path_factory.mktemp("several") / "several.db")
    sample_findings.add_to(path)
    add_app(path, HOSTILE)
    add_app(path, "waiting", graded=False)
    note(path, APP, usd_per_day=5.0, cron="0 6 * * *", zone="UTC")
    return path


@pytest.fixture
def at_noon() -> object:
    """The day of the newest run, at noon."""
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


# ---------------------------------------------------------------- which page comes first


def test_several_apps_open_on_their_index(several: Path, open_page: OpenPage) -> None:
    """Every app is there, and no app's header stands above them."""
    page = open_page(several)
    assert page.errors == []
    assert page.headings[0] == "Apps"
    assert [text for text in page.headings if text in (APP, HOSTILE, "waiting")] == sorted((APP, HOSTILE, "waiting"))
    assert not any("judge setup v" in text for text in page.plain)


def test_chosen_app_opens_on_its_own_page(several: Path, open_page: OpenPage) -> None:
    """A link with an app in it leads where it says."""
    page = open_page(several, app=APP)
    assert page.errors == []
    assert "Apps" not in page.headings
    assert any(text.startswith(f"{APP} · ") for text in page.plain)


def test_other_pages_open_without_a_chosen_app(several: Path, open_page: OpenPage) -> None:
    """A link that was shared while there was one app still opens its page."""
    page = open_page(several, "runs")
    assert page.errors == []
    assert "Runs" in page.headings


def test_one_app_has_no_index(database: Database, open_page: OpenPage) -> None:
    """With one app nothing changes."""
    page = open_page(database("one_day"))
    assert page.errors == []
    assert "Apps" not in page.headings
    assert any(text.startswith(f"{APP} · ") for text in page.plain)


# ---------------------------------------------------------------- the cards


@pytest.mark.usefixtures("at_noon")
def test_card_holds_verdict_last_run_and_cost(several: Path, open_page: OpenPage) -> None:
    """Headline of the newest analysis, its tone, the newest run, answers graded, cost of today."""
    page = open_page(several)
    assert "The judge became more generous." in page.plain
    assert "Learning how this judge scores" in page.plain
    assert "No scores yet" in page.plain
    badges = [text for text in page.markdown if "badge" in text]
    assert ["needs a look" in badges[1], "not known yet" in badges[0], "not known yet" in badges[2]] == [True] * 3
    facts = [text for text in page.headings if text.endswith("today.")]
    assert facts[0] == (
        "Last run of 30 Nov 2026, 06:00 finished, 5 of 5 answers. 5 answers graded in all; $0.0055 today."
    )
    assert re.search(r"answers graded in all; \$0\.00 of \$5\.00 today\.$", facts[1])
    assert facts[2] == "No run yet. 0 answers graded in all; $0.00 today."


def test_card_leads_to_the_app(several: Path, open_page: OpenPage) -> None:
    """The link carries the app, and nothing else."""
    page = open_page(several)
    found = [(target, query) for label, target, query in page.links if label == "Open"]
    assert [query for _, query in found] == [
        link("now", View(app=app))[2:] for app in sorted((APP, HOSTILE, "waiting"))
    ]


def test_name_of_an_app_is_no_markup(several: Path, open_page: OpenPage) -> None:
    """Letter by letter, and in no Markdown."""
    page = open_page(several)
    assert HOSTILE in page.headings
    assert not any("**d**" in text for text in page.markdown)


# ---------------------------------------------------------------- the day


@pytest.mark.usefixtures("at_noon")
def test_runs_say_cost_of_the_day_and_next_run(several: Path, open_page: OpenPage) -> None:
    """On Runs, and in the last line of Now."""
    runs = open_page(several, "runs", app=APP)
    assert "Spent $0.00 of $5.00 today. Next run 1 Dec 2026, 06:00." in runs.headings
    now = open_page(several, app=APP)
    assert any("of $5.00 today. Next run 1 Dec 2026, 06:00." in text for text in now.headings)


def plan_of(tmp_path: Path, settings: Mapping[str, object]) -> tuple[object, ...]:
    """The day of an app after a scorer took 1.25 dollars and 30 calls out of its budget."""
    path = builders.one_day(tmp_path / "day.db")
    note(path, APP, **settings)
    with open_store(path) as store:
        locks.take_budget(store, app=APP, day="2026-11-30", usd=1.25, calls=30, usd_per_day=None, calls_per_day=None)
        locks.take_budget(store, app="other", day="2026-11-30", usd=9, calls=9, usd_per_day=None, calls_per_day=None)
    return day_plan(store_key(path), APP, NOW)


def test_budget_of_the_day_is_what_was_taken_out_of_it(tmp_path: Path) -> None:
    """Of this app, in dollars and calls; the next run in the zone of its schedule."""
    settings = {"usd_per_day": 2.0, "calls_per_day": 200, "cron": "30 7 * * *", "zone": "Europe/Berlin"}
    assert plan_of(tmp_path, settings) == (1.25, 30, 2.0, 200, datetime(2026, 12, 1, 6, 30, tzinfo=UTC), 8)


def test_without_a_limit_the_runs_of_the_day_tell_its_cost(tmp_path: Path) -> None:
    """Fourteen calls of the builders' price; no schedule, no next run."""
    usd, calls, *limits = plan_of(tmp_path, {})[:5]
    assert (usd, calls) == (pytest.approx(14 * 0.0011), 14)
    assert limits == [None, None, None]


@pytest.mark.parametrize(
    "settings",
    [{"cron": "whenever"}, {"cron": "0 6 * * *", "zone": "Mars"}, {"cron": "0 6 31 2 *"}, {"usd_per_day": "x"}],
)
def test_settings_that_cannot_be_read_say_nothing(tmp_path: Path, settings: dict[str, object]) -> None:
    """Noted by another version, or by hand: no line, no error."""
    _, _, usd_limit, _, next_run, _ = plan_of(tmp_path, settings)
    assert usd_limit is None
    assert next_run is None


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ((0.31, 7, None, None), "$0.31 today"),
        ((1.12, 7, 5.0, None), "$1.12 of $5.00 today"),
        ((0.0, 212, None, 318), "212 of 318 calls today"),
        ((0.0, 3, None, None), "3 calls today"),
        ((0.0, 0, None, None), "$0.00 today"),
        ((0.004, 1, 1.0, 1), "$0.0040 of $1.00 and 1 of 1 call today"),
    ],
)
def test_cost_is_said_against_its_limits(day: tuple[float, int, float | None, int | None], said: str) -> None:
    """Whatever limits there are."""
    assert of_limit(*day) == said


# ---------------------------------------------------------------- in a browser


def test_from_the_index_into_an_app_and_back(browser, serve, several: Path) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    """First the index; a click opens one app, whose URL names it; the menu leads back; both fit a phone."""
    with visit(browser, serve(several)) as (page, seen):
        apps = page.get_by_role("heading", name="Apps", exact=True)
        expect(apps).to_be_visible()
        expect(page.get_by_text("The judge became more generous.")).to_be_visible()
        assert sideways_on_a_phone(page) == 0
        card = page.locator('[data-testid="stPageLink-NavLink"]:visible', has_text="Open").nth(1)
        click_to(card, re.compile(f"/\\?app={APP}$"))
        expect(page.get_by_text(f"{APP} · ").first).to_be_visible()
        click_to(page.get_by_role("link", name="Apps", exact=True).first, apps)
        page.reload()
        expect(apps).to_be_visible()
        assert seen == []
