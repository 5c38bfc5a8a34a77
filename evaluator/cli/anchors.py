"""``judgewatch anchors``: the fixed answers that are graded in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evaluator.cli.anchors_health import health
from evaluator.cli.anchors_pick import freeze, pick
from evaluator.cli.anchors_power import power
from evaluator.cli.output import counted, number, one_line, put, put_json, put_table
from evaluator.cli.target import Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.records import Rubric

_DEFAULT = "general"
_EXCERPT = 60


@click.group("anchors")
def command() -> None:
    """Show the fixed answers that watch the judge, or pick your own."""


for _each in (pick, freeze, health, power):
    command.add_command(_each)


@command.command("list")
@click.option("--set", "set_name", help="A shipped set or a JSONL file (default: the configured one).")
@target_options
@json_option
def list_anchors(*, target: Target, set_name: str | None, as_json: bool) -> None:
    """List the anchors of a set, checked against the rubric's scale."""
    from evaluator.anchor_sets import load_anchors
    from evaluator.scoring.setup import configured_anchors

    config = target.config
    rubric = _rubric(target)
    name = set_name or (_DEFAULT if config is None else config.anchors.set)
    # a file named by hand is looked for here, one named in the configuration beside it
    if set_name is None and config is not None:
        anchors = configured_anchors(config, rubric)
    else:
        anchors = load_anchors(name, rubric)
    if as_json:
        rows = [
            {
                "anchor_id": anchor.anchor_id,
                "expected_score": anchor.expected_score,
                "why": anchor.why,
                "tags": dict(anchor.item.tags),
                "input": anchor.item.input,
                "output": anchor.item.output,
                "reference": anchor.item.reference,
                "contexts": list(anchor.item.contexts),
            }
            for anchor in anchors
        ]
        put_json({"set": name, "rubric": rubric.name, "anchors": rows})
        return
    put_table(
        ("anchor", "expected", "tags", "question", "answer"),
        [
            [
                anchor.anchor_id,
                number(anchor.expected_score),
                ", ".join(f"{key}={value}" for key, value in anchor.item.tags.items()),
                one_line(anchor.item.input, _EXCERPT),
                one_line(anchor.item.output, _EXCERPT),
            ]
            for anchor in anchors
        ],
        numbers=("expected",),
        long=("tags", "question", "answer"),
    )
    scored = sum(anchor.expected_score is not None for anchor in anchors)
    picked = sum(anchor.why.startswith("picked from traffic") for anchor in anchors)
    own = f", {picked} picked from your own traffic" if picked else ""
    put()
    put(f"set {name}: {counted(len(anchors), 'anchor')}, {scored} with a person's score{own}, rubric {rubric.name}")


def _rubric(target: Target) -> Rubric:
    """The rubric whose scale anchors are checked against: the configured one."""
    from evaluator.anchor_sets import load_rubric
    from evaluator.scoring.setup import configured_rubric

    return load_rubric(_DEFAULT) if target.config is None else configured_rubric(target.config)


@command.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@target_options
@json_option
@click.pass_context
def check(ctx: click.Context, *, target: Target, files: tuple[str, ...], as_json: bool) -> None:
    """Check anchor sets: each can be read, and two of them are not one golden set whose answers are generated anew.

    Give the same set as it was on two days: questions that are answered otherwise on the second are counted.
    """
    from itertools import pairwise

    from evaluator.anchor_sets import load_anchors
    from evaluator.cli.freeze_texts import put_checked
    from evaluator.golden_sets import compare_answers

    rubric = _rubric(target)
    sets = [(name, load_anchors(name, rubric)) for name in files]
    pairs = [(before[0], now[0], compare_answers(before[1], now[1])) for before, now in pairwise(sets)]
    put_checked([(name, len(anchors)) for name, anchors in sets], pairs, as_json=as_json)
    if any(changes.generated_anew for _, _, changes in pairs):
        ctx.exit(1)
