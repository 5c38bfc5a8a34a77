"""Remembers with a file how it was read, so that it is read again when a setting that decides this was corrected.

Redaction counts only for a file of which rows were refused: what is stored of a file would come a second time, in
other words, if it were read again for every new pattern.
"""

from __future__ import annotations

import json

from evaluator.config import Config
from evaluator.records import content_hash
from evaluator.sources.base import answer_fields
from evaluator.store.write import FileKind

_DIGEST_CHARS = 16
_REDACTION = ("redact", "redact_patterns", "redact_hook")


def reading_text(config: Config, kind: FileKind, *, some_refused: bool) -> str:
    """Return how a file is read: a hash for each setting that decides it, as JSON.

    Args:
        config: The configuration.
        kind: What the file holds.
        some_refused: Whether rows of it could not be used.
    """
    traffic = config.traffic
    values: dict[str, object] = {
        "fields": answer_fields(config) if kind == "traffic" else traffic.fields,
        "time_format": traffic.time_format,
        "naive_zone": traffic.naive_zone,
    }
    if some_refused:
        values |= {name: getattr(traffic, name) for name in _REDACTION}
    return json.dumps({f"traffic.{name}": _digest(value) for name, value in values.items()})


def changed_settings(before: str, config: Config, kind: FileKind) -> list[str]:
    """Name the settings that read a file otherwise now; none where it is not known how it was read.

    Args:
        before: What ``reading_text`` was when the file was taken in; empty for one of which it was not kept.
        config: The configuration as it is now.
        kind: What the file holds.
    """
    now = json.loads(reading_text(config, kind, some_refused=True))
    then = json.loads(before) if before else {}
    return [name for name, digest in then.items() if now.get(name) != digest]


def _digest(value: object) -> str:
    return content_hash("reading", json.dumps(value, sort_keys=True))[:_DIGEST_CHARS]
