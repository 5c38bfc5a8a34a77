"""What is said of imported scores after a recheck of them: what it found, and no advice to do it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evaluator.analysis import AnalysisSettings
from evaluator.findings import Findings
from evaluator.importing.verdicts import VerdictReading, import_verdicts
from evaluator.recheck import Question, run_recheck
from evaluator.store import read
from evaluator.store.db import open_reader
from tests.recheck_world import NOW, SetClock, config, moved_world, stored_rows, write_now, write_rows

ADVICE = "judgewatch recheck FILE"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and databases lie where the test runs."""
    monkeypatch.chdir(tmp_path)


def take(folder: Path, path: Path, **reading: Any) -> None:
    """Import stored scores."""
    using = config(folder)
    settings = AnalysisSettings()
    import_verdicts(using.store_path, [path], app="shop", now=NOW, reading=VerdictReading(**reading), settings=settings)


def recheck(folder: Path, path: Path, n: int = 120) -> None:
    """Have stored scores graded again."""
    asyncio.run(run_recheck(config(folder), Question(path=path, n=n), clock=SetClock()))


def stored(folder: Path, setup: int = 1) -> Findings:
    """The newest stored analysis of a setup."""
    with open_reader(config(folder).store_path) as store:
        ruler = next(row for row in read.rulers(store, "shop") if row["position"] == setup)
        row = read.newest_analysis(store, app="shop", ruler_id=ruler["ruler_id"], criterion=ruler["criterion"])
    assert row is not None
    payload: Findings = row["payload"]
    return payload


def test_a_recheck_is_advised_until_there_is_one(tmp_path: Path) -> None:
    """Then what it found stands in its place, in the headline too; what anchors would add is still said."""
    path = moved_world()
    take(tmp_path, path)
    before = stored(tmp_path)
    assert ADVICE in " ".join(before["sentences"])
    assert (before["rechecked"], before["tone"]) == (None, "unknown")
    recheck(tmp_path, path)
    after = stored(tmp_path)
    said = " ".join(after["sentences"])
    assert ADVICE not in said
    assert "The recheck of 1 Dec found that the judge changed: +0." in said
    assert "--same-judge" in said
    assert after["headline"].startswith("These scores were imported, without anchors. The recheck of 1 Dec found that")
    assert after["tone"] == "look"
    assert after["rechecked"] is not None
    assert (after["rechecked"]["day"], after["rechecked"]["finding"]) == ("2026-12-01", "changed")


def test_a_judge_that_stayed_is_no_reason_to_look(tmp_path: Path) -> None:
    """It is said all the same."""
    rows = stored_rows(400)
    write_now({str(k): row["score"] for k, row in enumerate(rows)})
    path = write_rows(rows)
    take(tmp_path, path)
    recheck(tmp_path, path, 300)
    found = stored(tmp_path)
    assert "The recheck of 1 Dec found that the judge did not change: 0.00, between" in found["headline"]
    assert found["tone"] == "unknown"


def test_a_recheck_that_could_not_tell_says_so(tmp_path: Path) -> None:
    """Scores of one day: the headline stays, and nothing is advised that was done."""
    rows = [{**row, "graded_at": "2026-11-30T10:00:00Z"} for row in stored_rows(100)]
    write_now({str(k): row["score"] for k, row in enumerate(rows)})
    path = write_rows(rows)
    take(tmp_path, path)
    recheck(tmp_path, path, 60)
    found = stored(tmp_path)
    assert found["headline"].startswith("These scores were imported: no anchors")
    assert "The recheck of 1 Dec could not tell whether the judge moved." in " ".join(found["sentences"])
    assert ADVICE not in " ".join(found["sentences"])


def test_scores_that_were_called_otherwise_on_the_import_are_these_scores(tmp_path: Path) -> None:
    """Where there are no others."""
    rows = [{name: value for name, value in row.items() if name != "judge"} for row in stored_rows(300)]
    write_now({str(k): row["score"] for k, row in enumerate(rows)})
    path = write_rows(rows)
    take(tmp_path, path, judge="house judge", criterion="usefulness")
    recheck(tmp_path, path)
    assert stored(tmp_path)["rechecked"] is not None


def test_scores_of_another_judge_are_not_spoken_for(tmp_path: Path) -> None:
    """Two imported setups, one of them rechecked."""
    path = moved_world()
    take(tmp_path, path)
    take(tmp_path, write_rows(stored_rows(60, judge="other", id="x"), Path("other.jsonl")))
    recheck(tmp_path, path)
    assert stored(tmp_path, 1)["rechecked"] is not None
    other = stored(tmp_path, 2)
    assert (other["model_asked"], other["rechecked"]) == ("other", None)
    assert ADVICE in " ".join(other["sentences"])
