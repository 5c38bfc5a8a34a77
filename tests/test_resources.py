"""The shipped data is found in a checkout and in every layout that an installed wheel has."""

from __future__ import annotations

import json
import site
import sysconfig
from pathlib import Path

import pytest

from evaluator import resources
from evaluator.errors import DataFileError, UsageError

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pretend that the package lies in an empty site-packages, with data folders under ``tmp_path``."""
    root = tmp_path / "lib" / "site-packages"
    (root / "anchors").mkdir(parents=True)
    monkeypatch.setattr(resources, "_ROOT", root)
    monkeypatch.setattr(
        sysconfig, "get_path", lambda _name, scheme=None: str(tmp_path / ("user" if scheme else "prefix"))
    )
    return tmp_path


def put_sample(folder: Path) -> Path:
    """Write a sample into a data folder."""
    path = folder / "share" / "judgewatch" / "sample_traffic.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("{}\n", encoding="utf-8")
    return path


def test_general_anchor_set_and_rubric_are_found() -> None:
    """The set that the demo and a first configuration use is there and readable."""
    assert "general" in resources.anchor_set_names()
    first_line = resources.anchor_set_path("general").read_text(encoding="utf-8").splitlines()[0]
    assert "expected_score" in json.loads(first_line)
    assert "levels" in json.loads(resources.rubric_path("general").read_text(encoding="utf-8"))


def test_every_shipped_set_has_anchors_rubric_and_origin() -> None:
    """A set without a rubric or without a word on its origin cannot be trusted."""
    for name in resources.anchor_set_names():
        folder = resources.anchor_set_path(name).parent
        assert resources.rubric_path(name).parent == folder
        assert (folder / "README.md").is_file()


@pytest.mark.parametrize("name", ["nonesuch", "", "..", "../anchors/general", "general/", "/etc", "gen\x00eral"])
def test_unknown_or_crafted_name_is_refused_with_the_known_ones(name: str) -> None:
    """A name is a name, never a path; the message lists what can be had."""
    with pytest.raises(UsageError, match=r"shipped are: .*general"):
        resources.anchor_set_path(name)
    with pytest.raises(UsageError, match="there is no rubric"):
        resources.rubric_path(name)


def test_checkout_uses_its_own_sample() -> None:
    """In a checkout the file under version control is used, whatever is installed elsewhere."""
    assert resources.sample_traffic_path() == REPOSITORY / "data" / "sample_traffic.jsonl"


def test_wheel_in_an_environment_finds_the_sample_under_its_prefix(installed: Path) -> None:
    """An installed wheel has its data under the prefix of the environment."""
    put_sample(installed / "user")
    expected = put_sample(installed / "prefix")
    assert resources.sample_traffic_path() == expected


def test_wheel_installed_for_one_user_finds_the_sample(installed: Path) -> None:
    """`pip install --user` has another data folder than the interpreter."""
    expected = put_sample(installed / "user")
    assert resources.sample_traffic_path() == expected


def test_wheel_installed_to_a_target_folder_finds_the_sample(installed: Path) -> None:
    """`pip install --target` puts the data beside the packages."""
    expected = put_sample(installed / "lib" / "site-packages")
    assert resources.sample_traffic_path() == expected


def test_missing_sample_says_where_it_was_looked_for(installed: Path) -> None:
    """The message names the places and the fix."""
    with pytest.raises(DataFileError, match="Install judgewatch again") as refused:
        resources.sample_traffic_path()
    assert str(installed / "prefix" / "share" / "judgewatch") in str(refused.value)


def test_no_sets_at_all_is_said(installed: Path) -> None:
    """A broken installation names no set instead of an empty list."""
    assert resources.anchor_set_names() == ()
    with pytest.raises(UsageError, match="shipped are: none"):
        resources.rubric_path("general")


def test_user_scheme_is_the_one_python_installs_to() -> None:
    """The scheme asked for is where `pip install --user` writes on this system."""
    user_data = sysconfig.get_path("data", sysconfig.get_preferred_scheme("user"))
    assert Path(user_data) == Path(site.getuserbase())
