"""Citus: what it refuses is not tried, what is spread stays together, and one node down stops only its owners."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import text

import citus
from embermem import Memory, OwnerMemory
from embermem.bootstrap import migrate_store, store_exists
from embermem.core.config import load
from embermem.core.errors import KeyReused, StoreBusy, StoreError, StoreUnreachable
from embermem.core.types import CallsBy, Owner
from embermem.protocols import Call, Limits, Purpose
from embermem.store import migrations, schema
from lives import store_of
from older import BEFORE, content, older
from scripted import NOW, SMALL, Clock, Opener, Place
from soundness import assert_sound, meddle, rows

pytestmark = pytest.mark.citus

SPREAD = (
    """SELECT logicalrelid::regclass::text AS name, partmethod AS how, colocationid AS beside FROM pg_dist_partition"""
)


@pytest.fixture
def url(place: Place) -> str:
    """A database with an empty store in it."""
    return str(place())


@pytest.fixture
def empty(cluster: None) -> Iterator[str]:
    """A database with the extension and nothing else in it."""
    made = citus.empty()
    yield made
    citus.drop(made)


def on_both(memory: Memory, url: str) -> tuple[OwnerMemory, OwnerMemory, str]:
    """Two owners on two nodes, each with a page, and the node of the second."""
    found: dict[str, OwnerMemory] = {}
    for name in "abcdefghijklmnop":
        mine = memory.of(name)
        found.setdefault(citus.node_of(url, mine.owner.id), mine)
    (_, one), (node, other) = list(found.items())[:2]
    for mine in (one, other):
        mine.add("I live in Lyon.", "I see.", at=NOW)
    return one, other, node


# ------------------------------------------------------------------------------------------------------ what is refused


def test_an_empty_database_is_refused_with_the_command_and_left_as_it_is(empty: str) -> None:
    with pytest.raises(StoreError, match=r"Citus and no store yet.*embermem schema --engine citus \| psql"):
        Memory(empty, **SMALL)
    assert rows(empty, "SELECT count(*) AS n FROM pg_tables WHERE schemaname = 'public'") == [{"n": 0}]
    assert not store_exists(empty, load())


def test_tables_that_are_not_spread_are_refused_with_the_statements_that_spread_them(empty: str) -> None:
    citus.with_store(empty)
    meddle(empty, "SELECT undistribute_table('visit')")
    with pytest.raises(StoreError, match=r"not spread over Citus' nodes: visit\. Run: SELECT create_distributed_table"):
        Memory(empty, **SMALL)


def test_every_table_is_spread_beside_the_owners(url: str) -> None:
    spread = {row["name"]: (row["how"], row["beside"]) for row in rows(url, SPREAD)}
    assert spread.keys() == {*schema.metadata.tables, migrations.VERSION_TABLE}
    assert {spread[table.name] for table in schema.OWNED} == {("h", spread["owner"][1])}


def test_a_migration_spreads_the_tables_that_it_adds(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    citus.with_store(empty)
    older(empty, monkeypatch)
    before = content(empty)
    assert migrate_store(empty, load()) == (BEFORE, schema.HEAD)
    assert len(rows(empty, SPREAD)) == len(schema.metadata.tables) + 1
    assert content(empty) == before


# ------------------------------------------------------------------------------------------------- statements and locks


def test_bytes_are_those_on_all_nodes(url: str) -> None:
    with Memory(url, **SMALL) as memory:
        on_both(memory, url)
        ((told,),) = citus.run(url, "SELECT sum(citus_total_relation_size(logicalrelid)) FROM pg_dist_partition")
        assert memory.stats().bytes == told > 0


def test_an_owner_held_by_another_is_busy_after_the_time_out_also_on_its_node(url: str) -> None:
    with Memory(url, **{**SMALL, "busy_timeout_s": 0.5}) as memory:
        ann = memory.of("ann")
        ann.add("Hello")
        with psycopg.connect(url) as other:
            other.execute("SELECT 1 FROM owner WHERE owner_id = %s FOR UPDATE", (ann.owner.id,))
            began = time.monotonic()
            with pytest.raises(StoreBusy, match="longer than busy_timeout_s"):
                ann.add("Again")
            assert time.monotonic() - began < 4  # Citus itself would wait for ever
        ann.add("Again")


def test_a_commit_that_a_node_did_not_answer_may_have_been_made(url: str) -> None:
    with Memory(url, **SMALL) as memory:
        ann = memory.of("ann")
        ann.add("Hello")
        node = citus.node_of(url, ann.owner.id)

        def broken_off(*after: str) -> None:
            with store_of(memory)._write() as c:
                c.execute(text("UPDATE owner SET failures = 0 WHERE owner_id = :id"), {"id": ann.owner.id})
                citus.cut(node)
                for statement in after:
                    c.execute(text(statement), {"id": ann.owner.id})

        with pytest.raises(StoreUnreachable) as raised:
            broken_off("DELETE FROM page WHERE owner_id = :id")
        assert raised.value.undone
        with pytest.raises(StoreUnreachable) as raised:
            broken_off()
        assert not raised.value.undone
        ann.add("Again", key="k")
        assert [page.query for page in ann.pages()] == ["Hello", "Again"]


def test_a_new_embedder_makes_every_owner_due_once(url: str, clock: Clock) -> None:
    with Memory(url, **SMALL, clock=clock) as memory:
        one, other, _ = on_both(memory, url)
        store_of(memory).set_timezone(memory.of("zoe").owner, "Europe/Paris", clock())  # has no change yet
        for mine in (one, other):
            mine.settle()
        before = {mine.owner.id: mine.changes()[-1].no for mine in (one, other)}
        store_of(memory).begin_reindex("other", 3, clock())
        for mine in (one, other):
            assert mine.changes()[-1].no == before[mine.owner.id] + 1
            assert mine.changes()[-1].cause == "reindex"
        assert len(store_of(memory).due(clock(), 10)) == 3
    assert_sound(url)


# ----------------------------------------------------------------------------------------------------- with a node down


def test_owners_of_the_other_nodes_go_on(url: str, clock: Clock) -> None:
    with Memory(url, **SMALL, clock=clock) as memory:
        one, other, node = on_both(memory, url)
        for mine in (one, other):
            a_forgetting(mine)
        with citus.down(node):
            one.add("We saw a heron.", "I see.", at=NOW, key="k")
            one.settle()
            assert one.recall("heron").hits
            one.forget_pages([one.pages()[0].id])
            with pytest.raises(StoreUnreachable):
                other.add("We saw a heron.", at=NOW)
            with Memory(url, **SMALL, clock=clock) as second:
                assert [page.query for page in second.of(one.owner.user).pages()] == ["We saw a heron."]
        other.add("We saw a stork.", at=NOW)
        assert [page.query for page in other.pages()] == ["I live in Lyon.", "We saw a stork."]
    assert_sound(url)


def a_forgetting(mine: OwnerMemory) -> None:
    """The first one of a store makes its key, and notes that on every node."""
    mine.forget_pages([mine.add("It rained.", at=NOW, thread="weather")])


def test_reads_over_all_owners_give_those_of_the_other_nodes_and_say_what_is_missing(url: str, clock: Clock) -> None:
    with Memory(url, **SMALL, clock=clock) as memory:
        one, other, node = on_both(memory, url)
        store = store_of(memory)
        for mine in (one, other):
            mine.learn([{"text": "likes figs", "expires_at": clock() + timedelta(hours=1)}])
            call = a_call(mine.owner)
            store.begin_call(mine.owner, call, Limits(calls=None, tokens=None, owner_calls=5, owner_tokens=None))
            store.end_call(call)
        clock.go(7_200)
        whole = seen(memory, clock)
        assert whole["owners"] == {one.owner, other.owner}
        with citus.down(node):
            partly = seen(memory, clock)
            assert memory.stats().unreachable == (f"{host_of(node)}",)
            assert memory.stats().bytes > 0
            with pytest.raises(StoreUnreachable):  # whoever goes through all owners misses none unseen
                memory.owners()
            with pytest.raises(StoreUnreachable):
                memory.forget_user(one.owner.user)
        assert partly == {key: half(value, one.owner) for key, value in whole.items()}
        assert seen(memory, clock) == whole
        assert memory.stats().unreachable == ()


def seen(memory: Memory, clock: Clock) -> dict[str, object]:
    """What is told over all owners."""
    store, now, stats = store_of(memory), clock() + timedelta(days=1), memory.stats()
    census = memory.census()
    sums = store.call_sums(NOW - timedelta(days=1), [CallsBy.OWNER])
    return {
        "owners": {*memory.owners(partly=True)},
        "due": {*store.due(now, 10)},
        "found": {one.owner for one in memory.find_owners("")},
        "calls": {one.owner for one in sums},
        "at_work": {one.owner for one in memory.work_state(limit=5).due},
        "count": stats.owners,
        "utterances": stats.utterances,
        "pages": stats.pages,
        "said": sum(count for _, count in census.said),
        "census": census.owners,
        "expired": memory.leaving().expired_facts,
        "ledger": sum(one.calls for one in store.call_sums(NOW - timedelta(days=1), [])),
    }


def half(value: object, owner: Owner) -> object:
    """Of two owners that are alike, what is of one."""
    return value // 2 if isinstance(value, int) else {owner}


def host_of(node: str) -> str:
    """Host and port."""
    return node.rpartition("@")[2].partition("/")[0]


def a_call(owner: Owner) -> Call:
    return Call(
        id=f"c-{owner.user}", owner_id=owner.id, at=NOW, purpose=Purpose.CHAT, model="m", prompt_tokens=3,
        completion_tokens=1, cached_tokens=0, ms=1, outcome="ok",
    )  # fmt: skip


def test_workers_get_the_due_owners_of_the_other_nodes(opened: Opener, url: str, clock: Clock) -> None:
    memory = opened()
    one, other, node = on_both(memory, url)
    clock.go(3_600)
    with citus.down(node):
        memory.work()
        assert one.stats().without_vector == 0
    memory.work()
    assert other.stats().without_vector == 0


def forgotten(mine: OwnerMemory) -> bool:
    """Whether an owner could be forgotten whole; else nothing was done."""
    try:
        mine.forget_owner()
    except StoreUnreachable as error:
        return "grants to" in str(error)  # those on the node that is down
    return True


def test_owners_are_forgotten_whole_unless_their_marks_belong_on_the_node_that_is_down(url: str, clock: Clock) -> None:
    born = "SELECT created_at FROM owner WHERE owner_id = ?"
    with Memory(url, **SMALL, clock=clock) as memory:
        one, _, node = on_both(memory, url)
        a_forgetting(one)
        alive = [mine for name in "qrstuvwxyz" if citus.node_of(url, (mine := memory.of(name)).owner.id) != node]
        for mine in alive:
            mine.add("I live in Lyon.", key="k", at=NOW)
        with citus.down(node):
            gone = [mine for mine in alive if forgotten(mine)]
            kept = [mine for mine in alive if mine not in gone]
            assert {*memory.owners(partly=True)} == {one.owner, *(mine.owner for mine in kept)}
        assert gone
        clock.go(1)
        for mine in gone:
            before = clock()
            with pytest.raises(KeyReused):  # sent again
                mine.add("I live in Lyon.", key="k", at=NOW)
            mine.add("I live in Rome.", at=NOW)
            assert rows(url, born, mine.owner.id)[0]["created_at"] >= before.timestamp() * 1e6
        for mine in kept:
            mine.forget_owner()
    assert_sound(url)
