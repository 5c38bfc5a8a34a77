"""Does a gateway answer out of its cache? The same request, sent twice within seconds, must be answered anew. Pure.

The words may be the same: at temperature 0 they should be. What must differ is what shows that a reply was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from evaluator.doctor.base import Check, fail, ok, warn
from evaluator.scoring.cached import Call, is_near_zero, length_in_common, same_words

NAME = "gateway cache"
LONG_ENOUGH = 12  # characters of an id that are its own: fewer may come again by chance
APART_S = 2.0  # two replies made so far apart are not of the same second

# headers by which gateways tell of their cache, and how their values begin when it answered
_TELLING_HEADERS = {
    "cf-aig-cache-status": ("hit",),
    "x-portkey-cache-status": ("hit", "semantic hit"),
    "helicone-cache": ("hit",),
    "x-openrouter-cache-status": ("hit",),
    "x-cache": ("hit",),
    "cf-cache-status": ("hit",),
    "x-litellm-cache-hit": ("true",),
}
_HOW = (
    "switch caching off for this key or route. LiteLLM: judge.extra_body.cache = { no-cache = true, no-store = true };"
    ' by judge.headers: Cloudflare AI Gateway "cf-aig-skip-cache" = "true", Portkey'
    ' "x-portkey-cache-force-refresh" = "true", Helicone "Helicone-Cache-Enabled" = "false", OpenRouter'
    ' "X-OpenRouter-Cache" = "false"'
)
_MEANING = "every re-grade would repeat yesterday's score, so drift could never be seen"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A reply with what came along: headers in small letters, the whole body."""

    call: Call
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


def check_cache(first: Reply, again: Reply, others: Sequence[Reply]) -> Check:
    """Compare two replies to the same request.

    Args:
        first: The reply to it.
        again: The reply to the very same bytes, some seconds later.
        others: Replies to other requests, which show what ids and times are like on this server.
    """
    proof = _proof(first, again, others)
    if proof is not None:
        return fail(NAME, f"a caching gateway answers ({proof}): {_MEANING}", _HOW)
    if _same_to_all(first, others):
        return warn(
            NAME,
            f"{len(others) + 1} different answers got one and the same reply, down to the last byte",
            f"look whether a gateway takes similar requests for the same one; {_HOW}",
        )
    suspicion = _suspicion(first, again, others)
    if suspicion is not None:
        return warn(NAME, f"a caching gateway may answer ({suspicion}): then {_MEANING}", _HOW)
    words = "in the same words" if same_words(again.call, first.call) else "in other words"
    return ok(NAME, f"the same request was answered anew, {words}")


def _proof(first: Reply, again: Reply, others: Sequence[Reply]) -> str | None:
    """What only a cache explains."""
    header = cache_header(again.headers) or cache_header(first.headers)
    if header is not None:
        return f"its header says {header}"
    if ids_carry_information([first, *others]) and first.call.completion_id == again.call.completion_id:
        own = length_in_common([reply.call.completion_id or "" for reply in (first, *others)])
        is_long = len(again.call.completion_id or "") - own >= LONG_ENOUGH
        if is_long or (again.call.created and again.call.created == first.call.created) or _same_body(first, again):
            return f"the same request got the same completion id, {again.call.completion_id}, twice"
    if same_words(again.call, first.call) and again.call.n_tokens == 0 and first.call.n_tokens:
        return "the second reply has the same words and no tokens"
    return None


def _suspicion(first: Reply, again: Reply, others: Sequence[Reply]) -> str | None:
    """What a cache explains best."""
    if not same_words(again.call, first.call):
        return None
    # the very first call opens the connection, which the others find open
    usual_ms = median(reply.call.duration_ms for reply in (others or [first]))
    if is_near_zero(again.call.duration_ms, usual_ms):
        return f"the same words in {again.call.duration_ms:.0f} ms, where calls take {usual_ms:.0f} ms"
    gap = again.call.started_s - first.call.started_s
    follows_clock = first.call.created and abs(first.call.created - first.call.started_s) < gap + 60
    if follows_clock and again.call.created == first.call.created and gap >= APART_S:
        return f"the second reply was made in the same second as the first, {gap:.0f} s before it was asked for"
    return None


def cache_header(headers: Mapping[str, str]) -> str | None:
    """The header by which a gateway says that its cache answered; None when none does."""
    for name, beginnings in _TELLING_HEADERS.items():
        value = headers.get(name, "").strip()
        if value.lower().startswith(beginnings):
            return f"{name}: {value}"
    return None


def ids_carry_information(replies: Sequence[Reply]) -> bool:
    """Whether different requests got different ids; a single one shows nothing."""
    ids = [reply.call.completion_id for reply in replies if reply.call.completion_id]
    return len(ids) > 1 and len(set(ids)) == len(ids)


def _same_body(first: Reply, again: Reply) -> bool:
    return bool(first.body) and first.body == again.body


def _same_to_all(first: Reply, others: Sequence[Reply]) -> bool:
    return len(others) > 1 and all(_same_body(first, other) for other in others)
