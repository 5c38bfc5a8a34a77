"""The expected score of a reply: what the judge would have said on average, from the probabilities of its tokens. Pure.

A judge that says 4 may have been almost sure, or may have thought of 3 and 5 as well. Where the server sends the most
probable tokens at the place of the score, their levels are averaged, weighted by probability.

Source: Liu et al., "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment", EMNLP 2023, section 2 (scoring
function): score = sum of p(s_i) * s_i. Here the probabilities are those the server gives, divided by their sum over the
levels, where G-Eval sampled them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluator.judges.json_scan import split_thinking
from evaluator.judges.patterns import SlowPatternError, last_group
from evaluator.judges.score_fields import ScoreField
from evaluator.judges.scores import read_score_text
from evaluator.records import Rubric

LEAST_MASS = 0.5  # less on the levels than this: the list of tokens does not tell what the judge would have said
_MOST_LEVELS = 1001
_LEAST_LOGPROB = -1000.0
_AROUND = " \t\r\n\"'`*:,.[](){}"


@dataclass(frozen=True, kw_only=True)
class _Token:
    """A token of the reply, with those that could have stood in its place, as (bytes, probability)."""

    text: bytes
    choices: tuple[tuple[bytes, float], ...]


def expected_score(
    content: str,
    tokens: object,
    *,
    score: float,
    rubric: Rubric,
    score_field: str = "score",
    score_pattern: str | None = None,
) -> float | None:
    """Return the probability-weighted mean of the levels at the place of the score.

    Args:
        content: The reply.
        tokens: The list that the server sent with it, ``logprobs.content``; anything else gives None.
        score: What was read from the reply, to find its place by.
        rubric: The scale, whose whole numbers are the levels; where the reply names a level, the names are.
        score_field, score_pattern: As the reply was read.
    Returns:
        A number within the scale; None when there are no probabilities, when the place of the score is not certain,
        when the levels have less than half of the probability, or when a level takes more than one token.
    Raises:
        Nothing, whatever the server sent.
    """
    span = _score_span(content, score, rubric, score_field, score_pattern)
    if span is None:
        return None
    token = _token_at(_read_tokens(tokens), content, span)
    if token is None:
        return None
    is_number = content[span[0] : span[1]].strip(_AROUND).lstrip("-+")[:1].isdigit()
    labels = _numbers(rubric) if is_number else {level.name.casefold(): level.score for level in rubric.levels}
    return _mean(token, labels)


def _mean(token: _Token, labels: dict[str, float]) -> float | None:
    """Average the levels among the choices of a token."""
    mass: dict[str, float] = {}
    for text, probability in token.choices:
        label = text.decode("utf-8", "replace").strip(_AROUND).casefold()
        if label in labels:
            mass[label] = mass.get(label, 0.0) + probability
    total = math.fsum(mass.values())
    if total < LEAST_MASS or _is_split(mass, labels):
        return None
    mean = math.fsum(labels[label] * part for label, part in mass.items()) / total
    return min(max(mean, min(labels.values())), max(labels.values()))


def _is_split(mass: dict[str, float], labels: dict[str, float]) -> bool:
    """Whether a token may be the start of a longer level: "1" of "10", in a vocabulary that has no "10"."""
    starts = any(longer != label and longer.startswith(label) for label in mass for longer in labels)
    return starts and not any(len(label) > 1 for label in mass)


def _numbers(rubric: Rubric) -> dict[str, float]:
    low, high = math.ceil(rubric.scale_min), math.floor(rubric.scale_max)
    return {str(level): float(level) for level in range(low, min(high, low + _MOST_LEVELS) + 1)}


# ---------------------------------------------------------------- where the score stands


def _score_span(
    content: str, score: float, rubric: Rubric, score_field: str, score_pattern: str | None
) -> tuple[int, int] | None:
    """Return start and end of the score's text in the reply; None when several places may be meant."""
    if score_pattern is not None:
        answer = split_thinking(content).answer
        offset = len(content) - len(answer)
        try:
            found = last_group(score_pattern, answer)
        except SlowPatternError:
            return None
        return None if found is None or found[0] < 0 else (offset + found[0], offset + found[1])
    field = ScoreField.parse(score_field)
    keys = "|".join(re.escape(key) for key in dict.fromkeys((field.key, field.last_key)))
    values = re.compile(rf'"(?:{keys})"\s*:\s*(?:"(?P<text>[^"\\]*)"|(?P<number>[^\s,}}\]"]+))', re.IGNORECASE)
    spans = [match.span("text" if match["text"] is not None else "number") for match in values.finditer(content)]
    if not spans:
        bare = content.strip()
        start = content.find(bare)
        spans = [(start, start + len(bare))]
    fitting = [span for span in spans if read_score_text(content[slice(*span)], rubric=rubric) == score]
    return fitting[0] if len(fitting) == 1 else None


def _token_at(tokens: list[_Token], content: str, span: tuple[int, int]) -> _Token | None:
    """Return the token that holds the whole of a span; None when there is none or the tokens are not the reply's."""
    while span[0] < span[1] and content[span[0]] in _AROUND:
        span = (span[0] + 1, span[1])
    while span[0] < span[1] and content[span[1] - 1] in _AROUND:
        span = (span[0], span[1] - 1)
    joined = b"".join(token.text for token in tokens)
    offset = joined.rfind(content.encode("utf-8", "replace"))
    if offset < 0 or span[0] == span[1]:
        return None
    start = offset + len(content[: span[0]].encode("utf-8", "replace"))
    end = start + len(content[span[0] : span[1]].encode("utf-8", "replace"))
    at = 0
    for token in tokens:
        if at <= start and end <= at + len(token.text):
            return token
        at += len(token.text)
    return None


# ---------------------------------------------------------------- what the server sent


def _read_tokens(value: object) -> list[_Token]:
    """Return the tokens of a list as servers send it; empty when an entry is of another shape."""
    tokens: list[_Token] = []
    for entry in value if isinstance(value, list) else []:
        text = _bytes(entry)
        if text is None:
            return []
        top = entry.get("top_logprobs")
        choices = dict(_choices([*top, entry] if isinstance(top, list) else [entry]))
        tokens.append(_Token(text=text, choices=tuple(choices.items())))
    return tokens


def _choices(entries: list[object]) -> Iterator[tuple[bytes, float]]:
    for entry in entries:
        text = _bytes(entry)
        if text is None or not isinstance(entry, dict):
            continue
        logprob = entry.get("logprob")
        if isinstance(logprob, int | float) and not isinstance(logprob, bool) and logprob <= 0:
            yield text, math.exp(max(logprob, _LEAST_LOGPROB))


def _bytes(entry: object) -> bytes | None:
    """The bytes of a token; its text alone may be half a character."""
    if not isinstance(entry, dict):
        return None
    raw, text = entry.get("bytes"), entry.get("token")
    if isinstance(raw, list) and all(isinstance(byte, int) and 0 <= byte < 256 for byte in raw):
        return bytes(raw)
    return text.encode("utf-8", "replace") if isinstance(text, str) else None
