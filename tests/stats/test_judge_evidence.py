"""The four streams together: shares, reference numbers, symmetries, replay of a history."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.anchor_flips import AnchorFlips
from evaluator.stats.evidence import DetectorSettings, EvidenceStream
from evaluator.stats.judge_evidence import ANCHOR, WEIGHTS, JudgeEvidence, detect_judge
from evaluator.stats.paired import run_shifts
from evaluator.stats.streams import STREAMS, RunStatistics, statistics_of_history, stream_floors
from tests.stats.latent import whole_scores
from tests.stats.simulate import PROPERTY

YEARLY = 365.0

# Evidence of level, slope, spread and single anchors, weighted, after runs 30 and 43 of ``whole_scores``; the change
# begins in run 40. Computed once by the prototype of the method, which shares no code with this package, without its
# guard against correlated runs.
REFERENCE_NUMBERS = {
    "level": (
        40,
        (2.283362539, 1.68479762, 0.6746191561, 0.259146685),
        (109079399.7, 9.174117034, 510818.7678, 17.63030765),
    ),
    "compression": (
        41,
        (2.535077472, 1.033091525, 0.9732341959, 0.305008755),
        (172.7506587, 1381152234.0, 1017749324.0, 71.58907502),
    ),
    "noisier": (
        42,
        (2.331776486, 1.143939677, 0.7362359173, 0.2229763999),
        (335.6101606, 46945.9064, 5462.364863, 1.276386873),
    ),
    "one anchor": (
        43,
        (2.21523507, 0.9156402113, 1.618537523, 0.1347815765),
        (144.2562857, 176.3360888, 213020330.5, 10.76935699),
    ),
}


def compress(opinion, _level):
    """Everything towards the middle."""
    return opinion + 0.25 * (3 - opinion)


def one_anchor(opinion, _level):
    """The eighth anchor goes to the other end of the scale."""
    return np.where(np.arange(len(opinion)) == 7, np.where(opinion > 3, 1.0, 5.0), opinion)


DRIFTS = {
    "level": {"drift": lambda opinion, _: opinion + 0.2},
    "compression": {"drift": compress},
    "noisier": {"noise": (1.0, 3.0)},
    "one anchor": {"drift": one_anchor},
}


def prepared(scores, n_baseline=20):
    """Numbers and floors of a history whose first runs are the baseline."""
    baseline = np.arange(len(scores)) < n_baseline
    shifts = run_shifts(scores, baseline)
    return statistics_of_history(scores, baseline, shifts), stream_floors(shifts.anchor_mean)


def row_of(numbers, run):
    """One run's number of each stream."""
    return {name: float(numbers.stream(name)[run]) for name in STREAMS}


def first(numbers, n):
    """The numbers of the first runs."""
    return RunStatistics(level=numbers.level[:n], slope=numbers.slope[:n], spread=numbers.spread[:n])


def replay(scores, n_baseline=20, **options):
    """Detect with the settings of most tests."""
    numbers, floors = prepared(scores, n_baseline)
    return detect_judge(
        numbers, scores, **({"threshold": YEARLY, "floors": floors, "n_reference": n_baseline} | options)
    )


@pytest.fixture(scope="module")
def drifting():
    """Sixty runs; the judge pulls scores together from run 40 on."""
    return whole_scores(41, 60, change_at=40, drift=compress)


class TestCombination:
    """An average of four."""

    def test_parts_are_the_streams_own_evidence_times_their_shares(self, drifting):
        """Each stream alone, beside the four together."""
        numbers, floors = prepared(drifting)
        judge = JudgeEvidence(first(numbers, 20), drifting[:20], floors=floors)
        alone = {name: EvidenceStream(numbers.stream(name)[:20], floor_sd=floors[name]) for name in STREAMS}
        flips = AnchorFlips(drifting[:20], most_learned=20)
        for run in range(20, 44):
            total = judge.update(row_of(numbers, run), drifting[run])
            for name, stream in alone.items():
                own = math.exp(stream.update(float(numbers.stream(name)[run])))
                assert judge.parts[name] == pytest.approx(WEIGHTS[name] * own)
            assert judge.parts[ANCHOR] == pytest.approx(WEIGHTS[ANCHOR] * flips.update(drifting[run]))
            assert total == pytest.approx(sum(judge.parts.values()))
        assert judge.parts[judge.leading] == max(judge.parts.values())
        assert judge.n == 44

    @pytest.mark.parametrize("kind", REFERENCE_NUMBERS)
    def test_agrees_with_the_prototype(self, kind):
        """Numbers of another program on the same scores."""
        seed, *expected = REFERENCE_NUMBERS[kind]
        scores = whole_scores(seed, 60, change_at=40, **DRIFTS[kind])
        numbers, floors = prepared(scores)
        settings = DetectorSettings(autocorrelation_sd=0.0)
        judge = JudgeEvidence(first(numbers, 20), scores[:20], floors=floors, settings=settings)
        found = {}
        for run in range(20, 44):
            judge.update(row_of(numbers, run), scores[run])
            found[run] = tuple(judge.parts.values())
        for run, numbers_then in zip((30, 43), expected, strict=True):
            assert found[run] == pytest.approx(numbers_then, rel=1e-8)

    def test_average_grows_by_one_a_run_when_nothing_changes(self):
        """Four dependent streams of Gaussian runs, without floor, clipping and guard: 1000 draws of three runs."""
        settings = DetectorSettings(effect_variances=(0.25,), prior_runs=0.0, clip_sd=1e9, autocorrelation_sd=0.0)
        rng = np.random.default_rng(6)
        draws = []
        for _ in range(1000):
            level = rng.normal(0, 0.03, 13)
            numbers = RunStatistics(level=level, slope=-0.5 * level, spread=level + rng.normal(0, 0.03, 13))
            floors = dict.fromkeys(STREAMS, 1e-6)
            judge = JudgeEvidence(first(numbers, 10), np.full((10, 2), 3.0), floors=floors, settings=settings)
            for run in (10, 11, 12):
                judge.update(row_of(numbers, run), [3.0, 3.0])
            draws.append(judge.value - judge.parts[ANCHOR])
        expected = 3 * (1 - WEIGHTS[ANCHOR])
        assert np.mean(draws) == pytest.approx(expected, abs=3 * np.std(draws) / math.sqrt(1000))

    def test_nothing_is_known_before_the_first_run(self, drifting):
        """All four at zero; a reference with a hole, or too short, is refused."""
        numbers, floors = prepared(drifting)
        assert JudgeEvidence(first(numbers, 20), drifting[:20], floors=floors).value == 0.0
        with pytest.raises(ValueError, match="at least 10"):
            JudgeEvidence(first(numbers, 9), drifting[:9], floors=floors)


class TestWhatDoesNotMatter:
    """Symmetries of the whole."""

    @PROPERTY
    @given(st.integers(0, 10**6))
    def test_order_of_the_anchors_does_not_matter(self, seed):
        """Columns shuffled: the same evidence after every run."""
        scores = whole_scores(seed, 26, n_anchors=15, missing_share=0.1)
        order = np.random.default_rng(seed).permutation(15)
        plain, shuffled = replay(scores), replay(scores[:, order])
        np.testing.assert_allclose(shuffled.evidence, plain.evidence, rtol=1e-6)

    @pytest.mark.parametrize("kind", ["level", "compression", "noisier"])
    def test_mirrored_scale_gives_the_same_evidence_and_date(self, kind):
        """6 - score, a reference of nineteen runs: no anchor has two scores equally often."""
        scores = whole_scores(7, 60, change_at=40, missing_share=0.0, **DRIFTS[kind])
        there, back = replay(scores, 19), replay(6 - scores, 19)
        np.testing.assert_allclose(back.evidence, there.evidence, rtol=1e-6)
        assert there.alarm_row is not None
        assert (back.alarm_row, back.row, back.stream) == (there.alarm_row, there.row, there.stream)

    @pytest.mark.parametrize("constant", [-2.0, 0.25, 3.0])
    def test_moving_all_scores_changes_nothing(self, drifting, constant):
        """A judge always so much more generous has not changed."""
        np.testing.assert_allclose(replay(drifting + constant).evidence, replay(drifting).evidence, rtol=1e-5)

    def test_missing_anchors_are_no_change(self):
        """A judge that repeats itself, and only the easy half graded from run 30 on."""
        exact = np.tile(np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 8), (60, 1))
        exact[30:, exact[0] < 3] = np.nan
        found = replay(exact)
        assert found.alarm_row is None
        assert np.nanmax(found.evidence) < YEARLY / 10

    def test_fractional_scores_are_watched_alike(self):
        """Quarters beside the whole scores: quiet before the change, found after it."""
        whole = whole_scores(60, 60, change_at=40, **DRIFTS["level"])
        found = replay(whole + np.random.default_rng(1).choice([-0.25, 0.0, 0.25], whole.shape))
        assert found.row == 40
        assert 40 <= found.alarm_row <= 43


class TestReplay:
    """A history at once."""

    def test_alarm_is_the_first_run_over_the_threshold(self, drifting):
        """And the stream that led then is remembered, whatever leads later."""
        found = replay(drifting)
        crossing = int(np.flatnonzero(found.evidence >= YEARLY)[0])
        assert (found.alarm_row, found.alarm_evidence) == (crossing, found.evidence[crossing])
        assert found.first_row <= 40 <= found.last_row
        assert found.stream in ("slope", "spread", "level")
        assert sum(found.parts.values()) == pytest.approx(found.evidence[-1])

    def test_one_anchor_is_dated_and_named(self):
        """Column 7 is a point higher from run 40 on; all anchors are restless, and the others go on as they were."""
        scores = whole_scores(45, 60, change_at=40, drift=lambda o, _: o + (np.arange(len(o)) == 7), noise=(3.0, 3.0))
        found = replay(scores)
        assert (found.anchor, found.stream) == (7, ANCHOR)
        assert found.first_row <= 40 <= found.last_row
        assert 41 <= found.alarm_row <= 48

    def test_runs_that_do_not_count_keep_their_place(self, drifting):
        """An empty run before the baseline's end and one after it."""
        holed = np.insert(drifting, [5, 30], np.nan, axis=0)
        plain, found = replay(drifting), replay(holed, 21, n_reference=20)
        assert np.isnan(found.evidence[[5, 31]]).all()
        np.testing.assert_allclose(found.evidence[~np.isnan(found.evidence)], plain.evidence[20:])
        assert (found.row, found.alarm_row) == (plain.row + 2, plain.alarm_row + 2)
        assert found.n_counted == plain.n_counted == 60

    def test_evidence_can_end_some_runs_after_the_alarm(self, drifting):
        """The alarm, the date by all runs, and the evidence up to there stay what they are."""
        whole, short = replay(drifting), replay(drifting, weighed_after_alarm=4)
        until = short.alarm_row + 5
        np.testing.assert_array_equal(short.evidence[:until], whole.evidence[:until])
        assert np.isnan(short.evidence[until:]).all()
        assert len(short.evidence) > until
        for name in ("alarm_row", "alarm_evidence", "stream", "row", "first_row", "last_row"):
            assert getattr(short, name) == getattr(whole, name)

    def test_a_later_start_is_a_reference_of_its_own(self, drifting):
        """From the change on nothing changes; the numbers stay those of the baseline."""
        found = replay(drifting, start=40, n_reference=10)
        assert found.n_counted == 20
        assert np.isnan(found.evidence[:50]).all()
        assert not np.isnan(found.evidence[50:]).any()
        assert found.alarm_row is None

    def test_too_few_counted_runs_mean_learning(self, drifting):
        """Nineteen of twenty; then the twentieth, and nothing to say yet."""
        found = replay(drifting[:19], n_reference=20)
        assert found.learning
        assert (found.alarm_row, found.row, found.parts, found.n_counted) == (None, None, None, 19)
        assert not replay(drifting[:20]).learning

    def test_a_far_off_run_is_marked(self, drifting):
        """One run in which everything is a point too high: an outlier, no alarm."""
        quiet = drifting[:40].copy()
        quiet[30] = np.clip(quiet[30] + 1, 1, 5)
        found = replay(quiet)
        assert np.flatnonzero(found.outlier).tolist() == [30]
        assert found.alarm_row is None

    @pytest.mark.parametrize(
        ("options", "message"),
        [({"n_reference": 9}, "at least 10"), ({"threshold": 0.0}, "positive"), ({"threshold": math.inf}, "finite")],
    )
    def test_impossible_settings_are_refused(self, drifting, options, message):
        """With the value in the message."""
        with pytest.raises(ValueError, match=message):
            replay(drifting, **options)

    def test_false_alarms_stay_within_the_budget(self):
        """Twelve quiet years at one a year: measured 0.4 of all first years have one."""
        alarms = sum(replay(whole_scores(seed, 20 + 365)).alarm_row is not None for seed in range(500, 512))
        assert alarms <= 8
