"""Versions of items: what held from which change to which."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Version", "Versions"]

K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True)
class Version(Generic[V]):
    """A value, and the numbers of the changes that began and ended it; `ended` is None while it stands."""

    began: int
    ended: int | None
    value: V

    def stands(self, no: int) -> bool:
        """Whether it holds after change `no`."""
        return self.began <= no and (self.ended is None or self.ended > no)


class Versions(Generic[K, V]):
    """The versions of each item of one kind, by the item's key, in order. At most one of an item stands at a time, and
    a change sets one version of it at most: its last word."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        self._of: dict[K, list[Version[V]]] = {}

    def __iter__(self) -> Iterator[K]:
        return iter(self._of)

    def set(self, key: K, no: int, value: V) -> None:
        """Begin a version with change `no`; the one that stood ends with it."""
        versions = self._of.setdefault(key, [])
        if versions and versions[-1].began == no:
            versions.pop()
        elif versions and versions[-1].ended is None:
            versions[-1].ended = no
        versions.append(Version(no, None, value))

    def end(self, key: K, no: int) -> None:
        """End the version that stands with change `no`; nothing where none does."""
        versions = self._of.get(key)
        if versions and versions[-1].ended is None:
            versions[-1].ended = no

    def of(self, key: K) -> Sequence[Version[V]]:
        """All versions of an item, oldest first."""
        return self._of.get(key, ())

    def get(self, key: K, no: int) -> V | None:
        """What holds of an item after change `no`; None where nothing does."""
        versions = self._of.get(key, ())
        place = bisect_right(versions, no, key=lambda one: one.began) - 1
        return versions[place].value if place >= 0 and versions[place].stands(no) else None

    def at(self, no: int) -> Iterator[tuple[K, V]]:
        """What holds after change `no`, each with its key, in the order in which the items first came."""
        for key in self._of:
            if (value := self.get(key, no)) is not None:
                yield key, value
