"""``judgewatch init``: the first configuration, from flags or questions; what it says is in ``init_texts``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaluator.cli.target import json_option
from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.starting.choices import Choices
    from evaluator.starting.forecast import Forecast

_PATHS = ("prompt_file", "files")


@click.command("init")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path())
@click.option("--model", help="Name the judge's server is asked for; pin a dated version.")
@click.option("--base-url", help="Address of the judge's server [default: https://api.openai.com/v1].")
@click.option("--key-env", "api_key_env", help="NAME of the variable with the key [default: OPENAI_API_KEY].")
@click.option("--prompt-file", help="A prompt of your own, with {{input}} and {{output}}.")
@click.option("--scale", nargs=2, type=float, metavar="MIN MAX", help="Lowest and highest score of that prompt.")
@click.option("--levels", metavar="WORDS", help="Or the words it answers with, as scores: pass=1,fail=0.")
@click.option("--score-field", metavar="PATH", help="Where in a reply the score stands: score, or grading.points.")
@click.option("--score-pattern", metavar="REGEX", help="Or an expression with one group, the score.")
@click.option("--traffic", "files", metavar="FILES", help="Files with answers of your assistant, as a pattern.")
@click.option("--command", help="Command that prints such answers as JSON lines, instead of files.")
@click.option("--answers-per-day", type=int, help="How many answers of each day are graded [default: 100].")
@click.option("--schedule", "cron", metavar="WORDS", help='When to run: "daily at 06:00", or cron [default: that].')
@click.option("--zone", help="Zone of the schedule and of all days [default: UTC].")
@click.option("--usd-per-day", type=float, help="Most that a day may cost [default: told from the forecast].")
@click.option("--calls-per-day", type=int, help="Most calls of a day, for a model without a known price.")
@click.option("--price", nargs=2, type=float, metavar="IN OUT", help="Dollars per million tokens, where not known.")
@click.option("--alert-url", help="Whom to tell; kept for later, this version sends no alerts yet.")
@click.option("--app", help="The product watched, where a database holds several [default: default].")
@click.option("--force", is_flag=True, help="Replace a configuration that is there; it is kept as a copy.")
@click.option("--yes", "--no-input", "no_input", is_flag=True, help="Ask nothing; take the defaults.")
@json_option
def init(*, folder: Path, force: bool, no_input: bool, as_json: bool, **flags: Any) -> None:
    """Write a first judgewatch.toml and say what it will cost and show.

    On a terminal it asks for what no flag says. Scale and place of the score are read off a prompt of your own where it
    is clear about them, and told. Paths start in the working folder. No judge is called, no key is stored, and a
    configuration that is there stays unless --force is given.
    """
    from evaluator.cli.init_texts import put_outcome
    from evaluator.clock import SystemClock
    from evaluator.starting.forecast import forecast
    from evaluator.starting.placing import check_place, no_folder_left, place_config
    from evaluator.starting.text import config_text

    with no_folder_left(folder):
        path = check_place(folder, force=force)
        asking = not no_input and not as_json and _is_terminal()
        choices, notes = _choices(_given(flags, folder), folder, asking=asking)
        look = forecast(choices.config(folder), now=SystemClock().now())
        choices, why = _with_budget(choices, look, folder, asking=asking)
        kept = place_config(config_text(choices), path)
    put_outcome(choices, look, path=path, kept=kept, notes=[*notes, *why], as_json=as_json)


def _is_terminal() -> bool:
    """Whether there is someone to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _given(flags: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What the flags say, paths as the configuration has to name them."""
    from evaluator.starting.choices import relative_to_config
    from evaluator.starting.levels import parse_levels
    from evaluator.starting.schedules import parse_schedule

    given = {name: value for name, value in flags.items() if value is not None}
    if "files" in given and "command" in given:
        raise UsageError("--traffic and --command both say where answers come from; give one of them")
    for name in _PATHS:
        if name in given:
            given[name] = relative_to_config(given[name], folder)
    if "levels" in given:
        given["levels"] = parse_levels(given["levels"])
    if "cron" in given:
        given["cron"] = parse_schedule(given["cron"])
    return given


def _choices(given: dict[str, Any], folder: Path, *, asking: bool) -> tuple[Choices, list[str]]:
    """The choices, and in words what was read off a prompt of one's own."""
    from evaluator.starting.choices import Choices
    from evaluator.starting.own_prompt import settle_own_prompt

    if asking:
        from evaluator.cli.init_questions import ask_choices

        given = ask_choices(given, folder)
    elif "model" not in given:
        raise UsageError(
            "--model is needed: the name your judge's server is asked for, like --model gpt-4.1-mini-2025-04-14"
        )
    settled, notes = settle_own_prompt(given, folder)
    return Choices(**settled), notes


def _with_budget(choices: Choices, look: Forecast, folder: Path, *, asking: bool) -> tuple[Choices, list[str]]:
    """The choices with a limit for the day, and what has to be said about it.

    Raises:
        ConfigError: a budget that cannot be used.
    """
    usd = look.suggested_usd_per_day
    if usd is None:
        calls = choices.calls_per_day or look.suggested_calls_per_day
        unpriced = replace(choices, usd_per_day=None, calls_per_day=calls)
        why = (
            f"no price of {choices.model!r} at {choices.base_url} is known, so dollars cannot be counted:"
            f" calls_per_day = {calls} stands in the configuration instead of usd_per_day. To budget in dollars set"
            f' [prices."{choices.model}"], or give --price IN OUT here'
        )
        return unpriced, [why]
    if choices.usd_per_day is None and choices.calls_per_day is None:
        if asking:
            from evaluator.cli.init_questions import ask_budget

            return ask_budget(choices, folder, suggested=usd), []
        return replace(choices, usd_per_day=usd), []
    return choices, []
