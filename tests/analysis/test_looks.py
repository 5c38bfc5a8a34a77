"""Which segments need a look: each cause once, where it lies."""

from __future__ import annotations

from typing import Any

from evaluator.analysis.looks import MOST_LOOKS, changed_segments, low_segments, needs_a_look, worst_segment
from tests.analysis.findings import WORSE, findings, segment

LOW: dict[str, Any] = {"stands_out": True, "against_rest": -0.5, "against_rest_low": -0.7, "against_rest_high": -0.3}


def worse(segment_id: int, value: str, change: float, n: int, **options: Any) -> Any:
    """A segment that got worse by so much, over so many answers."""
    return segment(segment_id, value, **(WORSE | {"estimate": change, "n_after": n} | options))


class TestOneCauseOnce:
    """Crossed segments and their keys."""

    def test_a_crossed_segment_that_repeats_its_key_is_left_out(self):
        """All of delivery fell, in both languages alike."""
        rows = [
            worse(1, "delivery", -0.8, 400),
            worse(2, "delivery", -0.85, 180, value2="de"),
            worse(3, "delivery", -0.75, 220, value2="en"),
        ]
        assert [row["segment_id"] for row in changed_segments(rows)] == [1]

    def test_a_crossed_segment_that_is_the_source_is_named_instead_of_both_keys(self):
        """Only German billing fell; billing and German fell with it."""
        rows = [
            worse(1, "billing", -0.4, 300),
            worse(2, "de", -0.3, 400, key="language"),
            worse(3, "billing", -1.2, 100, value2="de"),
        ]
        assert [row["segment_id"] for row in changed_segments(rows)] == [3]

    def test_the_larger_part_of_a_whole_is_not_its_source(self):
        """Nine tenths of the answers are English: of course they hold most of the change."""
        rows = [worse(1, "delivery", -0.8, 400), worse(2, "delivery", -0.8, 360, value2="en")]
        assert [row["segment_id"] for row in changed_segments(rows)] == [1]

    def test_a_small_part_that_fell_more_is_not_the_source_of_the_whole(self):
        """It fell twice as far, over a seventh of the answers: a third of the change."""
        rows = [worse(1, "delivery", -0.8, 400), worse(2, "delivery", -1.6, 60, value2="fr")]
        assert [row["segment_id"] for row in changed_segments(rows)] == [1]

    def test_opposite_directions_are_two_stories(self):
        """Delivery got better, German delivery worse."""
        rows = [
            worse(1, "delivery", 0.4, 400, direction="better"),
            worse(2, "delivery", -0.6, 100, value2="de"),
        ]
        assert [row["segment_id"] for row in changed_segments(rows)] == [2, 1]

    def test_different_topics_are_two_stories(self):
        """The larger change first."""
        rows = [worse(1, "billing", -0.4, 300), worse(2, "delivery", -0.8, 300), segment(3, "account")]
        assert [row["segment_id"] for row in changed_segments(rows)] == [2, 1]

    def test_low_segments_follow_the_same_rule(self):
        """Billing is low because German billing is."""
        rows = [
            segment(1, "billing", **(LOW | {"against_rest": -0.5, "n": 160})),
            segment(2, "billing", value2="de", **(LOW | {"against_rest": -1.5, "n": 50})),
            segment(3, "billing", value2="en", n=110),
        ]
        assert [row["segment_id"] for row in low_segments(rows)] == [2]


class TestLooks:
    """The list, and the segment that each sentence speaks of."""

    def test_what_got_worse_comes_before_what_is_low(self):
        """Better needs no look."""
        rows = [
            segment(1, "account", **LOW),
            worse(2, "delivery", -0.8, 300),
            worse(3, "orders", 0.5, 300, direction="better"),
        ]
        found = needs_a_look(findings(segments=rows))
        assert [segment_id for segment_id, _ in found] == [2, 1]
        assert found[1][1] == (
            "account: below the rest in the last 14 days, 3.10, that is −0.50, between −0.70 and −0.30, against all"
            " other answers (n 143)."
        )

    def test_a_segment_that_got_worse_is_not_listed_as_low_too(self):
        """Nor are the crossed segments in it, nor the keys of a crossed one."""
        rows = [
            worse(1, "delivery", -0.8, 300),
            segment(2, "delivery", value2="de", **LOW),
            worse(3, "billing", -1.2, 100, value2="de"),
            segment(4, "billing", **LOW),
            segment(5, "de", key="language", **LOW),
            segment(6, "account", **LOW),
        ]
        assert [segment_id for segment_id, _ in needs_a_look(findings(segments=rows))] == [3, 1, 6]

    def test_what_lies_in_a_segment_that_got_worse_is_not_listed(self):
        """German delivery is low because delivery fell."""
        rows = [worse(1, "delivery", -0.8, 300), segment(2, "delivery", value2="de", **LOW)]
        assert [segment_id for segment_id, _ in needs_a_look(findings(segments=rows))] == [1]

    def test_the_list_is_short(self):
        """Five at most, the worst first."""
        rows = [worse(number, f"topic {number}", -0.2 - 0.1 * number, 300) for number in range(9)]
        found = needs_a_look(findings(segments=rows))
        assert [segment_id for segment_id, _ in found] == [8, 7, 6, 5, 4]
        assert len(found) == MOST_LOOKS


class TestWorst:
    """The segment in the headline."""

    def test_is_the_one_that_fell_most(self):
        """By size, not by order."""
        found = worst_segment(findings(segments=[worse(1, "a", -0.3, 300), worse(2, "b", -0.6, 300)]))
        assert found is not None
        assert found["segment_id"] == 2

    def test_must_matter(self):
        """Less than the user called small is not worth a headline."""
        assert worst_segment(findings(segments=[worse(1, "a", -0.09, 300)])) is None

    def test_is_not_the_assistants_own_fall_in_another_guise(self):
        """Every topic fell with the assistant: that is its own headline, unless one topic holds most of it."""
        fell = WORSE | {"estimate": -0.3, "n_after": 1200}
        alike = [worse(number, f"topic {number}", -0.32, 300) for number in range(4)]
        assert worst_segment(findings(assistant=fell, segments=alike)) is None
        one = [worse(1, "delivery", -1.1, 300)]
        found = worst_segment(findings(assistant=fell, segments=one))
        assert found is not None
        assert found["segment_id"] == 1
