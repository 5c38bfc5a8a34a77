"""The judge whose model runs here: starts the server before the first item, then is the judge of any other server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluator.errors import JudgewatchError
from evaluator.judges.base import CallGate
from evaluator.judges.local.process import LocalServer
from evaluator.judges.openai_compatible import OpenAICompatibleJudge
from evaluator.judges.settings import JudgeSettings
from evaluator.records import GradeOutcome, Item, Rubric, StopReason

_TIMEOUT_S = 600.0  # calls wait for one another in the server, and each takes seconds
# a cached prompt changes the log-probabilities of the same request
_END_OF_CLAUSE = re.compile(r"[.:;](?:\s|$)")
_BODY = {"cache_prompt": False}


def local_prompt(rubric: Rubric) -> str:
    """Return the prompt for a small model: a few words for each level, and no reasons asked for.

    A small model takes seconds for each hundred words it reads, and grades worse after writing its reasons down; the
    log-probabilities of the levels say more than the level alone.
    """
    levels = "\n".join(f"{level.score:g} = {level.name}: {_first_clause(level.description)}" for level in rubric.levels)
    return (
        "Question:\n{{input}}\n\nAnswer:\n{{output}}\n\n{{contexts_section}}{{reference_section}}"
        f"{rubric.question}\n{levels}\n"
        'Reply with JSON: {"score": number}\n'
    )


def _first_clause(description: str) -> str:
    return _END_OF_CLAUSE.split(description, maxsplit=1)[0]


def with_local_defaults(settings: JudgeSettings, *, set_by_user: Collection[str]) -> JudgeSettings:
    """Fill in what suits a small model served here, where the user said nothing else.

    Args:
        settings: What would be told a judge elsewhere.
        set_by_user: Keys of ``[judge]`` that stand in the configuration.
    """
    changes: dict[str, Any] = {"extra_body": {**_BODY, **settings.extra_body}}
    if "prompt_file" not in set_by_user:
        changes |= {"prompt_template": local_prompt(settings.rubric), "fence_secret": None}
    if "logprobs" not in set_by_user:
        changes["logprobs"] = True
    if "timeout_s" not in set_by_user:
        changes["timeout_s"] = _TIMEOUT_S
    return replace(settings, **changes)


@dataclass(frozen=True, kw_only=True)
class LocalSettings:
    """The judge's settings, whose ``base_url`` is not looked at, and the model file."""

    judge: JudgeSettings
    gguf: Path
    threads: int = 1


class LocalJudge:
    """Grades items with a model that it serves itself. Planning and looking at prompts start no server."""

    def __init__(self, settings: LocalSettings) -> None:
        self._settings = settings
        self._server = LocalServer(settings.gguf, name=settings.judge.model, threads=settings.threads)
        self._inner = OpenAICompatibleJudge(settings.judge)
        self._starting: asyncio.Task[None] | None = None
        self.ruler = self._inner.ruler

    async def grade(self, item: Item, *, item_id: str, gate: CallGate) -> GradeOutcome:
        """Grade one item; the first waits until the model is loaded.

        A server that does not start leaves the item pending and ends the run.
        """
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        try:
            await asyncio.shield(self._starting)
        except JudgewatchError as error:
            return GradeOutcome(verdict=None, attempts=(), stop=StopReason.UNREACHABLE, stop_message=str(error))
        return await self._inner.grade(item, item_id=item_id, gate=gate)

    def plan_cost(self, items: Sequence[Item]) -> float | None:
        """A model of one's own costs nothing but time."""
        return self._inner.plan_cost(items)

    def forget_adjustments(self) -> None:
        """Ask for everything again, as at first."""
        self._inner.forget_adjustments()

    async def close(self) -> None:
        """Release connections and end the server; grading another item starts it again."""
        starting, self._starting = self._starting, None
        await self._inner.close()
        if starting is not None:
            await asyncio.gather(starting, return_exceptions=True)
            await asyncio.to_thread(self._server.stop)

    async def _start(self) -> None:
        await asyncio.to_thread(self._server.start)
        self._inner = OpenAICompatibleJudge(replace(self._settings.judge, base_url=self._server.base_url))
