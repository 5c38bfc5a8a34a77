"""What grades: one protocol (``base``), one line per provider here, loaded only when it is used.

To add a provider, write ``evaluator/judges/<name>.py`` with a class that takes one settings object and follows the
``Judge`` protocol, register it below, and give ``tests/judges/test_contract.py`` a way to build it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.judges.base import Judge

REGISTRY = {
    "openai-compatible": "evaluator.judges.openai_compatible:OpenAICompatibleJudge",
    "function": "evaluator.judges.function:FunctionJudge",
    "local": "evaluator.judges.local.judge:LocalJudge",
}


def open_judge(kind: str, settings: object) -> Judge:
    """Return the judge of a registered kind.

    Args:
        kind: A key of ``REGISTRY``.
        settings: The settings object of that kind: ``JudgeSettings``, ``FunctionSettings`` or ``LocalSettings``.

    Raises:
        UsageError: an unknown kind.
    """
    place = REGISTRY.get(kind)
    if place is None:
        raise UsageError(f"there is no judge of kind {kind!r}; known are {', '.join(sorted(REGISTRY))}")
    module_name, _, class_name = place.partition(":")
    return cast("Judge", getattr(importlib.import_module(module_name), class_name)(settings))
