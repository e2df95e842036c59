"""A database that is put back to an older copy under a running process: no read tells what is not there any more."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from embermem.core.types import Scope
from embermem.store import schema
from lives import store_of
from scripted import SMALL, Clock, Place
from soundness import owner_numbers, rows

pytestmark = pytest.mark.engines


class Copy:
    """The rows of a store as they are, to be put in place of those of later."""

    def __init__(self, place: str | Path) -> None:
        self._place = place
        self._tables = {table.name: rows(place, f"SELECT * FROM {table.name}") for table in schema.OWNED}

    def put_back(self) -> None:
        """Within the database, as a restore into it does."""
        for name, found in self._tables.items():
            columns = ", ".join(f'"{column}"' for column in (found[0] if found else {}))
            values = [tuple(row.values()) for row in found]
            self._replace(name, columns, values)

    def _replace(self, name: str, columns: str, values: list[tuple[Any, ...]]) -> None:
        if "://" in str(self._place):
            import psycopg

            with psycopg.connect(str(self._place)) as server, server.cursor() as cursor:
                cursor.execute(f"DELETE FROM {name}")
                if values:
                    marks = ", ".join(["%s"] * len(values[0]))
                    cursor.executemany(f"INSERT INTO {name} ({columns}) VALUES ({marks})", values)
            return
        with closing(sqlite3.connect(self._place)) as file:
            numbers = owner_numbers(file)
            values = [tuple(numbers.get(one, one) if isinstance(one, str) else one for one in row) for row in values]
            file.execute(f"DELETE FROM {name}")
            if values:
                file.executemany(f"INSERT INTO {name} ({columns}) VALUES ({', '.join('?' * len(values[0]))})", values)
            file.commit()


def test_every_read_is_of_what_is_there_where_the_numbers_meet_again(place: Place, clock: Clock) -> None:
    with Memory(place(), **SMALL, clock=clock) as memory:
        ann = memory.of("ann")
        ann.add("I live in Lyon.", "I see.", at=clock(), thread="t")
        ann.settle()
        older = Copy(place())
        then = clock()

        def lived(town: str, sister: str) -> None:
            clock.go(60)
            ann.add(f"I moved to {town}. My sister {sister} likes chess.", "I see.", at=clock(), thread="t")
            ann.settle()

        def told() -> str:
            """What each cached reader gives: the snapshot, one narrowed by a scope, one of the past, and the people."""
            scoped = ann.recall("Where do I live?", scope=Scope(threads=["t"])).text
            past = ann.recall("Where do I live?", as_of=clock()).text
            people = " ".join(str(person) for person in ann.people())
            shared = memory.of("bob", shares=["team"]).recall("Where do I live?").text
            facts = " ".join(fact.text for fact in ann.facts())
            return " ".join([ann.recall("Where do I live?").text, scoped, past, people, shared, facts])

        memory.grant("team", user="bob")
        memory.space("team").add("The team lives in Oslo.", at=clock())
        older = Copy(place())
        lived("Quito", "Wilma")
        memory.space("team").add("The team moved to Perth.", at=clock())
        assert "Quito" in told()
        assert "Perth" in told()
        numbers = [(one.seq, one.revision) for one in [store_of(memory).owner_state(ann.owner.id)] if one is not None]
        older.put_back()
        text = told()
        assert not any(word in text for word in ("Quito", "Wilma", "Perth"))
        assert "Lyon" in text
        lived("Turku", "Ottilie")
        memory.space("team").add("The team moved to Accra.", at=clock())
        met = [(one.seq, one.revision) for one in [store_of(memory).owner_state(ann.owner.id)] if one is not None]
        assert met == numbers  # nothing but the mark tells the two apart
        text = told()
        assert not any(word in text for word in ("Quito", "Wilma", "Perth"))
        assert all(word in text for word in ("Turku", "Accra"))
        assert then < clock()
