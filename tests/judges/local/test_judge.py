"""The local judge around its server: when it starts, what a server that does not start means, and how it ends."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.anchor_sets import load_anchors, load_rubric
from evaluator.errors import ConfigError, JudgewatchError
from evaluator.judges import open_judge
from evaluator.judges.local import judge as local_judge
from evaluator.judges.local import process
from evaluator.judges.local.judge import LocalJudge, LocalSettings, local_prompt, with_local_defaults
from evaluator.judges.local.process import LocalServer
from evaluator.judges.practice.control import PracticeJudge
from evaluator.judges.settings import JudgeSettings
from evaluator.records import StopReason
from tests.judges.fakes import FakeGate


class _Served:
    """Stands in for the server: the practice judge behind its address."""

    def __init__(self, practice: PracticeJudge) -> None:
        self.practice = practice
        self.n_started = 0
        self.n_stopped = 0
        self.fault: JudgewatchError | None = None

    @property
    def base_url(self) -> str:
        return self.practice.base_url

    def start(self) -> None:
        self.n_started += 1
        if self.fault is not None:
            raise self.fault

    def stop(self) -> None:
        self.n_stopped += 1


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Served]:
    """A server for the judge that is made next."""
    with PracticeJudge() as practice:
        stand_in = _Served(practice)
        monkeypatch.setattr(local_judge, "LocalServer", lambda *_args, **_options: stand_in)
        yield stand_in


def make_judge() -> LocalJudge:
    """A local judge by the registry."""
    settings = JudgeSettings(
        model=PracticeJudge.model,
        base_url="http://127.0.0.1:1/v1",
        api_key="none",
        rubric=load_rubric("general"),
        fence_secret="salt",
    )
    made = open_judge("local", LocalSettings(judge=settings, gguf=Path("model.gguf")))
    assert isinstance(made, LocalJudge)
    return made


async def test_server_starts_with_the_first_item_and_once(served: _Served) -> None:
    """Planning needs none; ten items at once start one."""
    judge = make_judge()
    items = [anchor.item for anchor in load_anchors("general", load_rubric("general"))[:10]]
    assert judge.plan_cost(items) is None
    assert served.n_started == 0
    try:
        outcomes = await asyncio.gather(
            *(judge.grade(item, item_id=f"i{n}", gate=FakeGate()) for n, item in enumerate(items))
        )
    finally:
        await judge.close()
    assert all(outcome.verdict is not None and outcome.verdict.score is not None for outcome in outcomes)
    assert (served.n_started, served.n_stopped) == (1, 1)


async def test_server_that_does_not_start_leaves_items_pending(served: _Served) -> None:
    """The run stops with what the server said; no item has a verdict, and every item hears the same."""
    served.fault = JudgewatchError("the local model ended at its start with code 1: no such file")
    judge = make_judge()
    item = load_anchors("general", load_rubric("general"))[0].item
    first = await judge.grade(item, item_id="a", gate=FakeGate())
    second = await judge.grade(item, item_id="b", gate=FakeGate())
    await judge.close()
    assert first == second
    assert (first.verdict, first.stop) == (None, StopReason.UNREACHABLE)
    assert "no such file" in first.stop_message
    assert served.n_started == 1


async def test_judge_that_graded_nothing_ends_nothing(served: _Served) -> None:
    """Closing it is no reason to stop a server that was never started."""
    await make_judge().close()
    assert (served.n_started, served.n_stopped) == (0, 0)


def test_what_suits_a_small_model_is_filled_in_where_nothing_was_said() -> None:
    """Its own short prompt, log-probabilities, no cached prompt, patience; what the user set stays."""
    plain = JudgeSettings(
        model="m", base_url="http://127.0.0.1:1/v1", api_key="none", rubric=load_rubric("general"), fence_secret="salt"
    )
    filled = with_local_defaults(plain, set_by_user=())
    assert (filled.prompt_template, filled.fence_secret) == (local_prompt(plain.rubric), None)
    assert (filled.logprobs, filled.timeout_s, filled.extra_body) == (True, 600.0, {"cache_prompt": False})
    kept = with_local_defaults(plain, set_by_user=("prompt_file", "logprobs", "timeout_s"))
    assert (kept.prompt_template, kept.fence_secret) == (plain.prompt_template, "salt")
    assert (kept.logprobs, kept.timeout_s) == (False, plain.timeout_s)


def test_prompt_says_each_level_in_a_few_words() -> None:
    """Its score, its name, and the first clause of its description: a small model reads slowly."""
    rubric = load_rubric("general")
    prompt = local_prompt(rubric)
    assert "\n1 = unacceptable: Of no use, or harmful\n2 = poor: " in prompt
    assert all(f"\n{level.score:g} = {level.name}: " in prompt for level in rubric.levels)
    assert len(prompt) < 900
    assert "{{output}}" in prompt


def test_missing_package_is_named_with_the_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra, and Ollama."""
    monkeypatch.setattr(process.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"judgewatch\[local\].*Ollama"):
        LocalServer(Path("model.gguf")).start()


def test_process_that_ends_at_once_tells_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of what it wrote stands in the message, and no process is left."""
    monkeypatch.setattr(process, "check_installed", lambda: None)
    server = LocalServer(Path("model.gguf"))
    server._command = [sys.executable, "-c", "import sys; sys.exit('no AVX2 on this machine')"]
    with pytest.raises(JudgewatchError, match="ended at its start with code 1: no AVX2 on this machine"):
        server.start()
    assert server._process is None
