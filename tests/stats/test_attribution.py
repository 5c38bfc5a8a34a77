"""Who moved the mean: shares, errors, verdicts, against plain loops, resampling and simulated truth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import attribute
from evaluator.stats.clusters import answers_of
from evaluator.stats.correction import fit_judge_map
from evaluator.stats.share_errors import anchor_variances, share_errors, share_estimates, split_by_segment
from evaluator.stats.shares import decompose_change
from evaluator.stats.steadying import steady_slope
from tests.stats.simulate import PROPERTY, Change, two_periods

SHARES = ("raw", "judge", "assistant", "mix")
ALL_THREE = Change(judge_gain=0.3, judge_slope=0.9, assistant=-0.2, easy_after=0.4)


def attributed(first, second, **options):
    """The attribution of two simulated periods."""
    named = {
        "before": first.scores,
        "after": second.scores,
        "anchors_before": first.anchors,
        "anchors_after": second.anchors,
        "segments_before": first.kinds,
        "segments_after": second.kinds,
        "clusters_before": first.conversations,
        "clusters_after": second.conversations,
    }
    return attribute(**(named | options))


def worlds(change, seed, **options):
    """Two periods from a seed."""
    return two_periods(change, np.random.default_rng(seed), **options)


class TestShares:
    """What is whose."""

    @PROPERTY
    @given(st.integers(0, 10**6))
    def test_the_three_add_up_to_the_raw_change(self, seed):
        """Exactly, and as printed."""
        found = attributed(*worlds(ALL_THREE, seed, answers_a_run=30))
        parts = [getattr(found, name).estimate for name in SHARES]
        assert parts[0] == pytest.approx(sum(parts[1:]), abs=1e-12)
        printed = found.at_digits(2)
        cents = [round(100 * getattr(printed, name)) for name in SHARES]
        assert cents[0] == sum(cents[1:])

    def test_without_noise_the_truth_comes_out(self):
        """A judge with a known line, an assistant 0.4 worse, and other questions: worked out by hand.

        Before: easy 4, hard 2, half each. After: easy 3.6, hard 1.6, a quarter easy; the judge makes 1 + 0.75 x of it.
        """
        levels = np.linspace(1, 5, 30)
        before, after = [4.0, 2.0] * 40, [1 + 0.75 * 3.6] * 40 + [1 + 0.75 * 1.6] * 120
        found = attribute(
            before=before,
            after=after,
            anchors_before=levels,
            anchors_after=1 + 0.75 * levels,
            segments_before=["easy", "hard"] * 40,
            segments_after=["easy"] * 40 + ["hard"] * 120,
        )
        # corrected: 3 -> 2.1; raw: 3 -> 2.575
        assert [getattr(found, name).estimate for name in SHARES] == pytest.approx([-0.425, 0.475, -0.4, -0.5])

    def test_is_kitagawas_split_of_corrected_means(self):
        """The same numbers from means of the two kinds."""
        first, second = worlds(ALL_THREE, 3)
        judge_map = steady_slope(fit_judge_map(second.anchors.mean(axis=0), first.anchors.mean(axis=0)))
        columns = {}
        for name, period in (("before", first), ("after", second)):
            of_kind = [period.scores[period.kinds == kind] for kind in ("easy", "hard")]
            columns[f"n_{name}"] = [len(scores) for scores in of_kind]
            columns[f"raw_mean_{name}"] = [scores.mean() for scores in of_kind]
        corrected = (np.array(columns["raw_mean_after"]) - judge_map.intercept) / judge_map.slope
        expected = decompose_change(**columns, mean_before=columns["raw_mean_before"], mean_after=corrected)
        found = attributed(first, second)
        assert found.judge.estimate == pytest.approx(expected.judge)
        assert found.assistant.estimate == pytest.approx(expected.assistant)
        assert found.mix.estimate == pytest.approx(expected.mix)

    @PROPERTY
    @given(st.integers(0, 10**6), st.floats(-0.4, 0.4))
    def test_the_same_moved_up_and_down_is_all_that_scores_shifted_together_do(self, seed, shift):
        """Answers and anchors of the second period shifted alike: raw and judge take it all, nothing else moves."""
        first, second = worlds(Change(), seed, answers_a_run=30)
        options = {"anchors_after": second.anchors + shift, "after": second.scores + shift}
        plain, moved = attributed(first, second), attributed(first, second, **options)
        assert moved.raw.estimate - plain.raw.estimate == pytest.approx(shift)
        assert moved.judge.estimate - plain.judge.estimate == pytest.approx(shift, abs=0.02)
        assert moved.assistant.estimate - plain.assistant.estimate == pytest.approx(0.0, abs=0.02)
        assert moved.mix.estimate == pytest.approx(plain.mix.estimate, abs=0.02)

    @PROPERTY
    @given(st.integers(0, 10**6))
    def test_swapped_periods_flip_the_signs(self, seed):
        """With a judge that gives the same more to everything, so that both ways use the same line."""
        first, second = worlds(Change(assistant=-0.3, easy_after=0.4), seed, answers_a_run=30)
        options = {"anchors_before": first.anchors.mean(axis=0), "anchors_after": first.anchors.mean(axis=0) + 0.25}
        there = attributed(first, second, **options)
        back = attributed(
            second, first, anchors_before=options["anchors_after"], anchors_after=options["anchors_before"]
        )
        for name in SHARES:
            assert getattr(back, name).estimate == pytest.approx(-getattr(there, name).estimate, abs=1e-9)

    def test_results_are_in_units_of_the_scale(self):
        """The same scores on 0 to 100: everything is twenty-five times as large, the verdict the same."""
        first, second = worlds(ALL_THREE, 4)
        plain = attributed(first, second)
        options = {name: (values - 1) * 25 for name, values in (
            ("before", first.scores), ("after", second.scores),
            ("anchors_before", first.anchors), ("anchors_after", second.anchors),
        )}  # fmt: skip
        percent = attributed(first, second, scale=(0, 100), **options)
        assert percent.tolerance == pytest.approx(2.5)
        assert percent.verdict == plain.verdict
        for name in SHARES:
            for bound in ("estimate", "low", "high"):
                assert getattr(getattr(percent, name), bound) == pytest.approx(
                    25 * getattr(getattr(plain, name), bound)
                )

    def test_a_kind_that_is_new_is_all_mix(self):
        """It says nothing about the assistant; the judge's part is still taken out of it."""
        first, second = worlds(Change(judge_gain=0.2), 5)
        second_kinds = np.where(second.kinds == "hard", "new", second.kinds)
        found = attributed(first, second, segments_after=second_kinds, segments_before=np.full(1000, "easy"))
        pooled = attributed(first, second)
        assert found.judge.estimate == pytest.approx(pooled.judge.estimate, abs=0.01)
        assert sum(getattr(found, name).estimate for name in SHARES[1:]) == pytest.approx(found.raw.estimate)

    def test_small_kinds_are_pooled(self):
        """Two kinds with twenty answers each are one with forty: the same as naming them alike."""
        first, second = worlds(ALL_THREE, 6)
        kinds, alike = [], []
        for period in (first, second):
            named = period.kinds.astype("<U9")
            named[:20], named[20:40] = "rare", "rarer"
            kinds.append(named)
            alike.append(np.where(np.isin(named, ["rare", "rarer"]), "other", named))
        pooled = attributed(first, second, segments_before=kinds[0], segments_after=kinds[1])
        assert pooled == attributed(first, second, segments_before=alike[0], segments_after=alike[1])

    def test_without_kinds_there_is_no_share_of_the_mix(self):
        """It is part of the assistant's then, and not said to be zero."""
        first, second = worlds(Change(easy_after=0.4), 7)
        found = attributed(first, second, segments_before=None, segments_after=None)
        assert (found.mix.look, found.mix.low) == ("not looked at", None)
        assert found.assistant.estimate == pytest.approx(-0.3, abs=0.1)
        assert "mix" not in found.sentence()


class TestErrors:
    """Closed forms against resampling."""

    @staticmethod
    def parts_of(first, second, judge_map, talks=(None, None)):
        """Sides, cells and shares; ``talks`` chooses the conversations, with repeats."""
        sides = []
        for period, chosen in zip((first, second), talks, strict=True):
            rows = np.arange(len(period.scores))
            clusters = period.conversations
            if chosen is not None:
                by_talk = [np.flatnonzero(period.conversations == talk) for talk in range(chosen.max() + 1)]
                rows = np.concatenate([by_talk[talk] for talk in chosen])
                clusters = np.concatenate([np.full(len(by_talk[t]), place) for place, t in enumerate(chosen)])
            segments = (period.kinds[rows] == "hard").astype(int)
            sides.append(answers_of(period.scores[rows], clusters=clusters, segments=segments))
        return *sides, split_by_segment(*sides, judge_map)

    def test_answers_errors_agree_with_a_bootstrap_over_conversations(self):
        """All four shares, three hundred resamples of either period, the anchors' line held."""
        first, second = worlds(ALL_THREE, 8, answers_a_run=40)
        judge_map = steady_slope(fit_judge_map(second.anchors.mean(axis=0), first.anchors.mean(axis=0)))
        sides = self.parts_of(first, second, judge_map)
        errors = share_errors(*sides[:2], judge_map, sides[2])
        rng, drawn = np.random.default_rng(8), []
        for _ in range(300):
            talks = [rng.choice(np.unique(p.conversations), len(np.unique(p.conversations))) for p in (first, second)]
            drawn.append(share_estimates(*self.parts_of(first, second, judge_map, talks)))
        claimed = np.sqrt(errors.before + errors.after)
        np.testing.assert_allclose(claimed, np.std(drawn, axis=0), rtol=0.15)

    def test_anchors_errors_agree_with_moving_the_line(self):
        """Draws of intercept and slope from their covariance; opposite signs in judge and assistant."""
        first, second = worlds(ALL_THREE, 9)
        judge_map = fit_judge_map(second.anchors.mean(axis=0), first.anchors.mean(axis=0))
        side = self.parts_of(first, second, judge_map)
        covariance = [
            [judge_map.var_intercept, judge_map.covariance],
            [judge_map.covariance, judge_map.var_slope],
        ]
        rng, drawn = np.random.default_rng(9), []
        for a, c in rng.multivariate_normal([judge_map.intercept, judge_map.slope], covariance, 2000):
            moved = type(judge_map)(**{**vars(judge_map), "intercept": a, "slope": c})
            drawn.append(share_estimates(*side[:2], split_by_segment(*side[:2], moved)))
        claimed = np.sqrt(anchor_variances(side[2], judge_map))
        np.testing.assert_allclose(claimed[1:], np.std(drawn, axis=0)[1:], rtol=0.08)
        assert claimed[0] == 0
        assert np.corrcoef(np.array(drawn)[:, 1:3].T)[0, 1] < -0.95

    def test_the_runs_moods_are_in_raw_and_judge_and_not_in_the_assistant(self):
        """A moody judge: two of the intervals are wider, that of the assistant is not."""
        calm, moody = (attributed(*worlds(Change(), 10, shock_sd=sd)) for sd in (0.0, 0.2))
        width = {
            name: [getattr(found, name).high - getattr(found, name).low for found in (calm, moody)]
            for name in ("raw", "judge", "assistant")
        }
        assert width["judge"][1] > 2 * width["judge"][0]
        assert width["raw"][1] > 1.3 * width["raw"][0]
        assert width["assistant"][1] < 1.15 * width["assistant"][0]

    @pytest.mark.parametrize("n_anchors", [20, 80])
    @pytest.mark.parametrize(
        "change",
        [
            Change(),
            Change(judge_gain=0.3),
            Change(judge_gain=0.1, judge_slope=0.75),
            Change(assistant=-0.3),
            Change(easy_after=0.4),
            ALL_THREE,
        ],
        ids=["nothing", "judge shifts", "judge squeezes", "assistant", "mix", "all three"],
    )
    def test_shares_cover_the_truth_as_often_as_they_say(self, change, n_anchors):
        """Three hundred worlds each; no less than 95 % by the binomial's lower bound."""
        rng, n = np.random.default_rng([11, n_anchors]), 300
        hits = dict.fromkeys(SHARES, 0)
        for _ in range(n):
            found = attributed(*two_periods(change, rng, n_anchors=n_anchors, answers_a_run=60))
            for name, truth in change.shares.items():
                hits[name] += getattr(found, name).low <= truth <= getattr(found, name).high
        # four shares in twelve settings are looked at: 3.3 standard errors
        assert min(hits.values()) / n >= 0.95 - 3.3 * math.sqrt(0.95 * 0.05 / n), hits


class TestVerdict:
    """Whose the change is."""

    @pytest.mark.parametrize(
        ("change", "verdict"),
        [
            (Change(), "nothing"),
            (Change(judge_gain=0.4), "judge"),
            (Change(assistant=-0.4), "assistant"),
            (Change(judge_gain=0.5, assistant=-0.5), "both"),
            (Change(easy_after=0.3), "mix"),
        ],
    )
    def test_names_who_moved(self, change, verdict):
        """Large changes, a hundred anchors, ten runs."""
        assert attributed(*worlds(change, 21, n_anchors=100)).verdict == verdict

    def test_a_judge_alone_is_hardly_ever_taken_for_both(self):
        """+0.2 from the judge, four hundred worlds: the assistant is blamed in 2 % at most, by the binomial's bound."""
        rng, both = np.random.default_rng(13), 0
        for _ in range(400):
            found = attributed(*two_periods(Change(judge_gain=0.2), rng, answers_a_run=60))
            both += found.verdict in ("both", "assistant")
        assert both <= 14

    def test_undecided_says_what_it_takes(self):
        """Few answers: more of them; and with them it is decided."""
        options = {"n_anchors": 200, "n_runs": 5}
        few = attributed(*worlds(Change(), 14, answers_a_run=60, **options), tolerance=0.12)
        assert few.verdict == "undecided"
        assert few.more_days == math.ceil(few.more_answers * 5 / 300)
        assert f"about {few.more_days} more days" in few.sentence()
        first, second = worlds(Change(), 14, answers_a_run=60, **options)
        rng = np.random.default_rng(14)
        more = two_periods(Change(), rng, n_anchors=200, n_runs=5, answers_a_run=60 + few.more_answers // 5 + 1)[1]
        many = attributed(first, more, anchors_after=second.anchors, tolerance=0.12)
        assert (many.assistant.high - many.assistant.low) / 2 == pytest.approx(0.12, abs=0.012)

    def test_more_answers_never_help_where_the_anchors_are_too_few(self):
        """Fifteen anchors that each drift in their own way: anchors, not days."""
        found = attributed(*worlds(Change(judge_gain=0.1), 15, n_anchors=15), tolerance=0.05)
        assert (found.more_answers, found.more_days) == (None, None)
        found = attributed(*worlds(Change(judge_gain=0.1), 15, n_anchors=15, answers_a_run=1500), tolerance=0.1)
        assert found.more_anchors > 15

    def test_fewer_than_ten_anchors_are_refused(self):
        """The raw change stands, with its interval; of the rest there is a reason and no number."""
        first, second = worlds(Change(judge_gain=0.3), 16)
        found = attributed(first, second, anchors_before=first.anchors[:, :9], anchors_after=second.anchors[:, :9])
        assert (found.judge.estimate, found.assistant.estimate, found.mix.estimate) == (None, None, None)
        assert found.raw.low < 0.3 < found.raw.high
        assert (found.verdict, found.more_anchors) == ("undecided", 1)
        assert "9 anchors graded" in found.reason
        assert found.at_digits(2) is None
        assert found.sentence().endswith(found.reason)

    def test_few_anchors_carry_the_offset_only(self):
        """Twelve: no slope, and the method says so."""
        first, second = worlds(Change(judge_gain=0.4), 17)
        found = attributed(first, second, anchors_before=first.anchors[:, :12], anchors_after=second.anchors[:, :12])
        assert found.method.startswith("offset only: 12 anchors")
        assert found.judge.estimate is not None

    def test_answers_without_any_spread_have_no_interval(self):
        """None seen is not none there."""
        first, second = worlds(Change(), 18)
        found = attributed(first, second, before=np.full(len(first.scores), 4.1))
        assert (found.assistant.low, found.judge.low, found.df) == (None, None, None)
        assert "no spread" in found.reason
        assert found.verdict == "undecided"


class TestGiven:
    """What a caller hands in."""

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"before": [math.nan]}, "before holds no score"),
            ({"segments_before": None}, "or neither"),
            ({"scale": (5, 1)}, "low to high"),
            ({"level": 95}, "inside"),
            ({"tolerance": 0.0}, "positive"),
            ({"anchors_after": [[1.0] * 49]}, "one column per anchor"),
            ({"anchors_after": np.empty((0, 50))}, "runs by anchors"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, options, message):
        """Empty periods, half of the kinds, values out of range, other anchors."""
        first, second = worlds(Change(), 19)
        if "before" in options:
            options = options | {"clusters_before": None, "segments_before": ["easy"]}
        with pytest.raises(ValueError, match=message):
            attributed(first, second, **options)

    def test_unscored_answers_and_missing_anchors_are_left_out(self):
        """As if they had not been asked."""
        first, second = worlds(ALL_THREE, 20)
        holed = second.scores.copy()
        holed[::7] = math.nan
        kept = ~np.isnan(holed)
        anchors = second.anchors.copy()
        anchors[:, 3] = math.nan
        found = attributed(first, second, after=holed, anchors_after=anchors)
        without = attributed(
            first,
            second,
            after=second.scores[kept],
            segments_after=second.kinds[kept],
            clusters_after=second.conversations[kept],
            anchors_before=np.delete(first.anchors, 3, axis=1),
            anchors_after=np.delete(anchors, 3, axis=1),
        )
        assert (found.n_after, found.n_anchors) == (int(kept.sum()), 49)
        for name in SHARES:
            assert getattr(found, name).low == pytest.approx(getattr(without, name).low, rel=0.05, abs=0.005)
