"""The root command: loads a command's module only when that command is asked for, and turns every fault into one line.

Exit codes: 0 ran, 1 could not run, 64 wrong usage; commands add their own with ``Context.exit``.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import click

from evaluator.cli.output import one_line, say
from evaluator.cli.target import DEFAULT_DB, Session
from evaluator.errors import JudgewatchError, UsageError

EXIT_FAILED = 1
EXIT_USAGE = UsageError.exit_code
_HINT = "this is a fault of judgewatch, not of yours; `judgewatch --debug ...` shows where it happened"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One command of the root: where it is, and its line in the root's help."""

    module: str
    help: str
    name: str = "command"


class Root(click.Group):
    """A group that knows its commands by table.

    Args:
        sections: Heading to command name to entry, in the order of the help page.
    """

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, Entry]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.sections = sections
        self.entries = {name: entry for entries in sections.values() for name, entry in entries.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of the help page."""
        del ctx
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        del ctx
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(importlib.import_module(entry.module), entry.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, from the table alone."""
        del ctx
        width = max(len(name) for name in self.entries)
        for heading, entries in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), entry.help) for name, entry in entries.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and exit with its code; every fault becomes one line on stderr."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        session = Session(debug=bool(os.environ.get("JUDGEWATCH_DEBUG")))
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            sys.exit(self._run(session, args, prog_name, complete_var, extra))

    def _run(
        self,
        session: Session,
        args: Sequence[str] | None,
        prog_name: str | None,
        complete_var: str | None,
        extra: Mapping[str, Any],
    ) -> int:
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **{**extra, "obj": session})
        except click.UsageError as error:
            return _refuse(error)
        except click.ClickException as error:
            say(f"error: {one_line(error.format_message())}")
            return EXIT_FAILED
        except click.Abort:
            say("stopped")
            return EXIT_FAILED
        except Exception as error:  # noqa: BLE001 - the last place where a fault can be put into words
            return _report(error, session)
        return code if isinstance(code, int) else 0

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that has seen enough (``| head``) ends it without a word."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_stdout()
            ctx.exit(0)
        return result


def _refuse(error: click.UsageError) -> int:
    """Say how the command is used."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return EXIT_USAGE
    say(f"error: {one_line(error.format_message())}")
    if error.ctx is not None:
        say(f"`{error.ctx.command_path} --help` shows how it is used")
    return EXIT_USAGE


def _forget_stdout() -> None:
    """Let what is left in the buffer go nowhere, or Python complains about it when it ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _report(error: Exception, session: Session) -> int:
    """Say what went wrong in one line; return the exit code."""
    explained = _in_words(error, session)
    if explained is not None:
        if session.debug:
            _print_trace(error)
        say(f"error: {one_line(explained)}")
        return explained.exit_code
    if session.debug:
        _print_trace(error)
    say(f"error: {type(error).__name__}: {one_line(error, 500)}")
    say(_HINT)
    return EXIT_FAILED


def _in_words(error: Exception, session: Session) -> JudgewatchError | None:
    """Return an error that a person can act on; None for a fault of the program."""
    if isinstance(error, JudgewatchError):
        return error
    # only the store imports sqlite3; its other errors are faults of the program, not states of a file
    store_db = sys.modules.get("evaluator.store.db")
    if store_db is not None and type(error) in (store_db.sqlite3.OperationalError, store_db.sqlite3.DatabaseError):
        explained: JudgewatchError = store_db.explain(error, session.db or DEFAULT_DB)
        return explained
    if isinstance(error, OSError):
        place = f"{Path(error.filename)}: " if isinstance(error.filename, str) else ""
        return JudgewatchError(f"{place}{error.strerror or error}")
    return None


def _print_trace(error: Exception) -> None:
    say("".join(traceback.format_exception(error)))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say a warning as a sentence, without the place in the code that noticed it."""
    del category, filename, lineno, file, line
    say(f"note: {one_line(message)}")
