"""What callers give to public methods, checked against the methods' own signatures before anything is done.

`checked` is put on a class. The annotation of each parameter names how it is checked; one that is not known here fails
when the module is imported. What a value says (a range, a time, a name) is checked where it is read.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from embermem.core import messages
from embermem.core.errors import InputError
from embermem.core.types import Forgotten, Hit, Owner, Scope, Segment
from embermem.protocols import Grant

__all__ = ["checked"]

_Class = TypeVar("_Class")
_Check = Callable[[Any, str], Any]
"""Of a value and its name: gives the value to go on with. Raises _Wrong, or InputError that says all."""


class _Wrong(Exception):
    """What is taken in place of this value; and, where it is not the value itself, what is of another type."""

    def __init__(self, taken: str, found: str | None = None) -> None:
        super().__init__(taken)
        self.taken, self.found = taken, found


def checked(kind: type[_Class]) -> type[_Class]:
    """The class, whose `__init__` and public methods raise InputError for an argument of another type than they name.

    Coroutines are left as they are: they hand their arguments on to methods that are checked.
    """
    for name, method in list(vars(kind).items()):
        public = not name.startswith("_") or name == "__init__"
        if public and inspect.isfunction(method) and not inspect.iscoroutinefunction(method):
            setattr(kind, name, _checking(method, kind.__name__ if name == "__init__" else name))
    return kind


def _checking(method: Callable[..., Any], called: str) -> Callable[..., Any]:
    passed = _passing(list(inspect.signature(method).parameters.values())[1:], called)

    @wraps(method)
    def checking(self: Any, /, *given: Any, **named: Any) -> Any:
        given, named = passed(given, named)
        return method(self, *given, **named)

    return checking


def _passing(
    parameters: list[inspect.Parameter], called: str
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]]:
    """What checks the arguments of a call."""
    checks = {one.name: _CHECKS[one.annotation] for one in parameters}
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    rest = next((checks[one.name] for one in parameters if one.kind is one.VAR_KEYWORD), _anything)
    more = [one.name for one in parameters if one.kind is one.VAR_POSITIONAL]

    def passed(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        names = places if len(given) <= len(places) else places + more * (len(given) - len(places))
        if len(names) >= len(given):  # else the call itself is wrong, which Python says
            given = tuple(_passed(checks[name], one, name, called) for name, one in zip(names, given, strict=False))
        named = {name: _passed(checks.get(name, rest), one, name, called) for name, one in named.items()}
        return given, named

    return passed


def _passed(check: _Check, value: Any, name: str, called: str) -> Any:
    try:
        return check(value, name)
    except _Wrong as wrong:
        found = wrong.found or f"is {type(value).__name__}"
        raise InputError(f"{name} {found}; {called}() takes {wrong.taken}") from None


# ------------------------------------------------------------------------------------------------------- the checks


def _anything(value: Any, name: str) -> Any:
    """Checked where it is read, with words of its own."""
    return value


def _one_of(what: str, *kinds: type, none: bool = False) -> _Check:
    """One of some types; a truth value is no number."""

    def check(value: Any, name: str) -> Any:
        fits = isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds)
        if not fits and not (none and value is None):
            raise _Wrong(f"{what}, or None" if none else what)
        return messages.checked(value, name, sys.maxsize) if isinstance(value, str) else value

    return check


def _function(what: str, *, none: bool) -> _Check:
    def check(value: Any, name: str) -> Any:
        if not callable(value) and not (none and value is None):
            raise _Wrong(what, f"is {type(value).__name__}, which cannot be called")
        return value

    return check


def _many(what: str, kind: type | tuple[type, ...], of: Any = Iterable, *, none: bool = False) -> _Check:
    """Several of a type, as a tuple. A text is not several texts."""

    def check(value: Any, name: str) -> Any:
        if none and value is None:
            return None
        if not isinstance(value, of) or isinstance(value, (str, bytes)):
            raise _Wrong(f"{what}, or None" if none else what)
        found: tuple[object, ...] = tuple(value)
        for place, one in enumerate(found):
            if not isinstance(one, kind):
                raise _Wrong(what, f"holds {type(one).__name__} at {place}")
            if isinstance(one, str):
                messages.checked(one, f"{name}[{place}]", sys.maxsize)
        return found

    return check


def _text_or_many(what: str) -> _Check:
    """A text, or several of them as a tuple."""
    one, many = _one_of(what, str, none=True), _many(what, str)

    def check(value: Any, name: str) -> Any:
        return one(value, name) if value is None or isinstance(value, str) else many(value, name)

    return check


def _moment(value: Any, name: str) -> Any:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise _Wrong("a datetime with a zone")
    return value


def _model(value: Any, name: str) -> Any:
    if value is not None and not isinstance(value, str) and not callable(getattr(value, "complete", None)):
        raise _Wrong("the name of a model, a LanguageModel, or None")
    return value


def _scope(value: Any, name: str) -> Any:
    if value is None:
        return None
    if not isinstance(value, Scope):
        raise _Wrong("a Scope such as Scope(threads=['s1']), or None")
    return value


def _fields(value: Any, name: str) -> Any:
    """Lines of a profile by their names."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise _Wrong("a mapping such as {'name': 'Alice'}, or None")
    for field in value:
        if not isinstance(field, str):
            raise _Wrong("texts such as 'birth_year' as names", f"has a name that is {type(field).__name__}")
    return {field: _field(one, f"{name}.{field}") for field, one in value.items()}


_field = _one_of("a text, a number, a date, True or False", str, int, float, bool, date, none=True)
_text = _one_of("a text", str)
_text_or_none = _one_of("a text", str, none=True)
_number = _one_of("a whole number", int)
_number_or_none = _one_of("a whole number", int, none=True)
_time = "a datetime, a date or an ISO 8601 text"

_CHECKS: Mapping[str, _Check] = {
    "str": _text,
    "str | None": _text_or_none,
    "Preset | None": _text_or_none,
    "Mode": _text,
    "Tier | str | None": _text_or_none,
    "Cause | str | None": _text_or_none,
    "OwnerOrder | str": _text,
    "About | str | None": _text_or_none,
    "FactStatus | str | None": _text_or_none,
    "Origin | str | None": _text_or_none,
    "UtteranceOrigin | str | None": _text_or_none,
    "str | int | None": _one_of("a text or a whole number", str, int, none=True),
    "FieldValue | None": _field,
    "int": _number,
    "int | None": _number_or_none,
    "bool | None": _one_of("True or False", bool, none=True),
    "float": _one_of("a number", int, float),
    "float | None": _one_of("a number of seconds", int, float, none=True),
    "bool": _one_of("True or False", bool),
    "At": _one_of(_time, str, date, none=True),
    "int | At": _one_of(f"a change's number, {_time}", int, str, date, none=True),
    "Expiry": _one_of(f"{_time}, a timedelta from now", str, date, timedelta, none=True),
    "datetime": _moment,
    "str | bytes | Path": _one_of("a text, a Path, or the bytes of a file", str, bytes, Path),
    "str | Path": _one_of("a path or an URL", str, Path),
    "str | Path | None": _one_of("a path", str, Path, none=True),
    "Owner": _one_of("an Owner", Owner),
    "Owner | None": _one_of("an Owner", Owner, none=True),
    "Segment": _one_of("a Segment, as `segments` gives them", Segment),
    "Forgotten | str": _one_of("the receipt of a forgetting, or its JSON", Forgotten, str),
    "Scope | None": _scope,
    "Iterable[str]": _many("several ids, such as a list", str),
    "str | Iterable[str] | None": _text_or_many("a text, or several"),
    "Iterable[int]": _many("several whole numbers, such as a list", int),
    "Iterable[str] | None": _many("several names, such as a list", str, none=True),
    "Iterable[Hit]": _many("hits such as those of context.packed", Hit),
    "Sequence[At]": _many("a list of times", (str, date), Sequence),
    "Sequence[str]": _many("a list of texts", str, Sequence),
    "Sequence[Grant] | None": _many("a list of grants, as a key has them", Grant, Sequence, none=True),
    "Sequence[str] | None": _many("a list of texts", str, Sequence, none=True),
    "Mapping[str, FieldValue | None] | None": _fields,
    "Mapping[str, Any] | None": _anything,
    "Mapping[str, object] | None": _one_of("a mapping of names and values", Mapping, none=True),
    "Callable[[], bool]": _function("a function without arguments", none=False),
    "Callable[[], datetime] | None": _function("a function that says the time, or None", none=True),
    "Callable[[int, int], None] | None": _function("a function of two numbers, or None", none=True),
    "Callable[[str, int, int], None] | None": _function("a function of a step and two numbers, or None", none=True),
    "Callable[[Owner], None] | None": _function("a function of an owner, or None", none=True),
    "str | LanguageModel | None": _model,
    "Finder | None": _function("a function that finds what is sensitive, or None", none=True),
    **dict.fromkeys(
        (
            "Sequence[Mapping[str, Any]]",
            "Context | Iterable[Hit]",
            "str | LanguageModel | None",
        ),
        _anything,
    ),
    **dict.fromkeys(("Any", "object", "Mapping[str, object]", "Settings", "Memory"), _anything),
    **dict.fromkeys(("_Threads", "OwnerMemory", "Callable[[], object] | None"), _anything),
}
"""By the annotations of all public methods, as they are written."""
