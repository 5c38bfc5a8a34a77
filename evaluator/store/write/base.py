"""What all writes share: JSON as it is stored."""

from __future__ import annotations

import json
from typing import Any


def dump(value: Any) -> str:
    """JSON as it is stored.

    Raises:
        ValueError: it holds NaN or infinity, which no page or program could read back.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
