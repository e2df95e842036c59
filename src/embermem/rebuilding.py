"""Deriving memory again: from the log of changes, which gives the same, or from what was said, by today's analyst."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from embermem.changes import BegunAnew, Cause, Decision, FactAdded, FactAffirmed, FactPinned, ProfileSet
from embermem.errors import RevisionMoved
from embermem.protocols import MemorySystem, Store
from embermem.rulings import RULING, Rulings, plain, rulings_of
from embermem.types import About, Fact, FactId, Owner, Persona, ProfileField, Segment, Tier, Trait

__all__ = ["Difference", "Picture", "begin_anew", "difference", "picture", "replay", "understand_anew"]

_CALLER = "caller"
_TRIES = 16
"""How often memory is begun anew when another change came first."""
_Name = TypeVar("_Name")
_Item = TypeVar("_Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """All that is derived of one owner, at one revision. `waiting` pages left short-term memory and are not placed;
    `errors` are those that they name, each once."""

    persona: Persona
    archived_facts: tuple[Fact, ...]
    past_facts: tuple[Fact, ...]
    segments: tuple[Segment, ...]
    waiting: int
    errors: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What one picture has that another has not. Facts are compared by what they say, traits and profile lines by name,
    segments by their summaries, because ids are new where memory was understood anew. Pairs are (before, after).

    `same`: not even an id or a time differs. `waiting`: pages that the second picture has not placed; `errors`: why,
    where an analyst said so.
    """

    owner: Owner
    same: bool
    facts_gone: tuple[Fact, ...]
    facts_new: tuple[Fact, ...]
    traits: tuple[tuple[Trait | None, Trait | None], ...]
    profile: tuple[tuple[ProfileField | None, ProfileField | None], ...]
    segments: tuple[int, int]
    summaries_gone: tuple[str, ...]
    summaries_new: tuple[str, ...]
    waiting: int
    errors: tuple[str, ...]


def replay(store: Store, owner: Owner, short: int) -> Difference:
    """Apply all changes of an owner again, in order. Nothing may differ: `same` says so."""
    before = picture(store, owner, short)
    store.replay(owner.id)
    return difference(owner, before, picture(store, owner, short))


def understand_anew(
    store: Store,
    system: MemorySystem,
    owner: Owner,
    short: int,
    clock: Callable[[], datetime],
    progress: Callable[[int, int], None] | None = None,
) -> Difference:
    """Put away all that was derived, and read every page again with the system's analyst; what came of it.

    What callers set, corrected or pinned stays: it is set again by the change that begins. Vectors stay. Visits were of
    segments that are no more: new ones begin with none, so heat begins with what is new. If a budget ends on the way,
    `waiting` pages are read when there is one again; until then they are recalled by what was said.
    """
    before = picture(store, owner, short)
    begin_anew(store, owner, clock)
    system.settle(owner, progress)
    return difference(owner, before, picture(store, owner, short))


def begin_anew(store: Store, owner: Owner, clock: Callable[[], datetime]) -> int:
    """The number of the change that puts away all that was derived. Raises RevisionMoved if others never leave room."""
    for attempt in range(_TRIES):
        state = store.owner_state(owner.id)
        revision = 0 if state is None else state.revision
        persona = store.persona(owner.id)
        rulings = rulings_of(store.changes_of(owner.id, RULING), store.secret)
        try:
            change = store.apply(
                owner,
                Cause.ANEW,
                "",
                [BegunAnew(), *_set_by_callers(persona), *_kept_by_callers(persona, rulings, revision + 1)],
                now=clock(),
                revision=revision,
                lease=None,
            )
        except RevisionMoved:
            if attempt == _TRIES - 1:
                raise
        else:
            return change.no
    raise AssertionError("a loop that returns or raises")


def _set_by_callers(persona: Persona) -> list[Decision]:
    return [
        ProfileSet(whose=line.whose, name=line.name, value=line.value, sources=line.sources, set_by=line.set_by)
        for line in (*persona.profile, *persona.agent_profile)
        if line.set_by == _CALLER
    ]


def _kept_by_callers(persona: Persona, rulings: Rulings, no: int) -> list[Decision]:
    """The facts that callers corrected or pinned, as facts of change `no`."""
    made: list[Decision] = []
    ordinal = 0
    for fact in (*persona.facts, *persona.agent_facts):
        upto = rulings.affirmed.get(fact.id)
        if upto is None and not fact.pinned:
            continue
        fact_id = FactId(f"f{no}-{ordinal:03}")
        ordinal += 1
        made.append(
            FactAdded(
                fact_id=fact_id,
                about=fact.about,
                subject=fact.subject,
                attribute=fact.attribute,
                value=fact.value,
                text=fact.text,
                sources=fact.sources,
                valid_from=fact.valid_from,
            )
        )
        if upto is not None:
            made.append(FactAffirmed(fact_id=fact_id, upto_seq=upto))
            made += [
                ProfileSet(whose=line.whose, name=line.name, value=line.value, sources=line.sources, set_by=line.set_by)
                for line in persona.profile
                if line.set_by != _CALLER
                and plain(line.value) == plain(fact.value)
                and {*line.sources} & {*fact.sources}
            ]
        if fact.pinned:
            made.append(FactPinned(fact_id=fact_id, pinned=True))
    return made


def picture(store: Store, owner: Owner, short: int) -> Picture:
    """What is derived of an owner now. `short` is the length of short-term memory in pages."""
    waiting = store.owner_stats(owner.id, short).pending
    held_up = store.pages(owner.id, short, tier=Tier.PENDING, before=None, limit=None) if waiting else ()
    return Picture(
        persona=store.persona(owner.id),
        archived_facts=store.facts(owner.id, about=None, archived=True),
        past_facts=store.history(owner.id),
        segments=store.segments(owner.id, archived=None, only=None),
        waiting=waiting,
        errors=tuple(dict.fromkeys(page.error for page in held_up if page.error)),
    )


def difference(owner: Owner, before: Picture, after: Picture) -> Difference:
    """What the second picture has that the first has not, and the other way round."""
    was, now = before.persona, after.persona
    facts_was, facts_now = _facts(was), _facts(now)
    summaries_was, summaries_now = ({segment.summary for segment in one.segments} for one in (before, after))
    return Difference(
        owner=owner,
        same=before == after,
        facts_gone=tuple(fact for key, fact in facts_was.items() if key not in facts_now),
        facts_new=tuple(fact for key, fact in facts_now.items() if key not in facts_was),
        traits=_pairs(*({t.dimension: (t, (t.level, t.confidence)) for t in one.traits} for one in (was, now))),
        profile=_pairs(
            *(
                {
                    (line.whose, line.name): (line, (line.value, line.set_by))
                    for line in (*one.profile, *one.agent_profile)
                }
                for one in (was, now)
            )
        ),
        segments=(len(before.segments), len(after.segments)),
        summaries_gone=tuple(sorted(summaries_was - summaries_now)),
        summaries_new=tuple(sorted(summaries_now - summaries_was)),
        waiting=after.waiting,
        errors=after.errors,
    )


def _facts(persona: Persona) -> Mapping[tuple[About, str, str, str], Fact]:
    return {(f.about, f.subject, f.attribute, f.value): f for f in (*persona.facts, *persona.agent_facts)}


def _pairs(
    before: Mapping[_Name, tuple[_Item, object]], after: Mapping[_Name, tuple[_Item, object]]
) -> tuple[tuple[_Item | None, _Item | None], ...]:
    """Items of one name that do not say the same; each is given with what it says."""
    found: list[tuple[_Item | None, _Item | None]] = []
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old is None or new is None or old[1] != new[1]:
            found.append((None if old is None else old[0], None if new is None else new[0]))
    return tuple(found)
