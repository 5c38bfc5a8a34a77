"""What the tests of rechecks share: files of stored scores, a judge that looks its scores up, a configuration."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evaluator.clock import utc_text
from evaluator.config import Config, parse_config
from evaluator.records import Item

FIRST = datetime(2026, 8, 1, 9, tzinfo=UTC)
NOW = datetime(2026, 12, 1, 8, tzinfo=UTC)
N_DAYS = 90


class SetClock:
    """A clock that moves on by a minute whenever it is asked."""

    def __init__(self, instant: datetime = NOW) -> None:
        self.instant = instant

    def now(self) -> datetime:
        """The next minute."""
        self.instant += timedelta(minutes=1)
        return self.instant


def by_number(item: Item) -> dict[str, Any]:
    """Give answer N the score that ``now.json`` in the working folder has for it; note the call beside it."""
    with Path("calls.txt").open("a", encoding="utf-8") as file:
        file.write(item.output + "\n")
    score = json.loads(Path("now.json").read_text("utf-8"))[item.output.rsplit(" ", 1)[-1]]
    return {"score": score, "reasoning": f"looked up: {score}"}


def broken(item: Item) -> float:
    """A judge whose key is refused, say."""
    raise RuntimeError(f"cannot grade {len(item.output)} characters")


def stored_rows(
    n: int, *, score: Callable[[int], Any] = lambda number: 1 + number % 5, **fields: Any
) -> list[dict[str, Any]]:
    """Stored scores of answers 0 to n - 1, evenly over ninety days."""
    return [
        {
            "id": f"own-{number}",
            "input": f"question {number}",
            "output": f"answer {number}",
            "score": score(number),
            "graded_at": utc_text(FIRST + timedelta(days=N_DAYS * number / max(1, n - 1))),
            "judge": "gpt",
            **fields,
        }
        for number in range(n)
    ]


def write_rows(rows: Sequence[dict[str, Any]], path: Path = Path("scores.jsonl")) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def write_now(scores: dict[str, float], path: Path = Path("now.json")) -> None:
    """What the judge gives each answer now, by its number."""
    path.write_text(json.dumps(scores), "utf-8")


def is_old(number: int, n: int) -> bool:
    """Whether answer ``number`` of n lies in the first third of the period."""
    return number <= (n - 1) / 3


def moved_world(n: int = 300, *, n_up: int = 3) -> Path:
    """Stored scores of a judge that has become more generous: one old answer in ``n_up`` gets a point more now."""
    rows = stored_rows(n, score=lambda number: 1 + number % 4)
    write_now({str(k): row["score"] + (is_old(k, n) and k % n_up == 0) for k, row in enumerate(rows)})
    return write_rows(rows)


def config(folder: Path, **sections: Any) -> Config:
    """A configuration whose judge looks its scores up."""
    values: dict[str, Any] = {
        "app": {"name": "shop"},
        "judge": {"model": "lookup", "function": "python:tests.recheck_world:by_number"},
    }
    for name, changes in sections.items():
        values[name] = {**values.get(name, {}), **changes}
    return parse_config(values, folder=folder, name="judgewatch.toml")


def n_calls(path: Path = Path("calls.txt")) -> int:
    """How often the judge was called."""
    return len(path.read_text("utf-8").splitlines()) if path.exists() else 0
