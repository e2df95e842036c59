"""Writes of which another may come first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from embermem.core.errors import RevisionMoved

_Result = TypeVar("_Result")


def decided_anew(tries: int, step: Callable[[], _Result]) -> _Result:
    """What a step gives that reads, decides and writes; it is taken again while another write came first, so many times
    in all. Raises RevisionMoved if others never leave room, and what the step raises."""
    for _ in range(tries - 1):
        with suppress(RevisionMoved):
            return step()
    return step()
