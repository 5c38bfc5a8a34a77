"""Tells whether a gateway answered a run's anchors out of its cache. Pure, but for one function that reads the store.

A cached reply repeats yesterday's score, so a judge that moved would look steady for ever. Equal words are no proof: at
temperature 0 a judge that stands still writes the same bytes every day. What is looked at is whether the reply was made
anew: its id, the second in which the server made it, how long it took, the tokens it was charged. Each of these can be
without meaning on some servers; ``docs/decisions/0006-caching-gateways.md`` says when it is believed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import median

from evaluator.clock import parse_utc
from evaluator.store import read
from evaluator.store.db import Store

COMPARED_RUNS = 3
MOST_FRESH = 0.5  # a run with this share of repeated replies is no measurement
LEAST_REPEATED = 5
RANDOM_CHARS = 12  # of an id, beyond what all ids of its run begin with: fewer may come again by chance
DISTINCT_IDS = 0.5  # ids of which fewer are different say nothing
CLOCK_TOLERANCE_S = 600.0  # a server whose times are further off tells no time
SAME_SECOND_S = 60.0  # two calls closer than this may truly be answered in the same second
LONG_RUN_S = 5.0  # over so many seconds a clock must have moved on
NEAR_ZERO_MS = 20.0
NEAR_ZERO_SHARE = 0.1  # of what calls took before
NEAR_ZERO_CALLS = 0.8
LEAST_USUAL_MS = 200.0  # below it, what calls took before may be a small model's time, or a busy machine's


@dataclass(frozen=True, kw_only=True)
class Call:
    """The usable reply to one anchor in one run. ``started_s`` is in Unix seconds, by this machine's clock."""

    item_id: str
    started_s: float
    duration_ms: float
    completion_id: str | None = None
    created: int | None = None
    reply: str = ""
    n_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """How many anchors were answered with an earlier reply, of those that could be compared; ``sign`` in words."""

    n_repeated: int
    n_compared: int
    sign: str

    @property
    def is_cached(self) -> bool:
        """Whether so many replies are old that the run measures nothing."""
        return self.n_repeated >= max(LEAST_REPEATED, MOST_FRESH * self.n_compared)


_SIGNS = {
    "id": "repeated completion ids",
    "created": "replies made in the very second of an earlier run",
    "tokens": "the same words for no tokens",
    "latency": "the same words in next to no time",
}


class _RunOfCalls:
    """The calls of one run, and which of their signs carry information."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self.calls = {call.item_id: call for call in calls}
        found = list(self.calls.values())
        self._ids = [call.completion_id for call in found if call.completion_id]
        self._prefix = length_in_common(self._ids)
        # a server that gives every call the same id says nothing with it
        self.ids_differ = bool(self._ids) and len(set(self._ids)) > DISTINCT_IDS * len(self._ids)
        self.tells_time = tells_time(found)

    def is_unlikely_twice(self, completion_id: str) -> bool:
        """Whether an id is too long to come again by chance; counters and numbers below a thousand are not."""
        return len(completion_id) - self._prefix >= RANDOM_CHARS

    def twice_in_this_run(self) -> set[str]:
        """Items whose id another item of the run has too, although ids are otherwise different."""
        if not self.ids_differ:
            return set()
        count = Counter(id_ for id_ in self._ids if self.is_unlikely_twice(id_))
        return {item_id for item_id, call in self.calls.items() if count[call.completion_id or ""] > 1}


def length_in_common(texts: Sequence[str]) -> int:
    """How many characters all of some texts begin with; 0 for a single one, which has nothing in common."""
    if len(texts) < 2:
        return 0
    first, last = min(texts), max(texts)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))


def tells_time(calls: Sequence[Call]) -> bool:
    """Whether what a server calls the time of its replies follows the clock: not 0, not the same for a whole run."""
    known = [call for call in calls if call.created]
    if not known:
        return False
    n_near = sum(abs((call.created or 0) - call.started_s) <= CLOCK_TOLERANCE_S for call in known)
    length = max(call.started_s for call in known) - min(call.started_s for call in known)
    stands_still = length >= LONG_RUN_S and len({call.created for call in known}) == 1
    return n_near * 2 > len(calls) and not stands_still


def is_near_zero(duration_ms: float, usual_ms: float) -> bool:
    """Whether a call took so little time, by itself and against what calls take, that nothing can have been made."""
    return duration_ms < NEAR_ZERO_MS and usual_ms >= LEAST_USUAL_MS and duration_ms < NEAR_ZERO_SHARE * usual_ms


def same_words(call: Call, earlier: Call) -> bool:
    """Whether two replies are the same bytes; texts that were not kept are not compared."""
    return bool(call.reply) and call.reply == earlier.reply


def compare_calls(calls: Sequence[Call], earlier_runs: Sequence[Sequence[Call]]) -> Repeats:
    """Find the replies of a run that were made for an earlier one.

    Args:
        calls: Usable replies of the run, one an anchor.
        earlier_runs: The same of runs that count, in any order.
    """
    now, before = _RunOfCalls(calls), [_RunOfCalls(found) for found in earlier_runs]
    signs = dict.fromkeys(now.twice_in_this_run(), "id")
    compared = set(signs)
    for run in before:
        for item_id in now.calls.keys() & run.calls.keys():
            compared.add(item_id)
            sign = _sign_of_repeat(item_id, now, run)
            if sign is not None:
                signs.setdefault(item_id, sign)
    for item_id in _answered_in_no_time(now, before):
        signs.setdefault(item_id, "latency")
    commonest = Counter(signs.values()).most_common(1)
    return Repeats(n_repeated=len(signs), n_compared=len(compared), sign=_SIGNS[commonest[0][0]] if commonest else "")


def _sign_of_repeat(item_id: str, now: _RunOfCalls, before: _RunOfCalls) -> str | None:
    """What shows that the reply for an item is the earlier one; None when nothing does."""
    call, earlier = now.calls[item_id], before.calls[item_id]
    same_second = bool(call.created) and call.created == earlier.created
    ids_are_known = bool(call.completion_id and earlier.completion_id) and now.ids_differ and before.ids_differ
    if ids_are_known and call.completion_id == earlier.completion_id:
        if before.tells_time and call.created and earlier.created:
            # an id that is computed from the request comes again with every new reply
            return "id" if same_second else None
        return "id" if before.is_unlikely_twice(earlier.completion_id or "") else None
    is_apart = call.started_s - earlier.started_s >= SAME_SECOND_S
    if not ids_are_known and same_second and before.tells_time and is_apart:
        return "created"
    if same_words(call, earlier) and call.n_tokens == 0 and earlier.n_tokens:
        return "tokens"  # a gateway that gives each cached reply a new id charges nothing for it
    return None


def _answered_in_no_time(now: _RunOfCalls, before: Sequence[_RunOfCalls]) -> set[str]:
    """Items answered with earlier words in next to no time, if nearly all of the run's calls were as fast."""
    durations = [call.duration_ms for run in before for call in run.calls.values()]
    if not durations:
        return set()
    usual_ms = median(durations)
    fast = {item_id for item_id, call in now.calls.items() if is_near_zero(call.duration_ms, usual_ms)}
    if len(fast) < NEAR_ZERO_CALLS * len(now.calls):
        return set()
    return {
        item_id
        for item_id in fast
        if any(item_id in run.calls and same_words(now.calls[item_id], run.calls[item_id]) for run in before)
    }


# ---------------------------------------------------------------- from the store


def why_not_counted(store: Store, run_id: str) -> str:
    """Say why a run's anchors are no measurement; empty when they are one."""
    calls = _calls_of(store, run_id)
    if not calls:
        return ""
    earlier = [_calls_of(store, run["run_id"]) for run in read.runs_to_compare(store, run_id, most=COMPARED_RUNS)]
    found = compare_calls(calls, earlier)
    if not found.is_cached:
        return ""
    return f"a gateway answered {found.n_repeated} of {found.n_compared} anchors from its cache ({found.sign})"


def _calls_of(store: Store, run_id: str) -> list[Call]:
    """The last usable reply to each anchor of a run; what was not asked over HTTP has no gateway."""
    rows = [row for row in read.anchor_calls(store, run_id) if row["http_status"] is not None]
    return list({row["item_id"]: _call(row) for row in rows}.values())


def _call(row: Mapping[str, object]) -> Call:
    created, reply = row["completion_created"], row["raw_reply"]
    tokens = [row["prompt_tokens"], row["completion_tokens"]]
    known = [n for n in tokens if isinstance(n, int)]
    return Call(
        item_id=str(row["item_id"]),
        started_s=parse_utc(str(row["started_utc"])).timestamp(),
        duration_ms=float(str(row["duration_ms"])),
        completion_id=None if row["completion_id"] is None else str(row["completion_id"]),
        created=created if isinstance(created, int) else None,
        reply=reply if isinstance(reply, str) else "",
        n_tokens=sum(known) if len(known) == len(tokens) else None,
    )
