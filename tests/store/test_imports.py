"""Imports: whole or not at all, twice the same as once, versions of an id, tags; memory that does not grow."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.clock import utc_text
from evaluator.errors import StoreError
from evaluator.identity import base_item_id, versioned_item_id
from evaluator.records import Item, ItemFlag
from evaluator.store import read, write
from evaluator.store.db import Store, open_reader, open_store
from evaluator.store.write import answers as write_answers
from tests.store.helpers import APP, NOW, answer, ids_of, import_items, one, rows


def versions(store: Store) -> list[dict[str, object]]:
    """The versions of all answers, in the order they came."""
    return rows(store, "SELECT external_id, version, output FROM items ORDER BY rowid")


def tags_of(store: Store, item_id: str) -> dict[str, str]:
    """Tags of one answer."""
    found = read.item(store, item_id)
    assert found is not None
    return dict(found["tags"])


def test_all_parts_of_an_answer_come_back(store: Store) -> None:
    """Texts, contexts, ids, time, model, tags and flags survive, whatever characters they hold."""
    item = Item(
        input="«Où?»\u2028\x00 line\r\nline",
        output="💡 = 1",
        reference="",
        contexts=("first", "zweites 'Stück'"),
        external_id="id;--",
        conversation_id="c1",
        user_id="u1",
        answered_utc="2026-02-27T23:59:59.999Z",
        model="assistant-4",
        tags={"topic": "a=b", "lang": "de"},
        flags=frozenset({ItemFlag.TOOL_CALL, ItemFlag.NAIVE_TIME}),
    )
    import_items(store, [item])
    (item_id,) = ids_of([item])
    assert read.load_items(store, [item_id]) == {item_id: replace(item, tags={})}
    assert tags_of(store, item_id) == {"topic": "a=b", "lang": "de"}


def test_counts_tell_what_happened(store: Store) -> None:
    """New, days, and answers without a time."""
    counts = import_items(
        store, [answer(1, day="2026-02-01"), answer(2, day="2026-02-09"), answer(3, answered_utc=None)]
    )
    assert (counts.n_new, counts.n_known, counts.n_versions, counts.n_without_time) == (3, 0, 0, 1)
    assert (counts.first_day, counts.last_day) == ("2026-02-01", "2026-02-09")
    assert rows(store, "SELECT app, path, file_sha256, n_rows, n_new, n_rejected FROM imports") == [
        {"app": APP, "path": "answers.jsonl", "file_sha256": "sha", "n_rows": 3, "n_new": 3, "n_rejected": 0}
    ]


def test_same_file_twice_adds_nothing(store: Store) -> None:
    """Even within one instant; the second import is on record as having found everything."""
    items = [answer(number, tags={"topic": "x"}) for number in range(5)]
    import_items(store, items)
    before = rows(store, "SELECT * FROM items")
    counts = import_items(store, items)
    assert (counts.n_new, counts.n_known, counts.n_versions) == (0, 5, 0)
    assert (counts.first_day, counts.last_day, counts.n_without_time) == (None, None, 0)
    assert rows(store, "SELECT * FROM items") == before
    assert one(store, "SELECT count(*) FROM imports") == 2


@pytest.mark.parametrize("n_before", [0, 3, 12_000])
def test_source_that_breaks_half_way_leaves_nothing(store: Store, n_before: int) -> None:
    """Whatever was staged before the error is gone; the next import works and is not mixed up with it."""

    def broken() -> Iterator[Item]:
        yield from (answer(number, tags={"topic": "lost"}) for number in range(n_before))
        raise OSError("the file ends in the middle")

    with pytest.raises(OSError, match=r"ends in the middle"):
        import_items(store, broken())
    for table in ("items", "item_tags", "imports"):
        assert one(store, f"SELECT count(*) FROM {table}") == 0
    assert store.revision == 0
    assert import_items(store, [answer(1)]).n_new == 1
    assert tags_of(store, ids_of([answer(1)])[0]) == {}


def test_text_that_cannot_be_stored_leaves_nothing(store: Store) -> None:
    """Half of a character is refused by the database, and the connection stays usable."""
    with pytest.raises(UnicodeEncodeError):
        import_items(store, [answer(1), answer(2, output="\ud83d")])
    assert one(store, "SELECT count(*) FROM items") == 0
    assert import_items(store, [answer(1)]).n_new == 1


def test_readers_see_nothing_of_an_import_before_its_end(path: Path) -> None:
    """While rows are staged the database is neither changed nor locked."""
    with open_store(path) as store, open_store(path) as other, open_reader(path) as reader:

        def watched() -> Iterator[Item]:
            for number in range(12_000):
                yield answer(number)
            assert one(reader, "SELECT count(*) FROM items") == 0
            write.add_event(other, app=APP, at=NOW, kind="note", text="not locked", by_whom="me")

        assert import_items(store, watched()).n_new == 12_000
        assert one(reader, "SELECT count(*) FROM items") == 12_000


# ---------------------------------------------------------------- versions


def test_other_text_under_a_known_id_is_a_version_of_its_own(store: Store) -> None:
    """Both are kept, the new one is reported, and neither is written over."""
    first, second = answer(1, tags={"topic": "a"}), answer(1, output="Better.", tags={"topic": "b"})
    import_items(store, [first])
    counts = import_items(store, [second])
    assert (counts.n_new, counts.n_known, counts.n_versions) == (1, 0, 1)
    assert counts.version_ids == (first.external_id,)
    assert [(row["version"], row["output"]) for row in versions(store)] == [(1, "Answer 1."), (2, "Better.")]
    new_id = versioned_item_id(APP, str(second.external_id), second.content_id)
    assert tags_of(store, new_id) == {"topic": "b"}
    assert tags_of(store, base_item_id(APP, first)) == {"topic": "a"}


def test_versions_inside_one_file_keep_their_own_tags(store: Store) -> None:
    """The first text keeps the id; each version has the tags of its own row and no other."""
    texts = [answer(1, output=f"Text {n}.", tags={"topic": str(n), f"only{n}": "yes"}) for n in range(3)]
    counts = import_items(store, texts)
    assert (counts.n_new, counts.n_versions) == (3, 2)
    assert [row["version"] for row in versions(store)] == [1, 2, 3]
    ids = [base_item_id(APP, texts[0])]
    ids += [versioned_item_id(APP, str(item.external_id), item.content_id) for item in texts[1:]]
    assert [tags_of(store, item_id) for item_id in ids] == [{"topic": str(n), f"only{n}": "yes"} for n in range(3)]


def test_known_version_is_known_whenever_it_comes_again(store: Store) -> None:
    """Files may be read again in any order and mixture."""
    first, second, third = (answer(1, output=f"Text {n}.") for n in range(3))
    import_items(store, [first, second])
    counts = import_items(store, [second, third, first, second])
    assert (counts.n_new, counts.n_known, counts.n_versions) == (1, 3, 1)
    assert [row["version"] for row in versions(store)] == [1, 2, 3]


def test_version_counts_as_an_answer_of_its_own(store: Store) -> None:
    """Its place in the sampling order and its cluster are its own."""
    import_items(store, [answer(1), answer(1, output="Better.")])
    keys = rows(store, "SELECT sample_key, cluster_id = item_id AS alone FROM items")
    assert len({row["sample_key"] for row in keys}) == 2
    assert all(row["alone"] for row in keys)


def test_thousands_of_versions_take_no_longer_than_their_number(store: Store) -> None:
    """A file of which every text changed is compared row by row, not every row with every other."""
    items = [answer(number, tags={"a": "1", "b": "2"}) for number in range(3_000)]
    import_items(store, items)
    executed = 0

    def count() -> int:
        nonlocal executed
        executed += 1
        return 0

    store.connection.set_progress_handler(count, 1000)
    counts = import_items(store, [replace(item, output=item.output + "!") for item in items])
    store.connection.set_progress_handler(None, 0)
    assert counts.n_versions == 3_000
    assert executed < 3_000


@settings(max_examples=40)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("123"), st.sampled_from("uv")), max_size=6),
        min_size=1,
        max_size=4,
    )
)
def test_any_files_in_any_order_keep_each_text_of_each_id_once(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[str, str, str]]]
) -> None:
    """However rows are spread over files, what is kept is the set of (id, text), numbered in the order they came."""
    order: dict[str, list[str]] = {}
    with open_store(tmp_path_factory.mktemp("imports") / "judgewatch.db") as store:
        for number, file in enumerate(files):
            items = [
                Item(input="q", output=text, external_id=name, tags={"t": tag} if tag else {})
                for name, text, tag in file
            ]
            counts = import_items(store, items, sha=str(number))
            fresh = 0
            for name, text, _ in file:
                known = order.setdefault(name, [])
                if text not in known:
                    known.append(text)
                    fresh += 1
            assert (counts.n_new, counts.n_known) == (fresh, len(file) - fresh)
        kept = {(row["external_id"], row["version"]): row["output"] for row in versions(store)}
    assert kept == {(name, place): text for name, texts in order.items() for place, text in enumerate(texts, start=1)}


# ---------------------------------------------------------------- duplicates


def test_exact_duplicate_inside_a_file_counts_once(store: Store) -> None:
    """A row that stands twice has no double weight; the tags of the first stay."""
    counts = import_items(store, [answer(1, tags={"topic": "a"}), answer(1, tags={"topic": "b", "more": "x"})])
    assert (counts.n_new, counts.n_known) == (1, 1)
    assert tags_of(store, ids_of([answer(1)])[0]) == {"topic": "a"}


def test_known_answer_gains_no_tags(store: Store) -> None:
    """What is there is left alone, so that the daily totals stay those of what is there."""
    import_items(store, [answer(1, tags={"topic": "a"})])
    import_items(store, [answer(1, tags={"topic": "b", "more": "x"})])
    assert tags_of(store, ids_of([answer(1)])[0]) == {"topic": "a"}


def test_equal_answers_without_ids_are_as_many_as_they_were(store: Store) -> None:
    """Two users who both got "Yes." are two answers; the importer counts them, and again on reading again."""
    item = Item(input="Open?", output="Yes.", answered_utc="2026-02-27T10:00:00.000Z")
    pairs = [(base_item_id(APP, item, ordinal), item) for ordinal in range(2)]
    for expected in (2, 0):
        counts = write.import_answers(
            store, app=APP, answers=iter(pairs), path="", file_sha256="", n_rejected=0, now=NOW
        )
        assert counts.n_new == expected


def test_apps_keep_their_own_answers(store: Store) -> None:
    """The same ids in two apps are two answers."""
    import_items(store, [answer(1)])
    assert import_items(store, [answer(1, output="Other.")], app="other").n_versions == 0
    assert [row["version"] for row in versions(store)] == [1, 1]


@pytest.mark.parametrize("app", ["O'Brien; DROP TABLE items", "日本 ✓", "a/b%_*", " ", "x" * 80, "tab\tline\nend"])
def test_app_may_have_any_name(store: Store, app: str) -> None:
    """Names go in as values, never as statements."""
    import_items(store, [answer(1)], app=app)
    assert read.apps(store) == [app]
    assert read.counts(store, app)["n_answers"] == 1


# ---------------------------------------------------------------- size


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three times the answers, over months of minutes, take the memory of a few batches and no more."""
    monkeypatch.setattr(write_answers, "INSERT_BATCH", 300)
    monkeypatch.setattr(write_answers, "_MINUTES_KEPT", 500)
    small, large = (_peak_memory(tmp_path / f"{number}.db", number) for number in (3_000, 9_000))
    assert large < 1.2 * small


def _peak_memory(path: Path, number: int) -> int:
    def many() -> Iterator[tuple[str, Item]]:
        for place in range(number):
            instant = utc_text(NOW - timedelta(minutes=43 * place))
            yield f"{place:032d}", answer(place, input="q" * 100, answered_utc=instant, tags={"topic": f"t{place % 7}"})

    with open_store(path) as store:
        tracemalloc.start()
        write.import_answers(store, app=APP, answers=many(), path="", file_sha256="", n_rejected=0, now=NOW)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert one(store, "SELECT count(*) FROM items") == number
    return peak


def test_disk_that_is_full_at_the_end_leaves_nothing(store: Store) -> None:
    """An import that does not fit can be done again once there is room."""
    pages = one(store, "PRAGMA page_count")
    store.connection.execute(f"PRAGMA max_page_count = {pages + 5}")
    with pytest.raises(StoreError, match=r"is full"):
        import_items(store, [answer(number, output="x" * 2000) for number in range(50)])
    store.connection.execute("PRAGMA max_page_count = 100000")
    assert import_items(store, [answer(number, output="x" * 2000) for number in range(50)]).n_new == 50
