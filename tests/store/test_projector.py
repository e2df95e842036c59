"""Projector changes one by one and applying the whole log together derive the same rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from embermem.core import ids
from embermem.core.changes import (
    Analysed,
    BegunAnew,
    Cause,
    ChainSummarised,
    Change,
    Decision,
    Embedded,
    Evicted,
    FactAdded,
    FactArchived,
    FactPinned,
    FactRestored,
    FactRetired,
    FactStrengthened,
    KeywordCount,
    Noted,
    Placed,
    ProfileSet,
    SegmentWritten,
    SummaryPart,
    TraitCleared,
    TraitSet,
)
from embermem.core.types import (
    About,
    ChainId,
    FactId,
    Message,
    Owner,
    PageId,
    Role,
    SegmentId,
    Source,
    ThreadId,
    UtteranceId,
)
from embermem.store import schema
from embermem.store.projector import Projector
from embermem.store.sql import SqlStore
from proofs import bounded
from scripted import NOW

PAGES = 3
EVICTED = Evicted(segment_id=SegmentId("s0"))
PLACED = Placed(page_id=PageId("page0"), segment_id=SegmentId("s0"), f_score=None)
TRAIT = TraitSet(dimension="d", level=0.5, confidence=0.5, sources=())
_owners = iter(range(10**9))
"""Each example takes owners of its own."""


few = st.integers(0, 2)
seqs = st.integers(1, PAGES)
sources = st.lists(
    st.builds(Source, seq=seqs, utterance_id=st.just(UtteranceId("u")), start=st.none() | few), max_size=2
).map(tuple)
chains = few.map(lambda n: ChainId(f"c{n}"))
segments = few.map(lambda n: SegmentId(f"s{n}"))
facts = few.map(lambda n: FactId(f"f{n}"))
pages = st.integers(0, PAGES).map(lambda n: PageId(f"page{n}"))  # the last is not there, as after forgetting

decisions: st.SearchStrategy[Decision] = st.one_of(
    st.builds(
        Noted,
        page_id=pages,
        upto_seq=seqs,
        chain_id=chains,
        continues=st.booleans(),
        keywords=st.just(("k",)),
        analyst=st.sampled_from(["a", "b"]),
    ),
    st.builds(Placed, page_id=pages, segment_id=segments, f_score=st.none() | st.just(0.7)),
    st.builds(Analysed, page_id=pages, upto_seq=seqs),
    st.builds(Embedded, first_seq=st.just(1), last_seq=seqs, embedder=st.just("e1")),
    st.builds(ChainSummarised, chain_id=chains, thread=st.just(ThreadId("t")), summary=st.just("s"), sources=sources),
    st.builds(
        SegmentWritten,
        segment_id=segments,
        parts=st.builds(SummaryPart, chain_id=chains, text=st.just("t"), sources=sources).map(lambda part: (part,)),
        keywords=st.just((KeywordCount(word="k", pages=1),)),
        said_from=st.just(NOW),
        said_to=st.just(NOW),
    ),
    st.builds(Evicted, segment_id=segments),
    st.builds(FactStrengthened, fact_id=facts, sources=sources),
    st.builds(FactRetired, fact_id=facts, superseded_by=st.none() | facts, valid_to=st.none() | st.just(NOW)),
    st.builds(FactArchived, fact_id=facts),
    st.builds(FactRestored, fact_id=facts),
    st.builds(FactPinned, fact_id=facts, pinned=st.booleans()),
    st.builds(
        FactAdded,
        fact_id=facts,
        about=st.sampled_from(About),
        subject=st.just("user"),
        attribute=st.just("likes"),
        value=st.just("tea"),
        text=st.just("likes tea"),
        sources=sources,
        valid_from=st.none() | st.just(NOW),
    ),
    st.builds(TraitSet, dimension=st.just("d"), level=st.just(0.5), confidence=st.just(0.5), sources=sources),
    st.builds(TraitCleared, dimension=st.just("d")),
    st.builds(
        ProfileSet,
        whose=st.sampled_from(About),
        name=st.sampled_from(["name", "home"]),
        value=st.none() | st.just("v"),
        sources=sources,
        set_by=st.just("caller"),
    ),
)
logs = st.lists(st.lists(decisions, max_size=5), max_size=12)


def once(log: list[list[Any]]) -> list[list[Any]]:
    """The log with each fact added once, which is so of every log: until memory begins anew."""
    added: set[str] = set()
    made: list[list[Any]] = []
    for decisions in log:
        kept = []
        for d in decisions:
            if isinstance(d, BegunAnew):
                added.clear()
            if isinstance(d, FactAdded):
                if d.fact_id in added:
                    continue
                added.add(d.fact_id)
            kept.append(d)
        made.append(kept)
    return made


def derived(store: SqlStore, owner: Owner) -> dict[str, list[tuple[Any, ...]]]:
    """Every row that applying changes writes, without its owner."""
    found = {}
    with store._read() as c:
        for table in (schema.segment, schema.page):
            columns = [column for column in table.c if column.name != "owner_id"]
            rows = c.execute(select(*columns).where(table.c.owner_id == owner.id))
            found[table.name] = sorted((tuple(row) for row in rows), key=repr)
        embedded = select(schema.owner.c.embedded_seq).where(schema.owner.c.owner_id == owner.id)
        found["owner"] = [tuple(row) for row in c.execute(embedded)]
    return found


def begun_anew(log: list[list[Any]], at: int | None) -> list[list[Any]]:
    return log if at is None or at >= len(log) else [*log[:at], [BegunAnew(), *log[at]], *log[at + 1 :]]


@settings(max_examples=bounded(8, proofs=400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(log=logs, anew=st.none() | st.integers(0, 11), cut=st.integers(0, 12))
@example(log=[[EVICTED], [PLACED]], anew=None, cut=0)
@example(log=[[PLACED], [EVICTED], [PLACED]], anew=None, cut=1)
@example(log=[[TRAIT], [TraitCleared(dimension="d")], [TRAIT]], anew=None, cut=1)
@example(log=[[TRAIT, TraitCleared(dimension="d")], [TRAIT]], anew=1, cut=0)
def test_one_by_one_in_parts_and_together_are_the_same(
    store: SqlStore, log: list[list[Any]], anew: int | None, cut: int
) -> None:
    changes = _changes(once(begun_anew(log, anew)))
    single, parted, whole = (
        _applied(store, changes, ends) for ends in (range(1, len(log) + 1), [cut, len(log)], [len(log)])
    )
    assert single == parted == whole


def _applied(store: SqlStore, changes: list[Change], ends: Iterable[int]) -> dict[str, list[tuple[Any, ...]]]:
    """What is derived for a new owner from the changes, written up to each of the ends at once."""
    user = f"alice {next(_owners)}"
    owner = Owner(id=ids.owner_id(user, "default"), user=user, agent="default")
    said = [Message(role=Role.USER, speaker="a", text="x", said_at=NOW, thread=ThreadId(f"t{n}")) for n in range(PAGES)]
    added = store.append(owner, said, now=NOW, key=None, digest="", fresh=False)
    with store._write() as c:
        for n, page_id in enumerate(added.page_ids):  # pages get the same ids for every owner
            mine = (schema.page.c.owner_id == owner.id, schema.page.c.page_id == page_id)
            c.execute(update(schema.page).where(*mine).values(page_id=f"page{n}"))
    start = 0
    for end in ends:
        with store._write() as c:
            projector = Projector(c, owner.id)
            for change in changes[start:end]:
                projector.stage(change)
            projector.flush()
        start = max(start, end)
    return derived(store, owner)


def _changes(log: list[list[Any]]) -> list[Change]:
    """The log, numbered; a second apart."""
    return [
        Change(
            no=no,
            cause=Cause.CONSOLIDATION,
            analyst="",
            recorded_at=NOW + timedelta(seconds=no),
            decisions=tuple(decisions),
        )
        for no, decisions in enumerate(log, 1)
    ]
