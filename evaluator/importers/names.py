"""What names of columns mean: the known names of each field, and what a name of several words says.

Names are compared without case, with ``actualOutput``, ``Actual Output`` and ``actual-output`` alike. Knows names only,
no rows and no values. Where a name stands inside an object, ``nesting.py`` decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


FIELD_NAMES: Mapping[str, tuple[str, ...]] = {
    "input": ("inputs", "input", "question", "query", "user_input", "prompt", "instruction", "messages"),
    "output": ("outputs", "output", "response", "answer", "actual_output", "completion"),
    "reference": ("expected_output", "reference", "reference_output", "reference_outputs", "ground_truth", "target"),
    "contexts": ("retrieved_contexts", "contexts", "context", "retrieval_context", "documents"),
    # A trace may hold several answers, a span holds one: the span is the better name of an answer.
    "id": ("item_id", "id", "example_id", "span_id", "trace_id"),
    "conversation_id": ("conversation_id", "session_id", "thread_id"),
    "user_id": ("user_id",),
    "answered_at": ("answered_at", "timestamp", "created_at", "time", "answered_utc"),
    "model": ("model",),
}
# Names that count only where a row has none of those above; until then they are columns like any other.
SECOND_NAMES: Mapping[str, tuple[str, ...]] = {
    "input": ("request", "frage"),
    "output": ("generated_text", "output_text", "antwort"),
    "reference": (
        "expected_answer", "expected_response", "reference_answer", "ideal_answer", "ideal_response", "gold_answer",
        "golden_answer", "correct_answer", "expected",
    ),
    "contexts": (),
    "id": ("request_id", "message_id", "response_id", "answer_id", "interaction_id", "uuid", "guid", "trace"),
    "conversation_id": ("chat_id", "dialog_id", "dialogue_id"),
    "user_id": ("end_user_id", "enduser_id", "customer_id", "visitor_id"),
    # The start before the end, as with spans: the same answer is of the same day, whichever way it was exported.
    "answered_at": (
        "start_time", "started_at", "end_time", "ended_at", "completed_at", "finished_at", "responded_at", "logged_at",
        "created", "datetime", "date_time", "ts", "date", "zeitpunkt", "datum",
    ),
    "model": ("model_name", "model_id"),
}  # fmt: skip
# May as well hold something else, such as a stack of calls: only a short value of it is an id.
WEAK_IDS = frozenset(("trace",))

_ASKING = frozenset(("question", "query", "prompt", "request", "input", "instruction", "frage"))
_ANSWERING = frozenset(("answer", "response", "output", "completion", "antwort"))
_SAYING = frozenset(("message", "reply", "text", "utterance", "content", "turn", "says", "said"))
_FILLING = frozenset(("text", "content", "body", "message", "value", "string"))
_ASKERS = word_set(
    "user visitor customer client guest human patient student caller member buyer person citizen employee"
)
_ANSWERERS = word_set("assistant bot chatbot agent ai llm model copilot gpt")
# What makes of a question or an answer something else than what was asked and answered here.
_OTHER = word_set(
    "system judge judged grader grading eval evaluation evaluator evaluated rubric expected reference ideal gold"
    " golden correct target true truth previous prior last next first second suggested related rewritten rephrased"
    " translated search sql tool function template example sample default negative raw has is num n count number"
    " retrieval retriever http api status error few shot feedback"
)


def normal_name(column: str) -> str:
    """Return a column name as it is compared: lower case, words joined by underscores."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", column.strip())
    return re.sub(r"[\s\-_]+", "_", words).lower()


def field_by_words(name: str) -> str | None:
    """Return "input" or "output" when a name of several words says which, None when it does not.

    The last word decides: ``visitor_question``, ``bot_answer``; a word for text behind it counts as no word
    (``question_text``). Words such as message and reply need to say whose: ``user_message``, ``assistant_reply``. A
    name with a word that makes something else of it, such as ``system_prompt`` or ``judge_response``, is neither.

    Args:
        name: As ``normal_name`` writes it; points part words, too.
    """
    words = [word for word in re.split(r"[_.]", name) if word]
    if len(words) < 2 or not _OTHER.isdisjoint(words):
        return None
    by_user, by_assistant = not _ASKERS.isdisjoint(words), not _ANSWERERS.isdisjoint(words)
    if by_user and by_assistant:
        return None
    last = words[-1]
    if last in _FILLING and words[-2] in _ASKING | _ANSWERING:
        last = words[-2]
    if last in _ASKING:
        return None if by_assistant else "input"
    if last in _ANSWERING:
        return None if by_user else "output"
    if last in _SAYING and (by_user or by_assistant):
        return "input" if by_user else "output"
    return None
