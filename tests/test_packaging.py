"""A wheel carries everything that the code reads, and nothing else; the pinned versions fit what is declared.

The wheel is built from a copy of the tree, in a process of its own, without a network.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("evaluator", "dashboard", "anchors")
SOURCES = ("pyproject.toml", "README.md", "LICENSE", *PACKAGES, "data/sample_traffic.jsonl")
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "*.pyc", "*.db", "*.db-*", ".DS_Store")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
SAMPLE = "share/judgewatch/sample_traffic.jsonl"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def copy_sources(target: Path) -> None:
    """Copy what a wheel is built from, so that the build leaves nothing in the repository."""
    for name in SOURCES:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=LEFT_BEHIND)
        elif source.exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / name)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel once."""
    folder = tmp_path_factory.mktemp("wheel")
    copy_sources(folder / "tree")
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)], cwd=folder / "tree", capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    """Read what the wheel says of itself."""
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return message_from_string(wheel.read(name).decode("utf-8"))


def shipped_files() -> set[str]:
    """List every file of the packages as it stands in the repository."""
    paths = (path for package in PACKAGES for path in (REPOSITORY / package).rglob("*") if path.is_file())
    kept = (path for path in paths if "__pycache__" not in path.parts and ".db" not in path.name)
    return {path.relative_to(REPOSITORY).as_posix() for path in kept}


def test_every_file_of_the_packages_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    """Code, queries, themes, anchors: a file that a checkout has and the wheel lacks fails for users only."""
    missing = shipped_files() - set(wheel.namelist())
    assert not missing, f"add to [tool.setuptools.package-data]: {sorted(missing)}"


@pytest.mark.parametrize(
    "name",
    [
        "evaluator/py.typed",
        "evaluator/store/queries/read/scores.sql",
        "anchors/general/anchors.jsonl",
        "anchors/general/rubric.json",
        "anchors/general/README.md",
    ],
)
def test_data_that_is_read_at_run_time_is_in_the_wheel(wheel: zipfile.ZipFile, name: str) -> None:
    """The same by name, so that a file that left the repository is noticed as well."""
    assert name in wheel.namelist()


def test_sample_of_traffic_is_installed_where_it_is_looked_for(wheel: zipfile.ZipFile) -> None:
    """The sample is no part of a package; it lands in the environment's share folder, unchanged."""
    (name,) = (name for name in wheel.namelist() if name.endswith(f".data/data/{SAMPLE}"))
    assert wheel.read(name) == (REPOSITORY / "data" / "sample_traffic.jsonl").read_bytes()


def test_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    """No tests, no databases, no folders that would sit in everybody's site-packages."""
    top_level = {name.partition("/")[0] for name in wheel.namelist()}
    prefix = f"judgewatch-{PROJECT['version']}"
    assert top_level == {*PACKAGES, f"{prefix}.dist-info", f"{prefix}.data"}
    assert not [name for name in wheel.namelist() if name.endswith((".db", ".pyc")) or "/tests/" in name]


def test_wheel_is_small(wheel: zipfile.ZipFile) -> None:
    """Nobody should wait for a download because a large file slipped in."""
    assert sum(member.compress_size for member in wheel.infolist()) < 2_000_000


def test_metadata_names_licence_python_and_command(wheel: zipfile.ZipFile, metadata: Message) -> None:
    """What package indexes and installers read."""
    assert metadata["Name"] == "judgewatch"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.11"
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert b"judgewatch = evaluator.cli:main" in wheel.read(name)


def test_running_needs_no_test_tool(metadata: Message) -> None:
    """An installation without extras pulls neither pytest nor a browser."""
    required = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
    plain = {requirement.name for requirement in required if requirement.marker is None}
    assert plain == {Requirement(text).name for text in PROJECT["dependencies"]}
    assert plain.isdisjoint({"pytest", "playwright", "mypy", "ruff", "hypothesis"})


def test_licence_is_the_whole_text() -> None:
    """The licence file is the full Apache text, terms and appendix."""
    text = (REPOSITORY / "LICENSE").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def read_pins() -> dict[str, Version]:
    """Read constraints.txt."""
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = (line.partition(";")[0].strip().partition("==") for line in lines)
    return {canonicalize_name(name): Version(version) for name, _, version in pins}


def test_constraints_are_plain_pins() -> None:
    """Names and versions only: no index, no path, no option that would hold on one machine."""
    pin = re.compile(r"[a-z0-9][a-z0-9._-]*==[0-9][A-Za-z0-9.!+]*( ; [a-z_]+ .*)?")
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert lines
    assert [line for line in lines if not pin.fullmatch(line)] == []


def test_every_dependency_is_pinned_to_a_version_it_allows() -> None:
    """A dependency added to pyproject.toml without `make constraints` would float."""
    pins = read_pins()
    declared = [Requirement(text) for text in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]]
    for requirement in declared:
        pinned = pins.get(canonicalize_name(requirement.name))
        assert pinned is not None, f"{requirement.name} is not in constraints.txt; run make constraints"
        assert requirement.specifier.contains(pinned), f"{requirement} does not allow the pinned {pinned}"
