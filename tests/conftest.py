"""A memory on a temporary file, with the embedder that needs no weights and a clock that the test moves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from scripted import SMALL, Clock, Opener


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
