"""The evidence that a stream of run statistics changed: Bayes factors of every possible date, and their sum.

For every candidate change k the runs before and after it are compared by a t Bayes factor whose law does not depend
on the unknown mean and spread; their sum over k is a Shiryaev-Roberts e-detector, which reaches a threshold A on
average no sooner than after A quiet runs. No calibration table, no plug-in baseline, and the reference grows with
every quiet run. Thresholds, alarms and estimates are ``detector``'s.

Sources: Shin, Ramdas and Rinaldo, E-detectors, arXiv 2203.03532 (sums over start times); Wang and Ramdas, arXiv
2310.03722 (mixtures over effect sizes with unknown variance).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.stats.numeric import FloatArray, IntArray, check_level

MIN_REFERENCE_RUNS = 10
LARGEST_CORRELATION = 0.8

_SMALLEST_FLOOR = 1e-6
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, kw_only=True)
class DetectorSettings:
    """Constants of the method; the defaults are the ones whose false-alarm rates were measured.

    Attributes:
        effect_variances: Prior variances g of the change, in units of the variance between runs; averaged.
        prior_runs: Weight of the floor in pseudo-runs: a reference that repeats exactly is not taken at its word.
        clip_sd: Values enter at most this many running standard deviations from the running mean, so that one freak
            run never alarms alone.
        window: Candidate changes looked back on, in runs.
        autocorrelation_sd: Prior spread of the lag-1 correlation; 0 switches the guard off.
        shock_correlation: Least correlation, from one run to the next, of whatever makes a series correlated at all.
        left_out: Youngest runs left out of the correlation estimate, because a young shift looks like correlation.
    """

    effect_variances: tuple[float, ...] = (0.25, 2.25, 16.0)
    prior_runs: float = 4.0
    clip_sd: float = 4.0
    window: int = 250
    autocorrelation_sd: float = 0.3
    shock_correlation: float = 0.5
    left_out: int = 15


DEFAULT_SETTINGS = DetectorSettings()


@dataclass(frozen=True, kw_only=True)
class ChangeDate:
    """When the stream changed: index of the first run after the change, and the 95 % posterior set around it."""

    index: int
    low: int
    high: int
    level: float = 0.95


def shrunk_autocorrelation(
    values: FloatArray, *, floor_sd: float, settings: DetectorSettings = DEFAULT_SETTINGS
) -> float:
    """Lag-1 correlation, corrected for small samples, shrunk to zero and kept in [0, 0.8].

    Args:
        values: Run statistics in order, shape (n,).
        floor_sd: Least spread of the stream, as in ``detect``.
        settings: Constants of the method.

    Source: bias of the sample correlation, Kendall, Biometrika 41, 1954: about -(1 + 3 r)/n.
    """
    n = len(values)
    if n < 2 or settings.autocorrelation_sd <= 0:
        return 0.0
    centred = values - values.mean()
    squares = float(centred @ centred) + settings.prior_runs * floor_sd**2
    r = float(centred[1:] @ centred[:-1]) / squares
    r += (1 + 3 * r) / n
    prior = settings.autocorrelation_sd**2
    r *= prior / (prior + (1 - min(r * r, 0.9)) / n)
    return min(max(r, 0.0), LARGEST_CORRELATION)


def guarding_correlation(
    values: FloatArray, *, floor_sd: float, settings: DetectorSettings = DEFAULT_SETTINGS
) -> float:
    """Correlation that a series has to be freed of so that its averages vary as much as they really do.

    A shock common to a run's anchors may carry over to the next runs while their own flips do not. The flips hide part
    of the shock's correlation phi between neighbours, but not how long it lasts: a series with lag-1 correlation r
    then has ``1 + 2 r/(1 - phi)`` times the long-run variance of independent runs, as much as an autoregressive one of
    correlation ``r/(1 - phi + r)``. The larger of r and ``settings.shock_correlation`` stands for phi.

    Args:
        values: Run statistics in order, shape (n,).
        floor_sd: Least spread of the stream, as in ``detect``.
        settings: Constants of the method.
    """
    r = shrunk_autocorrelation(values, floor_sd=floor_sd, settings=settings)
    return min(r / (1 - max(settings.shock_correlation, r) + r), LARGEST_CORRELATION)


def log_bayes_factors(
    values: FloatArray, candidates: IntArray, *, floor_sd: float, settings: DetectorSettings = DEFAULT_SETTINGS
) -> FloatArray:
    """Log Bayes factor of "changed after the first k values" against "never changed", for every k.

    With N = k(n-k)/n, D the difference of the two means, S the total sum of squares plus nu0 floor^2, and averaged
    over g: ``(1 + N g)^(-1/2) * [S / (S - N D^2 N g/(1 + N g))]^((n - 1 + nu0)/2)``.

    Args:
        values: Run statistics in order, shape (n,).
        candidates: Values k before the change, 0 < k < n, shape (m,).
        floor_sd: Least spread of the stream.
        settings: Constants of the method.

    Returns:
        Natural logarithms, shape (m,).
    """
    n = len(values)
    centred = values - values.mean()
    total_squares = float(centred @ centred) + settings.prior_runs * floor_sd**2
    size = candidates * (n - candidates) / n
    # with centred values the sum before the change fixes the sum after it: N D^2 = (sum before)^2 / N
    explained = np.cumsum(centred)[candidates - 1] ** 2 / size / total_squares
    spread = size[:, None] * np.asarray(settings.effect_variances)[None, :]
    exponent = 0.5 * (n - 1 + settings.prior_runs)
    logs = -0.5 * np.log1p(spread) - exponent * np.log1p(-explained[:, None] * spread / (1 + spread))
    return _log_sum(logs, axis=1) - math.log(len(settings.effect_variances))


class EvidenceStream:
    """The e-detector on one stream, one value at a time; ``detect`` replays a whole history through it.

    Args:
        reference: Values of the counted reference runs, at least ten, shape (B,).
        floor_sd: Least spread of the stream, > 0, in its own units.
        settings: Constants of the method.

    Raises:
        ValueError: too short a reference, a value that is not finite, or no floor.
    """

    def __init__(
        self, reference: npt.ArrayLike, *, floor_sd: float, settings: DetectorSettings = DEFAULT_SETTINGS
    ) -> None:
        start = np.asarray(reference, dtype=np.float64)
        if len(start) < MIN_REFERENCE_RUNS:
            raise ValueError(f"the reference needs at least {MIN_REFERENCE_RUNS} counted runs, got {len(start)}")
        if not np.isfinite(start).all():
            raise ValueError("reference values must be finite")
        if not floor_sd >= _SMALLEST_FLOOR:
            raise ValueError(f"floor_sd must be at least {_SMALLEST_FLOOR:g}, got {floor_sd!r}")
        self._settings = settings
        self._floor_sd = floor_sd
        self._n_reference = len(start)
        # centring on the reference keeps sums of squares exact, wherever on the scale the stream lies
        self._centre = float(start.mean())
        self._values = np.concatenate([start - self._centre, np.empty(len(start) + 64)])
        self._unclipped = self._values.copy()
        self._n = len(start)
        self._sum = float(self._values[: self._n].sum())
        self._squares = float((self._values[: self._n] ** 2).sum())
        self.autocorrelation = self._estimate_autocorrelation()
        self.last_was_clipped = False

    @property
    def n(self) -> int:
        """Values seen, reference included."""
        return self._n

    def update(self, value: float) -> float:
        """Take in the value of the next counted run and return the log of the evidence after it.

        Raises:
            ValueError: a value that is not finite.
        """
        self.take_in(value)
        first = max(self._n_reference, self._n - self._settings.window)
        logs = self._log_factors(self._values[: self._n], np.arange(first, self._n), self.autocorrelation)
        return float(_log_sum(logs, axis=0))

    def take_in(self, value: float) -> None:
        """Take in a value without weighing the evidence: what a date alone needs.

        Raises:
            ValueError: a value that is not finite.
        """
        if not math.isfinite(value):
            raise ValueError(f"stream values must be finite, got {value!r}; leave out runs that do not count")
        self._append(value - self._centre)
        self.autocorrelation = self._estimate_autocorrelation()

    def change_date(self, n_at_alarm: int, autocorrelation: float, *, level: float = 0.95) -> ChangeDate:
        """Date the change behind an alarm, by all values up to now.

        The posterior of a candidate is its Bayes factor over the sum; only candidates that were there when the alarm
        fired can explain it. The correlation is the one of the alarm: the shift itself would pass for correlation
        later on.

        Clipping hides the first runs of a large change: cut to four standard deviations from the old level they look
        more like it than like the new one. So a first date is found, and from it on, with the clipped runs just
        before it, values are kept within reach of either level before the date is settled. A single freak run
        elsewhere stays clipped as it entered, and does not draw the date towards itself.

        Args:
            n_at_alarm: Values seen when the alarm fired.
            autocorrelation: ``autocorrelation`` at that time.
            level: Mass of the posterior set, in (0, 1).
        """
        check_level(level)
        first = max(self._n_reference, n_at_alarm - self._settings.window)
        candidates = np.arange(first, n_at_alarm)
        rough = self._log_factors(self._values[: self._n], candidates, autocorrelation)
        values = self._clipped_around_both_levels(int(candidates[np.argmax(rough)]))
        logs = self._log_factors(values, candidates, autocorrelation)
        posterior = np.exp(logs - _log_sum(logs, axis=0))
        order = np.argsort(-posterior, kind="stable")
        n_needed = int(np.searchsorted(np.cumsum(posterior[order]), level)) + 1
        chosen = candidates[order[:n_needed]]
        return ChangeDate(index=int(chosen[0]), low=int(chosen.min()), high=int(chosen.max()), level=level)

    def _clipped_around_both_levels(self, change: int) -> FloatArray:
        """Values for the date: from about ``change`` on, clipped around the old level and the new one."""
        unclipped, values = self._unclipped[: self._n], self._values[: self._n].copy()
        while change > self._n_reference and unclipped[change - 1] != values[change - 1]:
            change -= 1
        before = values[:change]
        mean = float(before.mean())
        # the median: a freak run among the few new ones must not pass for their level
        levels = (mean, float(np.median(unclipped[change:])))
        reach = self._reach(change, float(((before - mean) ** 2).sum()))
        values[change:] = np.clip(unclipped[change:], min(levels) - reach, max(levels) + reach)
        return values

    def _reach(self, n: int, squares: float) -> float:
        """How far from the mean of n values, with their sum of squares about it, a value may lie."""
        prior = self._settings.prior_runs
        return self._settings.clip_sd * math.sqrt((squares + prior * self._floor_sd**2) / (n - 1 + prior))

    def _append(self, value: float) -> None:
        mean = self._sum / self._n
        reach = self._reach(self._n, max(self._squares - self._n * mean**2, 0.0))
        clipped = min(max(value, mean - reach), mean + reach)
        self.last_was_clipped = clipped != value
        if self._n == len(self._values):
            self._values = np.concatenate([self._values, np.empty(self._n)])
            self._unclipped = np.concatenate([self._unclipped, np.empty(self._n)])
        self._values[self._n], self._unclipped[self._n] = clipped, value
        self._n += 1
        self._sum += clipped
        self._squares += clipped**2

    def _estimate_autocorrelation(self) -> float:
        known = self._values[: max(self._n_reference, self._n - self._settings.left_out)]
        return guarding_correlation(known, floor_sd=self._floor_sd, settings=self._settings)

    def _log_factors(self, values: FloatArray, candidates: IntArray, autocorrelation: float) -> FloatArray:
        guarded = values
        if autocorrelation > 0:
            guarded = values.copy()
            guarded[1:] = (values[1:] - autocorrelation * values[:-1]) / (1 - autocorrelation)
        return log_bayes_factors(guarded, candidates, floor_sd=self._floor_sd, settings=self._settings)


def from_log(log_evidence: float) -> float:
    """Turn a log evidence into a finite number: what exceeds floats is cut, its meaning is the same."""
    return math.exp(min(log_evidence, _LARGEST_EXPONENT))


def _log_sum(logs: FloatArray, axis: int) -> FloatArray:
    """Log of the sum of exponentials."""
    top = logs.max(axis=axis, keepdims=True)
    total = np.log(np.exp(logs - top).sum(axis=axis)) + np.squeeze(top, axis=axis)
    return np.asarray(total, dtype=np.float64)
