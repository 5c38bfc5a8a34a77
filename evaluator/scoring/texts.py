"""Blanks the texts of answers when no run will read them any more, where ``traffic.store_text`` is off.

Ids, scores, tags and times stay, so pages and reports work; anchors keep their texts, which every run needs.
"""

from __future__ import annotations

from evaluator.clock import day_of
from evaluator.scoring.plan import RunSettings
from evaluator.scoring.sampler import oldest_day_drawn, worth_another_try
from evaluator.store import read, write
from evaluator.store.db import Store
from evaluator.store.read import LAST_DAY


def blank_texts(store: Store, settings: RunSettings, ruler_id: str) -> int:
    """Blank what the run that has just ended leaves without use; does nothing where texts are kept.

    Texts stay for answers that a later run tries again, of a run that can be taken up again, of days that are still to
    be drawn, and of candidates for anchors that wait for a person.

    Args:
        store: A writable store.
        settings: Those of the run.
        ruler_id: The ruler of the run.

    Returns:
        How many answers were blanked.

    Raises:
        StoreError: the database cannot be written; the next run does it.
    """
    if settings.traffic.store_text:
        return 0
    slot_day = day_of(settings.slot, store.zone).isoformat()
    oldest = oldest_day_drawn(read.answer_days(store, settings.app), settings.traffic, slot_day)
    again = worth_another_try(store, settings.app, ruler_id, oldest) if settings.traffic.grade else []
    n_items = write.blank_texts(
        store,
        settings.app,
        still_needed=[row["item_id"] for row in again],
        from_day=oldest if settings.traffic.grade else LAST_DAY,
        closed_days=read.sampled_days(store, settings.app, ruler_id),
    )
    # also without new ones: a page may have kept the log from being emptied the last time
    write.scrub_log(store)
    return n_items
