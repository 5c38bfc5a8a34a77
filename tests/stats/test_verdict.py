"""What is said of a change that was split: words, looks and verdicts from numbers by hand."""

import pytest

from evaluator.stats.verdict import Attribution, Share, decide, look_of


def share(estimate, half, tolerance=0.1):
    """A share with a symmetric interval and its look."""
    low, high = estimate - half, estimate + half
    return Share(estimate=estimate, low=low, high=high, look=look_of(low, high, tolerance))


def attribution(**changes):
    """The example of the first screen: a judge that became more generous."""
    values = {
        "raw": share(0.40, 0.06),
        "judge": share(0.311, 0.09),
        "assistant": share(0.072, 0.11),
        "mix": share(0.017, 0.03),
        "verdict": "judge",
        "more_answers": 900,
        "more_days": 4,
        "more_anchors": 30,
        "more_together": False,
        "n_before": 4000,
        "n_after": 2000,
        "n_clusters": 1500,
        "n_anchors": 60,
        "df": 58.0,
        "level": 0.95,
        "tolerance": 0.1,
        "method": "affine",
        "reason": None,
    }
    return Attribution(**(values | changes))


class TestSentence:
    """Plain words."""

    def test_tells_each_share_with_its_interval_and_what_that_shows(self):
        """The example that the product promises."""
        assert attribution().sentence() == (
            "of +0.40, the judge accounts for +0.31, between 0.22 and 0.40; the assistant for +0.07, between −0.04 and"
            " 0.18 (no change shown); a changed mix of questions for +0.02, between −0.01 and 0.05 (steady)"
        )

    def test_undecided_ends_with_what_it_takes(self):
        """Days or anchors, each in the singular where it is one."""
        found = attribution(verdict="undecided", more_days=1)
        assert found.sentence().endswith(". Cannot tell yet: it takes about 1 more day or 30 more anchors")
        assert (
            attribution(verdict="undecided", more_days=None, more_anchors=None).sentence().endswith(". Cannot tell yet")
        )

    def test_numbers_have_real_minus_signs_and_no_negative_zero(self):
        """A share that rounds to zero has no sign."""
        found = attribution(raw=share(-0.4, 0.1), judge=share(-0.4, 0.1), assistant=share(-0.001, 0.0),
                            mix=Share(estimate=0.001, low=None, high=None, look="not looked at"))  # fmt: skip
        assert found.sentence() == (
            "of −0.40, the judge accounts for −0.40, between −0.50 and −0.30; the assistant for 0.00, between 0.00 and"
            " 0.00 (steady)"
        )

    def test_without_intervals_it_says_so(self):
        """A number alone is not a finding."""
        bare = Share(estimate=0.3, low=None, high=None, look="cannot tell yet")
        assert "the judge accounts for +0.31, between" in attribution().sentence()
        assert "+0.30 (no interval)" in attribution(raw=share(0.389, 0.1), judge=bare).sentence()

    def test_an_unknown_raw_change_is_no_number_either(self):
        """One period without a mean."""
        unknown = Share(estimate=None, low=None, high=None, look="cannot tell yet")
        found = attribution(raw=unknown, judge=unknown, assistant=unknown, mix=unknown, reason="3 anchors graded")
        assert found.sentence() == (
            "of an unknown change, nothing can be said of judge and assistant: 3 anchors graded"
        )


class TestAtDigits:
    """What is printed adds up."""

    def test_shares_add_up_at_any_number_of_digits(self):
        """The largest remainder takes what is missing."""
        two, one = attribution().at_digits(2), attribution().at_digits(1)
        assert (two.raw, two.judge, two.assistant, two.mix) == (0.4, 0.31, 0.07, 0.02)
        assert (one.raw, one.judge, one.assistant, one.mix) == (0.4, 0.3, 0.1, 0.0)

    def test_negative_digits_are_refused(self):
        """Nobody means tens."""
        with pytest.raises(ValueError, match="digits"):
            attribution().at_digits(-1)


class TestDecide:
    """Whose it is."""

    STEADY, WIDE = share(0.01, 0.04), share(0.03, 0.2)
    UP, DOWN = share(0.4, 0.1), share(-0.4, 0.1)
    WAITING = Share(estimate=0.15, low=0.01, high=0.29, look="cannot tell yet")

    @pytest.mark.parametrize(
        ("judge", "assistant", "mix", "verdict"),
        [
            (UP, STEADY, STEADY, "judge"),
            (UP, WIDE, STEADY, "judge"),
            (STEADY, DOWN, STEADY, "assistant"),
            (UP, DOWN, UP, "both"),
            (STEADY, STEADY, DOWN, "mix"),
            (STEADY, STEADY, STEADY, "nothing"),
            (STEADY, share(0.06, 0.09), STEADY, "nothing"),
            (STEADY, WIDE, STEADY, "undecided"),
            (WIDE, STEADY, STEADY, "undecided"),
            (STEADY, WAITING, STEADY, "undecided"),
            (UP, WAITING, STEADY, "judge"),
        ],
    )
    def test_follows_the_looks_of_the_shares(self, judge, assistant, mix, verdict):
        """Nothing means: narrow enough to have shown what matters."""
        assert decide(judge, assistant, mix, tolerance=0.1) == verdict

    def test_a_raw_change_that_nobody_accounts_for_is_undecided(self):
        """Each share might be zero, their sum is not."""
        narrow = share(0.08, 0.09)
        assert decide(narrow, narrow, self.STEADY, tolerance=0.1, raw=self.UP) == "undecided"
        assert decide(narrow, narrow, self.STEADY, tolerance=0.1) == "nothing"
