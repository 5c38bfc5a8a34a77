"""Do answers come in: are the files, the command, the folder there, and does something wait to be graded?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from evaluator.doctor.base import Check, Patient, fail, ok, warn
from evaluator.scoring.waiting import spool_path, waiting_answers
from evaluator.sources import SourceTrial, try_sources
from evaluator.sources.files import find_files
from evaluator.store import read

NAME = "traffic"
ROWS = "traffic rows"
ROWS_READ = 20
_MOSTLY = 0.5
_SEE = "`judgewatch source test` shows each row as it is read"
_WANTED = {
    "input": ("question", "the judge would not know what was asked"),
    "answered_at": ("time", "without one an answer belongs to no day, and no run grades it"),
}


def check_traffic(patient: Patient) -> Iterator[Check]:
    """Every way in that is configured; by hand is one too."""
    config = patient.config
    if not config.traffic.grade:
        yield ok(NAME, "traffic.grade = false: only anchors are graded")
        return
    ways = [_check_files(pattern, config.folder) for pattern in (*config.traffic.files, *config.traffic.verdicts)]
    if config.traffic.command is not None:
        ways.append(_check_command(config.traffic.command, config.folder))
    spool = spool_path(config)
    if spool is not None:
        ways.append(_check_spool(spool))
    yield from ways
    yield _check_stored(patient, has_way_in=bool(ways))


def _check_files(pattern: str, folder: Path) -> Check:
    found = find_files([pattern], folder)
    if found.problems:
        return fail(NAME, found.problems[0], "mend the pattern or the permissions; `judgewatch source test` tries them")
    if found.files:
        n = len(found.files)
        return ok(NAME, f"{pattern}: {n} {'file' if n == 1 else 'files'}")
    return warn(
        NAME, f"{pattern} matches no file in {folder.absolute()}", "check the pattern, or wait for the first file"
    )


def check_rows(patient: Patient) -> Iterator[Check]:
    """The first rows of the newest files, read as a run would; the command is not asked. No text of them is shown."""
    config = patient.config
    if not config.traffic.grade or not config.traffic.files:
        return
    if not find_files(config.traffic.files, config.folder).files:
        return  # said with the pattern
    only_files = config.traffic.model_copy(update={"command": None, "verdicts": ()})
    trials = try_sources(
        config.model_copy(update={"traffic": only_files}), slot=patient.now, n_rows=ROWS_READ, settings=None
    )
    for trial in trials:
        yield _check_trial(trial)


def _check_trial(trial: SourceTrial) -> Check:
    n_read = len(trial.rows)
    has_answer = any("output" in row.fields for row in trial.rows)
    if trial.problem is not None and not has_answer:
        return fail(ROWS, trial.problem, f"name the columns in traffic.fields; {_SEE}")
    if not n_read and not trial.n_rows:
        return warn(ROWS, "the files hold no rows", f"check what writes them; {_SEE}")
    if not has_answer:
        return fail(
            ROWS,
            f"none of the {trial.n_rows} rows looked at has an answer",
            f"name its column in traffic.fields; {_SEE}",
        )
    text = f"{n_read} of {trial.n_rows} rows looked at can be read{_columns(trial)}"
    amiss = [trial.problem] if trial.problem is not None else []
    missing = [name for name in _WANTED if not any(name in row.fields for row in trial.rows)]
    amiss += [f"none has a {_WANTED[name][0]}: {_WANTED[name][1]}" for name in missing]
    if trial.n_refused >= _MOSTLY * trial.n_rows:
        amiss.append(f"{trial.n_refused} cannot be used: {trial.refused[0].reason}")
    if not amiss:
        return ok(ROWS, text)
    return warn(ROWS, f"{text}; {'; '.join(amiss)}", f"name the columns in traffic.fields; {_SEE}")


def _columns(trial: SourceTrial) -> str:
    """From which columns the first row was taken."""
    wanted = ("input", "output", "answered_at", "id")
    columns = trial.rows[0].columns
    named = [f"{name} = {columns[name]}" for name in wanted if name in columns]
    return f" ({', '.join(named)})" if named else ""


def _check_command(command: tuple[str, ...], folder: Path) -> Check:
    program = command[0]
    place = shutil.which(program) or shutil.which(str(folder / program))
    if place is None:
        return fail(NAME, f"traffic.command: there is no program {program!r}", "write its whole path, or install it")
    return ok(NAME, f"traffic.command: {place} is there (not run here; `judgewatch source test` does)")


def _check_spool(folder: Path) -> Check:
    if not folder.is_dir():
        return warn(NAME, f"traffic.spool: there is no folder {folder} yet", "record() makes it with its first answer")
    return ok(NAME, f"recorded answers are fetched from {folder}")


def _check_stored(patient: Patient, *, has_way_in: bool) -> Check:
    app, store = patient.config.app.name, patient.store
    sizes = {} if store is None else read.answer_days(store, app)
    if store is None or not sizes:
        if has_way_in:
            return ok("answers", "none are stored yet; a run fetches them")
        return warn(
            "answers",
            "none are stored, and no way in is configured",
            "set traffic.files or traffic.command, call record(), or `judgewatch import FILE`",
        )
    text = f"{sum(sizes.values()):,} stored, of {min(sizes)} to {max(sizes)}"
    ruler = read.newest_ruler(store, app)
    if ruler is None or ruler["last_slot_utc"] is None:
        return ok("answers", f"{text}; none graded yet")
    slot_utc, now = ruler["last_slot_utc"], patient.now
    waiting = waiting_answers(patient.config, ruler_id=ruler["ruler_id"], slot_utc=slot_utc, now=now)
    due = {**waiting.ended, **waiting.for_next}
    n = sum(due.values())
    answers, days = ("answer" if n == 1 else "answers"), ("day" if len(due) == 1 else "days")
    wait = f"; {n:,} {answers} of {len(due)} {days} wait for the next run" if n else "; none waits"
    return ok("answers", text + wait)
