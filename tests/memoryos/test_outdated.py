"""Which reader read what: in the log, in the counts, where pages are read again, and where they are forgotten."""

from __future__ import annotations

import pytest

from embermem import OwnerMemory
from embermem.core.changes import Cause, is_extractive, is_verbatim
from embermem.core.types import Outdated, PageId
from forgotten import assert_gone, holds
from scripted import Opener, Place
from soundness import assert_sound
from table_reader import TableReader, reading_with

PLAIN, FIRST, SECOND = "extractive-v1", "extractive-v1+reader-1", "extractive-v1+reader-2"
CAT, DOG = "мой кот Барсик опять сожрал резинку", "nosso cachorro Bidu fugiu de novo"
TABLE = {
    CAT: ("has_pet", "Барсик"),
    DOG: ("has_pet", "Bidu"),
    "I live in Lyon.": ("lives_in", "Lyon"),
    "I like dates.": ("likes", "dates"),
    "I work as a nurse.": ("works_as", "nurse"),
}
ONE, TWO = TableReader("reader-1", TABLE), TableReader("reader-2", TABLE)


def say(alice: OwnerMemory, *texts: str) -> list[PageId]:
    """The pages of these messages, each understood alone."""
    made = []
    for text in texts:
        made.append(alice.add(text, "I see."))
        alice.settle()
    return made


def old(alice: OwnerMemory) -> dict[str, int]:
    """Outdated pages, by who read them."""
    return {one.analyst: one.pages for one in alice.stats().outdated}


def held(alice: OwnerMemory) -> list[str]:
    return sorted(fact.value for fact in alice.facts())


def test_a_name_says_whether_an_analyst_writes_what_was_said_as_it_was_said() -> None:
    for name, extractive, verbatim in (
        (PLAIN, True, True),
        (FIRST, True, True),
        (SECOND, True, True),
        ("", False, True),
        ("caller", False, True),
        ("model:scripted/3.6+extractive-v1+reader-1", False, False),
        ("extractive-v2", True, True),
        ("extractive-v1-mine", False, False),
        ("extractive", False, False),
        ("recorded+reader-1", False, False),
    ):
        assert (is_extractive(name), is_verbatim(name)) == (extractive, verbatim), name


@pytest.mark.engines
def test_what_was_read_without_the_reader_is_counted_and_reading_it_again_keeps_what_callers_decided(
    opened: Opener, place: Place, engine: str
) -> None:
    memory = opened(user_facts=20)
    alice, bob = memory.of("alice"), memory.of("bob")
    pages = say(alice, "I live in Lyon.", "I like figs.", CAT, "I like dates.", "I work as a nurse.")
    say(bob, "I like tea.")
    alice.undo(next(change.no for change in reversed(alice.changes()) if "dates" in str(change.decisions)))
    lyon, figs = (next(fact for fact in alice.facts() if fact.value == value) for value in ("Lyon", "figs"))
    alice.correct(lyon.id, "lives in Laon", value="Laon")
    alice.pin(figs.id)
    alice.forget(page=pages[-1])
    assert old(alice) == {PLAIN: 4}  # and no reader that could read them is here

    reading_with(memory, ONE)
    assert memory.outdated() == {
        alice.owner: (Outdated(analyst=PLAIN, pages=4, reader="reader-1"),),
        bob.owner: (Outdated(analyst=PLAIN, pages=1, reader="reader-1"),),
    }
    say(alice, DOG)
    assert old(alice) == {PLAIN: 4}
    assert held(alice) == ["Bidu", "Laon", "figs"]

    found = alice.understand_anew()
    assert [fact.value for fact in found.facts_new] == ["Барсик"]
    assert held(alice) == ["Bidu", "Laon", "figs", "Барсик"]
    assert next(fact for fact in alice.facts() if fact.value == "figs").pinned
    assert list(memory.outdated()) == [bob.owner]
    learnt = next(fact for fact in alice.facts() if fact.value == "Барсик")
    assert {change.analyst for change in alice.why(learnt.id).changes} == {FIRST}
    reading_with(memory, TWO)
    assert old(alice) == {FIRST: 5}
    memory.close()
    memory = opened(user_facts=20)
    assert list(memory.outdated()) == [bob.owner]  # what a reader read is not read again without one
    alice = memory.of("alice")
    receipt = alice.forget(fact=next(fact.id for fact in alice.facts() if fact.value == "Барсик"))
    assert_gone(alice, receipt, engine)
    assert not any(finding.level == "error" for finding in memory.check(deep=True))


@pytest.mark.engines
def test_a_page_is_forgotten_whole_where_two_readers_read(opened: Opener, place: Place, engine: str) -> None:
    memory = opened(user_facts=20)
    alice = memory.of("alice")
    first, *_ = say(alice, "I live in Quuxville.", "I saw a heron.", "We talked of trains.", "I like figs.")
    reading_with(memory, ONE)
    second, *_ = say(alice, CAT, "I saw two herons.", "The train was late.", "I like jazz.")
    names = {change.analyst for change in alice.changes() if change.cause is Cause.ANNOTATION}
    assert names == {PLAIN, FIRST}
    for page in (first, second):
        assert_gone(alice, alice.forget(page=page), engine)
    if engine == "sqlite":
        assert holds(place(), "Quuxville", "Барсик") == []
        assert_sound(place())
