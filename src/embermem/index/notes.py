"""What was worked out of single rows of a log. Their texts never change, so that the next query need not look again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

__all__ = ["Notes"]

_KINDS, _ROWS, _TEXTS = 16, 20_000, 2048
"""Kinds that are kept, and rows of each, at most, of kinds of texts fewer; what grows above that begins anew."""
_NOTE_BYTES, _TEXT_BYTES = 120, 800
"""Estimated bytes of one note: a dict's entry, its key, and a small value; and of one that holds the row's text."""


class Notes:
    """By kind and row. What is noted depends on nothing but the kind and the row's utterance and passage. Safe to use
    from several threads: the same is worked out twice at worst."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, tuple[dict[int, Any], bool]] = {}

    def of(self, kind: Hashable, *, texts: bool = False) -> dict[int, Any]:
        """The notes of a kind, to be read and added to by row. Ask again for each query: a full one is begun anew.
        `texts`: they hold the rows' texts, and fewer are kept."""
        found, _ = self._kinds.get(kind, (None, texts))
        if found is None or len(found) > (_TEXTS if texts else _ROWS):
            if len(self._kinds) >= _KINDS:
                self._kinds = {}
            found = {}
            self._kinds[kind] = found, texts
        return found

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        held = tuple(self._kinds.values())
        return sum(len(notes) * (_TEXT_BYTES if texts else _NOTE_BYTES) for notes, texts in held)
