"""The daily totals by a plain loop over the rows: slow, and easy to be sure of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from evaluator.store.db import Store
from tests.store.helpers import rows

SUMS = ("sum_w", "sum_w2", "sum_wy", "sum_w2y", "sum_w2y2", "sum_t2", "sum_tw", "sum_ww")
Key = tuple[str, ...]


def scores_by_hand(store: Store, app: str) -> dict[Key, dict[str, float]]:
    """What ``daily_scores`` should hold: by (ruler, source, segment, day, run)."""
    members: dict[Key, list[Mapping[str, Any]]] = defaultdict(list)
    for verdict in _graded(store, app):
        for segment in _segments_of(store, app, verdict):
            key = (verdict["ruler_id"], verdict["source"], segment, verdict["day"], verdict["run_id"])
            members[key].append(verdict)
    return {key: _totals(found) for key, found in members.items()}


def levels_by_hand(store: Store, app: str) -> dict[Key, tuple[int, float]]:
    """What ``daily_levels`` should hold: number and weight by the same key and the level."""
    found: dict[Key, tuple[int, float]] = {}
    for verdict in _graded(store, app):
        if verdict["score"] is None:
            continue
        step = (verdict["scale_max"] - verdict["scale_min"]) / (verdict["n_levels"] - 1)
        place = int((verdict["score"] - verdict["scale_min"]) / step + 0.5)
        level = f"{verdict['scale_min'] + place * step:.6f}"
        for segment in _segments_of(store, app, verdict):
            key = (verdict["ruler_id"], verdict["source"], segment, verdict["day"], verdict["run_id"], level)
            n, weight = found.get(key, (0, 0.0))
            found[key] = (n + 1, weight + verdict["w"])
    return found


def stored_scores(store: Store, app: str) -> dict[Key, dict[str, float]]:
    """What ``daily_scores`` does hold, in the same form."""
    return {
        _key(row): {name: row[name] for name in ("n", "n_unscored", "n_clusters", *SUMS)}
        for row in _stored(store, "daily_scores", app)
    }


def stored_levels(store: Store, app: str) -> dict[Key, tuple[int, float]]:
    """What ``daily_levels`` does hold, in the same form."""
    return {
        (*_key(row), f"{row['level']:.6f}"): (row["n"], row["sum_w"]) for row in _stored(store, "daily_levels", app)
    }


def _stored(store: Store, table: str, app: str) -> list[dict[str, Any]]:
    return rows(store, f"SELECT * FROM {table} t JOIN segments s USING (app, segment_id) WHERE t.app = ?", app)


def _key(row: Mapping[str, Any]) -> Key:
    return (row["ruler_id"], row["source"], _name(row), row["day"], row["run_id"])


def _name(row: Mapping[str, Any]) -> str:
    pairs = [(row["key"], row["value"]), (row["key2"], row["value2"])]
    return "*".join(f"{key}={value}" for key, value in pairs if key)


def _graded(store: Store, app: str) -> Iterator[dict[str, Any]]:
    """Every verdict with its day, cluster and weight; those of anchors in a failed run count as unscored."""
    found = rows(
        store,
        """SELECT v.*, i.source, i.cluster_id, i.answered_day, r.slot_day, r.status, p.inclusion_probability,
               b.scale_min, b.scale_max, b.n_levels
           FROM verdicts v JOIN items i USING (item_id) JOIN runs r USING (run_id)
           JOIN planned_items p ON p.run_id = v.run_id AND p.item_id = v.item_id
           JOIN rulers u ON u.ruler_id = v.ruler_id JOIN rubrics b ON b.rubric_id = u.rubric_id WHERE v.app = ?""",
        app,
    )
    for row in found:
        is_anchor = row["source"] == "anchor"
        row["day"] = row["slot_day"] if is_anchor else row["answered_day"]
        row["w"] = 1.0 if is_anchor else 1.0 / row["inclusion_probability"]
        if is_anchor and row["status"] == "failed":
            row["score"] = None
        yield row


def _segments_of(store: Store, app: str, verdict: Mapping[str, Any]) -> list[str]:
    names = [""]
    if verdict["source"] == "anchor":
        return names
    found = rows(store, "SELECT key, value FROM item_tags WHERE item_id = ?", verdict["item_id"])
    tags = {row["key"]: row["value"] for row in found}
    for keys in rows(store, "SELECT key, key2 FROM segment_keys WHERE app = ?", app):
        wanted = [key for key in (keys["key"], keys["key2"]) if key]
        if all(key in tags for key in wanted):
            names.append("*".join(f"{key}={tags[key]}" for key in wanted))
    return names


def _totals(members: list[Mapping[str, Any]]) -> dict[str, float]:
    scored = [row for row in members if row["score"] is not None]
    clusters: dict[str, tuple[float, float]] = {}
    for row in scored:
        t, w = clusters.get(row["cluster_id"], (0.0, 0.0))
        clusters[row["cluster_id"]] = (t + row["w"] * row["score"], w + row["w"])
    return {
        "n": len(scored),
        "n_unscored": len(members) - len(scored),
        "n_clusters": len(clusters),
        "sum_w": sum(row["w"] for row in scored),
        "sum_w2": sum(row["w"] ** 2 for row in scored),
        "sum_wy": sum(row["w"] * row["score"] for row in scored),
        "sum_w2y": sum(row["w"] ** 2 * row["score"] for row in scored),
        "sum_w2y2": sum((row["w"] * row["score"]) ** 2 for row in scored),
        "sum_t2": sum(t * t for t, _ in clusters.values()),
        "sum_tw": sum(t * w for t, w in clusters.values()),
        "sum_ww": sum(w * w for _, w in clusters.values()),
    }
