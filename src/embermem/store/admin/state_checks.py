"""What must hold of what an owner's changes say, and of what is kept of it: the checkpoint, the index of sources, where
pages stand, the counts in the owner's row, and the visits that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from embermem.core.changes import (
    CALLER,
    BegunAnew,
    ChainSummarised,
    Change,
    Decision,
    Item,
    ProfileSet,
    SegmentGrew,
    SegmentTexts,
    SegmentWritten,
    sources,
)
from embermem.core.state import TOPIC_KINDS, PersonaMoment, PersonaState, TopicState
from embermem.core.types import About, OwnerId, SegmentId, Source
from embermem.store import checkpoints, schema
from embermem.store.admin.invariants import DERIVED, LEARNT, SOURCES, WORK, Broken, Invariant, Mending
from embermem.store.codec import micros
from embermem.store.queries.changes import parts, rests_on
from embermem.store.queries.reads import chunks, sources_in
from embermem.store.queries.retaining import missing_visits
from embermem.store.states import counted

_Resting = tuple[int, tuple[Source, ...], bool]
"""What rests on something: the change that set it, its sources, and whether somebody must have said it."""


def broken_state(c: Connection, owner_id: OwnerId, asked: Mapping[str, Any]) -> list[Broken]:
    """What is broken of one owner, whose log can be read; `asked` as for `invariants.broken`."""
    owner = schema.owner
    row = c.execute(
        select(owner.c.revision, owner.c.facts, owner.c.fact_expires_at).where(owner.c.owner_id == owner_id)
    ).first()
    log, topics, summaries, unlike = _read(c, owner_id)
    state = PersonaState(log if row is None else (one for one in log if one.no <= row.revision))
    then = state.at()
    told_of = [*_resting(then), *summaries]
    known = {fact.added.fact_id for fact in state.facts}
    told = counted(state)
    wrongly = "facts superseded by a missing fact, or superseded and still current"
    damaged = _checkpoint(c, owner_id, log, topics)
    made = [
        _broken(DERIVED, wrongly, _superseded(then, known), Mending.DERIVE),
        _broken(DERIVED, "visits of what is not there", len(missing_visits(c, owner_id, state)), Mending.DERIVE),
        _broken(DERIVED, "checkpoints that are not what the log says", damaged, Mending.DERIVE),
        _broken(DERIVED, "pages that are not where the log has them", _misplaced(c, owner_id, topics), Mending.DERIVE),
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


def _checkpoint(c: Connection, owner_id: OwnerId, log: Sequence[Change], topics: TopicState) -> int:
    """1 where there is a checkpoint that is damaged, or holds something else than the log."""
    head = schema.checkpoint.c
    no = c.scalar(select(head.no).where(head.owner_id == owner_id))
    if no is None:
        return 0
    loaded, told = checkpoints.load(c, owner_id, topics.no)
    kept = [one for one in log if one.no <= no]
    of_topics = checkpoints.load_topics(c, owner_id, topics.no)
    if topics.begun > no:  # memory was begun anew since
        topics = TopicState()
        for some in parts(c, owner_id, 0, no, kinds=TOPIC_KINDS):
            topics = topics.extended(some)
    same = loaded == of_topics.no == no and told == kept and of_topics.told() == topics.told(upto=no)
    return int(not same)


def _misplaced(c: Connection, owner_id: OwnerId, topics: TopicState) -> int:
    """How many pages' rows have another segment, chain or note than the log, and how many that it names have no row."""
    page, then = schema.page.c, topics.at()
    places, notes = then.places(), then.notes()
    rows = c.execute(
        select(page.page_id, page.segment_id, page.chain_id, page.noted_no).where(page.owner_id == owner_id)
    )
    misplaced = 0
    for row in rows:
        there = places.pop(row.page_id, None), notes.pop(row.page_id, (None, None))
        misplaced += (row.segment_id, (row.chain_id, row.noted_no)) != there
    return misplaced + len(places.keys() | notes.keys())


def _read(c: Connection, owner_id: OwnerId) -> tuple[list[Change], TopicState, list[_Resting], int]:
    """What the log says of the persona, and of topics; what summaries of chains and texts of segments rest on; and how
    many of its changes rest on other utterances than the index says."""
    table, log, topics, unlike = schema.change_source.c, list[Change](), TopicState(), 0
    texts, summaries = SegmentTexts(), dict[str, _Resting]()
    written: dict[str, int] = {}
    for some in parts(c, owner_id):
        told = {one.no: rests_on(one) for one in some}
        query = select(table.no, table.seq).where(
            table.owner_id == owner_id, table.no > topics.no, table.no <= some[-1].no
        )
        kept: dict[int, set[int]] = {}
        for no, seq in c.execute(query):
            kept.setdefault(no, set()).add(seq)
        unlike += sum(kept.pop(no, set()) != seqs for no, seqs in told.items()) + len(kept)
        log += (left for one in some if (left := checkpoints.persona_only(one)).decisions)
        topics = topics.extended(some, some[-1].no)
        for change in some:
            for d in change.decisions:
                if isinstance(d, BegunAnew):
                    summaries.clear()
                elif isinstance(d, ChainSummarised):
                    summaries[d.chain_id] = change.no, d.sources, d.summary != ""
                elif isinstance(d, SegmentWritten | SegmentGrew):
                    written[d.segment_id] = change.no
                _take(texts, d)
    beyond = select(func.count(func.distinct(table.no))).where(table.owner_id == owner_id, table.no > topics.no)
    return log, topics, [*summaries.values(), *_of_texts(texts, written)], unlike + (c.scalar(beyond) or 0)


def _take(texts: SegmentTexts, d: Decision) -> None:
    """A text that cannot grow is told of where its row is compared with the log."""
    with suppress(ValueError):
        texts.take(d)


def _of_texts(texts: SegmentTexts, written: Mapping[str, int]) -> Iterator[_Resting]:
    for segment_id, no in written.items():
        text = texts.get(SegmentId(segment_id))
        if text is not None:
            yield no, sources_in(text.parts), any(part.text for part in text.parts)


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
