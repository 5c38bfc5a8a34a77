"""The sample of a run that is not taken up again: a lower rate where something was graded, undone where nothing was."""

from __future__ import annotations

import pytest

from evaluator.records import UnscoredReason
from evaluator.store import read, write
from evaluator.store.db import Store
from tests.store.helpers import APP, DAY, answer, begin, finish, grade, ids_of, import_items, plan_of, rows

TIMEOUT = UnscoredReason.TIMEOUT
NEXT_DAY = "2026-02-28"


def planned(store: Store, plan: write.RunPlan) -> dict[str, float]:
    """The items still in a plan, with their probabilities."""
    found = rows(store, "SELECT * FROM planned_items WHERE run_id = ?", plan.run_id)
    return {row["item_id"]: row["inclusion_probability"] for row in found}


def _ids(number: int, day: str = DAY) -> list[str]:
    return ids_of([answer(n, day=day) for n in range(number)])


def _run(
    store: Store, number: int, floor: dict[int, float], *, n_tried: int, probability: float, score: object = 4
) -> tuple[list[str], write.RunPlan]:
    """A run over answers of one day that was cut off after so many; ``floor`` gives places their own probability."""
    import_items(store, [answer(n) for n in range(number)])
    ids = _ids(number)
    chances = {item_id: floor.get(place, probability) for place, item_id in enumerate(ids)}
    plan = plan_of(chances, sampled={DAY: (1000, number)})
    begin(store, plan)
    if n_tried:
        grade(store, plan, dict.fromkeys(ids[:n_tried], score))  # type: ignore[arg-type]  # a score or a reason
    finish(store, plan, status="stopped")
    write.give_up_rest(store, plan.run_id)
    return ids, plan


def test_what_was_tried_is_the_sample_of_a_lower_rate(store: Store) -> None:
    """Six of ten were tried of a sample of one in five: each had a chance of 0.12."""
    ids, plan = _run(store, 10, {}, n_tried=6, probability=0.2)
    assert planned(store, plan) == {item_id: pytest.approx(0.12) for item_id in ids[:6]}
    assert read.sampled_days(store, APP, plan.ruler_id)[DAY]["n_planned"] == 6


def test_each_stratum_shrinks_by_its_own_share(store: Store) -> None:
    """Of a floor's stratum much less was tried; with one factor for all its answers would weigh too little."""
    floor = dict.fromkeys([0, *range(5, 10)], 0.6)
    ids, plan = _run(store, 10, floor, n_tried=3, probability=0.1)
    assert planned(store, plan) == {
        ids[0]: pytest.approx(0.6 * 1 / 6),
        ids[1]: pytest.approx(0.1 * 2 / 4),
        ids[2]: pytest.approx(0.1 * 2 / 4),
    }


def test_stratum_that_shrinks_to_anothers_probability_shrinks_once(store: Store) -> None:
    """Half of 0.4 is 0.2, which is another stratum's own probability."""
    floor = {0: 0.4, 1: 0.2, 2: 0.4, 3: 0.2}
    ids, plan = _run(store, 4, floor, n_tried=2, probability=1)
    assert planned(store, plan) == {ids[0]: pytest.approx(0.2), ids[1]: pytest.approx(0.1)}


def test_whole_sample_stays_as_it_was(store: Store) -> None:
    """A run that came to its end has nothing to give up."""
    ids, plan = _run(store, 5, {}, n_tried=5, probability=0.3)
    assert planned(store, plan) == dict.fromkeys(ids, 0.3)
    assert read.sampled_days(store, APP, plan.ruler_id)[DAY]["n_planned"] == 5


@pytest.mark.parametrize("n_tried", [0, 3])
def test_day_without_a_score_is_open_again(store: Store, n_tried: int) -> None:
    """An outage must not turn a day's sample into the few answers it broke on: the day can be drawn anew."""
    ids, plan = _run(store, 5, {}, n_tried=n_tried, probability=0.3, score=TIMEOUT)
    assert read.sampled_days(store, APP, plan.ruler_id) == {}
    assert planned(store, plan) == dict.fromkeys(ids[:n_tried], 0.3)


def test_days_are_given_up_one_by_one(store: Store) -> None:
    """The day that was graded keeps its sample, the day that was not is open again."""
    import_items(store, [answer(n, day=day) for day in (DAY, NEXT_DAY) for n in range(4)])
    plan = plan_of(dict.fromkeys(_ids(4) + _ids(4, NEXT_DAY), 0.5), sampled={DAY: (8, 4), NEXT_DAY: (8, 4)})
    begin(store, plan)
    grade(store, plan, dict.fromkeys(_ids(4)[:2], 3))
    finish(store, plan, status="stopped")
    write.give_up_rest(store, plan.run_id)
    assert set(read.sampled_days(store, APP, plan.ruler_id)) == {DAY}
    assert planned(store, plan) == dict.fromkeys(_ids(4)[:2], 0.25)


def test_giving_up_twice_changes_nothing(store: Store) -> None:
    """A scorer that is killed between giving up and closing does it again."""
    plan = _run(store, 10, {}, n_tried=6, probability=0.2)[1]
    before, revision = planned(store, plan), store.revision
    write.give_up_rest(store, plan.run_id)
    assert planned(store, plan) == before
    assert store.revision == revision


def test_answers_to_be_tried_again_keep_their_first_probability(store: Store) -> None:
    """An answer of an earlier sample that a cut-off run did not come to still has its verdict, and stays as it was."""
    import_items(store, [answer(n) for n in range(4)])
    ids = _ids(4)
    first = plan_of(dict.fromkeys(ids, 0.25), sampled={DAY: (16, 4)})
    begin(store, first)
    grade(store, first, {**dict.fromkeys(ids[:2], 4), **dict.fromkeys(ids[2:], TIMEOUT)})
    finish(store, first)
    again = plan_of(dict.fromkeys(ids[2:], 0.25), slot_day="2026-03-01")
    begin(store, again)
    grade(store, again, {ids[2]: 5})
    finish(store, again, status="stopped")
    write.give_up_rest(store, again.run_id)
    assert planned(store, again) == dict.fromkeys(ids[2:], 0.25)
    assert read.sampled_days(store, APP, first.ruler_id)[DAY]["n_planned"] == 4


def test_days_of_a_sample_that_ended_are_totalled_anew(store: Store) -> None:
    """The weights changed, so the totals did."""
    plan = _run(store, 10, {}, n_tried=5, probability=0.5)[1]
    assert rows(store, "SELECT source, day FROM stale_days") == [{"source": "traffic", "day": DAY}]
    finish(store, plan, status="closed")
    segment = read.everything_segment(store, APP)
    assert rows(store, "SELECT sum_w FROM daily_scores WHERE segment_id = ?", segment) == [{"sum_w": 20.0}]


def test_anchors_that_were_not_reached_stay_in_the_plan(store: Store) -> None:
    """The plan of anchors is not a sample; what is missing of it is counted as not started."""
    plan = plan_of(anchors=["x", "y"])
    begin(store, plan)
    grade(store, plan, {"x": 4}, anchors=True)
    write.give_up_rest(store, plan.run_id)
    assert set(planned(store, plan)) == {"x", "y"}
