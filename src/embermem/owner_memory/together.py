"""What a handle that is bound with shared spaces reads: its own memory and each space, asked by itself, and merged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from embermem.core.types import Context
from embermem.owner_memory.handle import Parts

if TYPE_CHECKING:
    from embermem.protocols import Scope

__all__ = ["of_others", "together"]


def together(
    parts: Parts,
    own: Callable[[int], Context],
    shared: Mapping[str, Any],
    theirs: Callable[[Any, int], Context],
    budget: int,
    *,
    limited: bool = True,
) -> Context:
    """The own context and those of the spaces as one, within the budget unless it is not `limited`."""
    from embermem.index.tokens import counter
    from embermem.memoryos.recall.merging import packed_together

    return packed_together(
        lambda name, tokens: own(tokens) if name is None else theirs(shared[name], tokens),
        tuple(shared),
        budget,
        counter(parts.settings.token_counter),
        hits=parts.settings.hits,
        limited=limited,
    )


def of_others(scope: Scope | None) -> Scope | None:
    """What a scope means for other memories: their numbers are their own."""
    return None if scope is None else replace(scope, before_seq=None)
