"""The root command: help, versions, exit codes, and every fault as one line."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from evaluator.cli import cli
from evaluator.cli.root import Entry, Root
from evaluator.errors import ConfigError, JudgewatchError, StoreError
from tests.cli.conftest import invoke, ok

EXECUTABLE = [sys.executable, "-m", "evaluator.cli"]
WITHOUT_JSON = frozenset({"demo", "dashboard", "local fetch", "run watch"})
WITHOUT_DB = frozenset({"demo", "init", "local fetch"})


def commands(group: click.Group = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield every command that does something, with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


ALL = dict(commands())


# ---------------------------------------------------------------- the tree


def test_tree_holds_the_commands_of_the_product() -> None:
    """A command that is not in the tree cannot be tested by walking it."""
    assert set(ALL) == {
        "demo", "init", "doctor", "recheck", "import", "run once", "run watch", "check", "dashboard",
        "history", "segments", "items list", "items show", "items delete", "export", "anchors list",
        "rubric list", "rubric show", "event add", "event list", "db info", "db migrate", "db backup",
        "db rebuild", "source test", "source list", "local fetch", "anchors pick", "anchors freeze",
        "anchors check", "anchors health", "anchors power", "baseline list", "baseline accept", "baseline undo",
        "alerts preview",
    }  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_command_explains_itself(name: str) -> None:
    """Every command has a sentence of help and exits with 0 for it."""
    assert (ALL[name].help or "").strip().split("\n")[0].endswith((".", ":"))
    text = ok(*name.split(), "--help")
    assert "Usage: " in text


@pytest.mark.parametrize("name", ALL)
def test_option_explains_itself(name: str) -> None:
    """Every option of every command has help, or is plain from its choices and default."""
    for parameter in ALL[name].params:
        if isinstance(parameter, click.Option):
            plain = isinstance(parameter.type, click.Choice) or parameter.show_default
            assert parameter.help or plain, f"{name} {parameter.opts}"


@pytest.mark.parametrize("name", sorted(set(ALL) - WITHOUT_JSON))
def test_command_prints_json_for_programs(name: str) -> None:
    """Whatever prints a result prints it as JSON too."""
    assert any("--json" in parameter.opts for parameter in ALL[name].params)


@pytest.mark.parametrize("name", sorted(set(ALL) - WITHOUT_DB))
def test_command_takes_a_database_and_an_app(name: str) -> None:
    """Which database is meant is said in the same way everywhere."""
    options = {option for parameter in ALL[name].params for option in parameter.opts}
    assert {"--config", "--db", "--app"} <= options


@pytest.mark.parametrize("name", ALL)
def test_unknown_option_is_wrong_usage(name: str) -> None:
    """64, not click's 2, which means judge drift here."""
    assert invoke(*name.split(), "--no-such-option").exit_code == 64


# ---------------------------------------------------------------- help and version


def test_help_lists_commands_in_groups() -> None:
    """The four groups, in order, with every command under one of them."""
    text = ok("--help")
    places = [text.index(f"\n{heading}:\n") for heading in ("Start", "Daily", "Investigate", "Admin")]
    assert places == sorted(places)
    for name in cli.list_commands(click.Context(cli)):
        assert f"\n  {name} " in text


def test_help_of_the_root_loads_no_command() -> None:
    """The list comes from a table, so that it is there at once."""
    code = (
        "import sys; from click.testing import CliRunner; from evaluator.cli import cli;"
        "assert CliRunner().invoke(cli, ['--help']).exit_code == 0;"
        "print([n for n in sys.modules if n.startswith(('evaluator.cli.', 'evaluator.store', 'rich', 'pydantic'))])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "['evaluator.cli.output', 'evaluator.cli.target', 'evaluator.cli.root']"


def test_help_is_there_at_once() -> None:
    """Under 0.3 s of processor time, which a busy machine does not stretch."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
    )
    measure = [sys.executable, "-c", code, *EXECUTABLE, "--help"]
    fastest = min(float(subprocess.run(measure, capture_output=True, text=True, check=True).stdout) for _ in range(3))
    assert fastest < 0.3


@pytest.mark.parametrize("option", ["--version"])
def test_version_is_that_of_the_package(option: str) -> None:
    """What a report of a fault should begin with."""
    assert ok(option) == f"judgewatch {version('judgewatch')}\n"


def test_module_stands_for_the_command() -> None:
    """``python -m evaluator.cli`` where the script is not on the path."""
    found = subprocess.run([*EXECUTABLE, "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("judgewatch ")


# ---------------------------------------------------------------- wrong usage


@pytest.mark.parametrize("args", [(), ("run",), ("items",), ("db",)])
def test_no_arguments_show_help_and_are_wrong_usage(args: tuple[str, ...]) -> None:
    """A script that forgot the verb must not take this for success."""
    result = invoke(*args)
    assert result.exit_code == 64
    assert "Usage: " in result.stderr
    assert result.stdout == ""


def test_unknown_command_is_wrong_usage() -> None:
    """Named, with the way to the list."""
    result = invoke("chek")
    assert result.exit_code == 64
    assert result.stderr.splitlines() == [
        "error: No such command 'chek'.",
        "`judgewatch --help` shows how it is used",
    ]


def test_usage_error_points_to_the_help_of_its_command() -> None:
    """Not to the help of the root."""
    assert "`judgewatch items list --help`" in invoke("items", "list", "--limit", "many").stderr


# ---------------------------------------------------------------- faults


class OneCommand(Root):
    """A root with a single command, which is there already."""

    def __init__(self, command: click.Command) -> None:
        super().__init__("judgewatch", sections={"All": {"fail": Entry(module=__name__, help="Fail.")}})
        self.only = command

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Whatever is asked for."""
        return self.only


def failing(error: BaseException) -> Root:
    """A root whose one command raises an error."""

    @click.command("fail")
    def fail() -> None:
        raise error

    return OneCommand(fail)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (JudgewatchError("no runs yet"), 1, "error: no runs yet"),
        (StoreError("locked"), 1, "error: locked"),
        (ConfigError("judge.model is missing"), 64, "error: judge.model is missing"),
        (JudgewatchError("two\nlines"), 1, "error: two lines"),
        (JudgewatchError("a \x1b[31mred\x1b[0m name"), 1, "error: a ␛[31mred␛[0m name"),
        (sqlite3.OperationalError("database is locked"), 1, "error: data/judgewatch.db is locked by another program"),
        (sqlite3.DatabaseError("file is not a database"), 1, "error: data/judgewatch.db is not a judgewatch database"),
        (OSError(errno.ENOSPC, "No space left on device", "out.csv"), 1, "error: out.csv: No space left on device"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "error: No space left on device"),
        (click.ClickException("odd"), 1, "error: odd"),
        (KeyboardInterrupt(), 1, "stopped"),
    ],
)
def test_fault_is_one_line(error: BaseException, code: int, line: str) -> None:
    """No traceback, and the code says whose fault it is."""
    result = CliRunner().invoke(failing(error), ["fail"])
    assert result.exit_code == code
    assert result.stdout == ""
    (found,) = [text for text in result.stderr.splitlines() if text]
    assert found.startswith(line)


@pytest.mark.parametrize("error", [ZeroDivisionError("division by zero"), sqlite3.ProgrammingError("no :x")])
def test_fault_of_the_program_says_so(error: Exception) -> None:
    """Type, message, and how to see more; a wrong call of the database is no state of the file."""
    result = CliRunner().invoke(failing(error), ["fail"])
    assert result.exit_code == 1
    first, second = result.stderr.splitlines()
    assert first == f"error: {type(error).__name__}: {error}"
    assert "--debug" in second


@pytest.mark.parametrize("by", ["option", "variable"])
def test_debug_shows_the_place(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The traceback, for a report of a fault."""
    monkeypatch.setitem(sys.modules, "evaluator.cli.check", failing_module())
    if by == "variable":
        monkeypatch.setenv("JUDGEWATCH_DEBUG", "1")
    result = invoke(*(["--debug"] if by == "option" else []), "check")
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "ZeroDivisionError" in result.stderr


def failing_module() -> object:
    """A module whose command divides by zero."""

    @click.command("check")
    def check() -> None:
        raise ZeroDivisionError

    return type("Module", (), {"command": check})


def test_warning_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning of the store is a sentence for a person, without a place in the code."""

    @click.command("check")
    def check() -> None:
        warnings.warn("the disk is slow", UserWarning, stacklevel=1)

    monkeypatch.setitem(sys.modules, "evaluator.cli.check", type("Module", (), {"command": check}))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = invoke("check")
    assert result.exit_code == 0
    assert result.stderr == "note: the disk is slow\n"


def test_reader_that_leaves_early_hears_nothing(tmp_path: Path) -> None:
    """``| head`` ends the command without a complaint."""
    script = (
        "import click\n"
        "from tests.cli.test_root import OneCommand\n"
        "@click.command()\n"
        "def command():\n"
        "    for n in range(100_000): click.echo(f'line {n}')\n"
        "OneCommand(command).main(['fail'])\n"
    )
    path = tmp_path / "script.py"
    path.write_text(script, encoding="utf-8")
    command = f"{sys.executable} {path} | head -n 1; exit ${{PIPESTATUS[0]}}"
    here = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": here}
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=environment)
    assert (found.stdout, found.stderr, found.returncode) == ("line 0\n", "", 0)


def test_entry_point_is_the_main_function() -> None:
    """What the installed script calls exits with the code of the command."""
    code = "import sys; sys.argv = ['x', 'nonsense']; from evaluator.cli import main; main()"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 64
