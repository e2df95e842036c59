"""The persona: people, profiles, what is known of each, and the 90 traits; each line with what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from embermem.core.errors import NotFound
from embermem.core.text import fold
from embermem.core.traits import Dimension, dimensions
from embermem.core.types import About, Fact, Person, Trait
from embermem.http.inspector import reading
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place
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
    here: PageContext, state: str = "current", as_of: str = "", valid_at: str = "", person: str = ""
) -> HTMLResponse:
    """Long-term memory of one owner, or of one person in it; as it was known, or was true, at a time."""
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


@router.get("/traits/{dimension}/sources")
def trait_sources(here: PageContext, dimension: str) -> HTMLResponse:
    """What was said that a trait rests on: the part of a page that opens in place."""
    found = next((trait for trait in here.mine.traits() if trait.dimension == dimension), None)
    if found is None:
        raise NotFound(f"nothing is known of the trait {dimension!r}")
    return reading.sources_page(here, found.sources, back="/persona")


@router.get("/profile/{whose}/{name}/sources")
def line_sources(here: PageContext, whose: str, name: str) -> HTMLResponse:
    """What was said that a line of a profile rests on."""
    lines = here.mine.agent_profile() if whose == About.AGENT else here.mine.profile()
    found = next((line for line in lines if line.name == name), None)
    if found is None:
        raise NotFound(f"there is no line {name!r} in the profile of the {whose}")
    return reading.sources_page(here, found.sources, back="/persona")


@router.post("/instructions")
def add_instruction(here: Changing, text: Annotated[str, Form()] = "") -> RedirectResponse:
    """What the owner wants of the agent, in words."""
    here.mine.add_instruction(text)
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


def _after(here: Place, change: int, person: str = "") -> RedirectResponse:
    """The page after a ruling, which offers to undo it."""
    return here.back("/persona", person=person, done=change)
