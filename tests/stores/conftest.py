"""Every behaviour of the store protocol runs over every store named here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import postgres
from embermem.stores.postgres import Postgres
from embermem.stores.sql import SqlStore


@pytest.fixture(params=["sqlite", "postgresql"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SqlStore]:
    """An empty store that remembers the embedder `e1` of two dimensions."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            made = SqlStore(tmp_path / "memory.db", busy_timeout_s=5.0)
        else:
            url = stack.enter_context(postgres.database(server_folder))
            made = SqlStore(Postgres(url, 5.0, tmp_path / "forgotten.key"))
        stack.callback(made.close)
        made.remember({"embedder": "e1", "dim": "2"})
        yield made
