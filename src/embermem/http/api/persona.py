"""Who the user is: profile, facts, traits."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from embermem.core.types import About
from embermem.http.access import Accessible
from embermem.http.api import bodies, facts
from embermem.http.api.dependencies import Asking, ItemId, LookingBack, Reading, router, written_by
from embermem.wire.answers import Facts, Traits
from embermem.wire.mapping import to_record
from embermem.wire.memories import FactItem, Profile, TraitItem, fact_item, profile

routes = router("persona")


@routes.get("/profile", summary="Read the profiles of the user and the agent")
def get_profile(owner: Reading, then: LookingBack) -> Profile:
    """Each field with its origin and sources."""
    return profile(owner.persona(**then))


@routes.patch("/profile", summary="Set fields of the profiles")
def update_profile(access: Accessible, body: bodies.ProfileBody) -> Profile:
    """Sets fields; null removes one. No analyst overwrites what is set here. It is one change: if a field is
    refused, none is set."""
    owner = written_by(access, body)
    owner.set_profiles(user=body.user, agent=body.agent)
    return profile(owner.persona())


@routes.get("/facts", summary="List facts")
def list_facts(
    owner: Reading,
    asked: Asking,
    then: LookingBack,
    about: Annotated[About | None, Query(description="The knowledge base: user or agent.")] = None,
    state: Annotated[facts.State, Query(description="Current, past or archived facts.")] = facts.State.CURRENT,
) -> Facts:
    """Facts, newest first, paginated."""
    return facts.part(owner, asked, into=Facts, about=about, state=state, then=then)


@routes.post("/facts/{item_id}/pin", summary="Pin a fact")
def pin_fact(access: Accessible, item_id: ItemId, body: bodies.PinBody) -> FactItem:
    """A pinned fact is never archived by the cap; `pinned: false` removes the pin."""
    owner = written_by(access, body)
    return fact_item(owner.owner, owner.pin(item_id, body.pinned))


@routes.post("/facts/{item_id}/retire", summary="Retire a fact")
def retire_fact(access: Accessible, item_id: ItemId, body: bodies.RetireBody) -> FactItem:
    """It is then among the past facts."""
    owner = written_by(access, body)
    return fact_item(owner.owner, owner.retire(item_id))


@routes.post("/facts/{item_id}/correct", summary="Correct a fact")
def correct_fact(access: Accessible, item_id: ItemId, body: bodies.CorrectBody) -> FactItem:
    """Returns the new fact with its new id. Earlier messages do not teach the old value again."""
    owner = written_by(access, body)
    return fact_item(owner.owner, owner.correct(item_id, body.text, value=body.value))


@routes.get("/traits", summary="List the user's traits")
def list_traits(owner: Reading, then: LookingBack) -> Traits:
    """The known traits, out of 90."""
    return Traits(results=tuple(to_record(TraitItem, trait) for trait in owner.traits(**then)))
