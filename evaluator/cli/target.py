"""Which configuration, database and app a command works on, from its options."""

from __future__ import annotations

import functools
import getpass
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaluator.errors import UsageError

if TYPE_CHECKING:
    from evaluator.config import Config
    from evaluator.store.db import Store

CONFIG_NAME = "judgewatch.toml"
DEFAULT_DB = Path("data/judgewatch.db")
DEFAULT_APP = "default"
LONGEST_APP_NAME = 80  # as in the configuration


def user_name() -> str:
    """The name of the user who runs this process, for the record; some containers have none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


@dataclass(kw_only=True)
class Session:
    """What one call of the command line knows: whether faults are shown in full, and the database in use."""

    debug: bool = False
    db: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Target:
    """The options ``--config``, ``--db`` and ``--app`` of a command, as they were given."""

    config_path: Path | None
    db_path: Path | None
    app_name: str | None

    @cached_property
    def config(self) -> Config | None:
        """The configuration as it is written; None when none was named and there is none here.

        A database named by hand replaces only the path of the configured one: zones and the rest still count.

        Raises:
            ConfigError: it cannot be used.
        """
        if self.config_path is None and not Path(CONFIG_NAME).exists():
            return None
        from evaluator.config import load_config

        return load_config(self.config_path or Path(CONFIG_NAME))

    def needed_config(self) -> Config:
        """Return the configuration for a command that cannot do without; ``--db`` and ``--app`` win over it.

        Raises:
            ConfigError: there is none, or it cannot be used.
        """
        from evaluator.config import load_config

        config = load_config(self.config_path or Path(CONFIG_NAME))
        changes: dict[str, object] = {}
        if self.db_path is not None:
            changes["store"] = config.store.model_copy(update={"path": str(self.db_path.absolute())})
        if self.app_name is not None:
            changes["app"] = config.app.model_copy(update={"name": self.app_name})
        config = config.model_copy(update=changes)
        remember_db(config.store_path)
        return config

    @property
    def db(self) -> Path:
        """The database file."""
        if self.db_path is not None:
            return self.db_path
        return DEFAULT_DB if self.config is None else self.config.store_path

    def use_db(self) -> Path:
        """Return the database file, and note that it is the one in use.

        Raises:
            UsageError: the path is a folder.
        """
        return remember_db(self.db)

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """Open the database read-only.

        Raises:
            StoreError: there is none, or it cannot be used.
        """
        from evaluator.store.db import open_reader

        with open_reader(self.use_db()) as store:
            yield store

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """Open the database, which must exist, for a small write.

        Raises:
            StoreError: there is none, or it cannot be used.
        """
        from evaluator.store.db import open_store

        with open_store(self.use_db(), create=False) as store:
            yield store

    def app_in(self, store: Store) -> str:
        """Return the app to show: the one named, else the configured one, else the only one there is.

        Raises:
            UsageError: the named app is not in the database, or there are several and none was named.
        """
        from evaluator.store import read

        known = read.apps(store)
        name = self.app_name or (self.config.app.name if self.config is not None else None)
        # a database named by hand need not hold the app of the configuration that lies here
        is_foreign = self.app_name is None and self.db_path is not None and name not in known
        if name is None or (is_foreign and known):
            if len(known) > 1:
                raise UsageError(f"{store.path} holds {len(known)} apps; name one with --app: {', '.join(known)}")
            return known[0] if known else DEFAULT_APP
        if known and name not in known and self.app_name is not None:
            raise UsageError(f"there is no app {name!r} in {store.path}; its apps are: {', '.join(known)}")
        return name


def remember_db(path: Path) -> Path:
    """Note which database is in use, so that an error of the database can name it; return it.

    Raises:
        UsageError: the path is a folder.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name the database file in it with --db")
    context = click.get_current_context(silent=True)
    session = context.find_object(Session) if context is not None else None
    if session is not None:
        session.db = path
    return path


def target_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options ``--config``, ``--db`` and ``--app``, passed to it as ``target``."""

    @click.option(
        "--config", "config_path", type=click.Path(path_type=Path), help=f"Configuration (default: ./{CONFIG_NAME})."
    )
    @click.option(
        "--db",
        "db_path",
        type=click.Path(path_type=Path),
        help=f"Database (default: the configured one, {DEFAULT_DB}).",
    )
    @click.option("--app", "app_name", help="App, where a database holds several.")
    @functools.wraps(command)
    def wrapped(
        config_path: Path | None, db_path: Path | None, app_name: str | None, *args: object, **options: object
    ) -> None:
        if app_name is not None and not 0 < len(app_name.strip()) <= LONGEST_APP_NAME:
            raise UsageError(f"--app {app_name!r}: a name of 1 to {LONGEST_APP_NAME} characters is needed")
        target = Target(config_path=config_path, db_path=db_path, app_name=app_name)
        command(*args, target=target, **options)

    return wrapped


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
