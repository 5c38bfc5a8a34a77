"""Which segments need a look. A cause that shows in several segments is named once, where it lies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluator.analysis.phrases import segment_name, since_text, size_text
from evaluator.findings import Findings, QualityFinding, SegmentFinding

MOST_LOOKS = 5
# a part is where a change comes from when it holds most of it, and moved clearly more than the whole
MOST_OF_THE_CHANGE = 0.75
CLEARLY_MORE = 1.5


@dataclass(frozen=True, kw_only=True)
class _Size:
    """How far a segment is off, and over how many answers."""

    change: float
    n: int


def changed_segments(segments: Sequence[SegmentFinding]) -> list[SegmentFinding]:
    """Segments that changed, the largest change first, without those that repeat another one's story."""
    changed = [row for row in segments if row["state"] == "changed" and row["estimate"] is not None]
    return _without_repeats(changed, _change_of)


def low_segments(segments: Sequence[SegmentFinding]) -> list[SegmentFinding]:
    """Segments below the rest, the lowest first, without those that repeat another one's story."""
    return _without_repeats([row for row in segments if row["stands_out"]], _gap_of)


def _without_repeats(
    rows: Sequence[SegmentFinding], size_of: Callable[[SegmentFinding], _Size]
) -> list[SegmentFinding]:
    """Name each cause once.

    A crossed segment (billing · German) and its two keys (billing, German) are off together. Where the crossed one is
    the source of it, it is named; otherwise the key is.
    """
    ordered = sorted(rows, key=lambda row: (-abs(size_of(row).change), row["key2"] != "", row["value"], row["value2"]))
    repeated = set()
    for crossed in (row for row in ordered if row["key2"]):
        for whole in (row for row in ordered if _holds(row, crossed)):
            part, all_of_it = size_of(crossed), size_of(whole)
            if part.change * all_of_it.change > 0:
                repeated.add((whole if _is_source(part, all_of_it) else crossed)["segment_id"])
    return [row for row in ordered if row["segment_id"] not in repeated]


def _is_source(part: _Size, whole: _Size) -> bool:
    """Whether what a whole is off by comes from a part of it."""
    if part.change * whole.change <= 0 or not whole.n:
        return False
    share = part.n * part.change / (whole.n * whole.change)
    return share >= MOST_OF_THE_CHANGE and abs(part.change) >= CLEARLY_MORE * abs(whole.change)


def _holds(whole: SegmentFinding, crossed: SegmentFinding) -> bool:
    """Whether a segment of one key contains a crossed one."""
    return not whole["key2"] and _pairs(whole) <= _pairs(crossed)


def _change_of(row: QualityFinding) -> _Size:
    return _Size(change=row["estimate"] or 0.0, n=row["n_after"])


def _gap_of(row: SegmentFinding) -> _Size:
    return _Size(change=row["against_rest"] or 0.0, n=row["n"])


def worst_segment(findings: Findings) -> SegmentFinding | None:
    """The segment that got worse by most, when that is worth an alert and not just the assistant's own change."""
    smallest = findings["settings"]["smallest_change"]
    worse = [row for row in _worse(findings) if -(row["estimate"] or 0.0) >= smallest]
    assistant = findings["assistant"]
    if assistant["state"] == "changed" and assistant["direction"] == "worse":
        worse = [row for row in worse if _is_source(_change_of(row), _change_of(assistant))]
    return worse[0] if worse else None


def needs_a_look(findings: Findings) -> list[tuple[int, str]]:
    """Segments worth a look, as (segment id, sentence): those that got worse first, then those below the rest."""
    worse = _worse(findings)[:MOST_LOOKS]
    named = [_pairs(row) for row in worse]
    # a segment that got worse is below the rest for that reason, and so is what it holds or lies in
    low = [row for row in low_segments(findings["segments"]) if not any(_are_related(_pairs(row), p) for p in named)]
    found = [(row["segment_id"], segment_sentence(row)) for row in worse]
    left = low[: MOST_LOOKS - len(found)]
    return found + [(row["segment_id"], _low_sentence(row, findings["last_days"])) for row in left]


def _are_related(pairs: frozenset[tuple[str, str]], others: frozenset[tuple[str, str]]) -> bool:
    return pairs <= others or pairs >= others


def segment_sentence(row: SegmentFinding) -> str:
    """What is known of a segment that changed."""
    when = since_text(row["since_day"], row["since_first_day"], row["since_last_day"])
    size = size_text(row["estimate"] or 0.0, row["low"], row["high"])
    cause = "" if row["likely_cause"] is None else f" Likely cause: {row['likely_cause']}."
    return (
        f"{segment_name(row)}: {row['direction']} {when}, {size}, with the judge's own change taken out"
        f" (n {row['n_before']:,} before, {row['n_after']:,} after).{cause}"
    )


def _low_sentence(row: SegmentFinding, last_days: int) -> str:
    size = size_text(row["against_rest"] or 0.0, row["against_rest_low"], row["against_rest_high"])
    return (
        f"{segment_name(row)}: below the rest in the last {last_days} days, {row['mean'] or 0.0:.2f}, that is {size},"
        f" against all other answers (n {row['n']:,})."
    )


def _worse(findings: Findings) -> list[SegmentFinding]:
    return [row for row in changed_segments(findings["segments"]) if row["direction"] == "worse"]


def _pairs(row: SegmentFinding) -> frozenset[tuple[str, str]]:
    """The keys and values that an answer must have to be in the segment."""
    own = {(row["key"], row["value"])}
    return frozenset(own | {(row["key2"], row["value2"])} if row["key2"] else own)
