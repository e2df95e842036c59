"""Forgetting touches only the rows that must change, and leaves what applying the whole log again would give."""

from __future__ import annotations

from embermem import OwnerMemory
from embermem.core.types import PageId
from readings import assert_as_applied_again, texts_written
from scripted import Clock, Opener, Place
from soundness import rows


def long_life(alice: OwnerMemory, pages: int) -> list[PageId]:
    made = [
        alice.add(f"On day {n} I saw a purple heron number {n} by the lake.", f"Day {n}, I see.", thread=f"t{n // 6}")
        for n in range(pages)
    ]
    alice.settle()
    return made


def summaries(alice: OwnerMemory) -> list[tuple[int, str]]:
    """Every sentence of every version of every segment, and the change that it stands in."""
    return [
        (no, sentence)
        for no, text in texts_written(alice.changes(limit=1000))
        for part in text.parts
        for sentence in part.text.split(". ")
    ]


def test_of_a_long_log_only_what_tells_of_a_page_is_read_and_written_anew_and_all_else_is_kept(
    opened: Opener, place: Place
) -> None:
    memory = opened(mid_term_segments=50)
    alice = memory.of("alice")
    pages = long_life(alice, 36)
    told = summaries(alice)
    before = {row["no"]: row["decisions"] for row in rows(place(), "SELECT * FROM change")}
    alice.forget(page=pages[15])
    after = {row["no"]: row["decisions"] for row in rows(place(), "SELECT * FROM change")}
    changed = [no for no, decisions in before.items() if after[no] != decisions]
    assert 0 < len(changed) < len(before) / 2
    assert len(after) == len(before) + 1
    assert_as_applied_again(memory, place())

    left = summaries(alice)
    gone = {(no, sentence) for no, sentence in told if "number 15 " in sentence or "Day 15," in sentence}
    assert gone
    assert {one for one in told if one not in gone} - {*left} == set()
    assert not any("number 15 " in sentence or "Day 15," in sentence for _, sentence in left)


def test_the_past_of_a_segment_is_there_still_but_for_what_was_forgotten(opened: Opener, clock: Clock) -> None:
    alice = opened(mid_term_segments=50).of("alice")
    pages = long_life(alice, 24)
    earlier = clock()
    clock.go(3600)
    long_life(alice, 12)
    then = {segment.id: segment for segment in alice.segments(as_of=earlier)}
    alice.forget(page=pages[7])
    left = {segment.id: segment for segment in alice.segments(as_of=earlier)}
    assert {*left} <= {*then}
    assert sum(len(segment.page_ids) for segment in left.values()) == 20
    for segment_id, segment in left.items():
        before = then[segment_id]
        assert set(segment.page_ids) == {*before.page_ids} - {pages[7]}
        assert set(segment.keywords) <= set(before.keywords)
        assert all(sentence in before.summary for sentence in segment.summary.split(". "))
