"""Documents and passages are read in parts, and found by title and source."""

from __future__ import annotations

from datetime import timedelta

import pytest

from embermem import Memory
from embermem.core.errors import InputError, NotFound
from scripted import Clock

pytestmark = pytest.mark.engines

TEXT = "# The handbook\n\n" + "\n\n".join(
    f"## Part {n}\n\nThis is what part {n} of the handbook says." for n in range(30)
)


def test_documents_are_read_in_parts_the_newest_first(memory: Memory, clock: Clock) -> None:
    alice = memory.of("alice")
    for number in range(7):
        clock.go(number // 2)  # some are stored at the same time
        alice.add_document(f"This is the note {number}.", title=f"note {number}")
    whole = alice.documents()
    parts = alice.documents(limit=3)
    assert parts == whole[-3:]
    while before := alice.documents(limit=3, before=parts[0].id):
        parts = before + parts
    assert parts == whole
    with pytest.raises(NotFound):
        alice.documents(before="d0")
    with pytest.raises(InputError):
        alice.documents(limit=-1)


def test_documents_are_found_by_title_and_source_whatever_the_case(memory: Memory) -> None:
    alice = memory.of("alice")
    for title, source in (("Lease 50%", "a.md"), ("Handbook", "lease/b.md"), ("Other", "c.md")):
        alice.add_document("A text.", title=title, source=source)
    memory.of("bob").add_document("A text.", title="lease of bob")
    for text, found in (("LEASE", ["Lease 50%", "Handbook"]), ("50%", ["Lease 50%"]), ("%", ["Lease 50%"]), ("x", [])):
        assert [one.title for one in alice.documents(text=text)] == found


def test_a_document_tells_when_it_is_forgotten_by_itself(memory: Memory, clock: Clock) -> None:
    alice = memory.of("alice")
    kept = alice.add_document("This stays.", source="kept")
    going = alice.add_document("This goes.", source="going", expires_at=timedelta(days=3))
    assert alice.document(kept.id).expires_at is None
    assert alice.document(going.id).expires_at == clock.now + timedelta(days=3)
    alice.add_document("This goes.", source="going")
    assert alice.document(going.id).expires_at is None


def test_passages_are_read_in_parts_in_the_order_of_the_text(memory: Memory) -> None:
    alice = memory.of("alice")
    added = alice.add_document(TEXT, source="handbook.md")
    alice.add_document(TEXT.replace("part 3 of", "the third part of"), source="handbook.md")
    whole = alice.passages(added.id)
    starts = [one.passage.start for one in whole if one.passage is not None]
    assert starts == sorted(starts)
    assert len(whole) == len(starts) > 20
    assert "the third part of" in whole[starts.index(min(s for s in starts if s >= TEXT.index("## Part 3")))].text
    assert alice.passages(added.id, limit=5) == whole[:5]
    assert alice.passages(added.id, start=starts[4] + 1, limit=5) == whole[5:10]
    assert alice.passages(added.id, start=starts[-1] + 1) == ()
    with pytest.raises(NotFound):
        memory.of("bob").passages(added.id)
    with pytest.raises(InputError):
        alice.passages(added.id, start=-1)
