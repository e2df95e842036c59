"""What the URL of a store on a server may say: several hosts, a pooler, statements that are prepared."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url, text

from embermem import Memory
from embermem.core.errors import ConfigError
from embermem.store.engines.postgres import Postgres
from embermem.store.sql import SqlStore
from lives import store_of
from scripted import SMALL, Place

SERVER = "postgresql://ann:s3cret@db.example/ember"


@pytest.mark.sqlite
def test_what_a_url_may_not_say_is_refused_before_anything_is_reached() -> None:
    cases: list[tuple[str, str]] = [
        ("pool_mode=statement", "pool_mode=statement.*allowed are session and transaction"),
        ("prepare_threshold=often", "prepare_threshold=often.*allowed are none, or a number"),
        ("prepare_threshold=-1", "allowed are none, or a number"),
        ("pool_mode=transaction&options=-csearch_path%3Dmine", "both pool_mode=transaction and options"),
    ]
    for query, said in cases:
        with pytest.raises(ConfigError, match=said) as raised:
            Postgres(f"{SERVER}?{query}", 1.0)
        assert "s3cret" not in str(raised.value)


@pytest.mark.sqlite
def test_a_url_of_several_hosts_is_told_so_that_it_can_be_given_again() -> None:
    of = Postgres("postgresql://ann:s3cret@one:6000,two/ember?target_session_attrs=read-write", 1.0)
    assert "s3cret" not in of.place
    assert of.place.count("host=") == 2
    assert Postgres(of.place, 1.0).place == of.place


@pytest.mark.sqlite
def test_the_key_of_forgotten_values_of_one_host_lies_where_it_lay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    plain, pooled = (str(Postgres(f"{SERVER}{more}", 1.0).key) for more in ("", "?pool_mode=transaction"))
    assert plain == pooled


def through_tcp(place: Place, *more: str) -> str:
    """The URL of the test's database with further words."""
    return "&".join([str(place()), *more])


@pytest.mark.postgresql
def test_statements_are_prepared_as_the_url_says(place: Place) -> None:
    cases: list[str] = ["prepare_threshold=none", "prepare_threshold=0"]
    for more in cases:
        with Memory(through_tcp(place, more), **SMALL) as memory:
            ann = memory.of("ann")
            for _ in range(8):
                ann.add("We saw a heron.")
            prepared = 0
            for _ in range(24):  # whichever of the pool's connections it gets
                with store_of(memory)._read() as c:
                    prepared = max(prepared, c.scalar(text("SELECT count(*) FROM pg_prepared_statements")) or 0)
            assert (prepared > 0) is ("none" not in more)


@pytest.mark.postgresql
def test_for_a_pooler_no_setting_is_given_with_a_connection_and_time_outs_with_each_transaction(place: Place) -> None:
    with Memory(through_tcp(place, "pool_mode=transaction"), **{**SMALL, "busy_timeout_s": 3.0}) as memory:
        ann = memory.of("ann")
        for _ in range(8):
            ann.add("We saw a heron.")
        ann.settle()
        assert ann.recall("heron").hits
        store: SqlStore = store_of(memory)
        for transaction in (store._read, store._write):
            with transaction() as c:
                assert c.scalar(text("SHOW lock_timeout")) == "3s"
                assert c.scalar(text("SELECT count(*) FROM pg_prepared_statements")) == 0
        with store._engine.connect() as c:
            assert c.scalar(text("SHOW lock_timeout")) == "0"


@pytest.mark.postgresql
def test_of_several_hosts_the_first_that_takes_writes_is_used(place: Place) -> None:
    made = make_url(str(place()))
    folder = made.query["host"]
    hosts = f"host=127.0.0.1:9&host={folder}"
    url = f"postgresql://{made.username}@/{made.database}?{hosts}&target_session_attrs=read-write"
    with Memory(url, **SMALL) as memory:
        memory.of("ann").add("We saw a heron.")
        assert [page.query for page in memory.of("ann").pages()] == ["We saw a heron."]
