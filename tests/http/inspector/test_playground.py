"""The playground over HTTP: a context line by line, two beside each other, and what was wrong kept as a case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from read_page import OWNER
from serving import running

from embermem import Memory, OwnerMemory

ASKED = {"q": "What did the heron do?", "budget": 120}


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[OwnerMemory]:
    with Memory(tmp_path / "memory.db", embedder="hashed", background=False) as memory:
        alice = memory.of(OWNER["user"], OWNER["agent"])
        alice.set_profile(name="Alice")
        for day, text in enumerate(("A heron ate two goldfish in the pond.", "I live in Lyon.", "I planted figs."), 1):
            alice.add(text, "I see.", thread=f"t{day}", at=f"2026-05-0{day}")
        alice.settle()
        yield alice


@pytest.fixture
def browser(mine: OwnerMemory) -> Iterator[httpx2.Client]:
    with running(mine._parts_memory if False else memory_of(mine)) as url, httpx2.Client(base_url=url) as client:
        yield client


def memory_of(mine: OwnerMemory) -> Any:
    raise NotImplementedError
