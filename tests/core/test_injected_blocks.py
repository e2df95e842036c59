"""What Ember put into a prompt is taken out of what comes in, and nobody else loses a character."""

from __future__ import annotations

import multiprocessing
import os
import re
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from embermem import OwnerMemory
from embermem.core import injected_blocks
from embermem.core.errors import InputError
from embermem.memory import Memory
from scripted import Opener, Place

KEY, OTHER = b"k" * 32, b"o" * 32
FORGED = f"<{injected_blocks.MARK}{'0' * 16}-{'0' * 24}>"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
forged = st.sampled_from([FORGED, FORGED.replace("<", "</"), "<ember-memory ", "</ember-memory >", "<", ">"])
others = st.lists(st.one_of(texts, forged), max_size=6).map("".join)


def markers(block: str) -> tuple[str, str]:
    """A block's opening and closing marker."""
    first, last = re.findall(rf"</?{injected_blocks.MARK}[^>]*>", block)
    return first, last


@given(st.lists(st.tuples(others, others), max_size=6), others)
def test_blocks_go_and_all_around_them_stays(pairs: list[tuple[str, str]], last: str) -> None:
    given_in = "".join(around + injected_blocks.wrap(inside, KEY) for around, inside in pairs) + last
    assert injected_blocks.strip(given_in, KEY) == "".join(around for around, _ in pairs) + last


@given(others)
@example(FORGED + "my own words" + FORGED.replace("<", "</"))
def test_who_writes_a_marker_without_the_key_loses_nothing(text: str) -> None:
    assert injected_blocks.strip(text, KEY) == text


@given(others, others)
def test_a_block_of_another_key_is_anyones_text(before: str, inside: str) -> None:
    text = before + injected_blocks.wrap(inside, OTHER)
    assert injected_blocks.strip(text, KEY) == text


@given(others, others, others)
def test_a_block_in_a_block_goes_with_it(before: str, inside: str, after: str) -> None:
    inner = injected_blocks.wrap(inside, KEY)
    block = injected_blocks.wrap(inside + inner + inside, KEY)
    assert injected_blocks.strip(before + block + after, KEY) == before + after


@given(others, others)
def test_a_marker_without_its_other_one_goes_alone(before: str, after: str) -> None:
    for marker in markers(injected_blocks.wrap("x", KEY)):
        assert injected_blocks.strip(before + marker + after, KEY) == before + after


@given(st.lists(st.sampled_from(["a", "b", "A", "B", "/A", "/B", FORGED]), max_size=14))
def test_no_marker_of_ours_is_left_and_every_word_outside_is(parts: list[str]) -> None:
    made = dict(zip("AB", (markers(injected_blocks.wrap("", KEY)) for _ in "AB"), strict=True))
    text = "".join(made[part[-1]][part[0] == "/"] if part[-1] in "AB" else part for part in parts)
    left = injected_blocks.strip(text, KEY)
    assert all(marker not in left for pair in made.values() for marker in pair)
    # The slow way to say it: a block runs from an opening marker to the next closing one of its name.
    expected, place = "", 0
    while place < len(parts):
        part = parts[place]
        if part in "AB" and f"/{part}" in parts[place:]:
            place = parts.index(f"/{part}", place)
        elif part[-1] not in "AB":
            expected += part
        place += 1
    assert left == expected


@given(others, st.booleans(), st.data())
def test_a_marker_that_was_cut_goes_and_all_before_it_stays(before: str, closing: bool, data: st.DataObject) -> None:
    marker = markers(injected_blocks.wrap("figs", KEY))[closing]
    nonce = len(marker.partition(" ")[0]) + 1
    cut = marker[: data.draw(st.integers(nonce, len(marker) - 1))]
    assert injected_blocks.strip_cut(before + cut, KEY) == before


@given(st.data())
def test_a_cut_marker_of_another_key_and_one_that_the_text_goes_on_after_stay(data: st.DataObject) -> None:
    ours, theirs = (markers(injected_blocks.wrap("figs", key))[0] for key in (KEY, OTHER))
    code = theirs[: data.draw(st.integers(len(theirs) - 8, len(theirs) - 1))]
    assert injected_blocks.strip_cut(f"So: {code}", KEY) == f"So: {code}"
    on = f"{ours[: data.draw(st.integers(1, len(ours) - 1))]} it says"
    assert injected_blocks.strip_cut(on, KEY) == on


def test_every_block_has_a_nonce_of_its_own() -> None:
    assert len({injected_blocks.wrap("the same", KEY) for _ in range(50)}) == 50


@given(others, others)
def test_a_steady_block_is_the_same_for_the_same_text_alone_and_goes_as_any_other(one: str, other: str) -> None:
    block = injected_blocks.wrap(one, KEY, steady=True)
    assert injected_blocks.wrap(one, KEY, steady=True) == block
    first = block.partition("\n")[0]
    assert injected_blocks.wrap(other, KEY, steady=True).startswith(first) == (one == other)
    assert not injected_blocks.wrap(one, OTHER, steady=True).startswith(first)
    assert injected_blocks.strip(f"a{block}b", KEY) == "ab"


def test_time_is_linear_with_many_blocks_unclosed_ones_and_closing_ones() -> None:
    # A quadratic way would take minutes here: 20,000 markers of each kind.
    first, last = markers(injected_blocks.wrap("x", KEY))
    assert injected_blocks.strip(first * 20_000, KEY) == ""
    assert injected_blocks.strip(last * 20_000 + "kept", KEY) == "kept"
    assert injected_blocks.strip(first * 20_000 + "gone" + last * 20_000 + "kept", KEY) == "kept"
    assert injected_blocks.strip("<ember-memory " * 20_000, KEY) == "<ember-memory " * 20_000
    many = [injected_blocks.wrap("x", KEY) for _ in range(2_000)]
    assert injected_blocks.strip("y".join(many), KEY) == "y" * 1_999


# ------------------------------------------------------------------------------------------------ what comes in


def block(memory: Memory, text: str = "#1 alice: I live in Lyon.") -> str:
    """A block as this memory puts it into a prompt."""
    return injected_blocks.wrap(text, memory.nonce_key())


def said(owner: OwnerMemory) -> list[str]:
    return [u.text for page in owner.pages() for u in page.utterances]


def test_a_block_is_taken_out_of_an_exchange_and_of_messages(memory: Memory, alice: OwnerMemory) -> None:
    ours = block(memory)
    alice.add(f"Hello. {ours}", f"{ours}Good day.")
    alice.add_messages(
        [
            {"role": "user", "content": [{"type": "text", "text": f"Look: {ours}"}]},
            {"role": "assistant", "content": None, "refusal": f"I will not.{ours}"},
        ]
    )
    assert said(alice) == ["Hello. ", "Good day.", "Look: ", "I will not."]


def test_a_message_that_held_nothing_else_is_left_out(memory: Memory, alice: OwnerMemory) -> None:
    ours = block(memory)
    added = alice.add_messages([{"role": "system", "content": f"{ours}\n"}, {"role": "user", "content": "Hello."}])
    alice.add("Anyone?", ours)
    assert (len(added.utterance_ids), said(alice)) == (1, ["Hello.", "Anyone?"])


def test_where_nothing_is_left_the_caller_is_told(memory: Memory, alice: OwnerMemory) -> None:
    ours = block(memory)
    with pytest.raises(InputError, match="nothing but memory"):
        alice.add(ours)
    with pytest.raises(InputError, match="nothing but memory"):
        alice.add_messages([{"role": "system", "content": ours}])
    assert alice.pages() == ()


def test_a_made_up_marker_is_stored_as_it_was_written(alice: OwnerMemory) -> None:
    text = f"{FORGED} is what I typed {FORGED.replace('<', '</')}"
    alice.add(text)
    assert said(alice) == [text]


def test_the_key_is_made_once_and_found_again_by_another_process(opened: Opener) -> None:
    first, second = opened(), opened()
    ours = block(first)
    second.of("bob").add(f"Hello.{ours}")
    first.close()
    third = opened()
    third.of("bob").add(f"Again.{ours}")
    assert said(third.of("bob")) == ["Hello.", "Again."]


def keys_of(stores: list[str | Path], start: Barrier) -> list[str]:
    """The key of each store, asked for at the same moment as all others ask."""
    found = []
    for store in stores:
        with Memory(store, embedder="hashed", background=False) as memory:
            start.wait(60.0)
            found.append(memory.nonce_key().hex())
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_that_make_the_key_at_once_are_all_given_the_one_that_stands(place: Place) -> None:
    forks, askers = multiprocessing.get_context("fork"), 4
    stores = [place(f"{n}.db") for n in range(6)]
    for store in stores:
        Memory(store, embedder="hashed", background=False).close()
    start, told = forks.Barrier(askers), forks.Queue()
    children = [forks.Process(target=lambda: told.put(keys_of(stores, start))) for _ in range(askers)]
    for child in children:
        child.start()
    answers = [told.get(timeout=90.0) for _ in children]
    for child in children:
        child.join()
    for store, *keys in zip(stores, *answers, strict=True):
        with Memory(store, embedder="hashed", background=False) as memory:
            assert set(keys) == {memory.nonce_key().hex()}


def test_a_text_too_long_for_its_block_is_measured_without_it(opened: Opener) -> None:
    memory = opened(max_text_chars=100)
    memory.of("bob").add("Hello." + block(memory, "x" * 500))
    assert said(memory.of("bob")) == ["Hello."]


def test_the_same_call_with_another_nonce_is_the_same_call(memory: Memory, alice: OwnerMemory) -> None:
    first = alice.add(f"Hello.{block(memory)}", key="k")
    assert alice.add(f"Hello.{block(memory)}", key="k") == first
