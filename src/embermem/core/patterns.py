"""Regular expressions that are compiled when they are first used.

A process that answers one question needs a tenth of the patterns by which texts are read, and compiling all of them
took longer than the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

__all__ = ["regex"]

_PARTS = (
    "search",
    "match",
    "fullmatch",
    "findall",
    "finditer",
    "sub",
    "subn",
    "split",
    "pattern",
    "flags",
    "groups",
    "groupindex",
)
"""What a compiled pattern has."""


def regex(text: str | Callable[[], str], flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """The pattern of a text, or of what a function gives when it is first used. An invalid one raises re.error then."""
    return cast("re.Pattern[str]", _Later(text, flags))


class _Later:
    """Stands in for a compiled pattern; after the first use its methods are those of the pattern themselves."""

    def __init__(self, text: str | Callable[[], str], flags: int | re.RegexFlag) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _PARTS:
            raise AttributeError(name)
        compiled = re.compile(self._text if isinstance(self._text, str) else self._text(), self._flags)
        vars(self).update((part, getattr(compiled, part)) for part in _PARTS)
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"regex({self.pattern!r})"
