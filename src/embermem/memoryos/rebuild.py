"""Deriving memory again: from the log of changes, which gives the same, or from what was said, by today's analyst."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from embermem.core.changes import (
    CALLER,
    BegunAnew,
    Cause,
    Change,
    ConflictSettled,
    Decision,
    FactAdded,
    FactAffirmed,
    FactArchived,
    FactDenied,
    FactPinned,
    FactRestored,
    FactRetired,
    PersonRelated,
    ProfileSet,
    sources,
    undone,
)
from embermem.core.record import Record
from embermem.core.revisions import decided_anew
from embermem.core.types import (
    About,
    Fact,
    FactId,
    Owner,
    OwnerId,
    Persona,
    ProfileField,
    Relation,
    Segment,
    Tier,
    Trait,
)
from embermem.core.user_overrides import RULING, Rulings, plain, rulings_of
from embermem.memoryos.correct.corrections import denied
from embermem.memoryos.history.diff import pairs
from embermem.memoryos.system import MemoryOS
from embermem.protocols import ARCHIVED, ENDED, MemoryReads, Store

__all__ = ["Difference", "Picture", "begin_anew", "difference", "picture", "replay", "understand_anew"]


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
class Difference(Record):
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


def replay(reads: MemoryReads, owner: Owner, short: int, again: Callable[[OwnerId], None]) -> Difference:
    """Apply all changes of an owner `again`, in order. Nothing may differ: `same` says so."""
    before = picture(reads, owner, short)
    again(owner.id)
    return difference(owner, before, picture(reads, owner, short))


def understand_anew(
    store: Store,
    system: MemoryOS,
    owner: Owner,
    short: int,
    clock: Callable[[], datetime],
    progress: Callable[[int, int], None] | None = None,
) -> Difference:
    """Put away all that was derived, and read every page again with the system's analyst; what came of it.

    What callers set, corrected, pinned or undid stays so: the change that begins says it again. Vectors stay. Visits
    were of segments that are no more: new ones begin with none, so heat begins with what is new. If a budget ends on
    the way, `waiting` pages are read when there is one again; until then they are recalled by what was said.
    """
    before = picture(store.reads, owner, short)
    begin_anew(store, owner, clock)
    system.settle(owner, progress)
    return difference(owner, before, picture(store.reads, owner, short))


def begin_anew(store: Store, owner: Owner, clock: Callable[[], datetime]) -> int:
    """The number of the change that puts away all that was derived."""

    def begin() -> int:
        state = store.log.owner_state(owner.id)
        revision, born = (0, None) if state is None else (state.revision, state.created_at)
        persona = store.reads.persona(owner.id)
        ruling = store.change_log.changes(owner.id, causes=RULING)
        archived, past = store.reads.facts(owner.id, ARCHIVED), store.reads.facts(owner.id, ENDED)
        rulings = rulings_of(ruling, store.forgetting.secret)
        restored = _restored(ruling, lambda no: store.change_log.changes(owner.id, no - 1, 1))
        rulings = replace(rulings, affirmed={**restored, **rulings.affirmed})
        lines = [ProfileSet.of(line) for line in (*persona.profile, *persona.agent_profile) if line.set_by == CALLER]
        kept = _kept_by_callers(persona, archived, past, rulings, revision + 1)
        ruled = [PersonRelated.of(one) for one in persona.relations if one.relation is Relation.IS]
        decisions = [BegunAnew(), *ruled, *lines, *kept, *_taken_back(ruling, past)]
        at = clock()
        return store.change_log.apply(
            owner, Cause.ANEW, "", decisions, now=at, revision=revision, lease=None, born=born
        ).no

    return decided_anew(begin, partial(store.forgetting.alone_with, owner.id))


def _restored(ruling: Sequence[Change], numbered: Callable[[int], Sequence[Change]]) -> Mapping[FactId, int]:
    """The facts that an undo restored, each with the last utterance that the undone change rests on: what was said up
    to there does not end them again."""
    found: dict[FactId, int] = {}
    by = {change.no: change for change in ruling}
    for no, undoing in undone(ruling).items():
        facts = [d.fact_id for d in by[undoing].decisions if isinstance(d, FactRestored)]
        if facts:
            seqs = [s.seq for change in numbered(no) for d in change.decisions for s in sources(d)]
            found |= dict.fromkeys(facts, max(seqs, default=0))
    return found


def _taken_back(ruling: Sequence[Change], past: Iterable[Fact]) -> list[FactDenied]:
    """The denial of each fact that an undo took back: what taught it does not teach it again."""
    by = {change.no: change for change in ruling}
    taken = {d.fact_id for no in undone(ruling).values() for d in by[no].decisions if isinstance(d, FactRetired)}
    return [
        denied(fact, max(source.seq for source in fact.sources))
        for fact in past
        if fact.id in taken and fact.sources and fact.valid_to == fact.valid_from
    ]


def _kept_by_callers(
    persona: Persona,
    archived: Iterable[Fact],
    past: Iterable[Fact],
    rulings: Rulings,
    no: int,
) -> list[Decision]:
    """The facts that callers brought, corrected or pinned, as facts of change `no`. What rests on nothing that was said
    was brought; it is kept too where it has ended since."""
    ended = [fact for fact in past if not fact.sources and fact.valid_to != fact.valid_from]
    held = [
        fact
        for fact in (*archived, *persona.facts, *persona.agent_facts)
        if fact.id in rulings.affirmed or fact.pinned or not fact.sources
    ]
    ids = {fact.id: FactId(f"f{no}-{ordinal:03}") for ordinal, fact in enumerate((*ended, *held))}
    made: list[Decision] = []
    for fact in (*ended, *held):
        made.append(FactAdded.of(replace(fact, id=ids[fact.id])))
        if fact.retired_at is not None:
            by = None if fact.superseded_by is None else ids.get(fact.superseded_by)
            made.append(FactRetired(fact_id=ids[fact.id], superseded_by=by, valid_to=fact.valid_to))
            continue
        upto = rulings.affirmed.get(fact.id)
        if upto is not None:
            made.append(FactAffirmed(fact_id=ids[fact.id], upto_seq=upto))
            made += [
                ProfileSet.of(line)
                for line in persona.profile
                if line.set_by != CALLER
                and plain(line.value) == plain(fact.value)
                and {*line.sources} & {*fact.sources}
            ]
        if fact.pinned:
            made.append(FactPinned(fact_id=ids[fact.id], pinned=True))
        if fact.archived:
            made.append(FactArchived(fact_id=ids[fact.id]))
    settled = sorted(sorted(pair) for pair in rulings.settled if pair <= ids.keys())
    return [*made, *(ConflictSettled(fact_id=ids[one], other_id=ids[other]) for one, other in settled)]


def picture(reads: MemoryReads, owner: Owner, short: int) -> Picture:
    """What is derived of an owner now. `short` is the length of short-term memory in pages."""
    held_up = reads.pages(owner.id, short, tier=Tier.PENDING)
    return Picture(
        persona=reads.persona(owner.id),
        archived_facts=reads.facts(owner.id, ARCHIVED),
        past_facts=reads.facts(owner.id, ENDED),
        segments=reads.segments(owner.id),
        waiting=len(held_up),
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
        traits=pairs(*({t.dimension: (t, (t.level, t.confidence)) for t in one.traits} for one in (was, now))),
        profile=pairs(
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
