"""Who has a memory here, and how much is in it."""

from __future__ import annotations

from embermem.core.types import Owner, OwnerStats
from embermem.http.access import Accessible
from embermem.http.api import listing, models, serializers
from embermem.http.api.dependencies import Asking, Reading, router

routes = router("owners")


@routes.get("/owners", summary="Owners that the key may reach")
def list_owners(access: Accessible, asked: Asking) -> models.Owners:
    """In order of their names, in parts."""
    name = listing.named("owners")
    part = listing.keyed(access.owners(), _key, _names, asked, serializers.owner, listing=name, newest_first=False)
    return models.Owners(results=part.things, next_cursor=part.next_cursor)


@routes.get("/stats", summary="Counts of one memory")
def get_stats(owner: Reading) -> OwnerStats:
    """How much was said, where it is, and what is known."""
    return owner.stats()


def _key(owner: Owner) -> str:
    return f"{len(owner.user)}:{owner.user}{owner.agent}"


def _names(key: str) -> tuple[str, str]:
    """Raises ValueError for a key that was not made here: anybody can make a cursor."""
    length, _, names = key.partition(":")
    return names[: int(length)], names[int(length) :]
