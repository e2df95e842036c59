"""EmberStore and LangGraph's own InMemoryStore give the same answers, operation by operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from langgraph.store.base import GetOp, Item, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from embermem import Memory
from embermem.integrations.langgraph import EmberStore
from proofs import bounded

LABELS = st.sampled_from(["a", "b", "ab", "a/b", "ä%"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["1", "2", "x/y", "12"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text("ab\n \U0001f9a9", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abn"), inner, max_size=3),
    max_leaves=6,
)
VALUES = st.fixed_dictionaries({"n": st.integers(0, 3), "v": JSON})
NUMBERS = st.dictionaries(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), st.integers(0, 3), min_size=1)
FILTERS = st.none() | st.fixed_dictionaries({}, optional={"n": NUMBERS | st.integers(0, 3), "v": JSON})
PATHS = st.none() | st.lists(LABELS | st.just("*"), min_size=1, max_size=2).map(tuple)


def shown(items: Sequence[Item]) -> list[Any]:
    """Items without their times, in an order of their own."""
    return sorted((one.namespace, one.key, repr(one.value)) for one in items)


class Beside(RuleBasedStateMachine):
    """What is done to one store is done to the other."""

    @initialize()
    def open(self) -> None:
        self.memory = Memory(":memory:", embedder="hashed", background=False)
        self.owner = self.memory.of("alice")
        self.ours, self.theirs = EmberStore(self.owner), InMemoryStore()
        self.indexed: set[Any] = set()

    def teardown(self) -> None:
        self.memory.close()

    @rule(namespace=NAMESPACES, key=KEYS, value=VALUES, index=st.sampled_from([None, False]))
    def put(self, namespace: tuple[str, ...], key: str, value: dict[str, Any], index: Any) -> None:
        before = self.ours.get(namespace, key)
        for store in (self.ours, self.theirs):
            store.put(namespace, key, value, index)
        (self.indexed.discard if index is False else self.indexed.add)((namespace, key))
        after = self.ours.get(namespace, key)
        assert after is not None
        assert after.updated_at >= after.created_at
        assert before is None or (after.created_at == before.created_at and after.updated_at > before.updated_at)

    @rule(namespace=NAMESPACES, key=KEYS)
    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        for store in (self.ours, self.theirs):
            store.delete(namespace, key)
        self.indexed.discard((namespace, key))

    @rule(namespace=NAMESPACES, key=KEYS)
    def get(self, namespace: tuple[str, ...], key: str) -> None:
        ours, theirs = self.ours.get(namespace, key), self.theirs.get(namespace, key)
        assert (ours and shown([ours])) == (theirs and shown([theirs]))

    @rule(prefix=NAMESPACES | st.just(()), wanted=FILTERS)
    def search(self, prefix: tuple[str, ...], wanted: dict[str, Any] | None) -> None:
        ours = self.ours.search(prefix, filter=wanted, limit=100)
        assert shown(ours) == shown(self.theirs.search(prefix, filter=wanted, limit=100))
        paged = [
            one
            for at in range(0, len(ours) + 2, 2)
            for one in self.ours.search(prefix, filter=wanted, limit=2, offset=at)
        ]
        assert paged == ours

    @rule(prefix=NAMESPACES | st.just(()), query=st.sampled_from(["a", "what is n?"]), wanted=FILTERS)
    def ask(self, prefix: tuple[str, ...], query: str, wanted: dict[str, Any] | None) -> None:
        self.owner.settle()
        ours = self.ours.search(prefix, query=query, filter=wanted, limit=100)
        theirs = self.theirs.search(prefix, filter=wanted, limit=100)
        assert shown(ours) == shown([one for one in theirs if (one.namespace, one.key) in self.indexed])

    @rule(
        prefix=PATHS,
        suffix=PATHS,
        depth=st.none() | st.integers(1, 3),
        limit=st.integers(1, 4),
        offset=st.integers(0, 2),
    )
    def namespaces(self, prefix: Any, suffix: Any, depth: int | None, limit: int, offset: int) -> None:
        """InMemoryStore lists namespaces also when nothing is in them any more; they are left out."""
        given = {"prefix": prefix, "suffix": suffix}
        listed = self.theirs.list_namespaces(**given)
        full = [one for one in listed if any(item.namespace == one for item in self.theirs.search(one, limit=100))]
        wanted = sorted({one[:depth] for one in full})
        assert self.ours.list_namespaces(**given, max_depth=depth) == wanted
        some = self.ours.list_namespaces(**given, max_depth=depth, limit=limit, offset=offset)
        assert some == wanted[offset : offset + limit]

    @rule(
        puts=st.lists(st.tuples(NAMESPACES, KEYS, st.none() | VALUES), max_size=4),
        gets=st.lists(st.tuples(NAMESPACES, KEYS), max_size=3),
        prefix=NAMESPACES,
    )
    def batch(self, puts: list[Any], gets: list[Any], prefix: tuple[str, ...]) -> None:
        ops: list[Op] = [*(PutOp(*one) for one in puts), *(GetOp(*one) for one in gets), SearchOp(prefix, limit=100)]
        ours, theirs = self.ours.batch(ops), self.theirs.batch(ops)
        for one, other in zip(ours, theirs, strict=True):
            assert shown(_listed(one)) == shown(_listed(other))
        for namespace, key, value in puts:
            (self.indexed.discard if value is None else self.indexed.add)((namespace, key))


def _listed(result: Any) -> list[Item]:
    return result if isinstance(result, list) else [result] if result is not None else []


@pytest.mark.sqlite
def test_both_stores_give_the_same_answers() -> None:
    run_state_machine_as_test(
        Beside, settings=settings(max_examples=bounded(12, proofs=200), stateful_step_count=bounded(12, proofs=30))
    )
