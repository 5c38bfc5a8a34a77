"""What the configured judge is asked about one item, to the byte, without a key and without a call."""

from __future__ import annotations

import json
from dataclasses import dataclass

from evaluator.config import Config
from evaluator.errors import JudgewatchError
from evaluator.records import Item
from evaluator.scoring.setup import configured_rubric, judge_settings, without_secrets


@dataclass(frozen=True, kw_only=True)
class AskedPrompt:
    """The body of a request as it is first sent, and its messages as (role, content)."""

    body: bytes
    messages: tuple[tuple[str, str], ...]


def prompt_for(config: Config, item: Item, *, item_id: str) -> AskedPrompt:
    """Return what the judge is asked about an item.

    Args:
        config: The configuration. Its key, headers and query are not looked at.
        item: What would be graded.
        item_id: Stands behind the marker of graded text, see ``evaluator.judges.fences``.

    Raises:
        JudgewatchError: there is no prompt, because the judge is a function or because nothing is sent for this item;
            or the configuration or a file it names cannot be used.
    """
    judge = config.judge
    if judge.function is not None:
        raise JudgewatchError(
            f"judge.function = {judge.function!r} is called with the item itself; there is no prompt to show"
        )
    from evaluator.judges.openai_compatible import OpenAICompatibleJudge

    bare = without_secrets(config)
    asked = OpenAICompatibleJudge(judge_settings(bare, configured_rubric(bare)))
    body = asked.request_body(item, item_id=item_id)
    if body is None:
        reason = "it has no answer text" if not item.output.strip() else "a text of it is longer than max_prompt_chars"
        raise JudgewatchError(f"nothing is sent for item {item_id}: {reason}")
    messages = tuple((message["role"], message["content"]) for message in json.loads(body)["messages"])
    return AskedPrompt(body=body, messages=messages)
