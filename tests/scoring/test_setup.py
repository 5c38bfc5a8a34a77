"""From the configuration to what a run needs: every setting arrives, secrets from the environment only."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluator.config import Config, parse_config
from evaluator.errors import ConfigError, DataFileError
from evaluator.judges.function import FunctionJudge
from evaluator.judges.openai_compatible import OpenAICompatibleJudge
from evaluator.records import Item
from evaluator.scoring.setup import build_judge, run_settings, schedule_zone
from evaluator.store.db import open_store

SLOT = datetime(2026, 3, 1, 6, tzinfo=UTC)


def config(folder: Path, **sections: Any) -> Config:
    """A configuration with a budget and a judge that needs no key."""
    values: dict[str, Any] = {
        "judge": {"model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key_env": ""},
        "budget": {"calls_per_day": 100},
    }
    for name, section in sections.items():
        values[name] = values.get(name, {}) | section
    return parse_config(values, folder=folder, name="judgewatch.toml")


def built(folder: Path, **sections: Any) -> OpenAICompatibleJudge:
    """The judge of a configuration."""
    judge, _ = build_judge(config(folder, **sections))
    assert isinstance(judge, OpenAICompatibleJudge)
    return judge


def test_every_setting_of_the_judge_arrives(tmp_path: Path) -> None:
    """Under the name it has there."""
    judge = built(
        tmp_path,
        judge={
            "temperature": 0.3,
            "seed": 11,
            "max_tokens": 400,
            "timeout_s": 12.0,
            "max_attempts": 2,
            "max_wait_s": 9.0,
            "output_mode": "json",
            "max_prompt_chars": 5000,
            "concurrency": 10,
        },
    )
    settings = judge.settings
    assert (settings.model, settings.base_url) == ("m", "http://127.0.0.1:1/v1")
    assert (settings.temperature, settings.seed, settings.max_tokens) == (0.3, 11, 400)
    assert (settings.timeout_s, settings.max_attempts, settings.max_wait_s) == (12.0, 2, 9.0)
    assert (settings.output_mode, settings.max_prompt_chars) == ("json", 5000)
    assert settings.max_connections >= 10


def test_price_makes_costs(tmp_path: Path) -> None:
    """Per million tokens, of the model that is asked."""
    prices = {
        "m": {"input_usd_per_million": 1.0, "output_usd_per_million": 2.0},
        "other": {"input_usd_per_million": 9.0, "output_usd_per_million": 9.0},
    }
    price = built(tmp_path, prices=prices).settings.price
    assert price is not None
    assert price.cost_usd(1_000_000, 500_000) == 2.0
    assert built(tmp_path).settings.price is None


def test_secrets_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key, and what headers and query refer to; none of it shows in the judge's name."""
    monkeypatch.setenv("MY_KEY", "k-123")
    monkeypatch.setenv("GATEWAY", "g-456")
    judge = built(
        tmp_path,
        judge={
            "api_key_env": "MY_KEY",
            "headers": {"x-gateway": "Token ${GATEWAY}", "x-plain": "$5 {a}"},
            "query": {"api-version": "2026-01"},
        },
    )
    assert judge.settings.api_key == "k-123"
    assert judge.settings.default_headers == {"x-gateway": "Token g-456", "x-plain": "$5 {a}"}
    assert judge.settings.default_query == {"api-version": "2026-01"}
    assert "k-123" not in repr(judge.settings)
    assert "g-456" not in repr(judge.settings)


def test_missing_secret_is_named_before_anything_is_made(tmp_path: Path) -> None:
    """No database is left behind by a configuration that cannot work."""
    with pytest.raises(ConfigError, match=r"the environment variable NO_SUCH_KEY is not set"):
        built(tmp_path, judge={"api_key_env": "NO_SUCH_KEY"}, store={"path": "sub/judgewatch.db"})
    assert list(tmp_path.iterdir()) == []


def test_same_database_gives_the_same_fence(tmp_path: Path) -> None:
    """So that the same item is sent as the same bytes in every run; another database has another one."""
    first, again = built(tmp_path), built(tmp_path)
    other = built(tmp_path, store={"path": "other.db"})
    assert first.settings.fence_secret == again.settings.fence_secret != other.settings.fence_secret


def test_database_is_made_in_the_configured_zone(tmp_path: Path) -> None:
    """Its days are fixed then."""
    built(tmp_path, schedule={"zone": "Asia/Tokyo"}, store={"path": "data/new.db"})
    with open_store(tmp_path / "data" / "new.db") as store:
        assert store.zone.key == "Asia/Tokyo"


def length_of(item: Item) -> float:
    """A judge of one's own."""
    return min(5.0, float(len(item.output)))


def test_function_can_judge(tmp_path: Path) -> None:
    """No key, no address, no budget is asked for; its time-out is the configured one."""
    sections = {"judge": {"function": f"{__name__}:length_of", "timeout_s": 3.0}, "budget": {"calls_per_day": None}}
    judge, rubric = build_judge(config(tmp_path, **sections))
    assert isinstance(judge, FunctionJudge)
    assert judge.ruler.rubric == rubric
    assert judge._settings.timeout_s == 3.0


def test_budget_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    """Before a key is looked for."""
    with pytest.raises(ConfigError, match=r"has no known price"):
        built(tmp_path, budget={"usd_per_day": 1.0})


def test_run_gets_what_is_configured(tmp_path: Path) -> None:
    """App, place, zone, limits, sample, segments, anchors."""
    configured = config(
        tmp_path,
        app={"name": "shop"},
        judge={"concurrency": 3, "calls_per_minute": 60.0},
        budget={"calls_per_day": 7},
        traffic={"answers_per_day": 5, "segments": ["topic", "topic * language"]},
        schedule={"zone": "Europe/Rome"},
    )
    rubric = build_judge(configured)[1]
    settings = run_settings(configured, rubric, slot=SLOT, kind="anchors", since="2026-01-01")
    assert (settings.app, settings.store_path, settings.zone) == ("shop", configured.store_path, "Europe/Rome")
    assert (settings.limits.calls_per_day, settings.limits.calls_per_minute, settings.concurrency) == (7, 60.0, 3)
    assert settings.limits.usd_per_day is None
    assert settings.traffic.answers_per_day == 5
    assert settings.segment_keys == [("topic", ""), ("topic", "language")]
    assert (settings.slot, settings.kind, settings.since) == (SLOT, "anchors", "2026-01-01")
    assert len(settings.anchors) >= 60
    assert schedule_zone(configured).key == "Europe/Rome"


def test_own_anchors_and_rubric_lie_beside_the_configuration(tmp_path: Path) -> None:
    """And must fit one another."""
    (tmp_path / "mine.json").write_text(
        '{"name": "mine", "question": "?", "scale": {"min": 0, "max": 1}, "levels": ['
        '{"score": 0, "name": "bad", "description": "b"}, {"score": 1, "name": "good", "description": "g"}]}'
    )
    (tmp_path / "mine.jsonl").write_text('{"anchor_id": "a", "inputs": "q", "outputs": "x", "expected_score": 4}\n')
    configured = config(tmp_path, judge={"rubric": "mine.json"}, anchors={"set": "mine.jsonl"})
    rubric = build_judge(configured)[1]
    assert (rubric.name, rubric.scale_max) == ("mine", 1)
    with pytest.raises(DataFileError, match=r"line 1: expected_score 4 is off the scale"):
        run_settings(configured, rubric, slot=SLOT)


def test_local_judge_gets_the_settings_and_its_model_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no address; the file lies beside the configuration. Without the extra that is said."""
    from evaluator.judges.local.judge import LocalJudge

    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    local = {"base_url": "local", "gguf": "m.gguf", "api_key_env": "NO_SUCH_KEY", "logprobs": True}
    monkeypatch.setattr("evaluator.judges.local.process.check_installed", lambda: None)
    judge, _ = build_judge(config(tmp_path, judge=local))
    assert isinstance(judge, LocalJudge)
    assert judge.ruler.parameters["logprobs"] is True
    with pytest.raises(ConfigError, match="no such file"):
        build_judge(config(tmp_path, judge={**local, "gguf": "other.gguf"}))
    monkeypatch.undo()
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match="pip install"):
        build_judge(config(tmp_path, judge=local))


@pytest.mark.parametrize("anchors", ["general", "general.jsonl"])
def test_rubric_of_another_scale_takes_the_shipped_anchors(tmp_path: Path, anchors: str) -> None:
    """Without people's scores; a file of one's own has to fit."""
    (tmp_path / "mine.json").write_text(
        '{"name": "mine", "question": "?", "scale": {"min": 0, "max": 1}, "levels": ['
        '{"score": 0, "name": "bad", "description": "b"}, {"score": 1, "name": "good", "description": "g"}]}'
    )
    (tmp_path / "general.jsonl").write_text('{"anchor_id": "a", "inputs": "q", "outputs": "x", "expected_score": 4}\n')
    configured = config(tmp_path, judge={"rubric": "mine.json"}, anchors={"set": anchors})
    rubric = build_judge(configured)[1]
    if anchors == "general":
        assert {anchor.expected_score for anchor in run_settings(configured, rubric, slot=SLOT).anchors} == {None}
    else:
        with pytest.raises(DataFileError, match="off the scale"):
            run_settings(configured, rubric, slot=SLOT)
