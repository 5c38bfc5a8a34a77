"""The verdict in words and the few numbers below it, from an analysis or, before the first one, from the totals.

No Streamlit here: what to say, not how it looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dashboard import mean_queries, queries
from dashboard.scope import Scope
from dashboard.wording import bounds, change, cost, count, counted, number, reasons
from dashboard.wording import day as day_text
from dashboard.wording import days as days_text
from evaluator.findings import Shares

Tone = Literal["quiet", "unknown", "look"]
Arrow = Literal["up", "down", "off"]


@dataclass(frozen=True, kw_only=True)
class Words:
    """The verdict: headline, sentences in order, tone."""

    headline: str
    sentences: list[str]
    tone: Tone


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One number with its name, its change, a remark, and one line of help."""

    label: str
    value: str
    help: str
    change: str = ""
    arrow: Arrow = "off"
    remark: str = ""


def verdict_words(scope: Scope, period: tuple[str, str]) -> Words:
    """The analysis's own words, unless no answer has a score; before the first analysis, that the judge is learnt."""
    findings = scope.findings
    if findings is None or findings["tone"] == "unknown":
        failed = _all_failed(scope, period)
        if failed is not None:
            return failed
    if findings is None:
        return Words(
            headline="Learning how this judge scores",
            sentences=[
                "The raw scores are below.",
                "Whether the judge or the assistant moved is worked out at the end of each finished run.",
            ],
            tone="unknown",
        )
    return Words(headline=findings["headline"], sentences=list(findings["sentences"]), tone=findings["tone"])


def _all_failed(scope: Scope, period: tuple[str, str]) -> Words | None:
    """What to say when there are verdicts on answers and none has a score."""
    days = mean_queries.traffic_days(scope.key, scope.setup, *period)
    n_unscored = int(days["n_unscored"].sum())
    if not n_unscored or int(days["n"].sum()):
        return None
    return Words(
        headline="No score yet: every verdict failed",
        sentences=[
            f"0 of {counted(n_unscored, 'graded answer')} have a score: {reasons_of(scope, period)}.",
            "Next step: read the cause on the page Runs, mend it, then `judgewatch run once`.",
        ],
        tone="look",
    )


def reasons_of(scope: Scope, period: tuple[str, str]) -> str:
    """Why answers of a period have no score, with counts."""
    found: dict[str, int] = {}
    for row in mean_queries.unscored(scope.key, scope.setup, *period):
        found[row["unscored_reason"]] = found.get(row["unscored_reason"], 0) + row["n"]
    return reasons(found)


def tiles(scope: Scope, period: tuple[str, str]) -> list[Tile]:
    """The numbers of the first screen, in order."""
    findings = scope.findings
    shares = findings["shares"] if findings is not None else None
    first = _share_tiles(shares) if shares is not None else [_raw_tile(scope, period)]
    if scope.is_imported:
        return [*first, _stored_tile(scope, period)]
    return [*first, _graded_tile(scope, period), _cost_tile(scope)]


def _share_tiles(shares: Shares) -> list[Tile]:
    """Raw, corrected and the judge's part; the printed numbers add up, since each is taken at two digits."""
    raw_after, raw, judge = (round(value, 2) for value in (shares["raw_after"], shares["raw"], shares["judge"]))
    before = days_text(shares["before_first_day"], shares["before_last_day"])
    after = days_text(shares["after_first_day"], shares["after_last_day"])
    return [
        Tile(
            label="Raw score",
            value=number(raw_after),
            change=change(raw),
            arrow=_arrow(raw),
            help=f"Mean score of {after} (n {shares['n_after']:,}), as the judge gave it; the change is against"
            f" {before} (n {shares['n_before']:,}). Intervals: the chart of where it comes from.",
        ),
        Tile(
            label="Corrected score",
            value=number(round(raw_after - judge, 2)),
            change=change(round(raw - judge, 2)),
            arrow=_arrow(round(raw - judge, 2)),
            help="As the baseline judge would have scored: the raw score with the judge's own move taken out.",
        ),
        Tile(
            label="Judge's share",
            value=change(judge),
            remark=bounds(shares["judge_low"], shares["judge_high"]),
            help="What the judge's move adds to this mean: raw less corrected, with its interval. It depends on how"
            " good the answers are, so it need not be the move on the anchors.",
        ),
    ]


def _arrow(value: float) -> Arrow:
    return "up" if value > 0 else "down" if value < 0 else "off"


def _raw_tile(scope: Scope, period: tuple[str, str]) -> Tile:
    means = mean_queries.segment_means(scope.key, scope.setup, *period)
    own = means[means["segment_id"] == queries.everything(scope.key, scope.app)]
    label, text = "Raw score", f"Mean score of {days_text(*period)}, as the judge gave it, with its 95 % interval."
    if own.empty or own["mean"].isna().all():
        return Tile(label=label, value="–", remark="no scores", help=text)
    row = own.iloc[0]
    known = row["low"] == row["low"]
    remark = bounds(row["low"], row["high"]) if known else "no interval yet"
    return Tile(label=label, value=number(row["mean"]), remark=f"n {count(int(row['n']))} {remark}", help=text)


def _graded_tile(scope: Scope, period: tuple[str, str]) -> Tile:
    days = mean_queries.traffic_days(scope.key, scope.setup, *period)
    graded = days[days["n"] + days["n_unscored"] > 0]
    text = "Answers of the newest day that have a score; the target is what the sample planned."
    if graded.empty:
        return Tile(label="Graded", value="0", remark="no answers yet", help=text)
    row = graded.iloc[-1]
    planned, of_the_day = int(row["n_planned"]), int(row["n_answers"])
    remark = f"target {count(planned)}" if planned else ""
    if of_the_day:
        remark += f", of {counted(of_the_day, 'answer')}"
    return Tile(label=f"Graded, {day_text(row['day'])}", value=count(int(row["n"])), remark=remark, help=text)


def _stored_tile(scope: Scope, period: tuple[str, str]) -> Tile:
    """The newest day of imported scores: nothing was planned and nothing paid for them here."""
    days = mean_queries.traffic_days(scope.key, scope.setup, *period)
    days = days[days["n"] + days["n_unscored"] > 0]
    text = "Imported scores of the newest day that has any; no judge was called for them."
    if days.empty:
        return Tile(label="Stored scores", value="0", remark="none in this period", help=text)
    row = days.iloc[-1]
    missing = int(row["n_unscored"])
    remark = f"{count(missing)} missing" if missing else "none missing"
    return Tile(label=f"Stored scores, {day_text(row['day'])}", value=count(int(row["n"])), remark=remark, help=text)


def _cost_tile(scope: Scope) -> Tile:
    runs = [run for run in queries.runs(scope.key, scope.app) if run["ruler_id"] == scope.setup.ruler_id]
    text = "What the newest run's calls to the judge cost, retries included."
    if not runs:
        return Tile(label="Cost", value="–", help=text)
    return Tile(
        label="Cost of the last run",
        value=cost(runs[0]["cost_usd"] or 0.0, runs[0]["n_calls"]) or "–",
        remark=counted(runs[0]["n_calls"], "call") + ("" if runs[0]["cost_usd"] else ", without a price"),
        help=text,
    )
