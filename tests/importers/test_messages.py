"""Chat messages and reply objects: the judge reads the conversation, never its serialisation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.importers.columns import FIELD_NAMES
from evaluator.importers.messages import input_text, output_text, plain_text, render_messages

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Open on Sunday?"}
ASSISTANT = {"role": "assistant", "content": "Yes."}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "text", "parts", "messages", "choices", "tool_calls", "name", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def answer(value: object) -> tuple[str, bool]:
    return output_text(value, FIELD_NAMES["output"])


def test_one_user_message_is_its_bare_text() -> None:
    """A lone question needs no label."""
    assert input_text([USER]) == input_text(USER) == "Open on Sunday?"


def test_a_conversation_is_a_transcript_with_labels() -> None:
    """System, user and assistant are told apart, with a blank line between."""
    assert input_text([SYSTEM, USER]) == "System: Be brief.\n\nUser: Open on Sunday?"
    assert input_text([USER, ASSISTANT, USER]) == "User: Open on Sunday?\n\nAssistant: Yes.\n\nUser: Open on Sunday?"


@pytest.mark.parametrize(
    ("role", "label"),
    [("developer", "System"), ("human", "User"), ("ai", "Assistant"), ("function", "Tool"), ("critic\n#1", "Critic 1")],
)
def test_roles_of_other_frameworks_are_known(role: str, label: str) -> None:
    """A role that nobody knows is its own label, on one line."""
    assert render_messages([SYSTEM, {"role": role, "content": "x"}]).endswith(f"\n\n{label}: x")


def test_messages_that_name_a_type_instead_of_a_role_are_read() -> None:
    """One framework writes type human and type ai."""
    assert input_text([{"type": "human", "content": "Hi"}, {"type": "ai", "content": "Hello"}]) == (
        "User: Hi\n\nAssistant: Hello"
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "text", "text": "a"}, "a"),
        ({"type": "input_text", "text": "a"}, "a"),
        ({"type": "text", "content": "a"}, "a"),
        ({"type": "text", "text": {"value": "a"}}, "a"),
        ("a", "a"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, "[image]"),
        ({"type": "image", "source": {"data": "AAAA"}}, "[image]"),
        ({"image_url": {"url": "data:image/png;base64,AAAA"}}, "[image]"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA"}}, "[audio]"),
        ({"type": "file", "file": {"file_data": "AAAA"}}, "[file]"),
        ({"type": "tool_use", "name": "book", "input": {"a": 1}}, "[tool call: book]"),
        ({"type": "tool_result", "content": [{"type": "text", "text": "done"}]}, "done"),
        ({"type": "tool_call_response", "response": "rainy"}, "rainy"),
        ({"type": "thinking", "thinking": "hm"}, ""),
        ({"type": "hologram", "blob": "AAAA"}, "[hologram]"),
    ],
)
def test_content_parts_keep_text_and_name_everything_else(part: object, text: str) -> None:
    """Pictures and sounds become a word without their data; private reasoning is left out."""
    expected = f"before\n{text}" if text else "before"
    assert input_text([{"role": "user", "content": ["before", part]}]) == expected


def test_tool_calls_in_a_history_are_named_without_their_json() -> None:
    """The judge sees that a tool was called, not the call's arguments."""
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "book", "arguments": '{"a":1}'}}],
    }
    result = {"role": "tool", "content": "booked"}
    assert input_text([USER, call, result]) == ("User: Open on Sunday?\n\nAssistant: [tool call: book]\n\nTool: booked")
    old = {"role": "assistant", "function_call": {"name": "book", "arguments": "{}"}}
    assert input_text([USER, old]).endswith("Assistant: [tool call: book]")


@pytest.mark.parametrize("write", [json.dumps, repr])
def test_messages_stored_as_text_are_recognised_in_an_input(write: Any) -> None:
    """As JSON, and as the Python literal that tables are full of."""
    for value in ([SYSTEM, USER], {"messages": [SYSTEM, USER]}):
        assert input_text(write(value)) == "System: Be brief.\n\nUser: Open on Sunday?"
    assert input_text(" " + write(USER)) == "Open on Sunday?"


@pytest.mark.parametrize(
    "text",
    [
        "Which role has the content?",
        '[{"role": "user"}]',
        '{"role": "admin", "rights": []}',
        "[1, 2] is my role",
        '[{"role": "user", "content": "cut',
        "[" * 5000 + " role",
        "{'role': __import__('os')}",
    ],
)
def test_text_that_is_no_message_stays_as_written(text: str) -> None:
    """Whatever is not a list of messages is the user's own text."""
    assert input_text(text) == text


def test_an_escape_unknown_to_python_in_stored_messages_warns_nobody() -> None:
    r"""'\d' in a literal is somebody's text; warnings are errors here."""
    assert input_text("[{'role': 'user', 'content': 'digits are \\d'}]") == "digits are \\d"


def test_a_refusal_in_a_history_is_the_text_of_its_turn() -> None:
    """A refusal stands in a field of its own, beside empty content."""
    refused = {"role": "assistant", "content": None, "refusal": "I cannot say."}
    assert input_text([USER, refused]).endswith("Assistant: I cannot say.")


def test_a_text_among_messages_is_a_turn_of_the_user() -> None:
    """Some exporters mix both."""
    assert input_text([ASSISTANT, "And on Monday?"]) == "Assistant: Yes.\n\nUser: And on Monday?"


def test_an_object_of_inputs_is_readable_lines() -> None:
    """One key alone is its value; a conversation inside is a transcript; else a line for each key."""
    assert input_text({"question": "Open?"}) == "Open?"
    assert input_text({"model": "m", "messages": [USER]}) == "Open on Sunday?"
    assert input_text({"topic": "sea", "tone": "dry", "n": 3}) == "topic: sea\ntone: dry\nn: 3"
    assert input_text(None) == ""
    assert input_text(["a", "b"]) == "a\nb"


@pytest.mark.parametrize(
    "value",
    [
        "Yes.",
        ASSISTANT,
        {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "Yes."}], "finish_reason": "stop"},
        [USER, {"role": "assistant", "content": "First."}, USER, ASSISTANT],
        {"messages": [USER, ASSISTANT]},
        {"choices": [{"index": 0, "message": ASSISTANT, "finish_reason": "stop"}], "usage": {}},
        {"choices": [{"text": "Yes.", "index": 0, "finish_reason": "stop"}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]}}]},
        [{"type": "text", "text": "Yes."}],
        [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}],
        {"output": [{"type": "reasoning", "summary": []}, {"type": "message", **ASSISTANT}], "model": "m"},
        {"answer": "Yes.", "sources": ["a"]},
        {"text": "Yes.", "finish_reason": "stop"},
        {"role": "assistant", "content": None, "refusal": "Yes."},
        {"role": "assistant", "content": "Yes.", "tool_calls": [{"function": {"name": "f"}}]},
    ],
)
def test_the_answer_is_found_in_every_form_of_reply(value: object) -> None:
    """Messages, parts, choices, candidates and plain objects all say Yes."""
    assert answer(value) == ("Yes.", False)


@pytest.mark.parametrize(
    "value",
    [
        {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": {"name": "book"}}]},
        {"role": "assistant", "content": "", "function_call": {"name": "book"}},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "book", "input": {}}]},
        [USER, {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "book"}}]}],
        {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}}]},
        [{"type": "reasoning"}, {"type": "function_call", "name": "book"}],
        {"reply": [{"content": "", "tool_calls": [{"id": "1"}], "role": "assistant"}], "message": ""},
    ],
)
def test_a_tool_call_without_text_is_empty_and_marked(value: object) -> None:
    """There is nothing to grade; the mark says why."""
    assert answer(value) == ("", True)


@pytest.mark.parametrize("value", [None, [], {"role": "assistant", "content": None}, [USER], ""])
def test_no_answer_is_empty_text_without_a_mark(value: object) -> None:
    """A question alone is not an answer."""
    assert answer(value) == ("", False)


def test_a_tool_call_far_inside_an_empty_reply_is_not_looked_for() -> None:
    """The search ends at a depth that no reply has."""
    value: dict[str, Any] = {"tool_calls": [1]}
    for _ in range(8):
        value = {"inner": value, "message": ""}
    assert answer(value) == ("", False)


@pytest.mark.parametrize("text", ['[{"role": "user"}]', json.dumps([USER, ASSISTANT]), "{'a': 1}", " {} "])
def test_an_answer_that_is_a_string_stays_as_written(text: str) -> None:
    """Case I04 c6: the assistant was asked for JSON, and wrote it."""
    assert answer(text) == (text, False)


def test_an_object_that_is_the_answer_is_shown_as_json() -> None:
    """Structured output is what the assistant said; letters are not escaped."""
    assert answer({"title": "Größe", "n": 1}) == ('{"title": "Größe", "n": 1}', False)
    assert answer([{"type": "book", "title": "X"}, {"type": "book", "title": "Y"}])[0].startswith('[{"type": "book"')
    assert answer(4.5) == ("4.5", False)
    assert answer(True) == ("true", False)


def test_plain_text_reads_documents_of_the_usual_shapes() -> None:
    """Retrieved documents are strings, or objects with their text under a known key."""
    assert plain_text({"page_content": "a", "metadata": {}}) == "a"
    assert plain_text({"text": "a"}) == "a"
    assert plain_text(["a", "b"]) == "a\nb"
    assert plain_text({"n": 1}) == '{"n": 1}'
    assert plain_text(None) == ""


@given(JSON_VALUES)
def test_any_json_value_becomes_text(value: object) -> None:
    """No shape of value breaks the reader, as input or as output."""
    assert isinstance(input_text(value), str)
    text, is_tool_call = answer(value)
    assert not (is_tool_call and text.strip())


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant", "tool"]), st.text(min_size=1)), min_size=1))
def test_a_transcript_holds_every_text_and_no_syntax(turns: list[tuple[str, str]]) -> None:
    """Every word of the conversation is there; the role keys are not."""
    messages = [{"role": role, "content": text} for role, text in turns]
    rendered = input_text(json.dumps(messages))
    position = 0
    for _, text in turns:
        position = rendered.index(text, position) + len(text)
    assert rendered == input_text(messages)
    n_quoted = sum(text.count('"role"') for _, text in turns)
    assert rendered.count('"role"') == n_quoted
