"""What common judge models cost, as a table with its date: ``prices.json`` beside this file.

A list price is a property of a host and a model together: the same name on a server of one's own, behind a gateway or
with a reseller costs something else, so the table answers for the providers' own addresses only. What it does not know
is not guessed; ``[prices]`` in the configuration says it, and wins over the table in any case.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_TABLE = Path(__file__).with_name("prices.json")
_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|20\d{6})$")  # of a pinned version: -2025-04-14 or -20250929


@dataclass(frozen=True, kw_only=True)
class KnownPrice:
    """A list price, in dollars per million tokens. ``name`` is the model's name in the table."""

    name: str
    input_usd_per_million: float
    output_usd_per_million: float


def known_price(model: str, base_url: str) -> KnownPrice | None:
    """Look a model up at the provider whose address this is.

    Args:
        model: Name as the server is asked for it; a pinned version costs what its model costs.
        base_url: Address of the judge's server.

    Returns:
        None when the address is not a provider's own, or the provider has no such model in the table.
    """
    table = _load()
    provider = table["hosts"].get(urlsplit(base_url).hostname or "")
    if provider is None:
        return None
    for name in _names(model.strip(), provider):
        if name in table["not_priced"]:
            return None
        row = table["models"].get(name)
        if row is not None and row["provider"] == provider:
            return KnownPrice(
                name=name,
                input_usd_per_million=row["input_usd_per_million"],
                output_usd_per_million=row["output_usd_per_million"],
            )
    return None


def table_date() -> str:
    """Return the day of which the prices are, as ISO text."""
    return str(_load()["as_of"])


def table_source() -> str:
    """Return where the prices were taken from."""
    return str(_load()["source"])


def _names(model: str, provider: str) -> list[str]:
    """What the model may be called in the table: as it is, without its provider's prefix, without its date."""
    bare = model.removeprefix(f"{provider}/").removeprefix("models/")
    names = [model, bare, _DATE.sub("", bare)]
    return list(dict.fromkeys(names))


@lru_cache(maxsize=1)
def _load() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(_TABLE.read_text("utf-8"))
    return table
