"""Work that a request begins and does not wait for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import httpx2
import pytest
from serving import Server

from embermem.core import ids
from embermem.core.errors import StoreBusy
from embermem.core.types import Owner
from embermem.http.api.working import Operation, Operations, Progress, Status, TooManyOperations, Work

ALICE = {"user_id": "alice"}


@pytest.fixture
def operations() -> Iterator[Operations]:
    """A registry with one thread."""
    made = Operations(threads=1, most_kept=3, most_waiting=2)
    yield made
    made.close()


def owner(user: str) -> Owner:
    return Owner(id=ids.owner_id(user, "default"), user=user, agent="default")


@dataclass
class Gate:
    """Work that begins, and goes on when it is let."""

    begun: threading.Event = field(default_factory=threading.Event)
    let: threading.Event = field(default_factory=threading.Event)

    def __call__(self, progress: Progress) -> Mapping[str, int]:
        self.begun.set()
        progress(1, 2)
        assert self.let.wait(20)
        progress(2, 2)
        return {"placed": 2}


def ended(operations: Operations, operation: Operation) -> Operation:
    """The operation when it has ended."""
    while (found := operations.get(operation.id)) is not None and found.status is Status.RUNNING:
        threading.Event().wait(0.002)
    assert found is not None
    return found


def test_settle_is_answered_at_once_and_can_be_followed_to_its_end_by_its_owner(
    server: Server, http: httpx2.Client
) -> None:
    for number in range(8):
        server.memory.of("alice").add(f"The park has {number} herons.", "Good.")
    begun = http.post("/v1/settle", json=ALICE)
    assert (begun.status_code, begun.json()["kind"]) == (202, "settle")
    place = begun.headers["Location"]
    assert place == f"/v1/operations/{begun.json()['id']}"
    while (now := http.get(place).json())["status"] == "running":
        threading.Event().wait(0.01)
    assert (now["status"], now["user_id"], now["error"]) == ("done", "alice", None)
    assert now["done"] == now["total"]
    assert server.memory.of("alice").stats().mid == now["result"]["placed"] == 5

    place = http.post("/v1/settle", json=ALICE).headers["Location"]
    assert http.get(place, params=ALICE).status_code == 200
    assert http.get(place, params={"user_id": "bob"}).status_code == 404
    assert http.get(f"{place}x").status_code == 404


def test_progress_is_told_a_failure_in_our_words_and_only_the_last_are_kept(operations: Operations) -> None:
    gate = Gate()
    begun = operations.begin("settle", owner("alice"), gate)
    assert gate.begun.wait(20)
    while (now := operations.get(begun.id)) is not None and now.total is None:
        threading.Event().wait(0.002)
    assert now is not None
    assert (now.status, now.done, now.total) == (Status.RUNNING, 1, 2)
    gate.let.set()
    done = ended(operations, begun)
    assert (done.status, done.done, done.result) == (Status.DONE, 2, {"placed": 2})

    def busy(progress: Progress) -> Mapping[str, int]:
        raise StoreBusy("/somewhere/memory.db is locked")

    def broken(progress: Progress) -> Mapping[str, int]:
        raise RuntimeError("a secret")

    for work, kind in ((busy, "store-busy"), (broken, "internal")):
        failed = ended(operations, operations.begin("settle", owner(kind), work))
        assert failed.status is Status.FAILED
        assert failed.error is not None
        assert failed.error.kind == kind
        assert not {"secret", "/somewhere"} & set(str(failed.error.body()).split())
    assert ended(operations, operations.begin("settle", owner("alice"), lambda _: {})).status is Status.DONE

    made = [operations.begin("settle", owner(f"user {number}"), lambda _: {}) for number in range(1)]
    for number in range(1, 6):
        ended(operations, made[-1])
        made.append(operations.begin("settle", owner(f"user {number}"), lambda _: {}))
    ended(operations, made[-1])
    assert [one.id for one in made if operations.get(one.id) is not None] == [one.id for one in made[-3:]]


def test_what_waits_is_not_asked_for_twice_and_one_owner_takes_one_thread() -> None:
    operations, gate, order = Operations(threads=2), Gate(), list[str]()

    def noted(name: str) -> Work:
        return lambda _: order.append(name) or {}  # type: ignore[func-returns-value]

    first = operations.begin("settle", owner("alice"), gate)
    assert gate.begun.wait(20)
    second = operations.begin("settle", owner("alice"), noted("alice"))
    assert second.id != first.id
    assert operations.begin("settle", owner("alice"), noted("again")).id == second.id
    assert ended(operations, operations.begin("settle", owner("bob"), noted("bob"))).status is Status.DONE
    assert order == ["bob"]
    gate.let.set()
    assert ended(operations, second).status is Status.DONE
    assert order == ["bob", "alice"]
    operations.close()


def test_more_than_may_wait_are_refused(operations: Operations) -> None:
    gate = Gate()
    operations.begin("settle", owner("alice"), gate)
    assert gate.begun.wait(20)
    for user in ("b", "c"):
        operations.begin("settle", owner(user), lambda _: {})
    with pytest.raises(TooManyOperations):
        operations.begin("settle", owner("d"), lambda _: {})
    gate.let.set()


def test_closing_ends_what_runs_at_its_next_step_and_begins_nothing() -> None:
    operations, steps = Operations(threads=1), threading.Event()

    def endless(progress: Progress) -> Mapping[str, int]:
        while True:
            progress(0, 1)
            steps.set()

    running, begun = operations.begin("settle", owner("alice"), endless), list[str]()

    def never(progress: Progress) -> Mapping[str, int]:
        begun.append("never")
        return {}

    operations.begin("settle", owner("bob"), never)
    assert steps.wait(20)
    operations.close()
    assert begun == []
    assert operations.get(running.id) is not None
    with pytest.raises(TooManyOperations):
        operations.begin("settle", owner("carol"), never)
