"""Records and answers as plain data, and two of them compared so that a person can read the difference.

Nothing here says how a class or a module is named: a record is told by its fields. Numbers are rounded to 6 digits, so
that the order in which a processor adds up a product does not count.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

DIGITS = 6
EXACT = 2.0 * 10**-DIGITS
"""Two numbers rounded to so many digits may lie so far apart, and still be the same one."""
UNTOLD = frozenset({"embedding", "counted"})
"""Vectors, and words that are only compared: what they are good for shows in the scores."""
PRINTED = frozenset({"explain", "left_out"})
"""Texts in which numbers are printed: they are compared as numbers, to the digits that they have."""
SHOWN = 25
"""Differences told."""

_PRINTED = re.compile(r"[-+]?\d+\.\d+")
_OWN_ID = re.compile(r"\b([a-z])[0-9a-hjkmnp-tv-z]{24}\b")
_HASH = re.compile(r"\b(?:[0-9a-f]{63,64}|[0-9a-f]{40}|[0-9a-f]{32})\b")
_NONCE = re.compile(r"ember-memory [0-9a-f]{16}-[0-9a-f]{24}")


def plain(value: Any) -> Any:
    """A record as its fields, times in ISO 8601, numbers rounded."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0  # no -0.0
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.name not in UNTOLD}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(one) for one in value), key=repr)
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    raise TypeError(f"{type(value).__name__} has no plain form")


class Names:
    """Ids and hashes that chance made, named by the order in which they appear."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def of(self, value: Any) -> Any:
        """Plain data with these names in it."""
        if isinstance(value, str):
            text = _NONCE.sub("ember-memory NONCE", value)
            text = _OWN_ID.sub(lambda found: self._name(found[0], found[1]), text)
            return _HASH.sub(lambda found: self._name(found[0], "hash"), text)
        if isinstance(value, Mapping):
            return {self.of(key): self.of(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.of(one) for one in value]
        return value

    def _name(self, found: str, kind: str) -> str:
        return self._names.setdefault(found, f"{kind}#{len(self._names) + 1}")


def differences(expected: Any, found: Any, tolerance: float = EXACT) -> list[str]:
    """What differs, a line or a block each: where it is, what was expected, what was found. Empty: nothing."""
    return list(_differences(expected, found, "", tolerance))


def assert_same(expected: Any, found: Any, tolerance: float = EXACT, *, advice: str) -> None:
    """Raises AssertionError that tells the first differences, and what to do."""
    told = differences(expected, found, tolerance)
    if told:
        more = [f"… and {len(told) - SHOWN} more"] * (len(told) > SHOWN)
        raise AssertionError("\n".join([f"{len(told)} differences ({advice}):", *told[:SHOWN], *more]))


def _differences(expected: Any, found: Any, where: str, tolerance: float) -> Iterator[str]:
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for key in sorted({*expected, *found}):
            place = f"{where}.{key}" if where else key
            if key not in found:
                yield f"{place}: is missing; it was {_short(expected[key])}"
            elif key not in expected:
                yield f"{place}: is new: {_short(found[key])}"
            elif key in PRINTED:
                yield from _printed(expected[key], found[key], place, tolerance)
            else:
                yield from _differences(expected[key], found[key], place, tolerance)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{where}: {len(expected)} were expected, {len(found)} found"
        for n, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from _differences(one, other, f"{where}[{n}]", tolerance)
        for one in expected[len(found) :]:
            yield f"{where}: missing at its end: {_short(one)}"
        for one in found[len(expected) :]:
            yield f"{where}: new at its end: {_short(one)}"
    elif not _same(expected, found, tolerance):
        yield from _told(expected, found, where)


def _same(expected: Any, found: Any, tolerance: float) -> bool:
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)):
        whole = isinstance(expected, int) and isinstance(found, int)
        return expected == found if whole else math.isclose(expected, found, rel_tol=tolerance, abs_tol=tolerance)
    return bool(expected == found)


def _printed(expected: Any, found: Any, where: str, tolerance: float) -> Iterator[str]:
    """Texts, or lists of them, whose numbers may differ in the last digit that is printed."""
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for n, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _printed(one, other, f"{where}[{n}]", tolerance)
    elif not (isinstance(expected, str) and isinstance(found, str)):
        yield from _differences(expected, found, where, tolerance)
    elif not _print_the_same(expected, found, tolerance):
        yield from _told(expected, found, where)


def _print_the_same(expected: str, found: str, tolerance: float) -> bool:
    numbers = zip(_PRINTED.findall(expected), _PRINTED.findall(found), strict=False)
    return _PRINTED.sub("0.0", expected) == _PRINTED.sub("0.0", found) and all(
        abs(float(one) - float(other)) <= max(tolerance, 1.01 * 10.0 ** -len(one.partition(".")[2]))
        for one, other in numbers
    )


def _told(expected: Any, found: Any, where: str) -> Iterator[str]:
    if isinstance(expected, str) and isinstance(found, str) and "\n" in expected + found:
        lines = difflib.unified_diff(expected.split("\n"), found.split("\n"), "expected", "found", lineterm="", n=1)
        yield "\n".join([f"{where}:", *(f"    {line}" for line in lines)])
    else:
        yield f"{where}: expected {_short(expected)}, found {_short(found)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:299]}…"
