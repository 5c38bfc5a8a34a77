"""Daily totals: what a plain loop over the rows gives, whatever was written late and in whatever order."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.records import StopReason, UnscoredReason
from evaluator.store import read, rollup, write
from evaluator.store.db import Store, open_store
from tests.builders import CRITERION, ruler
from tests.store.helpers import (
    APP,
    NOW,
    anchor,
    answer,
    begin,
    finish,
    grade,
    ids_of,
    import_items,
    one,
    plan_of,
    rows,
)
from tests.store.reference_rollup import levels_by_hand, scores_by_hand, stored_levels, stored_scores

TIMEOUT, REFUSAL = UnscoredReason.TIMEOUT, UnscoredReason.REFUSAL
DAYS = ("2026-02-25", "2026-02-26", "2026-02-27")


def assert_as_by_hand(store: Store) -> None:
    """Hold both tables against the plain loop."""
    assert stored_scores(store, APP) == {key: pytest.approx(sums) for key, sums in scores_by_hand(store, APP).items()}
    assert stored_levels(store, APP) == {
        key: (n, pytest.approx(weight)) for key, (n, weight) in levels_by_hand(store, APP).items()
    }
    assert one(store, "SELECT count(*) FROM stale_days") == 0


def test_weights_and_clusters_enter_the_sums(store: Store) -> None:
    """Two answers of one conversation are one cluster; an answer drawn with 1/4 weighs 4."""
    items = [
        answer(1, conversation_id="c"),
        answer(2, conversation_id="c", user_id="u"),
        answer(3, user_id="u"),
        answer(4),
    ]
    import_items(store, items)
    a, b, c, d = ids_of(items)
    plan = plan_of({a: 0.25, b: 0.25, c: 0.5, d: 1.0})
    begin(store, plan)
    rollup.choose_segment_keys(store, APP, [])
    grade(store, plan, {a: 2, b: 4, c: 5, d: TIMEOUT})
    finish(store, plan)
    (found,) = stored_scores(store, APP).values()
    assert found == {
        "n": 3,
        "n_unscored": 1,
        "n_clusters": 2,
        "sum_w": 4 + 4 + 2,
        "sum_w2": 16 + 16 + 4,
        "sum_wy": 8 + 16 + 10,
        "sum_w2y": 32 + 64 + 20,
        "sum_w2y2": 64 + 256 + 100,
        "sum_t2": 24**2 + 10**2,
        "sum_tw": 24 * 8 + 10 * 2,
        "sum_ww": 8**2 + 2**2,
    }
    assert_as_by_hand(store)


def test_segments_and_crossed_keys_are_totalled(store: Store) -> None:
    """Each value of a key, and each pair of two crossed keys, has its own line; other tags have none."""
    tags = [{"topic": t, "lang": g, "other": "x"} for t in "ab" for g in ("en", "de")]
    items = [answer(number, tags=found) for number, found in enumerate([*tags, {"topic": "a"}, {}])]
    import_items(store, items)
    plan = plan_of(ids_of(items))
    begin(store, plan)
    rollup.choose_segment_keys(store, APP, [("topic", ""), ("topic", "lang")])
    grade(store, plan, dict(zip(ids_of(items), (1, 2, 3, 4, 5, 1), strict=True)))
    finish(store, plan)
    means = {key[2]: sums["sum_wy"] / sums["sum_w"] for key, sums in stored_scores(store, APP).items()}
    assert means == {
        "": pytest.approx(16 / 6),
        "topic=a": pytest.approx(8 / 3),
        "topic=b": 3.5,
        "topic=a*lang=en": 1,
        "topic=a*lang=de": 2,
        "topic=b*lang=en": 3,
        "topic=b*lang=de": 4,
    }
    assert_as_by_hand(store)


@pytest.mark.parametrize(
    ("scale", "scores", "levels"),
    [
        ((1, 5), [1, 1.49, 1.5, 4.5, 5, 3], {1: 2, 2: 1, 3: 1, 5: 2}),
        ((0, 1), [0, 0.12, 0.125, 0.5, 0.9, 1], {0: 2, 0.25: 1, 0.5: 1, 1: 2}),
        ((-2, 2), [-2, -1.5, -0.5, 0, 2, 2], {-2: 1, -1: 1, 0: 2, 2: 2}),
    ],
)
def test_levels_follow_the_scale(
    store: Store, scale: tuple[float, float], scores: list[float], levels: dict[float, int]
) -> None:
    """A score between two levels counts for the nearer one, the upper one of a tie, on any scale."""
    use = ruler(scale=scale)
    items = [answer(number) for number in range(len(scores))]
    import_items(store, items)
    plan = plan_of(ids_of(items), use=use)
    begin(store, plan, use=use)
    rollup.choose_segment_keys(store, APP, [])
    grade(store, plan, dict(zip(ids_of(items), scores, strict=True)))
    finish(store, plan)
    assert {row["level"]: row["n"] for row in rows(store, "SELECT level, n FROM daily_levels")} == levels
    assert_as_by_hand(store)


def test_pass_and_fail_are_two_levels(store: Store) -> None:
    """A rubric of two levels has two, whatever lies between them."""
    whole = ruler(scale=(0, 1))
    use = replace(whole, rubric=replace(whole.rubric, levels=(whole.rubric.levels[0], whole.rubric.levels[-1])))
    items = [answer(number) for number in range(4)]
    import_items(store, items)
    plan = plan_of(ids_of(items), use=use)
    begin(store, plan, use=use)
    grade(store, plan, dict(zip(ids_of(items), (0, 1, 1, 0.4), strict=True)))
    finish(store, plan)
    assert {row["level"]: row["n"] for row in rows(store, "SELECT level, n FROM daily_levels")} == {0: 2, 1: 2}


def test_failed_run_leaves_anchors_out_of_the_mean_and_counts_them(store: Store) -> None:
    """The anchors that happened to survive an outage are not the anchor set; the next end of the run brings them in."""
    write.save_anchor_set(store, app=APP, name="s", anchors=[anchor(n) for n in range(3)], now=NOW)
    ids = [write.anchor_item_id(APP, anchor(n)) for n in range(3)]
    plan = plan_of(anchors=ids)
    begin(store, plan)
    grade(store, plan, {ids[0]: 4, ids[1]: TIMEOUT}, anchors=True)
    finish(store, plan, status="failed", stop=StopReason.UNREACHABLE)
    (found,) = stored_scores(store, APP).values()
    assert (found["n"], found["n_unscored"], found["sum_wy"]) == (0, 2, 0)
    assert read.anchor_scores(store, app=APP, ruler_id=plan.ruler_id, criterion=CRITERION) == []
    write.reopen_run(store, plan.run_id)
    grade(store, plan, {ids[1]: 5, ids[2]: 3}, anchors=True)
    finish(store, plan)
    (found,) = stored_scores(store, APP).values()
    assert (found["n"], found["n_unscored"], found["sum_wy"]) == (3, 0, 12)
    assert_as_by_hand(store)


def test_anchors_are_totalled_as_a_whole(store: Store) -> None:
    """Their tags make no segments: with a handful of anchors a segment's mean would say nothing."""
    write.save_anchor_set(store, app=APP, name="s", anchors=[anchor(1, tags={"topic": "a"})], now=NOW)
    item_id = write.anchor_item_id(APP, anchor(1, tags={"topic": "a"}))
    items = [answer(1, tags={"topic": "a"})]
    import_items(store, items)
    plan = plan_of(ids_of(items), anchors=[item_id])
    begin(store, plan)
    rollup.choose_segment_keys(store, APP, [("topic", "")])
    grade(store, plan, {item_id: 4}, anchors=True)
    grade(store, plan, {ids_of(items)[0]: 2})
    finish(store, plan)
    assert sorted(key[1:3] for key in stored_scores(store, APP)) == [
        ("anchor", ""),
        ("traffic", ""),
        ("traffic", "topic=a"),
    ]


def test_verdicts_mark_their_days_in_the_same_transaction(store: Store) -> None:
    """Until the run ends a page can tell that a day's totals are not up to date."""
    items = [answer(1, day=DAYS[0]), answer(2, day=DAYS[1])]
    import_items(store, items)
    plan = plan_of(ids_of(items))
    begin(store, plan)
    grade(store, plan, dict.fromkeys(ids_of(items), 4))
    assert rows(store, "SELECT source, day FROM stale_days ORDER BY day") == [
        {"source": "traffic", "day": DAYS[0]},
        {"source": "traffic", "day": DAYS[1]},
    ]


def test_default_keys_are_the_commonest_that_tell_something(store: Store) -> None:
    """At most six; a key with one value or with hundreds is no breakdown; the choice is kept when traffic changes."""
    tags = [
        {
            "topic": str(n % 3),
            "lang": str(n % 2),
            "only": "one",
            "id": str(n),
            **{f"k{k}": str(n % 2) for k in range(7)},
        }
        for n in range(rollup.MAX_VALUES_PER_KEY + 10)
    ]
    for place in range(100):
        tags[place].pop("lang")
    import_items(store, [answer(number, tags=found) for number, found in enumerate(tags)])
    chosen = rollup.choose_segment_keys(store, APP, None)
    assert chosen == [(name, "") for name in ("k0", "k1", "k2", "k3", "k4", "k5")]
    import_items(store, [answer(number, day="2026-03-01", tags={"new": str(number % 2)}) for number in range(900)])
    assert rollup.choose_segment_keys(store, APP, None) == chosen


def test_other_keys_rebuild_every_day(store: Store) -> None:
    """A configured breakdown replaces the one in force, for all days there are; the old one is gone from every list."""
    items = [answer(n, day=day, tags={"topic": str(n % 2), "lang": str(n % 3)}) for day in DAYS for n in range(6)]
    import_items(store, items)
    plan = plan_of(ids_of(items))
    begin(store, plan)
    rollup.choose_segment_keys(store, APP, [("topic", "")])
    grade(store, plan, {item_id: 1 + n % 5 for n, item_id in enumerate(ids_of(items))})
    finish(store, plan)
    rollup.choose_segment_keys(store, APP, [("lang", ""), ("lang", "topic"), ("lang", "")])
    assert_as_by_hand(store)
    assert {row["key"] for row in read.segments(store, APP)} == {"", "lang"}
    assert {key[2].split("=")[0] for key in stored_scores(store, APP)} == {"", "lang"}


def test_keys_found_later_than_the_first_run_reach_back(store: Store) -> None:
    """A tag that had one value at first becomes a breakdown when it has two, for the first days as well."""
    first = [answer(n, day=DAYS[0], tags={"topic": "a"}) for n in range(3)]
    import_items(store, first)
    plan = plan_of(ids_of(first))
    begin(store, plan)
    assert rollup.choose_segment_keys(store, APP, None) == []
    grade(store, plan, dict.fromkeys(ids_of(first), 3))
    finish(store, plan)
    import_items(store, [answer(9, day=DAYS[1], tags={"topic": "b"})])
    assert rollup.choose_segment_keys(store, APP, None) == [("topic", "")]
    assert_as_by_hand(store)
    assert {key[2] for key in stored_scores(store, APP)} == {"", "topic=a"}


# ---------------------------------------------------------------- random late writes


class Storm:
    """Random writes in a random order: imports, runs, late scores, failed and abandoned runs, other keys."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.dice = random.Random(seed)
        self.n_items = 0
        self.n_runs = 0
        self.waiting: list[str] = []
        self.unscored: list[str] = []
        self.open: list[write.RunPlan] = []
        anchors = [anchor(number, tags={"topic": "a"}) for number in range(4)]
        write.save_anchor_set(store, app=APP, name="s", anchors=anchors, now=NOW)
        self.anchors = [write.anchor_item_id(APP, each) for each in anchors]
        rollup.choose_segment_keys(store, APP, None)

    def blow(self) -> None:
        """Do one random thing."""
        self.dice.choice([self.bring, self.run, self.run, self.retry, self.end, self.abandon, self.change_keys])()

    def bring(self) -> None:
        """Import answers of random days, with clusters and tags."""
        dice, items = self.dice, []
        for _ in range(dice.randint(1, 12)):
            self.n_items += 1
            tags = {key: dice.choice("abc") for key in ("topic", "lang", "tier") if dice.random() < 0.8}
            conversation = f"c{dice.randint(1, 9)}" if dice.random() < 0.5 else None
            items.append(
                answer(self.n_items, day=dice.choice(DAYS), tags=tags, conversation_id=conversation, user_id="u")
            )
        import_items(self.store, items, sha=str(self.n_items))
        self.waiting += ids_of(items)

    def run(self) -> None:
        """Plan a run over some answers and grade a part of it."""
        self.n_runs += 1
        chosen = [self.waiting.pop() for _ in range(min(len(self.waiting), self.dice.randint(0, 10)))]
        again = [self.unscored.pop() for _ in range(min(len(self.unscored), 2))]
        probabilities = {item_id: self.dice.choice([0.1, 0.25, 1.0]) for item_id in dict.fromkeys(chosen + again)}
        days = {row["answered_day"] for row in self._items(chosen)}
        free = {day: (9, 9) for day in days if day not in read.sampled_days(self.store, APP, ruler().ruler_id)}
        plan = plan_of(probabilities, anchors=self.anchors, slot_day=f"2026-03-{self.n_runs:02d}", sampled=free)
        begin(self.store, plan)
        self.open.append(plan)
        self.grade(plan, [item_id for item_id in probabilities if self.dice.random() < 0.8])
        grade(self.store, plan, {i: self.score() for i in self.anchors if self.dice.random() < 0.7}, anchors=True)

    def retry(self) -> None:
        """Grade something again in a run that is open: unscored may become scored, scored stays."""
        if self.open:
            plan = self.dice.choice(self.open)
            self.grade(plan, [item.item_id for item in plan.items if item.source == "traffic"][:3])

    def grade(self, plan: write.RunPlan, item_ids: list[str]) -> None:
        """Store random outcomes."""
        scores = {item_id: self.score() for item_id in item_ids}
        if scores:
            grade(self.store, plan, scores)
            self.unscored += [item_id for item_id, score in scores.items() if isinstance(score, UnscoredReason)]

    def score(self) -> float | UnscoredReason:
        """A score, now and then between two levels, or a reason."""
        return TIMEOUT if self.dice.random() < 0.2 else self.dice.choice([1, 2, 3, 4, 5, 2.5, 3.2])

    def end(self) -> None:
        """End an open run in one way or another."""
        if self.open:
            plan = self.open.pop(self.dice.randrange(len(self.open)))
            finish(self.store, plan, status=self.dice.choice(["finished", "stopped", "failed"]))

    def abandon(self) -> None:
        """Give up an open run for good."""
        if self.open:
            plan = self.open.pop(0)
            write.give_up_rest(self.store, plan.run_id)
            status = self.dice.choice(["closed", "failed"])
            write.close_abandoned_run(
                self.store, plan.run_id, status=status, stop_reason=None, message="cut off", now=NOW
            )

    def change_keys(self) -> None:
        """Break down by something else."""
        chosen = self.dice.sample([("topic", ""), ("lang", ""), ("topic", "lang"), ("tier", "")], 2)
        rollup.choose_segment_keys(self.store, APP, chosen if self.dice.random() < 0.5 else None)

    def _items(self, item_ids: list[str]) -> list[dict[str, object]]:
        marks = ", ".join("?" * len(item_ids))
        return rows(self.store, f"SELECT answered_day FROM items WHERE item_id IN ({marks})", *item_ids)


@pytest.mark.parametrize("seed", range(12))
def test_totals_after_random_late_writes_equal_a_rebuild_and_a_plain_loop(path: Path, seed: int) -> None:
    """However writes are mixed, keeping the totals up to date day by day comes to the same as starting from nothing."""
    with open_store(path) as store:
        storm = Storm(store, seed)
        for _ in range(25):
            storm.blow()
        while storm.open:
            storm.end()
        finish(store, _last_run(store))
        kept_scores, kept_levels = stored_scores(store, APP), stored_levels(store, APP)
        assert_as_by_hand(store)
        rollup.rebuild_everything(store, APP)
        assert stored_scores(store, APP) == {key: pytest.approx(sums) for key, sums in kept_scores.items()}
        assert stored_levels(store, APP) == {key: (n, pytest.approx(w)) for key, (n, w) in kept_levels.items()}


def _last_run(store: Store) -> write.RunPlan:
    plan = plan_of(slot_day="2026-04-01")
    begin(store, plan)
    return plan
