"""Databases for tests, built through the store's own writes: what a scorer would have left behind.

``World`` is one app in one database: add answers, grade them in runs, log events. The functions below it build the
states that the tests share, each at a path the caller names:

    zero_bytes          a file of 0 bytes
    schema_only         tables without rows
    anchor_only         one anchor, no run
    answers_only        imported answers, no run
    one_day             one run over one day
    all_unscored        one run, no score
    hostile             texts and segment names that try to be formulas, markup, mathematics
    sixty_days          60 days: the judge turns generous, one segment gets worse, and all that happens to runs
    older / newer       databases of another version

Nothing here computes an analysis; scores come from a seeded generator and are the same on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evaluator.clock import utc_text
from evaluator.records import (
    Anchor,
    Attempt,
    GradeOutcome,
    Instrument,
    Item,
    ParsedVerdict,
    Rubric,
    RubricLevel,
    Ruler,
    Source,
    StopReason,
    UnscoredReason,
    content_hash,
)
from evaluator.store import rollup, write
from evaluator.store.db import Store, open_store

APP = "support-bot"
CRITERION = "overall"
LAST_DAY = "2026-11-29"
LEVEL_NAMES = ("unacceptable", "poor", "acceptable", "good", "excellent")
HOSTILE_SEGMENTS = ("$help$", "<b>vip</b>", "-2+3", "a<br>b", ":red[x] **y** [z](javascript:alert(1))")

Score = float | UnscoredReason


def rubric(*, scale: tuple[float, float] = (1, 5)) -> Rubric:
    """A small rubric with five evenly spaced levels on ``scale``."""
    step = (scale[1] - scale[0]) / (len(LEVEL_NAMES) - 1)
    levels = tuple(
        RubricLevel(score=scale[0] + step * place, name=name, description=f"The answer is {name}.")
        for place, name in enumerate(LEVEL_NAMES)
    )
    return Rubric(
        name="general",
        criterion=CRITERION,
        question="How well does the answer serve the person?",
        scale_min=scale[0],
        scale_max=scale[1],
        levels=levels,
    )


def ruler(*, model: str = "judge-large", scale: tuple[float, float] = (1, 5)) -> Ruler:
    """A judge setup: the model asked, the small rubric, a one-line prompt."""
    return Ruler(
        model_asked=model,
        rubric=rubric(scale=scale),
        prompt_template="Grade {{output}} as an answer to {{input}}.",
        parameters={"temperature": 0},
        output_mode="json_schema",
    )


def scored(score: Score, *, explanation: str = "", model: str = "judge-large-2026-07-18") -> GradeOutcome:
    """One call to the judge and what came of it: a score, or a reason why there is none."""
    failed = isinstance(score, UnscoredReason)
    verdict = ParsedVerdict(
        score=None if isinstance(score, UnscoredReason) else float(score),
        unscored_reason=score if isinstance(score, UnscoredReason) else None,
        explanation="" if failed else explanation or f"It earns {score:g}.",
        strengths=() if failed else ("Answers the question.",),
        weaknesses=() if failed else ("Could be shorter.",),
    )
    attempt = Attempt(
        started_utc="2026-10-01T06:00:00.000Z",
        duration_ms=840.0,
        http_status=504 if failed else 200,
        reason=str(score) if failed else None,
        prompt_tokens=610,
        completion_tokens=0 if failed else 74,
        cost_usd=0.0 if failed else 0.0011,
    )
    return GradeOutcome(
        verdict=verdict,
        attempts=(attempt,),
        instrument=Instrument(resolved_model=model, fingerprint="fp_1", output_mode="json_schema", parameters={}),
        raw_reply="" if failed else f'{{"score": {score:g}, "explanation": "{explanation}"}}',
        finish_reason=None if failed else "stop",
    )


@dataclass(kw_only=True)
class World:
    """One app in one database. Use as a context manager; the database is closed at the end."""

    path: Path
    app: str = APP
    zone: str = "UTC"
    ruler: Ruler = field(default_factory=ruler)
    keys: Sequence[tuple[str, str]] | None = None
    store: Store = field(init=False)
    anchors: list[tuple[str, Anchor]] = field(init=False, default_factory=list)
    anchor_set_id: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.store = open_store(self.path, zone=self.zone)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def add_anchors(self, levels: Sequence[float]) -> list[tuple[str, Anchor]]:
        """Store one anchor per expected score; returns (item id, anchor) pairs."""
        anchors = [_anchor(place, level) for place, level in enumerate(levels)]
        self.anchor_set_id = write.save_anchor_set(
            self.store, app=self.app, name="general", anchors=anchors, now=datetime(2026, 1, 1, tzinfo=UTC)
        )
        self.anchors = [(write.anchor_item_id(self.app, anchor), anchor) for anchor in anchors]
        return self.anchors

    def add_answers(self, items: Sequence[Item]) -> list[str]:
        """Import answers; returns their item ids in order."""
        ids = [content_hash(self.app, item.external_id, item.content_id, item.answered_utc) for item in items]
        write.import_answers(
            self.store,
            app=self.app,
            answers=zip(ids, items, strict=True),
            path="answers.jsonl",
            file_sha256=content_hash(ids),
            n_rejected=0,
            now=datetime(2026, 1, 1, tzinfo=UTC),
        )
        return ids

    def run(
        self,
        slot_day: str,
        *,
        anchors: Mapping[str, Score] | None = None,
        answers: Mapping[str, Score] | None = None,
        sampled: tuple[str, int] | None = None,
        share: float = 1.0,
        untried: Sequence[str] = (),
        status: str = "finished",
        stop: StopReason | None = None,
        message: str = "",
        model: str = "judge-large-2026-07-18",
        explain: Callable[[str, float], str] | None = None,
    ) -> str:
        """One pass of the scorer at 06:00 UTC of ``slot_day``; returns the run's id.

        Args:
            slot_day: Day of the scheduled instant.
            anchors: Score (or reason) by item id of an anchor.
            answers: The same for traffic.
            sampled: (answered day, number of its answers): the day whose sample this run draws.
            share: Inclusion probability of the answers.
            untried: Item ids (of answers or anchors) that were planned and that the run did not come to.
            status: How the run ended; "running" leaves it open.
            stop: Why it ended early.
            message: What it told the user.
            model: The model that answered.
            explain: The judge's reason, from item id and score.
        """
        known = {item_id for item_id, _ in self.anchors}
        left = [item_id for item_id in untried if item_id in known]
        waiting = [item_id for item_id in untried if item_id not in known]
        plan = self._plan(slot_day, [*(anchors or {}), *left], [*(answers or {}), *waiting], sampled, share)
        started = datetime.fromisoformat(plan.slot_utc) + timedelta(seconds=4)
        write.register_ruler(self.store, app=self.app, ruler=self.ruler, now=started)
        rollup.choose_segment_keys(self.store, self.app, self.keys)
        write.begin_run(self.store, plan, now=started)
        outcomes = [(Source.ANCHOR, *pair) for pair in (anchors or {}).items()]
        outcomes += [(Source.TRAFFIC, *pair) for pair in (answers or {}).items()]
        graded = [
            write.GradedItem(
                item_id=item_id,
                source=source,
                outcome=scored(score, model=model, explanation=_reason(explain, item_id, score)),
                graded_utc=utc_text(started + timedelta(seconds=place * 0.4)),
            )
            for place, (source, item_id, score) in enumerate(outcomes)
        ]
        if graded:
            write.save_outcomes(self.store, plan, CRITERION, graded)
        if status != "running":
            finished = started + timedelta(seconds=40 + len(graded) * 0.4)
            write.finish_run(self.store, plan.run_id, status=status, stop_reason=stop, message=message, now=finished)
        return plan.run_id

    def _plan(
        self,
        slot_day: str,
        anchors: Iterable[str],
        answers: Iterable[str],
        sampled: tuple[str, int] | None,
        share: float,
    ) -> write.RunPlan:
        slot_utc = f"{slot_day}T06:00:00.000Z"
        items = [write.PlannedItem(item_id=i, source=Source.ANCHOR, inclusion_probability=1.0) for i in anchors]
        traffic = [write.PlannedItem(item_id=i, source=Source.TRAFFIC, inclusion_probability=share) for i in answers]
        days = () if sampled is None else (
            write.SampledDay(answered_day=sampled[0], n_answers=sampled[1], n_planned=len(traffic)),
        )  # fmt: skip
        return write.RunPlan(
            run_id=content_hash(self.app, self.ruler.ruler_id, slot_utc),
            app=self.app,
            ruler_id=self.ruler.ruler_id,
            anchor_set_id=self.anchor_set_id,
            slot_utc=slot_utc,
            slot_day=slot_day,
            kind="all",
            items=(*items, *traffic),
            sampled_days=days,
        )


def answer(number: int, day: str, *, tags: Mapping[str, str] | None = None, **changes: object) -> Item:
    """One answer of the support bot, given at noon (plus ``number`` seconds) of ``day``."""
    topic = (tags or {}).get("topic", "orders")
    fields: dict[str, object] = {
        "input": f"Question {number} about {topic}: what do I have to do?",
        "output": f"Open your account, choose {topic}, and follow the steps there. Case {number}.",
        "external_id": f"{day}-{number}",
        "answered_utc": utc_text(noon(day) + timedelta(seconds=number)),
        "model": "assistant-4",
        "tags": dict(tags or {}),
    }
    return Item(**(fields | changes))  # type: ignore[arg-type]  # a test may set any field


def noon(day: str) -> datetime:
    """Noon of a day, UTC."""
    return datetime.combine(date.fromisoformat(day), time(12), tzinfo=UTC)


def plus_days(day: str, days: int) -> str:
    """The day so many days later."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def _reason(explain: Callable[[str, float], str] | None, item_id: str, score: Score) -> str:
    if explain is None or isinstance(score, UnscoredReason):
        return ""
    return explain(item_id, score)


def _anchor(place: int, level: float) -> Anchor:
    return Anchor(
        anchor_id=f"gen-{place + 1:02d}",
        item=Item(
            input=f"Anchor question {place + 1}: how do I return a parcel?",
            output=f"Anchor answer {place + 1}: print the label and hand the parcel in at any counter.",
            reference="Print the label; hand it in at any counter within 30 days.",
            tags={"topic": "returns"},
        ),
        expected_score=level,
        why="Names the steps, leaves out the time limit.",
    )


# ---------------------------------------------------------------- the states


def zero_bytes(path: Path) -> Path:
    """A file of 0 bytes."""
    path.touch()
    return path


def schema_only(path: Path, *, zone: str = "UTC") -> Path:
    """Tables without rows."""
    open_store(path, zone=zone).close()
    return path


def anchor_only(path: Path) -> Path:
    """One anchor and no score: a judge setup is known, nothing ran."""
    with World(path=path) as world:
        world.add_anchors([4])
        write.register_ruler(world.store, app=world.app, ruler=world.ruler, now=noon(LAST_DAY))
    return path


def answers_only(path: Path) -> Path:
    """Ten imported answers; the scorer never ran."""
    with World(path=path) as world:
        world.add_answers([answer(n, LAST_DAY) for n in range(10)])
    return path


def one_day(path: Path, *, scores: Sequence[float] = (4, 3, 5, 4, 2, 4, 5, 3)) -> Path:
    """One finished run: six anchors, and the answers of a single day."""
    with World(path=path, keys=[("topic", "")]) as world:
        anchors = world.add_anchors([1, 2, 3, 4, 5, 5])
        topics = ("billing", "returns")
        ids = world.add_answers([answer(n, LAST_DAY, tags={"topic": topics[n % 2]}) for n in range(len(scores))])
        world.run(
            plus_days(LAST_DAY, 1),
            anchors={item_id: anchor.expected_score or 3 for item_id, anchor in anchors},
            answers=dict(zip(ids, scores, strict=True)),
            sampled=(LAST_DAY, 40),
            share=len(scores) / 40,
        )
    return path


def all_unscored(path: Path) -> Path:
    """One run whose ten verdicts all lack a score: eight time-outs and two refusals."""
    reasons = [UnscoredReason.TIMEOUT] * 8 + [UnscoredReason.REFUSAL] * 2
    with World(path=path, keys=[("topic", "")]) as world:
        ids = world.add_answers([answer(n, LAST_DAY, tags={"topic": "billing"}) for n in range(10)])
        world.run(plus_days(LAST_DAY, 1), answers=dict(zip(ids, reasons, strict=True)), sampled=(LAST_DAY, 10))
    return path


def timed(path: Path, scores: Sequence[tuple[str, float]], *, zone: str = "UTC") -> Path:
    """Answers at exact instants: (answered_utc, score) pairs, graded in one run a day later."""
    with World(path=path, zone=zone, keys=[]) as world:
        items = [
            answer(n, LAST_DAY, answered_utc=answered_utc, external_id=f"timed-{n}")
            for n, (answered_utc, _) in enumerate(scores)
        ]
        ids = world.add_answers(items)
        last = max(answered_utc for answered_utc, _ in scores)[:10]
        world.run(plus_days(last, 1), answers=dict(zip(ids, (score for _, score in scores), strict=True)))
    return path


def hostile(path: Path, responses: Sequence[tuple[str, str]] = ()) -> Path:
    """Three days whose texts, segments, reasons and model names try to be something else.

    Args:
        path: Where to build.
        responses: (answer text, segment) pairs to add to the shipped segment names.
    """
    texts = [*responses, *((f"# {name} $x$ <i>y</i>", name) for name in HOSTILE_SEGMENTS)]
    model = "judge<b>$1$</b>"
    with World(path=path, app="<i>$a$</i>", ruler=ruler(model=model), keys=[("kind", "")]) as world:
        for place in range(3):
            day = plus_days(LAST_DAY, place - 3)
            items = [
                answer(n, day, tags={"kind": texts[n % len(texts)][1]}, output=texts[n % len(texts)][0])
                for n in range(len(texts) * 4)
            ]
            ids = world.add_answers(items)
            world.run(
                plus_days(day, 1),
                answers={item_id: float(2 + n % 4) for n, item_id in enumerate(ids)},
                sampled=(day, len(ids)),
                model=model,
                explain=lambda _, score: f"=1+1 **{score:g}** $x$ <b>bold</b> ![p](http://example.invalid/p.png)",
            )
        write.add_event(
            world.store,
            app=world.app,
            at=noon(plus_days(LAST_DAY, -2)),
            kind="deploy",
            text="<b>v2</b> $now$",
            by_whom="someone",
        )
    return path


def older(path: Path) -> Path:
    """A database that lacks the newest step of the schema."""
    schema_only(path)
    with open_store(path) as store, store.transaction() as connection:
        connection.execute("DELETE FROM _sqlite_migrations WHERE id = (SELECT max(id) FROM _sqlite_migrations)")
    return path


def newer(path: Path) -> Path:
    """A database with a step of the schema that this version does not know."""
    schema_only(path)
    with open_store(path) as store, store.transaction() as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('judgewatch', 'm999_later', '')"
        )
    return path


# ---------------------------------------------------------------- sixty days


@dataclass(frozen=True, kw_only=True)
class Story:
    """What happens in ``sixty_days``, by place of the day (0 is the first). Days without a mention are ordinary."""

    n_days: int = 60
    answers_per_day: int = 48
    answers_of_a_day: int = 480
    judge_moves: int = 40
    judge_gain: float = 0.34
    segment_moves: int = 46
    segment_loss: float = 1.2
    deploy: int = 30
    no_run: int = 12
    failed_run: int = 20
    timeouts: int = 33


TOPICS = ("billing", "returns", "orders", "account")
LANGUAGES = ("en", "de")
KEYS = (("topic", ""), ("language", ""), ("topic", "language"))
OLD_MODEL, NEW_MODEL = "judge-large-2026-07-18", "judge-large-2026-10-11"
_REASONS = {
    1: "The main point is false and nothing right remains to be used.",
    2: "A wrong deadline stands beside a correct first step; acting on it would mislead.",
    3: "True and useful, but one of the two parts asked for is missing.",
    4: "Right and usable; the time limit could have been named.",
    5: "Complete, correct, and clear on first reading.",
}


def sixty_days(path: Path, story: Story | None = None, *, last_day: str = LAST_DAY, seed: int = 7) -> Path:
    """Sixty days of a support bot: answers of ``last_day - 59`` to ``last_day``, each graded at 06:00 the day after.

    From ``judge_moves`` on another model answers and gives about 0.3 more for the same anchors; from
    ``segment_moves`` on the German billing answers are worse. One day has no run, one run fails (key refused), one day
    has more time-outs than scores, and the newest run stops at its budget.
    """
    story = story or Story()
    rng = random.Random(seed)
    first_day = plus_days(last_day, 1 - story.n_days)
    with World(path=path, keys=KEYS) as world:
        anchors = world.add_anchors([1, 2, 2, 3, 3, 3, 4, 4, 4, 5] * 2)
        for place in range(story.n_days):
            day = plus_days(first_day, place)
            items = [answer(n, day, tags=_tags(n)) for n in range(story.answers_per_day)]
            ids = world.add_answers(items)
            if place != story.no_run:
                _grade_day(world, story, place, day, rng, anchors, ids)
        _log_events(world, story, first_day)
    return path


def _tags(number: int) -> dict[str, str]:
    return {"topic": TOPICS[number % 4], "language": LANGUAGES[number // 4 % 3 == 2]}


def _grade_day(
    world: World,
    story: Story,
    place: int,
    day: str,
    rng: random.Random,
    anchors: Sequence[tuple[str, Anchor]],
    ids: Sequence[str],
) -> None:
    moved = place >= story.judge_moves
    gain = story.judge_gain if moved else 0.0
    anchor_scores: dict[str, Score] = {
        item_id: _judged(anchor.expected_score or 3, 0.08, gain, rng) for item_id, anchor in anchors
    }
    scores: dict[str, Score] = {}
    for number, item_id in enumerate(ids):
        scores[item_id] = _judged(_quality(story, place, number, rng), 0.2, gain, rng)
        if rng.random() < 0.02 or (place == story.timeouts and rng.random() < 0.7):
            scores[item_id] = UnscoredReason.TIMEOUT if rng.random() < 0.8 else UnscoredReason.REFUSAL
    ending = _ending(story, place)
    graded_anchors = 5 if place == story.failed_run else len(anchors)
    tried = ids if ending["n_tried"] is None else ids[: ending["n_tried"]]
    world.run(
        plus_days(day, 1),
        anchors=dict(list(anchor_scores.items())[:graded_anchors]),
        answers={item_id: scores[item_id] for item_id in tried},
        untried=[*ids[len(tried) :], *list(anchor_scores)[graded_anchors:]],
        sampled=(day, story.answers_of_a_day),
        share=len(ids) / story.answers_of_a_day,
        model=NEW_MODEL if moved else OLD_MODEL,
        explain=lambda _, score: _REASONS[round(score)],
        status=ending["status"],
        stop=ending["stop"],
        message=ending["message"],
    )


def _quality(story: Story, place: int, number: int, rng: random.Random) -> float:
    tags = _tags(number)
    level = {"billing": 3.7, "returns": 3.9, "orders": 4.1, "account": 3.8}[tags["topic"]] + rng.gauss(0, 0.7)
    if tags == {"topic": "billing", "language": "de"}:
        level -= 0.3 if place < story.segment_moves else story.segment_loss
    return min(5, max(1, round(level)))


def _judged(level: float, flips: float, gain: float, rng: random.Random) -> float:
    """The judge's score for a level: now and then one off, and after its move often one more."""
    score = level + (rng.choice((-1, 1)) if rng.random() < flips else 0)
    if rng.random() < gain * 1.3:
        score += 1
    return min(5, max(1, score))


def _ending(story: Story, place: int) -> dict[str, Any]:
    if place == story.failed_run:
        return {
            "n_tried": 0,
            "status": "failed",
            "stop": StopReason.AUTH,
            "message": "the judge refused the key (401): check the variable OPENAI_API_KEY",
        }
    if place == story.n_days - 1:
        return {
            "n_tried": story.answers_per_day * 3 // 4,
            "status": "stopped",
            "stop": StopReason.BUDGET,
            "message": "the day's budget of $0.06 is spent; 12 answers wait for tomorrow",
        }
    return {"n_tried": None, "status": "finished", "stop": None, "message": ""}


def _log_events(world: World, story: Story, first_day: str) -> None:
    write.add_event(
        world.store,
        app=world.app,
        at=noon(plus_days(first_day, story.deploy)),
        kind="deploy",
        text="assistant 4.1 rolled out",
        by_whom="release",
    )
    write.add_event(
        world.store,
        app=world.app,
        at=noon(plus_days(first_day, story.judge_moves + 1)),
        kind="instrument",
        text=f"the returned model changed ({OLD_MODEL} → {NEW_MODEL})",
        by_whom="judgewatch",
        ruler_id=world.ruler.ruler_id,
    )
