"""Spans as rows: OTLP, OpenInference, pages of spans, exported traces; cut texts, failed calls, other spans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import DataFileError
from evaluator.importers import Limits, LoadedFile, detect_format, load_items
from evaluator.importers.otel_attributes import CutAttributeError, from_json, numbered, read_attributes
from evaluator.importers.otel_spans import looks_like_spans
from evaluator.records import Item, ItemFlag
from tests.importers.conftest import CASES, SAMPLES, Load
from tests.importers.test_cases import expected

START = "2026-03-01T09:00:00Z"
CHAT = {"gen_ai.operation.name": "chat"}


def span(attributes: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A span as most tools write one outside OTLP."""
    return {"trace_id": "t1", "span_id": "s1", "name": "chat", "start_time": START, "attributes": attributes, **changes}


def write(path: Path, value: Any, indent: int | None = 1) -> Path:
    """Write a value as JSON."""
    path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
    return path


@pytest.fixture
def one(tmp_path: Path) -> Any:
    """Return a function that reads one span as an item."""

    def read(attributes: dict[str, Any], **changes: Any) -> Item:
        loaded = load_items(write(tmp_path / "spans.json", [span(attributes, **changes)]), format="otel")
        assert (len(loaded.items), loaded.rejects) == (1, ()), loaded
        return loaded.items[0].item

    return read


@pytest.fixture
def none(tmp_path: Path) -> Any:
    """Return a function that reads spans of which none becomes an item."""

    def read(*spans: Any) -> LoadedFile:
        loaded = load_items(write(tmp_path / "spans.json", list(spans)), format="otel")
        assert loaded.items == ()
        return loaded

    return read


def messages(role: str, text: str) -> list[dict[str, Any]]:
    """One message in the newest form."""
    return [{"role": role, "parts": [{"type": "text", "content": text}]}]


# ---------------------------------------------------------------- the shared case


def test_i04_spans_of_three_conventions_are_read_and_the_cut_one_is_refused() -> None:
    """I04: three pairs with their times, one reject for the cut attribute, one span that is no call."""
    want = expected("I04")["spans"]
    loaded = load_items(CASES / "inputs" / "i04_spans.json")
    assert len(loaded.items) == want["imported"]
    assert len(loaded.rejects) == want["bad"]
    assert loaded.notes == ("1 span left out: no call of a model, or one that failed without an answer",)
    found = {str(entry.item.external_id).partition(":")[2][:2]: entry.item for entry in loaded.items}
    for name, (asked, answered) in want["pairs"].items():
        assert found[name].input.endswith(asked)
        assert found[name].output == answered
    assert {name: item.answered_utc for name, item in found.items()} == want["times_utc"]
    for item in found.values():
        assert not any(mark in item.input + item.output for mark in ("{", "'role'", '"role"'))
    assert found["b1"].tags["service.name"] == "shop-assistant"
    (reject,) = loaded.rejects
    assert reject.line_number == 4
    assert "gen_ai.input.messages is cut off after 60 characters" in reject.reason
    assert "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT" in reject.reason
    assert "b4b4b4b4b4b4b4b4" in reject.text_start


def test_the_broken_sample_loses_only_what_is_broken() -> None:
    """A cut text, a call without texts, something else and an unreadable time are refused by position; one is read."""
    loaded = load_items(SAMPLES / "broken.otel")
    assert [entry.line_number for entry in loaded.items] == [6]
    reasons = {reject.line_number: reject.reason for reject in loaded.rejects}
    assert sorted(reasons) == [1, 2, 3, 5]
    assert "cut off" in reasons[1]
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true" in reasons[2]
    assert reasons[3] == "not a span: a JSON object is needed"
    assert "'yesterday'" in reasons[5]


# ---------------------------------------------------------------- conventions


def test_newest_names_with_instructions_and_a_tool_call(one: Any) -> None:
    """System instructions come first; a history names its calls; ids, user, conversation and model are read."""
    item = one(
        {
            **CHAT,
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be kind."}]),
            "gen_ai.input.messages": json.dumps(
                [
                    *messages("user", "Is it raining?"),
                    {"role": "assistant", "parts": [{"type": "tool_call", "name": "rain", "arguments": {}}]},
                    {"role": "tool", "parts": [{"type": "tool_call_response", "response": "heavy"}]},
                ]
            ),
            "gen_ai.output.messages": json.dumps(messages("assistant", "Yes, heavily.")),
            "gen_ai.request.model": "model-z",
            "gen_ai.response.model": "model-z-2026-01",
            "gen_ai.conversation.id": "c7",
            "user.id": "u7",
            "gen_ai.provider.name": "openai",
            "gen_ai.usage.input_tokens": 12,
            "shop.topic": "weather",
        }
    )
    assert item.input == "System: Be kind.\n\nUser: Is it raining?\n\nAssistant: [tool call: rain]\n\nTool: heavy"
    assert item.output == "Yes, heavily."
    assert (item.external_id, item.conversation_id, item.user_id) == ("t1:s1", "c7", "u7")
    assert (item.model, item.answered_utc) == ("model-z-2026-01", START)
    assert item.tags == {"span": "chat", "provider": "openai", "shop.topic": "weather"}


def test_messages_may_be_values_and_not_text(one: Any) -> None:
    """OTLP can hold lists and objects, typed to the last value."""
    part = {"kvlistValue": {"values": [
        {"key": "type", "value": {"stringValue": "text"}}, {"key": "content", "value": {"stringValue": "Hello?"}},
    ]}}  # fmt: skip
    message = {"kvlistValue": {"values": [
        {"key": "role", "value": {"stringValue": "user"}},
        {"key": "parts", "value": {"arrayValue": {"values": [part]}}},
    ]}}  # fmt: skip
    attributes = [
        {"key": "gen_ai.input.messages", "value": {"arrayValue": {"values": [message]}}},
        {"key": "gen_ai.output.messages", "value": {"stringValue": json.dumps(messages("assistant", "Hi."))}},
        {"key": "shop.floor", "value": {"intValue": "3"}},
        {"key": "shop.vip", "value": {"boolValue": True}},
    ]
    item = one(attributes)
    assert (item.input, item.output) == ("Hello?", "Hi.")
    assert item.tags == {"span": "chat", "shop.floor": "3", "shop.vip": "true"}


def test_old_names_written_as_keys(one: Any) -> None:
    """``gen_ai.prompt.0.content`` and ``gen_ai.completion.0.content``, in the order of their numbers."""
    numbers = {f"gen_ai.prompt.{n}.role": "user" if n % 2 == 0 else "assistant" for n in range(11)}
    texts = {f"gen_ai.prompt.{n}.content": f"line {n}" for n in range(11)}
    item = one({**texts, **numbers, "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Done."})
    assert item.input.split("\n\n")[-1] == "User: line 10"
    assert item.input.startswith("User: line 0\n\nAssistant: line 1\n\n")
    assert item.output == "Done."


def test_old_names_with_parts_as_text(one: Any) -> None:
    """Some instrumentations write a list of parts into the content; a text that starts with a bracket stays."""
    parts = json.dumps([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "x"}}])
    asked = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": parts}
    answered = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": '[{"a": 1}] is a list'}
    item = one({**asked, **answered})
    assert item.input == "Look:\n[image]"
    assert item.output == '[{"a": 1}] is a list'


def test_old_names_as_one_text(one: Any) -> None:
    """``gen_ai.prompt`` as JSON text, ``gen_ai.completion`` as plain text."""
    asked = json.dumps([{"role": "user", "content": "Ready?"}])
    item = one({"gen_ai.prompt": asked, "gen_ai.completion": "Ready."})
    assert (item.input, item.output) == ("Ready?", "Ready.")


def test_events_with_attributes(one: Any) -> None:
    """The oldest convention put the texts into events of the span."""
    events = [
        {"name": "gen_ai.content.prompt", "attributes": {"gen_ai.prompt": '[{"role": "user", "content": "Where?"}]'}},
        {"name": "gen_ai.content.completion",
         "attributes": {"gen_ai.completion": '[{"role": "assistant", "content": "There."}]'}},
    ]  # fmt: skip
    item = one({"gen_ai.system": "openai"}, events=events)
    assert (item.input, item.output) == ("Where?", "There.")


def test_events_that_are_messages(one: Any) -> None:
    """One event a message, with a body or with attributes, and the choice as the answer."""
    events = [
        {"name": "gen_ai.system.message", "attributes": {"content": "Be brief."}},
        {"name": "gen_ai.user.message", "body": {"content": "When?"}},
        {"name": "gen_ai.choice", "attributes": {"index": 0, "message": '{"role": "assistant", "content": "Now."}'}},
        {"name": "exception", "attributes": {}},
        "no event",
    ]
    item = one(CHAT, events=events)
    assert (item.input, item.output) == ("System: Be brief.\n\nUser: When?", "Now.")


def test_newest_event_holds_the_newest_names(one: Any) -> None:
    """The details of an inference as an event."""
    details = {
        "gen_ai.input.messages": messages("user", "How?"),
        "gen_ai.output.messages": messages("assistant", "So."),
    }
    events = [{"name": "gen_ai.client.inference.operation.details", "attributes": details}]
    item = one(CHAT, events=events)
    assert (item.input, item.output) == ("How?", "So.")


def test_openinference_messages_with_wrappers(one: Any) -> None:
    """Entries are unwrapped: contents with parts, calls of tools, results of tools."""
    item = one(
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "model-z",
            "llm.provider": "openai",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.type": "text",
            "llm.input_messages.0.message.contents.0.message_content.text": "Tides in Nice?",
            "llm.input_messages.1.message.role": "assistant",
            "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "tides",
            "llm.input_messages.2.message.role": "tool",
            "llm.input_messages.2.message.content": "low",
            "input.value": '{"messages": "not this"}',
            "input.mime_type": "application/json",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "Low at noon.",
            "session.id": "c1",
            "metadata": '{"plan": "gold"}',
            "tag.tags": ["beta", "eu"],
        }
    )
    assert item.input == "User: Tides in Nice?\n\nAssistant: [tool call: tides]\n\nTool: low"
    assert item.output == "Low at noon."
    assert (item.model, item.conversation_id) == ("model-z", "c1")
    assert item.tags == {"span": "chat", "provider": "openai", "plan": "gold", "tags": "beta, eu"}


def test_openinference_values_are_read_as_their_type(one: Any) -> None:
    """A JSON value is a conversation and a reply; a text stays a text, whatever it looks like."""
    asked = json.dumps({"model": "z", "messages": [{"role": "user", "content": "Open?"}]})
    types = {"input.mime_type": "application/json", "output.mime_type": "application/json"}
    reply = json.dumps({"text": "Until six.", "finish_reason": "stop"})
    item = one({"openinference.span.kind": "LLM", "input.value": asked, "output.value": reply, **types})
    assert (item.input, item.output) == ("Open?", "Until six.")
    plain = one({"openinference.span.kind": "LLM", "input.value": "Open?", "output.value": '{"a": 1}'})
    assert plain.output == '{"a": 1}'


def test_answer_that_only_calls_a_tool_is_marked(one: Any) -> None:
    """It is no prose."""
    answered = json.dumps([{"role": "assistant", "parts": [{"type": "tool_call", "name": "rain", "arguments": {}}]}])
    item = one({**CHAT, "gen_ai.input.messages": "Rain?", "gen_ai.output.messages": answered})
    assert item.output == ""
    assert ItemFlag.TOOL_CALL in item.flags


def test_attributes_may_be_nested(one: Any) -> None:
    """Objects in objects are dotted names; an input that is an object is a value."""
    item = one(
        {
            "openinference": {"span": {"kind": "LLM"}},
            "llm": {"output_messages": [{"message": {"role": "assistant", "content": "Yes."}}]},
            "input": {"value": {"args": ["Is it?"]}},
            "user": {"id": "u1"},
        }
    )
    assert (item.input, item.output, item.user_id) == ("Is it?", "Yes.", "u1")


# ---------------------------------------------------------------- what is no call


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"http.method": "GET"},
        {"gen_ai.operation.name": "embeddings", "input.value": "a", "output.value": "b"},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.input.messages": "x"},
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": "x", "gen_ai.output.messages": "y"},
        {"openinference.span.kind": "RETRIEVER", "input.value": "a", "output.value": "b"},
        {"openinference.span.kind": "CHAIN", "input.value": "a", "output.value": "b"},
        {"input.value": "only a question"},
    ],
)
def test_span_that_is_no_call_is_counted_and_left_out(none: Any, attributes: dict[str, Any]) -> None:
    """Steps around a call hold the same texts once more."""
    loaded = none(span(attributes), span({"db.system": "x"}))
    assert loaded.rejects == ()
    assert loaded.notes == ("2 spans left out: no call of a model, or one that failed without an answer",)


@pytest.mark.parametrize("status", [{"code": 2}, {"code": "STATUS_CODE_ERROR"}, {"status_code": "ERROR"}])
def test_call_that_failed_has_no_answer_to_grade(none: Any, status: dict[str, Any]) -> None:
    """It is left out, not an empty answer."""
    loaded = none(span({**CHAT, "gen_ai.input.messages": json.dumps(messages("user", "Hm?"))}, status=status))
    assert (loaded.rejects, len(loaded.notes)) == ((), 1)


def test_call_that_did_not_fail_and_answered_nothing_is_an_empty_answer(one: Any) -> None:
    """As in every other format."""
    item = one({**CHAT, "gen_ai.input.messages": json.dumps(messages("user", "Hm?"))})
    assert ItemFlag.EMPTY_OUTPUT in item.flags


# ---------------------------------------------------------------- shapes of files


def test_lines_of_spans_and_of_exports(load: Load) -> None:
    """One span a line, one export a line; a broken line is named by its number, a blank one is counted."""
    export = {"resourceSpans": [{"scopeSpans": [{"spans": [span({"input.value": "b?", "output.value": "b"})]}]}]}
    loaded = load(
        span({"input.value": "a?", "output.value": "a"}),
        b"\n",
        b'{"attributes": \n',
        export,
        b"5\n",
        name="spans.jsonl",
    )
    assert [(entry.line_number, entry.item.output) for entry in loaded.items] == [(1, "a"), (4, "b")]
    assert [(reject.line_number, reject.reason.partition(" at ")[0]) for reject in loaded.rejects] == [
        (3, "broken JSON"),
        (5, "not a span: a JSON object is needed"),
    ]
    assert loaded.n_blank == 1


def test_export_on_one_line_names_positions(load: Load) -> None:
    """A whole file on one line is one value."""
    spans = [span({}), span({"input.value": "a?", "output.value": "a"})]
    loaded = load(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode(), name="spans.json")
    assert [entry.line_number for entry in loaded.items] == [2]


def test_page_of_spans_as_a_server_sends_it(tmp_path: Path) -> None:
    """Ids in a context, kinds beside the attributes, another kind left out."""
    call = {
        "id": "U3Bhbjox", "name": "ask", "context": {"trace_id": "0xabc", "span_id": "0xdef"}, "span_kind": "LLM",
        "start_time": "2026-03-01T10:00:00+01:00", "status_code": "OK",
        "attributes": {"input.value": "a?", "output.value": "a"},
    }  # fmt: skip
    page = {"data": [call, {**call, "span_kind": "CHAIN"}], "next_cursor": None}
    loaded = load_items(write(tmp_path / "page.json", page))
    (entry,) = loaded.items
    assert (entry.item.external_id, entry.item.answered_utc) == ("abc:def", START)
    assert len(loaded.notes) == 1


def test_bare_attributes_are_a_span_without_id_and_time(tmp_path: Path) -> None:
    """As instrumentations keep them in their own tests."""
    path = write(tmp_path / "span.json", {"openinference.span.kind": "LLM", "input.value": "a?", "output.value": "a"})
    assert detect_format(path) == "otel"
    (entry,) = load_items(path).items
    assert (entry.item.external_id, entry.item.output) == (None, "a")
    assert ItemFlag.NO_TIME in entry.item.flags


def test_exported_trace_of_langfuse(tmp_path: Path) -> None:
    """Its generation is the answer; session, user and tags are the trace's; the failed one is left out."""
    generation = {
        "id": "o1", "traceId": "t1", "type": "GENERATION", "name": "ask", "startTime": "2026-03-01T09:00:00.000Z",
        "model": "model-z", "input": {"args": ["Open on Monday?"]}, "output": '{"role": "assistant", "content": "No."}',
        "level": "DEFAULT", "version": None,
    }  # fmt: skip
    failed = {**generation, "id": "o2", "output": None, "level": "ERROR"}
    trace = {
        "trace": {"id": "t1", "sessionId": "c1", "userId": "u1", "tags": ["rag", "eu"], "version": "1.2"},
        "observations": [{**generation, "id": "o0", "type": "SPAN"}, generation, failed],
    }
    path = write(tmp_path / "trace.json", trace)
    assert detect_format(path) == "otel"
    (entry,) = load_items(path).items
    item = entry.item
    assert (item.input, item.output) == ("Open on Monday?", "No.")
    assert (item.external_id, item.conversation_id, item.user_id) == ("t1:o1", "c1", "u1")
    assert (item.answered_utc, item.model) == (START, "model-z")
    assert item.tags == {"name": "ask", "tags": "rag, eu", "version": "1.2"}


def test_file_that_is_one_broken_or_too_large_value_is_refused(tmp_path: Path) -> None:
    """There is no telling where it goes on; the limit says what to do instead."""
    path = tmp_path / "spans.json"
    path.write_text('{"resourceSpans": [\n{"scopeSpans": [', encoding="utf-8")
    with pytest.raises(DataFileError, match=r"spans\.json: broken JSON"):
        load_items(path)
    write(path, {"resourceSpans": []})
    with pytest.raises(DataFileError, match="more than 5 bytes in one JSON value; save a span a line"):
        load_items(path, limits=Limits(json_bytes=5))


@pytest.mark.parametrize(
    ("start", "is_spans"),
    [
        (b'{"resourceSpans":[', True),
        (b'[{"spanId": "a", "attributes": {', True),
        (b' {"trace": {"id": "t"}, "observations": [', True),
        (b'{"trace": {"id": "t", "start": "2026-03-01"}, "input": "a", "score": 4}', False),
        (b'{"span_id": "a", "attributes": {}, "output": "x"}', False),
        (b'{"span_id": "a", "attributes": {}, "output": {"value": "x"}}', True),
        (b'{"input": "a", "output": "b", "attributes": {}}', False),
        (b"id,resourceSpans", False),
        (b'[{"output": "a \\"resourceSpans\\": b"}]', False),
        (b"", False),
    ],
)
def test_spans_are_told_from_rows_of_answers(start: bytes, is_spans: bool) -> None:
    """A table with a column of trace ids stays a table."""
    assert looks_like_spans(start) is is_spans


# ---------------------------------------------------------------- attributes


def test_cut_text_is_told_by_its_name() -> None:
    """A text that is no JSON at all is a text."""
    assert from_json("plain", "x") == "plain"
    assert from_json(" [1]", "x") == [1]
    with pytest.raises(CutAttributeError, match="attribute x is cut off after 7 characters"):
        from_json('{"a": [', "x")


def test_numbered_attributes_survive_odd_names() -> None:
    """A value and a list of one name, a gap in the numbers, and names that are no numbers."""
    assert numbered({"p.0.a": 1, "p.2.a": 2, "q": 3}, "p") == [{"a": 1}, {"a": 2}]
    assert numbered({"p.0": "text", "p.0.a": 1}, "p") == ["text"]
    assert numbered({"p.a": 1}, "p") == []
    assert numbered({}, "p") == []


def test_attributes_of_any_shape_do_not_break_the_reader() -> None:
    """Whatever is no attribute is left out."""
    assert read_attributes(None) == {}
    assert read_attributes([{"key": 5}, "x", {"key": "a", "value": {"stringValue": "b"}}]) == {"a": "b"}
    assert read_attributes([{"key": "n", "value": {"arrayValue": 7}}]) == {"n": []}
    deep: dict[str, Any] = {"x": 1}
    for _ in range(60):
        deep = {"y": deep}
    assert len(read_attributes(deep)) == 1
