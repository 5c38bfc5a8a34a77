"""Who an item is: the ids under which the store keeps traffic. Pure; which of them is taken, the store decides.

The rule. Read a row, take ``base_item_id``. When the store holds nothing under it, that is the item's id. When it holds
the same texts, the row is a duplicate and adds nothing. When it holds other texts, the row is a new version of the same
external id: it gets ``versioned_item_id`` (again: nothing to add when that is held already) and is reported. No row is
overwritten, and reading any file again, in any order, adds nothing.
"""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring_ascii

from evaluator.records import Item, ItemFlag, Source

_KIND = str(Source.TRAFFIC)


def base_item_id(app: str, item: Item, ordinal: int = 0) -> str:
    """Return the id of a traffic item, 32 hex digits.

    With an external id: the hash of app, "traffic" and that id. Without one: the hash of app, "traffic", the texts, the
    time of the answer and its position among equals, so that two users who both got "Yes." are two items.

    Args:
        app: The product watched.
        item: What was read.
        ordinal: How many rows of the same file with equal texts and time came before it; counted by the importer.
    """
    if item.external_id is not None:
        return _hash_texts(app, _KIND, item.external_id)
    return _hash_texts(app, _KIND, "", item.content_id, _own_time(item), str(ordinal))


def versioned_item_id(app: str, external_id: str, content_id: str) -> str:
    """Return the id of a version of an external id that came with other texts than the first.

    The texts are the version: the same texts have the same id in whatever order files are read; no counter is needed.
    """
    return _hash_texts(app, _KIND, external_id, content_id)


class EqualCounter:
    """Counts rows without an external id that have equal texts and equal times, within one file.

    Memory: a number a row, some 80 bytes; rows with an external id are never counted.
    """

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._repeats: dict[int, int] = {}

    def position(self, item: Item) -> int:
        """Return how many equal rows came before this one, and remember it; 0 when it has an external id."""
        if item.external_id is not None:
            return 0
        key = int(_hash_texts(item.content_id, _own_time(item))[:16], 16)
        if key not in self._seen:
            self._seen.add(key)
            return 0
        self._repeats[key] = self._repeats.get(key, 0) + 1
        return self._repeats[key]


def _own_time(item: Item) -> str:
    """The time a row came with; one that the import gave it is no part of who it is, so it can be given later."""
    return "" if item.answered_utc is None or ItemFlag.GIVEN_TIME in item.flags else item.answered_utc


def _hash_texts(*texts: str) -> str:
    # The same value as records.content_hash of these strings, without its general encoder: one is made for every row.
    encoded = ",".join(map(encode_basestring_ascii, texts))
    return hashlib.sha256(f"[{encoded}]".encode("ascii")).hexdigest()[:32]
