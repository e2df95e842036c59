"""Lives that leave something in every table, and all that a store holds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import select

from embermem import Memory, OwnerMemory
from embermem.bootstrap import open_store
from embermem.core.changes import Cause, ConflictSettled, TextsBarred
from embermem.core.config import load
from embermem.core.types import ItemId
from embermem.protocols import ApiKey, Call, Grant, Limits, Purpose
from embermem.store import schema
from embermem.store.admin.copying import copied
from embermem.store.engines.sqlite import Sqlite
from embermem.store.sql import SqlStore
from scripted import NOW, Clock
from state_rows import falsify

TALK = (
    ("I live in Lyon.", "home"),
    ("I saw a heron by the lake.", "walks"),
    ("My dog is called Rex.", "pets"),
    ("I like figs, 我喜欢无花果.", "food"),
    ("The train was late again.", "trains"),
)


def live(mine: OwnerMemory, clock: Clock, days: int = 2) -> None:
    """Something of everything that one owner may do: said, understood, recalled, corrected, forgotten, undone."""
    gone = mine.add(
        "I live in Nantes.", "I see.", thread="gone", key=f"gone {mine.owner.user}", metadata={"to": ["go"]}
    )
    for day in range(1, days + 1):
        for text, thread in TALK:
            at = f"2026-05-{day:02}T10:00:00+02:00"
            said = f"{text} That was on day {day}."
            of = {"no": 2**40 + day, "topics": [thread, text], "by": mine.owner.user, "late": "train" in text}
            mine.add(said, "I see.", thread=f"{thread} {day}", at=at, key=f"{thread} {day}", metadata=of)
            clock.go(60)
    mine.set_profile(name="Zoë", birth_year=1994)
    mine.settle()
    mine.visit(mine.recall("Where do I live?").hits)
    clock.go(60)
    facts = mine.facts()
    mine.pin(facts[0].id)
    mine.correct(facts[-1].id, "likes dates", value="dates")
    corrected = mine.changes()[-1].no
    mine.forget(page=gone)
    mine.undo(corrected)
    mine.add("And today?", thread="open")
    mine.settle()
    mine.visit(mine.recall("Where do I live?"))


def fill_every_table(memory: Memory, clock: Clock, users: tuple[str, ...] = ("alice", "bob")) -> None:
    """Lives of some users, calls of a model, a key of the server, and records of another system."""
    store = store_of(memory)
    for user in users:
        mine = memory.of(user, timezone="Europe/Paris")
        live(mine, clock)
        mine.add_document(
            "# Lease\n\nThe rent is due on the third.", source="lease.md", metadata={"of": "the house"}, original=1
        )
        mine.settle()
        call(store, mine)
        falsify(store, mine.owner.id, lambda decision: decision)  # that says what the log says
        ties(store, mine)
        store.visit(mine.owner.id, {ItemId(mine.facts()[0].id): 1}, NOW)
        mine.share_person_with("other")
        mine.add_webhook("https://receiver.invalid/")
    key(store)


def store_of(memory: Memory | OwnerMemory) -> SqlStore:
    """The store below a memory."""
    store = memory._parts.admin
    assert isinstance(store, SqlStore)
    return store


def copy_of(memory: Memory | OwnerMemory, place: Path) -> Path:
    """The whole store below a memory, row by row in a new file."""
    copied(store_of(memory)._database, Sqlite(place, 5.0))
    return place


def call(store: SqlStore, mine: OwnerMemory, number: int = 1) -> None:
    """A call of a model in the ledger."""
    made = Call(
        id=f"call{number}",
        owner_id=mine.owner.id,
        at=NOW,
        purpose=Purpose.CHAT,
        model="m",
        prompt_tokens=10,
        completion_tokens=5,
        cached_tokens=0,
        ms=12,
        outcome="ok",
    )
    store.begin_call(mine.owner, made, Limits(calls=None, tokens=None, owner_calls=100, owner_tokens=None))
    store.end_call(made)


def ties(store: SqlStore, mine: OwnerMemory) -> None:
    """Two facts that may both stay, and a text that is not to come back, as decisions."""
    one, other, *_ = mine.facts()
    settled = ConflictSettled(fact_id=one.id, other_id=other.id)
    barred = TextsBarred(messages=("1" * 40,), texts=("2" * 40,))
    for cause, decided in ((Cause.IMPORT, settled), (Cause.FORGETTING, barred)):
        state = store.owner_state(mine.owner.id)
        assert state is not None
        store.apply(mine.owner, cause, "", [decided], now=NOW, revision=state.revision, lease=None)


def key(store: SqlStore, name: str = "k1") -> None:
    """A key of the server."""
    store.add_key(
        ApiKey(
            id=name,
            name="a key",
            digest="0" * 64,
            grants=(Grant(user="alice", agent=None),),
            read_only=True,
            created_at=NOW,
            revoked_at=None,
        )
    )


def contents(place: str | Path, *, without: tuple[str, ...] = ()) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, in one order, as our own types; without settings of some names."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    with closing(open_store(place, load())) as store, store._read() as c:
        for table in schema.metadata.sorted_tables:
            rows = [tuple(row) for row in c.execute(select(table))]
            if table is schema.store:
                rows = [row for row in rows if row[0] not in without]
            found[table.name] = sorted(rows, key=repr)
    return found
