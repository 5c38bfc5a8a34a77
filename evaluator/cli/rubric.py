"""``judgewatch rubric``: what a score means."""

from __future__ import annotations

import click

from evaluator.cli.output import number, put, put_json, put_table
from evaluator.cli.target import Target, json_option, target_options

_DEFAULT = "general"


@click.group("rubric")
def command() -> None:
    """Show what a score means."""


@command.command("list")
@target_options
@json_option
def list_rubrics(*, target: Target, as_json: bool) -> None:
    """List the rubrics that ship with judgewatch, and the configured one."""
    from evaluator.anchor_sets import load_rubric
    from evaluator.resources import anchor_set_names
    from evaluator.scoring.setup import configured_rubric

    config = target.config
    rubrics = {name: load_rubric(name) for name in anchor_set_names()}
    used = _DEFAULT
    if config is not None:
        own = configured_rubric(config)
        used = own.name if config.judge.has_own_scale else config.judge.rubric
        rubrics[used] = own
    if as_json:
        put_json(
            {
                "rubrics": [
                    {"rubric": name, "in_use": name == used, "rubric_id": rubric.rubric_id, **rubric.as_dict()}
                    for name, rubric in rubrics.items()
                ]
            }
        )
        return
    put_table(
        ("rubric", "in use", "criterion", "scale", "question"),
        [
            [
                name,
                "yes" if name == used else "",
                rubric.criterion,
                f"{rubric.scale_min:g} to {rubric.scale_max:g}",
                rubric.question,
            ]
            for name, rubric in rubrics.items()
        ],
        long=("question",),
        fold=True,
    )


@command.command("show")
@click.argument("name", required=False)
@target_options
@json_option
def show(*, target: Target, name: str | None, as_json: bool) -> None:
    """Show one rubric: NAME of a shipped one or of a file, the configured one by default."""
    from evaluator.anchor_sets import load_rubric
    from evaluator.scoring.setup import configured_rubric

    config = target.config
    # a file named by hand is looked for here, one named in the configuration beside it
    rubric = load_rubric(name or _DEFAULT) if config is None or name is not None else configured_rubric(config)
    if as_json:
        put_json({"rubric_id": rubric.rubric_id, **rubric.as_dict()})
        return
    put(f"{rubric.name}: {rubric.question}")
    put(f"criterion {rubric.criterion}, scale {rubric.scale_min:g} to {rubric.scale_max:g}, id {rubric.rubric_id}")
    for level in reversed(rubric.levels):
        put(f"  {number(level.score, 0 if level.score.is_integer() else 2)} {level.name}: {level.description}")
    for aspect, text in rubric.aspects:
        put(f"  aspect {aspect}: {text}")
