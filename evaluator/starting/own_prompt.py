"""A prompt of one's own in a first configuration: what is read off it where nobody said it, and what is refused.

A guess is taken only where it is the only one, and it is told; nothing is asked here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluator.errors import UsageError
from evaluator.starting.levels import Levels, field_of_levels, find_levels
from evaluator.starting.scales import Scale, find_scales
from evaluator.starting.score_places import DEFAULT_FIELD, ScorePlaces, is_on, places_in_prompt, shows_field

OWN_PROMPT = ("prompt_file", "scale", "levels", "score_field", "score_pattern")

_FLAGS = {"scale": "--scale", "levels": "--levels", "score_field": "--score-field", "score_pattern": "--score-pattern"}
_OUTPUT = re.compile(r"\{\{\s*output\s*\}\}")
_MOST_NAMED = 8


def read_prompt(path: Path, *, called: str | None = None) -> str:
    """Return the text of a prompt; the rest of it is checked when it is known what else is chosen.

    Args:
        path: The file.
        called: What messages call it.

    Raises:
        UsageError: no such file, no text, or no place for the answer.
    """
    name = called or str(path)
    try:
        prompt = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no prompt file {name}; name one that exists, or leave the prompt of your own out"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name} cannot be read as text: {error}; name a text file in UTF-8") from error
    if _OUTPUT.search(prompt) is None:
        raise UsageError(f"{name} has no {{{{output}}}}; put it where the answer to grade belongs")
    return prompt


def check_own_flags(given: Mapping[str, Any]) -> None:
    """Refuse what is said of a prompt of one's own where there is none.

    Raises:
        UsageError: a flag that has no meaning without ``--prompt-file``, or two that exclude one another.
    """
    if given.get("score_field") is not None and given.get("score_pattern") is not None:
        raise UsageError("--score-field and --score-pattern both say where the score stands; give one of them")
    if given.get("scale") is not None and given.get("levels") is not None:
        raise UsageError("--scale is for a judge that answers with a number, --levels for one with a word; give one")
    if given.get("prompt_file") is not None:
        return
    for name, flag in _FLAGS.items():
        if given.get(name) is not None:
            raise UsageError(f"{flag} belongs to a prompt of your own; add --prompt-file, or leave {flag} out")


def clear_scale(text: str, given: Mapping[str, Any]) -> Scale | None:
    """Return the scale that a prompt names; None when it names none, several, or one that its own example is not on."""
    found = find_scales(text)
    places = places_in_prompt(text)
    path = given.get("score_field") or (places.fields[0] if len(places.fields) == 1 else DEFAULT_FIELD)
    fitting = [scale for scale in found if all(is_on(scale, value) for value in places.numbers.get(path, ()))]
    return fitting[0] if len(fitting) == 1 else None


def scales_in_words(text: str) -> str:
    """The scales that a prompt speaks of, clear or not; "" for none."""
    return " and ".join(f"{low:g} to {high:g}" for low, high in find_scales(text))


def settle_own_prompt(given: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Fill in what a prompt of one's own says itself: its scale, and where in the reply the score stands.

    Args:
        given: Choices by name; paths as the configuration names them.
        folder: Where the configuration will stand.

    Returns:
        The choices, and in words what was taken from the prompt or could not be told.

    Raises:
        UsageError: a prompt that cannot be used, or that leaves open what has to be known.
    """
    check_own_flags(given)
    choices, name = dict(given), given.get("prompt_file")
    if name is None:
        return choices, []
    text = read_prompt(folder / name, called=str(name))
    notes = []
    levels = choices.get("levels") or _the_levels(text, choices)
    if levels is not None:
        return _with_levels(choices, levels, text, str(name))
    if choices.get("scale") is None:
        choices["scale"] = scale = _the_scale(text, choices, str(name))
        notes.append(
            f"{name} grades from {scale[0]:g} to {scale[1]:g}, so scale is set to that; --scale says otherwise"
        )
    if choices.get("score_field") is not None or choices.get("score_pattern") is not None:
        return choices, notes + _doubts(text, choices.get("score_field"), str(name))
    places = places_in_prompt(text, scale=choices["scale"])
    return _with_place(choices, notes, places, str(name))


def _the_levels(text: str, choices: Mapping[str, Any]) -> Levels | None:
    """The words that a prompt asks for, where nothing speaks of numbers."""
    if choices.get("scale") is not None or find_scales(text):
        return None
    return find_levels(text)


def _with_levels(choices: dict[str, Any], levels: Levels, text: str, name: str) -> tuple[dict[str, Any], list[str]]:
    """The choices for a judge that answers with a word."""
    notes = []
    if choices.get("levels") is None:
        said = ", ".join(f"{word} as {score:g}" for word, score in levels.items())
        notes.append(f"{name} asks for a word, counted {said}; --levels says otherwise")
    choices["levels"] = levels
    field = field_of_levels(text, levels)
    if choices.get("score_field") is None and choices.get("score_pattern") is None and field is not None:
        choices["score_field"] = field
        notes.append(f'score_field = "{field}": the example of a reply in {name} has its word there')
    return choices, notes


def _the_scale(text: str, choices: Mapping[str, Any], name: str) -> Scale:
    scale = clear_scale(text, choices)
    if scale is not None:
        return scale
    named = scales_in_words(text)
    why = f"; {name} speaks of {named}, and which is meant is not clear" if named else ""
    raise UsageError(
        f"a prompt of your own needs --scale MIN MAX: the lowest and the highest score that it asks for{why};"
        " for a judge that answers with a word, --levels pass=1,fail=0"
    )


def _with_place(
    choices: dict[str, Any], notes: list[str], places: ScorePlaces, name: str
) -> tuple[dict[str, Any], list[str]]:
    if places.is_default:
        return choices, notes
    if len(places.fields) > 1:
        raise UsageError(
            f"the example of a reply in {name} holds several numbers, at {listed(places.fields)};"
            f" say which is the score, like --score-field {places.fields[0]}"
        )
    if places.fields:
        choices["score_field"] = places.fields[0]
        said = f"the example of a reply in {name} has its number there; --score-field or --score-pattern says otherwise"
        return choices, [*notes, f'score_field = "{places.fields[0]}": {said}']
    if len(places.patterns) == 1:
        choices["score_pattern"] = places.patterns[0]
        said = f"{name} asks for a reply of that form; --score-pattern or --score-field says otherwise"
        return choices, [*notes, f"score_pattern = '{places.patterns[0]}': {said}"]
    return choices, [*notes, _unknown(name)]


def _unknown(name: str) -> str:
    return (
        f"{name} shows no example of a reply with a number, so the score is looked for under"
        f' "{DEFAULT_FIELD}"; --score-field or --score-pattern says otherwise, and `judgewatch doctor` tries it'
    )


def _doubts(text: str, field: str | None, name: str) -> list[str]:
    """What speaks against a field that was named."""
    if field is None or shows_field(text, field) is not False:
        return []
    paths = listed(places_in_prompt(text).fields)
    where = f", but at {paths}" if paths else ""
    return [f"the example of a reply in {name} has no number at {field!r}{where}; `judgewatch doctor` tries it"]


def listed(paths: tuple[str, ...]) -> str:
    """Paths in words, not too many of them."""
    shown = ", ".join(paths[:_MOST_NAMED])
    return shown if len(paths) <= _MOST_NAMED else f"{shown} and {len(paths) - _MOST_NAMED} more"
