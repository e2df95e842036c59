"""Metadata: a small JSON object that callers attach to messages and documents, and filters over it.

A filter is a JSON object too. `{"kind": "contract"}` asks for an equal value, or for a list that holds it. In place of
a value stands an object of operators: `$eq` `$ne` `$gt` `$gte` `$lt` `$lte` `$in` `$nin` `$exists`. All entries must be
met; `$and` and `$or` take a list of filters, `$not` one filter. Values of different types are never equal: True is not
1, and "1" is not 1. Where the name is missing, or the value is of another type, only `$ne`, `$nin`, `$not` and
`{"$exists": false}` are met. A list is compared by its items: one of them must meet the operator, none of them must be
what `$ne` and `$nin` exclude.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from embermem.core.errors import InputError

__all__ = [
    "MAX_BYTES",
    "Metadata",
    "Plain",
    "Value",
    "checked",
    "checked_filter",
    "inherited",
    "items",
    "matches",
    "texts",
    "with_texts",
]

Plain: TypeAlias = str | int | float | bool
Value: TypeAlias = Plain | tuple[str, ...]
Metadata: TypeAlias = Mapping[str, Value]
"""Names and values. Whoever is given one does not change it."""

MAX_NAMES = 32
MAX_TEXT = 512
"""Characters of a text."""
MAX_ITEMS = 32
"""Texts of a list."""
MAX_BYTES = 4_096
"""Bytes of the whole, as JSON in UTF-8."""
MAX_CONDITIONS = 64
"""Conditions of a filter, those inside `$and`, `$or` and `$not` too."""
MAX_DEPTH = 8
_LARGEST = 2**53
_NAME = re.compile(r"[\w][\w.:/-]{0,63}", re.ASCII)

_COMPARED = ("$gt", "$gte", "$lt", "$lte")
_OPERATORS = ("$eq", "$ne", *_COMPARED, "$in", "$nin", "$exists")
_JOINED = ("$and", "$or", "$not")


def checked(value: object, where: str) -> dict[str, Value]:
    """Metadata as it is stored: a copy, with lists as tuples. None is none. Raises InputError that says where."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {type(value).__name__}; give a mapping such as {{'ticket': 'T-1'}}")
    if len(value) > MAX_NAMES:
        raise InputError(f"{where} has {len(value)} names, more than the {MAX_NAMES} allowed")
    found = {_name(name, where): _value(one, f"{where}.{name}") for name, one in value.items()}
    size = len(json.dumps(found, ensure_ascii=False).encode())
    if size > MAX_BYTES:
        raise InputError(f"{where} has {size:,} bytes as JSON, more than the {MAX_BYTES:,} allowed")
    return found


def inherited(several: Iterable[Metadata]) -> dict[str, Value]:
    """What derives from several things has of their metadata: each entry in which all that have the name agree. Texts
    and lists of texts that differ become one list. Of numbers and truths that differ nothing is taken."""
    found: dict[str, Value] = {}
    apart: set[str] = set()
    for one in several:
        for name, value in one.items():
            known = found.setdefault(name, value)
            if _sort(known) == _sort(value) and known == value:
                continue
            if isinstance(known, (str, tuple)) and isinstance(value, (str, tuple)):
                found[name] = tuple(dict.fromkeys((*_listed(known), *_listed(value))))
            else:
                apart.add(name)
    return {name: value for name, value in found.items() if name not in apart}


def _listed(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,)


def texts(metadata: Metadata) -> list[tuple[str, str]]:
    """Each text, with where it stands: "metadata.ticket", "metadata.tags[1]"."""
    found = []
    for name, value in metadata.items():
        if isinstance(value, tuple):
            found += [(f"metadata.{name}[{place}]", one) for place, one in enumerate(value)]
        elif isinstance(value, str):
            found.append((f"metadata.{name}", value))
    return found


def with_texts(metadata: Metadata, others: Iterable[str]) -> dict[str, Value]:
    """The metadata with other texts in place of those that `texts` gave, in their order."""
    rest = iter(others)
    return {
        name: tuple(next(rest) for _ in value)
        if isinstance(value, tuple)
        else next(rest)
        if isinstance(value, str)
        else value
        for name, value in metadata.items()
    }


def items(metadata: Metadata) -> Iterator[tuple[str, Plain]]:
    """Each name with each of its values: those of a list one by one."""
    for name, value in metadata.items():
        if isinstance(value, tuple):
            yield from ((name, one) for one in value)
        else:
            yield name, value


def _name(name: object, where: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"{where} has the name {name!r}; a name has 1 to 64 letters, digits or _ . : / - and begins with a letter,"
            " a digit or _"
        )
    return name


def _value(value: object, where: str) -> Value:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes, bytearray)):
        return _plain(value, where)
    if len(value) > MAX_ITEMS:
        raise InputError(f"{where} has {len(value)} items, more than the {MAX_ITEMS} allowed")
    return tuple(_text(one, f"{where}[{place}]") for place, one in enumerate(value))


def _plain(value: object, where: str) -> Plain:
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        if not math.isfinite(value) or abs(value) > _LARGEST:
            raise InputError(f"{where} = {value!r} is not allowed; a number within ±2^53")
        return value
    return _text(value, where)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} is {type(value).__name__}; give a text, a number, True, False or a list of texts")
    if len(value) > MAX_TEXT:
        raise InputError(f"{where} has {len(value):,} characters, more than the {MAX_TEXT:,} allowed")
    if "\x00" in value:
        raise InputError(f"{where} has a NUL character; take it out")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{where} has half of a surrogate pair at {error.start}; decode the text first") from error
    return value


# -------------------------------------------------------------------------------------------------------- filters


def checked_filter(value: object, where: str) -> dict[str, Any]:
    """A filter as it is used: a copy. Raises InputError that says where it is wrong."""
    found, count = _filter(value, where, 0)
    if count > MAX_CONDITIONS:
        raise InputError(f"{where} has {count} conditions, more than the {MAX_CONDITIONS} allowed")
    return found


def _filter(value: object, where: str, depth: int) -> tuple[dict[str, Any], int]:
    if depth > MAX_DEPTH:
        raise InputError(f"{where} is nested more than {MAX_DEPTH} times")
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {type(value).__name__}; give a mapping such as {{'kind': 'contract'}}")
    found: dict[str, Any] = {}
    count = 0
    for name, one in value.items():
        here = f"{where}.{name}"
        if name == "$not":
            found[name], inner = _filter(one, here, depth + 1)
        elif name in ("$and", "$or"):
            if not isinstance(one, Sequence) or isinstance(one, str) or not one:
                raise InputError(f"{here} is not a list of filters; give one such as [{{'kind': 'a'}}, {{'tag': 'b'}}]")
            parts = [_filter(part, f"{here}[{place}]", depth + 1) for place, part in enumerate(one)]
            found[name], inner = tuple(part for part, _ in parts), sum(count for _, count in parts)
        elif isinstance(name, str) and name.startswith("$"):
            raise InputError(f"{here} is not known; {', '.join(_JOINED)} join filters, operators stand under a name")
        else:
            found[_name(name, where)], inner = _condition(one, here)
        count += inner
    return found, count


def _condition(value: object, where: str) -> tuple[dict[str, Any], int]:
    """The operators that a name's value must meet."""
    if not isinstance(value, Mapping):
        return {"$eq": _compared(value, where)}, 1
    if not value:
        raise InputError(f"{where} is empty; give a value, or operators such as {{'$gte': 3}}")
    found: dict[str, Any] = {}
    for operator, one in value.items():
        here = f"{where}.{operator}"
        if operator not in _OPERATORS:
            raise InputError(f"{here} is not an operator; one of: {', '.join(_OPERATORS)}")
        if operator == "$exists":
            if not isinstance(one, bool):
                raise InputError(f"{here} = {one!r} is not allowed; True or False")
            found[operator] = one
        elif operator in ("$in", "$nin"):
            if not isinstance(one, (Sequence, set, frozenset)) or isinstance(one, str):
                raise InputError(f"{here} is {type(one).__name__}; give a list of values")
            found[operator] = tuple(_compared(part, f"{here}[{place}]") for place, part in enumerate(one))
        else:
            found[operator] = _compared(one, here)
            if operator in _COMPARED and isinstance(one, bool):
                raise InputError(f"{here} = {one!r} is not allowed; give a number or a text")
    return found, sum(len(one) if isinstance(one, tuple) else 1 for one in found.values())


def _compared(value: object, where: str) -> Plain:
    if isinstance(value, Sequence) and not isinstance(value, str):
        raise InputError(f"{where} is a list; give {{'$in': […]}} for one of several values")
    return _plain(value, where)


def matches(wanted: Mapping[str, Any], metadata: Metadata) -> bool:
    """Whether metadata meets a filter that `checked_filter` gave."""
    return all(_meets(name, one, metadata) for name, one in wanted.items())


def _meets(name: str, wanted: Any, metadata: Metadata) -> bool:
    if name == "$and":
        return all(matches(one, metadata) for one in wanted)
    if name == "$or":
        return any(matches(one, metadata) for one in wanted)
    if name == "$not":
        return not matches(wanted, metadata)
    value = metadata.get(name)
    held = () if value is None else value if isinstance(value, tuple) else (value,)
    return all(_holds(operator, one, held, there=value is not None) for operator, one in wanted.items())


def _holds(operator: str, wanted: Any, held: Sequence[Plain], *, there: bool) -> bool:
    if operator == "$exists":
        return there is wanted
    if operator in ("$ne", "$nin"):
        excluded = wanted if operator == "$nin" else (wanted,)
        return not any(_same(one, other) for one in held for other in excluded)
    if operator in ("$eq", "$in"):
        allowed = wanted if operator == "$in" else (wanted,)
        return any(_same(one, other) for one in held for other in allowed)
    return any(_stands(operator, one, wanted) for one in held)


def _same(one: Plain, other: Plain) -> bool:
    return _sort(one) == _sort(other) and one == other


def _stands(operator: str, one: Any, wanted: Any) -> bool:
    if _sort(one) != _sort(wanted) or isinstance(one, bool):
        return False
    if operator == "$gt":
        return bool(one > wanted)
    if operator == "$gte":
        return bool(one >= wanted)
    if operator == "$lt":
        return bool(one < wanted)
    return bool(one <= wanted)


def _sort(value: Value) -> str:
    if isinstance(value, tuple):
        return "list"
    return "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
