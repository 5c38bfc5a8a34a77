"""Reads the project's own modules as syntax trees, for the tests of the architecture; nothing is imported or run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("evaluator", "dashboard")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, kw_only=True)
class Import:
    """One imported module or name, in full: ``from evaluator.store import db`` is ``evaluator.store.db``.

    ``lazy`` imports stand inside a function; ``typing_only`` ones under ``if TYPE_CHECKING``.
    """

    name: str
    line: int
    lazy: bool
    typing_only: bool

    @property
    def at_start(self) -> bool:
        """Whether importing the module pays for this import."""
        return not self.lazy and not self.typing_only


@dataclass(frozen=True, kw_only=True)
class Module:
    """One source file: its dotted name, whether it is a package's ``__init__``, and its tree."""

    name: str
    is_package: bool
    tree: ast.Module
    imports: tuple[Import, ...] = field(default=())

    def place(self, line: int) -> str:
        """Return where something stands, for a message."""
        return f"{self.name}, line {line}"


def is_within(name: str, *packages: str) -> bool:
    """Say whether a dotted name is one of the packages or lies in one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


def parse_module(name: str, source: str, *, is_package: bool = False) -> Module:
    """Parse one module."""
    tree = ast.parse(source)
    package = name if is_package else name.rpartition(".")[0]
    found = tuple(_find_imports(tree.body, package, lazy=False, typing_only=False))
    return Module(name=name, is_package=is_package, tree=tree, imports=found)


def read_modules(root: Path = REPOSITORY) -> list[Module]:
    """Parse every module of the project that exists at this moment."""
    modules = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            modules.append(parse_module(name, path.read_text(encoding="utf-8"), is_package=is_package))
    return modules


def _find_imports(nodes: Sequence[ast.AST], package: str, *, lazy: bool, typing_only: bool) -> Iterator[Import]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name=alias.name, line=node.lineno, lazy=lazy, typing_only=typing_only)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            for alias in node.names:
                name = base if alias.name == "*" else f"{base}.{alias.name}"
                yield Import(name=name, line=node.lineno, lazy=lazy, typing_only=typing_only)
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _find_imports(node.body, package, lazy=lazy, typing_only=True)
            yield from _find_imports(node.orelse, package, lazy=lazy, typing_only=typing_only)
        else:
            inside = lazy or isinstance(node, _FUNCTIONS)
            yield from _find_imports(list(ast.iter_child_nodes(node)), package, lazy=inside, typing_only=typing_only)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    kept = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"
