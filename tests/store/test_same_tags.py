"""Tags of stored scores that say the same as a tag of their traffic: taken out, once told, and nothing else lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.importing import ImportReport
from evaluator.store import rollup
from evaluator.store.db import open_store
from tests.test_importing_completed import APP, Shop, answer, score

AREAS = ("Refund", "Billing", "Tickets")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """An empty one."""
    return Shop(tmp_path)


def imported(shop: Shop, n: int, *, differ: int = 0, **segment_keys: object) -> ImportReport:
    """Scores with a product_area, then their traffic with an Area that says the same but for ``differ`` answers."""
    area = [AREAS[number % 3] for number in range(n)]
    shop.scores(*(score(number, product_area=area[number].lower()) for number in range(n)))
    told = [AREAS[(number + (number < differ)) % 3] for number in range(n)]
    return shop.traffic(*(answer(number, Area=f"{told[number]} ") for number in range(n)), **segment_keys)


def tag_keys(shop: Shop) -> set[str]:
    """The keys of all tags."""
    return {row[0] for row in shop.table("SELECT DISTINCT key FROM item_tags")}


def test_a_tag_that_says_the_same_is_kept_once(shop: Shop) -> None:
    """Case and space aside; the traffic's name stays, and the topic, which says something else, stays."""
    report = imported(shop, 24)
    assert dict(report.same_tags) == {"product_area": "Area"}
    assert tag_keys(shop) == {"Area", "channel", "topic"}


def test_scores_are_broken_down_by_the_tag_that_stayed(shop: Shop) -> None:
    """In the place of the one taken out; the totals are those of a rebuild from zero."""
    imported(shop, 24)
    keys = shop.table("SELECT key FROM segment_keys ORDER BY position")
    assert keys == [("Area",), ("topic",), ("channel",)]
    by_key = shop.table("SELECT DISTINCT key FROM daily_scores JOIN segments USING (app, segment_id) ORDER BY 1")
    assert by_key == [("",), ("Area",), ("channel",), ("topic",)]
    totals = shop.totals()
    with open_store(shop.db) as store:
        rollup.rebuild_everything(store, APP)
    assert shop.totals() == totals


@pytest.mark.parametrize(("n", "differ", "is_same"), [(40, 2, True), (40, 3, False), (20, 0, True), (19, 0, False)])
def test_the_same_means_nineteen_of_twenty_and_of_enough_answers(
    shop: Shop, n: int, differ: int, is_same: bool
) -> None:
    """At least 95 % of at least twenty answers."""
    report = imported(shop, n, differ=differ)
    assert (report.same_tags != {}) is is_same
    assert ("product_area" in tag_keys(shop)) is not is_same


def test_a_key_that_was_configured_stays(shop: Shop) -> None:
    """Whoever asked for a breakdown by it goes on having it."""
    report = imported(shop, 24, segment_keys=[("product_area", "topic")])
    assert report.same_tags == {}
    assert "product_area" in tag_keys(shop)


def test_two_flags_that_are_hardly_ever_set_are_two_things(shop: Shop) -> None:
    """They agree on 38 of 40 answers, and on none of those that say something."""
    shop.scores(*(score(n, escalated=str(n == 3).lower()) for n in range(40)))
    report = shop.traffic(*(answer(n, repeated=str(n == 7).lower()) for n in range(40)))
    assert report.same_tags == {}
    assert {"escalated", "repeated"} <= tag_keys(shop)


def test_answers_without_the_tag_in_their_traffic_count_as_different(shop: Shop) -> None:
    """A tag that half of the traffic has does not stand for one that all scores have."""
    shop.scores(*(score(n, product_area=AREAS[n % 3]) for n in range(40)))
    report = shop.traffic(*(answer(n, **({"Area": AREAS[n % 3]} if n % 2 else {})) for n in range(40)))
    assert report.same_tags == {}


def test_tags_of_answers_that_were_not_completed_stay(shop: Shop) -> None:
    """Their traffic has not come yet, and nothing else says it of them."""
    shop.scores(*(score(n, product_area=AREAS[n % 3]) for n in range(25)))
    shop.traffic(*(answer(n, Area=AREAS[n % 3]) for n in range(24)))
    left = shop.table("SELECT external_id FROM items JOIN item_tags USING (item_id) WHERE key = 'product_area'")
    assert left == [("a24",)]
