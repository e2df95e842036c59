"""Facts that cannot both be true: current facts that give one person different values of an attribute that has one
value at a time. They are found when facts are read; only that a caller let both stay is stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from itertools import combinations

from embermem.core.attributes import Attributes
from embermem.core.changes import ConflictSettled, Undone
from embermem.core.types import About, Fact, FactId, Owner, OwnerId, Persona
from embermem.core.user_overrides import RULING, rulings_of
from embermem.memoryos.ingest.value_equality import same_value
from embermem.memoryos.people import People
from embermem.protocols import HELD, ChangeLog, Moment, Store

__all__ = ["in_conflict", "known_people", "settled"]

_Settled = Collection[frozenset[FactId]]


def known_people(
    store: Store,
    owner: Owner,
    persona: Persona,
    attributes: Attributes,
    moment: Moment,
    subjects: Mapping[str, int] | None = None,
) -> People:
    """Everybody whom a persona knew at a moment, and the facts that were in conflict; with `subjects`, as `People` has
    them, also of those that the persona lacks."""

    def conflicting(people: People) -> tuple[tuple[Fact, Fact], ...]:
        def group_of(subject: str, attribute: str) -> tuple[str, str] | None:
            return (people.id_of(subject), attribute) if attributes.single(attribute) else None

        facts = {fact.id: fact for fact in (*persona.facts, *persona.agent_facts)}
        if subjects is not None:
            facts |= {fact.id: fact for fact in store.reads.facts(owner.id, replace(HELD, rivals=group_of), moment)}
        return in_conflict(
            facts.values(), attributes, lambda: settled(store.change_log, owner.id, moment.revision), people
        )

    return People(owner, persona, subjects, conflicting)


def in_conflict(
    facts: Iterable[Fact], attributes: Attributes, settled: Callable[[], _Settled], people: People
) -> tuple[tuple[Fact, Fact], ...]:
    """The pairs of these facts that cannot both be true, the one that was known first before the other. `settled` are
    the pairs that callers let stay; it is asked for only where there are others."""
    told: dict[tuple[About, str, str], list[Fact]] = {}
    for fact in sorted((one for one in facts if one.current and attributes.single(one.attribute)), key=_known_first):
        told.setdefault((fact.about, fact.attribute, people.of(fact)), []).append(fact)
    every = ((one, other) for some in told.values() for one, other in combinations(some, 2))
    found = [(one, other) for one, other in every if not same_value(one.value, other.value, one.attribute)]
    stay = settled() if found else ()
    found = [(one, other) for one, other in found if frozenset((one.id, other.id)) not in stay]
    return tuple(sorted(found, key=lambda pair: (_known_first(pair[1]), _known_first(pair[0]))))


def settled(log: ChangeLog, owner_id: OwnerId, revision: int | None = None) -> _Settled:
    """The pairs of facts of which callers said that both may stay, also as of a change."""
    changes = log.changes(owner_id, causes=RULING, kinds=(ConflictSettled, Undone))
    upto = [one for one in changes if revision is None or one.no <= revision]
    return rulings_of(upto, lambda: b"").settled


def _known_first(fact: Fact) -> tuple[int, str]:
    return fact.change_no, fact.id
