"""Versions of items: what held from which change to which."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

__all__ = ["Version", "Versions"]

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Version(Generic[V]):
    """A value, and the numbers of the changes that began and ended it; `ended` is None while it stands."""

    began: int
    ended: int | None
    value: V

    def stands(self, no: int) -> bool:
        """Whether it holds after change `no`."""
        return self.began <= no and (self.ended is None or self.ended > no)


def stood(versions: Sequence[Version[V]], no: int) -> Version[V] | None:
    """Of the versions of one item, oldest first, the one that holds after change `no`."""
    if versions and versions[-1].began <= no:  # the newest is asked for most
        return versions[-1] if versions[-1].stands(no) else None
    place = bisect_right(versions, no, key=lambda one: one.began) - 1
    return versions[place] if place >= 0 and versions[place].stands(no) else None


class Versions(Generic[K, V]):
    """The versions of each item of one kind, by the item's key, in order. At most one of an item stands at a time, and
    a change sets one version of it at most: its last word."""

    __slots__ = ("_of", "_own")

    def __init__(self) -> None:
        self._of: dict[K, list[Version[V]]] = {}
        self._own: set[K] = set()
        """The items whose versions no other has (`copy`)."""

    def __iter__(self) -> Iterator[K]:
        return iter(self._of)

    def set(self, key: K, no: int, value: V) -> None:
        """Begin a version with change `no`; the one that stood ends with it."""
        versions = self._owned(key)
        if versions and versions[-1].began == no:
            versions.pop()
        elif versions and versions[-1].ended is None:
            versions[-1] = replace(versions[-1], ended=no)
        versions.append(Version(no, None, value))

    def end(self, key: K, no: int) -> None:
        """End the version that stands with change `no`; nothing where none does."""
        if key in self._of and self._of[key][-1].ended is None:
            versions = self._owned(key)
            versions[-1] = replace(versions[-1], ended=no)

    def _owned(self, key: K) -> list[Version[V]]:
        if key not in self._own:
            self._own.add(key)
            self._of[key] = [*self._of.get(key, ())]
        return self._of[key]

    def of(self, key: K) -> Sequence[Version[V]]:
        """All versions of an item, oldest first."""
        return self._of.get(key, ())

    def get(self, key: K, no: int) -> V | None:
        """What holds of an item after change `no`; None where nothing does."""
        found = stood(self._of.get(key, ()), no)
        return None if found is None else found.value

    def at(self, no: int) -> Iterator[tuple[K, Version[V]]]:
        """The version of each item that holds after change `no`, with the item's key, in no order."""
        for key, versions in self._of.items():
            if (found := stood(versions, no)) is not None:
                yield key, found

    def copy(self) -> Versions[K, V]:
        """The same items. What is done to the copy this one does not see; it is not to be written to any more."""
        made: Versions[K, V] = Versions()
        made._of = dict(self._of)
        return made

    def put(self, key: K, versions: Sequence[Version[V]]) -> None:
        """Give an item these versions in place of its own; without any there is no such item."""
        self._own.add(key)
        if versions:
            self._of[key] = list(versions)
        else:
            self._of.pop(key, None)
