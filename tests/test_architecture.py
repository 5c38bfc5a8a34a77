"""Imports run one way, on four floors; this file is the rule, read off the syntax trees.

Floor 1, the words: ``records``, ``errors``, ``clock`` and ``findings`` import nothing of ours; ``identity``,
``prices``, ``redaction`` and ``resources`` may import these; so may ``stats``, which is pure.
Floor 2, the edges: ``store`` (only SQL), ``judges`` (only network), ``importers``, ``anchor_sets``, ``spool`` and
``config`` may import floor 1. They do not know one another: what two of them need is a record.
Floor 3, the use cases: everything else in ``evaluator``. They may import floors 1 and 2, and one another, but never in
a circle.
Floor 4: ``cli`` and ``dashboard`` may import everything below. Nothing imports them; ``cli`` alone may start the page,
by importing ``dashboard.launch`` inside a function. In the dashboard, ``charts`` and ``wording`` know floor 1 and one
another only, no page and no Streamlit; the store is reached through modules called ``queries`` or ``..._queries``
(reading) and ``actions`` (what people do).

``evaluator/__init__`` is the door for users of the library: it may name everything below floor 4, but loads nothing
before it is asked to, since each ``import evaluator.x`` runs it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterable
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.source_tree import Import, Module, is_within, parse_module, read_modules

WORDS = frozenset({"records", "errors", "clock", "findings"})
ON_WORDS = frozenset({"identity", "prices", "redaction", "resources", "stats"})
FLOOR_1 = WORDS | ON_WORDS
FLOOR_2 = frozenset({"store", "judges", "importers", "anchor_sets", "spool", "config"})
FLOOR_4 = frozenset({"cli", "dashboard"})

SQL = ("sqlite3", "sqlite_utils", "aiosql", "apsw", "psycopg")
NETWORK = ("openai", "httpx", "httpx2", "requests", "aiohttp", "urllib3")
HEAVY = ("statsmodels", "scipy", "openai", "streamlit", "pandas", "plotly")
LIGHT_PARTS = WORDS | {"identity", "resources", "config", "store", "cli"}
PRACTICE = "evaluator.judges.practice"
CLOCK_CALLS = frozenset({"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time"})
DRAWN = ("dashboard.charts", "dashboard.wording")
PAGE_STORE_USERS = ("queries", "actions", "launch")

Rule = Callable[[list[Module]], list[str]]


def part_of(name: str) -> str:
    """Return the part of the project a dotted name belongs to: ``evaluator.store.db`` is of ``store``."""
    package, _, rest = name.partition(".")
    return "dashboard" if package == "dashboard" else rest.partition(".")[0] or "evaluator"


def floor_of(part: str) -> int:
    """Return the floor of a part; what is not listed is a use case."""
    floors = {1: FLOOR_1, 2: FLOOR_2, 4: FLOOR_4}
    return next((floor for floor, parts in floors.items() if part in parts), 3)


def own_imports(module: Module) -> list[tuple[Import, str]]:
    """Return the imports of our own modules with the part each belongs to."""
    ours = [found for found in module.imports if is_within(found.name, "evaluator", "dashboard")]
    return [(found, part_of(found.name)) for found in ours]


def may_import(part: str, other: str) -> bool:
    """Say whether one part may import another."""
    if part == other:
        return True
    if part == "evaluator":
        return floor_of(other) < 4
    if floor_of(part) == 1:
        return part in ON_WORDS and other in WORDS
    if floor_of(part) == 3:
        return floor_of(other) <= 3
    return floor_of(other) < floor_of(part)


# ---------------------------------------------------------------- the rules: each returns what breaks it


def against_the_floors(modules: list[Module]) -> list[str]:
    """Imports that run upwards, or between parts of one floor that must not know one another."""
    return [
        f"{module.place(found.line)}: {part_of(module.name)} must not import {found.name}"
        for module in modules
        for found, part in own_imports(module)
        if not may_import(part_of(module.name), part) and not _starts_the_page(module, found)
    ]


def _starts_the_page(module: Module, found: Import) -> bool:
    return part_of(module.name) == "cli" and found.lazy and is_within(found.name, "dashboard.launch")


def circles_of_use_cases(modules: list[Module]) -> list[str]:
    """Use cases that need one another, wherever the imports stand."""
    edges = [
        (part_of(module.name), part)
        for module in modules
        for _, part in own_imports(module)
        if floor_of(part_of(module.name)) == 3 and part_of(module.name) not in (part, "evaluator")
    ]
    return find_circle(edges)


def circles_of_modules(modules: list[Module]) -> list[str]:
    """Modules that cannot be loaded without one another."""
    names = {module.name for module in modules}
    edges = []
    for module in modules:
        for found, _ in own_imports(module):
            target = found.name if found.name in names else found.name.rpartition(".")[0]
            if found.at_start and target in names and target != module.name:
                edges.append((module.name, target))
    return find_circle(edges)


def find_circle(edges: Iterable[tuple[str, str]]) -> list[str]:
    """Return one circle as a line of names, or nothing."""
    graph: dict[str, set[str]] = {}
    for start, end in edges:
        graph.setdefault(start, set()).add(end)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" imports ".join(reversed(error.args[1]))]
    return []


def sql_outside_the_store(modules: list[Module]) -> list[str]:
    """Database libraries anywhere but in ``evaluator.store``."""
    return _outside(modules, SQL, "evaluator.store")


def network_outside_the_judges(modules: list[Module]) -> list[str]:
    """Clients of the network anywhere but in ``evaluator.judges``."""
    return _outside(modules, NETWORK, "evaluator.judges")


def streamlit_outside_the_page(modules: list[Module]) -> list[str]:
    """Streamlit in the library, or in the charts, which are drawn in tests and reports as well."""
    drawn = [module for module in modules if is_within(module.name, "evaluator", *DRAWN)]
    return _outside(drawn, ("streamlit",), "dashboard.app_pages")


def _outside(modules: list[Module], libraries: tuple[str, ...], home: str) -> list[str]:
    return [
        f"{module.place(found.line)}: {found.name} belongs in {home}"
        for module in modules
        for found in module.imports
        if is_within(found.name, *libraries) and not is_within(module.name, home)
    ]


def charts_that_know_too_much(modules: list[Module]) -> list[str]:
    """Charts turn frames into figures, and wording numbers into sentences: no page and no store is needed for that."""
    return [
        f"{module.place(found.line)}: a chart must not import {found.name}"
        for module in modules
        if is_within(module.name, *DRAWN)
        for found, part in own_imports(module)
        if not is_within(found.name, *DRAWN) and part not in FLOOR_1
    ]


def pages_that_reach_the_store(modules: list[Module]) -> list[str]:
    """The page's way to the database is its queries and actions, so that caching and undo have one place each."""
    return [
        f"{module.place(found.line)}: go through dashboard.queries or dashboard.actions, not {found.name}"
        for module in modules
        if is_within(module.name, "dashboard") and not module.name.endswith(PAGE_STORE_USERS)
        for found, part in own_imports(module)
        if part == "store"
    ]


def slow_starts(modules: list[Module]) -> list[str]:
    """Heavy libraries at the top of modules that every command loads."""
    return [
        f"{module.place(found.line)}: import {found.name} inside the function that needs it"
        for module in modules
        if is_within(module.name, "evaluator") and part_of(module.name) in LIGHT_PARTS
        for found in module.imports
        if found.at_start and is_within(found.name, *HEAVY)
    ]


def door_that_loads(modules: list[Module]) -> list[str]:
    """Imports that ``evaluator/__init__`` makes before anyone asks."""
    return [
        f"{module.place(found.line)}: load {found.name} when it is asked for"
        for module in modules
        if module.name == "evaluator"
        for found, _ in own_imports(module)
        if found.at_start
    ]


def asserts(modules: list[Module]) -> list[str]:
    """``assert`` as a check: it vanishes under ``python -O``."""
    return [
        f"{module.place(node.lineno)}: raise an error instead of assert"
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assert)
    ]


def prints(modules: list[Module]) -> list[str]:
    """Output from code that is not a command."""
    return [
        f"{module.place(line)}: only commands print"
        for module in modules
        if not is_within(module.name, "evaluator.cli", PRACTICE)
        for name, line in _calls(module)
        if name == "print"
    ]


def own_clocks(modules: list[Module]) -> list[str]:
    """The time of day, read anywhere but in the clock and in the spool, which users call without one."""
    return [
        f"{module.place(line)}: take a Clock instead of {name}()"
        for module in modules
        if not is_within(module.name, "evaluator.clock", "evaluator.spool", PRACTICE)
        for name, line in _calls(module)
        if ".".join(name.split(".")[-2:]) in CLOCK_CALLS
    ]


def _calls(module: Module) -> list[tuple[str, int]]:
    calls = [node for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
    named = (ast.Name, ast.Attribute)
    return [(ast.unparse(call.func), call.lineno) for call in calls if isinstance(call.func, named)]


def folders_without_init(modules: list[Module]) -> list[str]:
    """Folders of modules that are no packages: checkers and installers treat them in different ways."""
    packages = {module.name for module in modules if module.is_package}
    parents = {module.name.rpartition(".")[0] for module in modules if "." in module.name}
    return [f"{name} has no __init__.py" for name in sorted(parents - packages)]


RULES: tuple[Rule, ...] = (
    against_the_floors,
    circles_of_use_cases,
    circles_of_modules,
    sql_outside_the_store,
    network_outside_the_judges,
    streamlit_outside_the_page,
    charts_that_know_too_much,
    pages_that_reach_the_store,
    slow_starts,
    door_that_loads,
    asserts,
    prints,
    own_clocks,
    folders_without_init,
)


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    """Parse the project once."""
    return read_modules()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_project_keeps_the_rule(rule: Rule, modules: list[Module]) -> None:
    """No module breaks it."""
    assert rule(modules) == []


def test_whole_project_is_read(modules: list[Module]) -> None:
    """A rule over no modules would hold for ever."""
    names = {module.name for module in modules}
    assert {"evaluator", "evaluator.records", "evaluator.store.db", "evaluator.judges.base", "dashboard"} <= names


# ---------------------------------------------------------------- each rule can fail

BROKEN: tuple[tuple[Rule, dict[str, str]], ...] = (
    (against_the_floors, {"evaluator.records": "from evaluator.errors import StoreError"}),
    (against_the_floors, {"evaluator.stats.paired": "from evaluator import store"}),
    (against_the_floors, {"evaluator.resources": "import evaluator.config"}),
    (against_the_floors, {"evaluator.store.db": "def f():\n    from evaluator.judges import base"}),
    (against_the_floors, {"evaluator.judges.base": "from ..store.db import Store"}),
    (against_the_floors, {"evaluator.analysis": "import evaluator.cli.check"}),
    (against_the_floors, {"evaluator.demo": "def f():\n    from dashboard.launch import launch"}),
    (against_the_floors, {"evaluator.cli.demo": "from dashboard.launch import launch"}),
    (against_the_floors, {"evaluator.cli.demo": "def f():\n    from dashboard.app import main"}),
    (against_the_floors, {"dashboard.app": "from evaluator.cli import main"}),
    (against_the_floors, {"evaluator": "def f():\n    from evaluator.cli import main"}),
    (
        circles_of_use_cases,
        {
            "evaluator.gate": "from evaluator.compare import x",
            "evaluator.compare": "def f():\n    import evaluator.gate",
        },
    ),
    (
        circles_of_modules,
        {"evaluator.stats.a": "from evaluator.stats import b", "evaluator.stats.b": "from .a import x"},
    ),
    (sql_outside_the_store, {"evaluator.analysis": "import sqlite3"}),
    (sql_outside_the_store, {"dashboard.charts.trend": "def f():\n    from sqlite_utils.db import Database"}),
    (network_outside_the_judges, {"evaluator.scoring.runner": "from openai import AsyncOpenAI"}),
    (network_outside_the_judges, {"evaluator.stats.paired": "import httpx"}),
    (streamlit_outside_the_page, {"evaluator.demo": "import streamlit as st"}),
    (streamlit_outside_the_page, {"dashboard.charts.trend": "import streamlit as st"}),
    (charts_that_know_too_much, {"dashboard.charts.trend": "from dashboard.queries import read"}),
    (charts_that_know_too_much, {"dashboard.charts.trend": "from evaluator.analysis import analyse"}),
    (charts_that_know_too_much, {"dashboard.wording": "from dashboard.filters import View"}),
    (pages_that_reach_the_store, {"dashboard.app_pages.now": "from evaluator.store.read import items"}),
    (slow_starts, {"evaluator.cli.check": "from scipy import stats"}),
    (slow_starts, {"evaluator.store.read": "try:\n    import pandas as pd\nexcept ImportError:\n    pd = None"}),
    (door_that_loads, {"evaluator": "from evaluator.spool import record"}),
    (asserts, {"evaluator.store.db": "def f(x):\n    assert x"}),
    (prints, {"evaluator.analysis": "print('x')"}),
    (own_clocks, {"evaluator.analysis": "import datetime as dt\nnow = dt.datetime.now()"}),
    (own_clocks, {"dashboard.app": "from datetime import date\ndef f():\n    return date.today()"}),
    (folders_without_init, {"evaluator.judges.practice.server": ""}),
)


@pytest.mark.parametrize(("rule", "sources"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_rule_finds_what_breaks_it(rule: Rule, sources: dict[str, str]) -> None:
    """A rule that finds nothing in a broken project guards nothing."""
    broken = [parse_module(name, source, is_package=name == "evaluator") for name, source in sources.items()]
    assert len(rule(broken)) == 1


ALLOWED = {
    "evaluator": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from evaluator.spool import record",
    "evaluator.stats.paired": "import numpy as np\nfrom evaluator.records import Item",
    "evaluator.config": "from evaluator.errors import ConfigError",
    "evaluator.store.db": "import sqlite3\nfrom evaluator.store import migrations",
    "evaluator.judges.client": "from openai import AsyncOpenAI",
    "evaluator.spool": "import time\nnow = time.time()",
    "evaluator.scoring.runner": "from evaluator.analysis import analyse\nfrom evaluator.store.db import Store",
    "evaluator.cli.demo": "def f():\n    import pandas\n    from dashboard.launch import launch\n    print('x')",
    "dashboard.queries": "from evaluator.store import read\nimport streamlit",
    "dashboard.charts.trend": "import plotly.graph_objects as go\nfrom evaluator.findings import Finding",
    "dashboard.charts.runs": "from dashboard.wording import number",
    "dashboard.answer_queries": "from evaluator.store import read",
    "dashboard.app_pages.now": "from dashboard import charts, queries\nfrom evaluator.analysis import analyse",
}


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule is not folders_without_init], ids=lambda r: r.__name__)
def test_rule_lets_good_code_pass(rule: Rule) -> None:
    """The ways that the floors are meant to be used are open."""
    assert rule([parse_module(name, source, is_package=name == "evaluator") for name, source in ALLOWED.items()]) == []


# ---------------------------------------------------------------- what is really loaded


READ_PATH = "import evaluator.cli, evaluator.store.read, evaluator.findings"


@pytest.mark.parametrize("statement", ["import evaluator", "import evaluator.cli", READ_PATH])
def test_start_loads_no_heavy_library(statement: str) -> None:
    """`judgewatch --help` and the commands that only read start without statistics, frames, clients or the page."""
    code = f"import sys; {statement}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []
