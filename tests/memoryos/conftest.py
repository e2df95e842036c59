"""MemoryOS over stores of the test's own, with parts of its choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bench_of import Bench, Maker
from embermem.protocols import Analyst, Embedder
from scripted import Clock, Place
from soundness import assert_sound


@pytest.fixture
def bench(place: Place, clock: Clock) -> Iterator[Maker]:
    """Makes one over the test's store or one named; the stores are closed and sound at the end."""
    made: list[Bench] = []

    def make(
        analyst: Analyst | None = None, embedder: Embedder | None = None, file: str = "memory.db", **settings: Any
    ) -> Bench:
        made.append(Bench(place(file), clock, analyst, embedder, **settings))
        return made[-1]

    yield make
    for one in made:
        one.store.close()
    for where in {one.place for one in made}:
        assert_sound(where)
