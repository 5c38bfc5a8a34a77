"""What a name means inside an object: ``request.prompt`` is the question, ``user.id`` the user. One level deep.

Each field has rules, best first: which objects it is looked for in, and under which names. Two places that a rule finds
equally good are never chosen between. Knows names only; ``columns.py`` applies it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from evaluator.importers.names import FIELD_NAMES, SECOND_NAMES, field_by_words, normal_name, word_set

_ASKED = word_set("request req query question prompt user_input instruction")
_ANSWERED = word_set("response resp reply answer completion generation output outputs actual_output result results")
_HOLDERS = word_set(
    "data body payload record item event span message interaction turn exchange entry log object fields"
)
NESTED_TAGS = ("tags", "metadata")  # objects of tags by name: their numbers are tags as well
TAG_HOLDERS = word_set(
    "attributes attrs metadata meta properties props extra extras custom custom_dimensions dimensions"
)
_USERS = word_set("user customer visitor end_user enduser")
_CONVERSATIONS = word_set("session conversation thread chat dialog dialogue")
_BOTS = word_set("bot assistant agent llm engine")
_EVERYWHERE = _HOLDERS | {"trace", "row", "call", "result", "results"}
# Under these names a text that is JSON is an object that some table could not hold.
OPENED_TEXTS = word_set("request req payload body data event") | TAG_HOLDERS

_TEXTS = ("text", "content", "message", "value", "body")
_ALL = {field: names + SECOND_NAMES[field] for field, names in FIELD_NAMES.items()}
_IDS = tuple(name for name in FIELD_NAMES["id"] if name != "id")
_JOINED = {field: tuple(name for name in FIELD_NAMES[field] if "_" in name) for field in ("reference", "contexts")}


class Rank(NamedTuple):
    """How good a place is for a field: the rule that found it, and the place of its name in that rule. Less is better.

    ``rule`` below ``WORDS_RANK`` is better than a column whose words alone say what it is.
    """

    rule: int
    name: int


class Rule(NamedTuple):
    """A field, the objects it is looked for in, and its names there, best first."""

    field: str
    holders: frozenset[str]
    names: tuple[str, ...]


_SURE_RULES = (
    Rule("input", _ASKED, (*_ALL["input"], *_TEXTS)),
    Rule("output", _ANSWERED, (*_ALL["output"], "message", "messages", "reply", *_TEXTS)),
    Rule("id", frozenset(("span",)), ("span_id", "id")),
    Rule("id", _HOLDERS - {"span"}, ("item_id", "id", "example_id")),
    Rule("id", frozenset(("trace",)), ("trace_id", "id")),
    Rule("conversation_id", _CONVERSATIONS, (*_ALL["conversation_id"], "id", "uuid")),
    Rule("user_id", _USERS, (*_ALL["user_id"], "id", "uuid")),
    Rule("answered_at", _ANSWERED, _ALL["answered_at"]),
    Rule("model", _ANSWERED, _ALL["model"]),
    Rule("model", frozenset(("model", "llm", "engine")), ("name", "id", "model", "model_name")),
)
WORDS_RANK = len(_SURE_RULES)
_LIKELY_RULES = (
    Rule("input", _EVERYWHERE, FIELD_NAMES["input"]),
    Rule("input", _CONVERSATIONS, ("messages",)),
    Rule("output", _EVERYWHERE, FIELD_NAMES["output"]),
    Rule("input", TAG_HOLDERS, FIELD_NAMES["input"]),
    Rule("output", TAG_HOLDERS, FIELD_NAMES["output"]),
    Rule("input", _ANSWERED, FIELD_NAMES["input"]),
    Rule("output", _ASKED, FIELD_NAMES["output"]),
    Rule("id", _EVERYWHERE | _ANSWERED | _ASKED | TAG_HOLDERS, _IDS),
    Rule("id", _ANSWERED, ("id",)),
    Rule("id", _ASKED, ("id",)),
    Rule("conversation_id", _EVERYWHERE | _ASKED | _ANSWERED | _USERS | TAG_HOLDERS, FIELD_NAMES["conversation_id"]),
    Rule("user_id", _EVERYWHERE | _ASKED | _CONVERSATIONS | TAG_HOLDERS, _ALL["user_id"]),
    Rule("answered_at", _EVERYWHERE, _ALL["answered_at"]),
    Rule("answered_at", _ASKED, _ALL["answered_at"]),
    Rule("answered_at", TAG_HOLDERS, _ALL["answered_at"]),
    Rule("model", _ASKED | _EVERYWHERE | _BOTS | TAG_HOLDERS, _ALL["model"]),
    Rule("reference", _EVERYWHERE | _ASKED | _ANSWERED, FIELD_NAMES["reference"]),
    Rule("contexts", _EVERYWHERE | _ASKED | _ANSWERED, FIELD_NAMES["contexts"]),
    Rule("reference", TAG_HOLDERS, _JOINED["reference"]),
    Rule("contexts", TAG_HOLDERS, _JOINED["contexts"]),
)
_RULES: tuple[Rule | None, ...] = (*_SURE_RULES, None, *_LIKELY_RULES)  # None: where words of columns stand
_MOST_NAMES = 10_000


@lru_cache(maxsize=_MOST_NAMES)
def ranks(holder: str, name: str) -> dict[str, Rank]:
    """Return the fields that a name inside an object may be, with how good a place it is.

    Args:
        holder: Name of the object, as ``normal_name`` writes it.
        name: Name inside of it, the same way.
    """
    found: dict[str, Rank] = {}
    for position, rule in enumerate(_RULES):
        if rule is not None and rule.field not in found and holder in rule.holders and name in rule.names:
            found[rule.field] = Rank(position, rule.names.index(name))
    by_words = field_by_words(f"{holder}.{name}")
    if by_words is not None and by_words not in found:
        found[by_words] = Rank(len(_RULES), 0)
    return found


# ---------------------------------------------------------------- objects under the name of a field

_WHOLE = frozenset(("choices", "candidates", "generations", "role", "tool_calls", "function_call"))
_ASKED_NAMES = frozenset(("question", "query", "prompt", "user_input", "instruction"))
_BESIDE_TEXT = word_set(
    "type id index role name model object created usage finish_reason stop_reason logprobs text content value tokens"
    " latency latency_ms duration duration_ms status language lang metadata timestamp created_at"
)
_REPLIES = frozenset(("response", "answer", "completion"))
# an object of these names is read whole or opened, after all that stands in it
_READ_AFTER_ALL = frozenset((*FIELD_NAMES["output"], *FIELD_NAMES["model"], *_ASKED_NAMES))


def names_inside(field: str, holder: str, names: frozenset[str]) -> tuple[str, ...]:
    """Return the names inside an object under which it holds its field, best first; none when it is the field itself.

    A reply object with choices, a message, inputs with several entries and an answer that is an object are read whole.

    Args:
        field: What the name of the object says it is.
        holder: That name, as ``normal_name`` writes it.
        names: What stands in the object, the same way.
    """
    if not _WHOLE.isdisjoint(names):
        return ()
    if field == "model":
        return tuple(name for name in ("name", "id", "model", "model_name") if name in names)
    if field == "input" and holder in _ASKED_NAMES:
        return tuple(name for name in _TEXTS if name in names)
    if field != "output":
        return ()
    own = tuple(name for name in ("message", "messages", *FIELD_NAMES["output"]) if name in names)
    is_reply = holder in _REPLIES or names <= _BESIDE_TEXT
    return own or (tuple(name for name in ("text", "content", "value") if name in names) if is_reply else ())


def may_be_known(key: str, name: str) -> bool:
    """Whether a name inside an object may say something of a field, so that the plan depends on it."""
    holder = normal_name(key)
    return holder in _READ_AFTER_ALL or bool(ranks(holder, normal_name(name)))


def is_tag_holder(key: str) -> bool:
    """Whether an object of that name holds tags and nothing else, so that its entries need no name before theirs."""
    return normal_name(key) in TAG_HOLDERS or normal_name(key) in NESTED_TAGS
