"""The persona: people, profiles, instructions, and the 90 traits; each line with what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from embermem.core.changes import Cause, ProfileSet
from embermem.core.errors import NotFound
from embermem.core.text import fold
from embermem.core.traits import Dimension, dimensions
from embermem.core.types import About, Fact, Person, ProfileField, Trait
from embermem.http.inspector import reading
from embermem.http.inspector.owner import glance
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place, first_recorded
from embermem.memory import OwnerMemory
from embermem.memoryos.people import profile_from
from embermem.reports import show

GROUPS = {
    "needs_personality": "Needs and personality",
    "alignment": "What matters in an answer",
    "interest": "Interests",
}
"""The three categories of traits in words (paper §3.3)."""
NEWEST = 3
"""Facts shown beside each person's name, the newest of all that are read."""
PEOPLE = 30
"""People listed at first: those of whom most is known."""
_LOOK = 5
"""Changes of a profile among which that of a line is looked for."""
READ = 200
"""Facts that are read for these lists, the newest."""
OF_ONE = 12
"""Facts shown of the person who is chosen."""

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
    here: PageContext, as_of: str = "", valid_at: str = "", person: str = "", everybody: int = 0
) -> HTMLResponse:
    """Long-term memory of one owner, or of one person in it; as it was known, or was true, at a time."""
    mine = here.mine
    known, true = as_of.strip() or None, valid_at.strip() or None
    then = bool(known or true)
    people = mine.people(as_of=known)
    if true:
        people = _counted(people, mine.facts(as_of=known, valid_at=true))
    facts = _facts(mine, person, known, true)
    chosen = _chosen(people, person)
    listed = (chosen,) if chosen else people if everybody else people[:PEOPLE]
    return here.page(
        "persona.html",
        title="Persona",
        people=[(one, glance.is_to_user(one)) for one in listed],
        all_people=people,
        more_people=0 if chosen else len(people) - len(listed),
        undecided=show.undecided(people),
        other_names=_other_names,
        person=person,
        chosen=chosen,
        of_person=_profile_of(here, person, facts, known, true) if person else (),
        profile=mine.profile(as_of=known, valid_at=true),
        agent_profile=mine.agent_profile(as_of=known, valid_at=true),
        as_of=as_of,
        valid_at=valid_at,
        then=then,
        first=first_recorded(here, known),
        conflicts=len(mine.conflicts(known)),
        instructions=mine.instructions(as_of=known, valid_at=true),
        facts=facts[:OF_ONE],
        more_facts=max(0, len(facts) - OF_ONE),
        newest={} if person else _newest(facts),
        traits=trait_groups(mine.traits(as_of=known, valid_at=true)),
    )


def _facts(mine: OwnerMemory, person: str, known: str | None, true: str | None) -> Sequence[Fact]:
    """The newest facts first, of everybody or of one person: those of a time whole, of now no more than are shown."""
    if known or true:
        return mine.facts(person=person or None, as_of=known, valid_at=true)[::-1]
    return mine.find_facts(person=person or None, limit=READ).facts


def _profile_of(
    here: Place, person: str, facts: Sequence[Fact], known: str | None, true: str | None
) -> Sequence[ProfileField]:
    """The profile of a person; of now, from the facts that are at hand, where they are all there are."""
    if len(facts) < READ:
        return profile_from(facts[::-1], here.memory.settings.attributes)
    return here.mine.profile(person, as_of=known, valid_at=true)


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
    lines = (*here.mine.profile(), *here.mine.agent_profile())
    found = next((line for line in lines if (line.whose, line.name) == (whose, name)), None)
    if found is None:
        raise NotFound(f"there is no line {name!r} in the profile of the {whose}")
    return reading.sources_page(here, found.sources, back="/persona")


@router.post("/instructions")
def add_instruction(here: Changing, text: Annotated[str, Form()] = "") -> RedirectResponse:
    """What the owner wants of the agent, in words."""
    return here.back("/persona", done=here.mine.add_instruction(text).change_no)


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
    side = About.AGENT if whose == About.AGENT else About.USER
    if side is About.AGENT:
        here.mine.set_agent_profile(**{field: told})
    else:
        here.mine.set_profile(**{field: told})
    return here.back("/persona", done=_change_of(here.mine, side, field))


def _change_of(mine: OwnerMemory, whose: About, field: str) -> int | None:
    """The newest change by hand that speaks of a line of a profile."""
    state = mine.state()
    changes = mine.changes(before=state.revision + 1, limit=_LOOK, cause=Cause.PROFILE) if state else ()
    for change in reversed(changes):
        for one in change.decisions:
            if isinstance(one, ProfileSet) and (one.whose, fold(one.name)) == (whose, fold(field)):
                return change.no
    return None


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


def _counted(people: Sequence[Person], facts: Sequence[Fact]) -> tuple[Person, ...]:
    """People with the number of these facts about each, in place of those that are current."""
    counts = Counter(one.person for one in facts)
    return tuple(replace(one, facts=counts[one.name]) for one in people)


def _newest(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    """The newest of these facts about each person, the newest first."""
    newest: dict[str, list[Fact]] = {}
    for one in facts:
        held = newest.setdefault(one.person, [])
        if len(held) < NEWEST:
            held.append(one)
    return newest


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
