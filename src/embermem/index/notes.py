"""What was worked out of single rows of a log. Their texts never change, so that the next query need not look again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

__all__ = ["Notes"]

_KINDS, _ROWS = 16, 20_000
"""Kinds that are kept, and rows of each, at most; what grows above that begins anew."""
_NOTE_BYTES = 120
"""Estimated bytes of one note: a dict's entry, its key, and a small value."""


class Notes:
    """By kind and row. What is noted depends on nothing but the kind and the row's utterance and passage. Safe to use
    from several threads: the same is worked out twice at worst."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, dict[int, Any]] = {}

    def of(self, kind: Hashable) -> dict[int, Any]:
        """The notes of a kind, to be read and added to by row. Ask again for each query: a full one is begun anew."""
        found = self._kinds.get(kind)
        if found is None or len(found) > _ROWS:
            if len(self._kinds) >= _KINDS:
                self._kinds = {}
            found = self._kinds[kind] = {}
        return found

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        return _NOTE_BYTES * sum(len(notes) for notes in tuple(self._kinds.values()))
