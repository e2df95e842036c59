"""Who has a memory here, and how much is in it."""

from __future__ import annotations

from functools import partial

from embermem.core.types import Owner, OwnerStats
from embermem.http.access import Accessible
from embermem.http.api import listing
from embermem.http.api.dependencies import Asking, Reading, router
from embermem.wire.answers import FieldItem, Fields, OwnerItem, Owners
from embermem.wire.mapping import to_record

routes = router("owners")


@routes.get("/owners", summary="List owners that the key can access")
def list_owners(access: Accessible, asked: Asking) -> Owners:
    """Sorted by name, paginated."""
    name = listing.named("owners")
    return listing.keyed(
        access.owners(),
        _key,
        _names,
        asked,
        partial(to_record, OwnerItem),
        into=Owners,
        listing=name,
        newest_first=False,
    )


@routes.get("/fields", summary="List the fields of the application's own")
def list_fields(access: Accessible) -> Fields:
    """Their types, and what each of them takes."""
    return Fields(results=tuple(to_record(FieldItem, one) for one in access.fields()))


@routes.get("/stats", summary="Read counts of one memory")
def get_stats(owner: Reading) -> OwnerStats:
    """The number of messages, pages by tier, and facts."""
    return owner.stats()


def _key(owner: Owner) -> str:
    return f"{len(owner.user)}:{owner.user}{owner.agent}"


def _names(key: str) -> tuple[str, str]:
    """Raises ValueError for a key that was not made here: anybody can make a cursor."""
    length, _, names = key.partition(":")
    return names[: int(length)], names[int(length) :]
