"""Are there anchors enough to watch the judge with, over the whole scale, and are they the same as before?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from evaluator.doctor.base import Check, Patient, fail, ok, skipped, warn
from evaluator.records import Anchor, Rubric
from evaluator.scoring.schedule import runs_per_year
from evaluator.scoring.setup import schedule_zone
from evaluator.store import read

NAME = "anchors"
FEWEST, MANY = 10, 50
_NAMED = 3
_CHANGE = 0.2


def check_anchors(patient: Patient) -> Iterator[Check]:
    """Number, levels, texts."""
    name, anchors = patient.config.anchors.set, patient.anchors
    n = len(anchors)
    if n < FEWEST:
        yield fail(NAME, f"{name} holds {n}; a run counts from {FEWEST} on", _MORE)
        return
    seen = _what_is_seen(patient)
    if n < MANY:
        yield warn(NAME, f"{name} holds {n}{seen}", f"{MANY} or more see smaller changes sooner; {_MORE}")
    else:
        yield ok(NAME, f"{name} holds {n}{seen}")
    if _are_shipped(patient) and patient.config.judge.has_own_scale:
        yield warn(
            "own anchors",
            f"{name} is the set that ships: general questions, and your judge grades by words of its own",
            _OWN,
        )
    if patient.rubric is not None:
        yield _check_levels(patient, patient.rubric)
    change = _check_same_texts(patient)
    if change is not None:
        yield change


_OWN = "it does for the first days; `judgewatch anchors pick` takes some from your own traffic"
_MORE = "add some from your own traffic, `judgewatch anchors --help`"


def _are_shipped(patient: Patient) -> bool:
    """Whether the set is one that comes with judgewatch, and not a file."""
    name = patient.config.anchors.set
    return not name.endswith(".jsonl") and "/" not in name


def _what_is_seen(patient: Patient) -> str:
    """How long a change would go unnoticed that stays: of 0.2 points of a 1-5 scale, or as much of another."""
    from evaluator.analysis.settings import JUDGE_LEVEL_WEIGHT
    from evaluator.stats.detector import alarm_threshold
    from evaluator.stats.paired import units_per_point
    from evaluator.stats.planning import anchor_stream, runs_to_alarm

    config = patient.config
    threshold = alarm_threshold(
        runs_per_year=runs_per_year(config.schedule.cron, schedule_zone(config), patient.now),
        false_alarms_per_year=config.alarms.false_alarms_per_year,
        weight=JUDGE_LEVEL_WEIGHT,
    )
    n_runs = runs_to_alarm(_CHANGE, anchor_stream(len(patient.anchors)), threshold=threshold)
    if n_runs is None or not math.isfinite(n_runs):
        return ""
    rubric = patient.rubric
    change = _CHANGE * (1.0 if rubric is None else units_per_point((rubric.scale_min, rubric.scale_max)))
    return f"; a change of {change:.2g} points that stays is seen after about {math.ceil(n_runs)} runs"


def _check_levels(patient: Patient, rubric: Rubric) -> Check:
    """A judge that grows lenient at one end of the scale is not seen by anchors of the other."""
    known = [anchor.expected_score for anchor in patient.anchors if anchor.expected_score is not None]
    if not known and _are_shipped(patient):
        return skipped(
            "anchor levels",
            f"the expected scores of {patient.config.anchors.set} are on another scale than"
            f" {rubric.scale_min:g} to {rubric.scale_max:g} and do not apply: which levels have anchors cannot be told",
        )
    if not known:
        return ok("anchor levels", "no expected scores: drift is seen without them, whether the judge is right is not")
    counts = Counter(min(rubric.levels, key=lambda level: abs(level.score - score)).score for score in known)
    shown = ", ".join(f"{level.score:g}: {counts[level.score]}" for level in rubric.levels)
    missing = [f"{level.score:g}" for level in rubric.levels if not counts[level.score]]
    if missing:
        return warn(
            "anchor levels",
            f"no anchor is expected at {', '.join(missing)} ({shown})",
            "add anchors there: a judge may change at one end of the scale alone",
        )
    return ok("anchor levels", f"every level has some ({shown})")


def _check_same_texts(patient: Patient) -> Check | None:
    """An anchor whose text was changed is another anchor, with a history that begins anew."""
    if patient.store is None:
        return None
    ruler = read.newest_ruler(patient.store, patient.config.app.name)
    runs = (
        []
        if ruler is None
        else read.anchor_runs(patient.store, app=patient.config.app.name, ruler_id=ruler["ruler_id"])
    )
    set_ids = [run["anchor_set_id"] for run in runs if run["anchor_set_id"]]
    if not set_ids:
        return None
    stored = {anchor.item.content_id: anchor for _, anchor in read.load_anchor_set(patient.store, set_ids[-1])}
    current = {anchor.item.content_id: anchor for anchor in patient.anchors}
    new, gone = sorted(_names(current, stored)), sorted(_names(stored, current))
    if not new and not gone:
        return ok("anchor texts", "the same as in the last run")
    parts = [f"{len(new)} new ({_some(new)})"] if new else []
    parts += [f"{len(gone)} gone ({_some(gone)})"] if gone else []
    return warn(
        "anchor texts",
        f"not the same as in the last run: {', '.join(parts)}",
        "a new or changed anchor counts after ten runs of its own; change few at a time",
    )


def _names(these: dict[str, Anchor], those: dict[str, Anchor]) -> list[str]:
    return [these[content_id].anchor_id for content_id in these.keys() - those.keys()]


def _some(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + ("" if len(names) <= _NAMED else ", …")
