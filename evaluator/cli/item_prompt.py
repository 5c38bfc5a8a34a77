"""The part of ``judgewatch items show`` that prints what the judge is asked: the messages, or the request's body."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from evaluator.cli.output import visible
from evaluator.errors import JudgewatchError

if TYPE_CHECKING:
    from evaluator.cli.target import Target
    from evaluator.config import Config
    from evaluator.records import Item
    from evaluator.store.db import Store

Find = Callable[["Store", str, str], str]


def put_prompt(target: Target, start: str, *, find: Find, as_json: bool) -> None:
    """Print the prompt for an answer or anchor.

    A terminal is shown the text with whatever could steer it made visible; a file or a pipe gets every byte as sent.

    Args:
        target: Configuration, database and app.
        start: Start of an item's id, its id in the user's own system, or the id of an anchor of the configured set.
        find: Returns the id of the one stored item that is meant.
        as_json: Whether to print the body of the request instead of its messages.

    Raises:
        JudgewatchError: no such item, or there is no prompt for it.
    """
    from evaluator.scoring.asking import prompt_for

    config = target.needed_config()
    item_id, item = _find_item(target, config, start, find)
    asked = prompt_for(config, item, item_id=item_id)
    if as_json:
        put_exactly(asked.body.decode("utf-8") + "\n")
        return
    for place, (role, content) in enumerate(asked.messages):
        put_exactly(("\n" if place else "") + f"=== {role} ===\n{content}\n")


def _find_item(target: Target, config: Config, start: str, find: Find) -> tuple[str, Item]:
    """Look among the stored items, then among the anchors, which are stored only once they are graded."""
    from evaluator.store import read, write

    fault = JudgewatchError(f"there is no item {start!r}, neither stored nor among the anchors of anchors.set")
    if config.store_path.exists():
        try:
            with target.reading() as store:
                item_id = find(store, config.app.name, start)
                stored = read.load_to_grade(store, [item_id])
            if stored:
                return item_id, stored[0][2]
        except JudgewatchError as error:
            fault = error
    from evaluator.scoring.setup import configured_anchors, configured_rubric

    for anchor in configured_anchors(config, configured_rubric(config)):
        if anchor.anchor_id == start:
            return write.anchor_item_id(config.app.name, anchor), anchor.item
    raise fault


def put_exactly(text: str) -> None:
    """Print a text to the byte; on a terminal with whatever could steer it made visible."""
    click.echo(visible(text) if sys.stdout.isatty() else text.encode("utf-8"), nl=False)
