"""The store's protocols are few and small, and a store is all of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from embermem import protocols
from embermem.store.sql import SqlStore

MOST = 99
"""Methods of all protocols of the store together."""


def own_methods(protocol: type) -> set[str]:
    return {name for name, one in vars(protocol).items() if inspect.isfunction(one) and not name.startswith("_")}


def of_the_store() -> Iterator[type]:
    """Every protocol all of whose methods a store has."""
    known = [one for one in vars(protocols).values() if isinstance(one, type) and getattr(one, "_is_protocol", False)]
    for protocol in known:
        wanted = {name for base in protocol.__mro__ for name in own_methods(base)}
        if wanted and all(hasattr(SqlStore, name) for name in wanted):
            yield protocol


def test_the_protocols_of_the_store_have_few_methods_and_none_twice() -> None:
    methods = [name for protocol in of_the_store() for name in own_methods(protocol)]
    assert sorted(methods) == sorted(set(methods))
    assert len(methods) <= MOST


def test_a_store_takes_what_its_protocols_say() -> None:
    for protocol in of_the_store():
        for name in own_methods(protocol):
            told = inspect.signature(getattr(protocol, name)).parameters
            found = inspect.signature(getattr(SqlStore, name)).parameters
            assert [*told] == [*found], f"{protocol.__name__}.{name}"
