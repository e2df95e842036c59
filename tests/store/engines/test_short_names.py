"""Names that many rows of a file repeat: two bytes each in the file, and names for whoever reads."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql, sqlite

from embermem import Memory
from embermem.core.changes import EXTRACTIVE
from embermem.core.vectors import of_summaries
from embermem.embedders import e5
from embermem.reader.network import NAME
from embermem.store.engines.short_names import ShortName
from embermem.store.engines.sqlite import Sqlite
from embermem.store.sql import SqlStore
from scripted import NOW, SMALL
from soundness import assert_sound, rows

SQLITE, SERVER = sqlite.dialect(), postgresql.dialect()  # type: ignore[no-untyped-call]
KNOWN = (e5.NAME, of_summaries(e5.NAME), EXTRACTIVE, f"{EXTRACTIVE}+{NAME}")


@given(name=st.text() | st.sampled_from(KNOWN))
def test_a_name_comes_back_as_it_was_on_every_engine(name: str) -> None:
    kind = ShortName()
    for dialect in (SQLITE, SERVER):
        assert kind.process_result_value(kind.process_bind_param(name, dialect), dialect) == name
    assert kind.process_bind_param(name, SERVER) == name


def test_the_embedders_and_the_analyst_that_come_with_the_program_have_short_forms_that_differ() -> None:
    shorts = {ShortName().process_bind_param(name, SQLITE) for name in KNOWN}
    assert len(shorts) == len(KNOWN)
    assert {len(short or "") for short in shorts} == {2}


def test_a_file_holds_short_forms_and_reads_tell_names(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SMALL) as memory:
        alice = memory.of("alice")
        for n in range(12):
            alice.add(f"I lived in the house number {n} in Lyon.", "And then?")
        alice.settle()
    assert rows(file, "SELECT DISTINCT read_by FROM page WHERE read_by <> ''") == [{"read_by": "~x"}]
    with closing(SqlStore(Sqlite(file, 5))) as store:
        (owner,) = store.owners()
        redone = [store.backlog(owner.id, 7, now=NOW, vectors_of="", redo=redo).redo_at for redo in (True, False)]
    assert (redone[0] is not None, redone[1]) == (True, None)
    assert_sound(file)
