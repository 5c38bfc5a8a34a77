"""The link from an answer to the user's own trace store, from the template ``traffic.item_url``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from evaluator.records import Source


def item_link(template: str | None, item: Mapping[str, Any]) -> str | None:
    """Return the address of an item; None without a template, for anchors, and without the id that it asks for.

    Ids come from data: they are percent-encoded as a whole, so that they can name one place below the configured
    address and nothing else.

    Args:
        template: An http or https address with ``{external_id}`` or ``{item_id}`` in it.
        item: With the keys ``item_id``, ``external_id`` and ``source``.
    """
    if template is None or item.get("source") == Source.ANCHOR or not template.startswith(("http://", "https://")):
        return None
    address = template
    for name in ("external_id", "item_id"):
        mark = f"{{{name}}}"
        if mark not in template:
            continue
        value = str(item.get(name) or "")
        if value in ("", ".", ".."):
            return None
        address = address.replace(mark, quote(value, safe=""))
    return address
