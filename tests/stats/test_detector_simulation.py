"""Seeded simulations: false alarms on quiet judges, delay on drifting ones, coverage of dates and levels."""

import math

import numpy as np
import pytest
from scipy import stats

from evaluator.stats.detector import detect, level_floor_sd, level_since
from evaluator.stats.evidence import DetectorSettings
from evaluator.stats.paired import run_shifts
from tests.stats.simulate import FLOOR_50, QUIET, Judge, anchor_scores

YEAR = 365
BASE = Judge()
CORRELATED = Judge(run_correlation=0.5)


def alarm_of(scores, n_baseline, **options):
    """Detection on the anchors' scores at a budget of one false alarm a year."""
    shifts = run_shifts(scores, slice(0, n_baseline))
    floor = level_floor_sd(scores.shape[1])
    return detect(shifts.stream, threshold=YEAR, floor_sd=floor, n_reference=n_baseline, **options)


def years_with_alarm(judge, n_baseline, n_years, seed, **options):
    """Quiet years in which an alarm fired, each with a baseline of its own."""
    rng = np.random.default_rng(seed)
    years = (anchor_scores(judge, n_baseline + YEAR, rng) for _ in range(n_years))
    return sum(alarm_of(scores, n_baseline, **options).alarm_index is not None for scores in years)


def test_simulated_judge_has_the_spread_it_is_meant_to_have():
    """Between runs 0.036 with 50 anchors."""
    rng = np.random.default_rng(1)
    spread = [run_shifts(anchor_scores(BASE, 200, rng), slice(0, 200)).shift.std() for _ in range(20)]
    assert np.mean(spread) == pytest.approx(0.036, abs=0.004)


@pytest.mark.parametrize(("judge", "n_baseline"), [(BASE, 20), (BASE, 10), (QUIET, 20)])
def test_false_alarms_stay_within_a_budget_of_one_a_year(judge, n_baseline):
    """A year without an alarm has probability 1/e at one alarm a year; the count may not exceed that by chance."""
    n_years = 60
    alarms = years_with_alarm(judge, n_baseline, n_years, seed=101)
    allowed = stats.binom.ppf(0.5, n_years, 1 - math.exp(-1))
    assert alarms <= allowed
    assert alarms >= 3, "a detector that never alarms on 60 quiet years is dead"


def test_correlated_runs_need_the_guard():
    """Lag-1 correlation 0.5: with the guard no more than the documented 1.8 a year, without it many more."""
    n_years = 40
    guarded = years_with_alarm(CORRELATED, 20, n_years, seed=103)
    bare = years_with_alarm(CORRELATED, 20, n_years, seed=103, settings=DetectorSettings(autocorrelation_sd=0.0))
    assert guarded <= stats.binom.ppf(0.99, n_years, 1 - math.exp(-1.8))
    assert bare > guarded


def test_average_run_length_of_gaussian_runs_exceeds_the_threshold():
    """The theorem on its home ground, threshold 20, unknown mean and spread; 200 streams."""
    rng = np.random.default_rng(105)
    lengths = []
    for _ in range(200):
        stream = rng.normal(3.7, 0.4, 150)
        found = detect(stream, threshold=20.0, floor_sd=1e-6, n_reference=10)
        lengths.append(140 if found.alarm_index is None else found.alarm_index - 9)
    assert np.mean(lengths) - 3 * np.std(lengths) / math.sqrt(200) > 20


@pytest.mark.parametrize(("shift", "median", "worst"), [(0.1, 4, 20), (-0.1, 4, 20), (0.2, 2, 6), (-0.2, 2, 6)])
def test_drift_is_seen_within_days(shift, median, worst):
    """Forty judges drift 40 runs after a baseline of 20; delay 1 is the first drifted run."""
    rng = np.random.default_rng(107)
    delays = []
    while len(delays) < 40:
        found = alarm_of(anchor_scores(BASE, 100, rng, shift=shift, change_at=60), 20)
        # a false alarm before the change says nothing about the delay
        if found.alarm_index is None or found.alarm_index >= 60:
            delays.append(math.inf if found.alarm_index is None else found.alarm_index - 59)
    assert np.median(delays) <= median
    assert max(delays) <= worst


def test_change_date_set_covers_as_often_as_it_says():
    """95 % set, five runs after the alarm, 150 judges that drift by 0.1."""
    rng = np.random.default_rng(109)
    hits = total = 0
    for _ in range(150):
        scores = anchor_scores(BASE, 90, rng, shift=0.1, change_at=50)
        alarm = alarm_of(scores, 20).alarm_index
        if alarm is None or alarm < 50 or alarm + 5 >= len(scores):
            continue
        date = alarm_of(scores[: alarm + 6], 20)
        hits += date.change_low <= 50 <= date.change_high
        total += 1
    assert total >= 130
    assert hits >= stats.binom.ppf(0.005, total, 0.95)


def dates_of(rng, step, *, look_on=0, freak=None, n_streams=80):
    """Dates (index, low, high, each less the truth) of Gaussian streams that rise by ``step`` standard deviations."""
    dates = []
    for _ in range(n_streams):
        truth = int(rng.integers(18, 45))
        stream = rng.normal(0, 1, truth + 60)
        stream[truth:] += step
        if freak is not None:
            runs_before, height = freak
            stream[truth - 1 - runs_before] += height
        options = {"threshold": 1043.0, "floor_sd": 0.3, "n_reference": 10}
        alarm = detect(stream, **options).alarm_index
        if alarm is not None and alarm >= truth:
            found = detect(stream[: alarm + 1 + look_on], **options)
            dates.append([found.change_index - truth, found.change_low - truth, found.change_high - truth])
    return np.array(dates)


@pytest.mark.parametrize("look_on", [0, 10])
@pytest.mark.parametrize(("step", "exact_share"), [(1.5, 0.2), (3, 0.75), (10, 0.95), (15, 0.95)])
def test_change_date_is_right_for_small_and_for_large_steps(step, exact_share, look_on):
    """Steps in standard deviations between runs: the larger one is, the surer its date; the 95 % set always covers."""
    dates = dates_of(np.random.default_rng(115), step, look_on=look_on)
    covered = int(((dates[:, 1] <= 0) & (dates[:, 2] >= 0)).sum())
    assert len(dates) >= 60
    assert covered >= stats.binom.ppf(0.005, len(dates), 0.95)
    assert (dates[:, 0] == 0).mean() >= exact_share


@pytest.mark.parametrize("step", [6, 15])
@pytest.mark.parametrize("height", [8, 30, -8])
def test_a_freak_run_before_the_change_does_not_move_its_date(step, height):
    """One run far off, four runs before a lasting change: the date stays about as sure as without it."""
    options = {"look_on": 10, "n_streams": 60}
    calm = dates_of(np.random.default_rng(117), step, **options)
    freak = dates_of(np.random.default_rng(117), step, freak=(3, height), **options)
    assert ((freak[:, 1] <= 0) & (freak[:, 2] >= 0)).mean() >= 0.9
    assert (freak[:, 0] == 0).mean() >= (calm[:, 0] == 0).mean() - 0.15
    assert (freak[:, 0] == -4).sum() <= 1, "the freak run itself is taken for the change"


@pytest.mark.parametrize(("judge", "allowed_share"), [(BASE, 0.05), (CORRELATED, 0.08)])
def test_level_since_the_change_covers_however_often_one_looks(judge, allowed_share):
    """A year of looks at a drift of 0.15; streams that ever miss, against the measured share, 60 streams."""
    rng = np.random.default_rng(111)
    looks = [*range(21, 40), *range(40, 20 + YEAR, 7)]
    misses = student_misses = 0
    for _ in range(60):
        scores = anchor_scores(judge, 20 + YEAR, rng, shift=0.15, change_at=20)
        stream = run_shifts(scores, slice(0, 20)).stream
        changes = [level_since(stream[:n], 20, floor_sd=FLOOR_50) for n in looks]
        misses += any(c.low is not None and not c.low <= 0.15 <= c.high for c in changes)
        student_misses += any(student_interval_misses(stream[:n], 0.15) for n in looks)
    assert misses <= stats.binom.ppf(0.99, 60, allowed_share)
    assert student_misses > 12, "an ordinary interval misses often: the simulation is not too easy"


def test_level_since_a_detected_change_covers_too():
    """The date is estimated, not known: 60 judges, ten runs after the alarm."""
    rng = np.random.default_rng(113)
    hits = total = 0
    for _ in range(60):
        scores = anchor_scores(BASE, 110, rng, shift=0.2, change_at=60)
        alarm = alarm_of(scores, 20).alarm_index
        if alarm is None or alarm < 60:
            continue
        found = alarm_of(scores[: alarm + 11], 20)
        stream = run_shifts(scores[: alarm + 11], slice(0, 20)).stream
        change = level_since(stream, found.change_index, floor_sd=FLOOR_50)
        hits += change.low <= 0.2 <= change.high
        total += 1
    assert total >= 50
    assert hits >= stats.binom.ppf(0.005, total, 0.95)


def student_interval_misses(stream, truth):
    """Whether the ordinary two-sample interval leaves the truth out."""
    before, after = (part[~np.isnan(part)] for part in (stream[:20], stream[20:]))
    if len(after) < 2:
        return False
    bounds = stats.ttest_ind(after, before).confidence_interval(0.95)
    return not bounds.low <= truth <= bounds.high
