"""Every behaviour of the store protocol runs over every store named here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from embermem.protocols import Store
from embermem.stores.sql import SqlStore


@pytest.fixture(params=["sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store that remembers the embedder `e1` of two dimensions."""
    made = {"sqlite": lambda: SqlStore(tmp_path / "memory.db", busy_timeout_s=5.0)}[request.param]()
    made.remember({"embedder": "e1", "dim": "2"})
    yield made
    made.close()
