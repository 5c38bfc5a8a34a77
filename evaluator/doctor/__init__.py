"""The doctor: looks at everything that a setup needs, says of each whether it is well, and what to do where it is not.

One check a function, one file a topic. To add one, write it in its topic's file and put it into ``_without_calls`` or
``_with_calls`` below. A check that breaks is a line of the report and stops no other. Nothing is stored, and no
database is created or brought up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from evaluator.clock import Clock
from evaluator.config import Config
from evaluator.doctor import anchors, budget, calls, configuration, database, judge, schedule, sources
from evaluator.doctor.base import Check, Patient, Status, fail, guarded, skipped
from evaluator.errors import JudgewatchError
from evaluator.scoring.setup import configured_anchors, configured_rubric
from evaluator.store.db import open_reader

__all__ = ["MOST_CALLS", "Check", "Status", "examine", "has_failed"]

MOST_CALLS = calls.MOST_CALLS
_ASKED = ("judge call", *judge.NEEDS_A_REPLY, judge.CLOCK)


def examine(
    load: Callable[[], Config],
    path: Path,
    *,
    clock: Clock,
    ask_judge: bool = True,
    before_calls: Callable[[int, float | None], None] = lambda _calls, _usd: None,
) -> Iterator[Check]:
    """Make all checks, one after the other.

    Args:
        load: Reads the configuration.
        path: Where the configuration is, to be named.
        clock: Wall clock.
        ask_judge: Whether the judge may be called, ``MOST_CALLS`` times.
        before_calls: Told the number of calls, and the most they can cost, before the first; None: not known.

    Yields:
        A line as soon as it is known.
    """
    try:
        config = load()
    except JudgewatchError as error:
        is_missing = not path.exists()
        fix = "write one with `judgewatch init`" if is_missing else "mend what it names, then run this again"
        yield fail("configuration", f"there is none at {path}" if is_missing else str(error), fix)
        return
    with ExitStack() as stack:
        patient = Patient(config=config, now=clock.now(), store=None, rubric=None, anchors=())
        yield from guarded("configuration", lambda: configuration.check_configuration(path))
        patient, troubles = _admit(patient, stack)
        yield from troubles
        yield from guarded("prompt", partial(configuration.check_prompt, patient))
        yield from guarded("key", partial(configuration.check_key, patient))
        yield from _with_calls(patient, clock=clock, before_calls=before_calls) if ask_judge else _not_asked()
        yield from _without_calls(patient)


def has_failed(checks: Sequence[Check]) -> bool:
    """Whether something has to be mended before scores mean anything."""
    return any(check.status == "fail" for check in checks)


def _admit(patient: Patient, stack: ExitStack) -> tuple[Patient, list[Check]]:
    """Load what checks share; what cannot be loaded is a line of the report, and missing from then on."""
    config, troubles = patient.config, []

    def load_scale() -> list[Check]:
        nonlocal patient
        patient = replace(patient, rubric=configured_rubric(config))
        return []

    def load_set() -> list[Check]:
        nonlocal patient
        if patient.rubric is not None:
            patient = replace(patient, anchors=tuple(configured_anchors(config, patient.rubric)))
        return []

    def open_database() -> list[Check]:
        nonlocal patient
        if config.store_path.exists():
            patient = replace(patient, store=stack.enter_context(open_reader(config.store_path)))
        return []

    troubles += guarded("rubric", load_scale)
    troubles += guarded("anchors", load_set)
    troubles += guarded("database", open_database)
    return patient, troubles


def _without_calls(patient: Patient) -> Iterator[Check]:
    yield from guarded("price", partial(configuration.check_price, patient))
    yield from guarded("budget", partial(_check_budget, patient))
    yield from guarded("database", partial(database.check_place, patient.config.store_path))
    if patient.store is not None or not patient.config.store_path.exists():
        yield from guarded("database", partial(database.check_database, patient))
    if patient.anchors:
        yield from guarded("anchors", partial(anchors.check_anchors, patient))
    yield from guarded("schedule", partial(schedule.check_schedule, patient))
    yield from guarded("traffic", partial(sources.check_traffic, patient))
    yield from guarded(sources.ROWS, partial(sources.check_rows, patient))
    yield from guarded("privacy", partial(configuration.check_privacy, patient))
    yield from guarded("alerts", partial(configuration.check_alerts, patient))


def _check_budget(patient: Patient) -> Check:
    cost = calls.most_cost(patient.config, patient.anchors, repeat_first=False)
    return budget.check_budget(patient, budget.plan_day(patient, cost))


def _with_calls(
    patient: Patient, *, clock: Clock, before_calls: Callable[[int, float | None], None]
) -> Iterator[Check]:
    chosen = calls.choose_anchors(patient.anchors)
    asked: list[calls.Interview] = []

    def ask() -> list[Check]:
        before_calls(len(chosen) + 1, calls.most_cost(patient.config, chosen, repeat_first=True))
        asked.append(calls.interview(patient.config, chosen, clock=clock))
        return [judge.check_call(asked[0], patient)]

    yield from guarded("judge call", ask)
    if not asked:
        yield from (skipped(name, "the judge could not be asked") for name in _ASKED[1:])
        return
    if asked[0].asked[0].reply is None:
        yield from (skipped(name, "the judge did not answer") for name in judge.NEEDS_A_REPLY)
    else:
        yield from guarded("replies", partial(judge.check_replies, asked[0], patient))
        yield from guarded("gateway cache", partial(judge.check_gateway, asked[0], patient))
        yield from guarded("model version", partial(judge.check_model, asked[0], patient))
    yield from guarded(judge.CLOCK, partial(judge.check_clock, asked[0]))


def _not_asked() -> Iterator[Check]:
    yield from (skipped(name, "the judge was not asked (--no-call)") for name in _ASKED)
