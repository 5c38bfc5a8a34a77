"""Each fault case in tests/cases is named by a test, but for those whose part is not built yet: none is lost."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# pairwise cases, the leaderboard and alerts come with the parts they belong to
LATER = {"P06", "P07", "S03", "N01"}


def _case_ids() -> list[str]:
    lines = (TESTS / "cases" / "cases.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["id"] for line in lines if line.strip()]


@cache
def _names_and_docs() -> str:
    """Names and docstrings of all tests and of their modules."""
    found = []
    for path in TESTS.rglob("test_*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        found.append(ast.get_docstring(tree) or "")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found += [node.name.upper(), ast.get_docstring(node) or ""]
    return "\n".join(found)


@pytest.mark.parametrize("case", sorted(set(_case_ids()) - LATER))
def test_case_is_named_by_a_test(case: str) -> None:
    """The id stands in the name or in the docstring of a test or of its file."""
    assert case in _names_and_docs()


def test_cases_left_for_later_are_still_there() -> None:
    """The list of what is left shrinks with the parts that are built; it never names a case that does not exist."""
    assert set(_case_ids()) >= LATER
