"""Stored scores graded again: parity, drift, and what they show."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluator.stats.clustered_means import CLUSTERED
from evaluator.stats.numeric import t_quantile
from evaluator.stats.recheck import (
    WELCH,
    WELCH_FLOOR,
    RecheckFinding,
    more_answers_needed,
    parity_is_off,
    recheck_finding,
    recheck_shift,
)
from evaluator.stats.recheck_limits import FEWEST, told_by_enough
from tests.stats.simulate import PROPERTY

LEVELS = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0])
PART = st.lists(st.tuples(LEVELS, LEVELS), min_size=2, max_size=25)

# eight recent and eight old answers of five levels, worked out by hand below
RECENT = ([3, 4, 4, 5, 2, 3, 4, 5], [3, 4, 3, 5, 3, 3, 4, 5])
OLD = ([3, 4, 4, 5, 2, 3, 4, 4], [4, 4, 5, 5, 3, 4, 4, 5])


def shift(recent=RECENT, old=OLD, **options):
    """The recheck of two (stored, now) pairs."""
    return recheck_shift(recent[0], recent[1], old[0], old[1], **options)


def cr2_by_matrices(values, labels):
    """CR2 variance of a mean and its degrees of freedom under both working models, from the textbook's matrices."""
    values = np.asarray(values, dtype=float)
    n = len(values)
    names = list(dict.fromkeys(labels))
    hat = np.full((n, n), 1 / n)
    residual = values - values.mean()
    variance, columns = 0.0, []
    for name in names:
        own = np.array([label == name for label in labels])
        block = np.eye(own.sum()) - hat[np.ix_(own, own)]
        eigenvalues, vectors = np.linalg.eigh(block)
        adjust = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        weight = np.ones(own.sum()) @ adjust / n
        variance += float(weight @ residual[own]) ** 2
        columns.append((np.eye(n) - hat)[:, own] @ weight)
    g = np.column_stack(columns)
    as_one = np.array([[a == b for b in labels] for a in labels], dtype=float)
    found = []
    for working in (np.eye(n), as_one):
        b = g.T @ working @ g
        found.append(np.trace(b) ** 2 / np.trace(b @ b))
    return variance, min(found)


class TestWorkedExample:
    """Numbers that a reader can follow."""

    def test_parity_and_drift_are_differences_of_the_same_answers(self):
        """Recent: one down, one up, mean 0. Old: up in 5 of 8, 0.625. Drift 0.625."""
        result = shift()
        assert (result.recent.then.value, result.recent.now.value) == (3.75, 3.75)
        assert result.recent.shift.value == 0.0
        assert (result.old.then.value, result.old.now.value) == (3.625, 4.25)
        assert result.old.shift.value == 0.625
        assert result.drift.value == 0.625
        assert (result.recent.n_same, result.old.n_same) == (6, 3)

    def test_variances_are_those_of_the_two_parts(self):
        """Old: s2 = 5 * 3 / 8 / 7; recent: 2 / 7, under the floor of three changed scores."""
        result = shift(step=0.01)
        assert result.old.shift.se**2 == pytest.approx(15 / 8 / 7 / 8)
        assert result.recent.shift.se**2 == pytest.approx(2 / 7 / 8)
        assert result.drift.se**2 == pytest.approx(15 / 448 + 2 / 56)
        assert result.drift.interval.method == WELCH

    def test_drift_is_positive_when_the_judge_gives_more_now(self):
        """The sign that people expect."""
        assert shift().drift.value > 0
        assert shift(old=(OLD[1], OLD[0])).drift.value < 0

    def test_offset_of_another_prompt_is_taken_out(self):
        """Half a point on every score of both parts is no drift."""
        moved = (RECENT[0], [score + 0.5 for score in RECENT[1]])
        result = shift(moved, (OLD[0], [score + 0.5 for score in OLD[1]]))
        assert result.recent.shift.value == 0.5
        assert result.drift.value == 0.625


class TestOracles:
    """The same numbers from elsewhere."""

    @pytest.mark.parametrize("seed", range(5))
    def test_single_answers_give_welchs_interval(self, seed):
        """scipy's Welch test on the differences."""
        rng = np.random.default_rng(seed)
        recent, old = rng.integers(1, 6, (2, 40)), rng.integers(1, 6, (2, 55))
        result = recheck_shift(recent[0], recent[1], old[0], old[1])
        welch = stats.ttest_ind(old[1] - old[0], recent[1] - recent[0], equal_var=False)
        expected = welch.confidence_interval(0.95)
        found = result.drift.interval
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
        assert result.drift.df == pytest.approx(welch.df)

    @pytest.mark.parametrize("seed", range(4))
    def test_clusters_give_the_textbooks_matrices(self, seed):
        """CR2 and Bell-McCaffrey, computed from their definitions."""
        rng = np.random.default_rng(seed)
        labels = list(rng.integers(0, 9, 60) ** 2 // 9)
        stored, now = rng.integers(1, 6, (2, 60))
        part = recheck_shift(stored, now, [], [], recent_clusters=labels, step=1e-6).recent
        variance, df = cr2_by_matrices(now - stored, labels)
        assert part.shift.se**2 == pytest.approx(variance)
        assert part.shift.df == pytest.approx(df)
        assert part.n_clusters == len(set(labels))
        assert part.shift.interval.method == CLUSTERED

    def test_equal_clusters_have_one_degree_less_than_there_are(self):
        """Ten users of four answers: nine degrees of freedom."""
        rng = np.random.default_rng(7)
        labels = np.repeat(np.arange(10), 4)
        part = recheck_shift(*rng.integers(1, 6, (2, 40)), [], [], recent_clusters=list(labels)).recent
        assert part.shift.df == pytest.approx(9)


class TestClusters:
    """Answers of one conversation are not independent."""

    def test_repeating_each_answer_does_not_narrow_the_interval(self):
        """Ten copies of a conversation's answer are one observation."""
        single = shift(recent_clusters=range(8), old_clusters=range(10, 18))
        many = tuple([np.repeat(scores, 10) for scores in part] for part in (RECENT, OLD))
        copied = shift(
            *many, recent_clusters=list(np.repeat(range(8), 10)), old_clusters=list(np.repeat(range(10, 18), 10))
        )
        assert copied.drift.interval.low == pytest.approx(single.drift.interval.low)
        assert copied.drift.interval.high == pytest.approx(single.drift.interval.high)

    def test_user_with_answers_in_both_parts_is_one_cluster(self):
        """What every user brings to both parts alike cancels: the interval is narrower than of other users."""
        rng = np.random.default_rng(3)
        users = np.repeat(np.arange(20), 3)
        taste = rng.normal(0, 1, 20)[users]
        recent, old = rng.normal(0, 0.3, (2, 60)) + taste
        zero = np.zeros(60)
        same = recheck_shift(zero, recent, zero, old, recent_clusters=list(users), old_clusters=list(users))
        apart = recheck_shift(zero, recent, zero, old, recent_clusters=list(users), old_clusters=list(users + 100))
        assert same.drift.value == apart.drift.value
        assert same.drift.se < 0.5 * apart.drift.se
        assert same.drift.df <= 19

    def test_one_conversation_has_no_interval(self):
        """Whatever it holds."""
        result = shift(recent_clusters=["c"] * 8)
        assert result.recent.shift.interval is None
        assert result.drift.interval is None
        assert recheck_finding(result, 0.1) is RecheckFinding.CANNOT_TELL


class TestSteadyJudge:
    """A judge that repeats itself exactly is not known to do so for ever."""

    def test_nothing_changed_among_n_still_has_an_interval(self):
        """Three of n could have changed: +-0.034 on a hundred, in one part."""
        scores = [3.0] * 100
        result = recheck_shift(scores, scores, scores, scores)
        half_width = math.sqrt(3) / 100 * float(t_quantile(99, 0.95))
        assert result.recent.shift.interval.high == pytest.approx(half_width)
        assert result.drift.interval.method == WELCH_FLOOR
        assert recheck_finding(result, 0.1) is RecheckFinding.SAME

    def test_ten_answers_without_a_change_show_nothing(self):
        """Too few to call the judge steady."""
        result = recheck_shift([3.0] * 10, [3.0] * 10, [3.0] * 10, [3.0] * 10)
        assert recheck_finding(result, 0.1) is RecheckFinding.NO_CHANGE_SHOWN

    def test_floor_follows_the_step_of_the_rubric(self):
        """Pass or fail: a flip is the whole scale."""
        scores = [1.0] * 50
        wide, narrow = (recheck_shift(scores, scores, scores, scores, step=step).drift.se for step in (1.0, 0.25))
        assert wide == pytest.approx(4 * narrow)


class TestMissing:
    """What cannot be compared."""

    def test_unscored_answers_are_left_out_and_counted(self):
        """In either of the two gradings."""
        nan = math.nan
        result = shift(([3, nan, 4, 5], [3, 4, nan, 5]))
        assert (result.recent.n, result.recent.n_unscored) == (2, 2)
        assert result.recent.then.value == 4.0

    def test_without_old_scores_there_is_parity_only(self):
        """And it is told apart from too little."""
        result = recheck_shift(*RECENT, [], [])
        assert result.old is None
        assert result.drift is None
        assert recheck_finding(result, 0.1) is RecheckFinding.PARITY_ONLY
        assert more_answers_needed(result, 0.1) is None

    @pytest.mark.parametrize("old", [([3.0], [4.0]), ([3.0, 2.0], [math.nan, math.nan])])
    def test_fewer_than_two_old_scores_have_no_interval(self, old):
        """A drift of one answer is no drift."""
        result = shift(old=old)
        assert result.drift.interval is None
        assert recheck_finding(result, 0.1) is RecheckFinding.CANNOT_TELL

    def test_nothing_at_all_is_nan(self):
        """No score, no mean."""
        result = recheck_shift([], [], [], [])
        assert math.isnan(result.recent.shift.value)
        assert result.recent.then.interval is None

    @pytest.mark.parametrize(
        ("arguments", "options", "words"),
        [
            (([1, 2], [1], [], []), {}, "recent: stored and new scores must be of one length"),
            (([1, 2], [1, 2], [1], []), {}, "old: stored and new"),
            (([1, 2], [1, math.inf], [], []), {}, "finite"),
            (([1, 2], [1, 2], [], []), {"level": 95}, "level must lie inside"),
            (([1, 2], [1, 2], [], []), {"step": 0}, "step must be positive"),
            (([1, 2], [1, 2], [], []), {"recent_clusters": ["a"]}, "1 clusters for 2 answers"),
        ],
    )
    def test_bad_input_is_refused(self, arguments, options, words):
        """Before anything is computed."""
        with pytest.raises(ValueError, match=words):
            recheck_shift(*arguments, **options)


class TestFindings:
    """Words for intervals."""

    @staticmethod
    def moved(n, share_up, size=1.0):
        """A recheck whose recent scores are repeated and whose old ones rise in a share of the answers."""
        scores = np.full(n, 3.0)
        return recheck_shift(scores, scores, scores, scores + size * (np.arange(n) < share_up * n))

    @pytest.mark.parametrize(
        ("n", "share_up", "expected"),
        [
            (100, 0.3, RecheckFinding.CHANGED),
            (2000, 0.08, RecheckFinding.SAME),
            (1000, 0.09, RecheckFinding.SMALL_CHANGE),
            (60, 0.08, RecheckFinding.NO_CHANGE_SHOWN),
            (400, 0.0, RecheckFinding.SAME),
        ],
    )
    def test_word_fits_the_interval(self, n, share_up, expected):
        """Against a smallest change of 0.1; certain but too small to matter is no change."""
        assert recheck_finding(self.moved(n, share_up), 0.1) is expected

    def test_parity_off_needs_more_than_chance_and_more_than_a_little(self):
        """Half a point is another judge; a hundredth, however certain, is not."""
        scores = np.full(400, 3.0)
        off = recheck_shift(scores, scores + (np.arange(400) % 2), [], [])
        assert parity_is_off(off, 0.1)
        tiny = recheck_shift(scores, scores + (np.arange(400) < 8), [], [])
        assert not parity_is_off(tiny, 0.1)
        assert not parity_is_off(recheck_shift([3.0], [5.0], [], []), 0.1)

    def test_more_answers_narrow_the_interval_to_what_was_asked(self):
        """With as many more, the half-width is a change's over 1.43."""
        result = self.moved(60, 0.05)
        more = more_answers_needed(result, 0.1)
        interval = result.drift.interval
        after = (interval.high - interval.low) / 2 * math.sqrt(120 / (120 + more))
        assert more > 0
        assert after == pytest.approx(0.1 / 1.4294, rel=0.01)
        assert more_answers_needed(self.moved(20_000, 0.05), 0.1) == 0

    @pytest.mark.parametrize("function", [recheck_finding, parity_is_off, more_answers_needed])
    def test_smallest_change_must_be_positive(self, function):
        """Zero would make every change matter."""
        with pytest.raises(ValueError, match="must be positive"):
            function(shift(), 0.0)


class TestProperties:
    """What holds for any scores."""

    @PROPERTY
    @given(recent=PART, old=PART)
    def test_swapping_the_parts_turns_the_sign(self, recent, old):
        """And nothing else."""
        forth = shift(list(zip(*recent, strict=True)), list(zip(*old, strict=True)))
        back = shift(list(zip(*old, strict=True)), list(zip(*recent, strict=True)))
        assert forth.drift.value == pytest.approx(-back.drift.value)
        assert forth.drift.interval.low == pytest.approx(-back.drift.interval.high)

    @PROPERTY
    @given(recent=PART, old=PART, by=st.floats(-3, 3))
    def test_one_offset_on_all_new_scores_is_parity_not_drift(self, recent, old, by):
        """It goes into the parity whole."""
        (before, after), (then, now) = zip(*recent, strict=True), zip(*old, strict=True)
        plain = recheck_shift(before, after, then, now)
        moved = recheck_shift(before, np.array(after) + by, then, np.array(now) + by)
        assert moved.drift.value == pytest.approx(plain.drift.value, abs=1e-9)
        assert moved.drift.se == pytest.approx(plain.drift.se, abs=1e-9)
        assert moved.recent.shift.value == pytest.approx(plain.recent.shift.value + by, abs=1e-9)

    @PROPERTY
    @given(recent=PART, old=PART, seed=st.integers(0, 99))
    def test_order_and_names_of_clusters_do_not_matter(self, recent, old, seed):
        """Neither the order of the answers nor what a conversation is called."""
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 4, len(recent))
        order = rng.permutation(len(recent))
        (before, after), (then, now) = zip(*recent, strict=True), zip(*old, strict=True)
        plain = recheck_shift(before, after, then, now, recent_clusters=list(labels))
        other = recheck_shift(
            np.array(before)[order],
            np.array(after)[order],
            then,
            now,
            recent_clusters=[f"c{label}" for label in labels[order]],
        )
        assert other.drift.value == pytest.approx(plain.drift.value)
        assert other.drift.se == pytest.approx(plain.drift.se, nan_ok=True)
        assert other.drift.df == pytest.approx(plain.drift.df, nan_ok=True)


class TestToldByEnough:
    """Intervals that say something, within what scores can be."""

    @pytest.mark.parametrize(("n_old", "is_told"), [(FEWEST - 1, False), (FEWEST, True)])
    def test_parts_of_fewer_than_five_answers_get_no_interval(self, n_old, is_told):
        """Nor does the drift; the numbers themselves stay."""
        old = (OLD[0][:n_old], OLD[1][:n_old])
        plain = shift(old=old)
        told = told_by_enough(plain, scale=(1, 5))
        assert (told.old.shift.interval is not None) is is_told
        assert (told.drift.interval is not None) is is_told
        assert told.recent.shift.interval is not None
        assert told.drift.value == plain.drift.value
        if not is_told:
            assert recheck_finding(told, 0.1) is RecheckFinding.CANNOT_TELL

    def test_bounds_stay_on_the_scale(self):
        """Means between its ends, a change within its width; what lies within is not touched."""
        top = ([5, 5, 5, 5, 4], [5, 5, 5, 4, 5])
        wild = ([1, 5, 1, 5, 1], [5, 1, 5, 1, 5])
        plain = shift(recent=top, old=wild)
        told = told_by_enough(plain, scale=(1, 5))
        assert plain.recent.then.interval.high > 5
        assert told.recent.then.interval.high == 5
        assert told.recent.then.interval.low == plain.recent.then.interval.low
        assert plain.old.shift.interval.high > 4
        assert told.old.shift.interval.high == 4
        assert told.recent.shift == plain.recent.shift

    def test_without_an_old_part_there_is_none(self):
        """Parity alone."""
        told = told_by_enough(shift(old=([], [])), scale=(1, 5))
        assert (told.old, told.drift) == (None, None)
        assert told.recent.shift.interval is not None
