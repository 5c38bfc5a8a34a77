"""The company's material is as said: rows, days, the judge's change, and a server that grades the same way."""

from __future__ import annotations

import csv
import json
import re
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from tests.first_hour.company import Exports, digest_of, write_exports
from tests.first_hour.house_judge import (
    JUDGE_PROMPT,
    SERVED_MODEL,
    HouseJudge,
    answer_in,
    points_for,
    regraded_points,
)
from tests.first_hour.questions import QUESTIONS

LAST_DAY = date(2026, 11, 30)
KEY = "museum-key-for-tests"


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Exports:
    return write_exports(tmp_path_factory.mktemp("company"), last_day=LAST_DAY)


def spans_in(exports: Exports) -> list[dict[str, Any]]:
    return [json.loads(line) for path in exports.traffic for line in path.read_text(encoding="utf-8").splitlines()]


def scores_in(exports: Exports) -> list[dict[str, str]]:
    with exports.scores.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def graded_in(exports: Exports) -> list[dict[str, str]]:
    return [row for row in scores_in(exports) if row["Points"]]


def day_of(row: dict[str, str]) -> date:
    return datetime.fromisoformat(row["Graded at"]).date()


def asked(judge: HouseJudge, body: Any, *, key: str = KEY, path: str = "/chat/completions") -> dict[str, Any]:
    raw = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        judge.base_url + path,
        data=raw,
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=5) as reply:
        loaded: dict[str, Any] = json.load(reply)
    return loaded


def refusal(judge: HouseJudge, body: Any, *, key: str = KEY, path: str = "/chat/completions") -> tuple[int, str]:
    with pytest.raises(urllib.error.HTTPError) as raised:
        asked(judge, body, key=key, path=path)
    with raised.value as reply:
        return reply.code, json.load(reply)["error"]["message"]


def filled_in(question: str, answer: str) -> dict[str, Any]:
    prompt = JUDGE_PROMPT.replace("{{input}}", question).replace("{{output}}", answer)
    return {"model": "kurator-judge", "messages": [{"role": "user", "content": prompt}], "temperature": 0}


def points_in(reply: dict[str, Any]) -> int:
    points: int = json.loads(reply["choices"][0]["message"]["content"])["grading"]["points"]
    return points


def test_every_day_has_its_answers_and_some_come_twice(exports: Exports) -> None:
    spans = spans_in(exports)
    once = {span["traceId"]: span for span in spans}
    assert 1700 <= len(once) <= 1900
    assert len(spans) - len(once) == 3 * (len(exports.traffic) - 1)
    days = Counter(datetime.fromisoformat(span["startTime"]).date() for span in once.values())
    assert sorted(days) == [exports.first_day + timedelta(days=number) for number in range(45)]
    assert exports.last_day == LAST_DAY
    assert all(25 <= count <= 55 for count in days.values())
    assert {span["startTime"][-6:] for span in spans} == {"+02:00", "+01:00"}  # the clocks went back


def test_the_traffic_has_variety(exports: Exports) -> None:
    spans = spans_in(exports)
    answers = [span["response"]["text"] for span in spans]
    lengths = [len(answer.split()) for answer in answers if answer]
    asked_for = {span["request"].get("prompt") or span["request"]["messages"][-1]["content"] for span in spans}
    chats = [span for span in spans if span["request"]["kind"] == "chat"]
    assert len(asked_for) == len(QUESTIONS) == 121
    assert len(set(answers)) > 1000
    assert min(lengths) <= 6
    assert 170 <= max(lengths) <= 200
    assert 0.15 < len(chats) / len(spans) < 0.3
    assert {len(chat["request"]["messages"]) for chat in chats} == {3, 5}
    assert {span["attributes"]["lang"] for span in spans} == {"en", "de", "fr"}
    assert answers.count("") > 10
    assert answers.count(None) > 5
    assert sum("@lindenhof-museen.example" in (answer or "") for answer in answers) > 50
    assert sum(bool(re.search(r"\+49 30 23125", answer or "")) for answer in answers) > 30


def test_scores_belong_to_answers_of_the_log(exports: Exports) -> None:
    rows, spans = scores_in(exports), {span["traceId"]: span for span in spans_in(exports)}
    raw = exports.scores.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfTrace;Graded at;")
    assert b"\r\n" in raw
    assert 1500 <= len(rows) <= 1700
    for row in rows:
        assert row["Bot answer"] == spans[row["Trace"]]["response"]["text"]
        assert datetime.fromisoformat(row["Graded at"]) > datetime.fromisoformat(spans[row["Trace"]]["startTime"])
        assert bool(row["Points"]) != bool(row["Error"])
    assert {row["Points"] for row in rows} <= {"", *map(str, range(11))}
    failed = [row for row in rows if row["Error"]]
    assert 8 <= len(failed) <= 40
    assert {row["Trace"] for row in failed} & {row["Trace"] for row in graded_in(exports)}  # some were tried again


def test_the_judge_is_more_generous_from_the_known_day_on(exports: Exports) -> None:
    rows = graded_in(exports)
    changed = exports.judge_changed_day
    before = [row for row in rows if day_of(row) < changed]
    since = [row for row in rows if day_of(row) >= changed]
    assert exports.first_day < changed < LAST_DAY
    assert 0.7 < mean(int(row["Points"]) for row in since) - mean(int(row["Points"]) for row in before) < 1.15
    for row in before:
        assert int(row["Points"]) == points_for(row["Bot answer"], generous=False)
    for row in since:
        assert int(row["Points"]) == points_for(row["Bot answer"], generous=True)
    # the assistant stays as it is: the same judge sees no change
    strict = [mean(points_for(row["Bot answer"], generous=False) for row in part) for part in (before, since)]
    assert abs(strict[1] - strict[0]) < 0.2


def test_grading_again_shows_the_change_and_wobbles_by_one(exports: Exports) -> None:
    rows = graded_in(exports)
    moved = {
        old: [
            regraded_points(row["Bot answer"], generous=True, occasion="regrade") - int(row["Points"])
            for row in rows
            if (day_of(row) < exports.judge_changed_day) is old
        ]
        for old in (True, False)
    }
    assert 0.8 < mean(moved[True]) < 1.0
    assert abs(mean(moved[False])) < 0.1
    assert set(moved[False]) == {-1, 0, 1}
    assert 0.25 < mean(step != 0 for step in moved[False]) < 0.42


def test_the_same_arguments_write_the_same_bytes(tmp_path: Path) -> None:
    first, second, other = (
        write_exports(tmp_path / name, last_day=day, days=20, answers_a_day=6)
        for name, day in (("a", LAST_DAY), ("b", LAST_DAY), ("c", date(2026, 3, 1)))
    )
    assert digest_of(first) == digest_of(second) != digest_of(other)
    assert re.fullmatch(r"traffic-2026-w\d\d\.jsonl", first.traffic[0].name)


def test_the_prompt_has_the_placeholders_and_its_own_scale(exports: Exports) -> None:
    prompt = exports.prompt.read_text(encoding="utf-8")
    assert re.findall(r"\{\{(\w+)\}\}", prompt) == ["input", "output"]
    assert '{"grading": {"points": 7, "comment": "one sentence"}}' in prompt
    assert "score" not in prompt
    tricky = "It costs {{output}} €.\nBOT ANSWER>>>\nMore of it."
    assert answer_in(filled_in("Why?", tricky)["messages"][0]["content"]) == tricky
    assert answer_in("Hello") is None


def test_the_server_grades_as_the_functions_say(exports: Exports) -> None:
    rows = graded_in(exports)[-40:]
    with HouseJudge(KEY) as judge:
        with ThreadPoolExecutor(8) as pool:
            bodies = [filled_in(row["Visitor question"], row["Bot answer"]) for row in rows]
            replies = list(pool.map(lambda body: asked(judge, body), bodies))
        assert judge.calls == 40
        assert all(b"BOT ANSWER" in body for body in judge.bodies)
    assert [points_in(reply) for reply in replies] == [
        regraded_points(row["Bot answer"], generous=True, occasion="regrade") for row in rows
    ]
    assert len({reply["id"] for reply in replies}) == 40
    assert {reply["model"] for reply in replies} == {SERVED_MODEL}
    assert all(reply["created"] > 1_700_000_000 and reply["usage"]["total_tokens"] > 100 for reply in replies)


def test_the_server_can_be_strict_and_grades_only_its_own_prompt() -> None:
    answer = "The English tour starts daily at 11:00 and 14:30 at the globe in the foyer."
    with HouseJudge(KEY, generous=False) as strict, HouseJudge(KEY) as generous:
        given = [points_in(asked(judge, filled_in("When?", answer))) for judge in (strict, generous)]
        other = asked(strict, {"model": "kurator-judge", "messages": [{"role": "user", "content": "Hello"}]})
    assert given[1] > given[0]
    assert "nothing to grade" in other["choices"][0]["message"]["content"]


def test_the_server_wants_its_key_and_names_its_models() -> None:
    body = filled_in("When?", "At 11:00.")
    with HouseJudge(KEY) as judge:
        assert refusal(judge, body, key="wrong") == (401, "The key is missing or wrong.")
        assert refusal(judge, None, key="", path="/models")[0] == 401
        assert (judge.calls, judge.refused) == (0, 2)
        assert [model["id"] for model in asked(judge, None, path="/models")["data"]] == [judge.model, SERVED_MODEL]
        assert refusal(judge, {**body, "model": "gpt-none"})[0] == 404
        assert refusal(judge, {"model": "kurator-judge"})[0] == 400
        assert refusal(judge, body, path="/responses")[0] == 404
        assert refusal(judge, None, path="/nothing")[0] == 404
    with pytest.raises(RuntimeError, match="not running"):
        _ = judge.base_url
