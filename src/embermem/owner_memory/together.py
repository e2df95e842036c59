"""What a handle that is bound with shared spaces reads: its own memory and each space, asked by itself, and merged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import tzinfo
from typing import Any

from embermem.core.errors import NotFound
from embermem.core.types import Context, Persona, Scope
from embermem.owner_memory.handle import Parts

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
    """The own context and those of the spaces as one, within the budget unless it is not `limited`. Raises NotFound
    where none of them knows what is asked of."""
    from embermem.index.tokens import counter
    from embermem.memoryos.recall.merging import packed_together

    tokens, settings = counter(parts.settings.token_counter), parts.settings
    strangers: set[str | None] = set()

    def ask(name: str | None, room: int) -> Context:
        try:
            return own(room) if name is None else theirs(shared[name], room)
        except NotFound:
            strangers.add(name)
            if len(strangers) > len(shared):
                raise
        return Context(
            text="",
            hits=(),
            packed=(),
            facts=(),
            persona=Persona(),
            tokens=0,
            counter=tokens.name,
            confidence=0.0,
            partial=False,
            query="",
            preset=settings.preset,
        )

    return packed_together(ask, tuple(shared), budget, tokens, hits=settings.hits, limited=limited)


def of_others(scope: Scope | None, zone: tzinfo) -> Scope | None:
    """What a scope means for other memories: its times are of this one's zone, and their numbers are their own."""
    return None if scope is None else replace(scope.in_zone(zone), before_seq=None)
