"""The benchmarks run and judge rightly; how fast anything is, is not a matter of tests."""

from __future__ import annotations

import http.client
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Import the harness with an empty list of benchmarks."""
    monkeypatch.syspath_prepend(str(FOLDER))
    module = importlib.import_module("harness")
    monkeypatch.setattr(module, "REGISTERED", [])
    yield module
    sys.modules.pop("harness")


def row_of(harness: ModuleType, ours: float, comparator: float, limit: float, better: str, on: str = "ratio"):
    """Register a benchmark with known figures and run it."""
    measure = harness.budget("name", limit, better=better, on=on)(
        lambda _options: harness.Measurement(ours=ours, comparator=comparator, unit="ms")
    )
    assert measure(None).unit == "ms"
    return harness.REGISTERED[-1].run(harness.Options(rows=1, calls=1, full=False))


@pytest.mark.parametrize(
    ("ours", "limit", "better", "is_met"),
    [(60, 0.5, "higher", True), (40, 0.5, "higher", False), (120, 1.2, "lower", True), (130, 1.2, "lower", False)],
)
def test_budget_on_the_ratio(harness: ModuleType, ours: float, limit: float, better: str, is_met: bool) -> None:
    """Ours over the comparator's 100 keeps the limit or misses it; the limit itself is kept."""
    row = row_of(harness, ours, 100, limit, better)
    assert row.is_met is is_met
    assert row.as_line().endswith("ok" if is_met else "miss")


@pytest.mark.parametrize(("ours", "is_met"), [(0.2, True), (0.4, False)])
def test_budget_on_our_figure_alone(harness: ModuleType, ours: float, is_met: bool) -> None:
    """The comparator is shown and does not count."""
    row = row_of(harness, ours, 0.001, 0.3, "lower", on="ours")
    assert row.is_met is is_met
    assert "<= 0.3 ms" in row.as_line()


def test_lines_stand_under_their_heads(harness: ModuleType) -> None:
    """The columns end where their heads end."""
    head, line = harness.header(), row_of(harness, 1_234_567, 2, 0.5, "higher").as_line()
    end = head.index("comparator") + len("comparator")
    assert line[:end].endswith(" 2 ms")
    assert "1,234,567 ms" in line


def test_row_as_json_has_figures_and_verdict(harness: ModuleType) -> None:
    """What a program needs, without parsing the table."""
    row = json.loads(json.dumps(row_of(harness, 1, 4, 0.5, "lower").as_dict()))
    assert (row["measurement"]["ours"], row["ratio"], row["is_met"]) == (1, 0.25, True)


def test_both_sides_take_turns(harness: ModuleType) -> None:
    """A busy minute hits both; the medians are reported."""
    calls: list[str] = []
    ours, theirs = iter([5.0, 1.0, 3.0]), iter([10.0, 30.0, 20.0])

    def measure(name: str, figures: Iterator[float]) -> float:
        calls.append(name)
        return next(figures)

    medians = harness.in_turns(lambda: measure("a", ours), lambda: measure("b", theirs), times=3)
    assert medians == (3.0, 20.0)
    assert calls == ["a", "b"] * 3


def test_failure_of_a_process_is_told(harness: ModuleType) -> None:
    """A benchmark that could not run is no figure."""
    with pytest.raises(RuntimeError, match="KeyError"):
        harness.run_apart("importing.py", "nonesuch", "file")


def test_table_and_file_of_a_small_import(tmp_path: Path) -> None:
    """The command prints the head and one line, and writes the same to a file."""
    report = tmp_path / "report.json"
    command = [sys.executable, str(FOLDER / "run.py"), "--only", "import", "--rows", "200", "--json", str(report)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert printed[0].split() == ["what", "ours", "comparator", "ratio", "budget"]
    assert printed[1].startswith("import of JSONL")
    (row,) = json.loads(report.read_text(encoding="utf-8"))["rows"]
    assert row["measurement"]["ours"] > 0


def test_unknown_name_lists_the_known_ones() -> None:
    """A typing error is no empty table."""
    command = [sys.executable, str(FOLDER / "run.py"), "--only", "nonesuch"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert "import of JSONL" in finished.stderr


def test_slow_judge_answers_requests_that_come_in_pieces(harness: ModuleType) -> None:
    """The server of the scorer's benchmark speaks enough HTTP, with an id of its own for every call."""
    slow_judge = importlib.import_module("slow_judge")
    with slow_judge.slow_judge(0.0) as address:
        place = urlsplit(address)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=10)
        ids = set()
        for _ in range(3):
            connection.putrequest("POST", "/v1/chat/completions")
            connection.putheader("Content-Length", "4")
            connection.endheaders()
            connection.send(b"{ ")
            connection.send(b" }")
            body = json.loads(connection.getresponse().read())
            ids.add(body["id"])
            assert json.loads(body["choices"][0]["message"]["content"])["score"] == 4
        connection.close()
    assert len(ids) == 3


def test_scorer_and_bare_loop_grade_the_same_answers(harness: ModuleType) -> None:
    """Both sides of the scorer's benchmark end with every answer scored; they raise otherwise."""
    slow_judge = importlib.import_module("slow_judge")
    with slow_judge.slow_judge(0.0) as address:
        for side in ("ours", "bare"):
            assert harness.run_apart("scorer.py", side, address, 3)["cpu_s"] > 0
