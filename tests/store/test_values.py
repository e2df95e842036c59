"""Metadata as rows: what SQL finds by a filter is what the filter says of the metadata."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from sqlalchemy import select

from embermem.core import ids
from embermem.core.metadata import checked, checked_filter, matches
from embermem.core.types import Message, Owner, Role, ThreadId
from embermem.store import schema
from embermem.store.sql import SqlStore
from embermem.store.values import meets
from proofs import bounded
from scripted import NOW

ALICE = Owner(id=ids.owner_id("alice", "default"), user="alice", agent="default")
BOB = Owner(id=ids.owner_id("bob", "default"), user="bob", agent="default")
TEXTS = ("", "a", "b", "Z", "é", "z", "日本", "\U0001f426", "10", "9")
PLAIN = (*TEXTS, True, False, 0, 1, -1, 2.5, 2**53, -0.0)
NAMES = ("n", "m", "o.p")

plain = some.sampled_from(PLAIN)
compared = some.sampled_from([one for one in PLAIN if not isinstance(one, bool)])
condition = some.one_of(
    plain,
    some.fixed_dictionaries({}, optional=dict.fromkeys(("$gt", "$gte", "$lt", "$lte"), compared)).filter(bool),
    some.fixed_dictionaries({}, optional={"$eq": plain, "$ne": plain, "$exists": some.booleans()}).filter(bool),
    some.fixed_dictionaries({}, optional=dict.fromkeys(("$in", "$nin"), some.lists(plain, max_size=3))).filter(bool),
)
filters = some.recursive(
    some.dictionaries(some.sampled_from((*NAMES, "none")), condition, max_size=2),
    lambda inner: some.one_of(
        some.fixed_dictionaries({"$not": inner}),
        some.fixed_dictionaries({"$and": some.lists(inner, min_size=1, max_size=3)}),
        some.fixed_dictionaries({"$or": some.lists(inner, min_size=1, max_size=3)}, optional={"n": condition}),
    ),
    max_leaves=6,
)


def message(metadata: dict[str, Any]) -> Message:
    labels = checked(metadata, "metadata")
    return Message(role=Role.USER, speaker="a", text="Hi", said_at=NOW, thread=ThreadId("main"), metadata=labels)


def any_metadata(chance: random.Random) -> dict[str, Any]:
    """Some of the names, each with a value of any type."""
    value: dict[str, Any] = {}
    for name in chance.sample(NAMES, chance.randint(0, len(NAMES))):
        several = chance.sample(TEXTS, chance.randint(0, 3))
        value[name] = several if chance.random() < 0.4 else chance.choice(PLAIN)
    return value


@pytest.mark.engines
def test_sql_finds_by_any_filter_what_the_filter_says_of_each_metadata(store: SqlStore) -> None:
    chance = random.Random(7)
    given_messages = [message({}), *(message({"n": one}) for one in PLAIN), *(message({"n": [one]}) for one in TEXTS)]
    given_messages += [message(any_metadata(chance)) for _ in range(60)]
    for owner, some_messages in ((BOB, given_messages[:20]), (ALICE, given_messages), (BOB, given_messages[20:])):
        store.append(owner, some_messages, now=NOW, key=None, digest="", fresh=False)
    said = store.utterances(ALICE.id)
    assert [one.metadata for one in said] == [one.metadata for one in given_messages]

    @settings(max_examples=bounded(100, proofs=3000), database=None)
    @given(filters)
    def same(wanted: dict[str, Any]) -> None:
        checked_one = checked_filter(wanted, "filter")
        seq = schema.utterance.c.seq
        with store._read() as c:
            query = select(seq).where(schema.utterance.c.owner_id == ALICE.id, meets(ALICE.id, seq, checked_one))
            found = set(c.scalars(query))
        assert found == {one.seq for one in said if matches(checked_one, one.metadata)}

    same()
