"""What a handle reads that is bound with others: its own memory, what another agent knows of the user, and each space,
each asked by itself, and merged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import tzinfo
from typing import TYPE_CHECKING

from embermem.core.errors import NotFound
from embermem.core.types import Context, Scope
from embermem.owner_memory.handle import Parts

if TYPE_CHECKING:
    from embermem.memoryos.recall.elsewhere import Elsewhere

__all__ = ["Ask", "of_others", "of_user", "together"]

Ask = Callable[[int], Context]
"""What a memory tells within so many tokens."""


def together(parts: Parts, asks: Mapping[str | None, Ask], budget: int, *, limited: bool = True) -> Context:
    """The contexts of the own memory (None) and of others by their names as one, within the budget unless it is not
    `limited`. Raises NotFound where none of them knows what is asked of."""
    from embermem.index.tokens import counter
    from embermem.memoryos.recall.merging import packed_together

    strangers: set[str | None] = set()

    def asked(name: str | None) -> Ask:
        def ask(room: int) -> Context:
            try:
                return asks[name](room)
            except NotFound:
                strangers.add(name)
                if len(strangers) == len(asks):
                    raise
                return _nothing(parts)

        return ask

    settings = parts.settings
    by_name = {name: asked(name) for name in asks}
    return packed_together(by_name, budget, counter(settings.token_counter), hits=settings.hits, limited=limited)


def of_user(parts: Parts, known: Elsewhere) -> Ask:
    """What is told of what another agent knows of the user."""
    from embermem.index.tokens import counter
    from embermem.memoryos.recall.elsewhere import context_of

    return lambda room: context_of(known, _nothing(parts), room, counter(parts.settings.token_counter))


def of_others(scope: Scope | None, zone: tzinfo) -> Scope | None:
    """What a scope means for other memories: its times are of this one's zone, and their numbers are their own."""
    return None if scope is None else replace(scope.in_zone(zone), before_seq=None)


def _nothing(parts: Parts) -> Context:
    from embermem.memoryos.recall.merging import telling_nothing

    return telling_nothing("", parts.settings.preset, parts.settings.token_counter)
