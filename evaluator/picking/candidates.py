"""Draws candidates for anchors from stored traffic: at random, each text once, none that cannot be an anchor.

No stored score is read here. What is left out is counted by reason, so that nothing goes missing in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluator.errors import UsageError
from evaluator.picking.near import find_near_duplicates
from evaluator.picking.spread import share_out
from evaluator.records import Item
from evaluator.redaction import find_personal
from evaluator.store import read
from evaluator.store.db import Store
from evaluator.store.write import PickedItem

LEAST_ANCHORS = 10  # of a set
FOR_EACH = 3  # candidates graded for each anchor wanted, so that rare levels are found
_POOL_FOR_EACH = 10  # answers looked at for each candidate
_LEAST_POOL = 3_000
_SPARE = 1.5  # texts compared for each candidate, since some are nearly the same
MOST_SEGMENTS = 30  # of one key; the rarer values share one place
OTHER, NONE = "(other)", "(none)"


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Which answers candidates come from.

    ``per_segment`` is a tag key, "" for the first configured or commonest one, None for no spread over segments.
    ``from_recheck`` is the id of a recheck whose answers are used. ``segment_keys`` are the configured ones.
    """

    app: str
    n: int
    per_segment: str | None = None
    from_recheck: str | None = None
    since: str | None = None
    until: str | None = None
    most_chars: int
    segment_keys: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """What was drawn, in the order of the hash; ``left_out`` counts by reason what was looked at and not taken."""

    items: tuple[PickedItem, ...]
    texts: Mapping[str, Item] = field(repr=False)
    segment_key: str | None
    n_looked_at: int
    left_out: Mapping[str, int]


def draw_candidates(store: Store, draw: Draw) -> Candidates:
    """Draw candidates.

    Raises:
        UsageError: there is no answer that can be an anchor, or no tag of that key.
    """
    pool = _pool(store, draw)
    left_out: Counter[str] = Counter()
    usable = _each_text_once(pool, draw.most_chars, left_out)
    tags = read.tags_of_items(store, (row["item_id"] for row in usable)) if draw.per_segment is not None else {}
    key = None if draw.per_segment is None else _segment_key(draw, tags)
    strata = _strata([row["item_id"] for row in usable], tags, key)
    wanted = FOR_EACH * draw.n
    first = _spread(strata, round(_SPARE * wanted))
    texts = read.load_items(store, first)
    distinct = _distinct([item_id for item_id in first if item_id in texts], texts, left_out)
    chosen = _spread({item_id: strata[item_id] for item_id in distinct}, wanted)
    if not chosen:
        raise UsageError(_nothing_to_pick(draw, len(pool), left_out))
    if len(chosen) < LEAST_ANCHORS:
        raise UsageError(_too_few(draw.app, len(chosen), left_out))
    own_tags = read.tags_of_items(store, chosen)
    items = tuple(
        PickedItem(
            item_id=item_id, stratum=strata[item_id], flags=find_flags(texts[item_id], own_tags.get(item_id, {}))
        )
        for item_id in chosen
    )
    return Candidates(
        items=items,
        texts={item_id: texts[item_id] for item_id in chosen},
        segment_key=key,
        n_looked_at=len(pool),
        left_out=dict(left_out),
    )


def find_flags(item: Item, tags: Mapping[str, str]) -> tuple[str, ...]:
    """Kinds of likely personal data in the texts and tags of an answer, each once."""
    kinds: dict[str, None] = {}
    for text in (item.input, item.output, item.reference or "", *item.contexts, *tags.values()):
        kinds.update(dict.fromkeys(find_personal(text)))
    return tuple(kinds)


def _pool(store: Store, draw: Draw) -> list[read.Row]:
    most = max(_LEAST_POOL, _POOL_FOR_EACH * FOR_EACH * draw.n)
    if draw.from_recheck is None:
        return read.pick_pool(store, draw.app, most=most, first_day=draw.since, last_day=draw.until)
    graded = set(read.recheck_anchor_candidates(store, draw.from_recheck))
    pool = read.pick_pool_of_recheck(store, draw.app, draw.from_recheck, most=most)
    return [row for row in pool if row["item_id"] in graded]


def _each_text_once(pool: Sequence[read.Row], most_chars: int, left_out: Counter[str]) -> list[read.Row]:
    """What can be an anchor as far as lengths and hashes tell."""
    usable, seen = [], set()
    for row in pool:
        if row["deleted_utc"] is not None:
            left_out["deleted"] += 1
        elif not row["n_input"] or not row["n_output"]:
            left_out["empty"] += 1
        elif row["n_input"] + row["n_output"] + row["n_beside"] > most_chars:
            left_out["too long"] += 1
        elif row["content_id"] in seen:
            left_out["the same text again"] += 1
        else:
            seen.add(row["content_id"])
            usable.append(row)
    return usable


def _segment_key(draw: Draw, tags: Mapping[str, Mapping[str, str]]) -> str | None:
    """The key to spread over: the one named, the first configured, the commonest; None where there are no tags.

    Raises:
        UsageError: no answer has a tag of the key named.
    """
    counts = Counter(key for of_item in tags.values() for key in of_item)
    if draw.per_segment:
        if draw.per_segment not in counts:
            known = ", ".join(key for key, _ in counts.most_common(10)) or "none at all"
            raise UsageError(f"--per-segment {draw.per_segment!r}: no answer has a tag of that key; there are {known}")
        return draw.per_segment
    configured = [key for key in draw.segment_keys if key in counts]
    return next(iter(configured or [key for key, _ in counts.most_common(1)]), None)


def _strata(item_ids: Sequence[str], tags: Mapping[str, Mapping[str, str]], key: str | None) -> dict[str, str]:
    """The segment of each item, "" without a key; values beyond the commonest ones share a place."""
    if key is None:
        return dict.fromkeys(item_ids, "")
    values = {item_id: tags.get(item_id, {}).get(key, NONE) for item_id in item_ids}
    common = {value for value, _ in Counter(values.values()).most_common(MOST_SEGMENTS)}
    return {item_id: value if value in common else OTHER for item_id, value in values.items()}


def _spread(strata: Mapping[str, str], total: int) -> list[str]:
    """The first items of each segment, in equal shares, in their order."""
    sizes = Counter(strata.values())
    left = share_out({name: sizes[name] for name in sorted(sizes)}, total)
    taken = []
    for item_id, name in strata.items():
        if left[name]:
            left[name] -= 1
            taken.append(item_id)
    return taken


def _distinct(item_ids: Sequence[str], texts: Mapping[str, Item], left_out: Counter[str]) -> list[str]:
    """Without what is blank, and one of each cluster of nearly equal ones."""
    written = [one for one in item_ids if texts[one].input.strip() and texts[one].output.strip()]
    is_near = find_near_duplicates([f"{texts[one].input}\n{texts[one].output}" for one in written])
    for reason, n in (("empty", len(item_ids) - len(written)), ("nearly the same text", sum(is_near))):
        if n:
            left_out[reason] += n
    return [one for one, near in zip(written, is_near, strict=True) if not near]


def _too_few(app: str, n: int, left_out: Mapping[str, int]) -> str:
    """Grading them would cost money, and no set could be made of them."""
    reasons = ", ".join(f"{n_out} {reason}" for reason, n_out in left_out.items())
    said = f" (left out: {reasons})" if reasons else ""
    return (
        f"only {n} of the answers of app {app!r} asked for can be anchors{said}, and an anchor set needs at least"
        f" {LEAST_ANCHORS}; take in more with `judgewatch import FILE`, or name other days"
    )


def _nothing_to_pick(draw: Draw, n_pool: int, left_out: Mapping[str, int]) -> str:
    if not n_pool and draw.from_recheck is not None:
        return f"--from-recheck {draw.from_recheck!r}: app {draw.app!r} has no recheck of that id with answers"
    if not n_pool:
        days = "" if draw.since is None and draw.until is None else " in those days"
        return (
            f"app {draw.app!r} has no stored answers{days} to pick anchors from; take some in with"
            " `judgewatch import FILE` first"
        )
    reasons = ", ".join(f"{n} {reason}" for reason, n in left_out.items())
    hint = "; with traffic.store_text = false no texts are kept to pick from" if left_out.get("empty") else ""
    return f"none of the {n_pool} answers of app {draw.app!r} can be an anchor ({reasons}){hint}"
