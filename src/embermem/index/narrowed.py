"""What a narrowed snapshot knows of the whole it was made of, and how many of them are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Rows = NDArray[np.int32]

__all__ = ["Narrowings", "Whole"]

_KEPT = 8
"""Of each snapshot, the narrowed ones that were asked for last."""

_Kept = TypeVar("_Kept")


class Narrowings(Generic[_Kept]):
    """Some things by what they were made for; those used last stay. Safe to call from several threads."""

    def __init__(self) -> None:
        self.made = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()

    def of(self, which: Hashable, make: Callable[[], _Kept]) -> _Kept:
        """The one that was made for it, else one made now."""
        with self._lock:
            if which in self._kept:
                self._kept.move_to_end(which)
                return self._kept[which]
        made = make()
        with self._lock:
            self.made += 1
            self._kept[which] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    def all(self) -> tuple[_Kept, ...]:
        """Those that are kept."""
        with self._lock:
            return tuple(self._kept.values())


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Of each page of a narrowed snapshot: whether some utterance of it was left out, and how many pages of the whole
    memory began after it (`Snapshot.newer_pages`)."""

    cut: Mask
    newer: Rows

    @classmethod
    def of(cls, before: Whole | None, here: Rows, cut: Mask, newer: Rows) -> Whole:
        """That of the pages `here` of a snapshot, of which those `cut` lose an utterance, and after which so many
        `newer` ones began; `before` is what it knows itself, if it was narrowed."""
        return cls(cut[here] if before is None else before.cut[here] | cut[here], newer[here])
