"""A seeded judge with opinions: it gives whole scores, and only anchors near a boundary flip."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Drift = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


def whole_scores(
    seed: int,
    n_runs: int,
    *,
    change_at: int | None = None,
    drift: Drift = lambda opinion, _level: opinion,
    noise: tuple[float, float] = (1.0, 1.0),
    n_anchors: int = 50,
    missing_share: float = 0.02,
) -> NDArray[np.float64]:
    """Scores 1 to 5, runs by anchors, nan where missing.

    Args:
        seed: Of the random numbers.
        n_runs: Rows.
        change_at: First run in which the judge has drifted; never by default.
        drift: Makes new opinions of the old ones and the anchors' levels.
        noise: What the anchors' own noise is multiplied by before and after the change.
        n_anchors: Columns; levels 1 to 5 in turn.
        missing_share: Scores lost at random.
    """
    rng = np.random.default_rng(seed)
    level = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], n_anchors // 5 + 1)[:n_anchors]
    opinion = np.clip(level + rng.uniform(-0.45, 0.45, n_anchors) + rng.normal(0, 0.3, n_anchors), 0.6, 5.4)
    own_sd = 0.05 * np.exp(rng.normal(0, 0.6, n_anchors))
    shock, own = rng.normal(0, 0.03, (n_runs, 1)), rng.normal(0, 1, (n_runs, n_anchors))
    lost = rng.random((n_runs, n_anchors)) < missing_share
    changed = (np.arange(n_runs) >= (n_runs if change_at is None else change_at))[:, None]
    latent = np.where(changed, drift(opinion, level), opinion)
    latent = latent + shock + own * own_sd * np.where(changed, noise[1], noise[0])
    return np.where(lost, np.nan, np.clip(np.floor(latent + 0.5), 1, 5))
