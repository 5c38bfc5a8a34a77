"""One number per run: how far the anchors moved from their own baseline, compared anchor by anchor.

Missing anchors therefore do no harm: a run in which only the easy half was graded shows no rise. Whether a movement
is more than chance is not decided here but in ``detector``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.intervals import Interval
from evaluator.stats.numeric import BoolArray, FloatArray, IntArray, as_scores, check_level, mean_of_present, t_quantile

MIN_ANCHORS = 10
MIN_SHARE = 0.5
JOINING_RUNS = 10
MIN_REFERENCE_FOR_TODAY = 3
MIN_BESIDE = 5

BETWEEN_RUNS = "Student t between runs"
BETWEEN_RUNS_FLOOR = "Student t between runs, least spread assumed because the reference repeats exactly"
BETWEEN_ANCHORS = "Student t between anchors of this run; a shock common to the run is not covered"


@dataclass(frozen=True, kw_only=True, eq=False)
class RunShifts:
    """Shift of every run against the anchors' own baseline.

    Attributes:
        shift: Mean difference from the baseline, scale units, shape (R,); nan when no anchor can be compared.
        n: Anchors compared, shape (R,).
        n_asked: Anchors that should have been compared, shape (R,).
        sd: Spread of the differences between the anchors of the run, shape (R,); nan under two anchors.
        counted: Whether enough anchors were graded for the run to enter the statistics, shape (R,).
        anchor_mean: Each anchor's frozen baseline mean, shape (K,); nan when it has none yet.
        joined_at: First run in which the anchor is compared, shape (K,); 0 for the baseline's own anchors, R for
            anchors that have no baseline yet.
    """

    shift: FloatArray
    n: IntArray
    n_asked: IntArray
    sd: FloatArray
    counted: BoolArray
    anchor_mean: FloatArray
    joined_at: IntArray

    @property
    def stream(self) -> FloatArray:
        """The shifts of the counted runs, nan elsewhere: what the detector reads."""
        return np.where(self.counted, self.shift, np.nan)


def normalise(scores: npt.ArrayLike, scale: tuple[float, float]) -> FloatArray:
    """Map scores to 1..5 equivalents, the scale on which the statistics run; 1-5 stays as it is, bit by bit.

    Raises:
        ValueError: the scale's lowest score is not under its highest.
    """
    return (as_scores(scores) - scale[0]) * (4.0 / _width(scale)) + 1.0


def units_per_point(scale: tuple[float, float]) -> float:
    """Rubric units in one 1..5 equivalent point: what shifts and bounds are multiplied by to be shown."""
    return _width(scale) / 4.0


def _width(scale: tuple[float, float]) -> float:
    if not scale[0] < scale[1]:
        raise ValueError(f"scale must go from low to high, got {scale!r}")
    return scale[1] - scale[0]


def enough_anchors(n: npt.ArrayLike, n_asked: npt.ArrayLike) -> BoolArray:
    """Whether runs count: at least half of the anchors asked for, and at least ten, were graded.

    Args:
        n: Anchors graded, any shape.
        n_asked: Anchors asked for, same shape.
    """
    graded, asked = np.asarray(n), np.asarray(n_asked)
    return np.asarray((graded >= MIN_ANCHORS) & (graded >= MIN_SHARE * asked), dtype=np.bool_)


def run_shifts(
    scores: npt.ArrayLike,
    baseline_rows: slice | npt.ArrayLike,
    *,
    asked: npt.ArrayLike | None = None,
    joining_runs: int = JOINING_RUNS,
) -> RunShifts:
    """Compare every run with the baseline, anchor by anchor.

    An anchor without any score in the baseline joins later: its baseline is the mean of its first ``joining_runs``
    counted scores less the shift of the runs they come from, so that a judge who had moved by then is not taken for
    the norm.

    Args:
        scores: Anchor scores, runs by anchors, shape (R, K), in slot order; nan where there is none.
        baseline_rows: The pinned runs, a slice or a mask of shape (R,). Their anchor means never move.
        asked: Which anchors each run should have graded, shape (R, K); by default all that can be compared.
        joining_runs: Scores of its own that a late anchor needs before it is compared.

    Returns:
        Shifts, counts and baseline means; runs with fewer than ten anchors or under half of those asked for are
        computed but not counted.

    Raises:
        ValueError: scores not of two dimensions, an infinite score, an empty baseline or a mask of another shape.
    Assumes: one score per run and anchor; repeats were averaged before.
    """
    matrix = as_scores(scores)
    if matrix.ndim != 2:
        raise ValueError(f"scores must be runs by anchors, shape (R, K), got shape {matrix.shape}")
    asked_mask = np.ones(matrix.shape, dtype=np.bool_) if asked is None else np.asarray(asked, dtype=np.bool_)
    if asked_mask.shape != matrix.shape:
        raise ValueError(f"asked must have the shape of scores {matrix.shape}, got {asked_mask.shape}")
    n_runs = matrix.shape[0]
    anchor_mean, _ = mean_of_present(matrix[_row_mask(baseline_rows, n_runs)], axis=0)
    joined_at = np.where(np.isnan(anchor_mean), n_runs, 0).astype(np.int64)
    first = _compare(matrix, anchor_mean, joined_at, asked_mask)
    late = np.flatnonzero(np.isnan(anchor_mean))
    if not len(late):
        return first
    for anchor in late:
        own = np.flatnonzero(~np.isnan(matrix[:, anchor]) & first.counted)[:joining_runs]
        if len(own) == joining_runs:
            anchor_mean[anchor] = float((matrix[own, anchor] - first.shift[own]).mean())
            joined_at[anchor] = own[-1] + 1
    return _compare(matrix, anchor_mean, joined_at, asked_mask)


def today_interval(
    shifts: RunShifts,
    run: int,
    *,
    reference: npt.ArrayLike,
    floor_sd: float,
    level: float = 0.95,
    beside: npt.ArrayLike | None = None,
) -> Interval | None:
    """Interval for the shift of one run, good for one look.

    ``shift +- t * s * sqrt(1 + 1/n)`` with the spread between the n reference runs, which contains the shock that all
    anchors of a run share. With fewer than three reference runs the spread between the run's own anchors is used, and
    the method says what that leaves out.

    Args:
        shifts: What ``run_shifts`` returned.
        run: Index of the run, shape (R,) counting.
        reference: Mask of the reference runs, shape (R,); runs not counted and the run itself are left out.
        floor_sd: Least spread between runs, used where the reference repeats exactly (``detector.level_floor_sd``).
        level: Coverage, in (0, 1).
        beside: Mask of the runs of the same stretch, since the judge changed, shape (R,): a judge that moved is often
            more restless, so with five of them the larger of the two spreads counts.

    Returns:
        The interval; None when the run has no shift, or too few anchors or no spread for the fall-back.

    Raises:
        ValueError: level outside (0, 1), floor_sd not positive.
    """
    check_level(level)
    if not floor_sd > 0:
        raise ValueError(f"floor_sd must be positive, got {floor_sd!r}")
    mask = np.asarray(reference, dtype=np.bool_) & shifts.counted
    mask[run] = False
    known = shifts.shift[mask]
    if len(known) >= MIN_REFERENCE_FOR_TODAY:
        own = _runs_beside(shifts, run, beside)
        return _between_runs(float(shifts.shift[run]), known, floor_sd, level, own)
    return _between_anchors(float(shifts.shift[run]), float(shifts.sd[run]), int(shifts.n[run]), level)


def _row_mask(rows: slice | npt.ArrayLike, n_runs: int) -> BoolArray:
    mask = np.zeros(n_runs, dtype=np.bool_)
    if isinstance(rows, slice):
        mask[rows] = True
    else:
        given = np.asarray(rows)
        if given.dtype != np.bool_ or given.shape != mask.shape:
            raise ValueError(f"baseline_rows must be a slice or a boolean mask of shape ({n_runs},)")
        mask |= given
    if not mask.any():
        raise ValueError("the baseline holds no run")
    return mask


def _compare(matrix: FloatArray, anchor_mean: FloatArray, joined_at: IntArray, asked: BoolArray) -> RunShifts:
    runs = np.arange(matrix.shape[0])[:, None]
    comparable = ~np.isnan(anchor_mean)[None, :] & (runs >= joined_at[None, :])
    difference = np.where(comparable, matrix - anchor_mean, np.nan)
    shift, n = mean_of_present(difference, axis=1)
    squares = np.nansum((difference - shift[:, None]) ** 2, axis=1)
    n_asked = (comparable & asked).sum(axis=1).astype(np.int64)
    return RunShifts(
        shift=shift,
        n=n,
        n_asked=n_asked,
        sd=np.where(n >= 2, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan),
        counted=enough_anchors(n, n_asked),
        anchor_mean=anchor_mean.copy(),
        joined_at=joined_at.copy(),
    )


def _runs_beside(shifts: RunShifts, run: int, beside: npt.ArrayLike | None) -> FloatArray:
    """Shifts of the other counted runs of the same stretch; empty when there are too few to tell a spread."""
    if beside is None:
        return np.empty(0)
    mask = np.asarray(beside, dtype=np.bool_) & shifts.counted
    mask[run] = False
    own = shifts.shift[mask]
    return own if len(own) >= MIN_BESIDE else np.empty(0)


def _between_runs(shift: float, known: FloatArray, floor_sd: float, level: float, own: FloatArray) -> Interval | None:
    if np.isnan(shift):
        return None
    if len(own) and float(own.std(ddof=1)) > float(known.std(ddof=1)):
        known = own
    n = len(known)
    sd, method = float(known.std(ddof=1)), BETWEEN_RUNS
    # equal shifts differ by rounding only
    if sd <= 1e-9:
        sd, method = floor_sd, BETWEEN_RUNS_FLOOR
    half_width = float(t_quantile(n - 1, level)) * sd * float(np.sqrt(1 + 1 / n))
    return Interval(low=shift - half_width, high=shift + half_width, level=level, method=method)


def _between_anchors(shift: float, sd: float, n: int, level: float) -> Interval | None:
    if n < 2 or not sd > 1e-9:
        return None
    half_width = float(t_quantile(n - 1, level)) * sd / float(np.sqrt(n))
    return Interval(low=shift - half_width, high=shift + half_width, level=level, method=BETWEEN_ANCHORS)
