"""How one method serves both clients: a handle makes of the steps of a call a method that waits, or one that is
awaited."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from embermem.client.exchange import Steps

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Handle:
    """An object whose calls are steps; who inherits its methods says by `_method_of` what becomes of them."""

    _method_of: Callable[[Callable[..., Any]], Callable[..., Any]] = staticmethod(lambda steps: steps)


class Sends:
    """Base of a handle whose methods return what a call comes to."""


class Awaits:
    """Base of a handle whose methods are awaited."""


class call(Generic[_P, _T]):  # noqa: N801  a decorator
    """A method of both clients, written once as steps: each handle that inherits it makes them a
    method of its own, which keeps the name, the parameters and the documentation."""

    def __init__(self, steps: Callable[Concatenate[Any, _P], Steps[_T]]) -> None:
        self._steps = steps

    @overload
    def __get__(self, handle: None, kind: type[Handle]) -> Callable[..., Any]: ...
    @overload
    def __get__(self, handle: Sends, kind: type[Handle]) -> Callable[_P, _T]: ...
    @overload
    def __get__(self, handle: Awaits, kind: type[Handle]) -> Callable[_P, Coroutine[Any, Any, _T]]: ...
    @overload
    def __get__(self, handle: Handle, kind: type[Handle]) -> Callable[_P, Steps[_T]]: ...
    def __get__(self, handle: object, kind: type[Handle]) -> Any:
        method: Any = kind._method_of(self._steps)
        return method if handle is None else method.__get__(handle, kind)
