"""``judgewatch items``: graded answers, one a row, and one answer with every verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.current import next_step
from evaluator.cli.days import parse_day
from evaluator.cli.item_prompt import put_prompt
from evaluator.cli.items_delete import command as delete
from evaluator.cli.output import counted, number, one_line, put, put_json, put_table, say, usd
from evaluator.cli.segment_names import Pair, as_filter, segment_option
from evaluator.cli.target import Target, json_option, target_options
from evaluator.errors import JudgewatchError
from evaluator.item_links import item_link
from evaluator.records import ItemFlag
from evaluator.store import read

if TYPE_CHECKING:
    from evaluator.store.db import Store

_SHORT_ID = 12
_EXCERPT = 60
_OWN_ID_SHOWN = 40  # a longer one would leave no room for the answer
_COLUMNS = ("item", "day", "score", "answer", "judge's reason")


@click.group("items")
def command() -> None:
    """List answers, or show one with every verdict; delete a person's."""


command.add_command(delete)


@command.command("list")
@segment_option
@click.option("--level", type=float, help="Only scores nearest to this level of the scale.")
@click.option("--day", help="Only answers of this day.")
@click.option("--unscored", is_flag=True, help="Only answers without a score.")
@click.option("--text", help="Only where question, answer or reason holds this text.")
@click.option("--order", type=click.Choice(["newest", "oldest", "lowest", "highest"]), default="newest")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most so many.")
@target_options
@json_option
def list_items(
    *,
    target: Target,
    pairs: tuple[Pair, ...],
    level: float | None,
    day: str | None,
    unscored: bool,
    text: str | None,
    order: str,
    limit: int,
    as_json: bool,
) -> None:
    """List graded answers of the newest judge setup."""
    day = parse_day("--day", day)
    with target.reading() as store:
        app = target.app_in(store)
        ruler = read.newest_ruler(store, app)
        if ruler is None:
            step = next_step(store, app)
            if as_json:
                put_json({"app": app, "n": 0, "items": [], "headline": step})
            else:
                put(step)
            return
        where = read.AnswerFilter(
            segment=as_filter(pairs),
            first_day=day or read.FIRST_DAY,
            last_day=day or read.LAST_DAY,
            level=level,
            half_step=_step(ruler) / 2,
            unscored=True if unscored else None,
            text=text,
        )
        ruler_id = ruler["ruler_id"]
        n = read.count_answers(store, app=app, ruler_id=ruler_id, where=where)
        rows = read.list_answers(store, app=app, ruler_id=ruler_id, where=where, order=order, most=limit)
    if as_json:
        put_json({"app": app, "setup": ruler["position"], "n": n, "items": rows})
        return
    if rows:
        put_table(_COLUMNS, [_cells(row) for row in rows], numbers=("score",), long=("answer", "judge's reason"))
        put()
    shown = f"{len(rows)} of {n:,} shown; `judgewatch items show ITEM` has all of one" if rows else "no answer fits"
    put(f"{app}, judge setup v{ruler['position']}: {shown}")


def _step(ruler: Mapping[str, Any]) -> float:
    """Distance of two levels of the rubric."""
    n_levels = len(json.loads(ruler["rubric_json"])["levels"])
    return float(ruler["scale_max"] - ruler["scale_min"]) / max(1, n_levels - 1)


def _cells(row: Mapping[str, Any]) -> Sequence[object]:
    return [
        _shown_id(row),
        row["day"],
        row["unscored_reason"] or number(row["score"]),
        one_line(row["output"], _EXCERPT),
        one_line(row["explanation"], _EXCERPT),
    ]


def _shown_id(row: Mapping[str, Any]) -> str:
    """The id in the user's own system where there is one, else the start of ours; ``items show`` takes either."""
    own = str(row["external_id"] or "")
    return own if 0 < len(own) <= _OWN_ID_SHOWN else str(row["item_id"])[:_SHORT_ID]


# ---------------------------------------------------------------- one item


@command.command("show")
@click.argument("item")
@click.option("--prompt", "with_prompt", is_flag=True, help="Print what the judge is asked; --json: the exact request.")
@target_options
@json_option
def show(*, target: Target, item: str, with_prompt: bool, as_json: bool) -> None:
    """Show one answer or anchor with every verdict. ITEM is the start of its id, or its id in your own system."""
    if with_prompt:
        put_prompt(target, item, find=_find, as_json=as_json)
        return
    with target.reading() as store:
        app = target.app_in(store)
        item_id = _find(store, app, item)
        row = read.item(store, item_id)
        if row is None:
            raise JudgewatchError(f"item {item_id} was removed meanwhile")
        verdicts = read.verdicts_of_item(store, item_id)
        setups = {ruler["ruler_id"]: ruler for ruler in read.rulers(store, app)}
        row["link"] = item_link(read.app_settings(store, app).get("item_url"), row)
    for verdict in verdicts:
        setup = setups.get(verdict["ruler_id"])
        verdict["setup"] = None if setup is None else setup["position"]
        verdict["model_asked"] = None if setup is None else setup["model_asked"]
    if as_json:
        put_json({"item": row, "verdicts": verdicts})
        return
    _put_item(row)
    for verdict in verdicts:
        _put_verdict(verdict)
    if not verdicts:
        put("\nno verdict yet")


def _find(store: Store, app: str, start: str) -> str:
    found = read.find_item_ids(store, app, start)
    if not found:
        raise JudgewatchError(f"app {app!r} has no item {start!r}; `judgewatch items list` shows their ids")
    if len(found) > 1:
        newest = _newest_version(store, found, start)
        if newest is not None:
            return newest
        raise JudgewatchError(f"{start!r} fits several items: {', '.join(found[:2])}, ...; give more of the id")
    return found[0]


def _newest_version(store: Store, found: Sequence[str], own_id: str) -> str | None:
    """The newest of several texts that came under one outside id, the others told; None when they are other items."""
    rows = [row for row in (read.item(store, item_id) for item_id in found) if row is not None]
    if not rows or any(row["external_id"] != own_id for row in rows):
        return None
    newest, *others = sorted(rows, key=lambda row: -row["version"])
    named = ", ".join(f"{row['item_id'][:_SHORT_ID]} (version {row['version']})" for row in others)
    say(f"note: {own_id!r} came with several texts; this is the newest, others are: {named}")
    return str(newest["item_id"])


def _put_item(row: Mapping[str, Any]) -> None:
    from evaluator.judges.prompts import addresses_judge

    marks = [flag for flag in row["flags"].split(",") if flag]
    if addresses_judge(row["output"]):
        marks.append("addresses_judge")
    version = f", version {row['version']}" if row["version"] > 1 else ""
    put(f"item {row['item_id']} ({row['source']}{version})")
    facts = {
        "your id": row["external_id"],
        "in your trace store": row["link"],
        "answered": row["answered_utc"],
        "day": row["answered_day"],
        "model": row["answer_model"],
        "conversation": row["conversation_id"],
        "user": row["user_id"],
        "tags": ", ".join(f"{key}={value}" for key, value in row["tags"].items()),
        "marks": ", ".join(marks),
    }
    anchor = row["anchor"]
    if anchor is not None:
        facts |= {"anchor": anchor["anchor_id"], "expected score": number(anchor["expected_score"])}
        facts["why that score"] = anchor["why"]
    for name, value in facts.items():
        if value:
            put(f"  {name}: {one_line(value)}")
    if ItemFlag.TEXT_NOT_KEPT in marks:
        why = "not kept (traffic.store_text)" if row["deleted_utc"] is None else f"deleted on {row['deleted_utc'][:10]}"
        put(f"\nquestion and answer: {why}")
        return
    _put_text("question", row["input"])
    _put_text("answer", row["output"])
    if row["reference"] is not None:
        _put_text("reference", row["reference"])
    for place, context in enumerate(row["contexts"], start=1):
        _put_text(f"context {place}", context)


def _put_text(name: str, text: str) -> None:
    put(f"\n{name}:")
    for line in text.splitlines() or ["(empty)"]:
        put(f"  {line}")


def _put_verdict(verdict: Mapping[str, Any]) -> None:
    score = number(verdict["score"]) if verdict["score"] is not None else f"unscored ({verdict['unscored_reason']})"
    aside = f"{verdict['purpose']}, in no mean, " if verdict["purpose"] in ("recheck", "pick") else ""
    source = f"{aside}run of {verdict['slot_day']}"
    model = verdict["resolved_model"] or verdict["model_asked"]
    put(f"\nverdict: {score}, {source}, judge setup v{verdict['setup']}, answered by {one_line(model)}")
    if verdict["detail"]:
        put(f"  {one_line(verdict['detail'])}")
    for line in verdict["explanation"].splitlines():
        put(f"  {line}")
    for mark, name in (("+", "strengths"), ("-", "weaknesses")):
        for text in verdict[name]:
            put(f"  {mark} {one_line(text)}")
    tokens = (verdict["prompt_tokens"] or 0) + (verdict["completion_tokens"] or 0)
    cost = f"{usd(verdict['cost_usd'])}, " if verdict["cost_usd"] else ""  # nothing is counted without a price
    put(f"  {counted(tokens, 'token')}, {cost}graded {verdict['graded_utc']}")
