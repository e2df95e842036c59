"""Every dataclass and enum that a caller can be given by the public face, or gives to it, and one made up of each.

They are found by the annotations of the public methods, and by those of their own fields, so that a new one is found
by itself.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import sys
import types
import typing
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, get_args, get_origin

from embermem import AsyncMemory, AsyncOwnerMemory, Memory, OwnerMemory, Scope
from embermem.aio import AsyncChatStream
from embermem.chat import ChatReply
from embermem.client import AsyncClient, AsyncOwnerClient, Client, OwnerClient
from embermem.core.types import Explanation
from embermem.protocols import ApiKey

FACES = (
    *(Memory, OwnerMemory, AsyncMemory, AsyncOwnerMemory, AsyncChatStream),
    *(Client, OwnerClient, AsyncClient, AsyncOwnerClient),
)
HOSTILE = "<script>alert('x')</script>\x00\x1b[31m\u202e & \"so\"\n" + "long " * 60
_WHEN = datetime(2026, 5, 2, 10, 30, tzinfo=UTC)
_DEEP = 3


@cache
def found() -> frozenset[type[Any]]:
    """All of them."""
    seen: set[type[Any]] = set()
    for face in FACES:
        for name in dir(face):
            method = inspect.getattr_static(face, name)
            method = method.fget if isinstance(method, property) else method
            if not name.startswith("_") and callable(method):
                for hint in _hints(inspect.unwrap(method)).values():
                    _add(hint, seen)
    for kind in (Explanation, ApiKey, ChatReply):  # of a context's method, of `Memory.keys`, of a stream
        _add(kind, seen)
    return frozenset(seen)


def records() -> list[type[Any]]:
    """The dataclasses, by their names."""
    return sorted((one for one in found() if dataclasses.is_dataclass(one)), key=lambda one: one.__name__)


def enums() -> list[type[enum.Enum]]:
    """The enums, by their names."""
    return sorted((one for one in found() if issubclass(one, enum.Enum)), key=lambda one: one.__name__)


def made_up(kind: Any, text: str = "a text", depth: int = 0) -> Any:
    """One of a type, every field of which is filled."""
    if kind is Scope:
        return Scope(threads=["s1"], metadata={"n": 1}, since="2026-05-01")
    base, parts = get_origin(kind), get_args(kind)
    simple = {str: text, int: 3, float: 0.25, bool: True, datetime: _WHEN, date: _WHEN.date(), object: text}
    if kind in simple:
        return simple[kind]
    if isinstance(kind, typing.NewType):
        return made_up(kind.__supertype__, text, depth)
    if base is typing.Literal:
        return parts[0]
    if base is typing.Annotated and parts[0] is not Any:
        return made_up(parts[0], text, depth)
    if base is typing.Annotated or kind in (Any, type(None)):
        return None
    if base in (types.UnionType, typing.Union):
        return made_up(next(one for one in parts if one is not type(None)), text, depth)
    if base is tuple:
        kinds = parts[:1] if parts[1:] == (...,) else parts
        return () if depth > _DEEP else tuple(made_up(one, text, depth) for one in kinds)
    if isinstance(base, type) and issubclass(base, Mapping):
        return {} if depth > _DEEP else {"a": made_up(parts[1], text, depth)}
    if issubclass(kind, enum.Enum):
        return next(iter(kind))
    hints = _hints(kind)
    named = [one for one in dataclasses.fields(kind) if one.init]
    return kind(**{one.name: made_up(hints[one.name], text, depth + 1) for one in named})


def _add(hint: Any, seen: set[type[Any]]) -> None:
    ours = isinstance(hint, type) and hint.__module__.startswith("embermem.") and hint not in seen
    if ours and (dataclasses.is_dataclass(hint) or issubclass(hint, enum.Enum)):
        seen.add(hint)
        for one in _hints(hint).values() if dataclasses.is_dataclass(hint) else ():  # type: ignore[arg-type]
            _add(one, seen)
    for part in get_args(hint):
        _add(part, seen)


@cache
def _hints(of: Any) -> dict[str, Any]:
    module = sys.modules[of.__module__]
    known = _for_type_checkers(module)
    if isinstance(of, type):  # whose bases may stand in other modules
        return typing.get_type_hints(of, None, known, include_extras=True)
    return typing.get_type_hints(of, {**vars(module), **known}, include_extras=True)


@cache
def _for_type_checkers(module: types.ModuleType) -> dict[str, Any]:
    """What a module imports for its annotations alone."""
    names: dict[str, Any] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            imports: list[ast.stmt] = [one for one in node.body if isinstance(one, (ast.Import, ast.ImportFrom))]
            exec(compile(ast.Module(body=imports, type_ignores=[]), module.__name__, "exec"), names)
    return names
