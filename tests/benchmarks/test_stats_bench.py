"""The simulator keeps its word, the rules are what they are called, and the monitor measured is the product's."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks.stats import __main__ as command
from benchmarks.stats import coverage, libraries, shares
from benchmarks.stats.detection import BASELINE, Delay, Quiet, Report, Row, alarms_in, delay_in, is_shown, run_detection
from benchmarks.stats.detectors import (
    Cusum,
    Detector,
    Ewma,
    FirstMean,
    Kolmogorov,
    Monitor,
    PairedT,
    Rule,
    Shewhart,
    StabilityIndex,
    own_detectors,
    rules,
)
from benchmarks.stats.limits import RunLaw, limits_of
from benchmarks.stats.settings import CHANGES, NOISES, SIZES, Sizes
from benchmarks.stats.simulator import (
    NO_CHANGE,
    Change,
    FloatArray,
    Judge,
    Noise,
    day_shocks,
    draw_anchors,
    expected_scores,
    generator,
    simulate_runs,
)
from benchmarks.stats.tables import markdown, misses_of, of_report, ours_of
from benchmarks.stats.traffic import Traffic, draw_answers, grade, true_means
from evaluator.stats import JudgeMonitor

BASE = NOISES["base"]
TINY = Sizes(
    quiet=2, quiet_runs=60, changed=2, other=0.5, watched=2, dated=2, days=3, periods=2, noises=("base",)
)  # fmt: skip
WITHOUT_LOSS = replace(BASE, missing_rate=0.0, outage_rate=0.0, lost_rate=0.0)


def judge_of(
    change: Change = NO_CHANGE, noise: Noise = BASE, *, name: str = "test"
) -> tuple[Judge, np.random.Generator]:
    """A judge and the generator it was drawn from."""
    rng = generator(11, name, change.name)
    return Judge(noise, draw_anchors(noise, rng), change, rng), rng


# ---------------------------------------------------------------- the simulator


def test_a_stream_is_named_and_repeats() -> None:
    """The same names give the same numbers, other names others."""
    first, again, other = (generator(1, *names).random(4).tolist() for names in (("a", 1), ("a", 1), ("a", 2)))
    assert first == again
    assert first != other


@pytest.mark.parametrize("size", [0.05, 0.3, -0.2])
def test_a_step_moves_the_expected_mean_by_its_size(size: float) -> None:
    """Ends of the scale, days and slips are taken into account."""
    judge, _ = judge_of(Change(name="step", kind="step", size=size))
    assert judge.true_shift(0) == pytest.approx(size, abs=1e-9)
    assert judge.true_shift(-1) == 0.0


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_scores_move_as_the_law_says(change: Change) -> None:
    """What is simulated long after a change has the mean that is called the truth."""
    judge, rng = judge_of(change)
    rows = simulate_runs(judge, 3000, 1500 - change.runs, rng)
    moved = np.nanmean(rows[1500:], axis=0) - np.nanmean(rows[: 1500 - change.runs], axis=0)
    assert float(moved.mean()) == pytest.approx(judge.true_shift(change.runs), abs=0.006)


def test_a_creep_arrives_in_equal_steps() -> None:
    """Half way through, half of the latent way is done, and it stays at the end."""
    judge, _ = judge_of(Change(name="creep", kind="creep", size=0.3, runs=90))
    whole = judge.anchor_opinions(89) - judge.anchor_opinions(-1)
    assert judge.anchor_opinions(44) - judge.anchor_opinions(-1) == pytest.approx(whole / 2)
    assert judge.true_shift(400) == pytest.approx(0.3, abs=1e-9)


def test_a_broken_anchor_is_one_anchor() -> None:
    """All others keep their opinions."""
    judge, _ = judge_of(Change(name="broken", kind="broken_anchor", size=1.5))
    moved = judge.anchor_opinions(0) - judge.anchor_opinions(-1)
    assert np.count_nonzero(moved) == 1
    assert abs(moved.sum()) == pytest.approx(1.5)


def test_a_quiet_judge_repeats_itself_mostly() -> None:
    """In the base setting about one score in twenty is off its usual one, and the mean moves by about 0.04."""
    off, spreads = [], []
    for number in range(20):
        judge, rng = judge_of(noise=WITHOUT_LOSS, name=f"repeat {number}")
        rows = simulate_runs(judge, 200, 200, rng)
        off.append(float((np.abs(rows - np.median(rows, axis=0)) > 0.5).mean()))
        spreads.append(float((rows - rows.mean(axis=0)).mean(axis=1).std()))
    assert 0.03 < np.mean(off) < 0.07
    assert 0.030 < np.mean(spreads) < 0.045


def test_scores_get_lost_as_often_as_said() -> None:
    """Single scores, outages and whole runs together."""
    judge, rng = judge_of(noise=replace(BASE, missing_rate=0.1, outage_rate=0.0, lost_rate=0.2))
    rows = simulate_runs(judge, 4000, 4000, rng)
    assert np.isnan(rows).all(axis=1).mean() == pytest.approx(0.2, abs=0.02)
    assert np.isnan(rows).mean() == pytest.approx(0.2 + 0.8 * 0.1, abs=0.02)


def test_days_hang_together_where_they_should() -> None:
    """The shock's correlation with the day before's is the setting's, its spread that of free days."""
    noise = replace(BASE, day_correlation=0.5, bad_day_rate=0.0)
    shocks = day_shocks(noise, 20_000, generator(3, "days"))
    assert np.corrcoef(shocks[1:], shocks[:-1])[0, 1] == pytest.approx(0.5, abs=0.03)
    assert shocks.std() == pytest.approx(noise.day_sd, rel=0.03)


def test_expected_scores_by_brute_force() -> None:
    """The exact mean is that of many simulated runs, slips at the ends of the scale included."""
    noise = replace(WITHOUT_LOSS, slip_rate=0.2)
    judge, rng = judge_of(noise=noise)
    exact = expected_scores(judge.anchors.opinions, judge.anchors.own_sd, noise)
    assert simulate_runs(judge, 6000, 6000, rng).mean(axis=0) == pytest.approx(exact, abs=0.04)


# ---------------------------------------------------------------- the limit


@pytest.mark.parametrize("age", [-1, 0])
def test_the_law_of_a_run_adds_up_to_one(age: int) -> None:
    """Over all the scores that two anchors can get, before and after a change."""
    judge, _ = judge_of(
        Change(name="noise", kind="noise", size=3.0, slip_factor=4.0), replace(WITHOUT_LOSS, n_anchors=2)
    )
    every = np.array(list(itertools.product(range(1, 6), repeat=2)), dtype=np.float64)
    assert np.exp(RunLaw(judge, age=age).log_likelihoods(every)).sum() == pytest.approx(1.0, abs=1e-9)


def test_a_lost_run_says_nothing() -> None:
    """Its likelihood is one whatever happened."""
    judge, _ = judge_of(CHANGES[2])
    assert RunLaw(judge, age=0).log_likelihoods(np.full((1, BASE.n_anchors), np.nan))[0] == pytest.approx(0.0)


def test_limits_shrink_with_the_change_and_are_no_less_than_a_run() -> None:
    """A small step takes longer by any detector; a creep and days that hang together have no such limit."""
    small, large = (limits_of(BASE, CHANGES[place], n=3, seed=5, name="base") for place in (0, 4))
    assert small is not None
    assert large is not None
    assert small.exact > 2.0
    assert large.exact == large.mean_only == 1.0
    assert limits_of(BASE, CHANGES[8], n=1, seed=5, name="base") is None
    assert limits_of(NOISES["ar1"], CHANGES[0], n=1, seed=5, name="ar1") is None


# ---------------------------------------------------------------- the detectors


@pytest.mark.parametrize("name", ["base", "ar1", "noisy"])
def test_the_monitor_measured_alarms_when_the_product_does(name: str) -> None:
    """Fed the same runs, evidence and alarms of the fast monitor are those of ``JudgeMonitor``."""
    judge, rng = judge_of(CHANGES[1], replace(NOISES[name], outage_rate=0.1, outage_loss=0.6), name=f"both {name}")
    rows = simulate_runs(judge, 90, 60, rng)
    ours, product = Monitor(), JudgeMonitor(rows[:20], false_alarms_per_year=1.0, runs_per_year=365, scale=(1, 5))
    ours.start(rows[:20])
    alarmed, n_lost = False, 0
    for scores in rows[20:]:
        alarmed |= ours.update(scores)
        state = product.update(scores)
        n_lost += not state.counted
        assert alarmed is state.alarm
        assert ours.judge.value == pytest.approx(state.evidence)
    assert alarmed
    assert n_lost > 0


def test_a_share_of_the_budget_needs_more_evidence() -> None:
    """The second of our detectors never alarms before the first."""
    judge, rng = judge_of(CHANGES[0], name="share")
    stream = simulate_runs(judge, BASELINE + 40 + 365, BASELINE + 40, rng)
    whole, part = (delay_in(detector, stream, 40) for detector in own_detectors())
    assert part >= whole


def runs_of(*means: float, spread: float = 0.0, n: int = 40) -> FloatArray:
    """Runs of scores with these means; half of the scores lie above and half below."""
    return np.array([[mean + spread, mean - spread] * (n // 2) for mean in means])


def test_first_mean_compares_with_the_first_run() -> None:
    """0.3 is the limit, whatever the other baseline runs say."""
    rule = FirstMean()
    rule.start(runs_of(3.0, 4.0, 4.0))
    assert [rule.update(scores) for scores in runs_of(3.29, 3.31, 2.69, 4.0)] == [False, True, True, True]


def test_paired_t_is_the_textbook_test() -> None:
    """It alarms exactly where a t test of the differences has p < 0.05."""
    judge, rng = judge_of(CHANGES[0], WITHOUT_LOSS, name="t")
    rows = simulate_runs(judge, 120, 20, rng)
    rule = PairedT()
    rule.start(rows[:20])
    alarms = [rule.update(scores) for scores in rows[20:]]
    differences = rows[20:] - rows[:20].mean(axis=0)
    expected = [stats.ttest_1samp(row, 0).pvalue < 0.05 for row in differences]
    assert alarms == expected
    assert 0 < sum(alarms) < 100


@pytest.mark.parametrize(
    ("make", "height", "first"),
    [(Shewhart, 2.9, None), (Shewhart, 3.1, 1), (Cusum, 1.5, 5), (Cusum, 0.4, None), (Ewma, 2.0, 3), (Ewma, 3.0, 1)],
)
def test_charts_alarm_where_their_formula_does(make: Callable[[], Detector], height: float, first: int | None) -> None:
    """A constant height in baseline deviations: CUSUM gains a half less a run, EWMA nears it from zero."""
    chart = make()
    baseline = runs_of(2.9, 3.1, 2.9, 3.1)
    sd = float(np.std([2.9, 3.1, 2.9, 3.1], ddof=1))
    for sign in (1, -1):
        chart.start(baseline)
        alarms = [chart.update(scores) for scores in runs_of(*[3.0 + sign * height * sd] * 8)]
        assert (alarms.index(True) + 1 if any(alarms) else None) == first


def test_stability_index_and_kolmogorov_by_hand() -> None:
    """The index by its formula, the test by scipy's, on the same pooled scores."""
    baseline = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 40)[None, :]
    mild = np.array([1.0] * 8 + [2.0] * 9 + [3.0] * 10 + [4.0] * 11 + [5.0] * 12)
    harsh = np.array([1.0] * 2 + [2.0] * 4 + [3.0] * 8 + [4.0] * 12 + [5.0] * 24)
    index, distance = StabilityIndex(), Kolmogorov()
    for rule in (index, distance):
        rule.start(baseline)
    for scores in (mild, harsh):
        share = np.bincount(scores.astype(int), minlength=6)[1:] / len(scores)
        assert index.update(scores) is bool(((share - 0.2) * np.log(share / 0.2)).sum() > 0.1)
        assert distance.update(scores) is bool(stats.ks_2samp(scores, baseline[0], method="asymp").pvalue < 0.05)
    assert [index.update(mild), index.update(harsh)] == [False, True]
    assert [distance.update(mild), distance.update(harsh)] == [False, True]


@pytest.mark.parametrize("rule", [*rules(), *own_detectors()], ids=lambda rule: rule.name)
def test_no_rule_alarms_on_a_lost_run(rule: Detector) -> None:
    """Nothing was graded, so nothing is said."""
    judge, rng = judge_of(noise=WITHOUT_LOSS)
    rule.start(simulate_runs(judge, 20, 20, rng))
    assert rule.update(np.full(BASE.n_anchors, np.nan)) is False


# ---------------------------------------------------------------- watching streams


class Counting(Rule):
    """Alarms at every so many runs since it started."""

    name, n_baseline = "counting", 3

    def __init__(self, every: int, *, is_slow: bool = False) -> None:
        self.every, self.is_slow = every, is_slow
        self.starts: list[FloatArray] = []

    def start(self, baseline: FloatArray) -> None:
        """Count from zero."""
        self.starts.append(baseline)
        self.seen = 0

    def update(self, scores: FloatArray) -> bool:
        """Count this run."""
        self.seen += 1
        return self.seen == self.every


STREAM = np.arange(BASELINE + 100.0)[:, None]


def test_a_detector_starts_anew_with_the_same_baseline() -> None:
    """The last baseline runs, as many as it wants, at the start and after every alarm."""
    detector = Counting(30)
    assert alarms_in(detector, STREAM) == [30, 60, 90]
    assert len(detector.starts) == 4
    assert all(start.ravel().tolist() == [97.0, 98.0, 99.0] for start in detector.starts)


@pytest.mark.parametrize(("every", "before", "delay"), [(30, 50, 10), (30, 29, 1), (30, 30, 30), (500, 40, 365)])
def test_delays_count_from_the_first_changed_run(every: int, before: int, delay: int) -> None:
    """An alarm before the change only starts the detector anew; none at all counts as a year."""
    assert delay_in(Counting(every), STREAM, before) == delay


def test_slow_detectors_see_a_quarter_of_the_streams() -> None:
    """The first ones, at least one."""
    slow, quick = Counting(1, is_slow=True), Counting(1)
    assert [sum(is_shown(detector, number, n) for number in range(n)) for detector, n in
            ((slow, 40), (slow, 2), (quick, 40))] == [10, 1, 40]  # fmt: skip


def test_a_report_counts_alarms_by_the_year() -> None:
    """Ten alarms in a hundred runs, in every stream alike."""
    report = run_detection("base", BASE, [Counting(10)], replace(TINY, quiet_runs=100), seed=1, changes=CHANGES[:1])
    quiet, delay = report.rows[0].quiet, report.rows[0].delays["+0.05"]
    assert quiet.per_year == pytest.approx(36.5)
    assert (quiet.se, quiet.in_first_year, quiet.n) == (0.0, 1.0, 2)
    assert quiet.years == pytest.approx(200 / 365)
    assert 1 <= delay.median <= 10
    assert (delay.n, delay.missed) == (2, 0.0)
    json.dumps(report.as_dict())


# ---------------------------------------------------------------- intervals


def test_ordinary_interval_is_scipys() -> None:
    """Half-width of the pooled two-sample interval."""
    rng = generator(2, "t")
    before, after = rng.normal(0, 1, 20), rng.normal(1, 1, 30)
    expected = stats.ttest_ind(after, before).confidence_interval(0.95)
    found = coverage._t_radius(before, np.append(after, np.nan))
    assert found == pytest.approx((expected.high - expected.low) / 2)


def test_an_interval_misses_when_one_look_does() -> None:
    """No interval yet is no miss."""
    levels = np.array([[0.5, math.inf], [0.0, 0.2], [0.1, 0.02]])
    assert coverage._ever_misses(levels[:2], 0.15) is False
    assert coverage._ever_misses(levels, 0.15) is True


def test_a_year_is_watched() -> None:
    """Two streams: shares of two, and intervals that get narrower."""
    found = coverage.watch("base", BASE, 20, 2, seed=4)
    assert found.ever_missed in (0.0, 0.5, 1.0)
    assert 0.2 > found.radii[5] > found.radii[30] > found.radii[365] > 0.0
    assert 0.0 <= found.days_missed < 0.4
    assert 0.0 <= found.still_missed < 0.2


def test_a_large_step_is_dated_to_the_run() -> None:
    """The set holds the first changed run and little else."""
    found = coverage.date(0.5, 4, seed=4)
    assert found[10].holds == 1.0
    assert found[10].median_width <= 3
    assert found[0].n == found[10].n == 4


def test_traffic_has_the_mean_it_is_said_to_have() -> None:
    """Both truths, of the unchanged judge and of the changed one, by brute force."""
    judge, rng = judge_of(CHANGES[9], replace(WITHOUT_LOSS, bad_day_rate=0.0))
    truths = true_means(Traffic(), judge, -0.3, rng, n=200_000)
    answers = draw_answers(Traffic(), judge, 200_000, rng, quality=-0.3)
    shocks = rng.normal(0, judge.noise.day_sd, 200_000)
    found = [float(grade(answers, judge, age, shocks, rng).mean()) for age in (-1, 0)]
    assert found == pytest.approx(truths, abs=0.015)
    assert truths[1] > truths[0] + 0.05


def test_corrected_days_are_nearer_than_raw_ones() -> None:
    """A step of 0.2 is taken out, up to the noise of few days."""
    found = shares.correct("case", BASE, CHANGES[2], 0.0, 20, seed=6)
    assert found.raw_bias > 0.1
    assert abs(found.bias) < 0.1
    assert found.holds >= 0.7


def test_a_moved_judge_gets_the_blame() -> None:
    """Large steps of the judge are never the assistant's alone."""
    found = shares.split("case", BASE, Traffic(), CHANGES[4], 0.0, 4, seed=6, by_day=False)
    assert set(found.verdicts) <= {"judge", "both"}
    assert found.n == 4
    assert 0.05 < found.half_width < 0.4


# ---------------------------------------------------------------- what is printed


def report_of(per_year: float, median: float) -> Report:
    """A report with one detector twice."""
    quiet = Quiet(per_year=per_year, se=0.1, worst_tenth=2.0, in_first_year=0.5, n=9, years=50.0)
    delays = {"+0.1": Delay(median=median, mean=4.0, se=0.5, missed=0.0, n=9)}
    row = Row(name="ours", quiet=quiet, delays=delays)
    return Report(noise="base", rows=(row, row), limits={"+0.1": None})


def test_missed_targets_are_told() -> None:
    """More than one false alarm, or its share of one, by two standard errors, or a median off by more than a run."""
    assert misses_of(report_of(0.55, 4.0)) == []
    assert len(misses_of(report_of(1.2, 4.0))) == 1
    assert len(misses_of(report_of(1.21, 4.0))) == 2
    assert misses_of(report_of(0.5, 4.5)) == ["base: +0.1 median 4.5 runs, target 3 +-1, so later"]
    assert misses_of(report_of(0.5, 1.0)) == ["base: +0.1 median 1 runs, target 3 +-1, so sooner"]


def test_tables_show_figures_with_their_errors() -> None:
    """Alarms by the year, delays, and nothing where there is no limit."""
    report = report_of(0.52, 365.0)
    assert "| ours     | 9       | 0.52 (0.10)          | 2.0         | 0.50             | >365 |" in of_report(report)
    assert ours_of(report).splitlines()[-1].split("|")[3:8] == [
        " 365    ", " 4.0 (0.5) ", " 0 %    ", "       ", "                    "
    ]  # fmt: skip
    lines = markdown(["a", "long"], [["1", "2"]]).splitlines()
    assert lines == ["| a | long |", "| - | ---- |", "| 1 | 2    |"]


def test_the_command_runs_without_other_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what is left out, prints a table for each setting and writes all figures."""
    monkeypatch.setattr(libraries, "find_spec", lambda _name: None)
    monkeypatch.setitem(SIZES, "quick", TINY)
    monkeypatch.setattr(command, "CHANGES", CHANGES[1:3])
    target = tmp_path / "figures.json"
    command.main(["--quick", "--only", "detection", "--seed", "3", "--json", str(target)])
    said = capsys.readouterr().out
    assert "not installed, so left out: river, drift-caliper" in said
    assert "### base" in said
    assert "Targets missed: " in said
    written = json.loads(target.read_text(encoding="utf-8"))
    assert written["seed"] == 3
    assert written["detection"]["settings"]["base"]["rows"][0]["name"] == "**judgewatch**"


def test_processes_change_no_figure() -> None:
    """Two settings side by side give what they give one after the other."""
    options = command.Options(sizes=TINY, noises=("base", "quiet"), seed=3, changes=CHANGES[1:2])
    alone, together = (list(command._reports(replace(options, jobs=jobs))) for jobs in (1, 2))
    assert [report.as_dict() for report in alone] == [report.as_dict() for report in together]
    assert [report.noise for report in together] == ["base", "quiet"]


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_a_number_of_processes_is_at_least_one(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is refused, with the value and what to give."""
    with pytest.raises(SystemExit):
        command.main([f"--jobs={jobs}"])
    assert f"'{jobs}' is no number of processes; give 1 or more" in capsys.readouterr().err
