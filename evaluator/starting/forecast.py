"""What a configuration will cost and what will be visible with it, before the first call. Calls nobody, keeps nothing.

Two prices for everything. "About" takes the texts at four bytes a token and a reply of usual length; "at most" is what
the scorer sets aside before a call, with any tokenizer and the longest reply allowed.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from evaluator.analysis import ASSISTANT_WEIGHT
from evaluator.analysis.settings import JUDGE_LEVEL_WEIGHT
from evaluator.config import BudgetConfig, Config, StoreConfig
from evaluator.errors import DataFileError
from evaluator.importers import ImportedItem, iter_items
from evaluator.judges.base import Judge
from evaluator.judges.costs import max_prompt_tokens
from evaluator.judges.prompts import PromptRenderer
from evaluator.records import Item, Rubric
from evaluator.scoring.schedule import next_slot, runs_per_year
from evaluator.scoring.setup import build_judge, configured_anchors, schedule_zone, without_secrets
from evaluator.scoring.slot_preview import DAYS_PER_MONTH, DAYS_PER_YEAR
from evaluator.sources.files import find_files
from evaluator.stats.detector import alarm_threshold
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.paired import MIN_ANCHORS, units_per_point
from evaluator.stats.planning import Stream, anchor_stream, answer_stream, smallest_visible_change

BYTES_PER_TOKEN = 4
USUAL_REPLY_TOKENS = 150
SOON_VALUES, LATER_VALUES = 3, 14
ROWS_READ = 50
ROOM_FOR_RETRIES = 1.5
RECHECKED, PICKED = 200, 100  # what `recheck` and `anchors pick` take unless told otherwise
CALLS_PER_PICK = 4  # three candidates for each anchor, and the one chosen a second time
FIRST_HOUR_CALLS = RECHECKED + CALLS_PER_PICK * PICKED
_ANY_SECRET = "0" * 32  # as long as a real one: the marks around a text cost tokens too


@dataclass(frozen=True, kw_only=True)
class Load:
    """What one kind of grading takes on an ordinary day.

    Attributes:
        calls: Calls a day.
        about_tokens: Usual tokens of a prompt.
        most_tokens: Tokens that a prompt does not exceed.
        about_usd: Usual cost of a day; None without a price.
        most_usd: The most that a day can cost, without retries; None without a price.
    """

    calls: float
    about_tokens: float
    most_tokens: float
    about_usd: float | None
    most_usd: float | None


@dataclass(frozen=True, kw_only=True)
class Visible:
    """The smallest lasting changes that are found in half of all cases, and in how many days.

    Changes are in units of the rubric; None where even one across the whole scale takes longer.
    """

    within_soon: float | None
    soon_days: float
    within_later: float | None
    later_days: float


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Cost and sensitivity of a configuration.

    Attributes:
        n_anchors: Anchors in every run.
        runs_per_day: Runs a day, on average.
        anchors: What the anchors take.
        traffic: What the traffic takes.
        traffic_basis: What the length of an answer was told from, in words.
        price_source: Where the price comes from, in words.
        scale: Lowest and highest score.
        judge: Changes of the judge that will be seen; None with too few anchors for any alarm.
        assistant: Changes of the assistant that will be seen.
        first_run: The next scheduled instant.
        first_alarm: The eleventh scheduled instant: no alarm is possible before.
    """

    n_anchors: int
    runs_per_day: float
    anchors: Load
    traffic: Load
    traffic_basis: str
    price_source: str
    scale: tuple[float, float]
    judge: Visible | None
    assistant: Visible
    first_run: datetime
    first_alarm: datetime

    @property
    def calls_a_day(self) -> float:
        """Calls of an ordinary day."""
        return self.anchors.calls + self.traffic.calls

    @property
    def about_usd_a_day(self) -> float | None:
        """Usual cost of a day; None without a price."""
        return _sum(self.anchors.about_usd, self.traffic.about_usd)

    @property
    def most_usd_a_day(self) -> float | None:
        """The most that a day can cost, without retries; None without a price."""
        return _sum(self.anchors.most_usd, self.traffic.most_usd)

    @property
    def days_per_month(self) -> float:
        """Length of the month that costs are named for."""
        return DAYS_PER_MONTH

    @property
    def suggested_usd_per_day(self) -> float | None:
        """A budget with room for retries and for the first hour; None without a price."""
        most = self.most_usd_a_day
        if most is None:
            return None
        per_call = most / self.calls_a_day if self.calls_a_day else 0.0
        return max(0.01, _rounded_up(max(ROOM_FOR_RETRIES * most, most + FIRST_HOUR_CALLS * per_call)))

    @property
    def suggested_calls_per_day(self) -> int:
        """The same as a number of calls."""
        most = max(ROOM_FOR_RETRIES * self.calls_a_day, self.calls_a_day + FIRST_HOUR_CALLS)
        return math.ceil(_rounded_up(math.ceil(most)))


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _rounded_up(value: float) -> float:
    """A number with two digits that is not less."""
    if value <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step) * step:.2g}")


def forecast(config: Config, *, now: datetime) -> Forecast:
    """Tell what a configuration will cost and show.

    Args:
        config: The configuration; its budget may be missing.
        now: Wall clock.

    Raises:
        JudgewatchError: the configuration, or a file that it names, cannot be used.
    """
    with tempfile.TemporaryDirectory() as folder:
        judge, rubric = build_judge(_harmless(config, Path(folder)))
        try:
            return _forecast(config, judge, rubric, now)
        finally:
            asyncio.run(judge.close())


def _harmless(config: Config, folder: Path) -> Config:
    """The configuration for a judge that is never called: no key is needed for it, and no database is left behind."""
    bare = without_secrets(config)
    return bare.model_copy(
        update={
            "judge": bare.judge.model_copy(update={"ca_file": None}),
            "store": StoreConfig(path=str(folder / "forecast.db")),
            "budget": BudgetConfig(calls_per_day=1),
        }
    )


def _forecast(config: Config, judge: Judge, rubric: Rubric, now: datetime) -> Forecast:
    anchors = [anchor.item for anchor in configured_anchors(config, rubric)]
    answers, basis = _some_answers(config)
    zone = schedule_zone(config)
    per_year = runs_per_year(config.schedule.cron, zone, now)
    per_day = per_year / DAYS_PER_YEAR
    n_answers = config.traffic.answers_per_day or 0
    slots = [next_slot(config.schedule.cron, zone, now)]
    while len(slots) <= MIN_REFERENCE_RUNS:
        slots.append(next_slot(config.schedule.cron, zone, slots[-1]))
    scale = (rubric.scale_min, rubric.scale_max)
    return Forecast(
        n_anchors=len(anchors),
        runs_per_day=per_day,
        anchors=_load(anchors, len(anchors) * per_day, judge, config),
        traffic=_load(answers or anchors, n_answers, judge, config),
        traffic_basis=basis,
        price_source=config.price_source,
        scale=scale,
        judge=_judge_visible(len(anchors), config, per_year, scale),
        assistant=_assistant_visible(n_answers, config, per_year, scale),
        first_run=slots[0],
        first_alarm=slots[MIN_REFERENCE_RUNS],
    )


def _some_answers(config: Config) -> tuple[list[Item], str]:
    """A few answers from the first file of traffic, and in words what the length of an answer was told from."""
    assumed = "no answers at hand: they are taken to be as long as the anchors"
    found = find_files(config.traffic.files, config.folder).files
    if not found:
        return [], assumed
    path = found[0].path
    try:
        rows = iter_items(path, field_map=config.traffic.fields, time_format=config.traffic.time_format)
        read = islice((row for row in rows if isinstance(row, ImportedItem)), ROWS_READ)
        items = [row.item for row in read if row.item.output.strip()]
    except DataFileError as error:
        return [], f"{assumed} ({error})"
    if not items:
        return [], f"{assumed} ({path} holds no answer that could be read)"
    return items, f"length of an answer: the first {len(items)} of {path}"


def _load(items: Sequence[Item], calls: float, judge: Judge, config: Config) -> Load:
    price, is_own = config.price, config.judge.prompt_file is not None
    renderer = PromptRenderer(
        judge.ruler.prompt_template,
        rubric=judge.ruler.rubric,
        fence_secret=None if is_own else _ANY_SECRET,
        verbatim=is_own,
    )
    prompts = [renderer.render(item, item_id="").messages for item in items]
    about = sum(len(part["content"].encode()) for prompt in prompts for part in prompt) / BYTES_PER_TOKEN / len(items)
    most_usd = judge.plan_cost(items)
    about_usd = None
    if price is not None:
        a_call = about * price.input_usd_per_million + USUAL_REPLY_TOKENS * price.output_usd_per_million
        about_usd = a_call * calls / 1e6
    return Load(
        calls=calls,
        about_tokens=about,
        most_tokens=sum(max_prompt_tokens(prompt) for prompt in prompts) / len(items),
        about_usd=about_usd,
        most_usd=None if most_usd is None or price is None else most_usd / len(items) * calls,
    )


def _judge_visible(n_anchors: int, config: Config, per_year: float, scale: tuple[float, float]) -> Visible | None:
    """Anchors give one value a run; None where no run would count."""
    if n_anchors < MIN_ANCHORS:
        return None
    days_apart = DAYS_PER_YEAR / per_year
    return _visible(anchor_stream(n_anchors), JUDGE_LEVEL_WEIGHT, config, per_year, scale, days_apart)


def _assistant_visible(n_answers: int, config: Config, per_year: float, scale: tuple[float, float]) -> Visible:
    """Traffic gives one value an answered day, however often runs take place; only a run can tell."""
    found = _visible(answer_stream(max(1, n_answers)), ASSISTANT_WEIGHT, config, per_year, scale, 1.0)
    wait = DAYS_PER_YEAR / per_year
    return replace(found, soon_days=max(found.soon_days, wait), later_days=max(found.later_days, wait))


def _visible(
    stream: Stream, weight: float, config: Config, per_year: float, scale: tuple[float, float], days_apart: float
) -> Visible:
    """What a stream shows at its share of the false alarms; its values are so many days apart."""
    threshold = alarm_threshold(
        runs_per_year=per_year, false_alarms_per_year=config.alarms.false_alarms_per_year, weight=weight
    )
    found = [smallest_visible_change(values, stream, threshold=threshold) for values in (SOON_VALUES, LATER_VALUES)]
    soon, later = (None if change is None else change * units_per_point(scale) for change in found)
    return Visible(
        within_soon=soon,
        soon_days=SOON_VALUES * days_apart,
        within_later=later,
        later_days=LATER_VALUES * days_apart,
    )
