"""Fixtures for pytest. In a `conftest.py`:

    pytest_plugins = ["embermem.testing.fixtures"]

They are no plugin that installing Ember switches on, so that a test run which does not ask for them pays nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from embermem import Memory
from embermem.testing.clock import FrozenClock
from embermem.testing.model_server import ModelServer

__all__ = ["ember_clock", "ember_memory", "ember_model"]


@pytest.fixture
def ember_clock() -> FrozenClock:
    """The clock of `ember_memory`: it stands still until the test advances it."""
    return FrozenClock()


@pytest.fixture
def ember_memory(ember_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """An empty store in memory: no model, no background thread, the embedder that needs no weights. What was added is
    recalled at once, and understood by `settle`. No `EMBERMEM_*` variable and no configuration file reaches it."""
    for name in [name for name in os.environ if name.startswith("EMBERMEM_")]:
        monkeypatch.delenv(name)
    with Memory(":memory:", config=os.devnull, embedder="hashed", background=False, clock=ember_clock) as memory:
        yield memory


@pytest.fixture
def ember_model() -> Iterator[ModelServer]:
    """A scripted model at `ember_model.url`, which answers Ember's own questions by rule until the test says
    otherwise (`reply_with`, `fail_next`)."""
    from embermem.testing.answers import answer

    with ModelServer(answer) as server:
        yield server
