"""Whatever callers hand to the public methods, what comes out is an answer or an error of ours that says what to do."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from embermem import AsyncMemory, Memory, OwnerMemory, Scope
from embermem.core.errors import EmberError, InputError, NotFound
from embermem.core.types import Owner, OwnerId
from embermem_bench.systems import OwnerSystem
from proofs import bounded
from scripted import SMALL, Clock

WRONG: tuple[Any, ...] = (
    *(None, True, -1, 0, 3, 2**70, 1.5, float("nan"), "", "12", "yesterday", "a\x00b", "\ud800", b"bytes", "x" * 3000),
    *((), [], [3], ["a", None], {}, {"before_seq": 3}, {3: 3}, {"a": object()}, {1, 2}, object(), int, lambda: 3),
    *(datetime(2026, 5, 1), datetime.max, datetime.min.replace(tzinfo=UTC), timedelta.max, time(3)),
    *(Scope(threads=[]), Scope(metadata={"a": 1}), Scope(until="2026-05-01")),
    *(iter([3]), iter(["a"]), [{"role": "user"}], [{"role": "user", "content": 3, "at": 3}], [{"text": 3}], [[]]),
)
"""Of all types; where one is allowed, it is an answer."""
FILLED: dict[str, Any] = {
    **{"query": "Where?", "text": "It is so.", "messages": [{"role": "user", "content": "Hello"}], "texts": ["Hello"]},
    **{"page_id": "p1", "fact_id": "f1", "other_id": "f2", "item_id": "i1", "from_id": "f1", "to_id": "f2"},
    **{"segment_id": "s1", "utterance_id": "u1", "link_id": "l1", "chain_id": "c1", "change_no": 1},
    **{"document": "# Lease", "document_id": "d1", "fact_ids": ["f1"], "keep": "f1", "others": ["f2"]},
    **{"hits": (), "reason": "both", "facts": [{"text": "likes figs"}], "pages": ["p1"], "receipt": "{}", "at": None},
    **{"no": 1, "segment": None, "user": "alice", "name": "alice", "one": "alice", "other": "user", "seqs": [1]},
    **{"item_ids": ["f1", "s1"], "since": datetime(2026, 5, 1, tzinfo=UTC), "earlier": "2026-05-01", "limit_s": 0.0},
    **{"url": "https://example.com/", "webhook_id": "w1", "items": [], "space": "team", "path": "backup.db"},
    **{"agent": "tutor", "owner": Owner(id=OwnerId("o1"), user="alice", agent="default")},
}
"""Other arguments that a method needs."""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One for all, with a little in it."""
    with Memory(tmp_path_factory.mktemp("arguments") / "memory.db", **SMALL, clock=Clock()) as memory:
        alice = memory.of("alice")
        alice.add("I live in Lyon. I like figs.", "Since when?", key="one")
        alice.settle()
        yield memory


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some arguments are names of files, which are made where the test runs."""
    monkeypatch.chdir(tmp_path)


def methods(kind: type) -> list[str]:
    """The public ones, as they stand in the class and in those that it is made of."""
    return [
        name
        for name in dir(kind)
        if not name.startswith("_") and inspect.isfunction(inspect.getattr_static(kind, name)) and name != "close"
    ]


def tried(method: Callable[..., Any]) -> list[str]:
    """Errors that are not ours, of calls with one wrong argument each."""
    parameters = inspect.signature(method).parameters.values()
    needed = {
        one.name: FILLED[one.name]
        for one in parameters
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    }
    failed = []
    for number, one in enumerate(parameters):
        for value in bounded(WRONG[number % 3 :: 3], proofs=WRONG):  # each value at one of three parameters
            if callable(value) and "Callable" in str(one.annotation):
                continue  # what a function of the caller's raises is the caller's
            name = "name" if one.kind is one.VAR_KEYWORD else one.name
            try:
                if one.kind is one.VAR_POSITIONAL:
                    method(value)
                else:
                    method(**{**needed, name: value})
            except EmberError:
                continue
            except Exception as error:  # noqa: BLE001
                failed.append(f"{name} = {value!r:.60}: {type(error).__name__}: {error}")
    return failed


def test_an_owners_methods_raise_only_errors_of_ours(memory: Memory) -> None:
    assert {name: got for name in methods(OwnerMemory) if (got := tried(getattr(memory.of("alice"), name))) != []} == {}


def test_a_memorys_methods_raise_only_errors_of_ours(memory: Memory) -> None:
    assert {name: got for name in methods(Memory) if (got := tried(getattr(memory, name))) != []} == {}


def test_a_limit_of_zero_lists_nothing_and_a_negative_one_is_refused(memory: Memory) -> None:
    tried = 0
    for face in (memory, memory.of("alice")):
        for name in methods(type(face)):
            method = getattr(face, name)
            given = inspect.signature(method).parameters
            if not (limit := next((one for one in ("limit", "most") if one in given), None)) or name == "forget":
                continue
            needed = {one: FILLED[one] for one, parameter in given.items() if parameter.default is parameter.empty}
            try:
                found = method(**{**needed, limit: 0})
            except NotFound:
                continue
            assert not (found if isinstance(found, tuple) else getattr(found, "facts", ())), name
            with pytest.raises(InputError, match=f"{limit} = -1 is not allowed"):
                method(**{**needed, limit: -1})
            tried += 1
    assert tried >= 9


def test_opening_raises_only_errors_of_ours(tmp_path: Any) -> None:
    def opened(kind: Any, **given: Any) -> None:
        clock = given.pop("clock", Clock())
        made = kind(given.pop("place", tmp_path / "m.db"), **{**SMALL, **given}, clock=clock)
        asyncio.run(made.aclose()) if isinstance(made, AsyncMemory) else made.close()

    failed = []
    names = "place preset config clock reindex model read_only filter embedder threads".split()
    values: tuple[Any, ...] = (3, b"x", object(), [], {}, "no such", "a\x00b", 1.5)
    for kind, name in product((Memory, AsyncMemory), names):
        for value in values:
            if (name, value) == ("place", "no such"):
                continue
            try:
                opened(kind, **{name: value})
            except EmberError:
                continue
            except Exception as error:  # noqa: BLE001
                failed.append(f"{name} = {value!r:.60}: {type(error).__name__}: {error}")
    assert failed == []


def test_the_methods_of_the_papers_other_systems_are_checked_too() -> None:
    assert all(hasattr(getattr(OwnerSystem, name), "__wrapped__") for name in methods(OwnerSystem))


def test_the_error_says_what_is_wrong_where_and_what_to_give(memory: Memory) -> None:
    cases: list[tuple[Callable[[Any], object], str]] = [
        (lambda a: a.recall("Where?", scope={"before_seq": 3}), r"scope is dict; recall\(\) takes a Scope such as"),
        (lambda a: a.recall("Where?", budget="12"), r"budget is str; recall\(\) takes a whole number, or None"),
        (lambda a: a.recall(3), r"query is int; recall\(\) takes a text"),
        (lambda a: a.search("Where?", None), r"k is NoneType; search\(\) takes a whole number"),
        (lambda a: a.add("Hello", at=3), r"at is int; add\(\) takes a datetime, a date or an ISO 8601 text, or None"),
        (lambda a: a.add("Hello", at="yesterday"), "at = 'yesterday' is not a time; give ISO 8601"),
        (lambda a: a.add("Hello", thread=3), r"thread is int; add\(\) takes a text"),
        (lambda a: a.forget_pages("p1"), r"pages is str; forget_pages\(\) takes several ids"),
        (lambda a: a.forget_pages(["p1", 3]), r"pages holds int at 1; forget_pages\(\) takes several ids"),
        (lambda a: a.forget_owner(dry_run="no"), r"dry_run is str; forget_owner\(\) takes True or False"),
        (
            lambda a: a.set_profile(name=["Alice"]),
            r"name is list; set_profile\(\) takes a text, a number, a date, True or False",
        ),
        (lambda a: a.page("a\x00b"), "page_id has a NUL character at 1"),
        (lambda a: a.heat("s1"), r"segment is str; heat\(\) takes a Segment"),
    ]
    for call, told in cases:
        before = memory.of("alice").pages()
        with pytest.raises(InputError, match=told):
            call(memory.of("alice"))
        assert memory.of("alice").pages() == before


def test_the_async_face_says_the_same(memory: Memory, tmp_path: Any) -> None:
    async def asked() -> None:
        async with AsyncMemory(tmp_path / "memory.db", **SMALL) as other:
            with pytest.raises(InputError, match="scope is dict"):
                await other.of("alice").recall("Where?", scope={})  # type: ignore[arg-type]
            with pytest.raises(InputError, match="user is int"):
                other.of(3)  # type: ignore[arg-type]

    asyncio.run(asked())


def test_a_call_that_python_itself_refuses_stays_a_type_error(memory: Memory) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        memory.of("alice").recall("Where?", colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        memory.of("alice").recall()  # type: ignore[call-arg]
