"""``judgewatch check``: words, numbers, exit codes, and what it says where there is nothing to say yet."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.check import exit_code
from evaluator.findings import SCHEMA_VERSION, Findings
from evaluator.store import read
from evaluator.store.db import open_reader, open_store
from tests.cli.conftest import invoke, ok, ok_json, refused, write_config

Database = Callable[[str], Path]


def findings(judge: str, assistant: str, *segments: dict[str, Any]) -> Findings:
    """As much of an analysis as the exit code depends on."""
    found: Any = {
        "judge": {"state": judge},
        "assistant": {"state": assistant},
        "segments": list(segments),
        "settings": {"smallest_change": 0.1},
    }
    result: Findings = found
    return result


WORSE = {"state": "changed", "direction": "worse", "estimate": -0.5}
ALL = frozenset({"judge", "quality", "undecided"})


# ---------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("judge", "assistant", "expected"),
    [
        ("changed", "changed", 2),
        ("changed", "learning", 2),
        ("steady", "changed", 3),
        ("learning", "changed", 3),
        ("steady", "learning", 4),
        ("learning", "learning", 4),
        ("no_data", "no_data", 4),
        ("cannot_tell", "steady", 4),
        ("steady", "cannot_tell", 4),
        ("steady", "steady", 0),
        ("no_change_shown", "no_change_shown", 0),
    ],
)
def test_judge_comes_before_quality_and_quality_before_undecided(judge: str, assistant: str, expected: int) -> None:
    """The order in which people have to be called."""
    assert exit_code(findings(judge, assistant), ALL) == expected


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        (WORSE, 3),
        ({**WORSE, "direction": "better", "estimate": 0.5}, 0),
        ({**WORSE, "estimate": -0.05}, 0),
        ({**WORSE, "state": "no_change_shown"}, 0),
    ],
)
def test_segment_that_got_worse_is_a_change_of_quality(segment: dict[str, Any], expected: int) -> None:
    """As in the headline: worse, and by enough to matter."""
    assert exit_code(findings("steady", "steady", segment), ALL) == expected


@pytest.mark.parametrize(
    ("causes", "expected"),
    [({"quality"}, 3), ({"undecided"}, 0), ({"judge"}, 2), (set(), 0), ({"quality", "judge"}, 2)],
)
def test_only_what_is_asked_for_fails(causes: set[str], expected: int) -> None:
    """A pipeline that watches quality is not stopped by the judge."""
    assert exit_code(findings("changed", "changed"), frozenset(causes)) == expected


def test_nothing_graded_is_undecided() -> None:
    """And nothing else."""
    assert exit_code(None, ALL) == 4
    assert exit_code(None, frozenset({"judge", "quality"})) == 0


@pytest.mark.parametrize("causes", ["drift", "judge,drift", "", ",", "judge quality"])
def test_unknown_cause_is_wrong_usage(database: Database, causes: str) -> None:
    """A typo must not make a gate that never closes."""
    line = refused("check", "--db", database("one_day"), "--fail-on", causes, code=64)
    assert "judge, quality, undecided" in line


# ---------------------------------------------------------------- with an analysis


@pytest.fixture
def drifted(database: Database) -> Path:
    """Sixty days in which the judge became generous."""
    return database("sixty_days")


def test_drift_is_told_in_words_and_numbers(drifted: Path) -> None:
    """Headline first; every number with n, interval, method and dates."""
    result = invoke("check", "--db", drifted)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].startswith("The judge became more generous")
    payload = json.loads(invoke("check", "--db", drifted, "--json").stdout)
    table = next(line for line in result.stdout.splitlines() if line.startswith("judge "))
    assert f"{payload['judge']['estimate']:+.2f}" in table
    assert f"[{payload['judge']['low']:.2f}, {payload['judge']['high']:.2f}]" in table
    assert f"{payload['judge']['n_anchors']} anchors, {payload['judge']['n_runs_counted']} runs" in table
    assert f"since {payload['judge']['since_day']}" in table
    assert payload["judge"]["method"] in table
    for sentence in payload["sentences"] + payload["needs_a_look"]:
        assert f"  {sentence}\n" in result.stdout


def test_shares_add_up_to_the_raw_change_as_printed(drifted: Path) -> None:
    """Of +0.37 the judge accounts for so much, the assistant for so much, the mix for the rest."""
    lines = ok("check", "--db", drifted).splitlines()

    def change(name: str) -> int:
        cells = next(line for line in lines if line.startswith(f"{name}  ")).split("  ")
        number = next(cell.strip() for cell in cells[1:] if cell.strip().lstrip("+-").replace(".", "").isdigit())
        return round(100 * float(number))

    assert change("of it judge") + change("of it assistant") + change("of it mix") == change("traffic mean")


def test_json_is_the_stored_analysis(drifted: Path) -> None:
    """What the page shows can be had by a program, number for number."""
    payload = ok_json("check", "--db", drifted)
    assert payload["schema_version"] == SCHEMA_VERSION
    with open_reader(drifted) as store:
        ruler = read.newest_ruler(store, "support-bot")
        assert ruler is not None
        row = read.newest_analysis(store, app="support-bot", ruler_id=ruler["ruler_id"], criterion=ruler["criterion"])
    assert row is not None
    assert payload == {**row["payload"], "recheck": None, "imported_history": []}


@pytest.mark.parametrize("causes", ["judge", "judge,quality,undecided", " undecided , judge "])
def test_drift_exits_with_2_where_asked(drifted: Path, causes: str) -> None:
    """The code that pages somebody; what is printed stays the same."""
    result = invoke("check", "--db", drifted, "--fail-on", causes)
    assert result.exit_code == 2
    assert result.stdout.startswith("The judge became more generous")


# ---------------------------------------------------------------- analyses that are due


def test_missing_analysis_is_made_and_kept(drifted: Path) -> None:
    """Said once, on stderr; the second call reads it."""
    assert "there is no analysis yet; it is made now" in invoke("check", "--db", drifted).stderr
    again = invoke("check", "--db", drifted)
    assert again.stderr == ""
    assert "; computed 20" in again.stdout


def test_old_analysis_is_made_anew(drifted: Path) -> None:
    """When a run has ended since."""
    ok("check", "--db", drifted)
    with open_store(drifted) as store, store.transaction() as connection:
        connection.execute("UPDATE analyses SET computed_utc = '2026-01-01T00:00:00.000Z', payload_json = '{}'")
        connection.execute(
            "UPDATE analyses SET payload_json = ?",
            (json.dumps({"settings": {"false_alarms_per_year": 2, "smallest_change": 0.2, "runs_per_year": 52}}),),
        )
    result = invoke("check", "--db", drifted, "--json")
    assert "runs have finished since the last analysis" in result.stderr
    settings = json.loads(result.stdout)["settings"]
    assert (settings["false_alarms_per_year"], settings["smallest_change"], settings["runs_per_year"]) == (2, 0.2, 52)


def test_analysis_takes_the_configured_settings(drifted: Path) -> None:
    """One false alarm in two years, weekly runs, a change of 0.3 or more."""
    text = (
        '[judge]\nmodel = "m"\n[app]\nname = "support-bot"\n[schedule]\ncron = "0 6 * * 1"\n'
        f'[alarms]\nfalse_alarms_per_year = 0.5\nsmallest_change = 0.3\n[store]\npath = "{drifted}"\n'
    )
    settings = ok_json("check", "--config", write_config(text))["settings"]
    assert (settings["false_alarms_per_year"], settings["smallest_change"]) == (0.5, 0.3)
    assert 51 < settings["runs_per_year"] < 53


def test_database_that_may_only_be_read_is_analysed_all_the_same(
    drifted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The analysis is shown and not kept, with a note."""
    from evaluator import analysis
    from evaluator.errors import StoreError

    def refuse(*_: object, **__: object) -> None:
        raise StoreError("cannot be written")

    monkeypatch.setattr(analysis, "analyse_and_store", refuse)
    result = invoke("check", "--db", drifted)
    assert result.exit_code == 0
    assert "note: the analysis cannot be kept (cannot be written)" in result.stderr
    assert result.stdout.startswith("The judge became more generous")


# ---------------------------------------------------------------- nothing to say yet


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ("schema_only", "`judgewatch import FILE`, then `judgewatch run once`"),
        ("answers_only", "Nothing is graded yet (10 answers waiting): `judgewatch run once`."),
        ("all_unscored", "No run has a score yet"),
    ],
)
def test_what_is_missing_is_said_with_the_next_step(database: Database, state: str, says: str) -> None:
    """Exit 0: it ran. 4 where undecided was to fail."""
    db = database(state)
    assert says in ok("check", "--db", db)
    assert says in ok_json("check", "--db", db)["headline"]
    assert invoke("check", "--db", db, "--fail-on", "undecided").exit_code == 4
    assert invoke("check", "--db", db, "--fail-on", "judge,quality").exit_code == 0


def test_one_day_cannot_tell(database: Database) -> None:
    """Six anchors are too few; said, not guessed."""
    result = invoke("check", "--db", database("one_day"), "--fail-on", "judge,quality,undecided")
    assert result.exit_code == 4
    assert "no run has graded" in result.stdout


def test_hostile_names_reach_the_terminal_as_text(database: Database) -> None:
    """Markup of any kind is shown as it is written."""
    text = ok("check", "--db", database("hostile"))
    assert "<i>$a$</i>, judge setup v1 (judge<b>$1$</b>)" in text


# ---------------------------------------------------------------- cost


def test_reading_loads_no_statistics(drifted: Path) -> None:
    """A check in a pipeline starts fast: neither statsmodels nor scipy.stats, frames nor clients."""
    ok("check", "--db", drifted)
    code = (
        "import sys; from click.testing import CliRunner; from evaluator.cli import cli;"
        f"r = CliRunner().invoke(cli, ['check', '--db', {str(drifted)!r}]); assert r.exit_code == 0, r.output;"
        "print(*[n for n in ('statsmodels', 'scipy.stats', 'scipy', 'openai', 'streamlit', 'plotly', 'pandas',"
        " 'evaluator.analysis') if n in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(found.split()) <= {"pandas"}


def test_several_apps_have_to_be_named(database: Database) -> None:
    """The message lists them; an app that is not there is refused with the list."""
    db = database("one_day")
    with open_store(db) as store, store.transaction() as connection:
        connection.execute(
            "INSERT INTO imports VALUES ('i', 'other', 'f', 'h', 0, 0, 0, 0, 0, '2026-01-01T00:00:00.000Z')"
        )
    assert refused("check", "--db", db, code=64).endswith("name one with --app: other, support-bot")
    assert "its apps are: other, support-bot" in refused("check", "--db", db, "--app", "shop", code=64)
    assert ok("check", "--db", db, "--app", "other").startswith("There are no answers and no runs yet")
