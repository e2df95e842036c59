"""A bounded cache: the values that were used last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Recent"]

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Recent(Generic[_Key, _Value]):
    """The values of the `limit` keys that were used last. Safe to call from several threads."""

    def __init__(self, limit: int) -> None:
        self.added = 0
        """How often a value was put here."""
        self._limit = limit
        self._lock = threading.Lock()
        self._values: OrderedDict[_Key, _Value] = OrderedDict()

    def get(self, key: _Key) -> _Value | None:
        """The value of a key; None for one that is not here."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: _Key, value: _Value) -> None:
        """Keep a value; the one that was not used for longest leaves."""
        with self._lock:
            self.added += 1
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)

    def of(self, key: _Key, make: Callable[[], _Value]) -> _Value:
        """The value of a key, made now if it is not here: twice at worst, if two ask at the same time."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def values(self) -> tuple[_Value, ...]:
        """All values."""
        with self._lock:
            return tuple(self._values.values())

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._values.clear()
