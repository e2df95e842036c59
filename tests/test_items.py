"""Any item by its id, and lists of items, over every face that has them."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError, NotFound, Unchangeable
from embermem.core.types import Chain, Fact, Page, Segment, Utterance
from scripted import Clock, Opener

OTHER = {"newest": "oldest", "oldest": "newest"}


@pytest.fixture
def lived(opened: Opener) -> OwnerMemory:
    alice = opened(short_term_pages=2).of("alice")
    for number in range(6):
        alice.add(f"My heron number {number} lives in the garden.", "Lovely.", thread="s1")
    alice.settle()
    alice.learn([{"text": "likes figs"}, {"text": "likes plums"}])
    return alice


def test_an_item_of_every_kind_is_read_by_its_id(lived: OwnerMemory) -> None:
    kinds = {"page": Page, "utterance": Utterance, "fact": Fact, "segment": Segment, "chain": Chain}
    for kind, of in kinds.items():
        items = lived.items(kind)
        assert items, kind
        for item in items:
            assert isinstance(item, of)
            assert lived.get(item.id) == item
    for unknown in ("x1", "p1", "u1", "f0-000", "s0-00", "c0-0", "l0-00", ""):
        with pytest.raises(NotFound):
            lived.get(unknown)


def test_a_list_in_parts_is_the_whole_list(lived: OwnerMemory) -> None:
    lived.forget(page=lived.pages()[2].id)
    for kind, order in product(["page", "utterance", "fact", "segment", "chain"], OTHER):
        whole = lived.items(kind, order=order)
        assert [one.id for one in whole] == [one.id for one in reversed(lived.items(kind, order=OTHER[order]))]
        parts: list[Any] = []
        while part := lived.items(kind, order=order, limit=2, after=parts[-1].id if parts else None):
            parts += part
        assert [one.id for one in parts] == [one.id for one in whole]


def test_lists_go_on_by_number_after_the_last_item_was_forgotten(lived: OwnerMemory) -> None:
    last = lived.items("page", limit=3)[-1]
    assert isinstance(last, Page)
    lived.forget(page=last.id)
    assert [one.no for one in lived.items("page", limit=2, after=last.no) if isinstance(one, Page)] == [3, 2]
    with pytest.raises(NotFound):
        lived.items("page", after=last.id)
    with pytest.raises(InputError, match="kind = 'pages' is not allowed"):
        lived.items("pages")
    with pytest.raises(InputError, match="order"):
        lived.items(order="first")


def test_a_fact_is_updated_in_one_change_and_stays_answerable_by_date(lived: OwnerMemory, clock: Clock) -> None:
    before = lived.items("fact")[0]
    then, changes = clock(), len(lived.changes())
    clock.go(60)
    made = lived.update(before.id, "likes pears", value="pears", pinned=True, expires_at="2999-01-01", key="k")
    assert isinstance(made, Fact)
    assert (made.text[-11:], made.value, made.pinned, made.expires_at is not None) == (
        "likes pears", "pears", True, True,
    )  # fmt: skip
    assert len(lived.changes()) == changes + 1
    assert before in lived.facts(as_of=then)
    assert lived.update(before.id, "likes pears", value="pears", pinned=True, expires_at="2999-01-01", key="k") == made
    assert lived.update(made.id, pinned=False) == lived.fact(made.id)
    page = lived.update(lived.pages()[0].id, expires_at="2999-01-01")
    assert page.expires_at is not None


def test_what_cannot_be_changed_or_deleted_says_what_to_do(lived: OwnerMemory) -> None:
    page = lived.pages()[0]
    for item_id, told in (
        (page.id, "forget the page"),
        (page.utterances[0].id, page.id),
        (lived.segments()[0].id, "correct facts"),
        (lived.chains()[0].id, "correct facts"),
    ):
        with pytest.raises(Unchangeable, match=told):
            lived.update(item_id, "other words")
    for item_id, told in ((page.utterances[0].id, page.id), (lived.chains()[0].id, "pages")):
        with pytest.raises(Unchangeable, match=told):
            lived.delete(item_id)
    with pytest.raises(InputError, match="nothing to update"):
        lived.update(lived.facts()[0].id)
    with pytest.raises(NotFound):
        lived.update("u1", "other words")


def test_a_page_a_fact_and_a_segment_are_deleted_with_a_receipt(lived: OwnerMemory) -> None:
    for item_id in (lived.pages()[-1].id, lived.facts()[0].id, lived.segments()[0].id):
        assert lived.get(item_id)
        assert not lived.delete(item_id, dry_run=True).scrubbed
        receipt = lived.delete(item_id, key=item_id)
        assert lived.verify(receipt).ok
        assert lived.delete(item_id, key=item_id).sha256 == receipt.sha256
        with pytest.raises(NotFound):
            lived.get(item_id)


def test_no_item_of_another_owner_is_reached(lived: OwnerMemory, memory: Memory) -> None:
    bob = memory.of("bob")
    for kind in ("page", "utterance", "fact", "segment", "chain"):
        for item in lived.items(kind):
            for call in (bob.get, bob.delete, lambda item_id: bob.update(item_id, "mine")):
                with pytest.raises(NotFound):
                    call(item.id)
        assert bob.items(kind) == ()


def test_many_items_are_added_and_each_is_answered(memory: Memory) -> None:
    alice = memory.of("alice")
    items: list[Any] = [
        {"messages": "I live in Lyon.", "key": "1", "thread": "a"},
        {"messages": [{"role": "user", "content": "Hello"}, {"role": "nobody", "content": "x"}]},
        {"messages": "Again.", "words": 1},
        "no mapping",
        {"messages": [{"role": "user", "content": "I keep a heron."}], "key": "1"},
        {"messages": [{"role": "user", "content": "I keep a heron."}], "at": "2026-05-01"},
    ]
    done = alice.add_many(items, thread="b")
    assert [(one.index, one.added is not None, one.error_kind) for one in done] == [
        (0, True, ""), *((index, False, "input-error") for index in (1, 2, 3)), (4, False, "key-reused"), (5, True, ""),
    ]  # fmt: skip
    assert "items[1]: messages[1]" in done[1].error
    assert "items[2]: unknown: words" in done[2].error
    assert [(one.text, one.thread) for one in alice.utterances()] == [
        ("I live in Lyon.", "a"),
        ("I keep a heron.", "b"),
    ]
    assert alice.add_many(items[:1]) == done[:1]
    with pytest.raises(InputError, match="at most 500"):
        alice.add_many(items * 100)
    assert len(alice.utterances()) == 2


def test_what_changed_of_an_item_is_told_from_what_to_what(lived: OwnerMemory) -> None:
    (fact,) = lived.learn([{"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon"}])
    lived.pin(fact.id)
    corrected = lived.correct(fact.id, "lives in Paris", value="Paris")
    told = [(one.field, one.before, one.after, one.cause, one.by) for one in lived.edits(fact.id)]
    assert ("value", None, "Lyon", "import", "caller") in told
    assert ("pinned", None, "True", "correction", "caller") in told
    assert ("superseded_by", None, corrected.id, "correction", "caller") in told
    lived.set_profile(name="Alice")
    lived.set_profile(name="Alicia")
    lived.set_profile(name=None)
    names = [(one.before, one.after) for one in lived.edits("user.name") if one.field == "value"]
    assert names == [(None, "Alice"), ("Alice", "Alicia"), ("Alicia", None)]
    for kind in ("page", "segment", "chain"):
        assert [one for one in lived.edits(lived.items(kind, order="oldest")[0].id) if one.before is None], kind
    assert lived.edits(lived.utterances()[0].id) == ()
    for unknown in ("user.nothing", "f0-000", "openness"):
        with pytest.raises(NotFound):
            lived.edits(unknown)
