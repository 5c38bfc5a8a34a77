"""Prepares a recheck: the file is read, answers are chosen, and the plan is written before anything is paid for.

The same file, number of answers, choice and judge setup are the same question: a recheck that was cut off is found
again by them and goes on, one that is finished is shown again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from evaluator.clock import utc_text
from evaluator.config import Config
from evaluator.errors import UsageError
from evaluator.identity import base_item_id, versioned_item_id
from evaluator.importing.file_set import hash_file
from evaluator.importing.redacting import open_redactor, redacted
from evaluator.judges.base import Judge
from evaluator.recheck.choosing import Candidate, Choice, choose
from evaluator.recheck.stored import Reading, StoredScores, read_items, read_stored
from evaluator.records import Item, content_hash
from evaluator.redaction import RedactionError, Redactor
from evaluator.store import read, write
from evaluator.store.db import Store
from evaluator.store.write import RecheckItem, RecheckPlan, recheck_item_id

FEW = 20


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked: which file, how many answers of it, split where, read how.

    ``again`` asks for new grades although the same question was answered before.
    """

    path: Path
    n: int = 200
    split: str | None = None
    reading: Reading = field(default_factory=Reading)
    again: bool = False

    def settings_json(self) -> str:
        """What makes it the same question beside file, number and judge setup."""
        return json.dumps(
            {"split": self.split, **asdict(self.reading)}, sort_keys=True, ensure_ascii=False, default=list
        )


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A recheck ready to be graded. ``row`` is the stored one when it was begun before, else ``plan`` is new."""

    recheck_id: str
    started_utc: str
    facts: Mapping[str, Any]
    row: read.Row | None
    plan: RecheckPlan | None
    items: tuple[RecheckItem, ...]

    @property
    def is_finished(self) -> bool:
        """Whether it was answered before."""
        return self.row is not None and self.row["finished_utc"] is not None


def prepare(store: Store, question: Question, judge: Judge, *, config: Config, now: datetime) -> Prepared:
    """Find the recheck that was begun for this question, or plan a new one. Writes nothing.

    Raises:
        UsageError: a setting or the file does not allow a recheck; the message says why and what to do.
        DataFileError: the file cannot be read.
    """
    if question.n < 2:
        raise UsageError(f"--n {question.n}: two answers at least are needed, and {FEW} say something")
    app, ruler_id = config.app.name, judge.ruler.ruler_id
    sha256 = hash_file(question.path)
    row = read.same_recheck(
        store,
        app=app,
        ruler_id=ruler_id,
        file_sha256=sha256,
        n_asked=question.n,
        settings_json=question.settings_json(),
    )
    if row is not None and not (question.again and row["finished_utc"] is not None):
        return Prepared(
            recheck_id=row["recheck_id"],
            started_utc=row["started_utc"],
            facts=row["result"] or {},
            row=row,
            plan=None,
            items=(),
        )
    replaces = None if row is None else row["recheck_id"]
    return _plan(store, question, judge, config=config, sha256=sha256, replaces=replaces, now=now)


def begin(
    store: Store, prepared: Prepared, question: Question, judge: Judge, *, config: Config, now: datetime
) -> Prepared:
    """Write the plan of a new recheck with its answers; one that was begun before stays as it is.

    Returns:
        What is to be graded: another terminal may have asked the same a moment before, and is not paid for twice.
    """
    if prepared.plan is None:
        return prepared
    write.register_ruler(store, app=prepared.plan.app, ruler=judge.ruler, now=now)
    if write.begin_recheck(store, prepared.plan, prepared.items):
        return prepared
    return prepare(store, replace(question, again=False), judge, config=config, now=now)


def _plan(
    store: Store,
    question: Question,
    judge: Judge,
    *,
    config: Config,
    sha256: str,
    replaces: str | None,
    now: datetime,
) -> Prepared:
    app, ruler = config.app.name, judge.ruler
    scale = (ruler.rubric.scale_min, ruler.rubric.scale_max)
    stored = read_stored(question.path, question.reading, app=app, scale=scale)
    choice = choose(stored.candidates, n=question.n, zone=store.zone, split=question.split)
    items, n_deleted = _with_texts(store, question, choice, app, open_redactor(config.traffic))
    if len(items) < 2:
        told = ", ".join(f"{n:,} {reason}" for reason, n in stored.unusable.items()) or "none has a problem"
        raise UsageError(
            f"{question.path}: {len(items)} of {stored.n_scores:,} stored scores can be graded again ({told}); needed"
            " are two at least, each with its score, the time it was given, and the texts of question and answer;"
            " --field FIELD=COLUMN names a column"
        )
    now = _free_instant(store, app, ruler.ruler_id, now)
    started_utc = utc_text(now)
    recheck_id = content_hash("recheck", app, ruler.ruler_id, sha256, question.n, question.settings_json(), started_utc)
    facts = {
        **_facts(question, stored, choice, judge, n_deleted),
        "recheck_id": recheck_id,
        "app": app,
        "rechecked_utc": started_utc,
        "n_recent_asked": sum(item.part == "recent" for item in items),
        "n_old_asked": sum(item.part == "old" for item in items),
    }
    plan = RecheckPlan(
        recheck_id=recheck_id,
        app=app,
        ruler_id=ruler.ruler_id,
        criterion=ruler.rubric.criterion,
        run_id=content_hash("run", app, ruler.ruler_id, started_utc),
        source=question.path.name,
        file_sha256=sha256,
        stored_judge=stored.judge,
        n_asked=question.n,
        settings_json=question.settings_json(),
        facts=facts,
        started=now,
        replaces=replaces,
    )
    return Prepared(
        recheck_id=recheck_id, started_utc=started_utc, facts=facts, row=None, plan=plan, items=tuple(items)
    )


def _free_instant(store: Store, app: str, ruler_id: str, now: datetime) -> datetime:
    """The instant of the recheck's run: no other run of the judge setup may be of the same millisecond."""
    while read.run_at(store, app, ruler_id, utc_text(now)) is not None:
        now += timedelta(milliseconds=1)
    return now


def _with_texts(
    store: Store, question: Question, choice: Choice, app: str, redactor: Redactor | None
) -> tuple[list[RecheckItem], int]:
    """The chosen answers with their texts, both parts mixed in the random order; and how many were deleted here."""
    parts = [("recent", found) for found in choice.recent.taken] + [("old", found) for found in choice.old.taken]
    parts.sort(key=lambda pair: (pair[1].place, pair[1].content_id))
    wanted = {(found.row_number, found.content_id) for _, found in parts}
    texts = read_items(question.path, question.reading, wanted)
    clean = _cleaned(texts, redactor)
    gone = _deleted(store, app, clean)
    items: dict[str, RecheckItem] = {}
    for part, found in parts:
        if found.content_id in clean and found.content_id not in gone:
            item = clean[found.content_id]
            # texts that differed only in what was taken out are one copy
            items.setdefault(item.content_id, _item(part, found, item))
    return list(items.values()), len(gone)


def _cleaned(texts: Mapping[str, Item], redactor: Redactor | None) -> dict[str, Item]:
    """The texts as they may be stored; what the redaction hook fails on is left out."""
    clean = {}
    for content_id, item in texts.items():
        with suppress(RedactionError):
            clean[content_id] = redacted(item, redactor)
    return clean


def _item(part: str, found: Candidate, item: Item) -> RecheckItem:
    return RecheckItem(
        item=item,
        part="recent" if part == "recent" else "old",
        stored_score=found.score,
        stored_utc=found.graded_utc,
    )


def _deleted(store: Store, app: str, texts: Mapping[str, Item]) -> set[str]:
    """Which texts were deleted on a person's wish, as traffic or as a copy: no file brings them back."""
    ids = {recheck_item_id(app, item.content_id): content_id for content_id, item in texts.items()}
    ids |= {base_item_id(app, item): content_id for content_id, item in texts.items()}
    ids |= {
        versioned_item_id(app, item.external_id, item.content_id): content_id
        for content_id, item in texts.items()
        if item.external_id is not None
    }
    return {ids[item_id] for item_id in read.deleted_among(store, ids)}


def _facts(question: Question, stored: StoredScores, choice: Choice, judge: Judge, n_deleted: int) -> dict[str, Any]:
    """What is known before the first call."""
    rubric = judge.ruler.rubric
    unusable = dict(stored.unusable)
    if choice.n_repeated:
        unusable["the same texts a second time"] = choice.n_repeated
    if n_deleted:
        unusable["deleted here"] = n_deleted
    return {
        "file": question.path.name,
        "stored_judge": stored.judge,
        "stored_criterion": stored.criterion,
        "n_scores": stored.n_scores,
        "n_asked": question.n,
        "split": question.split,
        "stored_scale": None if question.reading.scale is None else list(question.reading.scale),
        "scale": [rubric.scale_min, rubric.scale_max],
        "criterion": rubric.criterion,
        "model_asked": judge.ruler.model_asked,
        "n_recent_there": choice.recent.n_there,
        "n_old_there": choice.old.n_there,
        "unusable": unusable,
    }
