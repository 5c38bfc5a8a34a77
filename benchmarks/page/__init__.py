"""How fast the page is on large databases: ``make bench-page``, or ``python -m benchmarks.page --help``."""
