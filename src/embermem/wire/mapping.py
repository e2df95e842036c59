"""Converts types of the core to records and back, according to the annotations of a record's fields.

A field takes the attribute of its own name unless `From` in its annotation names another, so a record's declaration
is the only place that lists its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class From:
    """The attribute that a field takes, as a dotted path: None means the field's own name, "" the source itself. `by`
    converts it; such a field is not read back."""

    path: str | None = None
    by: Callable[[Any], object] | None = None


WHOLE = From("")
"""Marks a field that is a record of the same source as the record that contains it."""


@dataclass(frozen=True, slots=True)
class Doc:
    """The description of a field in the OpenAPI document."""

    text: str

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Called only by pydantic, and through it by FastAPI."""
        return {**handler(schema), "description": self.text}


def to_record(kind: type[_T], source: object, **given: object) -> _T:
    """The record of a source. `given` are fields that the source lacks; nested records of the same source get them too.
    Raises TypeError for a required field that neither has, and for a given field that the record does not have."""
    steps = _plan(cast("Hashable", kind), cast("Hashable", type(source)), frozenset(given))
    return kind(**_values(steps, source, given))


def from_record(kind: type[_T], record: object, **given: object) -> _T:
    """The type of the core that a record was made from. `given` are fields that the record lacks, or that override its
    own. Raises TypeError for a required field that neither has."""
    values = dict(given)
    for name, get, leaf in _steps_back(cast("Hashable", kind), cast("Hashable", type(record)), frozenset(given)):
        values[name] = get(record) if leaf is None else _converted(get(record), leaf, from_record)
    return kind(**values)


def with_nulls(hint: Any, value: Any) -> Any:
    """A JSON value of records, with null for absent fields that may be null: both mean the same."""
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    leaf = _leaf(base)
    if leaf is None or not isinstance(value, (list, dict)):
        return value
    if isinstance(value, list):
        return [with_nulls(leaf, one) for one in value]
    if get_origin(base) is dict:
        return {name: with_nulls(leaf, one) for name, one in value.items()}
    known = {field.name: (field, hint) for field, hint in _hints(cast("Hashable", leaf))}
    told = {name: with_nulls(known[name][1], one) for name, one in value.items() if name in known}
    nullable = (name for name, (field, hint) in known.items() if _required(field) and _nullable(hint))
    return {**dict.fromkeys(nullable), **told}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Step:
    """How one field is filled: from the given values (`get` is None), or from the source. `whole` has the type and the
    steps of a record of the same source, `leaf` is the type of the records in the attribute."""

    name: str
    get: Callable[[Any], object] | None = None
    whole: tuple[type[Any], tuple[_Step, ...]] | None = None
    leaf: type[Any] | None = None


def _values(steps: tuple[_Step, ...], source: object, given: Mapping[str, object]) -> dict[str, object]:
    values: dict[str, object] = {}
    for step in steps:
        if step.whole is not None:
            kind, inner = step.whole
            values[step.name] = kind(**_values(inner, source, given))
        elif step.get is None:
            values[step.name] = given[step.name]
        else:
            value = step.get(source)
            values[step.name] = value if step.leaf is None else _converted(value, step.leaf, to_record)
    return values


@cache
def _plan(kind: type[Any], source: type[Any], given: frozenset[str]) -> tuple[_Step, ...]:
    steps = _steps(cast("Hashable", kind), cast("Hashable", source), given)
    if unknown := given - set(_taken(steps)):
        raise TypeError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
    return steps


@cache
def _steps(kind: type[Any], source: type[Any], given: frozenset[str]) -> tuple[_Step, ...]:
    steps = []
    for field, hint in _hints(cast("Hashable", kind)):
        (path, by), leaf = _origin(field.name, hint), _leaf(hint)
        if field.name in given:
            steps.append(_Step(name=field.name))
        elif not path and by is None and leaf is not None:
            whole = leaf, _steps(cast("Hashable", leaf), cast("Hashable", source), given)
            steps.append(_Step(name=field.name, whole=whole))
        elif not path or hasattr(source, path.partition(".")[0]):
            steps.append(_Step(name=field.name, get=_getter(path, by), leaf=leaf))
        elif _required(field):
            raise TypeError(f"{kind.__name__}.{field.name}: {source.__name__} has no attribute {path!r}")
    return tuple(steps)


def _taken(steps: tuple[_Step, ...]) -> Iterator[str]:
    """The names of the fields that are filled from the given values."""
    for step in steps:
        if step.whole is not None:
            yield from _taken(step.whole[1])
        elif step.get is None:
            yield step.name


@cache
def _steps_back(
    kind: type[Any], record: type[Any], given: frozenset[str]
) -> tuple[tuple[str, Callable[[Any], object], type[Any] | None], ...]:
    places = dict(_places(record))
    steps = []
    for field, hint in _hints(cast("Hashable", kind)):
        if field.name in given:
            continue
        if field.name in places:
            steps.append((field.name, attrgetter(places[field.name]), _leaf(hint)))
        elif _required(field):
            raise TypeError(f"{kind.__name__}.{field.name}: {record.__name__} does not hold it")
    return tuple(steps)


def _places(record: type[Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each attribute of the source that a record contains unchanged, and its path in the record."""
    for field, hint in _hints(cast("Hashable", record)):
        (path, by), leaf = _origin(field.name, hint), _leaf(hint)
        if by is not None:
            continue
        if path:
            yield path, prefix + field.name
        elif leaf is not None:
            yield from _places(leaf, f"{prefix}{field.name}.")


@cache
def _hints(kind: type[Any]) -> tuple[tuple[Field[Any], Any], ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple((field, hints[field.name]) for field in fields(kind))


def _origin(name: str, hint: Any) -> tuple[str, Callable[[Any], object] | None]:
    """The path of a field's attribute, and its converter."""
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    origin = next((note for note in notes if isinstance(note, From)), From())
    return name if origin.path is None else origin.path, origin.by


def _getter(path: str, by: Callable[[Any], object] | None) -> Callable[[Any], object]:
    get = attrgetter(path) if path else _itself
    return get if by is None else lambda source: by(get(source))


def _itself(source: object) -> object:
    return source


def _leaf(hint: Any) -> type[Any] | None:
    """The only dataclass in a type: the type itself, its items, or a member of a union."""
    if isinstance(hint, type) and is_dataclass(hint):
        return hint
    parts = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    leaves = {leaf for part in parts if (leaf := _leaf(part)) is not None}
    return leaves.pop() if len(leaves) == 1 else None


def _converted(value: Any, leaf: type[Any], convert: Callable[[type[Any], Any], object]) -> object:
    if value is None or isinstance(value, leaf):
        return value
    return tuple(_converted(one, leaf, convert) for one in value) if isinstance(value, tuple) else convert(leaf, value)


def _nullable(hint: Any) -> bool:
    return any(part is NoneType or (get_origin(hint) is Annotated and _nullable(part)) for part in get_args(hint))


def _required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
