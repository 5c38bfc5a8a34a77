"""Which of a row's columns hold what: the plan for each shape of row. Knows names only, no values and no files.

A known name on top counts first, then one of second choice, then a sure place in an object (``request.prompt``), then
a column whose words say what it is (``Bot answer``), then a likely place in an object. Where a row has several columns
of one meaning, they count in the order of their names; what is equally good in two places is not chosen between.
Columns of paths are written like ``request.prompt``. Every other column may be a tag.
"""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from evaluator.errors import UsageError
from evaluator.importers.names import FIELD_NAMES, SECOND_NAMES, WEAK_IDS, field_by_words, normal_name
from evaluator.importers.nesting import NESTED_TAGS, OPENED_TEXTS, WORDS_RANK, Rank, names_inside, ranks
from evaluator.importers.paths import Step, parse_path
from evaluator.importers.plan import Plan
from evaluator.importers.text import repair_text

__all__ = ["FIELD_NAMES", "ColumnPlanner", "Plan", "normal_name"]

# the first name of a field is the one that documents use: it may stand for the field as well
_FIELD_OF = {
    **{names[0]: field for field, names in FIELD_NAMES.items()},
    **{field: field for field in FIELD_NAMES},
    "external_id": "id",  # as the store and the page call it
}
_TEXT_FIELDS = ("input", "output")
_MAX_COLUMNS = 1000
_KNOWN_NAMES = frozenset(name for names in FIELD_NAMES.values() for name in names)

Inner = Mapping[str, tuple[str, ...]]


def field_of(name: str) -> str | None:
    """Return the field that a name stands for in a map of fields; None when there is no such field."""
    return _FIELD_OF.get(name)


class ColumnPlanner:
    """Makes the plan for each shape of row, and remembers which columns the file had.

    Args:
        field_map: Field (or the first of its names) to column or path, for columns that are named otherwise; several,
            of which the first filled one counts, are parted by commas; an empty one means that there is none.
    Raises:
        UsageError: a field that does not exist, or one that was named twice.
    """

    def __init__(self, field_map: Mapping[str, str] | None = None) -> None:
        self.named: dict[str, str] = {}
        for name, column in (field_map or {}).items():
            field = _FIELD_OF.get(name)
            if field is None:
                raise UsageError(f"there is no field {name!r}; fields are {', '.join(FIELD_NAMES)}")
            if field in self.named:
                raise UsageError(f"the field {field!r} is named twice, for {self.named[field]!r} and {column!r}")
            self.named[field] = column
        self.ambiguous: dict[str, tuple[str, ...]] = {}
        self.readings: dict[str, dict[str, None]] = {}
        self.misses: dict[str, str] = {}
        self._columns: dict[str, None] = {}
        self._found: set[str] = set()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns seen, in order, up to a thousand."""
        return tuple(self._columns)

    def found(self, field: str) -> bool:
        """Whether any row had a column for the field."""
        return field in self._found

    def met(self, field: str) -> None:
        """Note that a row had what a path names for the field."""
        self._found.add(field)

    def missed(self, field: str, reason: str) -> None:
        """Note why a path led nowhere; the first reason is kept."""
        self.misses.setdefault(field, reason)

    def doubt(self, field: str) -> str:
        """Say between which columns of a field nothing chooses, and what does; empty when there is no doubt."""
        columns = self.ambiguous.get(field)
        if columns is None:
            return ""
        listed = " and ".join(map(repr, columns))
        return f"{listed} may each be the {field}; none is read, choose with --field {field}={quote(columns[0])}"

    def missing(self) -> list[str]:
        """Return the fields whose column was named but never seen."""
        return [field for field, column in self.named.items() if column and not self.found(field)]

    def texts_to_open(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Return the keys under which a text that is JSON stands for an object."""
        return tuple(key for key in keys if normal_name(key) in OPENED_TEXTS and not self._is_named(key))

    def _is_named(self, key: str) -> bool:
        return normal_name(key) in map(normal_name, self.named.values())

    def plan(self, keys: tuple[str, ...], inner: Inner | None = None) -> Plan:
        """Return what the keys of a row hold. A column that was named for one field serves no other.

        Args:
            keys: The keys of the row.
            inner: Of those that hold an object, the keys inside of it that may be known.
        """
        shape = _Shape(keys, inner or {}, self.named)
        for key in keys[: _MAX_COLUMNS - len(self._columns)]:
            self._columns.setdefault(key.strip())
        fields = {field: shape.columns_of(field) for field in FIELD_NAMES}
        paths = {path[0] for path in shape.paths}
        self._found.update(field for field, found in fields.items() if any(column not in paths for column in found))
        for field, columns in shape.ambiguous.items():
            self.ambiguous.setdefault(field, columns)
        for field, columns in shape.readings.items():
            told = self.readings.setdefault(field, {})
            told.update(dict.fromkeys(columns[: _MAX_COLUMNS - len(told)]))
        return shape.plan(fields)


class _Shape:
    """The keys of one shape of row, and which of them hold what."""

    def __init__(self, keys: tuple[str, ...], inner: Inner, named: Mapping[str, str]) -> None:
        self._keys = keys
        self._names = {key: normal_name(key) for key in keys}
        self._inner = inner
        self._named = named
        self._inside: dict[str, tuple[str, str]] = {}
        self.paths: list[tuple[str, str, tuple[Step, ...]]] = []
        self.ambiguous: dict[str, tuple[str, ...]] = {}
        self.readings: dict[str, tuple[str, ...]] = {}
        self._taken = {key for column in named.values() for key in self._literal(column)}

    def _literal(self, column: str) -> list[str]:
        wanted = normal_name(column)
        return [key for key in self._keys if self._names[key] == wanted]

    def columns_of(self, field: str) -> tuple[str, ...]:
        """The columns of a field, in the order in which they count."""
        if field in self._named:
            return self._columns_named(field)
        exact = self._with_names(FIELD_NAMES[field])
        if exact:
            columns = tuple(column for key in exact for column in self._opened(field, key))
            return self._read(field, columns) if columns != tuple(exact) else columns
        second = [key for key in self._with_names(SECOND_NAMES[field]) if key not in self._inner]
        if second:
            return self._read(field, tuple(second))
        return self._choose(field)

    def _columns_named(self, field: str) -> tuple[str, ...]:
        whole = self._named[field]
        if not whole.strip():
            return ()
        parts = [whole] if self._literal(whole) else [part for part in whole.split(",") if part.strip()]
        columns: list[str] = []
        for part in parts:
            steps = parse_path(part)
            literal = self._literal(part)
            if literal:
                columns += [column for key in literal for column in self._opened(field, key)]
            elif steps is not None:
                columns.append(part.strip())
                self.paths.append((part.strip(), field, steps))
        return tuple(columns)

    def _with_names(self, wanted: tuple[str, ...]) -> list[str]:
        found = [key for key in self._keys if self._names[key] in wanted and key not in self._taken]
        return sorted(found, key=lambda key: wanted.index(self._names[key]))

    def _opened(self, field: str, key: str) -> list[str]:
        """The places inside an object that hold the field; the object itself where there is none, or no object."""
        if key not in self._inner:
            return [key]
        holder, inner = self._names[key], {normal_name(name): name for name in reversed(self._inner[key])}
        names = names_inside(field, holder, frozenset(inner))
        if not names and holder not in _KNOWN_NAMES:
            ranked = [(found[field], name) for name in inner if field in (found := ranks(holder, name))]
            names = tuple(name for _, name in sorted(ranked))
        return [self._place(key, inner[name]) for name in names] or [key]

    def _place(self, key: str, name: str) -> str:
        column = f"{key.strip()}.{name.strip()}"
        self._inside[column] = (key, name)
        return column

    def _read(self, field: str, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Remember that these columns are read as the field although their names alone do not say so."""
        self.readings[field] = columns
        return columns

    def _choose(self, field: str) -> tuple[str, ...]:
        """The best places in objects, or the column whose words say what it is; none where two are as good."""
        places = self._places(field)
        sure = [place for place in places if place[0].rule < WORDS_RANK]
        if not sure and field in _TEXT_FIELDS:
            by_words = [key for key in self._keys if self._says(key) == field]
            if len(by_words) == 1:
                return self._read(field, tuple(by_words))
            if by_words:
                self.ambiguous[field] = tuple(by_words)
                return ()
        return self._best(field, sure or places)

    def _says(self, key: str) -> str | None:
        name = self._names[key]
        if key in self._taken or key in self._inner or "." in name or name in _KNOWN_NAMES:
            return None
        return field_by_words(name)

    def _places(self, field: str) -> list[tuple[Rank, str, str, str]]:
        """(rank, object, key, key inside of it) of all places; a column with points in its name is one as well."""
        found = []
        for key in self._keys:
            if key in self._taken:
                continue
            holder, _, last = self._names[key].rpartition(".")
            if holder and key not in self._inner:
                rank = ranks(holder.rpartition(".")[2], last).get(field)
                found += [(rank, holder, key, "")] if rank is not None else []
            for name in self._inner.get(key, ()):
                rank = ranks(self._names[key], normal_name(name)).get(field)
                is_column = f"{key.strip()}.{name.strip()}" in self._names
                found += [(rank, key, key, name)] if rank is not None and not is_column else []
        return sorted(found, key=lambda place: place[0])

    def _best(self, field: str, places: list[tuple[Rank, str, str, str]]) -> tuple[str, ...]:
        if not places:
            return ()
        best = places[0][0]
        equal = [place for place in places if place[0].rule == best.rule]
        rivals = equal if field in _TEXT_FIELDS else [place for place in equal if place[0] == best]
        if len({holder for _, holder, _, _ in rivals}) > 1:
            first = {holder: f"{key.strip()}.{name}" if name else key for _, holder, key, name in reversed(rivals)}
            self.ambiguous[field] = tuple(reversed(first.values()))
            return ()
        chosen = [place for place in equal if place[1] == places[0][1]]
        return self._read(field, tuple(self._place(key, name) if name else key for _, _, key, name in chosen))

    def plan(self, fields: Mapping[str, tuple[str, ...]]) -> Plan:
        """The plan of the shape."""
        columns = dict.fromkeys(column for found in fields.values() for column in found)
        inside = tuple((column, *self._inside[column]) for column in columns if column in self._inside)
        used = {key for key in self._keys if key in columns}
        nested = tuple(key for key in self._keys if key not in used and self._holds_tags(key))
        doubtful = {column for field in _TEXT_FIELDS for column in self.ambiguous.get(field, ())}
        rest = [key for key in self._keys if key not in used and key not in nested and key not in doubtful]
        weak = {column for column in (*fields["id"], *fields["conversation_id"]) if self._is_weak(column)}
        return Plan(
            **fields,
            nested=nested,
            tags=tuple((key, repair_text(key.strip())[0]) for key in rest),
            inside=inside,
            paths=tuple(self.paths),
            used=frozenset([*(place[1:] for place in inside), *self._at_paths(), *self._in_doubt(doubtful)]),
            weak=frozenset(weak),
        )

    def _at_paths(self) -> list[tuple[str, str]]:
        """What paths lead to, or into, one level deep."""
        starts = [steps[:2] for _, _, steps in self.paths if len(steps) > 1]
        found = []
        for first, second in starts:
            for key in self._literal(str(first)):
                same = [name for name in self._inner.get(key, ()) if normal_name(name) == normal_name(str(second))]
                found += [(key, name) for name in (str(second), *same)]
        return found

    def _in_doubt(self, columns: set[str]) -> list[tuple[str, str]]:
        """Texts of which nobody knows whether they are the question or the answer: these are no tags."""
        return [
            (key, name)
            for key, names in self._inner.items()
            for name in names
            if f"{key.strip()}.{name.strip()}" in columns
        ]

    def _holds_tags(self, key: str) -> bool:
        return key in self._inner or self._names[key] in NESTED_TAGS

    def _is_weak(self, column: str) -> bool:
        return self._names.get(column) in WEAK_IDS and column not in self._taken
