"""Memory systems opened by name, without a model and with the scripted one behind real HTTP."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from embermem.testing.model_server import ModelServer
from embermem_bench.scripted import systems as scripts
from embermem_bench.systems import SystemMemory, open_system
from scripted import Clock

SystemOpener = Callable[..., SystemMemory]


def fresh(folder: Path) -> Path:
    """A new folder in this one."""
    return Path(tempfile.mkdtemp(dir=folder))


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A server that knows the answers to every system's questions."""
    with ModelServer(scripts.answer) as server:
        yield server


@pytest.fixture
def system_opened(tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> Iterator[SystemOpener]:
    """Opens a system by name in the test's folder; with `scripted=True` it asks the scripted server."""
    memories: list[SystemMemory] = []

    def open_one(name: str, file: str | None = None, *, scripted: bool = False, **settings: Any) -> SystemMemory:
        if scripted:
            server: ModelServer = request.getfixturevalue("model_server")
            settings = {"model": "scripted", "model_url": server.url, "model_key": "none", **settings}
        label = file or f"{name.replace(':', '-')}.db"
        memory = open_system(
            name, tmp_path / label, **{"embedder": "hashed", "background": False, "clock": clock, **settings}
        )
        memories.append(memory)
        return memory

    yield open_one
    for memory in memories:
        memory.close()
