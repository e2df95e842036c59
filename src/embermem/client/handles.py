"""Share methods between the two clients: a handle turns the steps of a call into a blocking or an awaitable method."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from embermem.client.exchange import Steps

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Handle:
    """Base of an object whose calls are steps; subclasses define in `_method_of` what a call becomes."""

    _method_of: Callable[[Callable[..., Any]], Callable[..., Any]] = staticmethod(lambda steps: steps)


class Sends:
    """Base of a handle whose methods return the result of a call."""


class Awaits:
    """Base of a handle whose methods are awaitable."""


class call(Generic[_P, _T]):  # noqa: N801  a decorator
    """A method of both clients, written once as steps. Each handle that inherits it turns the steps
    into its own method with the same name, parameters and documentation."""

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
