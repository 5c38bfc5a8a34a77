"""Rows nobody tuned for: paths, objects, names of several words, what is not guessed, and what might be it."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.errors import DataFileError
from evaluator.importers import LoadedFile
from evaluator.importers.names import field_by_words, normal_name
from evaluator.records import Item, ItemFlag
from tests.importers.conftest import Load

TRACE = {
    "traceId": "t1",
    "sessionId": "s1",
    "startTime": "2026-10-17T08:09:44.587+02:00",
    "user": {"id": "v1", "loggedIn": False},
    "attributes": {"channel": "app", "lang": "fr"},
    "request": {"kind": "single", "prompt": "Open?"},
    "response": {"text": "Yes.", "finishReason": "stop"},
    "usage": {"in": 320, "out": 16},
    "bot": {"name": "linnea", "release": "2026.9.1"},
}
CHAT = {
    "kind": "chat",
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
}

READ = (
    "'request.prompt' is read as input, 'response.text' is read as output, 'user.id' is read as user_id,"
    " 'startTime' is read as answered_at"
)
DOUBT = (
    "'data.question' and 'payload.question' may each be the input; none is read, choose with --field"
    " input=data.question"
)


def only(loaded: LoadedFile) -> Item:
    """The only item of a file without rejects."""
    assert not loaded.rejects
    (entry,) = loaded.items
    return entry.item


def texts(loaded: LoadedFile) -> list[tuple[str, str]]:
    """Question and answer of each item."""
    return [(entry.item.input, entry.item.output) for entry in loaded.items]


def test_a_trace_of_objects_is_read_by_itself(load: Load) -> None:
    """Question, answer, time, ids and tags of a trace store's export, and its paths in a note."""
    loaded = load(TRACE)
    item = only(loaded)
    assert (item.input, item.output, item.answered_utc) == ("Open?", "Yes.", "2026-10-17T06:09:44.587Z")
    assert (item.external_id, item.conversation_id, item.user_id, item.model) == ("t1", "s1", "v1", None)
    assert item.tags == {
        "channel": "app", "lang": "fr", "request.kind": "single", "response.finishReason": "stop",
        "user.loggedIn": "false", "bot.name": "linnea", "bot.release": "2026.9.1",
    }  # fmt: skip
    assert not item.flags
    assert loaded.notes == (
        READ,
        "numbers in objects are no tags and were left out: 'usage.in', 'usage.out'",
    )


def test_rows_of_one_file_may_differ_inside(load: Load) -> None:
    """A plain question, a chat, and an answer that never came."""
    broken = {**TRACE, "traceId": "t3", "response": {"text": None, "finishReason": "error"}}
    loaded = load(TRACE, {**TRACE, "traceId": "t2", "request": CHAT}, broken)
    assert texts(loaded) == [("Open?", "Yes."), ("User: Hi\n\nAssistant: Hello", "Yes."), ("Open?", "")]
    assert ItemFlag.EMPTY_OUTPUT in loaded.items[2].item.flags
    assert loaded.notes[0].startswith("'request.messages' and 'request.prompt' are read as input")


# ---------------------------------------------------------------- paths


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("request.prompt", "Open?"),
        ("REQUEST.Prompt", "Open?"),
        ("turns[0].q", "first"),
        ("turns[-1].q", "last"),
        ("deep.er.est", "far"),
        ("json.q", "in JSON"),
        ("nowhere.at.all, turns[1].q", "last"),
        ("request", "Open?"),
    ],
)
def test_a_field_may_be_named_by_a_path(load: Load, path: str, question: str) -> None:
    """Objects, places in lists, JSON in a text, several of which the first filled one counts, an object as a whole."""
    row = {
        **TRACE, "turns": [{"q": "first"}, {"q": "last"}], "deep": {"er": {"est": "far"}}, "json": '{"q": "in JSON"}',
    }  # fmt: skip
    item = only(load(row, field_map={"input": path}))
    assert item.input == question
    assert item.output == "Yes."


def test_a_key_with_a_point_wins_over_a_path(load: Load) -> None:
    """On top, and inside an object."""
    row = {"a.b": "key", "a": {"b": "path", "c.d": "inner"}, "output": "x"}
    assert only(load(row, field_map={"input": "a.b"})).input == "key"
    assert only(load(row, field_map={"input": "a.c.d"})).input == "inner"


def test_what_a_path_leads_to_is_no_tag_as_well(load: Load) -> None:
    """A question of few characters would be one."""
    row = {"ask": {"words": "Open?", "kind": "k"}, "output": "x"}
    assert only(load(row, field_map={"input": "ask.words"})).tags == {"ask.kind": "k"}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("request.promt", r"'request' has the keys 'kind', 'prompt'"),
        ("request.prompt.text", r"'request.prompt' is a plain value"),
        ("turns[2].q", r"'turns' is a list of 1"),
        ("asked.prompt", r"the row has the keys 'traceId', 'sessionId'"),
    ],
)
def test_a_path_that_leads_nowhere_is_told_with_what_is_there(load: Load, path: str, why: str) -> None:
    """A typing error in a path names the place where it goes wrong."""
    with pytest.raises(DataFileError, match=why) as caught:
        load({**TRACE, "turns": [{"q": "x"}]}, field_map={"input": path})
    assert f"{path!r}, named by --field input" in str(caught.value)


def test_a_row_without_the_named_answer_is_rejected_and_others_are_read(load: Load) -> None:
    """The reject says where the path ends."""
    loaded = load({"a": {"b": "x"}, "input": "q"}, {"a": {"c": "y"}, "input": "q"}, field_map={"output": "a.b"})
    assert texts(loaded) == [("q", "x")]
    assert loaded.rejects[0].reason == "no field for the answer: 'a.b' is not there: 'a' has the keys 'c'"


def test_columns_of_a_flattened_table_are_paths(load: Load) -> None:
    """What tools write for objects in a table; short columns keep their names as tags."""
    content = b"request.prompt,response.text,user.id,attributes.lang,startTime\nOpen?,Yes.,u1,en,2026-03-01T10:00:00Z\n"
    item = only(load(content, name="rows.csv"))
    assert (item.input, item.output, item.user_id, item.tags) == ("Open?", "Yes.", "u1", {"attributes.lang": "en"})


# ---------------------------------------------------------------- what counts first


@pytest.mark.parametrize(
    ("row", "question", "answer"),
    [
        ({"data": {"question": "Q", "answer": "A"}}, "Q", "A"),
        ({"prompt": "top", "request": {"prompt": "in"}, "response": {"answer": "A"}}, "top", "A"),
        ({"request": "Q", "response": "A"}, "Q", "A"),
        ({"request": '{"prompt": "Q"}', "response": "A"}, "Q", "A"),
        ({"user": {"message": "Q"}, "bot": {"reply": "A"}}, "Q", "A"),
        ({"Visitor question": "Q", "Bot answer": "A", "system_prompt": "Be kind."}, "Q", "A"),
        ({"user_message": "Q", "assistant_reply": "A"}, "Q", "A"),
        ({"Visitor question": "words", "request": {"prompt": "sure"}, "output": "A"}, "sure", "A"),
        ({"question": {"text": "Q", "lang": "en"}, "answer": {"text": "A", "score": 0.4}}, "Q", "A"),
        ({"query": "Q", "output": {"title": "T", "text": "A"}}, "Q", '{"title": "T", "text": "A"}'),
        ({"inputs": {"text": "T", "tone": "kind"}, "output": "A"}, "text: T\ntone: kind", "A"),
        ({"request": CHAT, "response": {"choices": [{"message": {"content": "A"}}], "id": "x"}},
         "User: Hi\n\nAssistant: Hello", "A"),
        (CHAT, "Hi", "Hello"),
        ({"request": CHAT}, "Hi", "Hello"),
    ],
)  # fmt: skip
def test_the_best_place_counts(load: Load, row: dict[str, Any], question: str, answer: str) -> None:
    """Known names on top, then sure places in objects, then words, then likely places; objects of texts are opened."""
    assert texts(load(row)) == [(question, answer)]


def test_two_places_that_are_as_good_are_not_chosen_between(load: Load) -> None:
    """Neither is read, neither becomes a tag; both are named, with the option that decides, and it works."""
    row = {"data": {"question": "a"}, "payload": {"question": "b"}, "output": "x"}
    loaded = load(row)
    assert (only(loaded).input, only(loaded).tags) == ("", {})
    assert loaded.notes == (DOUBT,)
    assert only(load(row, field_map={"input": "payload.question"})).input == "b"
    with pytest.raises(DataFileError, match=r"'Bot answer' and 'Agent answer' may each be the output.*'Agent answer'"):
        load({"input": "q", "Bot answer": "x", "Agent answer": "y"})


def test_the_start_is_the_time_where_nothing_says_when_it_was_answered(load: Load) -> None:
    """As with spans; a known name of the time comes first, and the start is a tag then, as ever."""
    times = {"endTime": "2026-03-01T10:00:09Z", "startTime": "2026-03-01T10:00:00Z"}
    assert only(load({"output": "x", **times})).answered_utc == "2026-03-01T10:00:00Z"
    item = only(load({"output": "x", **times, "timestamp": "2026-03-02T10:00:00Z"}))
    assert (item.answered_utc, set(item.tags)) == ("2026-03-02T10:00:00Z", {"startTime", "endTime"})


def test_the_birthday_of_an_account_is_no_time_of_an_answer(load: Load) -> None:
    """Objects that stand for people and sessions tell no time."""
    row = {"output": "x", "user": {"id": "u", "created_at": "2020-01-01T00:00:00Z"}}
    assert only(load(row)).answered_utc is None


def test_a_trace_is_an_id_only_when_it_looks_like_one(load: Load) -> None:
    """A stack of calls is none."""
    loaded = load({"output": "x", "trace": "tr_1"}, {"output": "y", "trace": "Traceback: line 1"})
    assert [entry.item.external_id for entry in loaded.items] == ["tr_1", None]
    assert "column 'trace' was left out in 1 row: a text, a list or an object is no id" in loaded.notes


def test_tags_in_objects_take_a_longer_name_where_the_short_one_is_taken(load: Load) -> None:
    """The column on top keeps its name."""
    item = only(load({"output": "x", "lang": "en", "attributes": {"lang": "fr", "site": "a", "deep": {}}}))
    assert item.tags == {"lang": "en", "attributes.lang": "fr", "site": "a"}


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("Visitor question", "input"), ("customerQuery", "input"), ("question_text", "input"), ("Die Frage", "input"),
        ("Bot answer", "output"), ("LLMResponse", "output"), ("final_answer", "output"), ("response_body", "output"),
        ("user_message", "input"), ("assistant message", "output"), ("reply_text", None), ("message", None),
        ("system_prompt", None), ("expected answer", None), ("judge_response", None), ("user_response", None),
        ("response_time", None), ("prompt_tokens", None), ("search_query", None), ("bot question", None),
        ("human_agent_reply", None),
    ],
)  # fmt: skip
def test_words_say_what_a_column_is(name: str, field: str | None) -> None:
    """The last word decides, unless another makes something else of it."""
    assert field_by_words(normal_name(name)) == field


# ---------------------------------------------------------------- what it might be


def test_a_refusal_names_the_closest_places(load: Load) -> None:
    """With the option to copy."""
    with pytest.raises(DataFileError, match=r"could be 'turn.out.reply_words': --field output=turn.out.reply_words"):
        load({"turn": {"in": {"asked": "Open?"}, "out": {"reply_words": "Yes."}}})


def test_notes_name_the_closest_places_of_question_and_time(load: Load) -> None:
    """A time is what can be read as one."""
    row = {"output": "x", "a": {"b": {"user_words": "Is it open today?", "when": "2026-03-01T10:00:00Z", "n": 3}}}
    notes = "\n".join(load(row).notes)
    assert "the question could be 'a.b.user_words': --field input=a.b.user_words" in notes
    assert "the time could be 'a.b.when': --field answered_at=a.b.when" in notes


def test_countless_names_inside_objects_do_not_stop_the_reading(load: Load) -> None:
    """Names that say nothing of a field need no plan of their own."""
    loaded = load(*({"output": "x", "attributes": {f"key {n}": "v"}} for n in range(3000)))
    assert len(loaded.items) == 3000
    assert loaded.items[-1].item.tags == {"key 2999": "v"}
