"""A single anchor that broke: evidence by enumeration, limits by other libraries, dates."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from evaluator.stats.anchor_flips import ALTERNATIVES, BELIEVED_AFTER, LEAST_FLIPS, AnchorFlips, upper_limit
from tests.stats.latent import whole_scores


def exact_reference(n_runs=20, n_anchors=4, level=3.0):
    """Anchors that never flipped."""
    return np.full((n_runs, n_anchors), level)


def reference_with(n_off, n_runs=20):
    """One anchor that was off its usual 3 in so many runs."""
    return np.array([[4.0]] * n_off + [[3.0]] * (n_runs - n_off))


def dated(flips):
    """When the leading anchor left."""
    return flips.change_of(flips.leading)


def after(reference, rows, most_learned=None):
    """The state after some runs; by default what is usual was settled by the reference."""
    flips = AnchorFlips(reference, most_learned=len(reference) if most_learned is None else most_learned)
    for row in rows:
        flips.update(row)
    return flips


class TestUpperLimit:
    """Clopper and Pearson."""

    @pytest.mark.parametrize(("off", "n"), [(0, 10), (0, 20), (1, 20), (7, 20), (19, 20), (3, 200)])
    def test_agrees_with_scipy_and_statsmodels(self, off, n):
        """One-sided 90 % is two-sided 80 %; and its meaning: P(at most that many) = 10 %."""
        found = float(upper_limit(off, n))
        assert found == pytest.approx(stats.beta.ppf(0.9, off + 1, n - off))
        assert found == pytest.approx(proportion_confint(off, n, alpha=0.2, method="beta")[1])
        assert stats.binom.cdf(off, n, found) == pytest.approx(0.1)

    def test_nothing_known_means_anything_is_possible(self):
        """No run at all, and an anchor off in all of them."""
        np.testing.assert_array_equal(upper_limit([0, 5], [0, 5]), [1.0, 1.0])

    @pytest.mark.parametrize("p", [0.05, 0.3, 0.6])
    def test_covers_nine_times_in_ten(self, p):
        """Exact coverage over all outcomes of 20 runs."""
        outcomes = np.arange(21)
        covered = stats.binom.pmf(outcomes, 20, p)[upper_limit(outcomes, 20) >= p].sum()
        assert covered >= 0.9


class TestEvidenceValue:
    """Mean of the factors when an anchor flips no oftener than the limit."""

    @pytest.mark.parametrize("n_off", [0, 2, 9])
    def test_one_run_is_worth_at_most_one_on_average(self, n_off):
        """Both outcomes weighed: one at the limit, less under it, more above."""
        reference = reference_with(n_off)
        away, usual = after(reference, [[5.0]]).value, after(reference, [[3.0]]).value
        limit = max(float(stats.beta.ppf(0.9, n_off + 1, 20 - n_off)), LEAST_FLIPS)
        mean = [p * away + (1 - p) * usual for p in (0.0, 0.5 * limit, limit, min(1.2 * limit, 1.0))]
        assert mean[0] < mean[1] < 1.0
        assert mean[2] == pytest.approx(1.0)
        assert mean[3] > 1.0

    def test_seven_runs_are_worth_at_most_seven(self):
        """All 128 sequences: a Shiryaev-Roberts sum grows by one a run on average, at the limit."""
        reference = reference_with(3)
        limit = float(stats.beta.ppf(0.9, 4, 17))
        values = {row: after(reference, [[3.0 + off] for off in row]).value for row in product((0, 1), repeat=7)}
        for p, bound in ((limit, 7.0), (0.6 * limit, 7.0)):
            mean = sum(p ** sum(row) * (1 - p) ** (7 - sum(row)) * value for row, value in values.items())
            assert mean <= bound + 1e-9
        at_limit = sum(limit ** sum(row) * (1 - limit) ** (7 - sum(row)) * value for row, value in values.items())
        assert at_limit == pytest.approx(7.0)

    def test_anchors_that_flip_together_are_worth_no_more(self):
        """One common shock moves all of them, the strongest dependence there is: the average still grows by one."""
        reference, n_runs = exact_reference(n_anchors=4), 6
        limit = float(stats.beta.ppf(0.9, 1, 20))
        mean = 0.0
        for row in product((0, 1), repeat=n_runs):
            value = after(reference, [[3.0 + off] * 4 for off in row]).value
            mean += limit ** sum(row) * (1 - limit) ** (n_runs - sum(row)) * value
        assert mean == pytest.approx(n_runs)

    def test_agrees_with_plain_loops(self):
        """Reference of 20 runs, 30 later ones, holes in both."""
        scores = whole_scores(11, 50, n_anchors=12, missing_share=0.1)
        found, expected = after(scores[:20], scores[20:]).value, []
        for column in scores.T:
            known = [s for s in column[:20] if not math.isnan(s)]
            usual = max(sorted(set(known)), key=known.count)
            n_off = len(known) - known.count(usual)
            limit = min(max(stats.beta.ppf(0.9, n_off + 1, len(known) - n_off), 0.02), 0.999)
            for alternative in ALTERNATIVES:
                q, total = max(alternative, min(1.3 * limit, 0.999)), 0.0
                for score in column[20:]:
                    if not math.isnan(score):
                        total = (total + 1) * (q / limit if score != usual else (1 - q) / (1 - limit))
                expected.append(total)
        assert found == pytest.approx(sum(expected) / len(expected))


class TestWhatDoesNotMatter:
    """Symmetries and holes."""

    def test_order_of_the_anchors_does_not_matter(self):
        """The same evidence; the column goes with its anchor."""
        scores = whole_scores(5, 40, n_anchors=20)
        scores[30:, 7] = 1.0 if np.nanmedian(scores[:20, 7]) > 3 else 5.0
        order = np.random.default_rng(2).permutation(20)
        plain, shuffled = after(scores[:20], scores[20:]), after(scores[:20, order], scores[20:, order])
        assert shuffled.value == pytest.approx(plain.value)
        assert plain.leading == 7
        assert order[shuffled.leading] == 7

    def test_mirrored_scale_carries_the_same_evidence(self):
        """6 - score; the most frequent score is unique with nineteen runs of two values."""
        scores = whole_scores(6, 45, n_anchors=20, missing_share=0.0)
        there, back = after(scores[:19], scores[19:]), after(6 - scores[:19], 6 - scores[19:])
        assert back.value == pytest.approx(there.value)

    def test_missing_scores_are_no_evidence(self):
        """An anchor that is not graded keeps what it has."""
        flips = after(exact_reference(), [[5.0, 3.0, 3.0, 3.0]])
        before = flips.value
        assert flips.update([math.nan] * 4) == before
        assert flips.update([5.0, math.nan, math.nan, math.nan]) > before

    def test_an_anchor_without_reference_is_not_watched(self):
        """Its first scores define what is usual, while there is learning; they are no evidence."""
        reference = exact_reference(n_runs=10, n_anchors=2)
        reference[:, 1] = math.nan
        alone = after(exact_reference(n_runs=10, n_anchors=1), [[3.0]] * 5, most_learned=20)
        beside = after(reference, [[3.0, math.nan]] * 5, most_learned=20)
        assert beside.value == pytest.approx(alone.value / 2)
        strange = after(reference, [[3.0, 5.0]] * 8, most_learned=20)
        assert strange.value < 10
        for _ in range(6):
            strange.update([3.0, 1.0])
        assert strange.leading == 1

    def test_fractional_scores_near_the_usual_one_have_not_left(self):
        """Averages of repeats: 3.4 is still 3, 3.6 is not."""
        reference = np.array([[3.0], [3.2], [2.8], [3.0], [3.1]] * 4)
        near, far = after(reference, [[3.4]] * 4), after(reference, [[3.6]] * 4)
        assert near.value < 1 < far.value


class TestLearning:
    """A short reference goes on learning for a while."""

    def test_runs_of_the_first_twenty_sharpen_the_limit(self):
        """Ten exact runs and ten more: later flips weigh as with a reference of twenty."""
        learned = after(exact_reference(10), [[3.0] * 4] * 10, most_learned=20)
        settled = after(exact_reference(10), [[3.0] * 4] * 10)
        gain_learned = learned.update([5.0, 3.0, 3.0, 3.0])
        assert gain_learned > settled.update([5.0, 3.0, 3.0, 3.0])

    def test_later_runs_are_believed_only_thirty_runs_later(self):
        """A break is noticed long before it could become usual; up to then a settled limit gives the same evidence."""
        rows = [[5.0, 3.0, 3.0, 3.0]] * (BELIEVED_AFTER + 9)
        flips = after(exact_reference(), rows)
        limit = float(stats.beta.ppf(0.9, 1, 20))
        expected = 0.0
        for alternative in ALTERNATIVES:
            factor = alternative / limit
            expected += factor * (factor ** len(rows) - 1) / (factor - 1)
        assert flips.value == pytest.approx(expected / 8, rel=1e-6)

    def test_an_anchor_that_flips_oftener_than_its_reference_showed_stops_being_news(self):
        """Away in one run of four, and by chance never in the reference: with a settled limit it would alarm anew."""
        away = np.random.default_rng(3).random(1000) < 0.25
        flips, limit = AnchorFlips(reference_with(0), most_learned=20), float(stats.beta.ppf(0.9, 1, 20))
        settled, late, late_settled = 0.0, [], []
        for place, off in enumerate(away):
            value = flips.update([3.0 + off])
            settled = (settled + 1) * (0.5 / limit if off else 0.5 / (1 - limit))
            if place >= 500:
                late.append(value)
                late_settled.append(settled)
        assert np.mean(late) < 36
        assert np.mean(late_settled) > 3650

    def test_an_anchor_that_left_long_ago_keeps_its_date(self):
        """Two hundred runs later its new score is the usual one, and its evidence sinks."""
        flips = after(exact_reference(), [[3.0] * 4] * 5 + [[3.0, 3.0, 1.0, 3.0]] * 200)
        assert flips.change_of(2).index == 5
        grown = flips.value
        assert flips.update([3.0, 3.0, 1.0, 3.0]) < grown


class TestDate:
    """When the anchor left."""

    def test_first_run_away_is_found(self):
        """Five quiet runs, then away for good."""
        found = dated(after(exact_reference(), [[3.0] * 4] * 5 + [[3.0, 3.0, 1.0, 3.0]] * 6))
        assert (found.anchor, found.index) == (2, 5)
        assert found.low <= 5 <= found.high

    def test_date_of_a_restless_anchor_is_less_sure(self):
        """It was off in a third of the reference: the set is wider."""
        sure = dated(after(reference_with(0), [[3.0]] * 6 + [[5.0]] * 8))
        unsure = dated(after(reference_with(7), [[3.0], [4.0]] * 3 + [[5.0]] * 8))
        assert unsure.high - unsure.low > sure.high - sure.low

    def test_set_covers_the_true_date(self):
        """Two hundred anchors that stay away nine times in ten, at a random run."""
        rng = np.random.default_rng(12)
        covered = 0
        for _ in range(200):
            changed = int(rng.integers(5, 20))
            row_of = np.where(np.arange(changed + 12) >= changed, rng.random(changed + 12) < 0.9, False)
            found = dated(after(reference_with(0), [[3.0 + off] for off in row_of]))
            covered += found.low <= changed <= found.high
        assert covered >= 184

    def test_no_run_no_date(self):
        """Nothing was watched yet."""
        with pytest.raises(ValueError, match="no run"):
            AnchorFlips(exact_reference(), most_learned=20).change_of(0)

    def test_runs_after_the_alarm_do_not_move_the_date(self):
        """Three hundred runs later the new score is usual, and still it left in the sixth."""
        flips = AnchorFlips(exact_reference(), most_learned=20)
        away = exact_reference()[0].copy()
        away[2] += 2 if away[2] <= 3 else -2
        for run in range(300):
            flips.update(exact_reference()[0] if run < 5 else away)
        assert flips.change_of(2, 12) == flips.change_of(2, 9)
        assert flips.change_of(2, 12).index == 5
