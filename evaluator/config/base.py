"""What every section of ``judgewatch.toml`` is made of: the strict base, and kinds of values that several take."""

from __future__ import annotations

import shlex
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"  # the name of an environment variable


class Section(BaseModel):
    """A section: keys that are not known are refused, values are of the type they are written in."""

    # strict: TOML has types, and `true` is no number; inf and nan are no limits
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, hide_input_in_errors=True)


def _words(value: object) -> object:
    """A command written as one line, in its words; a list stays as it is."""
    if not isinstance(value, str):
        return value
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise ValueError(f"this command cannot be read ({error}); write it as a list of its words") from error


def _names_a_program(words: tuple[str, ...]) -> tuple[str, ...]:
    if not words or not words[0].strip():
        raise ValueError("a command is needed, like 'az account get-access-token'")
    return words


def _one_or_more(value: object) -> object:
    """One text as a list of one."""
    return (value,) if isinstance(value, str) else value


def _none_blank(texts: tuple[str, ...]) -> tuple[str, ...]:
    if not all(text.strip() for text in texts):
        raise ValueError("a name or pattern of files is needed, not a blank text")
    return texts


Command = Annotated[tuple[str, ...], BeforeValidator(_words), AfterValidator(_names_a_program), Field(strict=False)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_one_or_more), AfterValidator(_none_blank), Field(strict=False)]
