"""The store's protocols are small, and a store is all of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from embermem import protocols
from embermem.store.sql import SqlStore

MOST = 15
"""Methods of one protocol of the store."""


def own_methods(protocol: type) -> set[str]:
    return {name for name, one in vars(protocol).items() if inspect.isfunction(one) and not name.startswith("_")}


def of_the_store() -> Iterator[type]:
    """Every protocol all of whose methods a store has."""
    known = [one for one in vars(protocols).values() if isinstance(one, type) and getattr(one, "_is_protocol", False)]
    for protocol in known:
        wanted = {name for base in protocol.__mro__ for name in own_methods(base)}
        if wanted and all(hasattr(SqlStore, name) for name in wanted):
            yield protocol


def test_each_protocol_of_the_store_has_few_methods_and_none_that_another_has() -> None:
    methods = {protocol.__name__: own_methods(protocol) for protocol in of_the_store()}
    assert {name: len(own) for name, own in methods.items() if len(own) > MOST} == {}
    assert len(set().union(*methods.values())) == sum(len(own) for own in methods.values())
    named = {str(one.type) for one in protocols.Store.__dataclass_fields__.values()} - {"IndexFiles"}
    assert named <= methods.keys()  # what MemoryOS is given is such protocols, and no union of them


def test_a_store_takes_what_its_protocols_say() -> None:
    for protocol in of_the_store():
        for name in own_methods(protocol):
            told = inspect.signature(getattr(protocol, name)).parameters
            found = inspect.signature(getattr(SqlStore, name)).parameters
            assert [*told] == [*found], f"{protocol.__name__}.{name}"
