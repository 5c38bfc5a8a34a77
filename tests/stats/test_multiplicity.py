"""Many looks: adjusted p-values, shares of one threshold, and what stands out together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evaluator.stats.multiplicity import benjamini_hochberg, evidence_needed, holm, suspects
from tests.stats import oracle
from tests.stats.simulate import PROPERTY

# Benjamini and Hochberg, 1995, section 3.2: fifteen hypotheses about myocardial infarction
PUBLISHED = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
    *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


class TestPValues:
    """Tables of one day."""

    def test_published_example_rejects_the_published_four(self):
        """And Holm's method, which the paper's Bonferroni-type procedures stand for, the first three."""
        assert (benjamini_hochberg(PUBLISHED) <= 0.05).tolist() == [True] * 4 + [False] * 11
        assert (holm(PUBLISHED) <= 0.05).tolist() == [True] * 3 + [False] * 12

    @PROPERTY
    @given(P_VALUES)
    def test_agrees_with_statsmodels(self, p_values):
        """Both methods; ties, zeros and ones included."""
        np.testing.assert_allclose(benjamini_hochberg(p_values), multipletests(p_values, method="fdr_bh")[1])
        np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1])

    @PROPERTY
    @given(P_VALUES)
    def test_agrees_with_plain_loops(self, p_values):
        """The definition: the least of p m / rank over all ranks from one's own up."""
        np.testing.assert_allclose(benjamini_hochberg(p_values), oracle.adjusted(p_values), atol=1e-12)

    @PROPERTY
    @given(P_VALUES)
    def test_holm_asks_for_more_than_benjamini_hochberg(self, p_values):
        """No false find at all is the stronger promise."""
        assert (holm(p_values) >= benjamini_hochberg(p_values) - 1e-12).all()

    @pytest.mark.parametrize(("adjust", "expected"), [(benjamini_hochberg, [0.04, 0.04]), (holm, [0.04, 0.04])])
    def test_untested_segments_do_not_count_as_looks(self, adjust, expected):
        """nan stays nan and costs the others nothing."""
        found = adjust([0.02, math.nan, 0.04])
        assert found[[0, 2]] == pytest.approx(expected)
        assert np.isnan(found[1])
        assert adjust([]).shape == (0,)

    @pytest.mark.parametrize("adjust", [benjamini_hochberg, holm])
    def test_impossible_p_value_is_refused(self, adjust):
        """More than certain."""
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            adjust([0.5, 1.2])


class TestEvidence:
    """Streams watched for years."""

    def test_shares_of_one_threshold(self):
        """A stream with a tenth of the budget needs ten times the evidence."""
        assert evidence_needed(365.0, [0.5, 0.1]) == pytest.approx([730.0, 3650.0])

    @pytest.mark.parametrize(("threshold", "weights"), [(0.0, [0.5]), (365.0, [0.7, 0.4]), (365.0, [0.0])])
    def test_shares_that_are_none_are_refused(self, threshold, weights):
        """No threshold, more than the whole budget, nothing of it."""
        with pytest.raises(ValueError, match="positive"):
            evidence_needed(threshold, weights)

    def test_two_that_stand_out_together_need_half_each(self):
        """Neither has 100, both have 50; the third is named with neither."""
        assert suspects([60.0, 55.0, 20.0], threshold=100.0).tolist() == [True, True, False]
        assert suspects([60.0, 45.0, 20.0], threshold=100.0).tolist() == [False, False, False]

    def test_nothing_known_is_no_evidence(self):
        """nan, and no stream at all."""
        assert suspects([math.nan, 200.0], threshold=100.0).tolist() == [False, True]
        assert suspects([], threshold=100.0).shape == (0,)

    @PROPERTY
    @given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.floats(1, 1e5))
    def test_agrees_with_the_definition_and_holds_every_alarm(self, evidence, threshold):
        """The largest m such that m of them have threshold / m; one with the whole threshold is always there."""
        sizes = [m for m in range(1, len(evidence) + 1) if sum(e >= threshold / m for e in evidence) >= m]
        needed = threshold / max(sizes) if sizes else math.inf
        found = suspects(evidence, threshold=threshold)
        assert found.tolist() == [e >= needed for e in evidence]
        assert all(found[place] for place, e in enumerate(evidence) if e >= threshold)

    def test_no_threshold_is_refused(self):
        """Everything would stand out."""
        with pytest.raises(ValueError, match="threshold"):
            suspects([1.0], threshold=0.0)
