"""The judge: did it move, and what takes traffic back to its first scale? Anchors only, never traffic."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.analysis.comparison import Comparison, anchor_runs, compare_runs, moved_anchors
from evaluator.analysis.events import OF_THE_JUDGE, ChangeDays, likely_cause, shift_day
from evaluator.analysis.history import AnchorHistory
from evaluator.analysis.units import Scale
from evaluator.findings import EventMark, JudgeFinding, SettingsUsed
from evaluator.stats.correction import JudgeMap, NoMap, fit_judge_map, fit_judge_maps
from evaluator.stats.detector import alarm_threshold
from evaluator.stats.evidence import MIN_REFERENCE_RUNS
from evaluator.stats.numeric import mean_of_present

JUDGE_WEIGHT = 0.35  # share of the false-alarm budget
DAYS_PER_YEAR = 365.25


@dataclass(frozen=True, kw_only=True, eq=False)
class Regime:
    """A stretch of runs in which the judge did not change.

    Attributes:
        slot_utc: Its first scheduled instant; "" for the first stretch, which has no beginning.
        began: When the judge changed; None for the first stretch.
        average_map: Takes raw means back to the baseline's scale, from the anchors' averages over the stretch.
    """

    slot_utc: str
    began: ChangeDays | None
    average_map: JudgeMap | NoMap


@dataclass(frozen=True, kw_only=True, eq=False)
class Judge:
    """What the rest of the analysis knows of the judge.

    Attributes:
        finding: Whether it moved.
        baseline_runs: Ids of the runs whose scores are the norm.
        regimes: Oldest first, at least one.
        maps: By run id: the map of that run alone; no entry for a run without anchors.
    """

    history: AnchorHistory
    compared: Comparison | None
    finding: JudgeFinding
    baseline_runs: frozenset[str]
    regimes: tuple[Regime, ...]
    maps: dict[str, JudgeMap | NoMap]

    def regime_at(self, slot_utc: str) -> int:
        """Number of the stretch that an instant lies in."""
        return bisect_right([regime.slot_utc for regime in self.regimes], slot_utc) - 1


def find_judge(history: AnchorHistory, *, scale: Scale, settings: SettingsUsed, events: Sequence[EventMark]) -> Judge:
    """Decide whether the judge moved, and fit what corrects traffic."""
    threshold = alarm_threshold(
        runs_per_year=settings["runs_per_year"],
        false_alarms_per_year=settings["false_alarms_per_year"],
        weight=JUDGE_WEIGHT,
    )
    tolerance = settings["smallest_change"] / scale.unit
    compared = compare_runs(history, threshold=threshold, level=settings["level"], tolerance=tolerance)
    finding = _nothing_known(history, threshold)
    finding["runs"] = anchor_runs(history, compared, scale, settings["level"])
    if compared is None:
        alone = Regime(slot_utc="", began=None, average_map=NoMap(n_anchors=0, reason="no run has enough anchors"))
        return Judge(
            history=history, compared=None, finding=finding, baseline_runs=frozenset(), regimes=(alone,), maps={}
        )
    _describe(finding, history, compared, scale, settings)
    if finding["state"] == "changed":
        _describe_change(finding, history, compared, scale, events)
    regimes, maps = _regimes(history, compared)
    baseline = (run_id for run_id, used in zip(history.run_ids, compared.baseline, strict=True) if used)
    return Judge(
        history=history,
        compared=compared,
        finding=finding,
        baseline_runs=frozenset(baseline),
        regimes=regimes,
        maps=maps,
    )


def _regimes(history: AnchorHistory, compared: Comparison) -> tuple[tuple[Regime, ...], dict[str, JudgeMap | NoMap]]:
    steps, means = compared.watched.steps, compared.shifts.anchor_mean
    starts = [0, *(step.row for step in steps)]
    stops = [*starts[1:], len(history.run_ids)]
    regimes: list[Regime] = []
    maps: dict[str, JudgeMap | NoMap] = {}
    for start, stop, step in zip(starts, stops, (None, *steps), strict=True):
        # a run's slope is averaged over the last runs, but never across a change
        maps |= dict(zip(history.run_ids[start:stop], fit_judge_maps(history.scores[start:stop], means), strict=True))
        average, _ = mean_of_present(history.scores[start:stop], axis=0)
        regimes.append(
            Regime(
                slot_utc="" if step is None else history.slots[start],
                began=None if step is None else _days(history, step.row, step.first_row, step.last_row),
                average_map=fit_judge_map(average, means),
            )
        )
    return tuple(regimes), maps


def _days(history: AnchorHistory, row: int, first: int, last: int) -> ChangeDays:
    return ChangeDays(day=history.days[row], first=history.days[first], last=history.days[last])


# ---------------------------------------------------------------- the finding


def _nothing_known(history: AnchorHistory, threshold: float) -> JudgeFinding:
    """The finding before anything can be compared."""
    return JudgeFinding(
        state="no_data",
        direction=None,
        estimate=None,
        low=None,
        high=None,
        method="",
        n_anchors=history.n_asked,
        n_runs=len(history.run_ids),
        n_runs_counted=0,
        n_runs_after=0,
        since_day=None,
        since_first_day=None,
        since_last_day=None,
        alarm_day=None,
        earlier_days=[],
        against_first_runs=None,
        against_first_runs_low=None,
        against_first_runs_high=None,
        evidence=None,
        threshold=threshold,
        learning_runs_left=MIN_REFERENCE_RUNS,
        first_alarm_day=None,
        likely_cause=None,
        runs=[],
        moved=[],
    )


def _describe(
    finding: JudgeFinding, history: AnchorHistory, compared: Comparison, scale: Scale, settings: SettingsUsed
) -> None:
    """Put in what is known whether or not the judge moved."""
    watched = compared.watched
    finding["state"] = watched.state
    finding["estimate"] = scale.change(watched.level.estimate)
    finding["low"], finding["high"] = scale.change(watched.level.low), scale.change(watched.level.high)
    finding["method"] = watched.level.method
    finding["n_runs_counted"] = watched.n
    finding["n_runs_after"] = watched.level.n_after
    finding["against_first_runs"] = scale.change(watched.total.estimate)
    finding["against_first_runs_low"] = scale.change(watched.total.low)
    finding["against_first_runs_high"] = scale.change(watched.total.high)
    finding["evidence"] = watched.newest_evidence
    finding["learning_runs_left"] = max(0, MIN_REFERENCE_RUNS - watched.n)
    finding["first_alarm_day"] = _first_alarm_day(history, watched.n, settings["runs_per_year"])


def _describe_change(
    finding: JudgeFinding,
    history: AnchorHistory,
    compared: Comparison,
    scale: Scale,
    events: Sequence[EventMark],
) -> None:
    """Put in what there is to say of a change."""
    *earlier, step = compared.watched.steps
    when = _days(history, step.row, step.first_row, step.last_row)
    finding["direction"] = "more generous" if (finding["estimate"] or 0.0) > 0 else "stricter"
    finding["since_day"], finding["since_first_day"], finding["since_last_day"] = when.day, when.first, when.last
    finding["alarm_day"] = history.days[step.alarm_row]
    finding["earlier_days"] = [history.days[each.row] for each in earlier]
    finding["likely_cause"] = likely_cause(events, when, OF_THE_JUDGE)
    finding["moved"] = moved_anchors(history, compared.watched, scale)


def _first_alarm_day(history: AnchorHistory, n_counted: int, runs_per_year: float) -> str | None:
    """Day of the eleventh counted run if from now on every run counts; None once it is past."""
    left = MIN_REFERENCE_RUNS + 1 - n_counted
    return None if left <= 0 else shift_day(history.days[-1], round(left * DAYS_PER_YEAR / runs_per_year))
