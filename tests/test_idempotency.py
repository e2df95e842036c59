"""Calls with an idempotency key: made again, they change nothing and give what they gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory
from embermem.core.errors import EmberError, InputError, KeyReused, NotFound
from json_lines import exported, imported
from proofs import bounded
from scripted import Clock

FIGS = {"text": "likes figs", "attribute": "likes", "value": "figs"}


@dataclass(kw_only=True)
class Session:
    """Calls on one memory, each with a key of its own."""

    alice: OwnerMemory
    made: list[Callable[[], Any]] = field(default_factory=list)

    def _fact(self, at: int) -> str:
        facts = self.alice.facts()
        return facts[at % len(facts)].id if facts else "f0-000"

    def make(self, name: str, at: int) -> None:
        """One call; one that is refused is not made."""
        key, alice = f"key-{len(self.made)}", self.alice
        fact, pages = self._fact(at), alice.pages()
        page = pages[at % len(pages)].id if pages else "p0"
        change = 1 + at % (len(alice.changes()) or 1)
        value = ("figs", "plums", "pears")[at % 3]
        calls: dict[str, Callable[[], Any]] = {
            "add": lambda: alice.add(f"I keep {value}.", at="2026-05-02T10:00:00Z", key=key),
            "learn": lambda: [one.id for one in alice.learn([{**FIGS, "value": value}], key=key)],
            "correct": lambda: alice.correct(fact, f"likes {value} now", key=key).id,
            "pin": lambda: alice.pin(fact, at % 2 == 0, key=key).id, "retire": lambda: alice.retire(fact, key=key).id,
            "profiles": lambda: alice.set_profiles(user={"name": value}, key=key),
            "instruction": lambda: alice.add_instruction(f"Always mention {value}.", key=key).id,
            "expire": lambda: alice.expire(fact_id=fact, at="2030-01-01", key=key),
            "expire_page": lambda: alice.expire(page_id=page, at="2030-01-01", key=key),
            "undo": lambda: alice.undo(change, key=key), "fade": lambda: alice.fade(key=key).facts,
            "forget": lambda: alice.forget(matching=value, key=key).sha256,
        }  # fmt: skip
        call = calls[name]
        try:
            call()
        except (InputError, NotFound):
            return
        self.made.append(call)


CALLS = (
    *("add", "learn", "correct", "pin", "retire", "profiles", "instruction"),
    *("expire", "expire_page", "undo", "fade", "forget"),
)


def standing(alice: OwnerMemory) -> Sequence[object]:
    """All that calls may change."""
    return (
        *(alice.pages(), alice.facts(), alice.past_facts(), alice.facts(archived=True)),
        *(alice.profile(), alice.agent_profile(), len(alice.changes()), alice.conflicts()),
    )


def refusal(call: Callable[[], Any]) -> str:
    """Why a call is refused; empty if it is not."""
    try:
        call()
    except EmberError as error:
        return str(error)
    return ""


@settings(max_examples=bounded(3, proofs=40))
@given(calls=st.lists(st.tuples(st.sampled_from(CALLS), st.integers(0, 5)), min_size=1, max_size=8))
def test_any_calls_made_again_with_their_keys_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[str, int]]
) -> None:
    place = tmp_path_factory.mktemp("keys") / "memory.db"
    with Memory(place, embedder="hashed", background=False, clock=Clock()) as memory:
        session = Session(alice=memory.of("alice"))
        session.alice.add("I live in Lyon and I like plums.", "Good.")
        session.alice.settle()
        for name, at in calls:
            session.make(name, at)
        before = standing(session.alice)
        refused = [why for made in session.made if (why := refusal(made))]
        assert standing(session.alice) == before
        # what the call made, or was given, was forgotten since
        gone = ("forgotten", "no fact", "no page", "no link", "no case", "no utterance")
        assert all(any(word in why for word in gone) for why in refused), refused
        assert all(finding.level == "ok" for finding in memory.check())


@pytest.mark.engines
def test_a_key_of_another_call_is_refused(memory: Memory) -> None:
    alice = memory.of("alice")
    (fact,) = alice.learn([FIGS], key="k")
    for call in (
        lambda: alice.learn([{**FIGS, "value": "plums"}], key="k"),
        lambda: alice.retire(fact.id, key="k"),
        lambda: alice.add("I like figs.", key="k"),
        lambda: alice.forget(fact=fact.id, key="k"),
    ):
        with pytest.raises(KeyReused):
            call()
    assert alice.facts() == (fact,)


@pytest.mark.engines
def test_the_same_call_gives_the_same_item_and_receipt(memory: Memory) -> None:
    alice = memory.of("alice")
    (fact,) = alice.learn([FIGS], key="1")
    corrected = alice.correct(fact.id, "likes plums", key="2")
    forgotten = alice.forget(fact=corrected.id, key="3")
    alice.add("I like plums.")
    assert alice.forget(fact=corrected.id, key="3") == forgotten
    assert alice.verify(forgotten).ok
    with pytest.raises(KeyReused):  # the digest of what was forgotten is kept as a keyed hash
        alice.correct(fact.id, "likes pears", key="2")


@pytest.mark.engines
def test_several_facts_changed_again_with_the_same_key_are_changed_once(memory: Memory) -> None:
    alice = memory.of("alice")
    one, other = alice.learn([FIGS, {**FIGS, "value": "plums", "text": "likes plums"}])
    pinned = alice.pin_facts([one.id, other.id], key="1")
    whole = alice.merge_facts(one.id, [other.id], key="2")
    retired = alice.retire_facts([whole.id], key="3")
    assert alice.pin_facts([one.id, other.id], key="1") == pinned
    assert alice.merge_facts(one.id, [other.id], key="2") == alice.fact(whole.id)
    assert alice.retire_facts([whole.id], key="3") == retired == alice.changes()[-1].no
    with pytest.raises(KeyReused):
        alice.retire_facts([one.id], key="3")


@pytest.mark.engines
def test_what_an_owner_did_before_being_forgotten_is_not_done_again(memory: Memory) -> None:
    alice = memory.of("alice")
    alice.learn([FIGS], key="k")
    alice.forget_owner()
    with pytest.raises(KeyReused):
        alice.learn([FIGS], key="k")
    assert alice.facts() == ()


def test_calls_with_keys_travel_with_an_export_and_a_copy(memory: Memory, tmp_path: Path) -> None:
    alice = memory.of("alice")
    (fact,) = alice.learn([FIGS], key="k")
    with Memory(tmp_path / "other.db", embedder="hashed", background=False) as other:
        imported(other, exported(memory))
        assert [one.id for one in other.of("alice").learn([FIGS], key="k")] == [fact.id]
