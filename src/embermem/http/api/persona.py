"""Who the user is: profile, facts, traits."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from embermem.core.messages import LookBack
from embermem.core.types import About
from embermem.http.access import Accessible
from embermem.http.api import facts, models, serializers
from embermem.http.api.dependencies import Asking, ItemId, LookingBack, Reading, router, written_by
from embermem.memory import OwnerMemory

routes = router("persona")


@routes.get("/profile", summary="The profiles of the user and the agent")
def get_profile(owner: Reading, then: LookingBack) -> models.Profile:
    """Each field with who set it and what it rests on."""
    return _profile(owner, then)


@routes.patch("/profile", summary="Set fields of the profiles")
def update_profile(access: Accessible, body: models.ProfileBody) -> models.Profile:
    """Sets fields; null takes one away. What is set here is not overwritten by an analyst.

    It is one change: where a field is refused, none is set.
    """
    owner = written_by(access, body)
    owner.set_profiles(user=body.user, agent=body.agent)
    return _profile(owner, LookBack())


@routes.get("/facts", summary="What is known")
def list_facts(
    owner: Reading,
    asked: Asking,
    then: LookingBack,
    about: Annotated[About | None, Query(description="Of the user's knowledge base, or of the agent's.")] = None,
    state: Annotated[
        facts.State, Query(description="What holds, no longer holds, or was archived.")
    ] = facts.State.CURRENT,
) -> models.Facts:
    """Facts, newest first, in parts."""
    part = facts.part(owner, asked, about=about, state=state, then=then)
    return models.Facts(results=part.things, next_cursor=part.next_cursor)


@routes.post("/facts/{item_id}/pin", summary="Keep a fact from the cap")
def pin_fact(access: Accessible, item_id: ItemId, body: models.PinBody) -> models.FactItem:
    """A pinned fact is never moved to the archive; `pinned: false` lets it go again."""
    owner = written_by(access, body)
    return serializers.fact(owner.owner, owner.pin(item_id, body.pinned))


@routes.post("/facts/{item_id}/retire", summary="A fact no longer holds")
def retire_fact(access: Accessible, item_id: ItemId, body: models.RetireBody) -> models.FactItem:
    """It stays among the past facts."""
    owner = written_by(access, body)
    return serializers.fact(owner.owner, owner.retire(item_id))


@routes.post("/facts/{item_id}/correct", summary="What is so instead")
def correct_fact(access: Accessible, item_id: ItemId, body: models.CorrectBody) -> models.FactItem:
    """The new fact, with an id of its own. The old value is not learnt again from what was said before."""
    owner = written_by(access, body)
    return serializers.fact(owner.owner, owner.correct(item_id, body.text, value=body.value))


@routes.get("/traits", summary="The user's traits")
def list_traits(owner: Reading, then: LookingBack) -> models.Traits:
    """Those of the 90 that are known."""
    return models.Traits(results=[serializers.trait(trait) for trait in owner.traits(**then)])


def _profile(owner: OwnerMemory, then: LookBack) -> models.Profile:
    persona = owner.persona(**then)
    return serializers.profile(persona.profile, persona.agent_profile)
