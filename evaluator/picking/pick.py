"""A pick: candidates drawn and written down, graded twice afresh, chosen by the first grade, reviewed by a person.

Its scores are never a reference. Whoever picks by a noisy score and then compares with that same score sees drift where
there is none: the highest were partly lucky and fall back, the lowest rise (regression to the mean). So the first fresh
grade only spreads the choice over levels, the second shows how much a grade jumps, and the baseline is made of the runs
that come after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from evaluator.clock import parse_utc, utc_text
from evaluator.errors import UsageError
from evaluator.judges.base import Judge
from evaluator.picking.candidates import Candidates, Draw, draw_candidates
from evaluator.records import content_hash
from evaluator.scoring.plan import RunSettings, register_setup
from evaluator.store import read, write
from evaluator.store.db import Store
from evaluator.store.write import PickedItem, PickPlan

_SLOT_STEP = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True)
class PickRequest:
    """What was asked for; the same request goes on with the pick that it began."""

    name: str
    n: int
    per_segment: str | None = None
    from_recheck: str | None = None
    since: str | None = None
    until: str | None = None

    def draw(self, settings: RunSettings, *, most_chars: int) -> Draw:
        """Which answers candidates come from, in the app that these settings are of."""
        return Draw(
            app=settings.app,
            n=self.n,
            per_segment=self.per_segment,
            from_recheck=self.from_recheck,
            since=self.since,
            until=self.until,
            most_chars=most_chars,
            segment_keys=tuple(key for key, crossed in settings.segment_keys or () if not crossed),
        )


@dataclass(frozen=True, kw_only=True)
class Pick:
    """A stored pick. ``run_ids`` and ``slots`` are those of its two gradings; ``left_out`` counts by reason."""

    pick_id: str
    app: str
    ruler_id: str
    request: PickRequest
    run_ids: tuple[str, ...]
    slots: tuple[datetime, ...]
    segment_key: str | None
    n_looked_at: int
    left_out: Mapping[str, int]
    items: tuple[PickedItem, ...]
    started_utc: str
    frozen_utc: str | None


def with_whole_id(store: Store, app: str, request: PickRequest) -> PickRequest:
    """Return a request with the whole id of the recheck that it names the start of.

    Raises:
        UsageError: no recheck has an id that begins like this, or several have.
    """
    start = request.from_recheck
    if start is None:
        return request
    found = read.find_recheck_ids(store, app, start) if start else []
    if not found:
        raise UsageError(
            f"--from-recheck {start!r}: app {app!r} has no recheck of that id; `judgewatch recheck` lists them"
        )
    if len(found) > 1:
        raise UsageError(f"--from-recheck {start!r} fits several rechecks: {', '.join(found)}; give more of the id")
    return replace(request, from_recheck=found[0])


def find_pick(store: Store, app: str, name: str) -> Pick | None:
    """The newest pick for a set of this name; None when there is none."""
    row = read.newest_pick(store, app, name)
    if row is None:
        return None
    settings = row["settings"]
    return Pick(
        pick_id=row["pick_id"],
        app=app,
        ruler_id=row["ruler_id"],
        request=PickRequest(**settings["asked"]),
        run_ids=tuple(row["run_ids"]),
        slots=tuple(parse_utc(text) for text in settings["slots"]),
        segment_key=settings["segment_key"],
        n_looked_at=settings["n_looked_at"],
        left_out=settings["left_out"],
        items=tuple(
            PickedItem(item_id=item["item_id"], stratum=item["stratum"], flags=tuple(item["flags"]))
            for item in read.pick_items(store, row["pick_id"])
        ),
        started_utc=row["started_utc"],
        frozen_utc=row["frozen_utc"],
    )


def pick_to_go_on_with(
    store: Store, request: PickRequest, *, app: str, ruler_id: str, restart: bool = False
) -> Pick | None:
    """The pick that this request goes on with; None when a new one is to begin.

    Raises:
        UsageError: a pick of that name was begun with other settings or under another judge setup.
    """
    found = find_pick(store, app, request.name)
    if found is None or restart:
        return None
    name = request.name
    if found.request != request:
        old, new = asdict(found.request), asdict(request)
        changed = ", ".join(f"{key} was {_shown(old[key])}" for key in old if old[key] != new[key])
        state = "is under way" if found.frozen_utc is None else f"was frozen on {found.frozen_utc[:10]}"
        raise UsageError(
            f"a pick {name!r} {state} with other settings ({changed}); repeat them to go on with it, take another"
            " --name, or begin anew with --restart"
        )
    if found.ruler_id != ruler_id:
        raise UsageError(
            f"the pick {name!r} was begun under another judge setup (model, rubric, prompt or parameters changed"
            " since); begin anew with --restart"
        )
    return found


def _shown(value: object) -> str:
    return "not set" if value is None else repr(value)


def open_pick(
    store: Store,
    request: PickRequest,
    settings: RunSettings,
    judge: Judge,
    *,
    most_chars: int,
    now: datetime,
    restart: bool = False,
) -> Pick:
    """Go on with a pick, or draw one and write it down before any call.

    Args:
        store: A writable store.
        request: What is asked for.
        settings: Settings of a run of this app.
        judge: Who will grade.
        most_chars: Longest text of a candidate, question and answer together.
        now: Wall clock.
        restart: Begin a new pick, whatever there is.

    Raises:
        UsageError: nothing to pick from, or a pick of that name that this request does not go on with.
    """
    app, ruler = settings.app, judge.ruler
    found = pick_to_go_on_with(store, request, app=app, ruler_id=ruler.ruler_id, restart=restart)
    if found is not None:
        return found
    before = find_pick(store, app, request.name)
    candidates = draw_candidates(store, request.draw(settings, most_chars=most_chars))
    register_setup(store, settings, ruler, now)
    plan = _plan(store, request, candidates, app=app, ruler_id=ruler.ruler_id, now=now)
    write.begin_pick(store, plan, replaces=None if before is None else before.pick_id, now=now)
    # another terminal may have begun it a moment before: then that one is gone on with
    begun = pick_to_go_on_with(store, request, app=app, ruler_id=ruler.ruler_id)
    if begun is None:
        raise UsageError(f"the pick {request.name!r} is not in {store.path}; start the command again")
    return begun


def _plan(
    store: Store, request: PickRequest, candidates: Candidates, *, app: str, ruler_id: str, now: datetime
) -> PickPlan:
    first = _free_slot(store, app, ruler_id, now)
    slots = (first, _free_slot(store, app, ruler_id, first + _SLOT_STEP))
    settings: dict[str, Any] = {
        "asked": asdict(request),
        "slots": [utc_text(slot) for slot in slots],
        "segment_key": candidates.segment_key,
        "n_looked_at": candidates.n_looked_at,
        "left_out": dict(candidates.left_out),
    }
    return PickPlan(
        pick_id=content_hash("pick", app, request.name, utc_text(now)),
        app=app,
        ruler_id=ruler_id,
        name=request.name,
        run_ids=tuple(content_hash("run", app, ruler_id, utc_text(slot)) for slot in slots),
        settings=settings,
        items=candidates.items,
    )


def _free_slot(store: Store, app: str, ruler_id: str, start: datetime) -> datetime:
    """An instant that no run of this setup stands for."""
    slot = start
    while read.run_at(store, app, ruler_id, utc_text(slot)) is not None:
        slot += _SLOT_STEP
    return slot
