"""What lies in the repository holds on every machine: no local paths, no package indexes, no large files.

Reads every file that is under version control or would be; in an unpacked archive, every file outside the folders that
tools make.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
MADE_BY_TOOLS = re.compile(r"^(\.git|\.venv|build|dist|__pycache__|\.hypothesis)$|_cache$|\.egg-info$")
LARGEST_BYTES = 3_000_000

# put together from parts, so that this file passes its own test
FORBIDDEN = {
    "a folder of one machine": re.compile(
        r"(?<![\w.:/-])/" + r"(work|root|tmp/w|home/[a-z]\w*|Users/[A-Za-z]\w*)" + r"(/|\b)"
    ),
    "a package index": re.compile(
        "|".join(["pypi" + r"\.org", "python" + "hosted", "index" + "-url", "find" + "-links"])
    ),
    "a conflict that was not resolved": re.compile("^(" + "<" * 7 + "|" + ">" * 7 + ") ", re.MULTILINE),
    "a key": re.compile(r"\bsk-" + r"(proj-)?[A-Za-z0-9]{32,}"),
}


def list_files(root: Path) -> list[Path]:
    """List the files that belong to the repository."""
    names = _listed_by_git(root)
    paths = _walk(root) if names is None else [root / name for name in names]
    return sorted(path for path in paths if path.is_file())


def _listed_by_git(root: Path) -> list[str] | None:
    if not (root / ".git").exists():
        return None
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return [name for name in listed.stdout.split("\0") if name] if listed.returncode == 0 else None


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not MADE_BY_TOOLS.search(name)]
        yield from (Path(folder) / name for name in names)


def find_forbidden(text: str) -> list[str]:
    """Return what must not stand in a file, with the line."""
    return [
        f"line {text.count(chr(10), 0, found.start()) + 1}: {what}: {found.group()!r}"
        for what, pattern in FORBIDDEN.items()
        for found in pattern.finditer(text)
    ]


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """List the files once."""
    return list_files(REPOSITORY)


def test_no_file_speaks_of_one_machine(files: list[Path]) -> None:
    """Paths, indexes and keys of whoever wrote a file are of no use to anyone else."""
    problems = []
    for path in files:
        content = path.read_bytes()
        if b"\0" not in content[:8192]:
            text = content.decode("utf-8", "replace")
            problems += [f"{path.relative_to(REPOSITORY)}, {problem}" for problem in find_forbidden(text)]
    assert problems == []


def test_no_file_is_large(files: list[Path]) -> None:
    """A clone stays quick: databases, models and recordings live elsewhere."""
    large = [path.relative_to(REPOSITORY).as_posix() for path in files if path.stat().st_size > LARGEST_BYTES]
    assert large == []


def test_files_that_every_checkout_needs_are_there(files: list[Path]) -> None:
    """The walk really covers the repository."""
    names = {path.relative_to(REPOSITORY).as_posix() for path in files}
    needed = {
        "Makefile",
        "LICENSE",
        "CHANGELOG.md",
        "pyproject.toml",
        "constraints.txt",
        ".ci/run",
        "evaluator/records.py",
    }
    assert needed <= names


def test_scripts_can_be_run() -> None:
    """What CI calls has its executable bit."""
    assert (REPOSITORY / ".ci" / "run").stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize(
    "text",
    [
        "see /" + "work/main/x.py",
        "cd /" + "root",
        "'/" + "home/ann/x'",
        "--index" + "-url https://example.org",
        "https://files.python" + "hosted.org/x",
        "x\n" + "<" * 7 + " HEAD\n",
        "key = sk-" + "a1" * 20,
    ],
)
def test_each_forbidden_thing_is_found(text: str) -> None:
    """A pattern that matches nothing guards nothing."""
    assert len(find_forbidden(text)) == 1


@pytest.mark.parametrize(
    "text", ["https://example.org/work/x", "app/root.py", "the /v1/chat path", "sk-test", "homework/", "=======\n"]
)
def test_ordinary_text_passes(text: str) -> None:
    """Addresses and words that only look alike are fine."""
    assert find_forbidden(text) == []


def test_archive_without_version_control_is_walked(tmp_path: Path) -> None:
    """The tests also run in an unpacked archive, past what tools have made there."""
    for name in ("a/b.py", ".venv/lib/x.py", "a/__pycache__/b.pyc", ".mypy_cache/y", ".ci/run"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    assert [path.relative_to(tmp_path).as_posix() for path in list_files(tmp_path)] == [".ci/run", "a/b.py"]
