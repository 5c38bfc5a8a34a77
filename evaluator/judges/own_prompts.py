"""One's own prompt file and the scale of its scores: read and checked before anything is sent. No network."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

from evaluator.errors import ConfigError
from evaluator.judges.prompts import PromptRenderer
from evaluator.records import Rubric, RubricLevel

MOST_LEVELS = 11  # of a scale without named levels: 0 to 10 has them all, 0 to 100 its ends
DEFAULT_CRITERION = "overall"


def load_prompt(path: Path, *, rubric: Rubric) -> str:
    """Load a prompt file as it is: no line end and no blank is changed; only a mark of the encoding goes.

    Args:
        path: The file, UTF-8.
        rubric: Fills the placeholders of a rubric, should the prompt have some.

    Raises:
        ConfigError: no such file, another encoding, no ``{{output}}``, an unknown placeholder.
    """
    where = f"judge.prompt_file {path}"
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(f"{where}: there is no such file{_close_name(path)}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{where} is not UTF-8 (byte {error.start + 1}); save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{where} cannot be read: {error}") from error
    try:
        PromptRenderer(text, rubric=rubric, fence_secret=None, verbatim=True)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    return text


def _close_name(path: Path) -> str:
    if not path.parent.is_dir():
        return f"; there is no folder {path.parent} either"
    names = sorted(other.name for other in path.parent.iterdir() if other.is_file())
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def build_rubric(
    *,
    name: str,
    scale: tuple[float, float] | None,
    levels: Mapping[str, float] | None,
    criterion: str | None = None,
) -> Rubric:
    """Build the rubric of a prompt or function that brings its own words: a scale with its levels, and a name.

    Args:
        name: What the rubric is called.
        scale: Lowest and highest score; None for those of the levels.
        levels: Names with their scores; None for the whole numbers of the scale, where there are few, else its ends.
        criterion: What is graded.

    Raises:
        ValueError: neither a scale nor levels.
    """
    if levels is None:
        if scale is None:
            raise ValueError("a scale or levels are needed")
        levels = {f"{score:g}": score for score in _steps(*scale)}
    # floats throughout: 1 and 1.0 are one scale and must not make two rubrics
    low, high = map(float, scale or (min(levels.values()), max(levels.values())))
    return Rubric(
        name=name,
        criterion=criterion or DEFAULT_CRITERION,
        question="",
        scale_min=low,
        scale_max=high,
        levels=tuple(
            RubricLevel(score=float(score), name=level, description="")
            for level, score in sorted(levels.items(), key=lambda pair: pair[1])
        ),
    )


def _steps(low: float, high: float) -> list[float]:
    is_whole = float(low).is_integer() and float(high).is_integer()
    if is_whole and high - low < MOST_LEVELS:
        return [float(score) for score in range(int(low), int(high) + 1)]
    return [float(low), float(high)]
