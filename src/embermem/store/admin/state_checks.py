"""What must hold of what an owner's changes say, and of what is kept of it: the checkpoint, the index of sources, the
counts in the owner's row, and the visits of facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from embermem.core.changes import CALLER, Change, Item, ProfileSet, sources
from embermem.core.state import PersonaMoment, PersonaState
from embermem.core.types import About, OwnerId, Source
from embermem.store import checkpoints, schema
from embermem.store.admin.invariants import DERIVED, LEARNT, SOURCES, WORK, Broken, Invariant, Mending
from embermem.store.codec import micros
from embermem.store.queries.changes import parts, rests_on
from embermem.store.queries.reads import chunks, sources_from, sources_in, text_from
from embermem.store.states import counted


def broken_state(c: Connection, owner_id: OwnerId, asked: Mapping[str, Any]) -> list[Broken]:
    """What is broken of one owner, whose log can be read; `asked` as for `invariants.broken`."""
    owner, visit = schema.owner, schema.fact_visit
    row = c.execute(
        select(owner.c.revision, owner.c.facts, owner.c.fact_expires_at).where(owner.c.owner_id == owner_id)
    ).first()
    log, unlike = _read(c, owner_id)
    state = PersonaState(log if row is None else (one for one in log if one.no <= row.revision))
    then = state.at()
    told_of = [*_resting(then), *_summaries(c, owner_id)]
    known = {fact.added.fact_id for fact in state.facts}
    told = counted(state)
    visited = {*c.scalars(select(visit.c.fact_id).where(visit.c.owner_id == owner_id))}
    wrongly = "facts superseded by a missing fact, or superseded and still current"
    made = [
        _broken(DERIVED, wrongly, _superseded(then, known), Mending.DERIVE),
        _broken(DERIVED, "visits of missing facts", len(visited - known), Mending.DERIVE),
        _broken(DERIVED, "checkpoints that are not what the log says", _checkpoint(c, owner_id, log), Mending.DERIVE),
        _broken(DERIVED, "changes that the index of sources has otherwise", unlike, Mending.DERIVE),
        _broken(SOURCES, "sources that end beyond their utterance", _beyond(c, owner_id, told_of)),
        _broken(SOURCES, "summaries, facts, traits or lines without a source", _bare(c, owner_id, told_of)),
    ]
    if row is not None:
        differ = (row.facts or None, row.fact_expires_at) != (told["facts"], told["fact_expires_at"])
        made.append(_broken(WORK, "owners with counts of facts that are not those of the log", differ, Mending.NUMBERS))
    made += _waiting(then, asked)
    return [one for one in made if one.count]


def _broken(area: str, what: str, count: int, mending: Mending = Mending.NOTHING, level: str = "error") -> Broken:
    return Broken(invariant=Invariant(area=area, what=what, mending=mending, level=level), count=int(count))


def _superseded(then: PersonaMoment, known: set[Any]) -> int:
    return sum(
        state.superseded_by is not None and (state.ended_no is None or state.superseded_by not in known)
        for _, state in then.facts()
    )


def _checkpoint(c: Connection, owner_id: OwnerId, log: Sequence[Change]) -> int:
    """1 where there is a checkpoint that is damaged, or holds something else than the log."""
    head = schema.checkpoint.c
    no = c.scalar(select(head.no).where(head.owner_id == owner_id))
    if no is None:
        return 0
    loaded, told = checkpoints.load(c, owner_id, log[-1].no if log else 0)
    kept = [one for one in log if one.no <= no and one.decisions]
    return int(loaded != no or told != kept)


def _read(c: Connection, owner_id: OwnerId) -> tuple[list[Change], int]:
    """The log, of which only what it says of the persona is held, and how many of its changes rest on other utterances
    than the index says."""
    table, log, unlike = schema.change_source.c, list[Change](), 0
    for some in parts(c, owner_id):
        told = {one.no: rests_on(one) for one in some}
        since, upto = log[-1].no if log else 0, some[-1].no
        query = select(table.no, table.seq).where(table.owner_id == owner_id, table.no > since, table.no <= upto)
        kept: dict[int, set[int]] = {}
        for no, seq in c.execute(query):
            kept.setdefault(no, set()).add(seq)
        unlike += sum(kept.pop(no, set()) != seqs for no, seqs in told.items()) + len(kept)
        log += map(checkpoints.persona_only, some)
    last = log[-1].no if log else 0
    beyond = select(func.count(func.distinct(table.no))).where(table.owner_id == owner_id, table.no > last)
    return log, unlike + (c.scalar(beyond) or 0)


_Resting = tuple[int, tuple[Source, ...], bool]
"""What rests on something: the change that set it, its sources, and whether somebody must have said it."""


def _summaries(c: Connection, owner_id: OwnerId) -> Iterator[_Resting]:
    chain, text = schema.chain, schema.segment_text
    for row in c.execute(select(chain).where(chain.c.owner_id == owner_id)):
        yield row.change_no, sources_from(row.sources), row.summary != ""
    for row in c.execute(select(text).where(text.c.owner_id == owner_id, text.c.retired_no.is_(None))):
        parts = text_from(row).parts
        yield row.change_no, sources_in(parts), any(part.text for part in parts)


def _resting(then: PersonaMoment) -> Iterator[_Resting]:
    for fact, _ in then.facts():
        yield fact.no, fact.rests_on(then.no), True
    for item in (Item.TRAIT, Item.PROFILE, Item.PERSON):
        for version in then.all(item):
            one = version.value
            said = item is Item.TRAIT
            if isinstance(one, ProfileSet):
                said = one.set_by != CALLER and one.value is not None
            yield version.began, sources(one), said


def _beyond(c: Connection, owner_id: OwnerId, resting: Sequence[_Resting]) -> int:
    ends = {source: source.end for _, some, _ in resting for source in some if source.end is not None}
    said, lengths = schema.utterance.c, dict[int, int]()
    for seqs in chunks(sorted({source.seq for source in ends})):
        query = select(said.seq, func.length(said.text)).where(said.owner_id == owner_id, said.seq.in_(seqs))
        lengths.update((seq, length) for seq, length in c.execute(query))
    return sum(not 0 <= (source.start or 0) <= end <= lengths.get(source.seq, 0) for source, end in ends.items())


def _bare(c: Connection, owner_id: OwnerId, resting: Sequence[_Resting]) -> int:
    change = schema.change.c
    bare = [no for no, some, said in resting if said and not some]
    if not bare:
        return 0
    learnt = select(change.no).where(
        change.owner_id == owner_id, change.cause.in_([one.value for one in LEARNT]), change.no.in_(sorted({*bare}))
    )
    found = {*c.scalars(learnt)}
    return sum(no in found for no in bare)


def _waiting(then: PersonaMoment, asked: Mapping[str, Any]) -> Iterator[Broken]:
    standing = [(fact.added, state) for fact, state in then.facts() if state.ended_no is None]
    now = asked["now"]
    over = (state.expires_at is not None and micros(state.expires_at) <= now for _, state in standing) if now else ()
    yield _broken(WORK, "facts that have expired and are not yet retired", sum(over), Mending.LATER, "warning")
    for about in About:
        held = Counter(
            added.subject.lower() if asked["by_person"] else ""
            for added, state in standing
            if added.about is about and state.is_current and not state.pinned
        )
        most = asked[f"{about.value}_facts"]
        above = sum(max(0, count - most) for count in held.values())
        what = f"facts of the {about.value} above the capacity"
        yield _broken(WORK, what, above, Mending.LATER, "warning")
