"""Takes scores that somebody's own pipeline has stored into the store: all of them or nothing, without any judge call.

Each judge and criterion becomes a judge setup of its own, whose history is drawn at once. The same file twice adds
nothing, and a score that is stored stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evaluator.errors import UsageError
from evaluator.importing.building import open_or_build
from evaluator.importing.file_set import KeptOutError, RejectLog
from evaluator.importing.redacting import redaction_text
from evaluator.importing.verdict_files import Pair, VerdictFilesReader, VerdictReading, pair_name
from evaluator.importing.verdict_report import JudgeReport, VerdictReport
from evaluator.importing.verdict_scale import IMPORTED, UNKNOWN_JUDGE, ScaleFound, imported_ruler, stored_ruler
from evaluator.records import Ruler, Source
from evaluator.store import read, write
from evaluator.store.db import Store, check_zone
from evaluator.store.look_ahead import untouched

if TYPE_CHECKING:
    from evaluator.analysis import AnalysisSettings

__all__ = ["JudgeReport", "VerdictReading", "VerdictReport", "import_verdicts", "refresh_bridged"]


@dataclass(kw_only=True)
class _Taken:
    """What is known at the end of an import."""

    zone: str
    created: bool
    scales: Sequence[ScaleFound | None] = ()
    rulers: Sequence[Ruler | None] = ()
    done: write.ScoresTaken | None = None
    judges: tuple[JudgeReport, ...] = ()


def import_verdicts(
    store_path: Path,
    paths: Sequence[Path],
    *,
    app: str,
    now: datetime,
    reading: VerdictReading,
    settings: AnalysisSettings,
    day_zone: str | None = None,
    segment_keys: Sequence[tuple[str, str]] | None = None,
    same_judge: Ruler | None = None,
    by_whom: str = "import",
    rejects: RejectLog | None = None,
    skip_bad: bool = False,
    dry_run: bool = False,
) -> VerdictReport:
    """Store the scores of files with their answers, all of them or none, and analyse each judge setup.

    Args:
        store_path: The database; made, with its folder, when it is missing and there is something to store.
        paths: The files.
        app: The app the answers belong to.
        now: Wall clock.
        reading: How the files are read.
        settings: The user's decisions, for the analysis.
        day_zone: Zone of the days of a new database, UTC when None; an existing database must agree with it.
        segment_keys: As in ``rollup.choose_segment_keys``.
        same_judge: The configured judge setup, when the scores are said to be of the same judge.
        by_whom: Who says so.
        rejects: Receives the rows that cannot be used; without it they are only counted.
        skip_bad: Store what can be read although some rows cannot.
        dry_run: Only look: count what would be added, write nothing.

    Raises:
        DataFileError: a file cannot be used as a whole; nothing is stored.
        StoreError: the database cannot be used; nothing is stored.
        UsageError: an unknown zone or setting, or a bridge to a judge on another scale.
    """
    taken = _Taken(zone=check_zone(day_zone or "UTC").key, created=not store_path.exists())
    look_at = untouched(store_path) if dry_run and store_path.exists() else nullcontext(store_path)
    with RejectLog() if rejects is None else nullcontext(rejects) as log, look_at as store_path:
        reader = VerdictFilesReader(paths, app, reading, log, skip_bad=skip_bad)
        with suppress(KeptOutError), open_or_build(store_path, day_zone) as store:
            taken.zone = store.zone.key
            _take(reader, taken, store, app=app, paths=paths, now=now, same_judge=same_judge, dry_run=dry_run)
            if dry_run:
                raise KeptOutError  # a database that was made for the look is thrown away
            write.finish_scores(store, app, segment_keys)
            _bridge(store, app, reader, taken, same_judge, by_whom, now)
            taken.judges = _judges(reader, taken, store, app)
    stored = bool(taken.judges)
    if stored:
        _analyse(store_path, app, taken.rulers, settings, now)
    return VerdictReport(
        files=tuple(reader.files),
        judges=taken.judges or _judges(reader, taken, None, app),
        stored=stored,
        created=stored and taken.created,
        zone=taken.zone,
        n_new_answers=taken.done.answers.n_new if taken.done else 0,
        n_bare=taken.done.n_bare if taken.done else 0,
        redaction=redaction_text(reader.found, taken.done.answers.n_new if taken.done else 0),
    )


def _take(
    reader: VerdictFilesReader,
    taken: _Taken,
    store: Store,
    *,
    app: str,
    paths: Sequence[Path],
    now: datetime,
    same_judge: Ruler | None,
    dry_run: bool,
) -> None:
    """Read the files and store their scores in one transaction."""
    known = _known_rulers(store, app)
    for judge, criterion, low, high in known:
        reader.known[(None if judge == UNKNOWN_JUDGE else judge, criterion)] = (low, high)
    write.stage_scores(store, app, reader.scores())
    taken.scales = reader.scales()
    taken.rulers = [
        None if scale is None else _ruler_of(pair, scale, known)
        for pair, scale in zip(reader.tallies, taken.scales, strict=True)
    ]
    if same_judge is not None:
        write.check_bridge(_bridged(reader, taken, same_judge), same_judge)
    taken.done = write.take_scores(
        store,
        app=app,
        rulers=taken.rulers,
        path=", ".join(map(str, paths)),
        file_sha256=reader.file_set.sha256,
        n_rejected=sum(file.n_rejected for file in reader.files),
        now=now,
        dry_run=dry_run,
    )


def _known_rulers(store: Store, app: str) -> dict[tuple[str, str, float, float], Ruler]:
    """The judge setups of earlier imports, the newest of a judge and criterion last."""
    return {
        (row["model_asked"], row["criterion"], row["scale_min"], row["scale_max"]): stored_ruler(
            row, json.loads(row["rubric_json"])
        )
        for row in read.rulers(store, app)
        if row["output_mode"] == IMPORTED
    }


def _ruler_of(pair: Pair, scale: ScaleFound, known: dict[tuple[str, str, float, float], Ruler]) -> Ruler:
    """The setup of an earlier import where there is one: its levels may have been told from other scores."""
    stored = known.get((pair[0] or UNKNOWN_JUDGE, pair[1], scale.low, scale.high))
    return stored or imported_ruler(pair[0], pair[1], scale)


# ---------------------------------------------------------------- the bridge


def _bridged(reader: VerdictFilesReader, taken: _Taken, same_judge: Ruler) -> Ruler:
    """The one imported setup that the configured judge stands for.

    Raises:
        UsageError: there are several, and none of them is of the configured criterion.
    """
    found = [ruler for ruler in taken.rulers if ruler is not None]
    same = [ruler for ruler in found if ruler.rubric.criterion == same_judge.rubric.criterion]
    if len(found) == 1 or len(same) == 1:
        return (found if len(found) == 1 else same)[0]
    names = "; ".join(pair_name(pair) for pair in reader.tallies)
    raise UsageError(
        f"--same-judge means one judge and criterion, and there are {len(found)}: {names}. Choose one with"
        " --only CRITERION (and --judge NAME, if the judge's name differs from row to row)"
    )


def _bridge(
    store: Store,
    app: str,
    reader: VerdictFilesReader,
    taken: _Taken,
    same_judge: Ruler | None,
    by_whom: str,
    now: datetime,
) -> None:
    if same_judge is not None:
        imported = _bridged(reader, taken, same_judge)
        write.save_bridge(store, app=app, imported=imported, anchors=same_judge, by_whom=by_whom, now=now)


def refresh_bridged(
    store_path: Path, app: str, anchor_ruler_id: str, settings: AnalysisSettings, now: datetime
) -> list[str]:
    """Analyse anew every imported setup that the anchors of a setup speak for; returns their ids.

    To be called when a run with anchors of that setup has ended.

    Raises:
        StoreError: the database cannot be used.
    """
    from evaluator.analysis import analyse_and_store
    from evaluator.store.db import open_reader

    with open_reader(store_path) as store:
        ruler_ids = read.bridged_rulers(store, app, anchor_ruler_id)
    for ruler_id in ruler_ids:
        analyse_and_store(store_path, app=app, ruler_id=ruler_id, settings=settings, now=now)
    return ruler_ids


def _analyse(
    store_path: Path, app: str, rulers: Sequence[Ruler | None], settings: AnalysisSettings, now: datetime
) -> None:
    from evaluator.analysis import analyse_and_store

    for ruler in rulers:
        if ruler is not None:
            analyse_and_store(store_path, app=app, ruler_id=ruler.ruler_id, settings=settings, now=now)


# ---------------------------------------------------------------- the report


def _judges(reader: VerdictFilesReader, taken: _Taken, store: Store | None, app: str) -> tuple[JudgeReport, ...]:
    """What came of each judge and criterion; with numbers of the store when one is given."""
    setups = {} if store is None else {row["ruler_id"]: row for row in read.rulers(store, app)}
    reports = []
    for number, (pair, tally) in enumerate(reader.tallies.items()):
        scale = taken.scales[number] if taken.scales else None
        ruler = taken.rulers[number] if taken.rulers else None
        counts = taken.done.pairs[number] if taken.done else write.PairCounts(n_scored=tally.n)
        setup = setups.get(ruler.ruler_id) if ruler is not None else None
        reports.append(
            JudgeReport(
                judge=pair[0] or UNKNOWN_JUDGE,
                criterion=pair[1],
                setup=None if setup is None else int(setup["position"]),
                ruler_id=None if ruler is None else ruler.ruler_id,
                scale_low=None if scale is None else scale.low,
                scale_high=None if scale is None else scale.high,
                scale_how="" if scale is None else scale.how,
                n_scored=counts.n_scored,
                n_missing=counts.n_missing if ruler is not None else tally.n_missing,
                n_new=counts.n_new,
                n_known=counts.n_known,
                n_other=counts.n_other,
                n_earlier=counts.n_earlier,
                first_day=counts.first_day,
                last_day=counts.last_day,
                n_days=counts.n_days,
                **({} if store is None or ruler is None else _mean(store, app, ruler)),
                is_bridged=store is not None
                and ruler is not None
                and read.bridge_of(store, app, ruler.ruler_id) is not None,
            )
        )
    return tuple(reports)


def _mean(store: Store, app: str, ruler: Ruler) -> dict[str, float | None]:
    """Mean of all stored scores of a setup, with its interval."""
    from evaluator.day_means import day_means

    segment_id = read.everything_segment(store, app)
    if segment_id is None:
        return {}
    rubric = ruler.rubric
    totals = read.day_totals(
        store,
        app=app,
        ruler_id=ruler.ruler_id,
        criterion=rubric.criterion,
        source=Source.TRAFFIC,
        segment_id=segment_id,
    )
    rows = day_means([{**row, "day": "all"} for row in totals], scale=(rubric.scale_min, rubric.scale_max))
    return {name: rows[0][name] for name in ("mean", "low", "high", "level")} if rows else {}
