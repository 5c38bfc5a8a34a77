"""Which stored scores are graded again: what can be used, whose they are, on which scale, and a random part of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from evaluator.clock import utc_text
from evaluator.errors import UsageError
from evaluator.recheck.choosing import Candidate, Choice, choose
from evaluator.recheck.stored import Reading, StoredScores, read_items, read_stored
from tests.recheck_world import stored_rows, write_rows

ZONE = ZoneInfo("UTC")
ONE_TO_FIVE = (1.0, 5.0)


def candidates(n: int, *, days: float = 90, seed: int = 1) -> list[Candidate]:
    """Scores evenly over a period, in no order."""
    rng = random.Random(seed)
    first = datetime(2026, 8, 1, 9, tzinfo=UTC)
    found = [
        Candidate(
            graded_utc=utc_text(first + timedelta(days=days * number / (n - 1))),
            score=float(rng.randint(1, 5)),
            content_id=f"content-{number}",
            place=rng.random(),
            row_number=number,
        )
        for number in range(n)
    ]
    rng.shuffle(found)
    return found


def taken(choice: Choice) -> tuple[set[int], set[int]]:
    """Numbers of the (recent, old) answers taken."""
    return ({found.row_number for found in choice.recent.taken}, {found.row_number for found in choice.old.taken})


def read_rows(
    tmp_path: Path,
    rows: list[dict[str, Any]],
    judge_scale: tuple[float, float] = ONE_TO_FIVE,
    **reading: Any,
) -> StoredScores:
    """Read rows as a file of stored scores."""
    return read_stored(write_rows(rows, tmp_path / "s.jsonl"), Reading(**reading), app="shop", scale=judge_scale)


class TestChoose:
    """A random half of the newest and of the oldest third."""

    def test_parts_are_thirds_of_the_period(self) -> None:
        """Nothing of the middle third is taken, and half of the number from each end."""
        choice = choose(candidates(301), n=100, zone=ZONE)
        recent, old = taken(choice)
        assert (len(recent), len(old)) == (50, 50)
        assert min(recent) >= 200
        assert max(old) <= 100
        assert (choice.recent.n_there, choice.old.n_there) == (101, 101)

    def test_asking_again_takes_the_same_answers(self) -> None:
        """In whatever order the file has them; fewer are a subset of more."""
        found = candidates(300)
        first = taken(choose(found, n=80, zone=ZONE))
        assert taken(choose(sorted(found), n=80, zone=ZONE)) == first
        fewer = taken(choose(found, n=20, zone=ZONE))
        assert fewer[0] < first[0]
        assert fewer[1] < first[1]

    def test_scores_have_no_say(self) -> None:
        """Other scores on the same answers: the same answers."""
        found = candidates(300)
        other = [candidate._replace(score=6 - candidate.score) for candidate in found]
        assert taken(choose(found, n=80, zone=ZONE)) == taken(choose(other, n=80, zone=ZONE))

    def test_same_texts_count_once_with_their_first_score(self) -> None:
        """However often an answer was given."""
        found = candidates(90)
        again = [found[5]._replace(graded_utc="2026-12-01T00:00:00.000Z", row_number=999)] * 3
        choice = choose([*again, *found], n=90, zone=ZONE)
        assert choice.n_repeated == 3
        assert 999 not in taken(choice)[0] | taken(choice)[1]

    def test_scores_of_one_day_have_no_old_part(self) -> None:
        """Parity only; the day is one of the zone."""
        choice = choose(candidates(100, days=0.2), n=40, zone=ZONE)
        assert (len(choice.recent.taken), len(choice.old.taken)) == (20, 0)
        over_midnight = choose(candidates(100, days=0.9), n=40, zone=ZONE)
        assert len(over_midnight.old.taken) == 20

    @pytest.mark.parametrize("wrong", ["1970-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z"])
    def test_one_wrong_date_does_not_empty_a_part(self, wrong: str) -> None:
        """A third of the period without answers gives way to a third of the answers."""
        found = [*candidates(300), candidates(2)[0]._replace(graded_utc=wrong, content_id="wrong", row_number=777)]
        recent, old = taken(choose(found, n=100, zone=ZONE))
        assert (len(recent), len(old)) == (50, 50)
        assert not recent & old

    def test_small_file_is_taken_whole_from_its_ends(self) -> None:
        """More asked for than there is."""
        recent, old = taken(choose(candidates(10), n=200, zone=ZONE))
        assert old == {0, 1, 2, 3}
        assert recent == {6, 7, 8, 9}
        assert not taken(choose(candidates(3), n=2, zone=ZONE))[0] & {0, 1}

    def test_split_day_divides_the_history(self) -> None:
        """Before it is old; the day itself is recent, in the zone."""
        choice = choose(candidates(91), n=200, zone=ZONE, split="2026-09-01")
        recent, old = taken(choice)
        assert old == set(range(31))
        assert recent == set(range(31, 91))
        berlin = choose(candidates(91, days=90), n=200, zone=ZoneInfo("Pacific/Auckland"), split="2026-09-01")
        assert berlin.old.n_there == 31

    @pytest.mark.parametrize(
        ("split", "words"), [("2026-01-01", "before that day"), ("2027-01-01", "from that day on")]
    )
    def test_split_outside_the_history_is_refused(self, split: str, words: str) -> None:
        """With the days that there are."""
        with pytest.raises(UsageError, match=f"{words}; they are of 2026-08-01 to 2026-10-30"):
            choose(candidates(91), n=20, zone=ZONE, split=split)

    def test_nothing_to_choose_from_is_nothing(self) -> None:
        """An empty file."""
        choice = choose([], n=20, zone=ZONE)
        assert (choice.recent.taken, choice.old.taken) == ((), ())


class TestReadStored:
    """Usable scores, and why the others are not."""

    def test_unusable_scores_are_counted_by_reason(self, tmp_path: Path) -> None:
        """Texts, time and score are needed; the rest of the file is used."""
        rows = stored_rows(30)
        rows[0] |= {"output": "  "}
        rows[1] |= {"input": ""}
        rows[2] |= {"score": None}
        rows[3] |= {"graded_at": None}
        rows[4] |= {"score": 99}
        found = read_rows(tmp_path, rows)
        assert len(found.candidates) == 25
        assert found.n_scores == 30
        assert found.unusable == {
            "no text of the answer": 1,
            "no text of the question": 1,
            "no stored score": 1,
            "no time": 1,
            "score outside 1 to 5": 1,
        }

    def test_rows_that_cannot_be_read_are_counted(self, tmp_path: Path) -> None:
        """A broken line is no reason to refuse the rest."""
        path = write_rows(stored_rows(20), tmp_path / "s.jsonl")
        path.write_text(path.read_text("utf-8") + '{"broken\n', "utf-8")
        found = read_stored(path, Reading(), app="shop", scale=ONE_TO_FIVE)
        assert (len(found.candidates), found.unusable) == (20, {"the row cannot be read": 1})

    def test_time_of_the_answer_stands_in_for_that_of_grading(self, tmp_path: Path) -> None:
        """An export that has only one of them."""
        rows = [{**row, "answered_at": row.pop("graded_at")} for row in stored_rows(10)]
        assert len(read_rows(tmp_path, rows).candidates) == 10

    def test_several_judges_are_refused_with_the_list(self, tmp_path: Path) -> None:
        """Which of them is meant, nobody can guess; several can be taken together."""
        rows = [{**row, "judge": ("old", "new")[k % 2]} for k, row in enumerate(stored_rows(20))]
        with pytest.raises(UsageError, match=r"judge 'new', criterion 'score' \(10\).*--judge"):
            read_rows(tmp_path, rows)
        assert len(read_rows(tmp_path, rows, judges=("old",)).candidates) == 10
        both = read_rows(tmp_path, rows, judges=("old", "new"))
        assert (both.judge, len(both.candidates)) == ("new, old", 20)
        with pytest.raises(UsageError, match=r"no score in .* fits --judge"):
            read_rows(tmp_path, rows, judges=("other",))

    def test_several_criteria_are_refused_with_the_list(self, tmp_path: Path) -> None:
        """One judge setup grades one."""
        rows = [{**row, "criterion": ("style", "truth")[k % 2]} for k, row in enumerate(stored_rows(20))]
        with pytest.raises(UsageError, match=r"criterion 'style' \(10\).*--criterion"):
            read_rows(tmp_path, rows)
        assert read_rows(tmp_path, rows, criterion="truth").criterion == "truth"

    def test_same_answer_has_the_same_place_in_every_file(self, tmp_path: Path) -> None:
        """The random order is that of the texts."""
        rows = stored_rows(20)
        first = {found.content_id: found.place for found in read_rows(tmp_path, rows).candidates}
        other = read_rows(tmp_path, [{**row, "id": "x", "judge": "j"} for row in reversed(rows)]).candidates
        assert {found.content_id: found.place for found in other} == first

    def test_texts_come_in_a_second_pass(self, tmp_path: Path) -> None:
        """Only those that were chosen."""
        rows = stored_rows(20)
        found = read_rows(tmp_path, rows).candidates[3]
        texts = read_items(tmp_path / "s.jsonl", Reading(), {(found.row_number, found.content_id)})
        assert [item.output for item in texts.values()] == ["answer 3"]


class TestScale:
    """Scores of another scale are never compared as they are."""

    def test_scores_outside_the_judges_scale_are_refused(self, tmp_path: Path) -> None:
        """With both scales and the option."""
        rows = stored_rows(40, score=lambda number: (number % 11) / 10)
        with pytest.raises(UsageError, match=r"run from 0 to 1 .* grades from 1 to 5; .*--scale MIN MAX"):
            read_rows(tmp_path, rows)

    def test_named_scale_is_mapped_on_the_judges(self, tmp_path: Path) -> None:
        """0 to 1 on 1 to 5: 0.5 is 3."""
        rows = stored_rows(40, score=lambda number: (number % 3) / 2)
        found = read_rows(tmp_path, rows, scale=(0.0, 1.0))
        assert {candidate.score for candidate in found.candidates} == {1.0, 3.0, 5.0}

    @pytest.mark.parametrize("score", [lambda number: 2 + (number % 5) / 2, lambda _: 1, lambda number: 2 + number % 2])
    def test_scale_of_the_judge_needs_no_word(self, tmp_path: Path, score: Callable[[int], float]) -> None:
        """Fractions, unused ends and a judge that always says the same."""
        assert len(read_rows(tmp_path, stored_rows(40, score=score)).candidates) == 40

    @pytest.mark.parametrize("judge_scale", [(1.0, 10.0), (0.0, 10.0), (0.0, 100.0)])
    def test_narrower_scale_inside_the_judges_is_refused(
        self, tmp_path: Path, judge_scale: tuple[float, float]
    ) -> None:
        """Every score lies inside, and none means the same; named by hand it is taken at its word."""
        rows = stored_rows(40)
        with pytest.raises(UsageError, match=r"run from 1 to 5 \(whole numbers from 1 to 5\)"):
            read_rows(tmp_path, rows, judge_scale=judge_scale)
        mapped = read_rows(tmp_path, rows, judge_scale=judge_scale, scale=(1.0, 5.0))
        assert max(found.score for found in mapped.candidates) == judge_scale[1]
        as_they_are = read_rows(tmp_path, rows, judge_scale=judge_scale, scale=judge_scale)
        assert max(found.score for found in as_they_are.candidates) == 5.0

    def test_two_scales_in_one_file_are_refused(self, tmp_path: Path) -> None:
        """Half of it 1 to 5, half of it percent: beside a judge of percent nothing is outside."""
        rows = stored_rows(40, score=lambda number: 1 + number % 5 if number < 20 else 60 + number)
        with pytest.raises(UsageError, match="two scales"):
            read_rows(tmp_path, rows, judge_scale=(0.0, 100.0))
        with pytest.raises(UsageError, match="20 of them outside 1 to 5"):
            read_rows(tmp_path, rows)

    @pytest.mark.parametrize("scale", [(5.0, 1.0), (1.0, 1.0)])
    def test_scale_upside_down_is_refused(self, tmp_path: Path, scale: tuple[float, float]) -> None:
        """The lower end comes first."""
        with pytest.raises(UsageError, match="lower end comes first"):
            read_rows(tmp_path, stored_rows(10), scale=scale)
