"""What every check of the doctor shares: its outcome, what it may look at, and that none stops the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from evaluator.config import Config
from evaluator.errors import JudgewatchError
from evaluator.records import Anchor, Rubric
from evaluator.store.db import Store

Status = Literal["ok", "warn", "fail", "skipped"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One line of the doctor's report: what was found and, where something is amiss, what to do."""

    name: str
    status: Status
    found: str
    fix: str = ""


@dataclass(frozen=True, kw_only=True)
class Patient:
    """What checks look at.

    Attributes:
        config: The configuration.
        now: Wall clock.
        store: The database, read-only; None where there is none that can be read.
        rubric: The judge's scale; None where it cannot be loaded.
        anchors: The anchor set; empty where it cannot be loaded.
    """

    config: Config
    now: datetime
    store: Store | None
    rubric: Rubric | None
    anchors: tuple[Anchor, ...]


def ok(name: str, found: str) -> Check:
    """All is well."""
    return Check(name=name, status="ok", found=found)


def warn(name: str, found: str, fix: str) -> Check:
    """It works, and something may be wrong with what comes out."""
    return Check(name=name, status="warn", found=found, fix=fix)


def fail(name: str, found: str, fix: str) -> Check:
    """It does not work, or what comes out means nothing."""
    return Check(name=name, status="fail", found=found, fix=fix)


def skipped(name: str, why: str) -> Check:
    """It was not looked at."""
    return Check(name=name, status="skipped", found=why)


def guarded(name: str, check: Callable[[], Check | Iterable[Check]]) -> list[Check]:
    """Make a check; one that breaks becomes a line of its own and stops no other."""
    try:
        found = check()
        return [found] if isinstance(found, Check) else list(found)
    except JudgewatchError as error:
        return [_from_error(name, error)]
    except Exception as error:  # noqa: BLE001 - whatever it is, the other checks still have something to say
        said = f"the check itself failed: {type(error).__name__}: {error}"
        return [fail(name, said, "this is a fault of judgewatch, not of yours; please report it with this line")]


def _from_error(name: str, error: JudgewatchError) -> Check:
    """An error's message names the thing and, after the last semicolon, the fix."""
    found, semicolon, fix = str(error).rpartition("; ")
    return fail(name, found, fix) if semicolon else fail(name, fix, "")
