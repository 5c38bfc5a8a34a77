"""The option ``--field`` of the commands that read files, and the configured fields beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

# as the importers know them; they are loaded only when a file is read
ANSWER_FIELDS = ("input", "output", "reference", "contexts", "id", "conversation_id", "user_id", "answered_at", "model")
SCORE_FIELDS = ("score", "graded_at", "judge", "criterion", "explanation")
ALIASES = {"external_id": "id", "reason": "explanation"}


class FieldParam(click.ParamType[tuple[str, str]]):
    """``FIELD=COLUMN``; an empty column says that the file has none."""

    name = "field=column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return field and column."""
        if isinstance(value, tuple):
            return value
        field, sign, column = str(value).partition("=")
        if not sign or not field.strip():
            self.fail(f"{value!r}: write it as FIELD=COLUMN, like output=reply", param, ctx)
        return field.strip(), column


def field_option(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option ``--field``, passed to it as ``fields``."""
    return click.option(
        "--field",
        "fields",
        multiple=True,
        type=FieldParam(),
        help="Column or path of a field: output=reply, input=request.prompt, score=grade. Fields are"
        f" {', '.join(ANSWER_FIELDS)}; of scores also {', '.join(SCORE_FIELDS)}. Over traffic.fields, which count where"
        " the file has their columns.",
    )(command)


def fields_of_files(
    paths: Sequence[Path],
    *,
    given: Sequence[tuple[str, str]],
    configured: Mapping[str, str],
    file_format: str | None,
    encoding: str,
    with_scores: bool,
) -> dict[str, str]:
    """Return field to column: what was given by hand, and those configured fields that one of the files has.

    Args:
        paths: The files.
        given: As ``--field`` gave them.
        configured: ``traffic.fields``.
        file_format: As ``--format`` gave it.
        encoding: How text is written.
        with_scores: Whether the files hold scores.

    Raises:
        UsageError: an unknown format or encoding.
        DataFileError: a file cannot be read.
    """
    fields = dict(given)
    if not configured:
        return fields
    from evaluator.importers import read_rows
    from evaluator.importers.base import Limits, Tally, check_encoding
    from evaluator.importers.named_fields import fields_over, fields_there, of_answers
    from evaluator.importers.verdicts.formats import read_verdict_rows

    known = fields_over(fields, configured if with_scores else of_answers(configured))
    left = {name: column for name, column in known.items() if name not in fields}
    for path in paths:
        if with_scores:
            rows = read_verdict_rows(
                path, format=file_format, limits=Limits(), tally=Tally(), encoding=check_encoding(encoding)
            ).rows
        else:
            rows = read_rows(path, format=file_format, encoding=encoding)
        fields |= fields_there(left, rows)
    return fields
