"""Lets ``python -m evaluator.cli`` stand for the command ``judgewatch``."""

from __future__ import annotations

from evaluator.cli import main

if __name__ == "__main__":
    main()
