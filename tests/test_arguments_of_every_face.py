"""What `test_arguments.py` says of `Memory`, of every other public callable: faces, constructors, settings."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from serving import running

from embermem import AsyncMemory, AsyncOwnerMemory, Memory, Scope
from embermem.client import AsyncClient, Client
from embermem.core import config
from embermem.core.config import Settings
from embermem.core.errors import ConfigError, EmberError, InputError
from embermem.core.fields import Field
from embermem.core.types import Context, Fact
from embermem.testing import FrozenClock
from embermem_bench.systems import OwnerSystem, SystemMemory, open_system
from scripted import SMALL, Clock
from test_arguments import FILLED, WRONG, methods


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some arguments are names of files, which are made where the test runs."""
    monkeypatch.chdir(tmp_path)


FEW: tuple[Any, ...] = (None, 2**70, 1.5, "", "a\x00b", "\ud800", b"bytes", [3], {3: 3}, object(), int)
"""For what hands its arguments on to methods that are tried with all."""


def tried(call: Callable[..., Any], needed: dict[str, Any], values: tuple[Any, ...]) -> list[str]:
    """Errors that are not ours, of calls with one wrong argument each."""
    failed = []
    for one in inspect.signature(call).parameters.values():
        for value in values:
            if callable(value) and "Callable" in str(one.annotation):
                continue  # what a function of the caller's raises is the caller's
            name = "name" if one.kind is one.VAR_KEYWORD else one.name
            try:
                call(value) if one.kind is one.VAR_POSITIONAL else call(**{**needed, name: value})
            except EmberError:
                continue
            except Exception as error:  # noqa: BLE001
                failed.append(f"{name} = {value!r:.60}: {type(error).__name__}: {error}")
    return failed


def needed_by(call: Callable[..., Any]) -> dict[str, Any]:
    """The arguments without which it cannot be called."""
    given = inspect.signature(call).parameters.values()
    return {
        one.name: FILLED["messages" if one.name == "given" else one.name]
        for one in given
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    }


def called(face: object) -> list[str]:
    """The names of its methods, but of those that open and close it."""
    names = [name for name in dir(face) if not name.startswith("_") and name not in ("open", "close", "aclose")]
    return [name for name in names if inspect.ismethod(getattr(face, name)) or inspect.isfunction(getattr(face, name))]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    """Runs what is awaited."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def opened(runner: asyncio.Runner) -> Iterator[AsyncMemory]:
    """A memory for async callers."""
    memory = AsyncMemory(":memory:", **SMALL, clock=Clock())
    runner.run(memory.open())
    yield memory
    runner.run(memory.aclose())


def test_what_is_awaited_raises_only_errors_of_ours(opened: AsyncMemory, runner: asyncio.Runner) -> None:
    for kind in (AsyncMemory, AsyncOwnerMemory):
        face: Any = opened if kind is AsyncMemory else opened.of("alice")
        failed = []
        for name in called(face):
            method = getattr(face, name)

            @functools.wraps(method)
            def waited(*given: Any, method: Any = method, **named: Any) -> Any:
                found = method(*given, **named)
                return runner.run(found) if inspect.iscoroutine(found) else found

            failed += [f"{name}: {one}" for one in tried(waited, needed_by(method), FEW)]
        assert failed == [], kind


def test_the_other_systems_raise_only_errors_of_ours() -> None:
    failed = []
    with open_system("full_context", ":memory:", embedder="hashed") as system:
        for face, kind in ((system, SystemMemory), (system.of("alice"), OwnerSystem)):
            for name in methods(kind):
                method = getattr(face, name)
                failed += [f"{name}: {one}" for one in tried(method, needed_by(method), WRONG)]
    assert failed == []


def test_opening_a_system_raises_only_errors_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a place may be a name of a file there

    def open_and_close(**given: Any) -> None:
        open_system(**given).close()

    open_and_close.__signature__ = inspect.signature(open_system)  # type: ignore[attr-defined]
    needed = {"name": "full_context", "place": ":memory:", "embedder": "hashed"}
    assert tried(open_and_close, needed, (*FEW, "no such", {"no such": 1}, {"budget": "x"})) == []


def test_the_client_raises_only_errors_of_ours(tmp_path: Path) -> None:
    failed = []
    opened = Memory(tmp_path / "memory.db", **SMALL, clock=Clock())
    with opened as memory, running(memory) as url, Client(url) as client:
        for face in (client, client.of("alice")):
            for name in called(face):
                method = getattr(face, name)
                failed += [f"{name}: {one}" for one in tried(method, needed_by(method), FEW)]
    assert failed == []


def test_opening_a_client_raises_only_errors_of_ours() -> None:
    for kind in (Client, AsyncClient):
        assert tried(kind, {"url": "http://127.0.0.1:1"}, WRONG) == [], kind


def test_a_scope_a_field_and_a_clock_are_checked_when_they_are_made() -> None:
    assert tried(Scope, {}, WRONG) == []
    assert tried(Field, {"name": "level"}, WRONG) == []
    assert tried(FrozenClock, {}, WRONG) == []
    assert tried(FrozenClock().advance, {}, WRONG) == []


def test_what_is_read_from_json_is_checked() -> None:
    for kind in (Scope, Context, Fact):
        for value in WRONG:
            try:
                kind.from_dict(value)
            except InputError:
                continue


def test_every_setting_refuses_what_it_cannot_be() -> None:
    failed = []
    for one in fields(Settings):
        for value in WRONG:
            try:
                config.load(**{one.name: value})
            except ConfigError:
                continue
            except Exception as error:  # noqa: BLE001
                failed.append(f"{one.name} = {value!r:.60}: {type(error).__name__}: {error}")
    assert failed == []
