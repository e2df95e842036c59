"""Facts for a person to judge: a sheet in CSV with a column `right`, written with facts drawn at random and read back.

A fact is right if its source says it of this subject, with this meaning, and it was true at its date.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from embermem.core.errors import InputError
from embermem.core.types import Fact, Page, Source, Utterance

AROUND = 300
"""Characters of an utterance that are shown on each side of a fact's source words."""
_Row = TypeVar("_Row")
_RIGHT = {"y": True, "yes": True, "n": False, "no": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetRow:
    """One line of the sheet. `right` is for the reader: y or n. In `source`, the words of the fact are in « », between
    the utterance before and the one after it."""

    right: str
    person: str
    attribute: str
    value: str
    text: str
    valid_from: str
    valid_to: str
    state: str
    conversation: str
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """How many facts of a sheet were judged, and how many are right; the same of identity attributes."""

    judged: int
    right: int
    identity_judged: int
    identity_right: int
    not_judged: int


def rows_of(conversation: str, facts: Iterable[Fact], pages: Iterable[Page]) -> list[SheetRow]:
    """A line for each fact of a conversation."""
    said = sorted((utterance for page in pages for utterance in page.utterances), key=lambda u: u.seq)
    place_of = {utterance.id: place for place, utterance in enumerate(said)}
    return [
        SheetRow(
            right="",
            person=fact.person,
            attribute=fact.attribute,
            value=fact.value,
            text=fact.text,
            valid_from=_day(fact.valid_from),
            valid_to=_day(fact.valid_to),
            state="past" if fact.retired_at is not None else "archived" if fact.archived else "current",
            conversation=conversation,
            source="\n---\n".join(
                "\n".join(_in_context(said, place_of[source.utterance_id], source))
                for source in fact.sources
                if source.utterance_id in place_of
            ),
        )
        for fact in facts
    ]


def drawn(rows: Sequence[_Row], number: int, seed: int) -> list[_Row]:
    """So many rows, or all, drawn at random without repeats: the same for the same rows and seed."""
    return random.Random(seed).sample(list(rows), min(number, len(rows)))


def write(rows: Collection[Any], file: Path, kind: type = SheetRow) -> None:
    """Write a sheet of rows of this kind. Raises InputError if the file exists: it may have been judged already."""
    try:
        with file.open("x", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, [field.name for field in fields(kind)])
            writer.writeheader()
            writer.writerows(map(asdict, rows))
    except FileExistsError as error:
        raise InputError(f"{file} exists; name another file for the sheet") from error
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from error


def judged(file: Path) -> Judged:
    """Count the judgements of a sheet. A line with an empty `right` is not judged. Raises InputError."""
    from embermem.core.attributes import Kind, kind

    found = list(verdicts(file, "right", "attribute"))
    of_all = [right for _, right in found if right is not None]
    of_identity = [right for name, right in found if right is not None and kind(name) is Kind.IDENTITY]
    return Judged(
        judged=len(of_all),
        right=sum(of_all),
        identity_judged=len(of_identity),
        identity_right=sum(of_identity),
        not_judged=len(found) - len(of_all),
    )


def verdicts(file: Path, column: str, beside: str) -> Iterator[tuple[str, bool | None]]:
    """Of each line the column `beside`, and the judgement in `column`; None where there is none. Raises InputError."""
    with _read(file) as reader:
        if missing := {column, beside} - set(reader.fieldnames or ()):
            raise InputError(f"{file} has no column {' and no column '.join(sorted(missing))}: not such a sheet")
        for number, row in enumerate(reader, 1):
            given = (row[column] or "").strip().lower()
            if given and given not in _RIGHT:
                raise InputError(f"{file}, line {number}: {column} is {given!r}; write y or n, or leave it empty")
            yield row[beside] or "", _RIGHT.get(given)


def columns(file: Path) -> frozenset[str]:
    """The names of a sheet's columns. Raises InputError."""
    with _read(file) as reader:
        return frozenset(reader.fieldnames or ())


@contextmanager
def _read(file: Path) -> Iterator[csv.DictReader[str]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            yield csv.DictReader(lines)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file} is not a CSV file in UTF-8: {error}") from error


def _in_context(said: Sequence[Utterance], place: int, source: Source) -> Iterator[str]:
    """The utterance of a source with the source's words in « », between its neighbours in the thread."""
    here = said[place]
    if place and said[place - 1].thread == here.thread:
        before = said[place - 1]
        yield f"{before.speaker}: {_end(before.text)}"
    start, end = source.start or 0, len(here.text) if source.end is None else source.end
    marked = f"{_end(here.text[:start])}«{here.text[start:end]}»{_beginning(here.text[end:])}"
    yield f"#{here.seq} {_day(here.said_at)} {here.speaker}: {marked}"
    if place + 1 < len(said) and said[place + 1].thread == here.thread:
        after = said[place + 1]
        yield f"{after.speaker}: {_beginning(after.text)}"


def _end(text: str) -> str:
    return text if len(text) <= AROUND else f"…{text[-AROUND:]}"


def _beginning(text: str) -> str:
    return text if len(text) <= AROUND else f"{text[:AROUND]}…"


def _day(at: datetime | None) -> str:
    return "" if at is None else at.date().isoformat()
