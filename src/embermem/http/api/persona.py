"""Who the user and the other people are: profile, facts, traits."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from embermem.core.types import About, FactStatus
from embermem.http.access import Accessible, asker_of
from embermem.http.api import bodies, facts
from embermem.http.api.dependencies import (
    Asking,
    AsOf,
    Bound,
    ItemId,
    Key,
    LookingBack,
    PersonQuery,
    Reading,
    Scoping,
    router,
    time_query,
    written_by,
)
from embermem.memory import OwnerMemory
from embermem.wire.answers import Facts, FactsChanged, Instructions, People, PeopleRuled, Traits
from embermem.wire.mapping import to_record
from embermem.wire.memories import (
    ContextAnswer,
    FactItem,
    PersonItem,
    PersonProfile,
    Profile,
    TraitItem,
    context_answer,
    fact_item,
    person_profile,
    profile,
)

routes = router("persona")


@routes.get("/profile", summary="Read the profiles of the user and the agent")
def get_profile(owner: Reading, then: LookingBack, person: PersonQuery = None) -> Profile | PersonProfile:
    """Each field with its origin and sources; with `person`, only that person's profile."""
    return profile(owner.persona(**then)) if person is None else person_profile(owner.profile(person, **then))


@routes.patch("/profile", summary="Set fields of the profiles")
def update_profile(access: Accessible, body: bodies.ProfileBody, key: Key = None) -> Profile:
    """Sets fields; null removes one. No analyst overwrites what is set here. It is one change: if a field is
    refused, none is set."""
    owner = written_by(access, body)
    owner.set_profiles(user=body.user, agent=body.agent, key=key)
    return profile(owner.persona())


@routes.get("/facts", summary="List facts")
def list_facts(
    owner: Reading,
    asked: Asking,
    then: LookingBack,
    about: Annotated[About | None, Query(description="The knowledge base: user or agent.")] = None,
    person: PersonQuery = None,
    state: Annotated[FactStatus, Query(description="Current facts, or others.")] = FactStatus.CURRENT,
    scope: Scoping = None,
    *,
    filters: facts.Filtering,
) -> Facts:
    """Everybody's facts or those about one person, newest first, paginated. With a scope or a moment: those of the
    states current, past and archived, without other filters."""
    return facts.part(
        owner,
        asked,
        into=Facts,
        about=about,
        person=person,
        state=state,
        filters=filters,
        scope=scope,
        then=then,
    )


@routes.get("/overview", summary="Read who everybody is and what happened")
def get_overview(
    owner: Bound,
    then: LookingBack,
    budget: Annotated[int, Query(ge=1, le=bodies.LARGEST, description="Tokens of the text.")] = 600,
    person: PersonQuery = None,
    since: Annotated[str | None, time_query("Only what was on this day or later.")] = None,
    until: Annotated[str | None, time_query("Only what was on this day or before.")] = None,
    scope: Scoping = None,
) -> ContextAnswer:
    """Text within the budget, by time, with the facts it tells; no question is needed."""
    context = owner.overview(budget, person=person, since=since, until=until, scope=scope, **then)
    return context_answer(asker_of(owner), context, explain=False)


@routes.get("/instructions", summary="List the user's standing instructions")
def list_instructions(owner: Reading, then: LookingBack, scope: Scoping = None) -> Instructions:
    """How the user wants the agent to behave, oldest first; told with every recall. Empty while it is undecided who
    the user is. `POST /v1/facts/{item_id}/retire` ends one."""
    found = owner.instructions(scope=scope, **then)
    return Instructions(results=tuple(fact_item(asker_of(owner), one) for one in found))


@routes.post("/instructions", status_code=201, summary="Add a standing instruction")
def add_instruction(access: Accessible, body: bodies.InstructionBody, key: Key = None) -> FactItem:
    """Ends an earlier one about the same matter."""
    owner = written_by(access, body)
    return fact_item(asker_of(owner), owner.add_instruction(body.text, expires_at=body.expires_at, key=key))


@routes.get("/people", summary="List people")
def list_people(owner: Reading, as_of: AsOf = None) -> People:
    """Speakers, and those mentioned by name or as somebody's relative. Without a person `user`, it is undecided which
    speaker is the user, and no profile is learnt."""
    return People(results=_people(owner, as_of))


@routes.post("/people/user", summary="Set who the user is")
def set_user(access: Accessible, body: bodies.UserBody, key: Key = None) -> PeopleRuled:
    """Says which speaker is the user; what is known of that person becomes the user's profile."""
    owner = written_by(access, body)
    return PeopleRuled(change_no=owner.set_user(body.name, key=key), results=_people(owner))


@routes.post("/people/merge", summary="Merge two people")
def merge_people(access: Accessible, body: bodies.NamesBody, key: Key = None) -> PeopleRuled:
    """Says that two names belong to one person."""
    owner = written_by(access, body)
    return PeopleRuled(change_no=owner.merge_people(body.one, body.other, key=key), results=_people(owner))


@routes.post("/people/split", summary="Split two people")
def split_people(access: Accessible, body: bodies.NamesBody, key: Key = None) -> PeopleRuled:
    """Says that two names belong to different people."""
    owner = written_by(access, body)
    return PeopleRuled(change_no=owner.split_people(body.one, body.other, key=key), results=_people(owner))


@routes.post("/facts/pin", summary="Pin several facts")
def pin_facts(access: Accessible, body: bodies.PinFactsBody, key: Key = None) -> FactsChanged:
    """In one change. Pinned facts are never archived by the cap; `pinned: false` removes the pins."""
    owner = written_by(access, body)
    return FactsChanged(change_no=owner.pin_facts(body.fact_ids, body.pinned, key=key))


@routes.post("/facts/retire", summary="Retire several facts")
def retire_facts(access: Accessible, body: bodies.FactsBody, key: Key = None) -> FactsChanged:
    """In one change. They are then among the past facts."""
    return FactsChanged(change_no=written_by(access, body).retire_facts(body.fact_ids, key=key))


@routes.post("/facts/merge", summary="Merge facts that say the same")
def merge_facts(access: Accessible, body: bodies.MergeFactsBody, key: Key = None) -> FactItem:
    """In one change. Returns the fact that takes their place: with the words of `keep`, and the sources of all."""
    owner = written_by(access, body)
    return fact_item(asker_of(owner), owner.merge_facts(body.keep, body.others, key=key))


@routes.post("/facts/{item_id}/pin", summary="Pin a fact")
def pin_fact(access: Accessible, item_id: ItemId, body: bodies.PinBody, key: Key = None) -> FactItem:
    """A pinned fact is never archived by the cap; `pinned: false` removes the pin."""
    owner = written_by(access, body)
    return fact_item(asker_of(owner), owner.pin(item_id, body.pinned, key=key))


@routes.post("/facts/{item_id}/retire", summary="Retire a fact")
def retire_fact(access: Accessible, item_id: ItemId, body: bodies.RetireBody, key: Key = None) -> FactItem:
    """It is then among the past facts."""
    owner = written_by(access, body)
    return fact_item(asker_of(owner), owner.retire(item_id, key=key))


@routes.post("/facts/{item_id}/correct", summary="Correct a fact")
def correct_fact(access: Accessible, item_id: ItemId, body: bodies.CorrectBody, key: Key = None) -> FactItem:
    """Returns the new fact with its new id. Earlier messages do not teach the old value again."""
    owner = written_by(access, body)
    times = {"valid_from": body.valid_from, "valid_to": body.valid_to}
    return fact_item(asker_of(owner), owner.correct(item_id, body.text, value=body.value, **times, key=key))


@routes.get("/traits", summary="List the user's traits")
def list_traits(owner: Reading, then: LookingBack) -> Traits:
    """The known traits, out of 90."""
    return Traits(results=tuple(to_record(TraitItem, trait) for trait in owner.traits(**then)))


def _people(owner: OwnerMemory, as_of: str | None = None) -> tuple[PersonItem, ...]:
    return tuple(to_record(PersonItem, one) for one in owner.people(as_of=as_of))
