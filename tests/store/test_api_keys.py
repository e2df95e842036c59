"""The service's keys, in every store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from embermem.core.errors import NotFound, StoreError
from embermem.protocols import ApiKey, Grant
from embermem.store.sql import SqlStore

NOW = datetime(2026, 5, 2, 10, tzinfo=UTC)


def key(name: str, minutes: int = 0) -> ApiKey:
    """A key made some minutes after NOW."""
    return ApiKey(
        id=name,
        name=f"{name} 钥匙",
        digest=name * 8,
        grants=(Grant(user="al/ice", agent=None), Grant(user=None, agent='tu"tor'), Grant(user=None, agent=None)),
        read_only=minutes > 0,
        created_at=NOW + timedelta(minutes=minutes),
        revoked_at=None,
    )


def test_keys_come_back_as_they_were_given_the_oldest_first(store: SqlStore) -> None:
    assert store.all_keys() == ()
    for one in (key("b", 1), key("a", 2), key("c")):
        store.add_key(one)
    assert store.all_keys() == (key("c"), key("b", 1), key("a", 2))
    assert store.key("a") == key("a", 2)
    assert store.key("none") is None


def test_two_keys_of_one_id_are_refused(store: SqlStore) -> None:
    store.add_key(key("a"))
    with pytest.raises(StoreError):
        store.add_key(key("a", 1))
    assert store.all_keys() == (key("a"),)


def test_a_revoked_key_stays_with_the_time_of_its_end(store: SqlStore) -> None:
    store.add_key(key("a"))
    store.add_key(key("b"))
    later = NOW + timedelta(days=1)
    assert store.revoke_key("a", later).revoked_at == later
    assert store.revoke_key("a", later + timedelta(days=1)).revoked_at == later
    assert [one.revoked_at for one in store.all_keys()] == [later, None]
    with pytest.raises(NotFound):
        store.revoke_key("none", later)
