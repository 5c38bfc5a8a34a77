"""How fast the page is: ``make bench-page``; ``--full`` adds ten million verdicts, ``--keep DIR`` keeps the databases.

Prints each query behind each page at its default choice, on databases of two sizes and more, beside its budget; ends
with 1 when one is missed.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from pathlib import Path

from benchmarks.page.database import build
from benchmarks.page.queries import clock_views, default_views, search_views

SMALL, MILLION, TEN_MILLION = 100_000, 1_000_000, 10_000_000
MOST_S = 0.100  # of a query, 95th percentile
MOST_SEARCH_S = 0.300
MOST_RATIO = 1.5  # to the small database
NEGLIGIBLE_S = 0.005  # a query below this is not compared: its ratio is that of the clock's noise


def main() -> int:
    """Print the table; 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description="How fast the page is.")
    parser.add_argument("--full", action="store_true", help="also ten million verdicts (some 20 GB, half an hour)")
    parser.add_argument("--keep", type=Path, help="keep the databases here, and use those that are there")
    parser.add_argument("--times", type=int, default=20, help="how often each page is run")
    arguments = parser.parse_args()
    # every page that runs without a server warns of it, a thousand times in all
    logging.disable(logging.WARNING)
    sizes = [MILLION, TEN_MILLION] if arguments.full else [MILLION]
    with tempfile.TemporaryDirectory() as folder:
        home = arguments.keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        good = [_report([_database(home, SMALL), _database(home, size)], size, arguments.times) for size in sizes]
    return 0 if all(good) else 1


def _database(home: Path, n_verdicts: int) -> Path:
    path = home / f"{n_verdicts}.db"
    if not path.exists():
        print(f"making {n_verdicts:,} verdicts", file=sys.stderr)
        unfinished = home / f"{n_verdicts}.unfinished.db"
        for left in home.glob(f"{unfinished.name}*"):
            left.unlink()
        build(unfinished, n_verdicts)
        unfinished.rename(path)  # the last connection that closed has folded its log into the file
    return path


def _report(databases: list[Path], n_verdicts: int, times: int) -> bool:
    small, large = clock_views(databases, default_views(), times=times)
    print(f"\n{n_verdicts:,} verdicts: 95th percentile of {times}; median beside that of {SMALL:,}")
    median, before = large.median(), small.median()
    good = [
        _line(": ".join(name), seconds, MOST_S, _ratio(median[name], before.get(name)))
        for name, seconds in sorted(large.p95().items())
    ]
    (searched,) = clock_views(databases[1:], search_views(), times=times)
    good += [
        _line(f"search for {page}: {name}", seconds, MOST_SEARCH_S, None)
        for (page, name), seconds in sorted(searched.p95().items())
    ]
    return all(good)


def _ratio(seconds: float, before: float | None) -> float | None:
    return seconds / before if before and seconds > NEGLIGIBLE_S else None


def _line(name: str, seconds: float, most: float, ratio: float | None) -> bool:
    good = seconds <= most and (ratio is None or ratio <= MOST_RATIO)
    shown = "" if ratio is None else f"{ratio:.2f} of small"
    print(f"{name:<52} {1000 * seconds:8.1f} ms  (at most {1000 * most:.0f})  {shown:<14} {'' if good else 'MISSED'}")
    return good


if __name__ == "__main__":
    raise SystemExit(main())
