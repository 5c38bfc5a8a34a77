"""``judgewatch doctor``: looks at everything a setup needs, and says what to do where something is amiss."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaluator.cli.output import counted, put, put_json, put_table, say, usd
from evaluator.cli.target import CONFIG_NAME, Target, json_option, target_options

if TYPE_CHECKING:
    from evaluator.doctor import Check

_COLUMNS = ("check", "result", "found")


@click.command("doctor")
@click.option("--no-call", is_flag=True, help="Do not call the judge; leave out what only a call can tell.")
@target_options
@json_option
@click.pass_context
def command(ctx: click.Context, *, target: Target, no_call: bool, as_json: bool) -> None:
    """Check configuration, key, judge, gateway, database, anchors and schedule; say what to do.

    Calls the judge at most six times, and says before what that can cost. Nothing is stored. Exits with 1 when
    something fails; a warning does not.
    """
    from evaluator.clock import SystemClock
    from evaluator.doctor import examine, has_failed

    found = examine(
        target.needed_config,
        target.config_path or Path(CONFIG_NAME),
        clock=SystemClock(),
        ask_judge=not no_call,
        before_calls=_say_cost,
    )
    checks = list(found)
    if as_json:
        put_json({"ok": not has_failed(checks), "checks": [asdict(check) for check in checks]})
    else:
        _put_checks(checks)
    if has_failed(checks):
        ctx.exit(1)


def _say_cost(n_calls: int, most_usd: float | None) -> None:
    cost = "its price is not known" if most_usd is None else f"at most {usd(most_usd)}"
    say(f"asking the judge: {counted(n_calls, 'call')}, {cost} (--no-call leaves that out)")


def _put_checks(checks: list[Check]) -> None:
    put_table(_COLUMNS, [(check.name, check.status, check.found) for check in checks], long=("found",), fold=True)
    amiss = [check for check in checks if check.fix and check.status in ("fail", "warn")]
    if amiss:
        put()
        put("What to do:")
    for check in sorted(amiss, key=lambda check: check.status):
        put(f"  {check.status} {check.name}: {check.fix}")
    put()
    put(_summary(checks))


def _summary(checks: list[Check]) -> str:
    n = {status: sum(check.status == status for check in checks) for status in ("ok", "warn", "fail", "skipped")}
    parts = [f"{n['ok']} ok", counted(n["warn"], "warning"), f"{n['fail']} failed"]
    return ", ".join(parts + ([f"{n['skipped']} not looked at"] if n["skipped"] else []))
