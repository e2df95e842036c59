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

from embermem import messages
from embermem.errors import InputError
from embermem.protocols import Scope
from embermem.types import Forgotten, Hit, Owner, Segment

__all__ = ["checked"]

_Class = TypeVar("_Class")
_Check = Callable[[Any], Any]
"""Gives the value to go on with, or raises _Wrong that says what to give."""


class _Wrong(Exception):
    """A value of another type; what to give in its place."""


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
    parameters = list(inspect.signature(method).parameters.values())[1:]
    checks = {one.name: _CHECKS[one.annotation] for one in parameters}
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    rest = next((checks[one.name] for one in parameters if one.kind is one.VAR_KEYWORD), _anything)
    more = [one.name for one in parameters if one.kind is one.VAR_POSITIONAL]

    @wraps(method)
    def checking(self: Any, /, *given: Any, **named: Any) -> Any:
        names = places if len(given) <= len(places) else places + more * (len(given) - len(places))
        if len(names) >= len(given):  # else the call itself is wrong, which Python says
            given = tuple(_passed(checks[name], one, name, called) for name, one in zip(names, given, strict=False))
        named = {name: _passed(checks.get(name, rest), one, name, called) for name, one in named.items()}
        return method(self, *given, **named)

    return checking


def _passed(check: _Check, value: Any, name: str, called: str) -> Any:
    try:
        return check(value)
    except _Wrong as wrong:
        raise InputError(f"{name} of {called}() is {type(value).__name__}; give {wrong}") from None
    except InputError as error:
        raise InputError(f"{name} of {called}(): {error}") from error


# ------------------------------------------------------------------------------------------------------- the checks


def _anything(value: Any) -> Any:
    """Checked where it is read, with words of its own."""
    return value


def _one_of(what: str, *kinds: type, none: bool = False) -> _Check:
    """One of some types; a truth value is no number."""

    def check(value: Any) -> Any:
        fits = isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds)
        if not fits and not (none and value is None):
            raise _Wrong(f"{what}, or None" if none else what)
        return messages.checked(value, "it", sys.maxsize) if isinstance(value, str) else value

    return check


def _function(what: str, *, none: bool) -> _Check:
    def check(value: Any) -> Any:
        if not callable(value) and not (none and value is None):
            raise _Wrong(what)
        return value

    return check


def _many(what: str, kind: type, of: Any = Iterable) -> _Check:
    """Several of a type, as a tuple. A text is not several texts."""

    def check(value: Any) -> Any:
        if not isinstance(value, of) or isinstance(value, (str, bytes)):
            raise _Wrong(what)
        found: tuple[object, ...] = tuple(value)
        for place, one in enumerate(found):
            if not isinstance(one, kind):
                raise InputError(f"it holds {type(one).__name__} at {place}; give {what}")
            if isinstance(one, str):
                messages.checked(one, f"the text at {place}", sys.maxsize)
        return found

    return check


def _moment(value: Any) -> Any:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise _Wrong("a datetime with a zone")
    return value


def _model(value: Any) -> Any:
    if value is not None and not isinstance(value, str) and not callable(getattr(value, "complete", None)):
        raise _Wrong("the name of a model, a LanguageModel, or None")
    return value


def _scope(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, Scope):
        raise _Wrong("a Scope such as Scope(before_seq=12), or None")
    if value.before_seq is not None:
        messages.whole(value.before_seq, "its before_seq", 0)
    if not isinstance(value.not_threads, (frozenset, set)) or not all(isinstance(o, str) for o in value.not_threads):
        raise InputError("its not_threads is not a set of threads' names; give one such as frozenset({'s1'})")
    for thread in value.not_threads:
        messages.checked(thread, "a name in its not_threads", sys.maxsize)
    return value


def _fields(value: Any) -> Any:
    """Lines of a profile by their names."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise _Wrong("a mapping such as {'name': 'Alice'}, or None")
    for name in value:
        if not isinstance(name, str):
            raise InputError(f"it has a name of type {type(name).__name__}; give texts such as 'birth_year'")
    return {name: _field(one) for name, one in value.items()}


_field = _one_of("a text or a whole number", str, int, none=True)
_text = _one_of("a text", str)
_text_or_none = _one_of("a text", str, none=True)
_number = _one_of("a whole number", int)
_number_or_none = _one_of("a whole number", int, none=True)
_time = "a datetime, a date or an ISO 8601 text"

_CHECKS: Mapping[str, _Check] = {
    "str": _text,
    "str | None": _text_or_none,
    "Preset | None": _text_or_none,
    "Tier | str | None": _text_or_none,
    "Cause | str | None": _text_or_none,
    "About | str | None": _text_or_none,
    "str | int | None": _field,
    "int": _number,
    "int | None": _number_or_none,
    "float | None": _one_of("a number of seconds", int, float, none=True),
    "bool": _one_of("True or False", bool),
    "At": _one_of(_time, str, date, none=True),
    "int | At": _one_of(f"a change's number, {_time}", int, str, date, none=True),
    "Expiry": _one_of(f"{_time}, a timedelta from now", str, date, timedelta, none=True),
    "datetime": _moment,
    "str | Path": _one_of("a path or an URL", str, Path),
    "str | Path | None": _one_of("a path", str, Path, none=True),
    "Owner": _one_of("an Owner", Owner),
    "Owner | None": _one_of("an Owner", Owner, none=True),
    "Segment": _one_of("a Segment, as `segments` gives them", Segment),
    "Forgotten | str": _one_of("the receipt of a forgetting, or its JSON", Forgotten, str),
    "Scope | None": _scope,
    "Iterable[str]": _many("several ids, such as a list", str),
    "Iterable[Hit]": _many("hits such as those of context.packed", Hit),
    "Sequence[str]": _many("a list of texts", str, Sequence),
    "Mapping[str, str | int | None] | None": _fields,
    "Callable[[], bool]": _function("a function without arguments", none=False),
    "Callable[[], datetime] | None": _function("a function that says the time, or None", none=True),
    "Callable[[int, int], None] | None": _function("a function of two numbers, or None", none=True),
    "Callable[[Owner], None] | None": _function("a function of an owner, or None", none=True),
    "str | LanguageModel | None": _model,
    "Finder | None": _function("a function that finds what is sensitive, or None", none=True),
    **dict.fromkeys(
        ("Sequence[Mapping[str, Any]]", "Context | Iterable[Hit]", "str | LanguageModel | None"), _anything
    ),
    **dict.fromkeys(("object", "Mapping[str, object]", "Settings", "Memory", "SystemMemory"), _anything),
    **dict.fromkeys(("_Threads", "OwnerMemory", "Callable[[], object] | None"), _anything),
}
"""By the annotations of all public methods, as they are written."""
