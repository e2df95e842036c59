"""A memory on a temporary file, with the embedder that needs no weights and a clock that the test moves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from embermem import Memory, OwnerMemory
from scripted import SMALL, Clock, Opener

if TYPE_CHECKING:
    import httpx2
    from serving import Server

# No test is timed: this machine's cores are noisy. Under CI the same examples are drawn every time, so that a red run
# is the change's doing; everywhere else they are new ones, and what they find is pinned with @example.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No EMBERMEM_* variable of the machine reaches a test."""
    for key in [key for key in os.environ if key.startswith("EMBERMEM_")]:
        monkeypatch.delenv(key)


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still until it is told to go."""
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Opener]:
    """Opens memories with small capacities, on `memory.db` in the test's folder or a file named, and closes them."""
    memories: list[Memory] = []

    def open_one(file: str = "memory.db", **settings: Any) -> Memory:
        memory = Memory(tmp_path / file, **{"clock": clock, **SMALL, **settings})
        memories.append(memory)
        return memory

    yield open_one
    for memory in memories:
        memory.close()


@pytest.fixture
def memory(opened: Opener) -> Memory:
    """An empty memory with small capacities."""
    return opened()


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    """One owner of it."""
    return memory.of("alice")


@pytest.fixture
def server(memory: Memory) -> Iterator[Server]:
    """A real server on loopback over `memory`, which needs no keys."""
    from serving import Server, running

    with running(memory) as url:
        yield Server(url=url, memory=memory)


@pytest.fixture
def http(server: Server) -> Iterator[httpx2.Client]:
    """A client of `server`, without a key."""
    from serving import client

    with client(server.url) as made:
        yield made
