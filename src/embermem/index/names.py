"""Names of threads and of those who spoke, by number."""

from __future__ import annotations

from collections.abc import Mapping

from embermem.index.growable_array import Column, Columns
from embermem.index.said import Blob

__all__ = ["Names"]

_NAME_BYTES = 200
"""Estimated bytes of a name that is held as text: the text, and an entry of a dict."""


class Names(Columns):
    """Names that are numbered from 0 as they come. One writer, many readers."""

    def __init__(self) -> None:
        self.encoded = Blob()
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a name, which gets the next one if it has none."""
        number = self._numbers.setdefault(name, len(self.all))
        if number == len(self.all):
            self.all.append(name)
            self.encoded.extend_texts([name])
        return number

    def find(self, name: str) -> int | None:
        """The number of a name; None for one that is not held."""
        return self._numbers.get(name)

    def adopt(self, columns: Mapping[str, Column]) -> None:
        """As `Columns.adopt`."""
        super().adopt(columns)
        self.all = self.encoded.texts()
        self._numbers = {name: number for number, name in enumerate(self.all)}

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        return super().nbytes + _NAME_BYTES * len(self.all)
