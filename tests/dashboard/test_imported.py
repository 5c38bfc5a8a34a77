"""The page on imported scores: without anchors, with those of another setup, and beside a configured judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dashboard import queries
from evaluator.analysis import AnalysisSettings, analyse_and_store
from evaluator.importing.verdicts import VerdictReading, import_verdicts
from evaluator.records import Ruler
from tests import builders
from tests.builders import APP, World, answer, plus_days, ruler
from tests.dashboard.conftest import OpenPage
from tests.dashboard.pages import PAGES, Page

FIRST_DAY = "2026-10-01"
DAYS = [plus_days(FIRST_DAY, place) for place in range(24)]
MOVES_AT = 14  # the judge gives more from this day on
NOW = datetime(2026, 10, 26, tzinfo=UTC)
PER_DAY = 20


def import_days(path: Path, days: Sequence[str] = DAYS, *, same_judge: Ruler | None = None, why: str = "") -> None:
    """Import a day of scores for each day; the last score of each is missing."""
    rows = [
        {
            "id": f"{day}-{place}",
            "input": f"Question {place}?",
            "answer": f"Answer {place}.",
            "score": (2.0, 3.0, 3.5, 4.0)[place % 4] + (0.6 if number >= MOVES_AT else 0.0) if place else None,
            "topic": ("refund", "billing")[place % 2],
            "explanation": why,
            "graded_at": f"{day}T23:30:{place:02d}Z",
        }
        for number, day in enumerate(days)
        for place in range(PER_DAY)
    ]
    file = path.with_suffix(".jsonl")
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_verdicts(
        path,
        [file],
        app=APP,
        now=NOW,
        reading=VerdictReading(judge="judge-large", scale=(1.0, 5.0)),
        settings=AnalysisSettings(),
        same_judge=same_judge,
    )


def watch(path: Path, *, traffic: bool = False) -> None:
    """Grade twelve anchors every day with the configured judge, which moves; with ``traffic`` five answers too."""
    with World(path=path) as world:
        anchors = world.add_anchors([1, 2, 2, 3, 3, 4, 4, 4, 2, 3, 1, 4])
        for number, day in enumerate(DAYS):
            ids = world.add_answers([answer(n, day) for n in range(5)]) if traffic else []
            gain = 0.6 if number >= MOVES_AT else 0.0
            scores = {
                item_id: min(5.0, 0.8 * float(anchor.expected_score or 3) + gain + 0.5 * ((number + place) % 7 == 0))
                for place, (item_id, anchor) in enumerate(anchors)
            }
            world.run(
                day, anchors=scores, answers=dict.fromkeys(ids, 4.5), explain=lambda _, score: f"Worth {score:g}."
            )
        ruler_id = world.ruler.ruler_id
    analyse_and_store(path, app=APP, ruler_id=ruler_id, settings=AnalysisSettings(), now=NOW)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Imported scores and nothing else."""
    path = tmp_path_factory.mktemp("alone") / "j.db"
    import_days(path)
    return path


@pytest.fixture(scope="module")
def bridged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configured judge that grades anchors only, whose anchors speak for the imported scores."""
    path = tmp_path_factory.mktemp("bridged") / "j.db"
    watch(path)
    import_days(path, same_judge=ruler())
    return path


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configured judge with traffic of its own, and imported scores that nothing ties to it."""
    path = tmp_path_factory.mktemp("beside") / "j.db"
    watch(path, traffic=True)
    import_days(path)
    return path


def labels(page: Page) -> list[str]:
    """Names of the tiles."""
    return [metric.label for metric in page.app.metric]


# ---------------------------------------------------------------- alone


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_imported_scores(page: str, alone: Path, open_page: OpenPage) -> None:
    """And names them as what they are."""
    found = open_page(alone, page)
    assert found.errors == []
    assert any("judge setup v1 (judge-large, score, imported scores)" in text for text in found.plain)


def test_imported_scores_promise_nothing_that_needs_anchors(alone: Path, open_page: OpenPage) -> None:
    """No baseline to wait for, no false alarms, no run, no cost; their means are the chart's title."""
    found = open_page(alone)
    assert any(text.startswith("Raw scores as imported: ") and ", then " in text for text in found.headings)
    assert labels(found) == ["Raw score", "Stored scores, 24 Oct"]
    assert [metric.value for metric in found.app.metric][1] == "19"
    assert any(text.startswith("Newest imported scores: 24 Oct 2026, 19 of 20 answers") for text in found.headings)
    for words in ("corrected line starts", "False alarms", "Last run", "run watch", "Cost", "target"):
        assert words not in found.words


def test_runs_of_imported_scores_are_days_and_no_runs(alone: Path, open_page: OpenPage) -> None:
    """Nothing ran: the next step, one line on the import, and a table without cost or duration."""
    found = open_page(alone, "runs")
    assert "No scheduled run yet" in found.headings
    assert "judgewatch run once --dry-run" in found.commands
    assert "Imported: 456 scores of 1–24 Oct 2026, judge setup v1. No judge was called for them." in found.headings
    assert found.figures == []
    table = found.app.dataframe[0].value
    assert (table["time"].iloc[0], set(table["kind"]), set(table["took"])) == (
        "24 Oct 2026",
        {"imported scores"},
        {"–"},
    )
    assert not {"cause", "cost, USD"} & set(table.columns)


def test_reasons_take_no_room_where_there_are_none(tmp_path: Path, open_page: OpenPage) -> None:
    """Scores are often stored without them."""
    path = tmp_path / "j.db"
    import_days(path, DAYS[:2])
    bare = open_page(path, "answers", level="4").app.dataframe[0].value
    assert list(bare.columns) == ["day", "score", "segments", "question"]
    import_days(tmp_path / "k.db", DAYS[:2], why="Names the steps.")
    assert "judge's reason" in open_page(tmp_path / "k.db", "answers", level="4").app.dataframe[0].value


def test_imported_verdict_shows_no_call(alone: Path, open_page: OpenPage) -> None:
    """No raw reply, no tokens, no latency: nobody was called."""
    with builders.open_store(alone, create=False) as store:
        item_id = store.connection.execute("SELECT item_id FROM verdicts WHERE score IS NOT NULL").fetchone()[0]
    found = open_page(alone, "answers", item=item_id)
    assert found.errors == []
    assert "1 verdict, no call to the judge" in found.headings
    assert any(text.startswith("imported score of ") for text in found.headings)
    assert "Raw reply and cost" not in found.words
    assert not any("given time" in text or "from scores" in text for text in found.headings)


def test_old_imported_scores_ask_for_newer_ones(alone: Path, open_page: OpenPage) -> None:
    """Nobody is told to start a scorer for scores that come from elsewhere."""
    found = open_page(alone)
    assert any("Newer ones come in with judgewatch import --verdicts FILE." in text for text in found.headings)
    assert "judgewatch import --verdicts FILE" in found.typed


# ---------------------------------------------------------------- tied to the anchors of another setup


def test_tied_scores_are_shown_first_and_corrected(bridged: Path, open_page: OpenPage) -> None:
    """The configured judge grades nothing but anchors: the imported scores are the app's."""
    found = open_page(bridged)
    assert found.errors == []
    assert any("(judge-large, score, imported scores)" in text for text in found.plain)
    assert any(value is not None for value in found.trace("corrected score")["y"])
    assert any("False alarms accepted" in text for text in found.headings)
    fresh = next(text for text in found.headings if text.startswith("Newest imported scores: "))
    assert "Last run of " in fresh  # of the anchors, without which there is no alarm


def test_tied_scores_show_the_anchors_that_moved(bridged: Path, open_page: OpenPage) -> None:
    """Then and now, with the reasons: of the setup that graded the anchors."""
    found = open_page(bridged)
    assert any("became more generous" in text for text in found.headings)
    assert "The same answers, graded then and now" in found.headings
    assert any(text.startswith("Worth ") for text in found.plain)


# ---------------------------------------------------------------- beside a configured judge


def test_setups_beside_each_other_share_no_line(beside: Path, open_page: OpenPage) -> None:
    """Each is shown by itself: the raw line of one has no point of the other."""
    numbers = {
        row["output_mode"] == "imported": row["position"] for row in queries.setups(queries.store_key(beside), APP)
    }
    own, imported = (open_page(beside, setup=str(numbers[is_imported])) for is_imported in (False, True))
    assert {y for y in own.trace("raw score")["y"] if y is not None} == {4.5}
    assert max(y for y in imported.trace("raw score")["y"] if y is not None) < 4.5
    assert "imported scores" not in own.plain[0]
    assert "imported scores" in imported.plain[0]


def test_chosen_setup_stays_in_the_address(beside: Path, open_page: OpenPage) -> None:
    """Chosen on one page it holds on the next, and the address says it."""
    found = open_page(beside)
    options = next(box for box in found.app.selectbox if box.label == "Judge setup").options
    assert len(options) == 2
    found.pick("Judge setup", 2)
    assert found.app.query_params["setup"] == "2"
    found.app.switch_page("app_pages/answers.py").run()
    assert found.errors == []
    assert found.app.query_params["setup"] == "2"


def test_runs_beside_imported_scores_are_counted_alone(beside: Path, open_page: OpenPage) -> None:
    """Bars are of runs only: a day of scores would stand on the same day's bar."""
    found = open_page(beside, "runs")
    assert found.errors == []
    assert "All 24 runs finished" in found.headings
    assert found.trace("scored")["y"] == [17] * 24
    assert set(found.app.dataframe[0].value["kind"]) == {"scheduled run", "imported scores"}
