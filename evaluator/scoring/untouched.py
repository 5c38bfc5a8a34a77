"""A look ahead leaves nothing behind: where there is no database yet, one is made elsewhere and thrown away."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evaluator.config import Config


@contextmanager
def leaving_no_database(config: Config) -> Iterator[Config]:
    """Give the configuration for a look ahead: with its own database, or with a throw-away one where it has none."""
    if config.store_path.exists():
        yield config
        return
    with tempfile.TemporaryDirectory(prefix="judgewatch-") as folder:
        store = config.store.model_copy(update={"path": str(Path(folder) / "look-ahead.db")})
        yield config.model_copy(update={"store": store})
