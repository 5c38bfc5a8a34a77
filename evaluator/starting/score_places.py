"""Where does the score stand: in the reply that a prompt asks for, or in the replies that came? Pure.

Returned is what ``judge.score_field`` or ``judge.score_pattern`` would have to be. For replies every proposal has been
tried on each of them; for a prompt it is a guess, to be asked about or told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluator.judges.json_scan import split_thinking
from evaluator.judges.parse import parse_reply
from evaluator.judges.score_fields import ScoreField
from evaluator.records import Rubric
from evaluator.starting.examples import Example, find_examples, is_blank_of_number, number_places
from evaluator.starting.scales import Scale

DEFAULT_FIELD = "score"

_VALUE = r"([-+]?\d+(?:[.,]\d+)*(?:\s*/\s*\d+)?)"
_ENDS = r"(?![\w%]|[.,]\d|\s*[-/]\s*\d)"  # neither half of a number nor the lower end of a range
_LABEL = (
    r"(?:(?:overall|final|total)[ \t]+)?"
    r"(?:score|rating|grade|points|marks?|verdict|punkte|punktzahl|bewertung|wertung)"
)
_IN_BRACKETS = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
_IN_TAGS = re.compile(rf"<({_LABEL})>[^<>\n]{{0,40}}</\1>", re.IGNORECASE)
_BEHIND_LABEL = re.compile(
    rf"\b({_LABEL})\**[ \t]*[:=][ \t]*[*`\"']*"
    r"(?:[\[<{(]([^\[\]<>{}()\n]{1,80})[\]>})]"
    r"|[NX#]\b|_{2,}|[-+]?\d+(?:\.\d+)?(?:[ \t]*/[ \t]*\d+)?[*`\"'.]*[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_ANY_LABEL = re.compile(r"([^\W\d_](?:[^\W\d_]|[ \t-]){0,30})\**[ \t]*[:=][ \t]*[*\[]*[ \t]*[-+]?\d")
_MOST_LABELS = 20
_MOST_CHARS = 20_000  # of a reply: a judge that goes on for megabytes has no form to be found


@dataclass(frozen=True, kw_only=True)
class ScorePlaces:
    """What a prompt shows of the reply it asks for.

    Attributes:
        is_default: The score stands where it is looked for anyway.
        fields: Paths where a number stands in the example.
        patterns: Patterns that find it in prose.
        numbers: What stands in the example at each path, where it is a number.
    """

    is_default: bool
    fields: tuple[str, ...]
    patterns: tuple[str, ...]
    numbers: Mapping[str, tuple[float, ...]]


def places_in_prompt(text: str, *, scale: Scale | None = None) -> ScorePlaces:
    """Look at the example of a reply in a prompt, or else at forms like ``Rating: [[N]]``.

    Args:
        text: The prompt.
        scale: Numbers off it are no scores, where others are on it; None when it is not known.
    """
    examples = find_examples(text)
    numbers: dict[str, list[float | None]] = {}
    for example in examples:
        for place in number_places(example.members):
            if _leads_to_one(place.path, example):
                numbers.setdefault(place.path, []).append(place.number)
    on_scale = [path for path, found in numbers.items() if scale is None or all(is_on(scale, value) for value in found)]
    is_default = any(_leads_to_one(DEFAULT_FIELD, example) for example in examples)
    fields = tuple(on_scale or numbers)
    return ScorePlaces(
        is_default=is_default,
        fields=fields,
        patterns=() if fields or is_default else _forms(_without(examples, text)),
        numbers={path: tuple(value for value in found if value is not None) for path, found in numbers.items()},
    )


def shows_field(text: str, field: str) -> bool | None:
    """Whether an example in a prompt has one value at a field; None when there is no example with a number."""
    examples = [example for example in find_examples(text) if any(number_places(example.members))]
    return any(_leads_to_one(field, example) for example in examples) if examples else None


def is_on(scale: Scale, value: float | None) -> bool:
    """Whether a number is on a scale; one that is not known may be."""
    return value is None or scale[0] <= value <= scale[1]


def places_in_replies(replies: Sequence[str], *, rubric: Rubric) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the fields, and the patterns, each of which reads a score of the rubric from every reply.

    Args:
        replies: As they came; blank ones make that nothing is found.
        rubric: The scale.
    """
    if not replies:
        return (), ()
    first = split_thinking(replies[0]).answer[:_MOST_CHARS]
    paths = {place.path: None for example in find_examples(first) for place in number_places(example.members)}
    fields = tuple(path for path in paths if all(_reads(reply, rubric, field=path) for reply in replies))
    labels = dict.fromkeys(match[1].strip().lower() for match in _ANY_LABEL.finditer(first))
    patterns = [_pattern_of(label) for label in list(labels)[:_MOST_LABELS]]
    return fields, tuple(
        pattern for pattern in patterns if all(_reads(reply, rubric, pattern=pattern) for reply in replies)
    )


def _reads(reply: str, rubric: Rubric, *, field: str = DEFAULT_FIELD, pattern: str | None = None) -> bool:
    return parse_reply(reply, rubric=rubric, score_field=field, score_pattern=pattern).score is not None


def _leads_to_one(path: str, example: Example) -> bool:
    """Whether a path, read as a setting, leads to one value: through a key with a dot in it, it does not."""
    found = ScoreField.parse(path).find(example.members)
    return found is not None and not isinstance(found.value, Mapping | list)


def _without(examples: Iterable[Example], text: str) -> str:
    """The text without its objects."""
    for example in reversed(tuple(examples)):
        text = f"{text[: example.start]}\n{text[example.end :]}"
    return text


def _forms(text: str) -> tuple[str, ...]:
    """Patterns for the forms in prose that a prompt shows; an overall score goes before others."""
    if any(is_blank_of_number(match[1]) for match in _IN_BRACKETS.finditer(text)):
        return (rf"\[\[\s*{_VALUE}\s*\]\]",)
    tags = dict.fromkeys(match[1].lower() for match in _IN_TAGS.finditer(text))
    if tags:
        return tuple(rf"(?i)<{_words(tag)}>\s*{_VALUE}\s*</{_words(tag)}>" for tag in tags)
    labels = dict.fromkeys(
        " ".join(match[1].lower().split())
        for match in _BEHIND_LABEL.finditer(text)
        if match[2] is None or is_blank_of_number(match[2])
    )
    overall = [label for label in labels if " " in label]
    return tuple(_pattern_of(label) for label in (overall if len(overall) == 1 else labels))


def _pattern_of(label: str) -> str:
    """A pattern for the number behind a label."""
    return rf"(?i)\b{_words(label)}\**\s*[:=]\s*[*\[]*\s*{_VALUE}{_ENDS}"


def _words(label: str) -> str:
    return r"\s+".join(re.escape(word) for word in label.split())
