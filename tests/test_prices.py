"""The table of known prices: sound, dated, asked for the providers' own addresses only, and never over [prices]."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from evaluator.config import Config, parse_config
from evaluator.errors import ConfigError
from evaluator.prices import KnownPrice, known_price, table_date, table_source

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com/v1"
TABLE = json.loads((Path(__file__).parents[1] / "evaluator" / "prices.json").read_text("utf-8"))


def config(model: str, base_url: str = OPENAI, **sections: object) -> Config:
    """A configuration whose judge is this model."""
    values = {"judge": {"model": model, "base_url": base_url}, **sections}
    return parse_config(values, folder=Path(), name="judgewatch.toml")


# ---------------------------------------------------------------- the data


def test_table_is_dated_and_names_its_source() -> None:
    """A price without a date is a rumour."""
    assert date(2026, 1, 1) <= date.fromisoformat(table_date()) <= date(2026, 12, 31)
    assert "genai-prices" in table_source()


def test_every_row_is_a_price_of_a_provider_with_an_address() -> None:
    """Dollars per million tokens, replies dearer than prompts or as dear; no provider without a host."""
    assert len(TABLE["models"]) >= 40
    for name, row in TABLE["models"].items():
        assert set(row) == {"provider", "input_usd_per_million", "output_usd_per_million"}, name
        assert 0 < row["input_usd_per_million"] <= row["output_usd_per_million"] < 200, name
        assert row["provider"] in TABLE["hosts"].values(), name
    assert set(Counter(row["provider"] for row in TABLE["models"].values())) == set(TABLE["hosts"].values())


def test_no_model_is_both_priced_and_not() -> None:
    """What is kept out on purpose stays out."""
    assert not set(TABLE["not_priced"]) & set(TABLE["models"])


# ---------------------------------------------------------------- looking up


@pytest.mark.parametrize(
    ("model", "base_url", "found"),
    [
        ("gpt-4.1-mini", OPENAI, "gpt-4.1-mini"),
        (" gpt-4.1-mini ", OPENAI, "gpt-4.1-mini"),
        ("gpt-4.1-mini-2025-04-14", OPENAI, "gpt-4.1-mini"),
        ("openai/gpt-4.1-mini-2025-04-14", OPENAI, "gpt-4.1-mini"),
        ("claude-sonnet-4-5-20250929", ANTHROPIC, "claude-sonnet-4-5"),
        ("anthropic/claude-opus-4-20250514", ANTHROPIC, "claude-opus-4"),
        ("models/gemini-2.5-flash", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash"),
        ("mistral-large-2512", "https://api.mistral.ai/v1", "mistral-large-2512"),
        ("openai/gpt-oss-120b", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"),
        ("gpt-4o", "https://API.OPENAI.com:443/v1", "gpt-4o"),
    ],
)
def test_model_is_found_at_its_provider(model: str, base_url: str, found: str) -> None:
    """By its name, without the provider's prefix, without the date of a pinned version."""
    price = known_price(model, base_url)
    assert price is not None
    row = TABLE["models"][found]
    assert price == KnownPrice(name=found, **{key: row[key] for key in row if key != "provider"})


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("gpt-4.1-mini", "http://127.0.0.1:8000/v1"),
        ("gpt-4.1-mini", "https://openrouter.ai/api/v1"),
        ("gpt-4.1-mini", "https://team.openai.azure.com/openai/v1"),
        ("gpt-4.1-mini", "https://api.openai.com.example.org/v1"),
        ("gpt-4.1-mini", ANTHROPIC),
        ("claude-sonnet-4-5", OPENAI),
        ("gpt-4.1-mini-finetuned", OPENAI),
        ("ft:gpt-4.1-mini-2025-04-14:team::abc", OPENAI),
        ("gpt-4o-2024-05-13", OPENAI),
        ("mistral-large-latest", "https://api.mistral.ai/v1"),
        ("", OPENAI),
    ],
)
def test_what_is_not_known_is_not_guessed(model: str, base_url: str) -> None:
    """Another server, another provider, a version with a price of its own, an alias that moves."""
    assert known_price(model, base_url) is None


# ---------------------------------------------------------------- in the configuration


def test_known_model_needs_no_price_to_be_budgeted_in_dollars() -> None:
    """The price is the table's, and its source says so with the date."""
    found = config("gpt-4.1-mini-2025-04-14", budget={"usd_per_day": 1.0})
    found.check_budget()
    assert found.price is not None
    assert (found.price.input_usd_per_million, found.price.output_usd_per_million) == (0.4, 1.6)
    assert found.price_source == f"the price table of {table_date()} (gpt-4.1-mini); [prices] overrides it"


def test_own_price_wins() -> None:
    """A discount, a gateway's fee, or a price that changed since."""
    own = {"input_usd_per_million": 1.0, "output_usd_per_million": 0.0}
    found = config("gpt-4.1-mini", prices={"gpt-4.1-mini": own})
    assert found.price is not None
    assert found.price.model_dump() == own
    assert found.price_source == '[prices."gpt-4.1-mini"] of the configuration'


def test_unknown_model_cannot_be_budgeted_in_dollars() -> None:
    """The message names the section that would help."""
    found = config("judge-9", budget={"usd_per_day": 1.0})
    assert found.price is None
    assert found.price_source == 'not known; [prices."judge-9"] sets it'
    with pytest.raises(ConfigError, match=r'\[prices."judge-9"\]'):
        found.check_budget()


@pytest.mark.parametrize(
    "extra", [{"function": "package.module:grade"}, {"azure_deployment": "d", "azure_api_version": "2024-10-21"}]
)
def test_judge_that_is_no_hosted_model_has_no_list_price(extra: dict[str, str]) -> None:
    """The default address means nothing where it is not called."""
    address = {"base_url": "https://team.openai.azure.com"} if "azure_deployment" in extra else {}
    values = {"judge": {"model": "gpt-4.1-mini", **address, **extra}}
    assert parse_config(values, folder=Path(), name="judgewatch.toml").price is None
