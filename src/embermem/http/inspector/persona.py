"""The persona: people, profiles, what is known of each, and the 90 traits; each line with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from embermem.core.changes import PersonRelated
from embermem.core.errors import InputError, NotFound
from embermem.core.text import fold
from embermem.core.traits import Dimension, dimensions
from embermem.core.types import About, Fact, Link, Person, Trait
from embermem.http.inspector import charts, reading
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place
from embermem.memory import OwnerMemory
from embermem.reports import show

STATES = {"current": "current", "past": "past", "archived": "archive"}
GROUPS = {
    "needs_personality": "Needs and personality",
    "alignment": "What matters in an answer",
    "interest": "Interests",
}
"""The three categories of traits in words (paper §3.3)."""
NEWEST = 2
"""Facts shown beside each person's name."""
FACTS = 300
"""Facts in one list, the newest: the knowledge bases hold 200, what is past or archived may be more."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class TraitBar:
    """One known trait as a bar from the middle (0) towards its pole, in percent of the chart."""

    dimension: Dimension
    trait: Trait
    x: float
    width: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TraitGroup:
    """The traits of one category: those known as bars, the others by name."""

    title: str
    known: tuple[TraitBar, ...]
    unknown: tuple[Dimension, ...]

    @property
    def known_count(self) -> int:
        """How many are known."""
        return len(self.known)


@router.get("/persona")
def persona(
    here: PageContext, state: str = "current", as_of: str = "", valid_at: str = "", person: str = "", ruled: int = 0
) -> HTMLResponse:
    """Long-term memory of one owner, or of one person in it; as it was known, or was true, at a time. `ruled` is the
    number of a change that has just said who is who."""
    mine = here.mine
    chosen = state if state in STATES else "current"
    known, true = as_of.strip() or None, valid_at.strip() or None
    if chosen == "past":
        facts = mine.past_facts(person=person or None, as_of=known)
    else:
        facts = mine.facts(archived=chosen == "archived", person=person or None, as_of=known, valid_at=true)
    people = mine.people(as_of=known)
    then = mine.persona(as_of=known, valid_at=true)
    more, facts = max(0, len(facts) - FACTS), facts[-FACTS:]
    return here.page(
        "persona.html",
        title="Persona",
        people=people,
        undecided=show.undecided(people),
        other_names=_other_names,
        person=person,
        chosen=_chosen(people, person),
        ruled=_ruling(mine, ruled),
        of_person=mine.profile(person, as_of=known, valid_at=true) if person else (),
        profile=then.profile,
        agent_profile=then.agent_profile,
        as_of=as_of,
        valid_at=valid_at,
        then=bool(known or true),
        conflicts=mine.conflicts(known),
        state=chosen,
        states=STATES,
        more=more,
        instructions=mine.instructions(as_of=known, valid_at=true),
        known=_by_person(facts, people),
        newest={} if person or chosen != "current" else _newest(facts, people),
        traits=trait_groups(mine.traits(as_of=known, valid_at=true)),
    )


@router.get("/facts/{fact_id}")
def fact(here: PageContext, fact_id: str) -> HTMLResponse:
    """One fact: what it rests on, and what may be done with it."""
    one, why = here.mine.fact(fact_id), here.mine.why(fact_id)
    return here.page(
        "fact.html",
        title=one.text,
        fact=one,
        why=why,
        newer=_fact_or_none(here, one.superseded_by) if one.superseded_by else None,
        sources=reading.said_for(here.mine, one.sources),
        history=here.mine.history(fact_id),
        linked=_linked(here, why.links) if why.links else {},
    )


def _linked(here: Place, links: Sequence[Link]) -> Mapping[str, str]:
    """What the facts and segments at the ends of links are called, by their ids."""
    ends = {end for link in links for end in (link.from_id, link.to_id)}
    segments = (*here.mine.segments(), *here.mine.segments(archived=True))
    facts = reading.every_fact(here.mine)
    return {one.id: charts.label(one) for one in segments if one.id in ends} | {
        one.id: one.text for one in facts if one.id in ends
    }


@router.get("/facts/{fact_id}/sources")
def sources(here: PageContext, fact_id: str) -> HTMLResponse:
    """What was said that a fact rests on: the part of a page that opens in place."""
    return reading.sources_page(here, here.mine.fact(fact_id).sources, back="/persona")


@router.get("/traits/{dimension}/sources")
def trait_sources(here: PageContext, dimension: str) -> HTMLResponse:
    """What was said that a trait rests on: the part of a page that opens in place."""
    found = next((trait for trait in here.mine.traits() if trait.dimension == dimension), None)
    if found is None:
        raise NotFound(f"nothing is known of the trait {dimension!r}")
    return reading.sources_page(here, found.sources, back="/persona")


@router.post("/facts/{fact_id}/correct")
def correct(here: Changing, fact_id: str, text: Annotated[str, Form()] = "") -> RedirectResponse:
    """The words of the owner in place of a fact's."""
    if not text.strip():
        raise InputError("give the correct text; to remove the fact, retire it")
    return here.back(f"/facts/{here.mine.correct(fact_id, text.strip()).id}")


@router.post("/facts/{fact_id}/pin")
def pin(here: Changing, fact_id: str, pinned: Annotated[str, Form()] = "1") -> RedirectResponse:
    """Keep a fact from the cap, or no longer."""
    here.mine.pin(fact_id, pinned == "1")
    return here.back(f"/facts/{fact_id}")


@router.post("/facts/{fact_id}/retire")
def retire(here: Changing, fact_id: str) -> RedirectResponse:
    """A fact no longer holds; it stays answerable by date."""
    here.mine.retire(fact_id)
    return here.back(f"/facts/{fact_id}")


@router.post("/instructions")
def add_instruction(here: Changing, text: Annotated[str, Form()] = "") -> RedirectResponse:
    """What the owner wants of the agent, in words."""
    here.mine.add_instruction(text)
    return here.back("/persona")


@router.post("/facts/{fact_id}/settle")
def settle(here: Changing, fact_id: str, other: Annotated[str, Form()] = "") -> RedirectResponse:
    """Both facts of a conflict may stand."""
    here.mine.settle_conflict(fact_id, other)
    return here.back("/persona")


@router.post("/people/user")
def set_user(here: Changing, name: Annotated[str, Form()] = "") -> RedirectResponse:
    """A speaker is the user."""
    return _after(here, here.mine.set_user(name))


@router.post("/people/merge")
def merge_people(
    here: Changing, one: Annotated[str, Form()] = "", other: Annotated[str, Form()] = ""
) -> RedirectResponse:
    """Two names are one person's."""
    return _after(here, here.mine.merge_people(one, other), one)


@router.post("/people/split")
def split_people(
    here: Changing, one: Annotated[str, Form()] = "", other: Annotated[str, Form()] = ""
) -> RedirectResponse:
    """Two names are different people's."""
    return _after(here, here.mine.split_people(one, other), one)


@router.post("/profile")
def set_profile(
    here: Changing,
    name: Annotated[str, Form()] = "",
    value: Annotated[str, Form()] = "",
    whose: Annotated[str, Form()] = "user",
) -> Response:
    """Set one line of a profile; an empty value takes it away."""
    field = name.strip().replace(" ", "_")
    told = value.strip() or None
    if whose == About.AGENT:
        here.mine.set_agent_profile(**{field: told})
    else:
        here.mine.set_profile(**{field: told})
    return here.back("/persona")


def trait_groups(traits: Sequence[Trait]) -> list[TraitGroup]:
    """The 90 dimensions in their groups, the surest known first."""
    known = {trait.dimension: trait for trait in traits}
    groups = []
    for category, title in GROUPS.items():
        of = [one for one in dimensions() if one.category == category]
        bars = [_bar(one, known[one.name]) for one in of if one.name in known]
        bars.sort(key=lambda bar: -bar.trait.confidence)
        groups.append(
            TraitGroup(title=title, known=tuple(bars), unknown=tuple(one for one in of if one.name not in known))
        )
    return groups


def _bar(dimension: Dimension, trait: Trait) -> TraitBar:
    width = 50.0 * min(1.0, abs(trait.level))
    return TraitBar(dimension=dimension, trait=trait, x=50.0 if trait.level >= 0 else 50.0 - width, width=width)


def _by_person(facts: Sequence[Fact], people: Sequence[Person]) -> list[tuple[str, list[Fact]]]:
    """Facts by the person they are about, in the order of the people."""
    groups: dict[str, list[Fact]] = {person.name: [] for person in people}
    for one in facts:
        groups.setdefault(one.person, []).append(one)
    return [(name, held) for name, held in groups.items() if held]


def _newest(facts: Sequence[Fact], people: Sequence[Person]) -> dict[str, list[Fact]]:
    """The newest facts about each person but the user and the agent, whose profiles stand on the page."""
    others = [one for one in people if one.id not in ("user", "agent")]
    return {name: held[-NEWEST:] for name, held in _by_person(facts, others) if name in {one.name for one in others}}


def _chosen(people: Sequence[Person], name: str) -> Person | None:
    """The person with a name or an id; None for a kin word that nobody is listed by."""
    told = fold(name)
    return next((one for one in people if told in (one.id, *map(fold, (one.name, *one.names)))), None)


def _other_names(person: Person) -> list[str]:
    """The names of a person that differ from the one they are called by in more than capital letters."""
    return [name for name in person.names if fold(name) != fold(person.name)]


def _ruling(mine: OwnerMemory, no: int) -> tuple[int, str] | None:
    """A change that said who is who and can be undone, in words."""
    change = mine.change(no) if no > 0 else None
    if change is None or not any(isinstance(one, PersonRelated) for one in change.decisions):
        return None
    return no, show.holds(change, {})


def _after(here: Place, change: int, person: str = "") -> RedirectResponse:
    """The page after a ruling, which offers to undo it."""
    return here.back("/persona", person=person, ruled=change)


def _fact_or_none(here: Place, fact_id: str) -> Fact | None:
    try:
        return here.mine.fact(fact_id)
    except NotFound:
        return None
