"""``judgewatch anchors``: the fixed answers that are graded in every run."""

from __future__ import annotations

from pathlib import Path

import click

from evaluator.cli.output import counted, number, one_line, put, put_json, put_table
from evaluator.cli.target import Target, json_option, target_options

_DEFAULT = "general"
_EXCERPT = 60


@click.group("anchors")
def command() -> None:
    """Show the fixed answers that watch the judge."""


@command.command("list")
@click.option("--set", "set_name", help="A shipped set or a JSONL file (default: the configured one).")
@target_options
@json_option
def list_anchors(*, target: Target, set_name: str | None, as_json: bool) -> None:
    """List the anchors of a set, checked against the rubric's scale."""
    from evaluator.anchor_sets import load_anchors, load_rubric

    config = target.config
    folder = Path() if config is None else config.folder
    rubric = load_rubric(_DEFAULT if config is None else config.judge.rubric, folder=folder)
    name = set_name or (_DEFAULT if config is None else config.anchors.set)
    # a file named by hand is looked for here, one named in the configuration beside it
    anchors = load_anchors(name, rubric, folder=Path() if set_name is not None else folder)
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
    put()
    put(f"set {name}: {counted(len(anchors), 'anchor')}, {scored} with a person's score, rubric {rubric.name}")
