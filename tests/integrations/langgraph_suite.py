"""A plugin of pytest with which LangGraph's own tests of its stores run against EmberStore.

It puts a memory's store in the place of `InMemoryStore` and `SqliteStore`. The tests use fake embeddings, which have no
place in Ember: whether a query finds what is alike in letters is left out by who runs them.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import Mock, patch

import pytest
from langgraph.store import memory as in_memory
from langgraph.store.base import Op, Result, SearchOp, TTLConfig

from embermem import Memory
from embermem.integrations.langgraph import EmberStore


class Settled(EmberStore):
    """A store that has the vectors of all items before it is asked a query: nothing runs in the background."""

    def __init__(self, *, index: Any = None, ttl: TTLConfig | None = None) -> None:
        memory = Memory(":memory:", background=False)
        self.owner = memory.of("suite")
        super().__init__(self.owner, fields=(index or {}).get("fields") or ("$",), ttl=ttl)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        given = list(ops)
        if any(isinstance(op, SearchOp) and op.query for op in given):
            self.owner.settle()
        return super().batch(given)

    def setup(self) -> None:
        """Nothing: the tables are there."""

    def sweep_ttl(self) -> None:
        """Forget what has expired."""
        self.owner.settle()

    def start_ttl_sweeper(self, *_: object) -> None:
        """Nothing: the work in the background does it."""

    stop_ttl_sweeper = start_ttl_sweeper

    @classmethod
    @contextmanager
    def from_conn_string(cls, _: str, **given: Any) -> Iterator[Settled]:
        """A store of its own, as `SqliteStore` is opened."""
        yield cls(**given)


def module(name: str, **names: object) -> None:
    """A module that holds only what the tests import of it."""
    made = ModuleType(name)
    vars(made).update(names)
    sys.modules[name] = made


in_memory.InMemoryStore = Settled  # type: ignore[assignment, misc]
module("pytest_mock", MockerFixture=object)
module("sqlite_vec")
module("langgraph.store.sqlite", SqliteStore=Settled)
module(
    "langgraph.store.sqlite.base",
    SqliteIndexConfig=dict,
    BaseSqliteStore=Settled,
    NS_MATCH_FUNCTION="",
    _escape_glob_literal=None,
    _namespace_match_pattern=None,
)
module("langgraph.store.sqlite.aio", AsyncSqliteStore=Settled)


class Mocker:
    """What the tests use of pytest-mock."""

    def __init__(self, patches: ExitStack) -> None:
        self._patches = patches

    def stub(self) -> Mock:
        """Something that may be called."""
        return Mock()

    def spy(self, kind: type, name: str) -> Any:
        """A method that is carried out, and whose calls are known."""
        return self._patches.enter_context(patch.object(kind, name, autospec=True, side_effect=getattr(kind, name)))


@pytest.fixture
def mocker() -> Iterator[Mocker]:
    """What pytest-mock gives to a test."""
    with ExitStack() as patches:
        yield Mocker(patches)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine to its end: the plugin that the tests were written for is not needed."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    asyncio.run(pyfuncitem.obj(**given))
    return True
