"""Agreement of graders: published examples, an independent library, properties, coverage in simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.inter_rater import cohens_kappa

from evaluator.stats.agreement import intraclass_correlation, krippendorff_alpha, weighted_kappa

NA = np.nan
# Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, section D: four observers, twelve units
KRIPPENDORFF_2011 = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NA, NA, NA],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NA, 3],
    [NA, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NA],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NA],
])  # fmt: skip
# Shrout and Fleiss 1979, table 2: six targets, four judges
SHROUT_FLEISS_1979 = np.array([
    [9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7],
], dtype=float).T  # fmt: skip
levels = st.integers(1, 5).map(float)


def pairs_of(table: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two graders from the table of their joint counts."""
    counts = np.array(table)
    rows, columns = np.nonzero(counts)
    n = counts[rows, columns]
    return np.repeat(rows, n).astype(float), np.repeat(columns, n).astype(float)


@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
@pytest.mark.parametrize("table", [[[20, 5], [10, 15]], [[44, 5, 1], [7, 20, 3], [9, 5, 6]]])
def test_kappa_and_its_interval_are_those_of_statsmodels(table: list[list[int]], weights: str) -> None:
    """Value and large-sample bounds, for all three weights."""
    theirs = cohens_kappa(np.array(table), wt={"unweighted": None}.get(weights, weights))
    first, second = pairs_of(table)
    ours = weighted_kappa(first, second, weights=weights)
    assert ours.value == pytest.approx(theirs.kappa)
    assert (ours.low, ours.high) == pytest.approx((theirs.kappa_low, theirs.kappa_upp), abs=1e-6)
    assert ours.n == np.array(table).sum()


def test_kappa_of_a_two_by_two_table_by_hand() -> None:
    """Observed 0.7, by chance 0.5."""
    assert weighted_kappa(*pairs_of([[20, 5], [10, 15]]), weights="unweighted").value == pytest.approx(0.4)


def test_kappa_says_nothing_where_nothing_varies() -> None:
    """All scores the same: chance alone would agree as well."""
    found = weighted_kappa([3, 3, NA], [3, 3, 4])
    assert (found.value, found.low, found.n) == (None, None, 2)


def test_kappa_refuses_graders_of_different_length() -> None:
    """The counts stand in the message."""
    with pytest.raises(ValueError, match="3 and 2"):
        weighted_kappa([1, 2, 3], [1, 2])


@pytest.mark.parametrize(("metric", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(metric: str, value: float) -> None:
    """To the three digits printed there."""
    found = krippendorff_alpha(KRIPPENDORFF_2011, metric=metric)
    assert found.value == pytest.approx(value, abs=5e-4)
    assert (found.n, found.n_graders) == (11, 4)


def test_alpha_is_between_its_bounds_and_they_narrow_with_items() -> None:
    """Ten times the items, a third of the width."""
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, 1000).astype(float)
    scores = np.clip(truth + rng.integers(-1, 2, (3, 1000)), 1, 5)
    small = krippendorff_alpha(scores[:, :100], n_resamples=300)
    large = krippendorff_alpha(scores, n_resamples=300)
    for found in (small, large):
        assert found.low is not None
        assert found.high is not None
        assert found.value is not None
        assert found.low < found.value < found.high
    assert (large.high or 0) - (large.low or 0) < 0.5 * ((small.high or 0) - (small.low or 0))


@given(arrays(np.float64, (3, 8), elements=levels))
def test_alpha_does_not_depend_on_the_order_of_graders_or_items(scores: np.ndarray) -> None:
    """Only on which scores stand together; interval alpha does not change with shift and scale either."""
    plain = krippendorff_alpha(scores).value
    assert krippendorff_alpha(scores[::-1, ::-1]).value == (None if plain is None else pytest.approx(plain))
    interval = krippendorff_alpha(scores, metric="interval").value
    moved = krippendorff_alpha(scores * 25 - 10, metric="interval").value
    assert moved == (None if interval is None else pytest.approx(interval))


def test_icc_of_the_published_example() -> None:
    """Shrout and Fleiss print 0.29 for a single rating, judges random."""
    found = intraclass_correlation(SHROUT_FLEISS_1979)
    assert found.value == pytest.approx(0.29, abs=5e-3)
    # McGraw and Wong 1996 give this interval for the same table
    assert (found.low, found.high) == pytest.approx((0.019, 0.761), abs=2e-3)


def test_a_generous_grader_lowers_the_icc_and_not_the_correlation() -> None:
    """Agreement, not consistency."""
    items = np.arange(1.0, 21.0)
    same = intraclass_correlation(np.stack([items, items + 0.1 * (-1) ** items])).value
    generous = intraclass_correlation(np.stack([items, items + 5 + 0.1 * (-1) ** items])).value
    assert same is not None
    assert generous is not None
    assert same > 0.99 > 0.8 > generous


@pytest.mark.parametrize("scores", [[[3, 3], [3, 3]], [[1, 2, 3]], [[1], [2]]])
def test_icc_says_nothing_where_it_is_not_defined(scores: list[list[float]]) -> None:
    """Nothing varies, one grader, one item."""
    assert intraclass_correlation(scores).value is None


def test_icc_interval_covers_in_simulation() -> None:
    """True value 0.5 (items 1, graders 0.2, rest 0.8), 30 items, 4 graders: 95 % within simulation error."""
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(400):
        scores = rng.normal(0, 1, 30) + rng.normal(0, 0.2**0.5, (4, 1)) + rng.normal(0, 0.8**0.5, (4, 30))
        found = intraclass_correlation(scores)
        hits += found.low is not None and found.high is not None and found.low <= 0.5 <= found.high
    assert 0.92 <= hits / 400 <= 0.98
