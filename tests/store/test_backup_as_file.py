"""A store on any engine is backed up to a file, and restored from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from embermem import Memory
from embermem.bootstrap import on_a_server, restore_store, wall_clock
from embermem.core.config import load
from embermem.core.errors import StoreError
from lives import contents, fill_every_table
from scripted import SMALL, Clock, Place


@pytest.mark.engines
def test_a_store_becomes_a_file_row_by_row_and_a_server_says_what_else_to_run(place: Place, tmp_path: Path) -> None:
    clock, own = Clock(), {"store"}
    with Memory(place(), clock=clock, **SMALL) as memory:
        fill_every_table(memory, clock)
        if on_a_server(place()):
            with pytest.raises(StoreError, match=r"pg_dump .*--as-file"):
                memory.backup(tmp_path / "out.db")
        made = memory.backup(tmp_path / "out.db", as_file=True)
        assert [one.place for one in memory.copies(look=True) if one.backup_at is not None] == [made.place]
        page = memory.of("alice").pages()[0]
        assert memory.of("alice").forget(page=page.id, dry_run=True).backups == ()
        before = {name: found for name, found in contents(place()).items() if name not in own}
        assert memory.of("alice").forget(page=page.id).backups == (made.place,)
    restore_store(tmp_path / "out.db", tmp_path / "restored.db", load(**SMALL), wall_clock(), lambda *told: None)
    assert {name: found for name, found in contents(tmp_path / "restored.db").items() if name not in own} == before
