"""``judgewatch anchors health``: can the anchors do their work, and what to do where they cannot."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evaluator.cli.current import next_step, read_current, setup_option
from evaluator.cli.output import bounds, counted, number, put, put_json, put_table
from evaluator.cli.target import Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.analysis.health import SetHealth

_SHOWN = 12
_TO_SHOW = frozenset({"no score", "restless"})
_LEVELS = ("lowest", "second", "middle", "fourth", "highest")


@click.command("health")
@click.option("--all", "show_all", is_flag=True, help="List every anchor, not only those that need a look.")
@setup_option
@target_options
@json_option
def health(*, target: Target, show_all: bool, setup: int | None, as_json: bool) -> None:
    """Say whether the anchors can show a judge that moves: levels covered, restless, pinned and dead ones, age, trend.

    Looks at the runs since the judge last changed.
    """
    from evaluator.analysis.health import set_health

    with target.reading() as store:
        current = read_current(target, store, setup=setup)
        judge = None if current.findings is None else current.findings["judge"]
        since = None if judge is None else judge["since_day"]
        found = None
        if current.ruler is not None:
            found = set_health(store, app=current.app, setup=current.ruler, since_day=since)
        step = next_step(store, current.app) if found is None else ""
    if as_json:
        put_json({"app": current.app, "health": None if found is None else asdict(found), "next": step or None})
    elif found is None:
        put("No run has graded enough anchors yet.")
        put(step)
    else:
        _put_health(found, show_all=show_all)


def _put_health(found: SetHealth, *, show_all: bool) -> None:
    put(
        f"{found.app}, judge setup v{found.setup}, set {found.anchor_set}: {counted(found.n_anchors, 'anchor')},"
        f" {counted(found.n_runs, 'run')} from {found.first_day} to {found.last_day}"
    )
    put()
    levels = ", ".join(f"{name} {n}" for name, n in zip(_LEVELS, found.per_level, strict=True))
    put(f"  Anchors in each fifth of the scale: {levels}.")
    for sentence in _repeat_sentences(found):
        put(f"  {sentence}")
    put()
    if found.advice:
        put("What to do:")
        for sentence in found.advice:
            put(f"  {sentence}")
    else:
        put("Nothing to do: the set can show a judge that moves.")
    rows = found.anchors if show_all else [row for row in found.anchors if set(row.troubles) & _TO_SHOW][:_SHOWN]
    if not rows:
        return
    put()
    put_table(
        ("anchor", "a person's", "judge's mean", "usual score in", "spread", "n", ""),
        [
            [
                row.anchor_id,
                number(row.expected_score),
                number(row.mean),
                None if row.usual_share is None else f"{row.usual_share:.0%}",
                number(row.noise_sd),
                row.n,
                ", ".join(row.troubles),
            ]
            for row in rows
        ],
        numbers=("a person's", "judge's mean", "usual score in", "spread", "n"),
    )


def _repeat_sentences(found: SetHealth) -> list[str]:
    said = []
    repeat = found.reliability
    if repeat.ever_flipped is not None and repeat.repeat_rate is not None:
        said.append(
            f"The judge repeats a score in {repeat.repeat_rate:.1%} of pairs of runs that follow each other;"
            f" {repeat.n_flipped} of {repeat.n_items} anchors ever left their score"
            f" ({repeat.ever_flipped.low:.0%} to {repeat.ever_flipped.high:.0%}, {repeat.ever_flipped.method});"
            f" spread of one score {number(repeat.noise_sd)}."
        )
    kappa = found.agreement
    if kappa is not None and kappa.value is not None:
        said.append(
            f"Agreement with people on {counted(kappa.n, 'anchor')}: quadratic kappa {kappa.value:.2f}"
            f" {bounds(kappa.low, kappa.high)} ({kappa.method})."
        )
    return said
