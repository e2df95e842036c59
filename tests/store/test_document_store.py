"""Documents from the outside: stored, found, replaced, forgotten, moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from embermem import Memory, OwnerMemory, Scope
from embermem.core.errors import InputError, KeyReused, NotFound
from embermem.core.types import Role, Tier
from forgotten import assert_gone, holds
from json_lines import exported, imported
from scripted import Opener, Place

HANDBOOK = """# Handbook

Welcome to all of us at the harbour office.

## Leave

### Parental leave

Parents have sixteen weeks of paid leave, for each child.

### Sick leave

Call your lead before nine in the morning.
"""


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    alice = memory.of("alice")
    for n in range(9):
        alice.add(f"I like figs and walk {n} miles.", "Noted.", at=f"2026-05-0{n + 1}T10:00:00Z")
    return alice


def sound(memory: Memory) -> bool:
    return [one for one in memory.check(deep=True) if one.level == "error"] == []


def texts(owner: OwnerMemory, document: str) -> list[str]:
    return [one.text for one in owner.passages(document)]


def test_a_passage_is_found_at_once_and_quoted_with_title_and_place(memory: Memory, alice: OwnerMemory) -> None:
    done = alice.add_document(HANDBOOK, source="handbook.md")
    assert (done.title, done.source, done.added, done.kept, done.removed) == ("Handbook", "handbook.md", 3, 0, 0)
    context = alice.recall("How many weeks of parental leave are paid?")
    assert "[Handbook, Leave > Parental leave] Parents have sixteen weeks" in context.text
    hit = alice.search("parental leave weeks", k=1)[0]
    assert hit.tier is None
    assert hit.utterance.role is Role.DOCUMENT
    assert hit.passage is not None
    assert (hit.passage.title, hit.passage.source, hit.passage.place) == (
        "Handbook", "handbook.md", "Leave > Parental leave",
    )  # fmt: skip
    assert HANDBOOK[hit.passage.start : hit.passage.end] == hit.utterance.text


def test_documents_take_no_part_in_what_is_understood_of_talk(memory: Memory, alice: OwnerMemory) -> None:
    short = [page.id for page in alice.pages(Tier.SHORT)]
    alice.add_document("# Ana\n\nMy name is Ana. I live in Oslo and I like tea.", source="a.md")
    assert [page.id for page in alice.pages(Tier.SHORT)] == short
    assert all(hit.tier is not None or hit.passage is not None for hit in alice.search("tea figs Oslo", k=20))
    alice.settle()
    alice.settle()
    assert len(alice.pages()) == 9
    assert not any("Oslo" in fact.text or "tea" in fact.text for fact in alice.facts())
    assert {person.name for person in alice.people()} == {"alice", "agent"}
    stats = alice.stats()
    assert (stats.pages, stats.utterances, stats.documents, stats.passages) == (9, 18, 1, 1)
    assert stats.short + stats.pending + stats.mid + stats.archive == 9
    assert (memory.stats().pages, memory.stats().documents, memory.stats().passages) == (9, 1, 1)
    assert stats.without_vector == 0
    assert sound(memory)


def test_adding_again_keeps_what_stayed_and_replaces_what_changed(
    memory: Memory, alice: OwnerMemory, place: Place
) -> None:
    done = alice.add_document(HANDBOOK, source="handbook.md")
    alice.settle()
    before = {one.text: one for one in alice.passages(done.id)}
    revision = alice.changes()[-1].no
    assert alice.add_document(HANDBOOK, source="handbook.md").kept == 3
    assert alice.changes()[-1].no == revision
    changed = HANDBOOK.replace("before nine", "before ten").replace("Welcome to all", "A warm welcome to all")
    again = alice.add_document(changed, source="handbook.md")
    assert (again.id, again.added, again.kept, again.removed) == (done.id, 2, 1, 2)
    after = {one.text: one for one in alice.passages(done.id)}
    kept = next(text for text in after if "Parents" in text)
    assert after[kept].seq == before[kept].seq
    passage = after[kept].passage
    assert passage is not None
    assert changed[passage.start : passage.end] == kept
    assert alice.stats().without_vector == 2
    assert "before nine" not in alice.recall("When do I call if I am sick?").text
    assert "before ten" in alice.recall("When do I call if I am sick?").text
    assert holds(place(), "before nine", "before ten") == ["before ten"]
    back = alice.add_document(HANDBOOK, source="handbook.md")
    assert (back.added, back.kept, back.removed) == (2, 1, 2)
    alice.settle()
    assert sound(memory)


def test_a_key_that_no_receipt_can_hold_is_refused(alice: OwnerMemory) -> None:
    with pytest.raises(InputError, match=r"key has 257 characters, more than the 256"):
        alice.add_document("# Lease\n\nThe rent is due.", key="k" * 257)
    assert alice.documents() == ()


def test_a_key_stores_once(alice: OwnerMemory) -> None:
    first = alice.add_document(HANDBOOK, source="handbook.md", key="k")
    assert alice.add_document(HANDBOOK, source="handbook.md", key="k").kept == first.added
    with pytest.raises(KeyReused):
        alice.add_document("Other words.", source="handbook.md", key="k")
    alice.forget_document(first.id)
    with pytest.raises(KeyReused):
        alice.add_document(HANDBOOK, source="handbook.md", key="k")
    assert alice.documents() == ()


def test_a_forgotten_document_is_gone_and_may_be_added_again(
    memory: Memory, alice: OwnerMemory, place: Place, engine: str
) -> None:
    done = alice.add_document(HANDBOOK, source="handbook.md")
    tried = alice.forget_document(done.id, dry_run=True)
    assert (len(tried.pages), len(alice.documents())) == (3, 1)
    receipt = alice.forget_document(done.id)
    assert_gone(alice, receipt, engine)
    assert alice.documents() == ()
    assert alice.search("parental leave", k=3)[0].passage is None
    assert holds(place(), "Parents have sixteen") == []
    with pytest.raises(NotFound):
        alice.document(done.id)
    assert alice.add_document(HANDBOOK, source="handbook.md").added == 3
    assert sound(memory)


def test_a_forgotten_passage_comes_back_with_its_document(memory: Memory, alice: OwnerMemory) -> None:
    done = alice.add_document(HANDBOOK, source="handbook.md")
    alice.forget(page=alice.passages(done.id)[1].page_id)
    assert len(alice.passages(done.id)) == 2
    alice.forget(matching="harbour")
    assert len(alice.passages(done.id)) == 1
    assert sound(memory)
    assert alice.add_document(HANDBOOK, source="handbook.md").added == 2


def test_documents_travel_with_their_owner(memory: Memory, alice: OwnerMemory, opened: Opener) -> None:
    done = alice.add_document(HANDBOOK, source="handbook.md", metadata={"kind": "rules"})
    alice.settle()
    other = opened("other.db")
    imported(other, exported(memory))
    theirs = other.of("alice")
    assert theirs.documents() == alice.documents()
    assert theirs.passages(done.id) == alice.passages(done.id)
    assert theirs.add_document(HANDBOOK, source="handbook.md", metadata={"kind": "rules"}).kept == 3
    assert theirs.pages() == alice.pages()
    assert sound(other)


def test_memory_is_rebuilt_around_documents(memory: Memory, alice: OwnerMemory) -> None:
    done = alice.add_document(HANDBOOK, source="handbook.md")
    alice.settle()
    memory.rebuild()
    alice.understand_anew()
    memory.reindex()
    assert len(texts(alice, done.id)) == 3
    assert alice.stats().pending == alice.stats().without_vector == 0
    assert sound(memory)


def test_a_recall_of_the_past_knows_the_documents_of_then(memory: Memory, alice: OwnerMemory) -> None:
    then = memory.now()
    before = alice.pages(Tier.SHORT, as_of=then)
    alice.add_document(HANDBOOK, source="handbook.md")
    assert alice.pages(Tier.SHORT, as_of=then) == before


def test_secrets_are_taken_out_before_anything_is_stored(opened: Opener, place: Place) -> None:
    alice = opened(redact="secrets").of("alice")
    text = "# Access\n\nMy password is Tr0ub4dor&3.\n\n## Later\n\nAsk the porter."
    done = alice.add_document(text, source="a.md")
    assert texts(alice, done.id)[0] == "# Access\n\nMy password is [redacted: password]."
    assert [one.passage.place for one in alice.passages(done.id) if one.passage] == ["", "Later"]
    assert holds(place(), "Tr0ub4dor") == []


def test_a_document_without_text_is_kept_for_its_original_and_found_by_no_query(alice: OwnerMemory) -> None:
    done = alice.add_document(" ", title="Zephyrine", source="a", original={"code": "Zephyrine"})
    alice.settle()
    assert (alice.original(done.id), texts(alice, done.id)) == ({"code": "Zephyrine"}, [""])
    assert not [hit for hit in alice.search("Zephyrine", 50) if hit.passage and hit.passage.document == done.id]
    assert "Zephyrine" not in alice.recall("Who is Zephyrine?").text
    alice.add_document("Zephyrine is the heron.", title="Zephyrine", source="a", original=1)
    alice.settle()
    assert alice.search("Zephyrine", 1)[0].utterance.text == "Zephyrine is the heron."
    alice.add_document("", source="a", original=2)
    assert [one.id for one in alice.documents(source="a")] == [done.id]
    alice.forget_document(done.id)
    assert (alice.documents(source="a"), dict(alice.originals())) == ((), {})


def test_what_cannot_be_stored_is_refused(alice: OwnerMemory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no text"):
        alice.add_document("  \n ")
    with pytest.raises(InputError, match=r"^empty\.md holds no text"):
        alice.add_document(" ", source="empty.md")
    with pytest.raises(InputError, match="source"):
        alice.add_document(b"%PDF")
    with pytest.raises(InputError, match="is a document's"):
        alice.add("Hello.", thread="document:d1")
    (tmp_path / "note.txt").write_text("The key is under the mat.")
    done = alice.add_document(tmp_path / "note.txt")
    assert (done.title, done.source) == ("note", str(tmp_path / "note.txt"))


def test_a_scope_sees_documents_by_kind_thread_and_metadata(alice: OwnerMemory) -> None:
    done = alice.add_document(HANDBOOK, source="handbook.md", metadata={"kind": "rules"})
    alice.add_document("# Figs\n\nFigs are picked in September, miles away.", source="figs.md")

    def found(scope: Scope) -> set[str]:
        hits = alice.search("figs miles leave", k=30, scope=scope)
        return {"talk" if hit.passage is None else hit.passage.title for hit in hits}

    assert found(Scope(kinds=["document"])) == {"Handbook", "Figs"}
    assert found(Scope(kinds=["message"])) == {"talk"}
    assert found(Scope(metadata={"kind": "rules"})) == {"Handbook"}
    assert found(Scope(threads=[alice.document(done.id).thread])) == {"Handbook"}
    assert found(Scope(tiers=["short", "pending", "mid"])) == {"talk"}
    assert "[Handbook" not in alice.recall("parental leave", scope=Scope(kinds=["message"])).text
    narrowed = alice.search("figs", k=30, scope=Scope(speakers=["alice", "Handbook"]))
    assert {hit.tier for hit in narrowed if hit.passage is not None} <= {None}
    assert {hit.tier for hit in narrowed if hit.passage is None} <= {Tier.SHORT, Tier.PENDING}


def test_documents_of_a_shared_space_are_quoted(memory: Memory, alice: OwnerMemory) -> None:
    memory.space("team").add_document(HANDBOOK, source="handbook.md")
    memory.grant("team", user="alice")
    shared = memory.of("alice", shares=["team"])
    context = shared.recall("How many weeks of parental leave are paid?")
    assert "[Handbook, Leave > Parental leave] Parents have sixteen weeks" in context.text
    assert any(hit.passage is not None and hit.space == "team" for hit in context.hits)
    assert alice.documents() == ()
