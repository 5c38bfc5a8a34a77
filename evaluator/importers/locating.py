"""Finds the columns of a row: the plan of its shape, and a column for each path that is read.

A plan is made once for each set of keys, not once a row. Knows rows, not what their values mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.importers.columns import ColumnPlanner, Plan
from evaluator.importers.messages import stored_json
from evaluator.importers.nesting import may_be_known
from evaluator.importers.paths import MISSING, follow, path_text, why_missing

_MAX_PLANS = 1000  # a file whose rows all differ must not fill the memory
_MAX_INNER_NAMES = 10_000


class RowError(ValueError):
    """A row that cannot become an item; the message is the reason of its reject."""


class RowLocator:
    """Finds the columns of rows.

    Args:
        planner: Makes the plans.
    """

    def __init__(self, planner: ColumnPlanner) -> None:
        self._planner = planner
        self._plans: dict[tuple[object, ...], Plan] = {}
        self._texts: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._known_inside: dict[tuple[str, str], bool] = {}
        self.first: Mapping[str, Any] | None = None

    def locate(self, values: Mapping[str, Any]) -> tuple[Mapping[str, Any], Plan]:
        """Return a row with a column for each path that is read, and the plan of its shape.

        Raises:
            RowError: the path that was named for the answer leads nowhere.
        """
        keys = tuple(values)
        texts = self._texts.get(keys)
        if texts is None:
            texts = self._planner.texts_to_open(keys)
            if len(self._texts) < _MAX_PLANS:
                self._texts[keys] = texts
        if texts:
            values = _with_objects(values, texts)
        plan = self._plan(keys, values)
        if plan.inside or plan.paths:
            values = self._with_paths(values, plan)
        return values, plan

    def _plan(self, keys: tuple[str, ...], values: Mapping[str, Any]) -> Plan:
        inner = {}
        shape: tuple[object, ...] = keys
        if dict in map(type, values.values()):
            inner = {key: self._inner_names(key, value) for key, value in values.items() if type(value) is dict}
            shape = (keys, *inner.items())
        plan = self._plans.get(shape)
        if plan is None:
            if self.first is None:
                self.first = values
            plan = self._planner.plan(keys, inner)
            if len(self._plans) < _MAX_PLANS:
                self._plans[shape] = plan
        return plan

    def _inner_names(self, key: str, value: Mapping[str, Any]) -> tuple[str, ...]:
        """The names inside an object that a plan may depend on."""
        known = self._known_inside
        names = []
        for name in value:
            is_known = known.get((key, name))
            if is_known is None:
                is_known = may_be_known(key, name)
                if len(known) < _MAX_INNER_NAMES:
                    known[key, name] = is_known
            if is_known:
                names.append(name)
        return tuple(names)

    def _with_paths(self, values: Mapping[str, Any], plan: Plan) -> Mapping[str, Any]:
        row = dict(values)
        for column, key, name in plan.inside:
            row[column] = values[key][name]
        missed: dict[str, str] = {}
        for column, field, steps in plan.paths:
            value = follow(values, steps)
            if value is MISSING:
                missed[column] = f"{path_text(steps)!r} is not there: {why_missing(values, steps)}"
                self._planner.missed(field, missed[column])
                value = None
            else:
                self._planner.met(field)
            row[column] = value
        if missed and plan.output and missed.keys() >= set(plan.output):
            raise RowError(f"no field for the answer: {missed[plan.output[0]]}")
        return row


def _with_objects(values: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    """The row with the objects that texts under these keys hold as JSON."""
    opened = {}
    for key in keys:
        text = values[key]
        found = stored_json(text) if isinstance(text, str) and text.lstrip()[:1] == "{" else None
        if isinstance(found, dict):
            opened[key] = found
    return {**values, **opened} if opened else values
