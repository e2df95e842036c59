"""Bytes of a store's file that were changed behind its back: the doctor names it, or what is stored is whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random

from attack import checks, journal, words
from attack.actors import BEGINS, Room
from attack.outcome import Outcome
from attack.plan import NAMES, Plan
from embermem import Memory
from embermem.core.errors import EmberError
from embermem.store import schema

Texts = dict[str, list[tuple[object, ...]]]


def damaged(plan: Plan, room: Room) -> Outcome:
    """Change bytes in the file, and look at what is said of it. Every error is ours and quotes nothing.

    Numbers that are stored (a time, a vector) can be other numbers without anyone's knowing: texts are compared.
    """
    outcome, place, random = Outcome(), Path(room.place), Random(f"damage {plan.seed}")
    checks.judge_journals(plan, journal.entries(room.journals), outcome)  # what was found before
    with closing(sqlite3.connect(place)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    before = _texts(place)
    with open(place, "r+b") as file:
        size = place.stat().st_size
        places = [random.randrange(size) for _ in range(plan.damage)]
        for one in places:
            file.seek(one)
            byte = file.read(1)[0] ^ 0x80  # no text is UTF-8 after that
            file.seek(one)
            file.write(bytes([byte]))
    outcome.counts["damaged bytes"] += len(places)
    named = _named(plan, room, outcome)
    if not named and _texts(place) != before:
        pages = ", ".join(f"{one} (page {one // 4096 + 1})" for one in places)
        outcome.fail("damage unnamed", f"texts are not what they were, and the doctor says nothing; bytes {pages}")
    return outcome


def _named(plan: Plan, room: Room, outcome: Outcome) -> bool:
    """Whether the doctor, or the opening, says that something is wrong."""
    wrong: list[str] = []

    def attempt(act: Callable[[], object]) -> None:
        try:
            act()
        except EmberError as error:
            if words.found_in(str(error)):
                outcome.fail("an error that quotes", f"{type(error).__name__} of a damaged file")
        except Exception as error:  # noqa: BLE001  (told in the report)
            outcome.fail("an error that is not ours", f"of a damaged file: {type(error).__name__}: {error}")

    try:
        memory = Memory(room.place, clock=lambda: BEGINS, **{**room.settings(plan), "background": False})
    except EmberError:
        return True
    try:
        try:
            wrong += [one.what for one in memory.check(deep=True) if one.level == "error"]
        except EmberError as error:
            outcome.fail("the doctor gave up", f"{type(error).__name__}: {error}")
            wrong.append(str(error))
        for number in range(plan.owners):
            mine = memory.of(*NAMES[number])
            attempt(mine.pages)
            attempt(mine.facts)
            attempt(mine.segments)
            attempt(lambda mine=mine: mine.recall("Where do I live?"))  # type: ignore[misc]
    finally:
        with suppress(EmberError):
            memory.close()
    return bool(wrong)


def _texts(place: Path) -> Texts | None:
    """Every text of every table, None where the tables cannot be read."""
    found: Texts = {}
    with closing(sqlite3.connect(place)) as file:
        file.text_factory = bytes
        try:
            for table in schema.metadata.sorted_tables:
                own = [column.name for column in table.columns if column.type.python_type is str]
                if own and table.name != "store":
                    named = ", ".join(f'"{name}"' for name in own)
                    found[table.name] = sorted(
                        file.execute(f'SELECT {named} FROM "{table.name}" NOT INDEXED'), key=repr
                    )
        except sqlite3.Error:
            return None
    return found
