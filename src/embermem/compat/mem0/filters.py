"""mem0's filters over what a memory holds: operators under a name, joined by AND, OR and NOT.

`{"kind": "food"}` asks for an equal value, a list for one of its values, "*" for any value. Operators are eq, ne, gt,
gte, lt, lte, in, nin, contains and icontains. A value that is a list meets an operator with any of its items. Where the
name is missing, no operator is met. A NOT with several filters excludes what meets any of them. `metadata` takes a
filter over metadata alone. Ids are named anywhere but under NOT and `metadata`, and say whose memories are read.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from embermem.compat.mem0.arguments import ENTITIES, IDENTITY, entity
from embermem.core.errors import InputError

__all__ = ["Way", "checked", "equalities", "matches", "ways"]

Way = Mapping[str, frozenset[str] | None]
"""The ids that memories have which meet a filter in one way, by name; None: any. A name that is missing is not asked
for."""

_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
OPERATORS = ("eq", "ne", *_COMPARED, "in", "nin", "contains", "icontains")
_JOINED = ("AND", "OR", "NOT")
_MOST_WAYS = 1000
_NO_ENTITY = (
    "filters must contain at least one of: user_id, agent_id, run_id, in every part of an OR. "
    "Example: filters={'user_id': 'u1'}"
)


def checked(filters: object) -> dict[str, Any]:
    """A filter in one form: ids are texts, and NOT has a list. Raises InputError, with mem0's words where it has some,
    where an operator is unknown or a value is of the wrong kind."""
    if not isinstance(filters, Mapping):
        raise InputError(f"filters is {type(filters).__name__}; give a dict such as {{'user_id': 'u1'}}")
    found: dict[str, Any] = {}
    for name, value in filters.items():
        if name in _JOINED:
            found[name] = _joined(name, value)
        elif name == "metadata":
            found[name] = _of_metadata(value)
        elif name in ENTITIES:
            if value is not None:
                found[name] = _of_ids(name, value)
        else:
            found[name] = _condition(name, value)
    return found


def _joined(name: str, value: object) -> list[dict[str, Any]]:
    given = [value] if name == "NOT" and isinstance(value, Mapping) and value else value
    if not isinstance(given, list) or (not given and name != "AND"):
        kind = "a list" if name == "AND" else "a non-empty list"
        raise InputError(f"{name} operator requires {kind} of conditions")
    for one in given:
        if not isinstance(one, Mapping):
            raise InputError(f"{name} filter list items must be dicts, got {type(one).__name__}")
    return [checked(one) for one in given]


def _of_metadata(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"filters['metadata'] is {type(value).__name__}; give a dict such as {{'category': 'food'}}")
    if named := [name for name in value if name in IDENTITY]:
        raise InputError(f"filters['metadata'] names {named[0]}, which no metadata has; give it beside metadata")
    return checked(value)


def _of_ids(name: str, value: object, every: str = "*") -> Any:
    """A condition on an id, with the ids as texts; `every` stands for any."""
    if isinstance(value, Mapping):
        ids = ("eq", "ne", "in", "nin")
        return {
            one: _of_ids(name, wanted, "") if one in ids else wanted for one, wanted in _condition(name, value).items()
        }
    if isinstance(value, list | tuple | set):
        return [entity(one, name) for one in value]
    return value if value == every else entity(value, name)


def _condition(name: str, value: Any) -> Any:
    if value is None:
        raise InputError(f"filters[{name!r}] is None; give a value, or '*' for any")
    if isinstance(value, Mapping):
        for one, wanted in value.items():
            if one not in OPERATORS:
                raise InputError(f"Unsupported metadata filter operator: {one}")
            if one in ("in", "nin") and not isinstance(wanted, list | tuple | set):
                raise InputError(f"filters[{name!r}][{one!r}] is {type(wanted).__name__}; give a list")
    return value


def ways(filters: Mapping[str, Any]) -> list[Way]:
    """Whose memories can meet a checked filter. Raises InputError where it names nobody's."""
    found = _ways(filters)
    if not all(found):
        raise InputError(_NO_ENTITY)
    return found


def _ways(filters: Mapping[str, Any]) -> list[Way]:
    found: list[Way] = [{}]
    for name, value in filters.items():
        if name in ENTITIES:
            found = _both(found, [{name: _named(value)}])
        elif name == "OR":
            found = _both(found, [way for one in value for way in _ways(one)])
        elif name == "AND":
            for one in value:
                found = _both(found, _ways(one))
    return found


def _named(value: Any) -> frozenset[str] | None:
    """The ids that a condition names; None where it names none and many may meet it."""
    if isinstance(value, Mapping):
        lists = [frozenset([value["eq"]])] if "eq" in value else []
        lists += [frozenset(value["in"])] if "in" in value else []
        return frozenset.intersection(*lists) if lists else None
    if isinstance(value, list):
        return frozenset(value)
    return None if value == "*" else frozenset([value])


def _both(some: list[Way], others: list[Way]) -> list[Way]:
    """The ways to meet two filters, each once."""
    if len(some) * len(others) > _MOST_WAYS:
        raise InputError(f"filters join ids by AND and OR in more than {_MOST_WAYS:,} ways; give lists of ids instead")
    made: dict[frozenset[tuple[str, frozenset[str] | None]], Way] = {}
    for one in some:
        for other in others:
            way = {**one, **other}
            for name in one.keys() & other.keys():
                sets = [ids for ids in (one[name], other[name]) if ids is not None]
                way[name] = frozenset.intersection(*sets) if sets else None
            made[frozenset(way.items())] = way
    return list(made.values())


def matches(filters: Mapping[str, Any], held: Mapping[str, Any]) -> bool:
    """Whether what a memory holds meets a checked filter."""
    return all(_meets(name, value, held) for name, value in filters.items())


def equalities(filters: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a checked filter that ask for one equal value: what a store can look for by itself."""
    plain = (str, int, float, bool)
    found: dict[str, Any] = {}
    for one in filters.get("AND", ()):
        found.update(equalities(one))
    for name, value in filters.items():
        if name not in _JOINED and isinstance(value, plain) and value != "*":
            found[name] = value
    return found


def _meets(name: str, wanted: Any, held: Mapping[str, Any]) -> bool:
    if name == "AND":
        return all(matches(one, held) for one in wanted)
    if name == "OR":
        return any(matches(one, held) for one in wanted)
    if name == "NOT":
        return not any(matches(one, held) for one in wanted)
    if name == "metadata":
        return matches(wanted, held.get(name) or {})
    value = held.get(name)
    values = list(value) if isinstance(value, list | tuple) else [] if value is None else [value]
    if wanted == "*":
        return bool(values)
    if isinstance(wanted, Mapping):
        return all(_holds(one, asked, values) for one, asked in wanted.items())
    return _holds("in" if isinstance(wanted, list | tuple | set) else "eq", wanted, values)


def _holds(name: str, wanted: Any, values: list[Any]) -> bool:
    if not values:
        return False
    if name in ("eq", "ne"):
        return any(_same(one, wanted) for one in values) is (name == "eq")
    if name in ("in", "nin"):
        return any(_same(one, other) for one in values for other in wanted) is (name == "in")
    if name in _COMPARED:
        return any(_ordered(_COMPARED[name], one, wanted) for one in values)
    asked = str(wanted).casefold() if name == "icontains" else str(wanted)
    return any(asked in (one.casefold() if name == "icontains" else one) for one in values if isinstance(one, str))


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _ordered(stands: Callable[[Any, Any], bool], one: Any, other: Any) -> bool:
    """Whether two numbers, times or texts stand so to each other."""
    if isinstance(one, str) and isinstance(other, str):
        times = _time(one), _time(other)
        return stands(*times) if None not in times else stands(one, other)
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return numbers and not isinstance(one, bool) and not isinstance(other, bool) and stands(one, other)


def _time(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
