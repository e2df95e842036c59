"""The statements that a store sends, each named after the function that sends it: `pages.Pages.pages`.

`names` lists them, `sent` records them, and `SqlStore.explain` reads the engine's plan of one. The check of all
statements (tests/store/test_statements.py) and the search for a slow one use the same names.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from sqlalchemy import Engine, event

import embermem.store

_STORE = Path(embermem.store.__file__).parent
_APART = ("engines", "migrations")
"""Folders of the store whose statements are about a database, not about what is kept in it."""
_SENDING = frozenset({"execute", "scalar", "scalars", "begin_nested"})
_INNER = re.compile(r"\.<\w+>")
"""What Python puts into the name of a function within another, and of a comprehension."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A statement as it was sent: its name, the kind of engine, its text, its parameters as the driver takes them, and
    what SQLAlchemy made it of and with which `values` (None where it was sent as text). `through` are the functions of
    the store that led to it, the outermost first. It quotes what it was sent with."""

    name: str
    engine: str
    text: str
    parameters: Any = field(repr=False)
    compiled: Any = field(repr=False)
    values: tuple[Mapping[str, Any], ...] = field(repr=False)
    through: tuple[str, ...] = field(repr=False)


@cache
def names() -> frozenset[str]:
    """The names of all statements: every function of the store that sends one, as module and function."""
    return frozenset(name for file in _files() for name in _sending(ast.parse(file.read_text("utf-8")), file.stem))


@contextmanager
def sent() -> Iterator[list[Statement]]:
    """Every statement that stores of this process send meanwhile, but for those about a database itself."""
    heard: list[Statement] = []

    def hear(connection: Any, cursor: Any, text: str, parameters: Any, context: Any, many: bool) -> None:
        through = _functions(sys._getframe(1))
        if through:
            compiled = getattr(context, "compiled", None)
            heard.append(
                Statement(
                    name=through[-1],
                    engine=connection.engine.name,
                    text=text,
                    parameters=parameters[0] if many and parameters else parameters,
                    compiled=compiled,
                    values=() if compiled is None else tuple(context.compiled_parameters),
                    through=tuple(through),
                )
            )

    event.listen(Engine, "before_cursor_execute", hear)
    try:
        yield heard
    finally:
        event.remove(Engine, "before_cursor_execute", hear)


def _files() -> Iterator[Path]:
    for file in sorted(_STORE.rglob("*.py")):
        if file.relative_to(_STORE).parts[0] not in _APART:
            yield file


def _sending(node: ast.AST, name: str) -> Iterator[str]:
    """The functions below a node that send statements themselves, by their names."""
    for child in ast.iter_child_nodes(node):
        inner = name
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            inner = f"{name}.{child.name}"
        elif isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr in _SENDING:
            yield name
        yield from _sending(child, inner)


def _functions(frame: FrameType | None) -> list[str]:
    """The functions of the store that a frame is within, the outermost first; none where an engine's is within them."""
    found: list[str] = []
    while frame is not None:
        module, apart = _module(frame.f_code.co_filename)
        if module:
            if not found and apart:
                return []
            found.append(f"{module}.{_INNER.sub('', frame.f_code.co_qualname)}")
        frame = frame.f_back
    return found[::-1]


@cache
def _module(filename: str) -> tuple[str, bool]:
    """The name of a module of the store that sends statements, and whether these are about a database; or nothing."""
    file = Path(filename)
    if _STORE not in file.parents or file.stem == "transactions":
        return "", False
    return file.stem, file.relative_to(_STORE).parts[0] in _APART
