"""Lets a caller see the raw answers that a judge's calls get: their headers, their bytes, when they came.

The scorer needs none of this. Whoever looks for a cache or a wrong clock between here and the model does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """One answer as it came: names of headers in small letters, the body as text."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: str = field(repr=False)


_WATCHER: ContextVar[Callable[[Sighting], None] | None] = ContextVar("judgewatch_sightings", default=None)


@contextmanager
def watching(on_sight: Callable[[Sighting], None]) -> Iterator[None]:
    """Show every answer that calls made within this block get, tasks begun in it included."""
    token = _WATCHER.set(on_sight)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def note_answer(status: int, headers: Mapping[str, str], body: str) -> None:
    """Show an answer to whoever watches; called for every answer, whatever its status."""
    on_sight = _WATCHER.get()
    if on_sight is not None:
        names = {name.lower(): value for name, value in headers.items()}
        on_sight(Sighting(status=status, headers=names, body=body))
