"""The command line that starts the page."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import pytest
from streamlit import config

from dashboard import launch


def options(line: list[str]) -> dict[str, str]:
    """The options of a command line by name."""
    flags = line[: line.index("--")]
    return {flag: flags[place + 1] for place, flag in enumerate(flags) if flag.startswith("--")}


def test_command_runs_the_app_with_this_python(tmp_path: Path) -> None:
    """The same interpreter, the app's own file, the database behind a double dash."""
    line = launch.command(tmp_path / "my.db", port=8777, headless=True)
    assert (line[0], line[2]) == (sys.executable, "run")
    assert [Path(line[place]).name for place in (1, 3)] == ["serve.py", "app.py"]
    assert Path(line[1]).is_file()
    assert Path(line[3]).is_file()
    assert line[-2:] == ["--", str(tmp_path / "my.db")]


def test_page_is_reachable_from_this_machine_only() -> None:
    """Whoever wants it on a network says so."""
    assert options(launch.command("x.db"))["--server.address"] == "127.0.0.1"
    assert options(launch.command("x.db", address="0.0.0.0"))["--server.address"] == "0.0.0.0"


def test_nothing_is_reported_and_nothing_watched() -> None:
    """No usage statistics, no file watcher, no raw download of tables."""
    found = options(launch.command("x.db", port=8777, headless=True))
    assert found["--browser.gatherUsageStats"] == "false"
    assert found["--server.fileWatcherType"] == "none"
    assert found["--client.disableDataExport"] == "true"
    assert (found["--server.port"], found["--server.headless"]) == ("8777", "true")


def test_every_option_is_one_that_streamlit_knows() -> None:
    """A renamed option would stop the page from starting; the configuration file holds no other."""
    known = config._config_options_template
    names = [name.removeprefix("--") for name in options(launch.command("x.db"))]
    assert not [name for name in names if name not in known]
    written = tomllib.loads((Path(launch.__file__).parent / ".streamlit" / "config.toml").read_text("utf-8"))
    assert {name.partition(".")[0] for name in names} >= set(written)


@pytest.mark.parametrize(
    ("address", "named"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "localhost"), ("::", "localhost"), ("::1", "[::1]"), ("box", "box")],
)
def test_streamlit_is_told_its_address(address: str, named: str) -> None:
    """Else it asks a server on the internet for it."""
    assert options(launch.command("x.db", address=address))["--browser.serverAddress"] == named


def test_streamlit_says_no_greeting_of_its_own() -> None:
    """The command has said the address; two of them, with ports of Streamlit's choosing, confuse."""
    assert options(launch.command("x.db"))["--logger.hideWelcomeMessage"] == "true"


def test_environment_names_the_database_by_its_whole_path() -> None:
    """The server may run in another folder."""
    found = launch.environment("some.db")
    assert found[launch.DB_VARIABLE] == str(Path("some.db").absolute())
    assert found["PATH"] == os.environ["PATH"]
