"""Decisions are kept deflated in SQLite's file: nothing is lost by it, and what looks for something sees through it."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Dialect

from embermem import Memory
from embermem.core.errors import StoreCorrupt
from embermem.store import schema
from embermem.store.engines import packed_text
from embermem.store.engines.packed_text import PackedText, plain_text, unpacked_within
from embermem.store.engines.sqlite_file import AnyFile
from scripted import SMALL

SQLITE: Dialect = AnyFile()
TOLD = '[["Placed",{"page_id":"p06h23b40ttgy4qpdmrn7cz3x","segment_id":"s3-00","f_score":null}],' * 3


def held(text: str) -> bytes | str:
    """What SQLite's column holds of a text."""
    found: bytes | str = PackedText().process_bind_param(text, SQLITE)
    return found


@given(text=st.text())
@example(text=TOLD)
def test_a_text_comes_back_as_it_was_and_takes_no_more_room(text: str) -> None:
    found = held(text)
    assert plain_text(found) == text
    assert len(found if isinstance(found, bytes) else found.encode()) <= len(text.encode())


def test_decisions_take_a_fraction_and_postgresql_gets_the_text() -> None:
    assert len(held(TOLD)) < len(TOLD) / 3
    assert PackedText().process_bind_param(TOLD, postgresql.dialect()) == TOLD  # type: ignore[no-untyped-call]
    assert plain_text(None) is None


def test_the_dictionary_of_stores_that_exist_never_changes() -> None:
    assert (
        hashlib.sha256(packed_text._DICTIONARY).hexdigest()
        == "1607a289215ed009b6b68e849b0eee2296a08f70cd2d60b184383c79c20dac70"
    )


def test_a_damaged_value_is_told_without_its_text() -> None:
    cases: list[bytes] = [b"", b"\xe5\x01", b"\xe5\x01\x07\xff", b"\xe5\x02\x00", b"other"]
    for damage in cases:
        with pytest.raises(StoreCorrupt, match="damaged"):
            plain_text(damage)


def test_what_would_unpack_to_more_than_is_ever_packed_is_damaged_and_not_unpacked_whole() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    bomb = b"\xe5\x01" + b"".join(packer.compress(bytes(1 << 20)) for _ in range(80)) + packer.flush()
    with pytest.raises(StoreCorrupt, match="damaged"):
        plain_text(bomb)
    assert sum(map(len, unpacked_within(bomb))) < 70_000_000
    assert isinstance(held("a" * 70_000_000), str)


def test_what_looks_through_bytes_reads_packed_values_also_of_such_that_are_cut_off() -> None:
    value = held(TOLD + "the heron left")
    assert isinstance(value, bytes)
    around = bytes(50) + b"\xe5\x01\xff" + value + bytes(50)
    assert any(b"the heron left" in found for found in unpacked_within(around))
    long = held("".join(f'{{"word":"{n * 7919}","pages":1}},' for n in range(400)))
    assert isinstance(long, bytes)
    assert any(b'"word":"7919"' in found for found in unpacked_within(b"x" + long[: len(long) // 2]))


def test_a_file_holds_decisions_packed_and_every_reader_sees_their_text(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SMALL) as memory:
        alice = memory.of("alice")
        for n in range(12):
            alice.add(f"I live in town {n}. I like herons.", "I see.", thread=f"t{n % 2}")
        alice.settle()
        page = alice.pages()[0]
        assert any(page.id in str(change.decisions) for change in alice.changes())
        assert alice.why(alice.segments()[0].id) is not None
    with closing(sqlite3.connect(file)) as c:
        kinds = {kind for (kind,) in c.execute("SELECT DISTINCT typeof(decisions) FROM change")}
        assert "blob" in kinds
        told = c.execute("SELECT decisions FROM change WHERE typeof(decisions) = 'blob'").fetchall()
        assert not any(b"SegmentWritten" in value for (value,) in told)
    assert isinstance(schema.change.c.decisions.type, PackedText)
