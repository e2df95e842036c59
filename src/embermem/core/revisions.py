"""Writes of which another may come first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

from embermem.core.errors import RevisionMoved

_Result = TypeVar("_Result")
_TRIES = 3
"""How often a step is taken before others are held off."""


def decided_anew(step: Callable[[], _Result], alone: Callable[[], AbstractContextManager[None]]) -> _Result:
    """What a step gives that reads, decides and writes; it is taken again while another write came first. Where others
    write all the time, it is taken `alone`. Raises what the step raises."""
    for _ in range(_TRIES):
        with suppress(RevisionMoved):
            return step()
    with alone():
        return step()
