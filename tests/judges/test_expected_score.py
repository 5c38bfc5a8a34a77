"""The expected score: the mean of the levels, weighted by the probabilities at the place of the score."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judges.expected_score import expected_score
from evaluator.judges.own_prompts import build_rubric
from evaluator.records import Item, Rubric
from tests.judges.conftest import MakeJudge, Serve
from tests.judges.fakes import RUBRIC, FakeGate
from tests.judges.server import Answer, completion, failure, json_answer

TEN = build_rubric(name="ten", scale=(1.0, 10.0), levels=None)
PASS_FAIL = build_rubric(name="pf", scale=None, levels={"fail": 0.0, "pass": 1.0})
LIKELY = {"4": 0.6, "5": 0.3, "3": 0.1}


def token(text: str, top: dict[str, float] | None = None, *, chosen: float = 1.0) -> dict[str, Any]:
    """One token as servers send it, with the probabilities of those that could stand there."""

    def entry(word: str, probability: float) -> dict[str, Any]:
        logprob = math.log(probability) if probability else -9999.0
        return {"token": word, "logprob": logprob, "bytes": list(word.encode())}

    top = top or {text: chosen}
    return {**entry(text, top.get(text, chosen)), "top_logprobs": [entry(word, p) for word, p in top.items()]}


def tokens_of(content: str, score: str, top: dict[str, float]) -> list[dict[str, Any]]:
    """A reply in words and signs; the last token that is the score has alternatives."""
    words = re.findall(r"\s*\w+|\s*[^\w\s]|\s+\Z", content)
    last = max(place for place, word in enumerate(words) if word.strip() == score)
    blank = words[last][: -len(score)]
    return [
        token(word, {blank + text: p for text, p in top.items()}) if place == last else token(word)
        for place, word in enumerate(words)
    ]


def expect(content: str, tokens: object, *, score: float = 4.0, rubric: Rubric = RUBRIC, **how: Any) -> float | None:
    """The expected score of a reply."""
    return expected_score(content, tokens, score=score, rubric=rubric, **how)


@pytest.mark.parametrize(
    ("content", "how"),
    [
        ('{"reasoning": "5 of 5 points", "score": 4}', {}),
        ('{"score": "4", "why": "x"}', {}),
        ('{"a": {"grade": 4}}', {"score_field": "a.grade"}),
        ("4", {}),
        (" 4\n", {}),
        ("Ünïcode 4 first. Score: 4", {"score_pattern": r"Score: (\d)"}),
        ("<think>\nScore: 4\n</think>\nScore: 4", {"score_pattern": r"Score: (\d)"}),
        ("Score: **4** ", {"score_pattern": r"Score:(.*)"}),
    ],
)
def test_levels_are_weighted_by_their_probability(content: str, how: dict[str, Any]) -> None:
    """Under a key, behind a pattern, and alone."""
    assert expect(content, tokens_of(content, "4", LIKELY), **how) == pytest.approx(0.6 * 4 + 0.3 * 5 + 0.1 * 3)


def test_worked_example_by_hand() -> None:
    """Off the levels there may be up to half of the probability; what is left is divided by its sum."""
    top = {"4": 0.30, " 4": 0.10, "5": 0.20, "four": 0.20, "9": 0.10, "0": 0.05}
    expected = (0.40 * 4 + 0.20 * 5) / 0.60
    assert expect("4", [token("4", top)]) == pytest.approx(expected)


@pytest.mark.parametrize(
    "tokens",
    [
        None,
        [],
        "logprobs",
        [None],
        [{"token": "4"}],
        [{"token": "4", "logprob": "high", "top_logprobs": []}],
        [{"token": "4", "logprob": -0.1, "top_logprobs": [{"token": 4}]}, {"bytes": [999]}],
        [{"token": "4", "logprob": math.nan}],
        [{"token": "4", "logprob": 0.5}],
        [token("5")],
        [token("4", {"4": 0.3, "good": 0.7})],
    ],
)
def test_nothing_is_made_up(tokens: object) -> None:
    """No list, a list of another reply, odd entries, or too little on the levels."""
    assert expect("4", tokens) is None


def test_token_of_the_reply_counts_where_the_list_leaves_it_out() -> None:
    """At a temperature above 0 the reply need not be among the most probable."""
    lonely = {**token("4", {"5": 0.3}), "logprob": math.log(0.6)}
    assert expect("4", [lonely]) == pytest.approx((0.6 * 4 + 0.3 * 5) / 0.9)


def test_place_of_the_score_has_to_be_certain() -> None:
    """Two verdicts of the same score in one reply: either could be the one."""
    content = '{"score": 4} {"score": 4}'
    assert expect(content, tokens_of(content, "4", LIKELY)) is None
    prose = "I give it a 4 of 5."
    assert expect(prose, tokens_of(prose, "4", LIKELY)) is None


def test_earlier_score_of_another_value_does_no_harm() -> None:
    """The one that was read is told by its value."""
    content = '{"score": 2}\n{"score": 4}'
    assert expect(content, tokens_of(content, "4", LIKELY)) == pytest.approx(4.2)


def test_score_of_several_tokens_has_no_expected_score() -> None:
    """The probabilities of its first token are those of other numbers too."""
    assert expect("4.5", [token("4"), token("."), token("5")], score=4.5) is None
    assert expect("10", [token("1", {"1": 0.9, "9": 0.1}), token("0")], score=10.0, rubric=TEN) is None


def test_start_of_a_longer_level_is_told_from_a_level() -> None:
    """ "1" may be the start of "10", unless the vocabulary shows that it has "10"."""
    assert expect("1", [token("1", {"1": 0.9, "2": 0.1})], score=1.0, rubric=TEN) is None
    shown = [token("1", {"1": 0.5, "10": 0.5})]
    assert expect("1", shown, score=1.0, rubric=TEN) == pytest.approx(5.5)
    assert expect("8", [token("8", {"8": 0.5, "7": 0.5})], score=8.0, rubric=TEN) == pytest.approx(7.5)


def test_names_of_levels_are_weighted_like_numbers() -> None:
    """Where the reply names one."""
    content = '{"score": "pass"}'
    tokens = tokens_of(content, "pass", {"pass": 0.7, "fail": 0.2, "Fail": 0.1})
    assert expect(content, tokens, score=1.0, rubric=PASS_FAIL) == pytest.approx(0.7)


def test_bytes_decide_where_a_token_is_half_a_character() -> None:
    """Some vocabularies cut characters in two."""
    first, second = "é".encode()[:1], "é".encode()[1:]
    halves = [
        {"token": "\\xc3", "logprob": 0.0, "bytes": list(first)},
        {"token": "\\xa9", "logprob": 0.0, "bytes": list(second)},
    ]
    content = "é Score: 4"
    tokens = [*halves, token(" Score"), token(":"), token(" 4", {" 4": 0.5, " 5": 0.5})]
    assert expect(content, tokens, score_pattern=r"Score: (\d)") == pytest.approx(4.5)


@given(st.dictionaries(st.sampled_from("12345"), st.floats(0.01, 1.0), min_size=1), st.sampled_from("12345"))
def test_expected_score_lies_among_the_levels(weights: dict[str, float], said: str) -> None:
    """It is a mean; all on one level is that level; the order of the list says nothing."""
    total = sum(weights.values())
    top = {level: weight / total for level, weight in weights.items()}
    content = f'{{"score": {said}}}'
    how: dict[str, Any] = {"score": float(said)}
    tokens = tokens_of(content, said, {said: 1e-9, **top})
    mean = expect(content, tokens, **how)
    assert mean is not None
    levels = [float(level) for level in top]
    assert min([*levels, float(said)]) - 1e-6 <= mean <= max([*levels, float(said)]) + 1e-6
    assert mean == pytest.approx(sum(float(level) * p for level, p in top.items()), abs=1e-6)
    turned = tokens_of(content, said, dict(reversed({said: 1e-9, **top}.items())))
    assert expect(content, turned, **how) == pytest.approx(mean)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["token", "logprob", "bytes", "top_logprobs", "x"]), inner, max_size=4)
    ),
)


@given(JSON, st.text(max_size=10))
def test_whatever_a_server_sends_is_no_error(tokens: object, content: str) -> None:
    """A number on the scale, or nothing."""
    mean = expect(content, tokens)
    assert mean is None or 1 <= mean <= 5


# ---------------------------------------------------------------- through a server


def with_logprobs(content: str, tokens: object) -> Answer:
    """A completion with log-probabilities."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": {"content": tokens}}
    return json_answer({"id": "c", "model": "m", "choices": [choice]})


async def test_expected_score_is_asked_for_and_kept(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Beside the score, which stays what the judge said."""
    content = '{"score": 4}'
    server = await serve(with_logprobs(content, tokens_of(content, "4", LIKELY)))
    judge = make_judge(server, logprobs=True)
    outcome = await judge.grade(item, item_id="i", gate=FakeGate())
    assert (server.requests[0].body["logprobs"], server.requests[0].body["top_logprobs"]) == (True, 20)
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4.0
    assert outcome.logprob_score == pytest.approx(4.2)
    assert judge.ruler.parameters["logprobs"] is True
    assert outcome.instrument is not None
    assert outcome.instrument.parameters["top_logprobs"] == 20


async def test_server_that_gives_none_is_used_all_the_same(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Unasked for, they are not looked at either."""
    content = '{"score": 4}'
    silent = await serve(with_logprobs(content, None), with_logprobs(content, [token("{")]))
    judge = make_judge(silent, logprobs=True)
    for _ in range(2):
        outcome = await judge.grade(item, item_id="i", gate=FakeGate())
        assert outcome.verdict is not None
        assert (outcome.verdict.score, outcome.logprob_score) == (4.0, None)
    unasked = await serve(with_logprobs(content, tokens_of(content, "4", LIKELY)))
    outcome = await make_judge(unasked).grade(item, item_id="i", gate=FakeGate())
    assert outcome.logprob_score is None
    assert "logprobs" not in unasked.requests[0].body


@pytest.mark.parametrize(
    "error",
    [
        {"message": "logprobs are not supported with this model", "param": "logprobs"},
        {"message": "This model does not support top_logprobs."},
        {"message": "Invalid value for 'top_logprobs': must be <= 5", "param": "top_logprobs"},
    ],
)
async def test_refused_probabilities_are_left_out(
    error: dict[str, Any], serve: Serve, make_judge: MakeJudge, item: Item
) -> None:
    """As any other refused parameter: learned once, and marked in the instrument."""
    server = await serve(failure(400, **error), completion())
    judge = make_judge(server, logprobs=True)
    outcomes = [await judge.grade(item, item_id="i", gate=FakeGate()) for _ in range(2)]
    assert [("logprobs" in r.body, "top_logprobs" in r.body) for r in server.requests] == [
        (True,) * 2,
        *[(False,) * 2] * 2,
    ]
    assert all(outcome.verdict is not None and outcome.verdict.score == 4 for outcome in outcomes)
    assert outcomes[0].instrument is not None
    assert "logprobs" not in outcomes[0].instrument.parameters
