"""Single-answer judgments of MT-bench (FastChat): JSON lines whose judge names a model and a prompt.

The judge's prompt is the criterion: scores of two prompts are two measures. An answer is known by question, model and
turn. The texts are cut out of the prompt that the judge was sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evaluator.importers.base import Reject, Row

_COLUMNS = frozenset(("question_id", "model", "judge", "judgment", "score", "turn"))
_TEXTS = re.compile(
    r"\[Question\]\n(?P<input>.*?)\n\n(?:.*\n)?\[The Start of Assistant's Answer\]\n(?P<output>.*)\n"
    r"\[The End of Assistant's Answer\]",
    re.DOTALL,
)


def mtbench_row(row: Row | Reject) -> Row | Reject:
    """Return a row of MT-bench with the usual columns; any other row as it is."""
    if isinstance(row, Reject) or not _COLUMNS.issubset(row.values):
        return row
    values = row.values
    judge = values["judge"]
    if not isinstance(judge, list) or not judge:
        return row
    return Row(
        row.line_number,
        {
            **_texts(values),
            "id": ":".join(str(values[key]) for key in ("question_id", "model", "turn")),
            "model": values["model"],
            "tags": {"model": str(values["model"]), "turn": str(values["turn"])},
            "judge": str(judge[0]),
            "criterion": str(judge[1]) if len(judge) > 1 else "score",
            "score": values["score"],
            "explanation": values["judgment"],
            "graded_at": values.get("tstamp"),
        },
    )


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    prompt = values.get("user_prompt")
    found = _TEXTS.search(prompt) if isinstance(prompt, str) else None
    return {} if found is None else {"input": found["input"], "output": found["output"]}
