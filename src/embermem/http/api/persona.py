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


@routes.get("/profile", summary="The profiles of the user and the agent")
def get_profile(owner: Reading, then: LookingBack) -> Profile:
    """Each field with who set it and what it rests on."""
    return profile(owner.persona(**then))


@routes.patch("/profile", summary="Set fields of the profiles")
def update_profile(access: Accessible, body: bodies.ProfileBody) -> Profile:
    """Sets fields; null takes one away. What is set here is not overwritten by an analyst.

    It is one change: where a field is refused, none is set.
    """
    owner = written_by(access, body)
    owner.set_profiles(user=body.user, agent=body.agent)
    return profile(owner.persona())


@routes.get("/facts", summary="What is known")
def list_facts(
    owner: Reading,
    asked: Asking,
    then: LookingBack,
    about: Annotated[About | None, Query(description="Of the user's knowledge base, or of the agent's.")] = None,
    state: Annotated[
        facts.State, Query(description="What holds, no longer holds, or was archived.")
    ] = facts.State.CURRENT,
) -> Facts:
    """Facts, newest first, in parts."""
    return facts.part(owner, asked, into=Facts, about=about, state=state, then=then)


@routes.post("/facts/{item_id}/pin", summary="Keep a fact from the cap")
def pin_fact(access: Accessible, item_id: ItemId, body: bodies.PinBody) -> FactItem:
    """A pinned fact is never moved to the archive; `pinned: false` lets it go again."""
    owner = written_by(access, body)
    return fact_item(owner.owner, owner.pin(item_id, body.pinned))


@routes.post("/facts/{item_id}/retire", summary="A fact no longer holds")
def retire_fact(access: Accessible, item_id: ItemId, body: bodies.RetireBody) -> FactItem:
    """It stays among the past facts."""
    owner = written_by(access, body)
    return fact_item(owner.owner, owner.retire(item_id))


@routes.post("/facts/{item_id}/correct", summary="What is so instead")
def correct_fact(access: Accessible, item_id: ItemId, body: bodies.CorrectBody) -> FactItem:
    """The new fact, with an id of its own. The old value is not learnt again from what was said before."""
    owner = written_by(access, body)
    return fact_item(owner.owner, owner.correct(item_id, body.text, value=body.value))


@routes.get("/traits", summary="The user's traits")
def list_traits(owner: Reading, then: LookingBack) -> Traits:
    """Those of the 90 that are known."""
    return Traits(results=tuple(to_record(TraitItem, trait) for trait in owner.traits(**then)))
