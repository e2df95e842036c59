"""A long text is ranked by its best passage, quoted by those that fit, and found by its middle."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from embermem import Memory
from embermem.core.types import Hit
from embermem.index.passages import passages

_FILLER = "The harbour office writes its list of ferries, tides and berths anew for every season of the year. "
_MIDDLE = "The old lighthouse keeper hid the brass key under the third stone of the northern pier. "
TEXT = _FILLER * 90 + _MIDDLE + _FILLER * 90
QUESTION = "Where did the lighthouse keeper hide the brass key?"


def told(folder: Path) -> Memory:
    """A memory of a long answer among short messages."""
    memory = Memory(folder / "memory.db", embedder="hashed", background=False)
    alice = memory.of("alice")
    for number in range(12):
        alice.add(f"Do you know pier {number}?", f"Pier {number} is a plain one.", thread="piers")
    alice.add("Tell me all about the harbour.", TEXT, thread="harbour")
    alice.settle()
    return memory


def first(memory: Memory) -> Hit:
    return memory.of("alice").recall(QUESTION, budget=300).hits[0]


def test_a_text_of_3000_words_is_found_and_quoted_by_its_middle_and_named_once(tmp_path: Path) -> None:
    with told(tmp_path) as memory:
        context = memory.of("alice").recall(QUESTION, budget=300)
        assert len(TEXT.split()) > 3_000
        assert context.hits[0].utterance.text == TEXT
        assert "under the third stone of the northern pier" in context.text
        assert context.tokens <= 300

        hits = memory.of("alice").recall("ferries, tides and berths in the harbour").hits
        assert len({hit.utterance.id for hit in hits}) == len(hits)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def test_a_store_whose_vectors_were_made_under_the_cut_before_recalls_and_a_reindex_cuts_it(tmp_path: Path) -> None:
    with told(tmp_path) as memory:
        found = first(memory).utterance.id
    longest = "(SELECT seq FROM utterance ORDER BY length(text) DESC LIMIT 1)"
    with sqlite3.connect(tmp_path / "memory.db") as raw:
        (was,) = raw.execute(f"SELECT length(passages) FROM embedding WHERE seq = {longest}").fetchone()
        raw.execute("UPDATE utterance SET text = substr(text, 6000, 7000) WHERE length(text) > 8000")
        raw.execute("UPDATE embedding SET passages = NULL")
    raw.close()
    with Memory(tmp_path / "memory.db", embedder="hashed", background=False) as memory:
        before = memory.of("alice").recall(QUESTION)
        assert found in {hit.utterance.id for hit in before.packed}
        assert "under the third stone of the northern pier" in before.text
        assert not before.partial
        memory.reindex()
        assert first(memory).utterance.id == found
    with sqlite3.connect(tmp_path / "memory.db") as raw:
        (now,) = raw.execute(f"SELECT length(passages) FROM embedding WHERE seq = {longest}").fetchone()
        (text,) = raw.execute("SELECT text FROM utterance ORDER BY length(text) DESC LIMIT 1").fetchone()
    raw.close()
    assert 0 < now < was
    assert len(passages(text)) > 1
