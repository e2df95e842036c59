"""The scripted server, well to begin with, and the memory that it makes where nothing ever failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from scripted import Clock
from unwell import opened, picture, settled, talk


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        running.reply_with(answer)
        yield running


@pytest.fixture(scope="session")
def well(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The memory where nothing ever failed."""
    with ModelServer() as server:
        server.reply_with(answer)
        clock = Clock()
        with opened(tmp_path_factory.mktemp("well") / "memory.db", server, clock) as memory:
            alice = memory.of("alice")
            talk(alice)
            settled(alice, clock)
            made = picture(alice)
        assert server.calls >= 5
    assert made["facts"]
    assert made["segments"]
    return made
