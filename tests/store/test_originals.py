"""Originals from the outside: stored, given back, erased with what they belong to, moved."""

from __future__ import annotations

import io
import re
from datetime import timedelta
from typing import Any

import pytest

from embermem import Memory, OwnerMemory, Scope
from embermem.core.errors import InputError, KeyReused, NotFound
from embermem.transfer.export import export
from forgotten import assert_gone, holds
from json_lines import exported, file_of, imported, lines_of
from lives import store_of
from scripted import NOW, SMALL, Clock, Opener, Place
from statement_names import sent

CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"place": "Lyon"}', "n": 2**40}
REASONING = {"type": "reasoning", "encrypted_content": "gAAAAABo" * 40, "summary": []}
ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "I live in Lyon.", "original": {"role": "user", "content": "I live in Lyon."}},
    {"role": "tool", "original": REASONING},
    {"role": "tool", "content": "weather in Lyon", "original": CALL},
    {"role": "assistant", "content": "It is sunny."},
]
LEASE = "# Lease\n\nThe rent is due on the third.\n\n## Pets\n\nA heron is allowed.\n"


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    return memory.of("alice")


def sound(memory: Memory) -> bool:
    return [one for one in memory.check(deep=True) if one.level == "error"] == []


def test_originals_come_back_exactly_and_in_order(memory: Memory, alice: OwnerMemory) -> None:
    added = alice.add_messages(ITEMS, thread="s1")
    alice.add_messages([{"role": "user", "content": "Hello", "original": [1]}], thread="s2")
    found = alice.originals(thread="s1")
    assert list(found) == list(added.utterance_ids[:3])
    assert list(found.values()) == [ITEMS[0]["original"], REASONING, CALL]
    assert list(found.values())[2] == alice.original(added.utterance_ids[2])
    assert list(alice.originals(thread="s1", last=2).values()) == [REASONING, CALL]
    assert alice.originals(thread="s1", last=0) == {}
    assert list(alice.originals().values())[-1] == [1]
    some = [added.utterance_ids[2], "u0", added.utterance_ids[0], added.utterance_ids[3]]
    assert list(alice.originals(some)) == [added.utterance_ids[0], added.utterance_ids[2]]
    assert alice.originals([]) == {}
    assert sound(memory)


def test_what_has_no_original_is_not_found(alice: OwnerMemory) -> None:
    alice.add_messages(ITEMS)
    for item in ("u0", "", "x" * 100):
        with pytest.raises((NotFound, InputError)):
            alice.original(item)
    with pytest.raises(NotFound, match="no original of"):
        alice.original(alice.utterances()[3].id)


def test_messages_without_text_are_no_hits_and_take_no_room_in_a_context(memory: Memory, alice: OwnerMemory) -> None:
    bob = memory.of("bob")
    for _ in range(3):
        alice.add_messages(ITEMS, thread="s1")
        bob.add_messages([one for one in ITEMS if one.get("content")], thread="s1")
    for owner in (alice, bob):
        owner.settle()
    assert [hit.utterance.text for hit in alice.search("Where do I live?", k=50) if not hit.utterance.text] == []
    contexts = [re.sub(r"#\d+ ", "", owner.recall("Where do I live?").text) for owner in (alice, bob)]
    assert contexts[0] == contexts[1].replace("bob", "alice")
    assert [fact.value for fact in alice.facts()] == [fact.value for fact in bob.facts()] == ["Lyon"]
    assert alice.stats().without_vector == 0
    assert sound(memory)


def test_of_two_owners_neither_sees_the_other_s(memory: Memory, alice: OwnerMemory) -> None:
    added = alice.add_messages(ITEMS, thread="s1")
    assert memory.of("bob").originals() == {}
    assert memory.of("bob").originals(added.utterance_ids, thread="s1") == {}


def test_it_is_erased_with_its_message(memory: Memory, place: Place, clock: Clock, engine: str) -> None:
    for way in ("page", "thread", "scope", "owner", "expiry"):
        alice = memory.of(way)
        alice.add_messages([{"role": "user", "content": "Hello", "original": "stays"}], thread="other")
        alice.add_messages(
            [{"role": "user", "content": "I live in Lyon.", "original": {"q": "Zanzibaresque"}}],
            thread="s1",
            expires_at=timedelta(hours=1) if way == "expiry" else None,
        )
        page, receipt = alice.pages()[-1].id, None
        match way:
            case "page":
                receipt = alice.forget(page=page)
            case "thread":
                receipt = alice.forget(thread="s1")
            case "scope":
                receipt = alice.forget(scope=Scope(threads=["s1"]))
            case "owner":
                receipt = alice.forget_owner()
            case _:
                clock.go(3601)
                assert list(alice.originals().values()) == ["stays"]
                alice.settle()
        assert list(alice.originals().values()) == ([] if way == "owner" else ["stays"])
        if receipt is not None:
            assert_gone(alice, receipt, engine)
        memory.scrub()
        assert not holds(place(), "Zanzibaresque")
        assert sound(memory)


def test_a_document_keeps_its_original_as_it_was_added_last(memory: Memory, alice: OwnerMemory) -> None:
    done = alice.add_document(LEASE, source="claude:/memories/lease.md", original={"text": LEASE})
    assert alice.original(done.id) == {"text": LEASE}
    again = alice.add_document(LEASE, source="claude:/memories/lease.md", original={"text": LEASE, "v": 2})
    assert (again.id, again.added, again.kept, again.removed) == (done.id, 0, 2, 0)
    assert alice.original(done.id) == {"text": LEASE, "v": 2}
    alice.add_document(LEASE.replace("third", "fifth"), source="claude:/memories/lease.md", original=[None, {}])
    assert alice.originals() == {done.id: [None, {}]}
    state = alice.state()
    alice.add_document(LEASE.replace("third", "fifth"), source="claude:/memories/lease.md", original=[None, {}])
    assert alice.state() == state
    alice.add_document(LEASE.replace("third", "fifth"), source="claude:/memories/lease.md")
    assert alice.originals() == {}
    assert sound(memory)


def test_a_document_that_lost_a_passage_has_no_original_and_one_that_is_forgotten_neither(
    memory: Memory, alice: OwnerMemory, place: Place, engine: str
) -> None:
    done = alice.add_document(LEASE, source="lease.md", original={"text": LEASE, "note": "Zanzibaresque"})
    alice.forget(page=alice.passages(done.id)[1].page_id)
    assert alice.originals() == {}
    alice.add_document(LEASE, source="lease.md", original={"text": LEASE, "note": "Zanzibaresque"})
    receipt = alice.forget_document(done.id)
    assert_gone(alice, receipt, engine)
    assert alice.originals() == {}
    memory.scrub()
    assert not holds(place(), "Zanzibaresque")
    assert sound(memory)


def test_a_document_ends_when_it_says_and_later_or_never_where_it_is_added_again(
    memory: Memory, alice: OwnerMemory, clock: Clock
) -> None:
    day = timedelta(days=1)
    done = alice.add_document(LEASE, source="a", original=1, expires_at=day)
    assert {alice.page(one.page_id).expires_at for one in alice.passages(done.id)} == {clock() + day}
    clock.go(86_000)
    alice.add_document(LEASE, source="a", original=1, expires_at=day)
    clock.go(86_000)
    assert [one.id for one in alice.documents()] == [done.id]
    assert "third" in alice.recall("When is the rent due?").text
    clock.go(500)
    assert (alice.documents(), alice.documents(source="a"), alice.originals()) == ((), (), {})
    assert "third" not in alice.recall("When is the rent due?").text
    with pytest.raises(NotFound):
        alice.document(done.id)
    alice.settle()
    assert alice.stats().passages == 0
    done = alice.add_document(LEASE, source="a", expires_at=day)
    alice.add_document(LEASE, source="a")
    clock.go(2 * 86_400)
    assert [one.id for one in alice.documents()] == [done.id]
    with pytest.raises(InputError, match="expires_at"):
        alice.add_document(LEASE, source="b", expires_at="2020-01-01")
    assert sound(memory)


@pytest.mark.engines
def test_documents_are_listed_by_their_source_or_how_it_begins_letter_by_letter(alice: OwnerMemory) -> None:
    sources = ["a/b", "a/B", "A/b", "a%b", "a_b", "a/b/c", "a0", "é/x", "\U0010ffffx", "a\ud7ff!", "a\ue000"]
    for one in sources:
        alice.add_document(f"A text of {one.encode()!r}.", source=one)
    for one in [*sources, "a", "a/", "a%", "a_", "A", "", "none", "\U0010ffff", "a\ud7ff", "e", "A/B"]:
        assert sorted(found.source for found in alice.documents(under=one)) == sorted(
            source for source in sources if source.startswith(one)
        ), one
        assert [found.source for found in alice.documents(source=one)] == [s for s in sources if s == one]
    assert alice.documents(source="a/b", under="a0") == ()


@pytest.mark.sqlite
def test_documents_by_how_their_source_begins_are_found_by_an_index(memory: Memory, alice: OwnerMemory) -> None:
    with sent() as heard:
        alice.documents(under="langgraph:a/")
    plans = [store_of(memory).explain(one.text, one.parameters) for one in heard if "source >= " in one.text]
    assert len(plans) == 1
    assert "(owner_id=? AND source>? AND source<?)" in str(plans)


def test_the_same_key_with_another_original_is_refused(alice: OwnerMemory) -> None:
    said = {"role": "user", "content": "Hello"}
    first = alice.add_messages([{**said, "original": {"a": 1}}], key="k")
    assert alice.add_messages([{**said, "original": {"a": 1}}], key="k") == first
    for other in ({**said, "original": {"a": 2}}, said, {**said, "metadata": {"a": 1}}):
        with pytest.raises(KeyReused):
            alice.add_messages([other], key="k")
    alice.add_document(LEASE, source="a", original=1, key="d")
    alice.add_document(LEASE, source="a", original=1, key="d")
    with pytest.raises(KeyReused):
        alice.add_document(LEASE, source="a", original=2, key="d")


def test_without_originals_the_digests_of_receipts_are_what_they_were(memory: Memory, alice: OwnerMemory) -> None:
    alice.add_messages(
        [{"role": "user", "content": "Hello", "metadata": {"b": 1, "a": "x"}}, {"role": "assistant", "content": "Hi"}],
        at="2026-05-01T10:00:00Z",
        key="k",
    )
    alice.add_document(LEASE, source="a", at="2026-05-01T10:00:00Z", metadata={"b": 1}, key="d")
    lines = lines_of(exported(memory))
    digests = {one["key"]: one["digest"] for one in lines if one["kind"] == "receipt"}
    assert digests == {
        "k": "62d1dad1a629c367a20167de6aee455b9c235d7bb20e87ec9318d09275b49ddb",
        "d": "fc0caaf5b0f4f1fb88416f8c678d20bd278c7a55c54b3ff92261d16a9f01a1be",
    }


def test_what_is_sensitive_and_ember_s_own_blocks_are_taken_out_of_the_texts_of_originals(opened: Opener) -> None:
    with opened(redact="secrets") as memory:
        alice = memory.of("alice")
        alice.add("I keep a heron.", "Good.")
        block = memory.marked(alice.recall("heron").text)
        key = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
        said = {"content": [{"text": f"My key is {key}. {block}End"}], "n": 1}
        added = alice.add_messages([{"role": "user", "content": f"The key: {key}", "original": said}])
        left = {"content": [{"text": "My key is [redacted: API key]. End"}], "n": 1}
        assert alice.original(added.utterance_ids[0]) == left
        where = [(one.where, one.kind) for one in added.redactions]
        assert where == [("text", "API key"), ("original.content[0].text", "API key")]
        done = alice.add_document("# Keys\n\nNone.", source="a", original={"k": [key], "b": block})
        assert alice.original(done.id) == {"k": ["[redacted: API key]"], "b": ""}


def test_a_message_of_nothing_but_a_block_is_kept_for_its_original(alice: OwnerMemory, memory: Memory) -> None:
    alice.add("I keep a heron.", "Good.")
    block = memory.marked("Told by Ember.")
    item = {"type": "function_call_output", "call_id": "c1", "output": block}
    added = alice.add_messages([{"role": "tool", "content": block, "original": item}])
    assert alice.original(added.utterance_ids[0]) == {**item, "output": ""}
    assert alice.utterance(added.utterance_ids[0]).text == ""
    with pytest.raises(InputError, match="nothing but memory that Ember itself put"):
        alice.add_messages([{"role": "tool", "content": block}])


def test_wrong_originals_are_refused_and_the_error_says_where(alice: OwnerMemory) -> None:
    with pytest.raises(InputError, match=r"messages\[1\]\.original\.a = nan"):
        alice.add_messages([ITEMS[0], {"role": "user", "content": "x", "original": {"a": float("nan")}}])
    with pytest.raises(InputError, match=r"original\.a is set"):
        alice.add_document(LEASE, original={"a": {1}})
    (item,) = alice.add_many([{"messages": [{"role": "user", "content": "x", "original": {1: 2}}]}])
    assert "messages[0].original has the name 1" in item.error
    assert alice.pages() == ()
    with pytest.raises(InputError, match="last"):
        alice.originals(last=-1)


def test_originals_travel_with_an_export_and_a_scope_takes_those_of_what_is_in_it(
    memory: Memory, alice: OwnerMemory
) -> None:
    alice.add_messages(ITEMS, thread="s1")
    alice.add_messages([{"role": "user", "content": "Hello", "original": "ä\x00"}], thread="s2")
    alice.add_document(LEASE, source="lease.md", original={"text": LEASE})
    with Memory(":memory:", **SMALL) as other:
        imported(other, exported(memory))
        assert other.of("alice").originals() == alice.originals()
        assert sound(other)
    said = {utterance.id for utterance in alice.utterances() if utterance.thread == "s2"}
    with Memory(":memory:", **SMALL) as other:
        out = io.BytesIO()
        owners = memory.owners()
        export(store_of(memory), owners, out, vectors=False, now=NOW, seen=lambda owner: said)
        imported(other, out.getvalue())
        assert list(other.of("alice").originals().values()) == ["ä\x00"]
        assert sound(other)


def test_an_import_refuses_originals_that_no_store_could_hold(memory: Memory, alice: OwnerMemory) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"value": '{"a": NaN}'}, "value.a = nan"),
        ({"value": "{"}, "cannot be read"),
        ({"id": "u0"}, "the original is of nothing here: 'u0'"),
        ({"twice": True}, "has an original already"),
    ]
    alice.add_messages(ITEMS[:1])
    for change, said in cases:
        lines = lines_of(exported(memory))
        place = next(place for place, line in enumerate(lines) if line["kind"] == "original")
        twice = change.pop("twice", False)
        lines[place : place + 1] = [{**lines[place], **change}] * (2 if twice else 1)
        with Memory(":memory:", **SMALL) as other:
            with pytest.raises(InputError, match=said):
                imported(other, file_of(lines))
            assert other.owners() == ()
