"""An invented company, the Lindenhof museums, and what it exports: its bot's log and its own judge's scores.

The bot stays as good as it is. The judge becomes about 0.9 points (of 10) more generous on `Exports.judge_changed_day`.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from tests.first_hour.house_judge import JUDGE_ALIAS, JUDGE_PROMPT, comment_for, points_for
from tests.first_hour.questions import (
    CLOSINGS,
    CONTACTS,
    DETAILS,
    GREETINGS,
    HEDGES,
    OPENERS,
    QUESTIONS,
    REFUSALS,
    STEPS,
    VAGUE,
    Question,
)

HOME = ZoneInfo("Europe/Berlin")  # the company's office; a day is a day there
DAYS_SINCE_CHANGE = 17  # no third or half of the period, so that nothing finds the day by chance
CRITERION = "usefulness"
SCORE_COLUMNS = (
    "Trace",
    "Graded at",
    "Judge model",
    "Criterion",
    "Points",
    "Verdict",
    "Visitor question",
    "Bot answer",
    "Language",
    "Area",
    "Error",
)
QUALITIES = {"excellent": 16, "good": 34, "thin": 20, "vague": 14, "hedging": 9, "refusing": 4, "empty": 3}
CHANNELS = {"web-widget": 60, "app": 25, "kiosk-foyer": 10, "whatsapp": 5}
LANGUAGES = {"en": 62, "de": 24, "fr": 14}
WEEKDAY_WEIGHTS = (0.7, 0.9, 0.95, 1.0, 1.05, 1.25, 1.15)  # Monday first; they add up to seven
JUDGE_ERRORS = (
    "HTTP 429 from judge endpoint after 3 attempts",
    "Judge reply was not JSON: 'The reply is quite good, I would say'",
    "timeout after 60s",
)


@dataclass(frozen=True)
class Exports:
    """Where the company's files are, and what it does not know."""

    folder: Path
    traffic: tuple[Path, ...]
    scores: Path
    prompt: Path
    first_day: date
    last_day: date
    judge_changed_day: date


@dataclass(frozen=True)
class Exchange:
    """One answer of the bot, with what came before it."""

    trace: str
    session: str
    visitor: str
    at: datetime
    question: Question
    asked: str
    before: tuple[tuple[str, str], ...]  # who, what
    answer: str | None
    channel: str
    site: str


def write_exports(folder: Path, *, last_day: date, days: int = 45, answers_a_day: int = 40) -> Exports:
    """Write the company's log, stored scores and judge prompt into a folder, the same ones for the same arguments."""
    first_day = last_day - timedelta(days=days - 1)
    changed = last_day - timedelta(days=DAYS_SINCE_CHANGE - 1)
    exchanges = [
        exchange
        for number in range(days)
        for exchange in exchanges_of(first_day + timedelta(days=number), answers_a_day)
    ]
    (folder / "exports").mkdir(parents=True, exist_ok=True)
    (folder / "scores").mkdir(exist_ok=True)
    prompt = folder / "judge_prompt.txt"
    prompt.write_text(JUDGE_PROMPT, encoding="utf-8")
    scores = folder / "scores" / "judge_scores.csv"
    write_scores(scores, exchanges, changed, last_day)
    traffic = write_traffic(folder / "exports", exchanges)
    return Exports(folder, traffic, scores, prompt, first_day, last_day, changed)


def drawn(random: Random, weights: dict[str, int]) -> str:
    """Draw a name by weight."""
    return random.choices(list(weights), weights=list(weights.values()))[0]


def exchanges_of(day: date, answers_a_day: int) -> list[Exchange]:
    """Make up one day at the help desk, in order of time; more of it at weekends."""
    random = Random(f"lindenhof {day.isoformat()}")
    count = max(1, round(answers_a_day * WEEKDAY_WEIGHTS[day.weekday()] * random.uniform(0.93, 1.07)))
    opens = datetime.combine(day, time(7, 5), tzinfo=HOME)
    moments = sorted(opens + timedelta(seconds=random.triangular(0, 15 * 3600, 5 * 3600)) for _ in range(count))
    return [exchange_at(moment.replace(microsecond=moment.microsecond // 1000 * 1000), random) for moment in moments]


def exchange_at(at: datetime, random: Random) -> Exchange:
    """Make up one question and its answer."""
    language = drawn(random, LANGUAGES)
    question = random.choice([known for known in QUESTIONS if known.language == language])
    before: tuple[tuple[str, str], ...] = ()
    if random.random() < 0.22:
        said, replied = random.choice(OPENERS[language])
        before = (("visitor", said), ("bot", replied))
        if random.random() < 0.3:
            other = random.choice([known for known in QUESTIONS if known.language == language and known != question])
            before = (*before, ("visitor", other.text), ("bot", other.answer))
    return Exchange(
        trace=f"tr_{random.getrandbits(64):016x}",
        session=f"s-{random.getrandbits(40):010x}",
        visitor=f"v{random.randint(1, 2600):05d}",
        at=at,
        question=question,
        asked=question.text,
        before=before,
        answer=answer_to(question, drawn(random, QUALITIES), random),
        channel=drawn(random, CHANNELS),
        site=random.choice(["House of Nature", "City Museum", "Observatory"]),
    )


def answer_to(question: Question, quality: str, random: Random) -> str | None:
    """Write an answer of a given quality; an empty one is empty or, when the bot broke down, missing."""
    language = question.language
    if quality == "empty":
        return random.choice(["", "", None])
    if quality == "refusing":
        return random.choice(REFUSALS[language])
    parts: list[str] = []
    if random.random() < 0.6 and quality != "thin":
        parts.append(random.choice(GREETINGS[language]))
    details = random.sample(DETAILS[language], k=len(DETAILS[language]))
    if quality == "excellent":
        parts.append(question.answer)
        parts.extend(details[: random.choice([2, 3, 3, 4, 12])])
        if random.random() < 0.6:
            parts.append("\n" + random.choice(STEPS[language]) + "\n")
    elif quality == "good":
        parts.append(question.answer)
        parts.extend(details[: random.choice([1, 1, 2, 3])])
    elif quality == "thin":
        parts.append(question.answer)
    elif quality == "vague":
        parts.extend(random.sample(VAGUE[language], k=random.choice([1, 2, 3])))
        parts.extend(details[: random.choice([0, 1])])
    else:
        parts.extend(random.sample(HEDGES[language], k=random.choice([1, 2])))
        parts.append(random.choice([question.answer, random.choice(VAGUE[language])]))
    if random.random() < 0.14:
        parts.append(random.choice(CONTACTS[language]))
    if random.random() < 0.35 and quality != "thin":
        parts.append(random.choice(CLOSINGS[language]))
    return " ".join(parts).replace(" \n", "\n").replace("\n ", "\n").strip()


def write_traffic(folder: Path, exchanges: list[Exchange]) -> tuple[Path, ...]:
    """Write the bot's log, one file a calendar week; a file also has the first three answers of the week after it."""
    weeks: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        year, week, _ = exchange.at.isocalendar()
        weeks.setdefault(f"traffic-{year}-w{week:02d}.jsonl", []).append(exchange)
    names = list(weeks)
    paths = []
    for name, following in zip(names, [*names[1:], None], strict=True):
        rows = weeks[name] + (weeks[following][:3] if following else [])
        path = folder / name
        path.write_text("".join(f"{json.dumps(span_of(row), ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
        paths.append(path)
    return tuple(paths)


def span_of(exchange: Exchange) -> dict[str, Any]:
    """Write an answer the way the company's trace store exports it."""
    request: dict[str, Any]
    if exchange.before:
        roles = {"visitor": "user", "bot": "assistant"}
        said = [{"role": roles[who], "content": what} for who, what in exchange.before]
        request = {"kind": "chat", "messages": [*said, {"role": "user", "content": exchange.asked}]}
    else:
        request = {"kind": "single", "prompt": exchange.asked}
    answer = exchange.answer
    finish = "stop" if answer else "error" if answer is None else "empty"
    return {
        "traceId": exchange.trace,
        "sessionId": exchange.session,
        "startTime": exchange.at.isoformat(timespec="milliseconds"),
        "durationMs": 400 + len(answer or "") * 9,
        "user": {"id": exchange.visitor, "loggedIn": exchange.channel == "app"},
        "attributes": {
            "channel": exchange.channel,
            "lang": exchange.question.language,
            "product_area": exchange.question.area,
            "museum": exchange.site,
        },
        "request": request,
        "response": {"text": answer, "finishReason": finish},
        "usage": {"in": len(exchange.asked) // 4 + 310, "out": len(answer or "") // 4},
        "bot": {"name": "linnea", "release": "2026.9.1"},
    }


def transcript(exchange: Exchange) -> str:
    """Write what the visitor said the way the company's judge sees it: a chat as lines, a question as itself."""
    if not exchange.before:
        return exchange.asked
    names = {"visitor": "Visitor", "bot": "Linnea"}
    return "\n".join(f"{names[who]}: {what}" for who, what in (*exchange.before, ("visitor", exchange.asked)))


def write_scores(path: Path, exchanges: list[Exchange], changed: date, last_day: date) -> None:
    """Write what the company's judge gave: semicolons, quotes where needed, a byte order mark, CRLF, as Excel likes."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(SCORE_COLUMNS)
        gradings = [grading for exchange in exchanges for grading in gradings_of(exchange, changed)]
        kept = [grading for grading in gradings if grading[0].date() <= last_day]
        writer.writerows(row for _, row in sorted(kept, key=lambda grading: (grading[0], grading[1])))


def gradings_of(exchange: Exchange, changed: date) -> Iterator[tuple[datetime, list[str]]]:
    """Grade nine of ten answers within the hour; some gradings fail, and half of these are tried again next day."""
    random = Random(f"graded {exchange.trace}")
    if exchange.answer is None or random.random() > 0.9:
        return
    at = (exchange.at + timedelta(seconds=random.randint(240, 3300))).replace(microsecond=0)
    if random.random() < 0.012:
        yield at, grading_row(exchange, at, None, random.choice(JUDGE_ERRORS))
        if random.random() < 0.5:
            return
        at = datetime.combine(at.date() + timedelta(days=1), time(6, random.randint(0, 59)), tzinfo=HOME)
    yield at, grading_row(exchange, at, points_for(exchange.answer, generous=at.date() >= changed), "")


def grading_row(exchange: Exchange, at: datetime, points: int | None, error: str) -> list[str]:
    """Write one row of stored scores."""
    return [
        exchange.trace,
        at.isoformat(sep=" "),
        JUDGE_ALIAS,
        CRITERION,
        "" if points is None else str(points),
        "" if points is None else comment_for(points),
        transcript(exchange),
        exchange.answer or "",
        exchange.question.language,
        exchange.question.area,
        error,
    ]


def digest_of(exports: Exports) -> str:
    """Give one hash over all files of an export."""
    total = hashlib.sha256()
    for path in (*exports.traffic, exports.scores, exports.prompt):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()
