"""Alarm, change date and level since the change."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.detector import alarm_threshold, change_date, detect, level_floor_sd, level_since
from evaluator.stats.evidence import DetectorSettings
from tests.stats import oracle
from tests.stats.simulate import FLOOR_50, PROPERTY

THRESHOLD = 365.0


def quiet_then(rng, n_quiet, changed):
    """Gaussian runs with a spread of 0.036, followed by runs around the given levels."""
    return np.concatenate([rng.normal(0, 0.036, n_quiet), rng.normal(0, 0.036, len(changed)) + changed])


def run_detector(stream, **options):
    """Detect with the settings of most tests."""
    return detect(stream, **({"threshold": THRESHOLD, "floor_sd": FLOOR_50} | options))


class TestDetect:
    """Replaying a stream."""

    def test_alarm_fires_in_the_first_run_over_the_threshold(self):
        """The alarm is what the evidence says, and the change lies before it."""
        found = run_detector(quiet_then(np.random.default_rng(4), 50, np.full(10, 0.2)))
        crossing = int(np.flatnonzero(found.evidence >= THRESHOLD)[0])
        assert found.alarm_index == crossing
        assert 50 <= crossing <= 53
        assert found.change_index == 50
        assert found.change_low <= 50 <= found.change_high

    def test_evidence_agrees_with_plain_loops(self):
        """From the first run after the reference on."""
        stream = quiet_then(np.random.default_rng(2), 30, np.full(6, 0.15))
        found = run_detector(stream)
        assert np.isnan(found.evidence[:20]).all()
        np.testing.assert_allclose(found.evidence[20:], oracle.evidence(list(stream), 20, FLOOR_50), rtol=1e-8)

    @pytest.mark.parametrize("seed", range(6))
    def test_change_date_agrees_with_plain_loops(self, seed):
        """A creeping change in correlated runs, several runs after the alarm: mode and ends of the 95 % set."""
        stream = quiet_then(np.random.default_rng(seed), 40, np.linspace(0.02, 0.2, 16))
        stream[1:] += 0.6 * stream[:-1]
        found = run_detector(stream, threshold=30.0)
        expected = oracle.change_date(list(stream), 20, FLOOR_50, 30.0)
        assert (found.change_index, found.change_low, found.change_high) == expected

    def test_runs_that_do_not_count_are_skipped_and_keep_their_place(self):
        """Indices refer to the stream as given, with its holes."""
        stream = quiet_then(np.random.default_rng(4), 50, np.full(10, 0.2))
        holed = np.insert(stream, [3, 30, 50], np.nan)
        plain, found = run_detector(stream), run_detector(holed)
        assert np.isnan(found.evidence[[3, 31, 52]]).all()
        np.testing.assert_allclose(found.evidence[~np.isnan(holed)], plain.evidence)
        assert found.n_counted == 60
        assert found.change_index == plain.change_index + 3
        assert found.alarm_index == plain.alarm_index + 3

    def test_too_few_counted_runs_mean_learning(self):
        """Nineteen of twenty, whatever they hold."""
        found = run_detector(np.concatenate([np.zeros(19), np.full(5, np.nan)]))
        assert found.learning
        assert found.alarm_index is None
        assert np.isnan(found.evidence).all()
        assert not run_detector(np.zeros(20)).learning

    def test_no_alarm_before_the_eleventh_counted_run(self):
        """Ten runs are the shortest reference."""
        stream = np.concatenate([np.random.default_rng(5).normal(0, 0.036, 10), np.full(4, 1.0)])
        found = run_detector(stream, n_reference=10)
        assert 10 <= found.alarm_index <= 12
        with pytest.raises(ValueError, match="at least 10"):
            run_detector(stream, n_reference=9)

    def test_one_freak_run_never_alarms_alone_and_two_do(self):
        """Clipping at four standard deviations; the freak run is marked."""
        quiet = np.random.default_rng(7).normal(0, 0.036, 60)
        one = np.concatenate([quiet[:40], [2.0], quiet[40:]])
        found = run_detector(one)
        assert found.alarm_index is None
        assert np.flatnonzero(found.outlier).tolist() == [40]
        two = np.concatenate([quiet[:40], [2.0, 2.0], quiet[40:]])
        assert run_detector(two).alarm_index == 41

    def test_later_runs_sharpen_the_date_but_never_move_it_past_the_alarm(self):
        """A second change long after the first alarm does not become its cause."""
        rng = np.random.default_rng(11)
        stream = quiet_then(rng, 40, np.concatenate([np.full(60, 0.08), np.full(200, 0.5)]))
        at_alarm = run_detector(stream[:50])
        assert at_alarm.alarm_index is not None
        later = run_detector(stream[:100])
        assert later.change_high - later.change_low <= at_alarm.change_high - at_alarm.change_low
        assert run_detector(stream).change_high <= at_alarm.alarm_index

    def test_a_change_right_after_a_short_reference_does_not_pass_for_correlation(self):
        """Two standard deviations from the eleventh run on: alarms come within twelve runs, or nearly all do."""
        rng = np.random.default_rng(21)
        streams = [quiet_then(rng, 10, np.full(12, 0.09)) for _ in range(60)]
        found = [run_detector(stream, n_reference=10).alarm_index is not None for stream in streams]
        young_counts = DetectorSettings(left_out=0)
        hidden = [
            run_detector(stream, n_reference=10, settings=young_counts).alarm_index is not None for stream in streams
        ]
        assert sum(found) >= 48
        assert sum(hidden) < sum(found) - 5

    def test_alarm_stays_when_the_level_returns(self):
        """A fired alarm is a fact; only its date is revised."""
        rng = np.random.default_rng(13)
        stream = quiet_then(rng, 40, np.concatenate([np.full(10, 0.2), np.zeros(40)]))
        assert run_detector(stream).alarm_index == run_detector(stream[:45]).alarm_index

    def test_empty_stream_is_learning(self):
        """A new judge setup has no runs at all."""
        assert run_detector(np.empty(0)).learning

    @pytest.mark.parametrize("options", [{"threshold": 0.0}, {"threshold": math.inf}, {"floor_sd": 0.0}])
    def test_impossible_settings_are_refused(self, options):
        """No threshold and no floor."""
        with pytest.raises(ValueError, match=r"threshold|floor_sd"):
            run_detector(np.zeros(30), **options)

    def test_infinite_value_is_refused(self):
        """A division by zero upstream must not look like drift."""
        with pytest.raises(ValueError, match="finite"):
            run_detector([0.0] * 25 + [math.inf])


class TestChangeDate:
    """Dating a change that is known to have happened."""

    @pytest.mark.parametrize("seed", range(3))
    def test_is_the_date_of_the_detector_at_its_alarm(self, seed):
        """The same index and set, with runs that do not count in between."""
        stream = quiet_then(np.random.default_rng(seed), 40, np.linspace(0.02, 0.2, 16))
        stream = np.insert(stream, [7, 41, 50], np.nan)
        found = run_detector(stream)
        date = change_date(stream, floor_sd=FLOOR_50, alarm_index=found.alarm_index)
        assert (date.index, date.low, date.high) == (found.change_index, found.change_low, found.change_high)
        assert date.level == 0.95

    def test_without_an_alarm_any_run_may_have_begun_it(self):
        """The last run is where it was noticed; a change long before that is found as well."""
        stream = quiet_then(np.random.default_rng(5), 40, np.full(30, 0.1))
        date = change_date(stream, floor_sd=FLOOR_50)
        assert date.low <= 40 <= date.high
        assert date == change_date(stream, floor_sd=FLOOR_50, alarm_index=69)
        assert change_date(stream, floor_sd=FLOOR_50, alarm_index=38).high <= 38

    def test_a_larger_mass_needs_a_wider_set(self):
        """Half, and 99 %."""
        stream = quiet_then(np.random.default_rng(6), 40, np.full(12, 0.05))
        half, most = (change_date(stream, floor_sd=FLOOR_50, level=level) for level in (0.5, 0.99))
        assert most.high - most.low > half.high - half.low
        assert half.index == most.index

    @pytest.mark.parametrize("size", [0.05, 0.1, 0.2])
    def test_set_covers_the_true_date(self, size):
        """Two hundred streams, changes of 1.4 to 5.6 standard deviations at a random run, dated 8 runs later."""
        rng = np.random.default_rng(int(1000 * size))
        covered = 0
        for _ in range(200):
            n_quiet = int(rng.integers(25, 60))
            date = change_date(quiet_then(rng, n_quiet, np.full(8, size)), floor_sd=FLOOR_50)
            covered += date.low <= n_quiet <= date.high
        # 95 % of 200, less three standard errors
        assert covered >= 181

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"alarm_index": 19}, "got 0"),
            ({"level": 95}, "level"),
            ({"floor_sd": 0.0}, "floor"),
            ({"n_reference": 9}, "10"),
        ],
    )
    def test_nothing_to_date_is_refused(self, options, message):
        """An alarm inside the reference, and settings out of range."""
        with pytest.raises(ValueError, match=message):
            change_date(np.zeros(30), **({"floor_sd": 0.02} | options))


class TestThreshold:
    """The false-alarm budget."""

    @pytest.mark.parametrize(
        ("runs", "alarms", "weight", "expected"), [(365, 1, 1, 365), (52, 0.2, 1, 260), (365, 1, 0.5, 730)]
    )
    def test_follows_from_the_budget(self, runs, alarms, weight, expected):
        """Daily and weekly runs, and half of the budget."""
        found = alarm_threshold(runs_per_year=runs, false_alarms_per_year=alarms, weight=weight)
        assert found == pytest.approx(expected)

    @pytest.mark.parametrize(("runs", "alarms", "weight"), [(0, 1, 1), (365, 0, 1), (365, 1, 0), (365, 1, 1.5)])
    def test_impossible_budget_is_refused(self, runs, alarms, weight):
        """Nothing to divide."""
        with pytest.raises(ValueError, match="positive"):
            alarm_threshold(runs_per_year=runs, false_alarms_per_year=alarms, weight=weight)

    def test_floor_needs_anchors(self):
        """Fifty anchors: 0.02; none: refused."""
        assert level_floor_sd(50) == pytest.approx(0.02)
        with pytest.raises(ValueError, match="n_anchors"):
            level_floor_sd(0)


class TestLevelSince:
    """The level since the change, with its interval."""

    @PROPERTY
    @given(
        st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=10, max_size=25),
        st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=25),
    )
    def test_agrees_with_plain_loops(self, before, after):
        """Estimate is the difference of means, the bounds the inverted e-process."""
        change = level_since(before + after, len(before), floor_sd=0.02)
        assert change.estimate == pytest.approx(oracle.average(after) - oracle.average(before))
        radius = oracle.level_radius(before, after, 0.02)
        if math.isinf(radius):
            assert change.low is None
            assert change.high is None
        else:
            assert change.high - change.estimate == pytest.approx(radius)
            assert change.estimate - change.low == pytest.approx(radius)

    @PROPERTY
    @given(st.integers(0, 10**6), st.floats(-4, 4))
    def test_mirroring_mirrors_and_moving_changes_nothing(self, seed, constant):
        """Only differences count."""
        stream = quiet_then(np.random.default_rng(seed), 20, np.full(15, 0.1))
        there, back = (level_since(s, 20, floor_sd=0.02) for s in (stream, constant - stream))
        assert back.estimate == pytest.approx(-there.estimate)
        assert (back.low, back.high) == pytest.approx((-there.high, -there.low))

    def test_interval_narrows_with_runs_and_widens_with_level(self):
        """More runs, more certainty; more coverage, less."""
        stream = quiet_then(np.random.default_rng(3), 20, np.full(200, 0.1))
        few, many = level_since(stream[:25], 20, floor_sd=0.02), level_since(stream, 20, floor_sd=0.02)
        wide = level_since(stream, 20, floor_sd=0.02, level=0.99)
        assert few.high - few.low > 2 * (many.high - many.low)
        assert wide.high - wide.low > many.high - many.low
        assert wide.method == "time-uniform 99 % interval"

    def test_a_judge_that_became_noisier_gets_a_wider_interval(self):
        """Five times the noise after the change."""
        rng = np.random.default_rng(17)
        before = rng.normal(0, 0.03, 60)
        calm, noisy = (
            level_since(np.concatenate([before, rng.normal(0, sd, 20)]), 60, floor_sd=0.02) for sd in (0.03, 0.15)
        )
        assert noisy.high - noisy.low > 2 * (calm.high - calm.low)

    def test_long_calm_before_says_little_about_the_first_runs_after(self):
        """Sixty runs of a judge that repeats itself; restless after the change. Misses in any of thirty runs: 5 %."""
        rng = np.random.default_rng(19)
        missed = 0
        for _ in range(150):
            stream = np.concatenate([rng.normal(0, 0.003, 60), rng.normal(0.15, 0.012, 30)])
            changes = [level_since(stream[:n], 60, floor_sd=0.02) for n in range(61, 91)]
            missed += any(c.low is not None and not c.low <= 0.15 <= c.high for c in changes)
        assert missed <= 10
        assert changes[-1].high - changes[-1].low < 0.04

    def test_no_bounds_without_enough_runs(self):
        """Nothing after the change, and one run on either side."""
        nothing = level_since([0.1, 0.2, math.nan], 3, floor_sd=0.02)
        assert (nothing.estimate, nothing.low, nothing.n_before, nothing.n_after) == (None, None, 2, 0)
        pair = level_since([0.1, 0.3], 1, floor_sd=0.02)
        assert pair.estimate == pytest.approx(0.2)
        assert pair.low is None

    @pytest.mark.parametrize(("index", "options"), [(9, {}), (-1, {}), (2, {"floor_sd": 0.0}), (2, {"level": 1.0})])
    def test_bad_input_is_refused(self, index, options):
        """Outside the stream, no floor, no level."""
        with pytest.raises(ValueError, match=r"change_index|floor_sd|level"):
            level_since([0.0] * 5, index, **({"floor_sd": 0.02} | options))
