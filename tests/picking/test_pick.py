"""A pick from plan to grades: written down before any call, graded twice, gone on with, never two of a name at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evaluator.errors import JudgewatchError, LeaseHeldError, UsageError
from evaluator.picking import pick as pick_module
from evaluator.picking.grading import chosen_ids, preview_new, preview_rest
from evaluator.picking.pick import find_pick
from evaluator.picking.review import summarise
from evaluator.records import Item, StopReason, UnscoredReason
from evaluator.scoring.budget import Limits
from evaluator.store import locks, read
from tests.builders import ruler
from tests.picking.helpers import APP, RUBRIC, Desk, by_number, varied
from tests.scoring.helpers import ScriptedJudge


def n_calls_by_item(desk: Desk) -> Counter[str]:
    """How often each answer was sent to the judge, by what is stored."""
    return Counter(row["item_id"] for row in desk.query("SELECT item_id FROM attempts"))


# ---------------------------------------------------------------- graded twice


def test_plan_is_written_before_the_first_call(desk: Desk) -> None:
    """Candidates, settings and both runs' ids are there; nothing was graded."""
    pick = desk.begin()
    assert len(desk.query("SELECT * FROM pick_items WHERE pick_id = ?", pick.pick_id)) == 30
    assert desk.query("SELECT * FROM runs") == []
    assert (len(pick.run_ids), len(set(pick.run_ids)), len(set(pick.slots))) == (2, 2, 2)


async def test_candidates_are_graded_once_and_the_chosen_twice(desk: Desk) -> None:
    """Thirty calls, then ten."""
    pick, items = await desk.picked()
    calls = n_calls_by_item(desk)
    assert Counter(calls.values()) == {1: 20, 2: 10}
    assert {item.item_id for item in items} == {item_id for item_id, n in calls.items() if n == 2}
    purposes = desk.query("SELECT run_id, purpose, n_traffic FROM runs ORDER BY slot_utc")
    assert [(row["run_id"], row["purpose"], row["n_traffic"]) for row in purposes] == [
        (pick.run_ids[0], "pick", 30), (pick.run_ids[1], "pick", 10),
    ]  # fmt: skip


async def test_first_fresh_grade_spreads_over_levels_and_segments(desk: Desk) -> None:
    """Two of each level; the third topic where there are three of a level."""
    desk.judge.script = by_number([1, 2, 3, 4, 5])
    _, items = await desk.picked(n=15, per_segment="topic")
    assert Counter(item.first for item in items) == {1: 3, 2: 3, 3: 3, 4: 3, 5: 3}
    assert Counter(item.tags["topic"] for item in items) == {"billing": 5, "returns": 5, "account": 5}


async def test_stored_scores_have_no_say(desk: Desk) -> None:
    """What a scheduled run gave does not decide what is drawn or chosen, and stays as it was."""
    untouched = Desk(desk.path.with_name("other.db"))
    untouched.add([varied(number) for number in range(100)])
    await desk.shop.run(ScriptedJudge(by_number([5, 1])))
    totals = desk.query("SELECT * FROM daily_scores")
    for each in (desk, untouched):
        each.judge.script = by_number([1, 2, 3, 4, 5])
    chosen = [[item.item_id for item in (await each.picked())[1]] for each in (desk, untouched)]
    assert chosen[0] == chosen[1]
    assert desk.query("SELECT * FROM daily_scores") == totals


async def test_answers_without_a_score_are_not_chosen(desk: Desk) -> None:
    """Unscored in the first grading: left out and counted; in the second: shown without."""
    seen: Counter[str] = Counter()

    def script(item: Item) -> float | UnscoredReason:
        seen[item.input] += 1
        number = int(item.input.split()[1].rstrip(":"))
        failed = number % 10 == 0 if seen[item.input] == 1 else number % 10 == 1
        return UnscoredReason.REFUSAL if failed else 3.0

    desk.judge.script = script
    pick, items = await desk.picked(n=25)
    with desk.store() as store:
        summary = summarise(store, pick, RUBRIC, items)
    n_failed = sum("0:" in item.input.split()[1] for item in map(desk_item(desk), (one.item_id for one in pick.items)))
    assert summary.n_unscored == n_failed > 0
    assert len(items) == 25
    assert {item.second for item in items} == {3.0, None}
    assert all(item.first == 3.0 for item in items)


def desk_item(desk: Desk) -> Any:
    """A function that loads one answer."""

    def load(item_id: str) -> Item:
        with desk.store() as store:
            return read.load_items(store, [item_id])[item_id]

    return load


async def test_jumps_are_counted_and_their_size_tells_what_can_be_seen(desk: Desk) -> None:
    """Half of the chosen ones go up by one: sd 0.53, so ten anchors show 0.33."""
    seen: Counter[str] = Counter()

    def script(item: Item) -> float:
        seen[item.input] += 1
        return 3.0 + (seen[item.input] == 2 and len(seen_twice()) % 2 == 0)

    def seen_twice() -> list[str]:
        return [text for text, n in seen.items() if n == 2]

    desk.judge.script = script
    pick, items = await desk.picked()
    with desk.store() as store:
        summary = summarise(store, pick, RUBRIC, items)
    assert (summary.n_flips, summary.n_second, summary.mean_jump) == (5, 10, 0.5)
    assert summary.visible_change(10) == pytest.approx(1.96 * (0.25 * 10 / 9) ** 0.5 / 10**0.5)
    assert summary.visible_change(0) is None


async def test_levels_that_do_not_occur_are_named(desk: Desk) -> None:
    """All the same score: the set cannot see moves anywhere else; no jump, no size of noise."""
    pick, items = await desk.picked()
    with desk.store() as store:
        summary = summarise(store, pick, RUBRIC, items)
    assert [score for score, _ in summary.missing_levels] == [1, 2, 3, 5]
    assert [(found, chosen) for score, _, found, chosen in summary.levels if score == 4] == [(30, 10)]
    assert (summary.n_flips, summary.visible_change(10)) == (0, None)


# ---------------------------------------------------------------- cost


async def test_preview_counts_what_is_left_and_its_most_dollars(desk: Desk) -> None:
    """Before, half way, and at the end."""
    desk.judge.cost_usd = 0.5
    pick = desk.begin()
    with desk.store() as store:
        texts = read.load_items(store, [item.item_id for item in pick.items])
        before = preview_new(texts, 10, desk.judge)
        assert preview_rest(store, pick, desk.judge) == before
    assert (before.n_first, before.n_second, before.n_calls, before.most_usd) == (30, 10, 40, 20.0)
    await desk.grade(pick, limits=Limits(calls_per_day=12))
    with desk.store() as store:
        rest = preview_rest(store, pick, desk.judge)
    assert (rest.n_first, rest.n_second, rest.most_usd) == (18, 10, 14.0)
    desk.now += timedelta(days=1)
    await desk.grade(pick, limits=Limits(calls_per_day=20))
    with desk.store() as store:
        assert preview_rest(store, pick, desk.judge).n_calls == 8
    desk.now += timedelta(days=1)
    await desk.grade(pick)
    with desk.store() as store:
        assert preview_rest(store, pick, desk.judge).n_calls == 0


async def test_budget_ends_the_day_and_the_next_one_goes_on(desk: Desk) -> None:
    """No answer is paid for twice in one grading."""
    pick = desk.begin()
    stopped = await desk.grade(pick, limits=Limits(calls_per_day=12))
    assert (stopped.status, stopped.stop_reason, stopped.n_left) == ("stopped", StopReason.BUDGET, 18)
    desk.now += timedelta(days=1)
    assert (await desk.grade(desk.begin())).status == "finished"
    assert Counter(n_calls_by_item(desk).values()) == {1: 20, 2: 10}


# ---------------------------------------------------------------- going on


async def test_cut_off_pick_goes_on_with_the_same_candidates(desk: Desk) -> None:
    """In the first grading and in the second; new traffic meanwhile changes nothing."""
    n_done = 0

    def until(limit: int) -> Any:
        def script(_: Item) -> float | StopReason:
            nonlocal n_done
            n_done += 1
            return 4.0 if n_done <= limit else StopReason.QUOTA

        return script

    pick = desk.begin()
    for limit in (7, 33):
        desk.judge.script = until(limit)
        assert (await desk.grade(desk.begin())).stop_reason is StopReason.QUOTA
        desk.add([varied(number) for number in range(1000 + limit, 1100 + limit)])
        n_done = limit
    desk.judge.script = lambda _: 4.0
    again = desk.begin()
    assert (again.pick_id, again.items) == (pick.pick_id, pick.items)
    assert (await desk.grade(again)).status == "finished"
    verdicts = Counter(row["item_id"] for row in desk.query("SELECT item_id FROM verdicts"))
    assert Counter(verdicts.values()) == {1: 20, 2: 10}


async def test_failed_grading_is_no_choice(desk: Desk) -> None:
    """A judge that gives no scores: told, and tried again with the same command."""
    desk.judge.script = lambda _: UnscoredReason.REFUSAL
    pick = desk.begin()
    assert (await desk.grade(pick)).status == "failed"
    with desk.store() as store, pytest.raises(JudgewatchError, match="none of the 30 candidates of pick 'own' was giv"):
        chosen_ids(store, pick, RUBRIC)
    with pytest.raises(UsageError, match="not graded yet"):
        desk.review(pick)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"n": 20}, "n was 10"),
        ({"per_segment": "topic"}, "per_segment was not set"),
        ({"since": "2026-01-01", "n": 11}, "n was 10, since was not set"),
    ],
)
def test_other_settings_are_refused_with_what_they_were(desk: Desk, asked: dict[str, Any], said: str) -> None:
    """So that a typing error does not throw a graded pick away."""
    desk.begin()
    with pytest.raises(UsageError, match=rf"is under way with other settings \({said}\); repeat them to go on"):
        desk.begin(**asked)


def test_pick_of_another_judge_setup_is_not_gone_on_with(desk: Desk) -> None:
    """Two judges must not share a choice; anew is possible."""
    first = desk.begin()
    other = ScriptedJudge(ruler=ruler(model="judge-other"))
    with pytest.raises(UsageError, match="begun under another judge setup"):
        desk.begin(judge=other)
    assert desk.begin(judge=other, restart=True).pick_id != first.pick_id


def test_restart_begins_anew_and_other_names_stand_apart(desk: Desk) -> None:
    """The newest of a name counts."""
    first, other = desk.begin(), desk.begin(name="second")
    anew = desk.begin(restart=True)
    assert len({first.pick_id, other.pick_id, anew.pick_id}) == 3
    with desk.store() as store:
        found = find_pick(store, APP, "own")
        assert found is not None
        assert found.pick_id == anew.pick_id
        assert [row["n_items"] for row in read.list_picks(store, APP)] == [30, 30, 30]
        assert find_pick(store, APP, "third") is None


def test_two_terminals_that_begin_at_once_share_one_pick(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes second goes on with what the first wrote."""
    draw, begun = pick_module.draw_candidates, []

    def while_another_begins(*args: Any) -> Any:
        monkeypatch.setattr(pick_module, "draw_candidates", draw)
        begun.append(desk.begin())
        return draw(*args)

    monkeypatch.setattr(pick_module, "draw_candidates", while_another_begins)
    assert desk.begin().pick_id == begun[0].pick_id
    assert len(desk.query("SELECT * FROM picks")) == 1


async def test_second_scorer_is_kept_out_while_one_grades(desk: Desk) -> None:
    """The lease of every run holds here as well."""
    pick = desk.begin()
    with desk.store() as store:
        locks.acquire_lease(store, app=APP, holder="another", what="run", now=desk.now)
        with pytest.raises(LeaseHeldError):
            await desk.grade(pick)
    assert desk.query("SELECT * FROM attempts") == []


def test_slots_that_are_taken_are_passed_over(desk: Desk) -> None:
    """A run belongs to one instant of a judge setup."""
    first = desk.begin()
    with desk.store() as store:
        store.connection.execute(
            "INSERT INTO runs (run_id, app, ruler_id, slot_utc, slot_day, kind, status, started_utc)"
            " VALUES ('x', ?, ?, '2026-02-28T13:00:00.000Z', '2026-02-28', 'all', 'finished', 't')",
            (APP, first.ruler_id),
        )
    second = desk.begin(name="second")
    assert [slot.isoformat() for slot in second.slots] == ["2026-02-28T13:00:01+00:00", "2026-02-28T13:00:02+00:00"]


async def test_change_of_the_judge_setup_is_logged_though_a_pick_used_it_first(desk: Desk) -> None:
    """The next scheduled run would find it known already."""
    await desk.shop.run(ScriptedJudge())
    desk.begin(judge=ScriptedJudge(ruler=replace(desk.judge.ruler, model_asked="judge-next")))
    assert [text for kind, _, text in desk.shop.events() if kind == "setup"] == ["judge setup v2: model changed"]
