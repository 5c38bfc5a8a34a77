"""Small frames and findings for chart tests, in the shapes that the queries return."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

import pandas as pd
import plotly.graph_objects as go

from evaluator.findings import AnchorRun, JudgeFinding, Shares
from tests.builders import plus_days


def traffic(
    means: Sequence[float | None],
    *,
    first_day: str = "2026-11-01",
    corrected: Sequence[float | None] | None = None,
    n: int = 40,
    changes: dict[int, dict[str, Any]] | None = None,
) -> pd.DataFrame:
    """Days with these means (None: not graded), +-0.2 around each; ``changes`` replaces cells by place."""
    rows = []
    for place, mean in enumerate(means):
        day = plus_days(first_day, place)
        fixed = None if corrected is None else corrected[place]
        row = {
            "day": day, "last_day": day, "n": n if mean is not None else 0, "n_unscored": 0, "mean": mean,
            "low": None if mean is None else mean - 0.2, "high": None if mean is None else mean + 0.2,
            "enough": mean is not None, "reasons": "", "finished": True, "corrected": fixed,
            "corrected_low": None if fixed is None else fixed - 0.3,
            "corrected_high": None if fixed is None else fixed + 0.3,
        }  # fmt: skip
        rows.append(row | (changes or {}).get(place, {}))
    frame = pd.DataFrame(rows)
    numbers = ["mean", "low", "high", "corrected", "corrected_low", "corrected_high"]
    return frame.astype(dict.fromkeys(numbers, "float64"))


def anchor_run(place: int, shift: float | None, **changes: Any) -> AnchorRun:
    """One run of 20 anchors, ``place`` days after 1 November."""
    day = plus_days("2026-11-01", place)
    fields: dict[str, Any] = {
        "run_id": f"run-{place}", "day": day, "slot_utc": f"{day}T06:00:00.000Z", "n": 20, "n_anchors": 20,
        "not_counted": "",
        "counted": True, "in_baseline": place < 2, "mean": 3.5, "shift": shift,
        "low": None if shift is None else shift - 0.1, "high": None if shift is None else shift + 0.1,
        "evidence": 0.3,
    }  # fmt: skip
    return cast("AnchorRun", fields | changes)


def judge(runs: Sequence[AnchorRun], **changes: Any) -> JudgeFinding:
    """A judge that moved by +0.31 on 4 November, with these runs."""
    fields: dict[str, Any] = {
        "state": "changed", "direction": "more generous", "estimate": 0.31, "low": 0.22, "high": 0.40,
        "method": "time-uniform", "n_anchors": 20, "n_runs": len(runs), "n_runs_counted": len(runs),
        "n_runs_after": 2, "since_day": "2026-11-04", "since_first_day": "2026-11-03",
        "since_last_day": "2026-11-05", "alarm_day": "2026-11-06", "evidence": 2.9, "threshold": 2.56,
        "learning_runs_left": 0, "first_alarm_day": "2026-11-03", "likely_cause": None, "runs": list(runs),
        "moved": [],
    }  # fmt: skip
    return cast("JudgeFinding", fields | changes)


def shares(**changes: Any) -> Shares:
    """+0.40, of which the judge has 0.31, the assistant 0.07 (could be zero), the mix 0.02."""
    fields: dict[str, Any] = {
        "before_first_day": "2026-09-01", "before_last_day": "2026-09-20", "after_first_day": "2026-10-12",
        "after_last_day": "2026-11-10", "n_before": 900, "n_after": 950, "raw_before": 3.81, "raw_after": 4.21,
        "raw": 0.40, "judge": 0.31, "judge_low": 0.22, "judge_high": 0.40, "assistant": 0.07,
        "assistant_low": -0.04, "assistant_high": 0.18, "mix": 0.02, "mix_low": None, "mix_high": None,
        "mix_key": "topic", "method": "linearised",
    }  # fmt: skip
    return cast("Shares", fields | changes)


def spec(figure: go.Figure) -> dict[str, Any]:
    """The figure as the browser gets it; refuses NaN and infinity, which are no JSON."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} in the figure")

    return cast("dict[str, Any]", json.loads(figure.to_json(), parse_constant=refuse))


def trace(figure: go.Figure, name: str) -> dict[str, Any]:
    """The trace of this name."""
    found = [trace for trace in spec(figure)["data"] if trace.get("name") == name]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} traces are called {name!r}")
    return cast("dict[str, Any]", found[0])
