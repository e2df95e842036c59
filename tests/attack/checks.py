"""What must hold after a life, looked at with nobody else at work."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from attack import journal, words
from attack.actors import BEGINS, Room
from attack.compared import Rows, taken
from attack.expected import Expected, by_text
from attack.outcome import Outcome
from attack.plan import NAMES, Plan
from embermem import Memory, OwnerMemory
from embermem.core import ids
from embermem.core.errors import EmberError, InputError, NotFound
from embermem.transfer.export import export
from lives import copy_of, store_of

_PAST = 3
"""Earlier moments at which everything is read again."""
_ASKED = 6
"""Forgotten words of each owner that are asked for."""
_ALLOWED = ("InputError", "NotFound", "RevisionMoved")
"""Errors that a process may meet where nothing is wrong: others changed what it was about to change."""
_WAITING = ("StoreBusy",)
"""And where a copy is made of a store that others go on writing, or the lease of a killed process holds by a clock that
was ahead of the others."""
_IN_NEED = ("StoreFull", "StoreError")
"""And where the disk has no room."""


def checked(plan: Plan, room: Room, ahead_s: float) -> Outcome:
    """Everything of a life whose file was not damaged."""
    outcome = Outcome()
    lines = journal.entries(room.journals)
    judge_journals(plan, lines, outcome)
    rests = [line["at"] for line in lines if line["what"] == "rest"]
    expected = Expected.of(plan, [*journal.attempts(lines)], rests)
    clock = _Later(room, ahead_s)
    quiet = {**room.settings(plan), "background": False}
    with Memory(room.place, clock=clock, **quiet) as memory:
        rows = taken(room.place)
        judge_rows(plan, expected, rows, outcome)
        judge_doctor(memory, "after the life", outcome)
        for number in range(plan.owners):
            judge_reads(memory, number, expected, rows, outcome)
        judge_understanding(memory, outcome)
        judge_scrub(memory, outcome)
        rows = taken(room.place)
        judge_rows(plan, expected, rows, Outcome())
        absent = expected.all_words() - words_of(rows)
        judge_bytes(room.engine.files(room.place), "the store", absent, expected.forgotten, outcome)
    outcome.counts["forgotten words looked for"] += len(expected.forgotten)
    with Memory(room.place, clock=clock, **quiet) as memory:  # closed once, and opened again
        judge_copies(memory, room, expected, absent, outcome)
    judge_bytes(_files(room.temporary), "the temporary folder", absent, expected.forgotten, outcome)
    return outcome


class _Later:
    """The time after everything that was said, by whichever clock."""

    def __init__(self, room: Room, ahead_s: float) -> None:
        self._room = room
        self._ahead_s = ahead_s

    def __call__(self) -> datetime:
        return BEGINS + timedelta(seconds=time.monotonic() - self._room.began + self._ahead_s)


def judge_journals(plan: Plan, lines: Iterable[Mapping[str, Any]], outcome: Outcome) -> None:
    """What the processes themselves found."""
    for line in lines:
        match line["what"]:
            case "foreign":
                outcome.fail("an error that is not ours", f"action {line['no']}: {line['said'].strip()}")
            case "error":
                kind = plan.action(line["no"]).kind if line["no"] >= 0 else ""
                jumped = any(action.kind == "jump" for action in plan.actions)
                allowed = _ALLOWED + (_IN_NEED if plan.full else ()) + (_WAITING if kind == "copy" else ())
                allowed += _WAITING if kind in ("settle", "dry_run") and jumped else ()
                if not any(kind in allowed for kind in line["kinds"]):
                    outcome.fail(
                        "an error without need",
                        f"action {line['no']}: {line['kinds'][0]}: {line['said']} from {line['cause']}",
                    )
                if words.found_in(line["said"]):
                    outcome.fail("an error that quotes", f"action {line['no']}: {line['kinds'][0]}")
            case "leak":
                outcome.fail("another owner's words", f"action {line['no']} read {', '.join(line['words'][:5])}")
            case "compared":
                outcome.counts["comparisons of a forgetting"] += 1
                if line["differs"]:
                    told = "; ".join(line["differs"][:6])
                    outcome.fail("changed by a forgetting", f"action {line['no']}: {told}")
            case "unsound":
                outcome.fail("the doctor after a forgetting", f"action {line['no']}: {'; '.join(line['said'])}")
            case "unverified":
                outcome.fail("verify", f"action {line['no']}: found {line['found']}, scrubbed {line['scrubbed']}")
            case "bytes":
                told = (
                    f"action {line['no']} said that the store was scrubbed, which held {', '.join(line['words'][:5])}"
                )
                outcome.fail("scrubbed, it said", told)


def judge_rows(plan: Plan, expected: Expected, rows: Rows, outcome: Outcome) -> None:
    """Nothing acknowledged is lost or doubled, and no forgotten word stands in a row of any table."""
    owners: dict[str, int] = {ids.owner_id(*NAMES[number]): number for number in range(plan.owners)}
    expected.judge(by_text(rows["utterance"], owners), outcome)
    expected.judge_facts(
        {
            number: {row["fact_id"] for row in rows["fact"] if row["owner_id"] == owner_id}
            for owner_id, number in owners.items()
        },
        outcome,
    )
    for table, some in rows.items():
        for row in some:
            told = words.found_in(_text(row))
            if found := told & expected.forgotten:
                outcome.fail("a forgotten word in a row", f"{table}: {', '.join(sorted(found)[:5])}")
            own = owners.get(row.get("owner_id", ""))
            foreign = [] if own is None else [one for one in told if words.owner_of(one) != own]
            if foreign:
                outcome.fail("another owner's words", f"in a row of {table} of owner {own}: {', '.join(foreign[:5])}")


def words_of(rows: Rows) -> set[str]:
    """All rare words in all rows."""
    return {core for some in rows.values() for row in some for core in words.found_in(_text(row))}


def _text(row: Mapping[str, Any]) -> str:
    return "\n".join(value for value in row.values() if isinstance(value, str))


def judge_doctor(memory: Memory, when: str, outcome: Outcome) -> None:
    """It finds nothing wrong."""
    for one in memory.check(deep=True):
        if one.level == "error":
            outcome.fail(f"the doctor: {_without_numbers(one.what)}", f"{when}: {one.what}")


def _without_numbers(told: str) -> str:
    """What is wrong, without whose and how much: by that, failing lives are grouped."""
    return re.sub(r"\d+", "N", told.rpartition(": ")[0].rpartition(": ")[2] or told)


def judge_reads(memory: Memory, number: int, expected: Expected, rows: Rows, outcome: Outcome) -> None:
    """No read of any moment tells a forgotten word, nor another owner's."""
    mine = memory.of(*NAMES[number])
    gone = sorted(core for core in expected.forgotten if words.owner_of(core) == number)
    recorded = sorted({row["recorded_at"] for row in rows["change"] if row["owner_id"] == mine.owner.id})
    random = Random(f"past {expected.plan.seed} {number}")
    chosen = sorted(random.sample(recorded, min(_PAST, len(recorded))))
    moments = [None, *(datetime.fromtimestamp(at / 1e6, UTC) for at in chosen)]
    asked = random.sample(gone, min(_ASKED, len(gone)))
    for moment in moments:
        for where, text in _read(memory, mine, moment, asked):
            outcome.counts["reads of an owner"] += 1
            told = words.found_in(text)
            if found := told & expected.forgotten - ({*asked} if where == "recall" else set()):
                outcome.fail("a forgotten word in a read", f"{where}: {', '.join(sorted(found)[:5])}")
            if any(words.owner_of(one) != number for one in told):
                outcome.fail("another owner's words", f"in {where}")


def _read(
    memory: Memory, mine: OwnerMemory, moment: datetime | None, asked: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """All that can be read of an owner, by the read's name."""
    at: dict[str, Any] = {} if moment is None else {"as_of": moment}
    try:
        yield "pages", repr(mine.pages(**at))
        yield "segments", repr((mine.segments(**at), mine.segments(True, **at)))
        yield "chains", repr(mine.chains(**at))
        yield "persona", repr((mine.persona(**at), mine.traits(**at), mine.agent_profile(**at)))
        yield "facts", repr((mine.facts(**at), mine.facts(archived=True, **at), mine.past_facts(**at)))
        yield "conflicts", repr(mine.conflicts(**at))
        for query in ("Where do I live?", *asked):
            context = mine.recall(query, budget=4000, **at)
            hits = [hit.utterance.text for hit in (*context.hits, *mine.search(query, k=20, **at))]
            yield "recall", "\n".join((context.text, repr(context.facts), repr(context.persona), *hits))
    except InputError:  # nothing derived is kept of that time
        if moment is None:
            raise
    if moment is not None:
        return
    yield "utterances", repr(mine.utterances())
    yield "documents", repr([(one, mine.passages(one.id)) for one in mine.documents()])
    yield "changes", repr(mine.changes())
    for fact in mine.facts():
        with suppress(NotFound):
            yield "why", f"{mine.why(fact.id)} {mine.history(fact.id)!r}"
    out = io.BytesIO()
    with suppress(EmberError):  # an owner of whom nothing is there
        export(store_of(memory), [mine.owner], out, vectors=False, now=memory.now())
    yield "export", out.getvalue().decode()


def judge_understanding(memory: Memory, outcome: Outcome) -> None:
    """What those that were killed left is understood by the next, and the log gives what is stored."""
    for owner in memory.owners():
        mine = memory.of(owner.user, owner.agent)
        mine.settle()
        stats = mine.stats()
        if stats.pending or stats.without_vector:
            outcome.fail("not understood", f"{stats.pending} pages pending, {stats.without_vector} without vectors")
    judge_doctor(memory, "after settling", outcome)
    for one in memory.rebuild():
        if not one.same:
            outcome.fail("rebuild", f"not the same: {one}")


def judge_scrub(memory: Memory, outcome: Outcome) -> None:
    """With nobody in the way, it is done when it is asked for."""
    for _ in range(5):
        if memory.scrub():
            return
        time.sleep(0.2)
    outcome.fail("scrub", "it is not done, though nobody else has the store open")


def judge_bytes(files: Iterable[Path], where: str, absent: set[str], forgotten: set[str], outcome: Outcome) -> None:
    """No word that stands in no row is in the bytes of a file."""
    for file in files:
        data = words.bytes_of(file)
        outcome.counts["bytes looked at"] += len(data)
        if found := words.found_in_bytes(data) & absent:
            gone = found & forgotten
            what = f"{len(gone)} forgotten words" if gone else f"{len(found)} words that stand in no row"
            told = f"{what} in {file.name} of {where}: {', '.join(sorted(gone or found)[:5])}"
            outcome.fail("a forgotten word in the bytes" if gone else "a stray word in the bytes", told)


def judge_copies(memory: Memory, room: Room, expected: Expected, absent: set[str], outcome: Outcome) -> None:
    """A copy that is made after a forgetting holds nothing of it; an older one may."""
    copy_of(memory, room.copies / "last.db")
    judge_bytes(_files(room.copies, "last.db"), "a new copy", absent, expected.forgotten, outcome)
    for name, one in expected.copies.items():
        before = {*expected.gone_before(one.begun)}
        judge_bytes(_files(room.copies, name), "a copy of a copy action", before, expected.forgotten, outcome)


def _files(folder: Path, begin: str = "") -> list[Path]:
    return sorted(one for one in folder.rglob(f"{begin}*") if one.is_file() and one.suffix != ".key")
