"""An owner at a glance: who they are, what is going on, and what changed lately. Every line leads to its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from embermem.core.attributes import Kind, attributes
from embermem.core.changes import Change, FactAdded, Heading
from embermem.core.text import fold
from embermem.core.types import Fact, FactStatus, Person, ProfileField
from embermem.http.inspector import entries
from embermem.http.inspector.entries import Entry, Teller
from embermem.http.inspector.place import Place
from embermem.languages.people import called
from embermem.memory import OwnerMemory
from embermem.reports import show

_PLANS_READ = 30
"""Plans of each sort that are looked at, the newest."""
LINES, PEOPLE, INSTRUCTIONS, PLANS, NEWS = 5, 5, 3, 6, 9
"""How many of each are shown at a glance."""
_LOOK, _LOOKS = 20, 8
"""Changes read at once, and how often, for what was learnt lately."""
_OVERDUE = timedelta(days=30)
"""For so long a plan is told whose day has passed."""
_FIRST = ("name", "home", "occupation")
"""The lines of a profile that come first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Who:
    """The owner in a few lines. `facts` are the newest of the user, where there is no profile; `others` are the people
    around them, each with what they are to the user. In a space there is no
    user. `called` is the name by which facts of the user are found."""

    name: str
    profile: Sequence[ProfileField]
    facts: Sequence[Fact]
    facts_in_all: int
    called: str
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


def who(here: Place, people: Sequence[Person]) -> Who:
    """Who the owner is."""
    mine = here.mine
    user = next((one for one in people if one.id == "user"), None)
    lines = sorted(mine.profile(), key=lambda line: (_place(line.name), line.name))
    name = next((line.value for line in lines if line.name == "name"), user.name if user else "")
    lines = [line for line in lines if line.name != "name" or line.value != name]
    others = [one for one in people if one.id != "user" and (one.id != "agent" or one.facts)]
    others.sort(key=lambda one: -one.facts)
    instructions = mine.instructions()
    return Who(
        name=name if name not in ("", "user") else mine.owner.space or mine.owner.user,
        profile=lines[:LINES],
        facts=() if lines or user is None else mine.find_facts(person=user.name, limit=LINES).facts,
        facts_in_all=0 if user is None else user.facts,
        called="" if user is None else user.name,
        others=[(one, "the agent" if one.id == "agent" else is_to_user(one)) for one in others[:PEOPLE]],
        instructions=instructions[::-1][:INSTRUCTIONS],
        undecided=() if mine.owner.space else show.undecided(people),
        more_lines=max(0, len(lines) - LINES),
        more_others=max(0, len(others) - PEOPLE),
        more_instructions=max(0, len(instructions) - INSTRUCTIONS),
    )


def plans(here: Place) -> list[Plan]:
    """What is planned and wished, and what is to come: the next first, then what is overdue, then what has no date."""
    mine, now = here.mine, here.memory.now()
    kinds = [one.name for one in attributes().values() if one.kind is Kind.PLAN]
    lately = now - _OVERDUE
    facts = (
        *mine.find_facts(state=FactStatus.EXPIRING, limit=_PLANS_READ).facts,
        *mine.find_facts(attribute=kinds, limit=_PLANS_READ).facts,
        *mine.find_facts(state=FactStatus.PAST, attribute=kinds, held_since=lately, limit=_PLANS_READ).facts,
    )
    made = [_planned(fact, now) for fact in {fact.id: fact for fact in facts}.values() if _stands(fact, now)]
    shown = [one for one in made if one.fact.attribute in kinds or (one.due is not None and not one.overdue)]
    return sorted(shown, key=lambda one: _in_order(one, now))


def news(mine: OwnerMemory, count: int = NEWS) -> list[tuple[Change, Entry]]:
    """What was learnt, corrected and forgotten last, the newest first; what is only bookkeeping is left out."""
    found: list[tuple[Change, Entry]] = []
    for change in _newest(mine):
        told = Teller(mine, whole=change, most=2 * count).entries(change)
        of_facts = any(isinstance(one, FactAdded) for one in change.decisions)  # lines of a profile say the same
        some = (one for one in told if not of_facts or one.heading is not Heading.PROFILE)
        found += [(change, one) for one in islice(some, count - len(found))]
        if len(found) >= count:
            break
    return found


def _newest(mine: OwnerMemory) -> Iterator[Change]:
    """The changes that are looked through, with what is told of them, the newest first."""
    state = mine.state()
    before = 1 if state is None else state.revision + 1
    for _ in range(_LOOKS):
        changes = mine.changes(before=before, limit=_LOOK, kinds=entries.NEWS)
        yield from (one for one in reversed(changes) if one.decisions)
        if len(changes) < _LOOK:
            return
        before = changes[0].no


def is_to_user(person: Person) -> str:
    """What a person is to somebody, by the names that they have: "Mei's sister"."""
    return next((name for name in person.names if called(name).kin and fold(name) != fold(person.name)), "")


def _place(name: str) -> int:
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def _due(fact: Fact, now: datetime) -> datetime | None:
    """When a fact is to come, or the last moment of its time; None where nothing says so."""
    if fact.valid_from is not None and fact.valid_from > now:
        return fact.valid_from
    ends = fact.expires_at or fact.valid_to
    return None if ends is None else ends - timedelta(microseconds=1)


def _planned(fact: Fact, now: datetime) -> Plan:
    due = _due(fact, now)
    return Plan(fact=fact, due=due, overdue=due is not None and due < now)


def _stands(fact: Fact, now: datetime) -> bool:
    """Whether a fact holds, or ended by itself, because its time was over, not long ago."""
    if fact.retired_at is None:
        return not fact.archived
    by_itself = fact.expires_at is not None and fact.valid_to == fact.expires_at and fact.superseded_by is None
    return by_itself and fact.expires_at is not None and now - _OVERDUE < fact.expires_at <= now


def _in_order(one: Plan, now: datetime) -> tuple[int, float]:
    if one.due is None:
        return 2, -one.fact.change_no
    return int(one.overdue), abs((one.due - now).total_seconds())
