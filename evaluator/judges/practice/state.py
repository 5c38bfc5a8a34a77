"""What the practice judge is set to and what it has counted; no network here.

The settings change only through the control port, which the scorer never learns of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from evaluator.judges.practice.grading import Mood

MAX_TEXTS_COUNTED = 100_000


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What goes wrong on purpose.

    ``latency_ms`` is waited before every reply. ``fail_rate`` (0..1) of the calls get ``fail_status`` instead of a
    verdict, spread evenly: at 0.25 every fourth. While ``hang`` is set no call gets a reply at all.
    """

    latency_ms: float = 0.0
    fail_rate: float = 0.0
    fail_status: int = 500
    hang: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.latency_ms <= 600_000:
            raise ValueError(f"latency_ms must be between 0 and 600000, not {self.latency_ms}")
        if not 0 <= self.fail_rate <= 1:
            raise ValueError(f"fail_rate must be between 0 and 1, not {self.fail_rate}")
        if not 400 <= self.fail_status <= 599:
            raise ValueError(f"fail_status must be an HTTP error between 400 and 599, not {self.fail_status}")

    def fails(self, call_number: int) -> bool:
        """Whether the call with this number, counted from 1, is one of those that fail."""
        return int(call_number * self.fail_rate) > int((call_number - 1) * self.fail_rate)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Mood and faults together, changed as one."""

    mood: Mood = field(default_factory=Mood)
    faults: Faults = field(default_factory=Faults)

    def changed(self, changes: Mapping[str, object]) -> Settings:
        """Return the settings with some values replaced; nothing changes when one of them is wrong.

        Raises:
            ValueError: an unknown name, a value of another type, or one out of range.
        """
        for name, value in changes.items():
            _check(name, value)
        mood: dict[str, Any] = {name: value for name, value in changes.items() if name in _MOOD_NAMES}
        faults: dict[str, Any] = {name: value for name, value in changes.items() if name not in _MOOD_NAMES}
        return Settings(mood=replace(self.mood, **mood), faults=replace(self.faults, **faults))

    def as_dict(self) -> dict[str, Any]:
        """Return all settings by name."""
        return {**asdict(self.mood), **asdict(self.faults)}


_MOOD_NAMES = frozenset(each.name for each in fields(Mood))

_TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "day": ((int,), "a whole number"),
    "generosity": ((int, float), "a number"),
    "noise_factor": ((int, float), "a number"),
    "resolved_model": ((str,), "a text"),
    "fingerprint": ((str, type(None)), "a text or null"),
    "latency_ms": ((int, float), "a number"),
    "fail_rate": ((int, float), "a number"),
    "fail_status": ((int,), "a whole number"),
    "hang": ((bool,), "true or false"),
}


def _check(name: str, value: object) -> None:
    if name not in _TYPES:
        raise ValueError(f"no setting is called {name!r}; there are {', '.join(_TYPES)}")
    types, wanted = _TYPES[name]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise ValueError(f"{name} must be {wanted}, not {value!r}")


class PracticeState:
    """The settings now, and the counts since the start."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.n_calls = 0
        self.n_by_status: Counter[str] = Counter()
        self.n_by_text: Counter[str] = Counter()
        self.n_calls_of_other_texts = 0

    def count_text(self, key: str) -> None:
        """Count a call for a text, whatever comes of the call; past ``MAX_TEXTS_COUNTED`` new texts share one count."""
        if key in self.n_by_text or len(self.n_by_text) < MAX_TEXTS_COUNTED:
            self.n_by_text[key] += 1
        else:
            self.n_calls_of_other_texts += 1

    def as_dict(self) -> dict[str, Any]:
        """Return settings and counts as plain JSON."""
        return {
            **self.settings.as_dict(),
            "calls": self.n_calls,
            "calls_by_status": dict(self.n_by_status),
            "calls_by_text": dict(self.n_by_text),
            "calls_of_other_texts": self.n_calls_of_other_texts,
        }
