"""A long message is found by all that it says, not by its beginning."""

from __future__ import annotations

from embermem import Memory, OwnerMemory
from proofs import bounded
from scripted import Opener, Place
from soundness import assert_sound, meddle

LAST = "The spare key of the cabin lies under the blue flower pot."
ASKED = "Where is the spare key of the cabin?"


def long_text(sentences: int) -> str:
    told = (
        f"On day {i} the {('ferry', 'tram', 'train')[i % 3]} to town number {i} was late again."
        for i in range(sentences)
    )
    return " ".join([*told, LAST])


def lived(alice: OwnerMemory, text: str) -> None:
    for i in range(30):
        alice.add(f"I took the {('ferry', 'tram', 'train')[i % 3]} and bought {i} apples.", "That is good to hear.")
    alice.add(text, "I have read all of it.")


def test_the_last_sentence_of_a_very_long_message_is_found_before_and_after_it_is_settled(alice: OwnerMemory) -> None:
    text = long_text(bounded(1_200, proofs=3_600))
    assert len(text) > bounded(60_000, proofs=200_000)
    lived(alice, text)
    for settled in (False, True):
        if settled:
            alice.settle()
        context = alice.recall(ASKED, budget=300)
        assert LAST in context.text
        assert context.tokens <= 300
        assert [hit.utterance.text == text for hit in context.hits].count(True) == 1
        assert [hit.rank for hit in context.hits] == list(range(1, len(context.hits) + 1))
        assert len({hit.utterance.id for hit in context.packed}) == len(context.packed)
        assert alice.search(ASKED, k=1)[0].utterance.text == text


def test_what_stands_late_is_found_as_well_after_opening_again_and_in_another_store_until_it_is_forgotten(
    opened: Opener, place: Place, memory: Memory
) -> None:
    lived(memory.of("alice"), long_text(300))
    memory.of("alice").settle()
    told = memory.of("alice").recall(ASKED, budget=300).text
    assert LAST in told
    assert opened().of("alice").recall(ASKED, budget=300).text == told
    assert all(one.same for one in memory.rebuild())
    assert_sound(place())
    alice = memory.of("alice")
    alice.forget(page=alice.pages()[-1].id)
    assert not any(LAST in hit.utterance.text for hit in alice.search(ASKED))


def test_a_long_message_that_was_embedded_whole_is_still_found_by_its_words(opened: Opener, place: Place) -> None:
    """As in a migrated store: there is one vector, of its beginning."""
    memory = opened()
    lived(memory.of("alice"), long_text(300))
    memory.of("alice").settle()
    memory.close()
    meddle(place(), "UPDATE embedding SET passages = NULL")
    context = opened().of("alice").recall(ASKED, budget=300)
    assert LAST in context.text
    assert not context.partial
