"""A look ahead leaves everything as it was: where there is no database yet, one is made elsewhere and thrown away."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evaluator.config import Config
from evaluator.store.look_ahead import untouched


@contextmanager
def leaving_no_database(config: Config) -> Iterator[Config]:
    """Give the configuration for a look ahead: with its own database, or with a throw-away one.

    That is for where it has none, and for where opening its own would change it, or is not allowed.
    """
    if config.store_path.exists():
        with untouched(config.store_path) as path:
            store = config.store.model_copy(update={"path": str(path.absolute())})
            yield config.model_copy(update={"store": store})
        return
    with tempfile.TemporaryDirectory(prefix="judgewatch-") as folder:
        store = config.store.model_copy(update={"path": str(Path(folder) / "look-ahead.db")})
        yield config.model_copy(update={"store": store})
