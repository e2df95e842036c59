"""Awaitable forms of a handle's methods: each is declared beside its method and says which threads run it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

Way = Literal["read", "write", "work"]
"""Which threads run a call: `read` is dropped if its task is cancelled before it begins, `write` is still carried out,
`work` may take long."""


class Awaits:
    """An object of the synchronous API, and the threads in which it is called (`embermem.aio`)."""

    def _reached(self) -> Any:
        """The object. This is called in a thread."""
        raise NotImplementedError

    async def _through(self, way: Way, work: Callable[[], _T]) -> _T:
        """The result of the work, done in a thread."""
        raise NotImplementedError


def awaited(
    way: Way, method: Callable[Concatenate[Any, _P], _T]
) -> Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]]:
    """The method as an awaitable, with the same name, parameters and documentation. The object's own method of that
    name is called: that of a shared space looks at its grant."""
    name = method.__name__

    @functools.wraps(method)
    async def awaiting(self: Awaits, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        def call() -> _T:
            made: _T = getattr(self._reached(), name)(*args, **kwargs)
            return made

        return await self._through(way, call)

    return awaiting
