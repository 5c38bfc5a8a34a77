"""What is simulated: the noise of the judges, the ways in which they change, and how much of each."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.stats.simulator import Change, Noise

NOISES = {
    "base": Noise(),
    "K20": Noise(n_anchors=20),
    "K200": Noise(n_anchors=200),
    "quiet": Noise(own_sd=0.012, day_sd=0.004, slip_rate=0.001),
    "noisy": Noise(own_sd=0.15, day_sd=0.06, slip_rate=0.01),
    "heavy": Noise(bad_day_rate=0.05),
    "ar1": Noise(day_correlation=0.5),
}

CHANGES = (
    Change(name="+0.05", kind="step", size=0.05),
    Change(name="+0.1", kind="step", size=0.1),
    Change(name="+0.2", kind="step", size=0.2),
    Change(name="+0.3", kind="step", size=0.3),
    Change(name="+0.5", kind="step", size=0.5),
    Change(name="-0.05", kind="step", size=-0.05),
    Change(name="-0.1", kind="step", size=-0.1),
    Change(name="-0.2", kind="step", size=-0.2),
    Change(name="creep 0.3/90", kind="creep", size=0.3, runs=90),
    Change(name="compr. to 4", kind="compression", size=0.25, target=4.0),
    Change(name="compr. to 3", kind="compression", size=0.25, target=3.0),
    Change(name="low end +0.3", kind="low_end", size=0.3),
    Change(name="noise x3", kind="noise", size=3.0, slip_factor=4.0),
    Change(name="one anchor", kind="broken_anchor", size=1.5),
)

DEFAULT_SEED = 20261201


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is simulated.

    Attributes:
        quiet: Streams without a change, of the base setting.
        quiet_runs: Runs watched in each.
        changed: Streams of each change, of the base setting.
        other: Share of both for every other setting.
        watched: Streams of each setting whose interval is watched for a year.
        dated: Streams of each step whose change date is looked at.
        days: Single days whose mean is corrected, of each case.
        periods: Pairs of periods that are attributed, of each case.
        noises: Settings that are run unless one is named.
    """

    quiet: int
    quiet_runs: int
    changed: int
    other: float
    watched: int
    dated: int
    days: int
    periods: int
    noises: tuple[str, ...] = tuple(NOISES)


SIZES = {
    "quick": Sizes(
        quiet=10, quiet_runs=2000, changed=20, other=0.5, watched=15, dated=20, days=60, periods=30,
        noises=("base", "ar1"),
    ),
    "default": Sizes(
        quiet=40, quiet_runs=2000, changed=60, other=0.5, watched=60, dated=60, days=300, periods=120
    ),
    "full": Sizes(quiet=100, quiet_runs=2000, changed=200, other=1.0, watched=200, dated=200, days=1000, periods=400),
}  # fmt: skip
