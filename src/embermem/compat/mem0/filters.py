"""mem0's filters over what a memory holds: operators under a name, joined by AND, OR and NOT.

`{"kind": "food"}` asks for an equal value, a list for one of its values, "*" for any value. Operators are eq, ne, gt,
gte, lt, lte, in, nin, contains and icontains. A value that is a list meets an operator with any of its items. Where the
name is missing, no operator is met. A NOT with several filters excludes what meets any of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from embermem.core.errors import InputError

__all__ = ["checked", "equalities", "matches"]

_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
OPERATORS = ("eq", "ne", *_COMPARED, "in", "nin", "contains", "icontains")
_JOINED = ("AND", "OR", "NOT")


def checked(filters: Mapping[str, Any]) -> Mapping[str, Any]:
    """The filter. Raises InputError, with mem0's words, where an operator is unknown or a list is missing."""
    for name, value in filters.items():
        if name in _JOINED:
            if not isinstance(value, list) or (not value and name != "AND"):
                kind = "a list" if name == "AND" else "a non-empty list"
                raise InputError(f"{name} operator requires {kind} of conditions")
            for one in value:
                if not isinstance(one, Mapping):
                    raise InputError(f"{name} filter list items must be dicts, got {type(one).__name__}")
                checked(one)
        elif isinstance(value, Mapping):
            for one, wanted in value.items():
                if one not in OPERATORS:
                    raise InputError(f"Unsupported metadata filter operator: {one}")
                if one in ("in", "nin") and not isinstance(wanted, list | tuple | set):
                    raise InputError(f"filters[{name!r}][{one!r}] is {type(wanted).__name__}; give a list")
    return filters


def matches(filters: Mapping[str, Any], held: Mapping[str, Any]) -> bool:
    """Whether what a memory holds meets a checked filter."""
    return all(_meets(name, value, held) for name, value in filters.items())


def equalities(filters: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that ask for one equal value: what a store can look for by itself."""
    plain = (str, int, float, bool)
    return {
        name: value
        for name, value in filters.items()
        if name not in _JOINED and isinstance(value, plain) and value != "*"
    }


def _meets(name: str, wanted: Any, held: Mapping[str, Any]) -> bool:
    if name == "AND":
        return all(matches(one, held) for one in wanted)
    if name == "OR":
        return any(matches(one, held) for one in wanted)
    if name == "NOT":
        return not any(matches(one, held) for one in wanted)
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
