from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import embermem
from embermem.core.patterns import _Later, regex


def test_a_pattern_is_compiled_when_it_is_first_used() -> None:
    asked: list[str] = []

    def text() -> str:
        asked.append("now")
        return r"(?P<word>[a-z]+)!"

    pattern = regex(text, re.IGNORECASE)
    assert not asked
    assert pattern.findall("Stop! Go! on") == ["Stop", "Go"]
    assert pattern.sub(r"\g<word>.", "Go!") == "Go."
    assert [match["word"] for match in pattern.finditer("a! b!")] == ["a", "b"]
    assert (pattern.pattern, pattern.groups, bool(pattern.flags & re.IGNORECASE)) == (text(), 1, True)
    assert asked == ["now", "now"]  # one of them is of the line before


def test_an_invalid_pattern_is_told_when_it_is_first_used() -> None:
    pattern = regex("(")
    with pytest.raises(re.error):
        pattern.search("")
    assert not hasattr(pattern, "finds")


def test_every_pattern_of_ember_compiles() -> None:
    rooms = ("core", "languages", "analysts", "index", "memoryos", "prompts")
    names = [
        one.name
        for room in rooms
        for one in pkgutil.walk_packages([f"{embermem.__path__[0]}/{room}"], f"embermem.{room}.")
    ]
    found = {id(one): one for name in names for one in _patterns(vars(importlib.import_module(name)).values(), 0)}
    assert len([one.pattern for one in found.values()]) > 400


def _patterns(values: Any, depth: int) -> Iterator[_Later]:
    """The patterns in what a module has: its own, and those in its tables."""
    for value in list(values):
        if isinstance(value, _Later):
            yield value
        elif depth < 4 and isinstance(value, (tuple, list)):
            yield from _patterns(value, depth + 1)
        elif depth < 4 and isinstance(value, dict):
            yield from _patterns(value.values(), depth + 1)
        elif depth < 4 and is_dataclass(value) and not isinstance(value, type):
            yield from _patterns((getattr(value, one.name) for one in fields(value)), depth + 1)
