"""Puts a new configuration in place: checked as it will be read, whole or not at all, never over one that is there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evaluator.config import CONFIG_NAME, load_config
from evaluator.errors import ConfigError, JudgewatchError, UsageError


@contextmanager
def no_folder_left(folder: Path) -> Iterator[None]:
    """Take away the folders that were made meanwhile, if it ends early: stopped half way is as if never begun."""
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    is_done = False
    try:
        yield
        is_done = True
    finally:
        for place in () if is_done else new:
            with suppress(OSError):  # never made, or something else stands in it by now
                place.rmdir()


def check_place(folder: Path, *, force: bool) -> Path:
    """Return where the configuration will stand; the folder is made, because paths in it start there.

    Raises:
        UsageError: the folder is a file, or there is a configuration already and ``force`` is not set.
        JudgewatchError: the folder cannot be made, or nothing can be written into it.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder for {CONFIG_NAME}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JudgewatchError(f"the folder {folder} cannot be made: {error.strerror or error}") from error
    if not os.access(folder, os.W_OK):
        raise JudgewatchError(f"nothing can be written into {folder}; name another folder, or change its rights")
    path = folder / CONFIG_NAME
    if os.path.lexists(path) and not force:
        raise UsageError(f"there is a configuration at {path} already; --force replaces it and keeps it as a copy")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; remove it, or name another folder")
    return path


def place_config(text: str, path: Path) -> Path | None:
    """Check a configuration as ``load_config`` reads it and put it in place.

    Args:
        text: The whole file.
        path: Where it goes; what is there is kept beside it first.

    Returns:
        The copy of what was there; None when nothing was.

    Raises:
        ConfigError: the text cannot be used; nothing was changed.
        JudgewatchError: the folder cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
            file.write(text)
            new = Path(file.name)
    except OSError as error:
        raise JudgewatchError(f"{path} cannot be written: {error.strerror or error}") from error
    try:
        load_config(new)
        kept = _keep(path)
        new.chmod(0o644)  # a temporary file is for its owner alone; a configuration holds no secret
        new.replace(path)
    except ConfigError as error:
        raise ConfigError(str(error).replace(str(new), str(path))) from error
    finally:
        new.unlink(missing_ok=True)
    return kept


def _keep(path: Path) -> Path | None:
    """Copy what is there under a name that is free."""
    if not path.exists():
        return None
    kept = path.with_name(f"{path.name}.bak")
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}.bak{number}")
    kept.write_bytes(path.read_bytes())
    return kept
