"""What imports of answers and of scores tell alike: the counts for programs, and the rows that cannot be used."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluator.cli.output import say

if TYPE_CHECKING:
    from evaluator.importing import ImportReport, RejectLog
    from evaluator.importing.verdicts import VerdictReport

REJECTS_SHOWN = 20
LINES_NAMED = 20


def payload_of(report: ImportReport | VerdictReport, rejects: RejectLog, *, dry_run: bool) -> dict[str, Any]:
    """Everything that is known of an import, for programs."""
    return {
        **asdict(report),
        "n_rows": report.n_rows,
        "n_rejected": report.n_rejected,
        "dry_run": dry_run,
        "rejects": list(rejects.rows()),
    }


def tell_rejects(rejects: RejectLog, path: Path | None, *, listed: bool) -> None:
    """Say which rows cannot be used and why, the same reasons together, and where all of them are written."""
    if listed:
        n_told = 0
        for (file, reason), group in _grouped(rejects).items():
            n_told += group.n
            say(f"{file}, {group.where}: {reason}: {group.text_start}".rstrip(": "))
        if rejects.n > n_told:
            say(f"... and {rejects.n - n_told:,} more" + ("" if path else "; --rejects FILE writes them all"))
    if path is not None:
        say(f"all rejected rows are in {path}")


@dataclass(kw_only=True)
class _Group:
    """Rejects of one file with one reason: the first lines, how many in all, how the first one starts."""

    lines: list[int]
    n: int
    text_start: str

    @property
    def where(self) -> str:
        """Their lines in words."""
        more = f" and {self.n - len(self.lines):,} more" if self.n > len(self.lines) else ""
        return f"line{'' if self.n == 1 else 's'} {', '.join(map(str, self.lines))}{more}"


def _grouped(rejects: RejectLog) -> dict[tuple[str, str], _Group]:
    """The first groups of rejects, in the order of the files."""
    groups: dict[tuple[str, str], _Group] = {}
    for row in rejects.rows():
        key = row["file"], row["reason"]
        if key in groups:
            group = groups[key]
            group.n += 1
            if len(group.lines) < LINES_NAMED:
                group.lines.append(row["line"])
        elif len(groups) < REJECTS_SHOWN:
            groups[key] = _Group(lines=[row["line"]], n=1, text_start=row["text_start"])
    return groups
