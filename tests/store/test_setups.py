"""Anchor sets and judge setups: stored once, told apart by what they are made of, numbered in the order of use."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from evaluator.records import Anchor, Ruler
from evaluator.store import read, write
from evaluator.store.db import Store
from tests.builders import CRITERION, ruler
from tests.store.helpers import APP, NOW, anchor, begin, finish, grade, one, plan_of, rows

THREE = [anchor(number, expected=number + 1) for number in range(3)]


def save(store: Store, anchors: list[Anchor], *, name: str = "general", app: str = APP, days: int = 0) -> str:
    """Store an anchor set some days after the start."""
    return write.save_anchor_set(store, app=app, name=name, anchors=anchors, now=NOW + timedelta(days=days))


def test_anchor_set_comes_back_in_its_order(store: Store) -> None:
    """Names, texts, expected scores and reasons."""
    anchors = [replace(each, why=f"because {each.anchor_id}") for each in reversed(THREE)]
    found = read.load_anchor_set(store, save(store, anchors))
    assert found == [(write.anchor_item_id(APP, each), each) for each in anchors]


def test_same_set_twice_is_one_set(store: Store) -> None:
    """Every run saves its set; only a changed one is new."""
    assert save(store, THREE) == save(store, THREE)
    assert one(store, "SELECT count(*) FROM anchor_sets") == 1


def test_grown_and_shrunk_sets_share_the_items_of_their_anchors(store: Store) -> None:
    """Adding or dropping anchors leaves the history of the others in one line."""
    sets = {save(store, THREE), save(store, THREE[:2]), save(store, [*THREE, anchor(9)])}
    assert len(sets) == 3
    assert one(store, "SELECT count(*) FROM items") == 4


def test_changed_text_is_another_anchor_and_a_changed_expectation_is_not(store: Store) -> None:
    """The text decides what is graded; what people expect of it is said again by each set."""
    save(store, [anchor(1, expected=2)])
    save(store, [anchor(1, expected=4)], days=1)
    changed = replace(anchor(1), item=replace(anchor(1).item, output="Other text."))
    save(store, [changed], days=2)
    assert one(store, "SELECT count(*) FROM items") == 2
    names = read.anchor_names(store, APP)
    assert names[write.anchor_item_id(APP, anchor(1))]["expected_score"] == 4


def test_apps_have_anchors_of_their_own(store: Store) -> None:
    """The same set in two apps is two series."""
    assert save(store, THREE) != save(store, THREE, app="other")
    assert set(read.anchor_names(store, APP)) == {write.anchor_item_id(APP, each) for each in THREE}


def test_anchors_are_no_traffic(store: Store) -> None:
    """No day counts them, no sample draws them."""
    save(store, THREE)
    assert read.answer_days(store, APP) == {}
    assert read.counts(store, APP)["n_answers"] == 0


def test_setup_is_new_once_for_each_app(store: Store) -> None:
    """Whoever registers it learns whether the app had it."""
    assert write.register_ruler(store, app=APP, ruler=ruler(), now=NOW)
    assert not write.register_ruler(store, app=APP, ruler=ruler(), now=NOW)
    assert write.register_ruler(store, app="other", ruler=ruler(), now=NOW)
    assert one(store, "SELECT count(*) FROM rulers") == 1


def test_setups_are_numbered_in_the_order_of_use(store: Store) -> None:
    """Setup v1, v2, ...: the number never changes."""
    models = ("b", "a", "c")
    for model in models:
        write.register_ruler(store, app=APP, ruler=ruler(model=model), now=NOW)
    write.register_ruler(store, app="other", ruler=ruler(model="z"), now=NOW)
    assert [(row["position"], row["model_asked"]) for row in read.rulers(store, APP)] == [(1, "b"), (2, "a"), (3, "c")]


def test_every_part_of_what_was_asked_makes_a_setup_of_its_own(store: Store) -> None:
    """Model, rubric, prompt, parameters, output mode: scores of two are never in one line."""
    first = ruler()
    others: list[Ruler] = [
        replace(first, model_asked="other"),
        replace(first, rubric=replace(first.rubric, question="Is it short?")),
        replace(first, prompt_template="Grade it: {{output}}"),
        replace(first, parameters={"temperature": 0.2}),
        replace(first, output_mode="text"),
    ]
    for each in (first, *others):
        assert write.register_ruler(store, app=APP, ruler=each, now=NOW)
    found = read.rulers(store, APP)
    assert len({row["ruler_id"] for row in found}) == 6
    assert (found[0]["scale_min"], found[0]["scale_max"], found[0]["criterion"]) == (1, 5, CRITERION)


def test_newest_setup_is_that_of_the_newest_run(store: Store) -> None:
    """Also after going back to an older one on the same day."""
    old, new = ruler(model="old"), ruler(model="new")
    assert read.newest_ruler(store, APP) is None
    for hour, use in ((6, old), (9, new), (12, old)):
        plan = replace(plan_of(use=use), slot_utc=f"2026-03-01T{hour:02d}:00:00.000Z", run_id=f"run at {hour}")
        begin(store, plan, use=use)
        newest = read.newest_ruler(store, APP)
        assert newest is not None
        assert newest["ruler_id"] == use.ruler_id


def test_anchor_scores_are_the_matrix_of_runs_and_anchors(store: Store) -> None:
    """Every anchor of every run that did not fail, unscored ones as nothing; answers are not in it."""
    save(store, THREE)
    ids = [write.anchor_item_id(APP, each) for each in THREE]
    for day, status in (("2026-03-01", "finished"), ("2026-03-02", "failed"), ("2026-03-03", "stopped")):
        plan = plan_of(["answer"], anchors=ids, slot_day=day, anchor_set_id="s")
        begin(store, plan)
        grade(store, plan, dict(zip(ids[:2], (4, 2), strict=True)), anchors=True)
        grade(store, plan, {"answer": 1})
        finish(store, plan, status=status)
    found = read.anchor_scores(store, app=APP, ruler_id=ruler().ruler_id, criterion=CRITERION)
    assert [(row["slot_day"], row["item_id"], row["score"]) for row in found] == sorted(
        (day, item_id, score)
        for day in ("2026-03-01", "2026-03-03")
        for item_id, score in zip(ids, (4, 2), strict=False)
    )
    runs = read.anchor_runs(store, app=APP, ruler_id=ruler().ruler_id)
    assert [(run["slot_day"], run["status"], run["n_anchors"]) for run in runs] == [
        ("2026-03-01", "finished", 3),
        ("2026-03-02", "failed", 3),
        ("2026-03-03", "stopped", 3),
    ]


def test_setup_is_stored_with_its_texts(store: Store) -> None:
    """The exact prompt and rubric of old scores can be shown later."""
    write.register_ruler(store, app=APP, ruler=ruler(), now=NOW)
    (found,) = read.rulers(store, APP)
    assert found["prompt_template"] == ruler().prompt_template
    assert "How well does the answer serve" in found["rubric_json"]
    assert rows(store, "SELECT n_levels FROM rubrics") == [{"n_levels": 5}]
