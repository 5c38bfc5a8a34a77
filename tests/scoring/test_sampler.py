"""The sample: the same answers for every judge and rerun, nested rates, floors, chances that make means right."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.config import FloorConfig, TrafficConfig
from evaluator.records import Item, Source, UnscoredReason
from evaluator.scoring.sampler import MOST_RUNS_PER_ITEM, TrafficSample, draw_traffic
from evaluator.store import write
from evaluator.store.db import Store, open_store
from tests.builders import ruler
from tests.store.helpers import APP, answer, begin, finish, grade, ids_of, import_items, plan_of, rows

DAY = "2026-02-27"
SLOT_DAY = "2026-02-28"
RULER = ruler().ruler_id
TIMEOUT = UnscoredReason.TIMEOUT


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A database with 200 answers of one day: one in ten of a rare topic, the rest of a common one."""
    with open_store(tmp_path / "judgewatch.db") as opened:
        import_items(opened, [answer(n, tags={"topic": "rare" if n % 10 == 0 else "common"}) for n in range(200)])
        yield opened


def draw(
    store: Store, *, ruler_id: str = RULER, slot_day: str = SLOT_DAY, since: str | None = None, **traffic: Any
) -> TrafficSample:
    """Draw with a rate."""
    return draw_traffic(
        store, app=APP, ruler_id=ruler_id, traffic=TrafficConfig(**traffic), slot_day=slot_day, since=since
    )


def ids(sample: TrafficSample) -> list[str]:
    """Ids of a sample in its order."""
    return [item.item_id for item in sample.items]


def floor(number: int, value: str = "rare") -> FloorConfig:
    """A floor for a topic."""
    return FloorConfig(key="topic", value=value, answers_per_day=number)


def keep(store: Store, sample: TrafficSample, *, slot_day: str = SLOT_DAY) -> write.RunPlan:
    """Begin a run with a sample, so that its days are closed."""
    plan = plan_of(
        {item.item_id: item.inclusion_probability for item in sample.items},
        slot_day=slot_day,
        sampled={day.answered_day: (day.n_answers, day.n_planned) for day in sample.days},
    )
    begin(store, plan)
    return plan


# ---------------------------------------------------------------- which


def test_the_smallest_places_are_taken(store: Store) -> None:
    """The order is that of a hash of the item, known to everybody."""
    everything = sorted(ids_of([answer(n) for n in range(200)]), key=write.sample_key)
    assert ids(draw(store, answers_per_day=30)) == everything[:30]


@pytest.mark.parametrize("lower", [1, 7, 30, 120])
def test_lower_rate_is_a_subset_of_a_higher_one(store: Store, lower: int) -> None:
    """Whatever is saved on, what is graded stays comparable; with floors as well."""
    low, high = (ids(draw(store, answers_per_day=n, floors=(floor(12),))) for n in (lower, 150))
    assert set(low) < set(high)
    rates = [ids(draw(store, sample_rate=rate)) for rate in (0.05, 0.5, 1.0)]
    assert set(rates[0]) < set(rates[1]) < set(rates[2])


def test_every_setup_and_every_rerun_takes_the_same(store: Store) -> None:
    """The judge plays no part in it."""
    first = draw(store, answers_per_day=30)
    assert draw(store, answers_per_day=30) == first
    assert ids(draw(store, ruler_id="other", answers_per_day=30)) == ids(first)


@pytest.mark.parametrize(
    ("traffic", "number"),
    [
        ({}, 200),
        ({"answers_per_day": 1}, 1),
        ({"answers_per_day": 500}, 200),
        ({"sample_rate": 1.0}, 200),
        ({"sample_rate": 0.101}, 21),
        ({"sample_rate": 0.0001}, 1),
    ],
)
def test_rate_says_how_many(store: Store, traffic: dict[str, Any], number: int) -> None:
    """All unless told; at least one, so that no day is left without a number; never more than there are."""
    sample = draw(store, **traffic)
    assert len(sample.items) == number
    assert {item.inclusion_probability for item in sample.items} == {number / 200}
    assert {item.source for item in sample.items} == {Source.TRAFFIC}
    (day,) = sample.days
    assert (day.answered_day, day.n_answers, day.n_planned) == (DAY, 200, number)


def test_answers_without_a_time_are_never_drawn(store: Store) -> None:
    """No day counts them."""
    import_items(store, [Item(input="q", output="a", external_id=f"timeless {n}") for n in range(50)])
    assert len(draw(store).items) == 200


def test_only_days_that_have_ended_are_drawn_from(store: Store) -> None:
    """The day of the slot goes on; its answers wait for the next run."""
    import_items(store, [answer(n, day=SLOT_DAY) for n in range(5)])
    assert [day.answered_day for day in draw(store).days] == [DAY]
    assert [day.answered_day for day in draw(store, slot_day="2026-03-01").days] == [DAY, SLOT_DAY]


def test_other_apps_answers_are_not_drawn(store: Store) -> None:
    """Each app grades its own."""
    import_items(store, [answer(n) for n in range(9)], app="other")
    assert len(draw(store).items) == 200


def test_no_answers_are_an_empty_sample(tmp_path: Path) -> None:
    """Nothing to draw from, and nothing before it."""
    with open_store(tmp_path / "empty.db") as store:
        assert draw(store) == TrafficSample(items=(), days=(), n_older=0, oldest_day=None)


# ---------------------------------------------------------------- days


def test_day_is_sampled_once(store: Store) -> None:
    """The next run finds it closed; answers that arrive late are not drawn, and can be counted."""
    keep(store, draw(store, answers_per_day=30))
    import_items(store, [answer(n) for n in range(200, 260)])
    assert draw(store, answers_per_day=30, slot_day="2026-03-01").items == ()
    late = rows(
        store,
        "SELECT count(*) - (SELECT n_answers FROM sampled_days) AS n FROM items WHERE answered_day = ?",
        DAY,
    )
    assert late == [{"n": 60}]


def test_other_setup_samples_the_day_for_itself(store: Store) -> None:
    """A day is closed for the setup that graded it."""
    keep(store, draw(store, answers_per_day=30))
    assert len(draw(store, ruler_id="other", answers_per_day=30).items) == 30


def test_window_reaches_back_from_the_newest_answers(store: Store) -> None:
    """Days before it are counted and left, unless asked for."""
    import_items(store, [answer(n, day=f"2026-02-{day}") for day in (10, 20, 21, 22) for n in range(day)])
    sample = draw(store, lookback_days=7)
    assert [day.answered_day for day in sample.days] == ["2026-02-21", "2026-02-22", DAY]
    assert (sample.n_older, sample.oldest_day) == (30, "2026-02-10")
    since = draw(store, since="2026-02-20")
    assert [day.answered_day for day in since.days] == ["2026-02-20", "2026-02-21", "2026-02-22", DAY]
    assert since.n_older == 10


def test_old_traffic_is_graded_when_there_is_no_newer(store: Store) -> None:
    """The window starts at the newest answer, not at today: a history that was imported is not out of date."""
    assert len(draw(store, slot_day="2027-01-01", lookback_days=1).items) == 200


def test_days_are_mixed_in_the_order_of_the_hash(store: Store) -> None:
    """A run that is cut off has a part of each day, not all of one and nothing of another."""
    import_items(store, [answer(n, day="2026-02-26") for n in range(200)])
    sample = draw(store, answers_per_day=50)
    first_half = set(ids(sample)[:50])
    of_each_day = [
        len(first_half & set(ids_of([answer(n, day=day) for n in range(200)]))) for day in (DAY, "2026-02-26")
    ]
    assert min(of_each_day) > 10
    assert ids(sample) == sorted(ids(sample), key=write.sample_key)


# ---------------------------------------------------------------- floors


def test_floor_adds_what_the_general_sample_lacks(store: Store) -> None:
    """The rare topic has its twelve, each with a chance of 12 in 20; the others keep theirs."""
    sample = draw(store, answers_per_day=20, floors=(floor(12),))
    rare = set(ids_of([answer(n) for n in range(0, 200, 10)]))
    chances = {item.item_id: item.inclusion_probability for item in sample.items}
    assert len(rare & set(chances)) == 12
    assert {chances[item_id] for item_id in rare & set(chances)} == {12 / 20}
    assert {chance for item_id, chance in chances.items() if item_id not in rare} == {20 / 200}
    general = ids(draw(store, answers_per_day=20))
    assert set(general) < set(chances)


def test_floor_above_the_segment_takes_all_of_it(store: Store) -> None:
    """With certainty."""
    sample = draw(store, answers_per_day=10, floors=(floor(500),))
    certain = [item for item in sample.items if item.inclusion_probability == 1.0]
    assert len(certain) == 20


def test_floor_is_kept_where_the_general_rate_should_have_been_enough(store: Store) -> None:
    """A general sample of a tenth brings two of twenty on average; a floor of two is two even on a bad day."""
    for places in range(2, 40, 4):
        sample = draw(store, answers_per_day=places, floors=(floor(max(1, places // 10)),))
        rare = set(ids_of([answer(n) for n in range(0, 200, 10)]))
        assert len(rare & set(ids(sample))) >= max(1, places // 10)


def test_floor_of_nothing_changes_nothing(store: Store) -> None:
    """A segment that no answer of the day belongs to."""
    with_floor = draw(store, answers_per_day=20, floors=(floor(5, "unheard of"),))
    assert with_floor.items == draw(store, answers_per_day=20).items


def test_answer_of_two_floors_has_the_larger_share(tmp_path: Path) -> None:
    """Once in the sample, with one chance."""
    with open_store(tmp_path / "two.db") as store:
        import_items(store, [answer(n, tags={"topic": "x", "lang": "y" if n < 10 else "z"}) for n in range(100)])
        floors = (floor(20, "x"), FloorConfig(key="lang", value="y", answers_per_day=5))
        sample = draw(store, answers_per_day=1, floors=floors)
        inside = set(ids_of([answer(n) for n in range(10)]))
        chances = [item.inclusion_probability for item in sample.items if item.item_id in inside]
        assert len(ids(sample)) == len(set(ids(sample)))
        assert set(chances) == {0.5}


# ---------------------------------------------------------------- chances


@pytest.mark.parametrize(("number", "misleads"), [(5, True), (40, False)])
def test_weighted_sums_are_right_on_average(tmp_path: Path, number: int, misleads: bool) -> None:
    """Horvitz-Thompson: over 300 days the weighted count and mean are those of all answers of a day.

    A day has 12 answers of a rare topic, which is worse by two points and has a floor of 8, and 48 others. Where the
    floor matters, a mean without weights is off by far; where the general sample brings 8 by itself, it must not count
    twice.
    """
    rare = {f"{day}:{n}" for day in range(300) for n in range(12)}
    first = date(2025, 1, 1)
    items = [
        answer(
            n, day=str(first + timedelta(days=day)), external_id=f"{day}:{n}", tags={"topic": "rare" if n < 12 else ""}
        )
        for day in range(300)
        for n in range(60)
    ]
    name_of = dict(zip(ids_of(items), (str(item.external_id) for item in items), strict=True))
    with open_store(tmp_path / "days.db") as store:
        import_items(store, items)
        sample = draw(store, answers_per_day=number, floors=(floor(8),), lookback_days=400)
    days: dict[str, list[tuple[float, float]]] = {}
    for item in sample.items:
        name = name_of[item.item_id]
        days.setdefault(name.split(":")[0], []).append((1 / item.inclusion_probability, 2.0 if name in rare else 4.0))
    totals = [sum(weight for weight, _ in found) for found in days.values()]
    means = [sum(w * y for w, y in found) / total for found, total in zip(days.values(), totals, strict=True)]
    plain = [sum(y for _, y in found) / len(found) for found in days.values()]
    truth = (12 * 2.0 + 48 * 4.0) / 60
    assert len(days) == 300
    assert _mean(totals) == pytest.approx(60, abs=4 * _standard_error(totals) + 1e-6)
    assert _mean(means) == pytest.approx(truth, abs=4 * _standard_error(means) + 0.01)
    assert (abs(_mean(plain) - truth) > 0.3) == misleads


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _standard_error(values: list[float]) -> float:
    mean = _mean(values)
    return float((sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)) ** 0.5)


# ---------------------------------------------------------------- what failed before


def test_what_failed_in_a_way_that_may_pass_is_tried_again_first(store: Store) -> None:
    """With the chance it was drawn with; refusals and scores are not."""
    plan = keep(store, draw(store, answers_per_day=20))
    failed, refused, *rest = [item.item_id for item in plan.items]
    grade(store, plan, {failed: TIMEOUT, refused: UnscoredReason.REFUSAL, **dict.fromkeys(rest, 4)})
    finish(store, plan)
    import_items(store, [answer(n, day=SLOT_DAY) for n in range(9)])
    sample = draw(store, answers_per_day=9, slot_day="2026-03-01")
    assert ids(sample)[0] == failed
    assert sample.items[0].inclusion_probability == 0.1
    assert len(sample.items) == 10
    assert [day.answered_day for day in sample.days] == [SLOT_DAY]


def test_answer_is_tried_in_three_runs_at_most(store: Store) -> None:
    """After that it stays unscored; its chance never changes."""
    sample = draw(store, answers_per_day=4)
    victim = sample.items[0].item_id
    for run in range(MOST_RUNS_PER_ITEM):
        assert [(i.item_id, i.inclusion_probability) for i in sample.items][:1] == [(victim, 0.02)]
        plan = keep(store, sample, slot_day=f"2026-03-0{run + 1}")
        grade(store, plan, {item.item_id: TIMEOUT if item.item_id == victim else 4 for item in sample.items})
        finish(store, plan)
        sample = draw(store, answers_per_day=4, slot_day=f"2026-03-0{run + 2}")
    assert sample.items == ()


def test_what_failed_before_the_window_is_left(store: Store) -> None:
    """The window of a run holds for second tries as well."""
    plan = keep(store, draw(store, answers_per_day=5))
    grade(store, plan, dict.fromkeys([item.item_id for item in plan.items], TIMEOUT))
    finish(store, plan)
    import_items(store, [answer(1, day="2026-03-20")])
    assert len(draw(store, slot_day="2026-03-21", lookback_days=7).items) == 1


def test_day_that_is_open_again_is_drawn_whole_and_each_answer_once(store: Store) -> None:
    """Its failed answers come from the new draw, not a second time as failures."""
    plan = keep(store, draw(store, answers_per_day=20))
    grade(store, plan, dict.fromkeys([item.item_id for item in plan.items][:5], TIMEOUT))
    finish(store, plan, status="failed")
    write.give_up_rest(store, plan.run_id)
    sample = draw(store, answers_per_day=50, slot_day="2026-03-01")
    assert len(ids(sample)) == len(set(ids(sample))) == 50
    assert {item.inclusion_probability for item in sample.items} == {0.25}
