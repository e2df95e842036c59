"""How a method of a handle becomes one that is awaited: it stands beside the method, and says which threads do it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

Way = Literal["read", "write", "work"]
"""How work is done in threads: dropped or carried out when its caller is cancelled, and whether it may be long."""


class Awaits:
    """What has an object of the sync face to call, and threads to call it in (`embermem.aio`)."""

    def _reached(self) -> Any:
        """The object. Called in a thread."""
        raise NotImplementedError

    async def _through(self, way: Way, work: Callable[[], _T]) -> _T:
        """The result of the work, done in a thread."""
        raise NotImplementedError


def awaited(
    way: Way, method: Callable[Concatenate[Any, _P], _T]
) -> Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]]:
    """The method, awaited; its name, parameters and documentation stay."""

    @functools.wraps(method)
    async def awaiting(self: Awaits, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return await self._through(way, lambda: method(self._reached(), *args, **kwargs))

    return awaiting
