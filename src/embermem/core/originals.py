"""Originals: what callers handed in, kept exactly beside what was made of it, as JSON that Ember does not read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from embermem.core.errors import InputError, StoreCorrupt

__all__ = ["MAX_BYTES", "MAX_DEPTH", "json_of", "texts", "value_of", "with_texts"]

MAX_BYTES = 8 * 2**20
"""Bytes of one original, as JSON in UTF-8."""
MAX_DEPTH = 64
"""How deep objects and lists may be nested."""
_LOW, _HIGH = -(2**63), 2**64


def json_of(value: object, where: str) -> str | None:
    """An original as it is stored; None for none. Raises InputError that says where it is no JSON value, or one that
    cannot be given back as it was: NaN, an infinity, an integer of more than 64 bits, half of a surrogate pair."""
    if value is None:
        return None
    text = json.dumps(_checked(value, where, 0), ensure_ascii=False)
    size = len(text.encode())
    if size > MAX_BYTES:
        raise InputError(f"{where} has {size:,} bytes as JSON, more than the {MAX_BYTES:,} allowed")
    return text


def value_of(text: str) -> Any:
    """The value of `json_of`. Raises StoreCorrupt."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreCorrupt(f"a stored original cannot be read ({type(error).__name__})") from None


def texts(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Each text of a value, with where it is: "original.content[0].text". Names in objects are not among them."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from texts(one, f"{where}.{name}")
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from texts(one, f"{where}[{place}]")


def with_texts(value: object, others: Iterable[str]) -> Any:
    """The value with other texts in place of those that `texts` gave, in their order."""
    rest = iter(others)

    def replaced(one: object) -> object:
        if isinstance(one, str):
            return next(rest)
        if isinstance(one, Mapping):
            return {name: replaced(inner) for name, inner in one.items()}
        return [replaced(inner) for inner in one] if isinstance(one, list) else one

    return replaced(value)


def _checked(value: object, where: str, depth: int) -> object:
    """A copy of a JSON value."""
    if depth > MAX_DEPTH:
        raise InputError(f"{where} is nested more than {MAX_DEPTH} times")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, int):
        if not _LOW <= value < _HIGH:
            raise InputError(f"{where} is an integer of more than 64 bits; give it as a text")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"{where} = {value!r} is not a value of JSON; give None or a text")
        return float(value)
    if isinstance(value, Mapping):
        return {_name(name, where): _checked(one, f"{where}.{name}", depth + 1) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_checked(one, f"{where}[{place}]", depth + 1) for place, one in enumerate(value)]
    raise InputError(
        f"{where} is {type(value).__name__}, not a value of JSON: an object, list, text, number or boolean"
    )


def _name(name: object, where: str) -> str:
    if not isinstance(name, str):
        raise InputError(f"{where} has the name {name!r:.60}; names in an object of JSON are texts")
    return _text(name, f"a name in {where}")


def _text(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{where} has half of a surrogate pair at {error.start}; decode the text first") from error
    return str(text)
