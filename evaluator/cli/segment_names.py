"""Segments as they are typed and shown on the command line: ``key=value``, twice for two crossed keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from evaluator.errors import UsageError
from evaluator.store import read

if TYPE_CHECKING:
    from evaluator.store.db import Store

Pair = tuple[str, str]
_VALUES_NAMED = 12


class PairParam(click.ParamType[Pair]):
    """One ``KEY=VALUE``."""

    name = "key=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Pair:
        """Split at the first equals sign."""
        if isinstance(value, tuple):
            return value
        key, sign, rest = str(value).partition("=")
        if not sign or not key:
            self.fail(f"{value!r}: write it as KEY=VALUE, like topic=billing", param, ctx)
        return key, rest


segment_option = click.option(
    "--segment", "pairs", multiple=True, type=PairParam(), help="Only this segment; twice for two crossed keys."
)


def segment_text(row: Mapping[str, Any]) -> str:
    """A segment as it is typed."""
    text = f"{row['key']}={row['value']}"
    return f"{text}, {row['key2']}={row['value2']}" if row["key2"] else text


def as_filter(pairs: Sequence[Pair]) -> tuple[str, str, str, str] | None:
    """The pairs as a filter of answers, which may be any tag.

    Raises:
        UsageError: more than two.
    """
    if len(pairs) > 2:
        raise UsageError(f"--segment was given {len(pairs)} times; two keys can be crossed, not more")
    if not pairs:
        return None
    key2, value2 = pairs[1] if len(pairs) == 2 else ("", "")
    return (*pairs[0], key2, value2)


def find_segment(store: Store, app: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return the segment that scores are totalled for.

    Raises:
        UsageError: there is none; the message names those there are.
    """
    wanted = as_filter(pairs)
    known = read.segments(store, app)
    for row in known:
        if wanted is not None and sorted(_pairs(row)) == sorted(pairs):
            return row
    keys = [" * ".join(filter(None, pair)) for pair in read.segment_keys(store, app)]
    values = [segment_text(row) for row in known if _keys(row) == {key for key, _ in pairs}]
    named = ", ".join(values[:_VALUES_NAMED]) + (", ..." if len(values) > _VALUES_NAMED else "")
    asked = " and ".join(f"{key}={value}" for key, value in pairs)
    raise UsageError(
        f"scores are not totalled for {asked}; "
        + (f"known are: {named}" if values else f"keys in use (traffic.segments): {', '.join(keys) or 'none'}")
    )


def _keys(row: Mapping[str, Any]) -> set[str]:
    return {key for key, _ in _pairs(row)}


def _pairs(row: Mapping[str, Any]) -> list[Pair]:
    return [pair for pair in ((row["key"], row["value"]), (row["key2"], row["value2"])) if pair[0]]
