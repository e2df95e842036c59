"""Every face of a memory: called or awaited, in this process or over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from serving import running

from embermem import AsyncMemory, Memory, OwnerMemory
from embermem.client import AsyncClient, Client
from scripted import SMALL, Clock

ELSEWHERE = ["Memory", "AsyncMemory", "AsyncClient"]
"""The client asks a memory through a server, which is every layer there is; the async faces hand each method on to the
same code. So a few tests through the others are enough in `make test`."""

Of = Callable[..., OwnerMemory]
"""Gives an owner's memory as one of the faces. What only Memory has is not used in the tests of them all."""


class Awaited:
    """An async face, whose methods are awaited at once."""

    def __init__(self, face: object, runner: asyncio.Runner) -> None:
        self._face = face
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._face, name)
        if not inspect.iscoroutinefunction(found):
            return found

        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._runner.run(found(*args, **kwargs))

        return call


@pytest.fixture
def url(memory: Memory) -> Iterator[str]:
    """A server of `memory`, which needs no keys."""
    with running(memory) as address:
        yield address


@pytest.fixture(params=["Client", *(pytest.param(face, marks=pytest.mark.proof) for face in ELSEWHERE)])
def of(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Of]:
    """Owners' memories in one store, through each face in turn."""
    place, settings = tmp_path / "memory.db", {**SMALL, "clock": clock}
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        if request.param == "AsyncMemory":
            direct = AsyncMemory(place, **settings)
            runner.run(direct.open())
            stack.callback(lambda: runner.run(direct.aclose()))
            yield lambda *owner, **zone: cast(OwnerMemory, Awaited(direct.of(*owner, **zone), runner))
            return
        memory = stack.enter_context(Memory(place, **settings))
        if request.param == "Memory":
            yield memory.of
            return
        address = stack.enter_context(running(memory))
        if request.param == "Client":
            client = stack.enter_context(Client(address))
            yield lambda *owner: cast(OwnerMemory, client.of(*owner))
        else:
            awaited = AsyncClient(address)
            stack.callback(lambda: runner.run(awaited.aclose()))
            yield lambda *owner: cast(OwnerMemory, Awaited(awaited.of(*owner), runner))
