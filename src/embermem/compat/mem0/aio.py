"""mem0's `AsyncMemory`: the methods of `Memory`, awaited. The work is done in threads."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from embermem.compat.mem0.memory import Memory

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _awaited(
    method: Callable[Concatenate[Any, _P], _T],
) -> Callable[Concatenate[AsyncMemory, _P], Awaitable[_T]]:
    """A method of `Memory`, done in a thread. One that was begun is done to its end, also where nobody waits for it."""

    @functools.wraps(method)
    async def awaiting(self: AsyncMemory, /, *given: _P.args, **named: _P.kwargs) -> _T:
        return await asyncio.to_thread(method, self.sync, *given, **named)

    return awaiting


class AsyncMemory:
    """mem0's `AsyncMemory`; made as `Memory` is, which it holds as `sync`."""

    def __init__(self, config: Any = None) -> None:
        self.sync = Memory(config)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> AsyncMemory:
        """The memory that a configuration of mem0 describes."""
        return cls(config_dict)

    add = _awaited(Memory.add)
    search = _awaited(Memory.search)
    get_all = _awaited(Memory.get_all)
    get = _awaited(Memory.get)
    update = _awaited(Memory.update)
    delete = _awaited(Memory.delete)
    delete_all = _awaited(Memory.delete_all)
    history = _awaited(Memory.history)
    reset = _awaited(Memory.reset)

    def close(self) -> None:
        """Close the store, if this object opened it."""
        self.sync.close()

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)
