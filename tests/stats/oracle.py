"""The detector, and what goes with it, as plain loops over numbers: slow, obvious, independent of the library."""

import math
from itertools import pairwise
from statistics import median

EFFECTS = (0.25, 2.25, 16.0)
PRIOR_RUNS = 4.0


def average(values):
    """Arithmetic mean."""
    return sum(values) / len(values)


def lag_one(values, floor):
    """Correlation of neighbours: bias removed, shrunk, kept in [0, 0.8]."""
    n, centre = len(values), average(values)
    squares = sum((v - centre) ** 2 for v in values) + PRIOR_RUNS * floor**2
    r = sum((a - centre) * (b - centre) for a, b in pairwise(values)) / squares
    r = r + (1 + 3 * r) / n
    variance = (1 - min(r * r, 0.9)) / n
    return min(max(r * 0.09 / (0.09 + variance), 0.0), 0.8)


def guarded_against(values, floor):
    """Correlation of neighbours, made up for what independent flips hide of a shock that lasts."""
    r = lag_one(values, floor)
    return r if r > 0.5 else r / (0.5 + r)


def bayes_factor(values, k, floor):
    """Evidence that the mean changed after the first k values, averaged over three prior effect sizes."""
    n, centre = len(values), average(values)
    difference = average(values[k:]) - average(values[:k])
    size = k * (n - k) / n
    squares = sum((v - centre) ** 2 for v in values) + PRIOR_RUNS * floor**2
    total = 0.0
    for g in EFFECTS:
        within = squares - size * difference**2 * size * g / (1 + size * g)
        total += (1 + size * g) ** -0.5 * (squares / within) ** ((n - 1 + PRIOR_RUNS) / 2)
    return total / len(EFFECTS)


def evidence(stream, n_reference, floor, window=250):
    """Evidence after every run from ``n_reference`` on."""
    clipped = clip(stream, n_reference, floor)
    out = []
    for n in range(n_reference + 1, len(clipped) + 1):
        guarded = guard(clipped[:n], guarded_against(clipped[: max(n_reference, n - 15)], floor))
        out.append(sum(bayes_factor(guarded, k, floor) for k in range(max(n_reference, n - window), n)))
    return out


def clip(stream, n_reference, floor):
    """Values after the reference, kept within four running standard deviations of the running mean."""
    values = list(stream[:n_reference])
    for new in stream[n_reference:]:
        centre = average(values)
        squares = sum((v - centre) ** 2 for v in values) + PRIOR_RUNS * floor**2
        reach = 4 * math.sqrt(squares / (len(values) - 1 + PRIOR_RUNS))
        values.append(min(max(new, centre - reach), centre + reach))
    return values


def guard(values, rho):
    """Values freed of their lag-1 correlation."""
    return [values[0]] + [(b - rho * a) / (1 - rho) for a, b in pairwise(values)]


def change_date(stream, n_reference, floor, threshold, level=0.95):
    """Most probable first run after the change, and the ends of the smallest set that holds ``level``."""
    crossed = [value >= threshold for value in evidence(stream, n_reference, floor)]
    n_at_alarm = n_reference + crossed.index(True) + 1
    clipped = clip(stream, n_reference, floor)
    rho = guarded_against(clipped[: max(n_reference, n_at_alarm - 15)], floor)
    rough = guard(clipped, rho)
    start = max(range(n_reference, n_at_alarm), key=lambda k: bayes_factor(rough, k, floor))
    guarded = guard(clip_around_both_levels(stream, clipped, start, n_reference, floor), rho)
    factors = {k: bayes_factor(guarded, k, floor) for k in range(n_reference, n_at_alarm)}
    chosen, mass = [], 0.0
    for k in sorted(factors, key=factors.get, reverse=True):
        if mass < level:
            chosen.append(k)
            mass += factors[k] / sum(factors.values())
    return chosen[0], min(chosen), max(chosen)


def clip_around_both_levels(stream, clipped, start, n_reference, floor):
    """Values with those from the change on, and clipped ones just before it, cut around the old and the new level."""
    while start > n_reference and clipped[start - 1] != stream[start - 1]:
        start -= 1
    old, new = average(clipped[:start]), median(stream[start:])
    squares = sum((v - old) ** 2 for v in clipped[:start]) + PRIOR_RUNS * floor**2
    reach = 4 * math.sqrt(squares / (start - 1 + PRIOR_RUNS))
    low, high = min(old, new) - reach, max(old, new) + reach
    return clipped[:start] + [min(max(v, low), high) for v in stream[start:]]


def level_radius(before, after, floor, alpha=0.05):
    """Half-width of the time-uniform interval for the difference of two levels."""
    k, m = len(before), len(after)
    n, size = k + m, k * m / (k + m)
    residual = [v - average(before) for v in before] + [v - average(after) for v in after]
    rho = guarded_against(residual, floor)
    guarded = guard(residual, rho)
    first = sum((v - average(guarded[:k])) ** 2 for v in guarded[:k])
    second = sum((v - average(guarded[k:])) ** 2 for v in guarded[k:])
    pooled = (first + second + PRIOR_RUNS * floor**2) / (n - 2 + PRIOR_RUNS)
    largest = max(pooled, (first + 4 * pooled) / (k + 3), (second + 4 * max(pooled, floor**2)) / (m + 3))
    ratio = (math.sqrt(1 + size) / alpha) ** (2 / (n - 1 + PRIOR_RUNS))
    if ratio >= 1 + size:
        return math.inf
    return math.sqrt((n - 2 + PRIOR_RUNS) * largest * (ratio - 1) / (size * (1 - ratio / (1 + size))))


def adjusted(p_values):
    """Benjamini and Hochberg: what q each hypothesis would still be rejected at."""
    ordered, found = sorted(p_values), []
    for p in p_values:
        rank = ordered.index(p) + 1
        found.append(min(1.0, *(ordered[k - 1] * len(ordered) / k for k in range(rank, len(ordered) + 1)), 1.0))
    return found
