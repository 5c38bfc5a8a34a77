"""One answer: question and answer side by side as plain text, every verdict on it, ids to copy, its neighbours."""

from __future__ import annotations

import streamlit as st

from dashboard.answer_queries import AnswerList, OpenAnswer, open_answer
from dashboard.charts.verdicts import plot_verdicts
from dashboard.choices import choose
from dashboard.components import heading, render_chart, render_problem, render_text, say, score_text, small
from dashboard.queries import Row
from dashboard.scope import Problem, Scope
from dashboard.wording import cost, count, counted, instant, reason, why_no_text
from dashboard.wording import day as day_text
from evaluator.judges.prompts import addresses_judge
from evaluator.records import ItemFlag, Purpose

# flags that are said in other words, or not at all: the page tells of a missing text by itself
_FLAGS: dict[str, str] = {
    ItemFlag.NAIVE_TIME: "time without a zone",
    ItemFlag.GIVEN_TIME: "time of the answer not known, the import's was taken",
    ItemFlag.FROM_SCORES: "known from its stored score only",
    ItemFlag.COMPLETED: "",
    ItemFlag.TEXT_NOT_KEPT: "",
}
FIRST_VERDICTS = 3  # an anchor has one for every run; the rest opens on request


def render_answer(scope: Scope, item_id: str, found: AnswerList) -> None:
    """Draw one answer; ``found`` is the list it was opened from, for its neighbours."""
    opened = open_answer(scope.key, scope.app, item_id)
    _navigation(item_id, found)
    if opened is None:
        render_problem(Problem(title="There is no such answer", text=f"Nothing is stored under {item_id}."))
        return
    item = opened.item
    with st.container(gap="xsmall"):
        heading("Anchor " + item["anchor"]["anchor_id"] if item["anchor"] else "Answer", 2)
        small(_facts(item, scope))
        if opened.link is not None:  # the address is the configuration's; only an id in it comes from data
            st.link_button("Open in your trace store", opened.link, icon=":material/open_in_new:")
    _texts(item, scope)
    heading(_verdicts_title(opened), 3)
    comparable = [row for row in opened.verdicts if row["scale_max"] == scope.setup.scale_max]
    if len(comparable) > 1:
        render_chart(plot_verdicts(comparable, scale=scope.scale), key="verdicts_over_time")
    _verdicts(opened, scope)
    _ids(item)


def _texts(item: Row, scope: Scope) -> None:
    """Question and answer side by side, or why they are not there."""
    gone = why_no_text(item, scope.zone)
    if gone:
        say(_explained(gone, item))
        return
    left, right = st.columns(2, gap="medium")
    with left:
        heading("Question", 4)
        render_text(item["input"])
    with right:
        heading("Answer", 4)
        render_text(item["output"])
    _background(item)


def _explained(gone: str, item: Row) -> str:
    """Why there is no text, as a sentence with what did it."""
    if item["deleted_utc"] is not None:
        return f"Question, answer and the judge's words: {gone} by `judgewatch items delete`. Scores stay."
    if ItemFlag.FROM_SCORES in item["flags"].split(","):
        return f"Question and answer: {gone}; the imported scores came without them."
    return f"Question and answer: {gone} (traffic.store_text is false). Scores stay."


def _facts(item: Row, scope: Scope) -> str:
    parts = []
    if item["answered_utc"]:
        parts.append(f"answered {instant(item['answered_utc'], scope.zone)} ({scope.zone.key})")
    if item["answer_model"]:
        parts.append(f"by {item['answer_model']}")
    parts += [f"{key}: {value}" for key, value in item["tags"].items()]
    parts += [_FLAGS.get(flag, flag.replace("_", " ")) for flag in item["flags"].split(",")]
    if addresses_judge(item["output"]):
        parts.append("seems to address the judge")
    return " · ".join(part for part in parts if part) or "no time and no tags known"


def _background(item: Row) -> None:
    """Reference and contexts folded away, and what a person said of an anchor."""
    anchor = item["anchor"]
    if anchor:
        score = anchor["expected_score"]
        expected = "No score by a person." if score is None else f"A person gave it {score:g}."
        st.text(f"{expected} {anchor['why']}".strip())
    if item["reference"]:
        with st.expander("Reference answer"):
            render_text(item["reference"])
    if item["contexts"]:
        with st.expander(f"Contexts ({len(item['contexts'])})"):
            for context in item["contexts"]:
                render_text(context)


def _verdicts_title(opened: OpenAnswer) -> str:
    n = len(opened.verdicts)
    if not n:
        return "Not graded yet"
    calls = counted(opened.n_calls, "call") if opened.n_calls else "no call"
    return f"{counted(n, 'verdict')}, {calls} to the judge"


def _verdicts(opened: OpenAnswer, scope: Scope) -> None:
    show_all = st.session_state.get("all_verdicts", False)
    shown = opened.verdicts if show_all else opened.verdicts[:FIRST_VERDICTS]
    for place, verdict in enumerate(shown):
        _verdict(verdict, scope, first=place == 0)
    if len(opened.verdicts) > FIRST_VERDICTS:
        st.toggle(f"Show all {len(opened.verdicts)} verdicts", key="all_verdicts")


def _verdict(verdict: Row, scope: Scope, *, first: bool) -> None:
    with st.container(border=True):
        line = st.container(horizontal=True, vertical_alignment="center", gap="medium")
        with line:
            heading(score_text(verdict["score"], verdict["scale_max"]), 4, width="content")
            small(_verdict_line(verdict))
        if verdict["score"] is None:
            st.text(f"No score: {reason(verdict['unscored_reason'])}. {verdict['detail']}".strip())
        if verdict["explanation"]:
            st.text(verdict["explanation"])
        named = [
            f"{name.capitalize()}: " + "; ".join(verdict[name]) for name in ("strengths", "weaknesses") if verdict[name]
        ]
        if named:
            st.text("\n".join(named))
        if verdict["purpose"] != Purpose.IMPORTED and (first or verdict["raw_reply"]):
            with st.expander("Raw reply and cost"):
                small(_cost_line(verdict, scope))
                st.code(verdict["raw_reply"] or "(no reply)", language=None, wrap_lines=True)


def _verdict_line(verdict: Row) -> str:
    when = day_text(verdict["slot_day"], year=True)
    is_imported = verdict["purpose"] == Purpose.IMPORTED
    parts = [f"imported score of {when}" if is_imported else f"run of {when}", f"judge setup v{verdict['setup']}"]
    parts.append(verdict["resolved_model"] or verdict["model_asked"])
    aside = {Purpose.RECHECK: "recheck", Purpose.PICK: "choice of anchors"}.get(verdict["purpose"])
    if aside is not None:
        parts.append(f"{aside}, in no mean")
    if verdict["prompt_cut"]:
        parts.append("the prompt was cut")
    return " · ".join(part for part in parts if part)


def _cost_line(verdict: Row, scope: Scope) -> str:
    parts = [f"graded {instant(verdict['graded_utc'], scope.zone)}"]
    if verdict["prompt_tokens"] is not None:
        parts.append(f"{count(verdict['prompt_tokens'])} + {count(verdict['completion_tokens'] or 0)} tokens")
    parts.append(cost(verdict["cost_usd"], 1))
    if verdict["latency_ms"] is not None:
        parts.append(f"{verdict['latency_ms'] / 1000:.1f} s")
    if verdict["finish_reason"]:
        parts.append(f"ended by {verdict['finish_reason']}")
    return " · ".join(part for part in parts if part)


def _ids(item: Row) -> None:
    with st.expander("Ids to copy"):
        st.caption("Item")
        st.code(item["item_id"], language=None)
        if item["external_id"]:
            st.caption("Id in your own system")
            st.code(item["external_id"], language=None)
        if item["conversation_id"]:
            st.caption("Conversation")
            st.code(item["conversation_id"], language=None)


def _navigation(item_id: str, found: AnswerList) -> None:
    """Back to the list, and to the neighbours in it, over the edge of the page too."""
    before, after = neighbours(item_id, found)
    row = st.container(horizontal=True)
    row.button("Back to the list", icon=":material/arrow_back:", on_click=choose, kwargs={"item": None}, key="to_list")
    if before is not None or after is not None:
        row.button("Previous", on_click=_go, args=(before,), disabled=before is None, key="previous_answer")
        row.button("Next", on_click=_go, args=(after,), disabled=after is None, key="next_answer")


def neighbours(item_id: str, found: AnswerList) -> tuple[tuple[str, int] | None, tuple[str, int] | None]:
    """The answers before and after one in the list: (item id, its page); None where there is none."""
    ids = [row["item_id"] for row in found.rows]
    if item_id not in ids:
        return None, None
    place = ids.index(item_id)
    here = found.page
    before = (ids[place - 1], here) if place else (found.before["item_id"], here - 1) if found.before else None
    last = place + 1 == len(ids)
    after = (ids[place + 1], here) if not last else (found.after["item_id"], here + 1) if found.after else None
    return before, after


def _go(target: tuple[str, int] | None) -> None:
    if target is not None:
        choose(item=target[0], page=target[1])
