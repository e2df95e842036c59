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


@routes.get("/profile", summary="Read the profiles of the user and the agent")
def get_profile(owner: Reading, then: LookingBack) -> models.Profile:
    """Each field with its origin and sources."""
    return _profile(owner, then)


@routes.patch("/profile", summary="Set fields of the profiles")
def update_profile(access: Accessible, body: models.ProfileBody) -> models.Profile:
    """Sets fields; null removes one. No analyst overwrites what is set here. It is one change: if a field is
    refused, none is set."""
    owner = written_by(access, body)
    owner.set_profiles(user=body.user, agent=body.agent)
    return _profile(owner, LookBack())


@routes.get("/facts", summary="List facts")
def list_facts(
    owner: Reading,
    asked: Asking,
    then: LookingBack,
    about: Annotated[About | None, Query(description="The knowledge base: user or agent.")] = None,
    state: Annotated[facts.State, Query(description="Current, past or archived facts.")] = facts.State.CURRENT,
) -> models.Facts:
    """Facts, newest first, paginated."""
    part = facts.part(owner, asked, about=about, state=state, then=then)
    return models.Facts(results=part.things, next_cursor=part.next_cursor)


@routes.post("/facts/{item_id}/pin", summary="Pin a fact")
def pin_fact(access: Accessible, item_id: ItemId, body: models.PinBody) -> models.FactItem:
    """A pinned fact is never archived by the cap; `pinned: false` removes the pin."""
    owner = written_by(access, body)
    return serializers.fact(owner.owner, owner.pin(item_id, body.pinned))


@routes.post("/facts/{item_id}/retire", summary="Retire a fact")
def retire_fact(access: Accessible, item_id: ItemId, body: models.RetireBody) -> models.FactItem:
    """It is then among the past facts."""
    owner = written_by(access, body)
    return serializers.fact(owner.owner, owner.retire(item_id))


@routes.post("/facts/{item_id}/correct", summary="Correct a fact")
def correct_fact(access: Accessible, item_id: ItemId, body: models.CorrectBody) -> models.FactItem:
    """Returns the new fact with its new id. Earlier messages do not teach the old value again."""
    owner = written_by(access, body)
    return serializers.fact(owner.owner, owner.correct(item_id, body.text, value=body.value))


@routes.get("/traits", summary="List the user's traits")
def list_traits(owner: Reading, then: LookingBack) -> models.Traits:
    """The known traits, out of 90."""
    return models.Traits(results=[serializers.trait(trait) for trait in owner.traits(**then)])


def _profile(owner: OwnerMemory, then: LookBack) -> models.Profile:
    persona = owner.persona(**then)
    return serializers.profile(persona.profile, persona.agent_profile)
