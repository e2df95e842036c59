"""What every store must give of the past: what stood at a revision, and what was true at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from embermem.core import ids
from embermem.core.changes import (
    Analysed,
    BegunAnew,
    Cause,
    ChainSummarised,
    Decision,
    Evicted,
    FactAdded,
    FactArchived,
    FactExpires,
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
from embermem.core.errors import InputError
from embermem.core.traits import dimensions
from embermem.core.types import (
    About,
    ChainId,
    Fact,
    FactId,
    ItemId,
    Message,
    Owner,
    Page,
    PageId,
    Role,
    SegmentId,
    Source,
    ThreadId,
    Tier,
    UtteranceId,
)
from embermem.protocols import ARCHIVED, ENDED, HELD, FactSelection, Moment
from embermem.store.sql import SqlStore
from scripted import NOW

ALICE = Owner(id=ids.owner_id("alice", "default"), user="alice", agent="default")
BOB = Owner(id=ids.owner_id("bob", "default"), user="bob", agent="default")
DAY = timedelta(days=1)
TRAIT = dimensions()[0].name
F1 = FactId("f1")


def say(store: SqlStore, text: str = "Hello", *, at: datetime = NOW, said_at: datetime | None = None) -> PageId:
    """One page of one message."""
    said = Message(role=Role.USER, speaker="alice", text=text, said_at=said_at or at, thread=ThreadId("main"))
    return store.append(ALICE, [said], now=at, key=None, digest="", fresh=True).page_ids[0]


def decide(store: SqlStore, *decisions: Decision, at: datetime = NOW, cause: Cause = Cause.CONSOLIDATION) -> int:
    """The number of the next change."""
    state = store.owner_state(ALICE.id)
    revision = 0 if state is None else state.revision
    return store.apply(ALICE, cause, "test", decisions, now=at, revision=revision, lease=None).no


def source(seq: int = 1) -> Source:
    return Source(seq=seq, utterance_id=UtteranceId("u"))


def fact(name: str = "f1", *, since: datetime | None = NOW) -> FactAdded:
    return FactAdded(
        fact_id=FactId(name),
        about=About.USER,
        subject="user",
        attribute="likes",
        value="tea",
        text="likes tea",
        sources=(source(),),
        valid_from=since,
    )


def written(*texts: str, said_to: datetime = NOW, segment: str = "s1") -> SegmentWritten:
    return SegmentWritten(
        segment_id=SegmentId(segment),
        parts=tuple(SummaryPart(chain_id=ChainId("c1"), text=text, sources=(source(),)) for text in texts),
        keywords=(KeywordCount(word="k", pages=1),),
        said_from=NOW,
        said_to=said_to,
    )


def placed(page_id: PageId, segment: str = "s1") -> Placed:
    return Placed(page_id=page_id, segment_id=SegmentId(segment), f_score=None)


def noted(page_id: PageId, upto: int, chain: str = "c1") -> Noted:
    return Noted(
        page_id=page_id, upto_seq=upto, chain_id=ChainId(chain), continues=False, keywords=(chain,), analyst="test"
    )


def at(revision: int, seq: int = 100) -> Moment:
    return Moment(seq=seq, revision=revision)


def true(when: datetime) -> Moment:
    return Moment(valid_at=when)


def fact_of(store: SqlStore, fact_id: FactId, moment: Moment) -> Fact | None:
    return next(iter(store.facts(ALICE.id, FactSelection(ids=frozenset({fact_id})), moment)), None)


def page_of(store: SqlStore, page_id: PageId, moment: Moment) -> Page | None:
    return next(iter(store.pages_by_id(ALICE.id, [page_id], 1, moment=moment)), None)


def names(facts: Sequence[Any]) -> list[str]:
    return [one.id for one in facts]


# -------------------------------------------------------------------------------------------------------- which moment


def test_a_time_stands_for_the_last_entries_of_both_logs_by_then(store: SqlStore) -> None:
    assert store.moment(ALICE.id, NOW) == Moment(seq=0, revision=0)
    say(store, at=NOW)
    say(store, at=NOW + DAY)
    decide(store, fact(), at=NOW + 2 * DAY)
    days = [store.moment(ALICE.id, NOW + n * DAY) for n in (-1, 0, 1, 2, 3)]
    assert [(one.seq, one.revision) for one in days] == [(0, 0), (1, 0), (2, 0), (2, 1), (2, 1)]
    assert store.moment(ALICE.id, NOW + DAY / 2) == Moment(seq=1, revision=0)
    assert store.moment(BOB.id, NOW + DAY) == Moment(seq=0, revision=0)


def test_after_all_entries_it_stands_for_now_whatever_clocks_said(store: SqlStore) -> None:
    say(store, at=NOW + DAY)
    say(store, at=NOW)
    decide(store, fact("f1"), at=NOW + DAY)
    decide(store, fact("f2"), at=NOW)
    assert store.moment(ALICE.id, NOW + DAY) == Moment(seq=2, revision=2)


def test_a_time_before_memory_was_begun_anew_is_refused(store: SqlStore) -> None:
    say(store)
    decide(store, fact())
    decide(store, BegunAnew(), at=NOW + DAY, cause=Cause.ANEW)
    with pytest.raises(InputError, match="change 2 began memory anew at 2026-05-03T10:00:00"):
        store.moment(ALICE.id, NOW)
    assert store.moment(ALICE.id, NOW + DAY) == Moment(seq=1, revision=2)
    assert (store.revision_at(ALICE.id, NOW), store.revision_at(BOB.id, NOW)) == (1, 0)


# --------------------------------------------------------------------------------------------------------------- facts


def test_a_fact_is_at_each_revision_as_that_left_it(store: SqlStore) -> None:
    say(store)
    say(store)
    decide(store, fact("f0"))
    decide(store, fact())
    decide(store, FactStrengthened(fact_id=F1, sources=(source(2),)))
    decide(store, FactPinned(fact_id=F1, pinned=True))
    decide(store, FactArchived(fact_id=F1))
    decide(store, FactRestored(fact_id=F1))
    decide(store, FactRetired(fact_id=F1, superseded_by=FactId("f0"), valid_to=NOW + DAY), at=NOW + DAY)
    decide(store, FactExpires(fact_id=FactId("f0"), at=NOW + DAY))

    def held(revision: int) -> list[str]:
        return names(store.facts(ALICE.id, HELD, at(revision)))

    assert [held(revision) for revision in (0, 1, 2, 3)] == [[], ["f0"], ["f0", "f1"], ["f0", "f1"]]
    assert [held(revision) for revision in (4, 5, 6, 7)] == [["f0", "f1"], ["f0"], ["f0", "f1"], ["f0"]]
    assert names(store.facts(ALICE.id, ARCHIVED, at(5))) == ["f1"]
    assert names(store.facts(ALICE.id, ENDED, at(7))) == ["f1"]
    assert store.facts(ALICE.id, ENDED, at(6)) == ()
    stood = [fact_of(store, F1, at(revision)) for revision in range(9)]
    assert stood[:2] == [None, None]
    kept = [one for one in stood if one is not None]
    assert [[s.seq for s in one.sources] for one in kept] == [[1], *[[1, 2]] * 6]
    assert [one.pinned for one in kept] == [False, False, *[True] * 5]
    assert [one.archived for one in kept] == [False, False, False, True, False, False, False]
    assert [one.superseded_by for one in kept] == [*[None] * 5, "f0", "f0"]
    assert [one.retired_at for one in kept] == [*[None] * 5, NOW + DAY, NOW + DAY]
    assert [one.valid_to for one in kept] == [*[None] * 5, NOW + DAY, NOW + DAY]
    expiries = [fact_of(store, FactId("f0"), at(revision)) for revision in (7, 8)]
    assert [one and one.expires_at for one in expiries] == [None, NOW + DAY]
    assert fact_of(store, F1, at(8)) == fact_of(store, F1, Moment())


@pytest.mark.engines
def test_a_fact_was_true_within_its_time_and_not_at_its_end(store: SqlStore) -> None:
    say(store)
    open_ended, ended, no_time, unknown = fact("open", since=None), fact("ended"), fact("wrong"), fact("unknown")
    decide(store, open_ended, ended, no_time, unknown, fact("archived"), fact("expiring"))
    decide(
        store,
        FactRetired(fact_id=FactId("ended"), superseded_by=FactId("open"), valid_to=NOW + DAY),
        FactRetired(fact_id=FactId("wrong"), superseded_by=None, valid_to=NOW),
        FactRetired(fact_id=FactId("unknown"), superseded_by=None, valid_to=None),
        FactArchived(fact_id=FactId("archived")),
        FactExpires(fact_id=FactId("expiring"), at=NOW + DAY),
        at=NOW + 3 * DAY,
    )

    def were_true(when: datetime, archived: bool = False) -> set[str]:
        return {*names(store.facts(ALICE.id, ARCHIVED if archived else HELD, true(when)))}

    assert were_true(NOW - DAY) == {"open"}
    assert were_true(NOW) == {"open", "ended", "unknown", "expiring"}
    assert were_true(NOW + DAY) == {"open", "unknown"}
    assert were_true(NOW + 3 * DAY) == {"open"}
    assert were_true(NOW, archived=True) == {"archived"}
    assert were_true(NOW - DAY, archived=True) == set()
    known_then = Moment(seq=1, revision=1, valid_at=NOW + 3 * DAY)
    assert len(store.facts(ALICE.id, HELD, known_then)) == 6
    assert store.facts(ALICE.id, replace(HELD, about=About.AGENT), known_then) == ()


# ------------------------------------------------------------------------------------------------------------- persona


def line(value: str | None, since: datetime | None = None) -> ProfileSet:
    sources = () if value is None else (source(),)
    return ProfileSet(whose=About.USER, name="home", value=value, sources=sources, set_by="test", valid_from=since)


def trait(level: float, since: datetime | None = None) -> TraitSet:
    return TraitSet(dimension=TRAIT, level=level, confidence=0.5, sources=(source(),), valid_from=since)


def told(store: SqlStore, moment: Moment) -> tuple[list[str], list[float]]:
    persona = store.persona(ALICE.id, moment)
    return [one.value for one in persona.profile], [one.level for one in persona.traits]


def test_lines_and_traits_are_at_each_revision_as_that_left_them(store: SqlStore) -> None:
    say(store)
    decide(store, line("Lyon"), trait(0.25))
    decide(store, line("Nantes"), trait(0.5))
    decide(store, line(None), TraitCleared(dimension=TRAIT))
    assert [told(store, at(revision)) for revision in range(4)] == [
        ([], []),
        (["Lyon"], [0.25]),
        (["Nantes"], [0.5]),
        ([], []),
    ]
    assert store.persona(ALICE.id, at(1)).profile[0].retired_at is None


def test_a_line_holds_from_its_time_on_over_what_earlier_changes_said(store: SqlStore) -> None:
    say(store)
    decide(store, line("Lyon", NOW), trait(0.25, NOW))
    decide(store, line("Nantes", NOW + 4 * DAY), trait(0.5, NOW + 4 * DAY))
    decide(store, line("Laon", NOW + 2 * DAY))
    decide(store, line(None, NOW + 6 * DAY))
    days = [told(store, true(NOW + n * DAY)) for n in (-1, 0, 2, 4, 6)]
    assert days == [
        ([], []),
        (["Lyon"], [0.25]),
        (["Laon"], [0.25]),
        (["Laon"], [0.5]),
        ([], [0.5]),
    ]
    then = Moment(seq=1, revision=2, valid_at=NOW + 4 * DAY)
    assert told(store, then) == (["Nantes"], [0.5])
    (kept,) = store.persona(ALICE.id, then).profile
    assert (kept.valid_from, kept.retired_at) == (NOW + 4 * DAY, None)


def test_a_trait_that_was_cleared_was_never_true(store: SqlStore) -> None:
    say(store)
    decide(store, trait(0.25, NOW))
    decide(store, TraitCleared(dimension=TRAIT))
    assert told(store, true(NOW)) == ([], [])
    decide(store, trait(0.5, NOW + DAY))
    assert told(store, true(NOW)) == ([], [])
    assert told(store, true(NOW + DAY)) == ([], [0.5])
    assert told(store, Moment(seq=1, revision=1, valid_at=NOW)) == ([], [0.25])


# --------------------------------------------------------------------------------------------------- pages and segments


@pytest.mark.engines
def test_a_page_is_where_it_was(store: SqlStore) -> None:
    pages = [say(store, f"{n}", at=NOW + n * DAY) for n in range(3)]
    decide(store, noted(pages[0], 1), placed(pages[0]), written("one"))
    decide(store, noted(pages[0], 1, "c2"), placed(pages[0], "s2"), written("moved", segment="s2"))
    decide(store, Evicted(segment_id=SegmentId("s2")))

    def stood(revision: int) -> tuple[object, ...]:
        page = page_of(store, pages[0], at(revision))
        assert page is not None
        assert names(store.pages(ALICE.id, 1, moment=at(revision))) == pages
        if page.segment_id is not None:
            assert store.pages(ALICE.id, 1, moment=at(revision), segment=page.segment_id) == (page,)
        assert store.pages(ALICE.id, 1, moment=at(revision), tier=page.tier)[0] == page
        return page.tier, page.segment_id, page.chain_id, page.keywords

    assert [stood(revision) for revision in range(4)] == [
        (Tier.PENDING, None, None, ()),
        (Tier.MID, "s1", "c1", ("c1",)),
        (Tier.MID, "s2", "c2", ("c2",)),
        (Tier.ARCHIVE, "s2", "c2", ("c2",)),
    ]


def test_short_term_memory_is_the_newest_pages_of_then(store: SqlStore) -> None:
    pages = [say(store, f"{n}", at=NOW + n * DAY) for n in range(4)]
    then = Moment(seq=2, revision=0)
    assert names(store.pages(ALICE.id, 1, moment=then)) == pages[:2]
    assert names(store.pages(ALICE.id, 1, moment=then, tier=Tier.SHORT)) == pages[1:2]
    assert names(store.pages(ALICE.id, 1, moment=then, tier=Tier.PENDING)) == pages[:1]
    assert names(store.pages(ALICE.id, 1, moment=then, limit=1)) == pages[1:2]
    assert names(store.pages(ALICE.id, 1, moment=then, before=2)) == pages[:1]
    assert store.pages(ALICE.id, 1, moment=then, thread=ThreadId("other")) == ()
    assert page_of(store, pages[3], then) is None
    assert names(store.pages(ALICE.id, 1, moment=true(NOW + DAY))) == pages[:2]


def test_a_page_holds_what_had_been_said_of_it(store: SqlStore) -> None:
    page_id = say(store, "Shall I go?")
    reply = Message(role=Role.ASSISTANT, speaker="a", text="Do.", said_at=NOW + 2 * DAY, thread=ThreadId("main"))
    store.append(ALICE, [reply], now=NOW + DAY, key=None, digest="", fresh=False)
    asked = [page_of(store, page_id, moment) for moment in (Moment(seq=1, revision=0), true(NOW + DAY))]
    assert [page and page.response for page in asked] == ["", ""]
    whole = page_of(store, page_id, true(NOW + 2 * DAY))
    assert whole == page_of(store, page_id, Moment())


def test_a_segment_is_as_it_was_with_its_counters(store: SqlStore) -> None:
    pages = [say(store, f"{n}", at=NOW + n * DAY) for n in range(2)]
    decide(store, placed(pages[0]), written("one"))
    decide(
        store,
        placed(pages[1]),
        written("one", "two"),
    )
    store.visit(ALICE.id, {ItemId("s1"): 3}, NOW + 9 * DAY)
    store.visit(ALICE.id, {ItemId("s1"): 1, ItemId("s9"): 1}, NOW + 8 * DAY)
    decide(store, Analysed(page_id=pages[0], upto_seq=1), Evicted(segment_id=SegmentId("s1")))
    store.visit(ALICE.id, {ItemId("s1"): 5}, NOW + 10 * DAY)
    assert store.segment_words(ALICE.id) == tuple(one.counted for one in store.segments(ALICE.id))
    assert store.segment_words(ALICE.id) == (("k",),)
    assert store.segments(ALICE.id, moment=at(0)) == ()
    (first,) = store.segments(ALICE.id, moment=at(1), archived=False)
    assert (first.summary, first.page_ids, first.keywords) == ("one", (pages[0],), ("k",))
    assert (first.visits, first.unanalysed, first.last_access) == (0, 1, NOW)
    (second,) = store.segments(ALICE.id, moment=at(2), archived=False)
    assert (second.summary, second.page_ids) == ("one\ntwo", tuple(pages))
    assert store.segments(ALICE.id, moment=at(3), archived=False) == ()
    (gone,) = store.segments(ALICE.id, moment=at(3), archived=True)
    assert (second.visits, second.unanalysed) == (0, 2)
    nine = NOW + 9 * DAY
    assert gone == replace(second, archived=True, visits=4, unanalysed=1, visited_at=nine, last_access=nine)
    assert gone.visited_at == nine
    (now,) = store.segments(ALICE.id)
    assert (now.visits, now.last_access) == (9, NOW + 10 * DAY)
    assert store.segments(ALICE.id, moment=at(3), ids=[SegmentId("s1")]) == (gone,)
    assert store.segments(ALICE.id, moment=at(3), ids=[SegmentId("s2")]) == ()


def test_a_summary_tells_of_nothing_said_later(store: SqlStore) -> None:
    pages = [say(store, f"{n}", said_at=NOW + n * DAY) for n in range(3)]

    def chain(text: str, seq: int) -> ChainSummarised:
        return ChainSummarised(chain_id=ChainId("c1"), thread=ThreadId("main"), summary=text, sources=(source(seq),))

    decide(store, noted(pages[1], 2), chain("one", 2), placed(pages[1]), written("one", said_to=NOW + DAY))
    decide(store, noted(pages[2], 3), chain("two", 3), placed(pages[2]), written("two", said_to=NOW + 2 * DAY))
    decide(store, noted(pages[0], 1), placed(pages[0]))

    def summaries(when: datetime) -> list[tuple[str, int]]:
        segments, chains = store.segments(ALICE.id, moment=true(when)), store.chains(ALICE.id, moment=true(when))
        told = [(segment.summary, len(segment.page_ids)) for segment in segments]
        return told + [(chain.summary, len(chain.page_ids)) for chain in chains]

    assert summaries(NOW - DAY) == []
    assert summaries(NOW) == [("", 1), ("", 1)]
    assert summaries(NOW + DAY) == [("one", 2), ("one", 2)]
    assert summaries(NOW + 2 * DAY) == [("two", 3), ("two", 3)]
    (bare,) = store.segments(ALICE.id, moment=true(NOW))
    assert (bare.said_from, bare.said_to, bare.keywords) == (NOW, NOW, ())
