"""An owner at a glance: who they are, what is going on, and what changed lately. Every line leads to its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from embermem.core.attributes import Kind, is_instruction
from embermem.core.changes import (
    Change,
    Erased,
    FactAdded,
    FactRestored,
    FactRetired,
    PersonRelated,
    ProfileSet,
    Say,
    TraitSet,
    Undone,
    kind_of,
)
from embermem.core.errors import NotFound
from embermem.core.text import fold
from embermem.core.traits import dimensions_by_name
from embermem.core.types import Fact, Person, ProfileField
from embermem.http.inspector.place import Place
from embermem.languages.people import called
from embermem.memory import OwnerMemory
from embermem.reports import render, show

LINES, PEOPLE, INSTRUCTIONS, PLANS, NEWS = 5, 5, 3, 6, 9
"""How many of each are shown at a glance."""
_LOOK, _FAR = 20, 160
"""Changes read at once, and looked through at most, for what was learnt lately."""
_OVERDUE = timedelta(days=30)
"""For so long a plan is told whose day has passed."""
_FIRST = ("name", "home", "occupation")
"""The lines of a profile that come first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Who:
    """The owner in a few lines. `others` are the people around them, each with what they are to the user."""

    name: str
    profile: Sequence[ProfileField]
    others: Sequence[tuple[Person, str]]
    instructions: Sequence[Fact]
    undecided: Sequence[Person]
    more_lines: int
    more_others: int
    more_instructions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A plan, a goal, or something that is to come. `due` is its day, or the last of its days."""

    fact: Fact
    due: datetime | None
    overdue: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class News:
    """What changed, in words; `path` leads to what it is about."""

    change: Change
    what: str
    text: str
    path: str


def who(here: Place, people: Sequence[Person]) -> Who:
    """Who the owner is."""
    mine = here.mine
    user = next((one for one in people if one.id == "user"), None)
    lines = sorted(mine.profile(), key=lambda line: (_place(line.name), line.name))
    name = next((line.value for line in lines if line.name == "name"), user.name if user else "")
    lines = [line for line in lines if line.name != "name" or line.value != name]
    others = [one for one in people if one.id not in ("user", "agent")]
    others.sort(key=lambda one: -one.facts)
    instructions = mine.instructions()
    return Who(
        name=name if name not in ("", "user") else mine.owner.user,
        profile=lines[:LINES],
        others=[(one, _is_to_user(one)) for one in others[:PEOPLE]],
        instructions=instructions[::-1][:INSTRUCTIONS],
        undecided=show.undecided(people),
        more_lines=max(0, len(lines) - LINES),
        more_others=max(0, len(others) - PEOPLE),
        more_instructions=max(0, len(instructions) - INSTRUCTIONS),
    )


def plans(here: Place) -> list[Plan]:
    """What is planned and wished, and what is to come: the next first, then what is overdue, then what has no date."""
    now, attributes = here.memory.now(), here.memory.settings.attributes

    def planned(fact: Fact) -> bool:
        return attributes.kind(fact.attribute) is Kind.PLAN

    made = [
        Plan(fact=fact, due=due, overdue=due is not None and due < now)
        for fact in here.mine.facts()
        if (due := _due(fact, now)) is not None or planned(fact)
    ]
    made = [one for one in made if planned(one.fact) or not one.overdue]
    made += [
        Plan(fact=fact, due=_due(fact, now), overdue=True)
        for fact in here.mine.past_facts()
        if planned(fact) and _lapsed(fact, now)
    ]
    return sorted(made, key=lambda one: _in_order(one, now))


def news(mine: OwnerMemory, count: int = NEWS) -> list[News]:
    """What was learnt, corrected and forgotten last, the newest first; what is only bookkeeping is left out."""
    state = mine.state()
    before, found = 1 if state is None else state.revision + 1, list[News]()
    least = before - _FAR
    while len(found) < count and before > max(1, least):
        changes = mine.changes(before=before, limit=_LOOK)
        if not changes:
            break
        for change in reversed(changes):
            found += _told(mine, change)
        before = changes[0].no
    return found[:count]


def _place(name: str) -> int:
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def _is_to_user(person: Person) -> str:
    """What a person is to somebody, by the names that they have: "Mei's sister"."""
    return next((name for name in person.names if called(name).kin and fold(name) != fold(person.name)), "")


def _due(fact: Fact, now: datetime) -> datetime | None:
    """When a fact is to come, or the last moment of its time; None where nothing says so."""
    if fact.valid_from is not None and fact.valid_from > now:
        return fact.valid_from
    ends = fact.expires_at or fact.valid_to
    return None if ends is None else ends - timedelta(microseconds=1)


def _lapsed(fact: Fact, now: datetime) -> bool:
    """Whether a fact ended by itself, because its time was over, not long ago."""
    ended = fact.expires_at is not None and fact.valid_to == fact.expires_at and fact.superseded_by is None
    return ended and fact.expires_at is not None and now - _OVERDUE < fact.expires_at <= now


def _in_order(one: Plan, now: datetime) -> tuple[int, float, str]:
    if one.due is None:
        return 2, -one.fact.recorded_at.timestamp(), one.fact.id
    if one.overdue:
        return 1, (now - one.due).total_seconds(), one.fact.id
    return 0, (one.due - now).total_seconds(), one.fact.id


def _told(mine: OwnerMemory, change: Change) -> Iterator[News]:
    """What a change taught. A fact that took the place of another one is told once, with the other one."""
    added = {one.fact_id: one for one in change.decisions if isinstance(one, FactAdded)}
    ended = [one for one in change.decisions if isinstance(one, FactRetired)]
    instead = {one.superseded_by: one.fact_id for one in ended if one.superseded_by in added}
    say = Say({one.fact_id: one.text for one in added.values()}, render.when)
    for decision in change.decisions:
        match decision:
            case FactAdded():
                former = _text(mine, instead[decision.fact_id]) if decision.fact_id in instead else ""
                what = "corrected" if former else "instruction" if is_instruction(decision.attribute) else "learnt"
                text = decision.text + (f" (before: {former})" if former else "")
                yield News(change=change, what=what, text=text, path=f"/facts/{decision.fact_id}")
            case FactRetired() if decision.superseded_by not in added:
                path = f"/facts/{decision.fact_id}"
                yield News(change=change, what="ended", text=_text(mine, decision.fact_id), path=path)
            case FactRestored():
                path = f"/facts/{decision.fact_id}"
                yield News(change=change, what="holds again", text=_text(mine, decision.fact_id), path=path)
            case TraitSet():
                of = dimensions_by_name()[decision.dimension]
                text = f"{of.name.replace('_', ' ')}: {of.high if decision.level >= 0 else of.low}"
                yield News(change=change, what="trait", text=text, path=f"/audit/{change.no}")
            case ProfileSet() if added:
                pass  # a line of what a fact says
            case ProfileSet() | PersonRelated() | Erased() | Undone():
                what, text = kind_of(decision).told(decision, say)
                yield News(change=change, what=what, text=text, path=f"/audit/{change.no}")
            case _:
                pass


def _text(mine: OwnerMemory, fact_id: str) -> str:
    try:
        return mine.fact(fact_id).text
    except NotFound:
        return "a fact that was forgotten"
