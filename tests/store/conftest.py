"""Every behaviour of the store protocol holds on every engine: `--engine` says on which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from embermem.bootstrap import open_store
from embermem.core.config import load
from embermem.store.sql import SqlStore
from scripted import Place


@pytest.fixture
def store(place: Place, tmp_path: Path) -> Iterator[SqlStore]:
    """An empty store that remembers the embedder `e1` of two dimensions."""
    settings = load(busy_timeout_s=5.0, forgotten_key_file=str(tmp_path / "memory.db.key"))
    with closing(open_store(place(), settings)) as made:
        made.remember({"embedder": "e1", "dim": "2"})
        yield made
