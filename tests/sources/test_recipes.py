"""The scripts of docs/recipes, run as ``traffic.command`` against servers and databases made like the real ones."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from evaluator.config import Config
from evaluator.importers import load_items
from evaluator.sources.command import run_command
from tests.sources.conftest import pull, put, settings, stored

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"
SPAN_OF_TIME = {"JUDGEWATCH_SINCE": "2026-03-04T12:00:00Z", "JUDGEWATCH_UNTIL": "2026-03-05T06:00:00.000Z"}


def config_of(folder: Path, name: str) -> Config:
    """A configuration that pulls with a recipe."""
    return settings(folder, command=[sys.executable, str(RECIPES / f"{name}.py")], command_timeout_s=60.0)


def run(folder: Path, name: str, **environment: str) -> tuple[str | None, str, Path]:
    """Run a recipe; return what went wrong, what it said, and where its output is."""
    output = folder / "out.jsonl"
    end = run_command(
        [sys.executable, str(RECIPES / f"{name}.py")],
        folder=folder,
        environment={**os.environ, **environment},
        output=output,
        timeout_s=60,
    )
    return end.problem, end.stderr, output


# ---------------------------------------------------------------- Langfuse


def generation(name: str, **changes: Any) -> dict[str, Any]:
    """An observation as the API gives it: texts, messages and objects are strings."""
    return {
        "id": name, "traceId": f"t-{name}", "type": "GENERATION", "name": "ask", "environment": "production",
        "startTime": "2026-03-04T12:00:00.000Z", "endTime": "2026-03-04T12:00:01.000Z",
        "input": json.dumps([{"role": "user", "content": f"{name}?"}]),
        "output": json.dumps({"role": "assistant", "content": f"{name}."}),
        "providedModelName": "model-z", "sessionId": "c1", "userId": "u1", "tags": ["rag"], **changes,
    }  # fmt: skip


@pytest.fixture
def langfuse(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> HTTPServer:
    """A server, and the variables that lead to it."""
    monkeypatch.setenv("LANGFUSE_BASE_URL", httpserver.url_for("/"))
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "secret")
    return httpserver


def test_langfuse_is_read_page_by_page(langfuse: HTTPServer, tmp_path: Path) -> None:
    """By cursor, with the keys, for the span of time; failed generations are left out; the rest is imported."""
    asked: list[dict[str, list[str]]] = []

    def answer(request: Request) -> Response:
        query = parse_qs(request.query_string.decode())
        asked.append(query)
        assert request.authorization is not None
        assert (request.authorization.username, request.authorization.password) == ("pk", "secret")
        pages: dict[str | None, Any] = {
            None: {"data": [generation("o1"), generation("o2", output=None)], "meta": {"cursor": "next"}},
            "next": {"data": [generation("o3", input="plain?", output="plain.")], "meta": {}},
        }
        return Response(json.dumps(pages[query.get("cursor", [None])[0]]), content_type="application/json")

    langfuse.expect_request("/api/public/v2/observations").respond_with_handler(answer)
    problem, said, output = run(tmp_path, "langfuse", **SPAN_OF_TIME)
    assert problem is None, said
    loaded = load_items(output)
    assert loaded.rejects == ()
    first, second = (entry.item for entry in loaded.items)
    assert (first.external_id, first.input, first.output) == ("t-o1:o1", "o1?", "o1.")
    assert (first.conversation_id, first.user_id, first.model) == ("c1", "u1", "model-z")
    assert (first.answered_utc, first.tags["environment"], first.tags["tags"]) == (
        "2026-03-04T12:00:00Z",
        "production",
        "rag",
    )
    assert (second.input, second.output) == ("plain?", "plain.")
    assert asked[0]["fromStartTime"] == ["2026-03-04T11:00:00+00:00"]
    assert asked[0]["toStartTime"] == ["2026-03-05T06:00:00+00:00"]
    assert asked[0]["type"] == ["GENERATION"]


def test_langfuse_without_the_second_version_is_asked_in_the_first(langfuse: HTTPServer, tmp_path: Path) -> None:
    """As a pull of a run, page after page."""

    def answer(request: Request) -> Response:
        page = int(request.args["page"])
        body = {"data": [generation(f"o{page}", model="m")], "meta": {"page": page, "totalPages": 2}}
        return Response(json.dumps(body), content_type="application/json")

    langfuse.expect_request("/api/public/v2/observations").respond_with_data("no such route", status=404)
    langfuse.expect_request("/api/public/observations").respond_with_handler(answer)
    config = config_of(tmp_path, "langfuse")
    outcome = pull(config)
    assert (outcome.status, outcome.n_new) == ("ok", 2), outcome
    assert stored(config) == {"t-o1:o1", "t-o2:o2"}


def test_langfuse_with_a_wrong_key_takes_nothing_in(langfuse: HTTPServer, tmp_path: Path) -> None:
    """The answer of the server is what is told."""
    langfuse.expect_request("/api/public/v2/observations").respond_with_json({"error": "bad key"}, status=401)
    outcome = pull(config_of(tmp_path, "langfuse"))
    assert outcome.status == "failed"
    assert "401" in outcome.message
    assert "bad key" in outcome.message


# ---------------------------------------------------------------- Phoenix


def phoenix_span(name: str, kind: str = "LLM") -> dict[str, Any]:
    """A span as the API gives it: kind and ids beside flat attributes."""
    return {
        "id": f"U3Bhbjo{name}", "name": "ask", "context": {"trace_id": "t1", "span_id": name}, "span_kind": kind,
        "parent_id": None, "start_time": "2026-03-04T12:00:00+00:00", "end_time": "2026-03-04T12:00:01+00:00",
        "status_code": "OK", "status_message": "", "events": [],
        "attributes": {
            "llm.model_name": "model-z",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": f"{name}?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": f"{name}.",
            "session.id": "c1",
        },
    }  # fmt: skip


def test_phoenix_is_read_page_by_page(httpserver: HTTPServer, tmp_path: Path) -> None:
    """By cursor, with the key, calls of models only; the lines are spans, and are read as such."""
    asked: list[dict[str, list[str]]] = []

    def answer(request: Request) -> Response:
        query = parse_qs(request.query_string.decode())
        asked.append(query)
        assert request.headers["Authorization"] == "Bearer key"
        pages: dict[str | None, Any] = {
            None: {"data": [phoenix_span("s1"), phoenix_span("s2", "CHAIN")], "next_cursor": "next"},
            "next": {"data": [phoenix_span("s3")], "next_cursor": None},
        }
        return Response(json.dumps(pages[query.get("cursor", [None])[0]]), content_type="application/json")

    httpserver.expect_request("/v1/projects/my shop/spans").respond_with_handler(answer)
    environment = {"PHOENIX_BASE_URL": httpserver.url_for(""), "PHOENIX_PROJECT": "my shop", "PHOENIX_API_KEY": "key"}
    problem, said, output = run(tmp_path, "phoenix", **SPAN_OF_TIME, **environment)
    assert problem is None, said
    loaded = load_items(output)
    assert (len(loaded.items), loaded.rejects) == (2, ())
    item = loaded.items[0].item
    assert (item.external_id, item.input, item.output) == ("t1:s1", "s1?", "s1.")
    assert (item.conversation_id, item.model, item.answered_utc) == ("c1", "model-z", "2026-03-04T12:00:00Z")
    assert asked[0]["start_time"] == ["2026-03-04T11:00:00+00:00"]
    assert asked[0]["span_kind"] == ["LLM"]


def test_phoenix_that_is_down_takes_nothing_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a few tries, whose pauses are left out here."""
    monkeypatch.setenv("PHOENIX_BASE_URL", "http://127.0.0.1:9")
    quick = tmp_path / "quick.py"
    code = (RECIPES / "phoenix.py").read_text("utf-8")
    assert "time.sleep(5)" in code
    quick.write_text(code.replace("time.sleep(5)", "pass"), encoding="utf-8")
    outcome = pull(settings(tmp_path, command=[sys.executable, str(quick)]))
    assert outcome.status == "failed"
    assert "http://127.0.0.1:9/v1/projects/default/spans" in outcome.message


# ---------------------------------------------------------------- databases


@pytest.fixture
def answers(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that fills a database with answers of some times."""

    def fill(*times: str) -> Path:
        path = tmp_path / "answers.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(
                "CREATE TABLE answers (id, question, answer, created_at, conversation_id, user_id, topic)"
            )
            rows = [(n, f"{n}?", f"{n}.", at, "c1", "u1", "billing") for n, at in enumerate(times)]
            connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            connection.commit()
        return path

    return fill


def test_query_is_asked_for_the_span_of_time(answers: Callable[..., Path], tmp_path: Path) -> None:
    """An hour more than what is new, and nothing after the run; columns are fields and tags."""
    times = ("2026-03-04T10:59:59Z", "2026-03-04T11:00:00Z", "2026-03-05T05:59:59Z", "2026-03-05T06:00:00Z")
    answers(*times)
    problem, said, output = run(tmp_path, "sql_query", **SPAN_OF_TIME, DATABASE_URL="sqlite:///answers.db")
    assert problem is None, said
    items = [entry.item for entry in load_items(output).items]
    assert [item.external_id for item in items] == ["1", "2"]
    assert (items[0].input, items[0].output, items[0].answered_utc) == ("1?", "1.", times[1])
    assert (items[0].conversation_id, items[0].user_id, items[0].tags) == ("c1", "u1", {"topic": "billing"})


def test_query_of_a_missing_database_takes_nothing_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And makes none."""
    monkeypatch.setenv("DATABASE_URL", "sqlite:///none.db")
    outcome = pull(config_of(tmp_path, "sql_query"))
    assert "there is no database none.db; set DATABASE_URL" in outcome.message
    assert not (tmp_path / "none.db").exists()


def test_query_names_the_databases_it_knows(tmp_path: Path) -> None:
    """Another one needs a line of code."""
    problem, said, _ = run(tmp_path, "sql_query", DATABASE_URL="oracle://x")
    assert problem == "it ended with status 1"
    assert "sqlite:/// or postgresql://" in said


# ---------------------------------------------------------------- a folder of spans


def test_folder_of_spans_needs_no_script(tmp_path: Path) -> None:
    """As docs/sources.md says: one line of configuration."""
    attributes = [
        {"key": "gen_ai.prompt.0.content", "value": {"stringValue": "a?"}},
        {"key": "gen_ai.completion.0.content", "value": {"stringValue": "a."}},
    ]
    spans = [{"traceId": "t", "spanId": "s", "startTimeUnixNano": "1772618400000000000", "attributes": attributes}]
    export = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    put(tmp_path / "spans/a.json", json.dumps(export, indent=1).encode())
    put(tmp_path / "spans/b.json", json.dumps(export).encode())
    config = settings(tmp_path, files="spans/*.json")
    outcome = pull(config)
    assert (outcome.status, outcome.n_new, outcome.n_known) == ("ok", 1, 1), outcome
    assert stored(config) == {"t:s"}


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.py")), ids=lambda path: path.stem)
def test_recipe_needs_nothing_but_the_standard_library(path: Path) -> None:
    """But for the driver of a database that is not in it."""
    import ast

    names = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names, "psycopg"}
