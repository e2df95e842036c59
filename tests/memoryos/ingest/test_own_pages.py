"""A segment's title, summary and keywords are of its own pages: as they come, after forgetting, and in a migrated
store."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory
from embermem.core.types import Segment
from embermem.languages.words import terms
from net import stores
from proofs import bounded
from readings import texts_written
from scripted import SMALL, Clock, Opener, Place

NAMES = itertools.count()
THINGS = (
    "marathon training", "pottery class", "cello lesson", "harbour ferry", "tomato garden", "chess club",
    "kitchen leak", "sailing trip",
)  # fmt: skip
DOINGS = (
    "My {} begins in spring.", "I paid for the {} yesterday.", "The {} was long, and I was tired.", "Is a {} dear?",
)  # fmt: skip


def told_of(segment: Segment) -> set[str]:
    return set(terms(" ".join((segment.title, segment.summary, *segment.keywords))))


def said_in(owner: OwnerMemory, segment: Segment) -> set[str]:
    spoken = [u for page_id in segment.page_ids for u in owner.page(page_id).utterances]
    return set(terms(" ".join(f"{u.speaker} {u.text}" for u in spoken))) | {"user", "assist"}


def assert_of_own_pages(owner: OwnerMemory) -> None:
    for segment in (*owner.segments(), *owner.segments(archived=True)):
        rest = told_of(segment) - said_in(owner, segment)
        assert not {word for word in rest if word not in _STATED}, (segment.title, segment.summary, rest)
        assert len(segment.keywords) <= 8
        assert len(segment.title.split()) <= 8


_STATED = set(terms("alice they their theirs has did does plans went paid had to"))
"""Words of facts that nobody says."""

lives = st.lists(
    st.tuples(st.sampled_from(THINGS), st.sampled_from(DOINGS), st.sampled_from(("t1", "t2")), st.booleans()),
    min_size=6,
    max_size=20,
)


@settings(
    max_examples=bounded(2, proofs=80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lives=lives, gone=st.lists(st.integers(0, 19), min_size=1, max_size=3), paper=st.booleans())
def test_every_word_of_a_segment_s_text_was_said_in_its_pages_also_once_some_are_forgotten(
    place: Place, lives: list[tuple[str, str, str, bool]], gone: list[int], paper: bool
) -> None:
    clock = Clock()
    settings_of = {**SMALL, "preset": "paper"} if paper else SMALL
    with Memory(place(f"own{next(NAMES)}.db"), clock=clock, **settings_of) as memory:
        alice, pages = memory.of("alice"), []
        for thing, doing, thread, settles in lives:
            clock.go(60)
            pages.append(alice.add(doing.format(thing), "I see.", thread=thread))
            if settles:
                alice.settle()
        alice.settle()
        assert_of_own_pages(alice)
        for n in dict.fromkeys(n % len(pages) for n in gone):
            thing = lives[n][0]
            alice.forget(page=pages[n])
            if not any(thing in u.text for page in alice.pages() for u in page.utterances):
                texts = texts_written(alice.changes(limit=1000))
                words = {word for _, d in texts for word in terms(f"{d.title} {d.parts} {d.keywords} {d.shown}")}
                assert not set(terms(thing)) <= words
        assert_of_own_pages(alice)


def test_a_word_that_most_segments_have_is_no_keyword_shown_but_still_compared(opened: Opener, clock: Clock) -> None:
    memory = opened(preset="paper", theta=2.0, short_term_pages=1, mid_term_segments=20)
    alice = memory.of("alice")
    for thing in THINGS:
        clock.go(60)
        alice.add(f"A picture of my {thing}.", thread=thing)
    alice.settle()
    segments = alice.segments()
    assert len(segments) >= 6
    assert not any("picture" in segment.keywords for segment in segments[4:])
    assert all("picture" in segment.counted for segment in segments)
    assert all(segment.title for segment in segments)


@pytest.mark.sqlite
def test_a_migrated_store_opens_without_titles_and_a_segment_gets_one_with_its_next_page(tmp_path: Path) -> None:
    with stores.opened(stores.thaw(stores.MIGRATED, tmp_path), theta=-1.0) as memory:
        walkers = memory.of("walkers", "guide")
        assert {segment.title for segment in walkers.segments()} == {""}
        assert all(segment.summary and segment.keywords for segment in walkers.segments())
        for n in range(6):
            walkers.add(f"The herons of the old harbour have a nest number {n}.", "I see.", thread="t9")
        walkers.settle()
        assert any(segment.title for segment in walkers.segments())


def test_a_title_is_of_its_time_and_undone_with_what_wrote_it(opened: Opener, clock: Clock) -> None:
    alice = opened(preset="paper", theta=-1.0, short_term_pages=1).of("alice")
    alice.add("My marathon training begins in spring.", thread="a")
    alice.add("I bought a cello.", thread="b")
    alice.settle()
    (before,) = alice.segments()
    for n in range(4):
        clock.go(60)
        alice.add(f"The pottery class in room {n} and the pottery class teacher were kind.", thread=f"c{n}")
    alice.settle()
    (after,) = alice.segments()
    assert after.title != before.title
    assert [segment.title for segment in alice.segments(as_of=before.recorded_at)] == [before.title]
    difference = alice.diff(before.recorded_at, alice._parts.clock())
    assert [(old.title, new.title) for old, new in difference.segments_rewritten] == [(before.title, after.title)]
