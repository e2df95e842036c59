"""What the papers' other systems keep: records, each a frozen dataclass, in a file that they share (`record_file.py`).

A system says what it keeps by a subclass of Record, and nothing of tables:

    @dataclass(frozen=True, kw_only=True, slots=True, eq=False)
    class Thought(Record):
        kind: ClassVar[str] = "tim.thought"
        bucket: int

Its own fields are texts, numbers, truth values, times, tuples of texts or numbers, or one of these or None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import ClassVar, NewType, TypeVar

from embermem.core.types import Vector

__all__ = ["Found", "Record", "RecordId", "Standing", "Written", "remade"]

RecordId = NewType("RecordId", str)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Record:
    """One thing that a system keeps of an owner.

    `kind` names what it is, with the system's name before a dot. `at` is when what it tells was said; `sources` are
    the seqs of the utterances it rests on, in order. Records are equal if they are the same object.
    """

    kind: ClassVar[str]

    id: RecordId
    text: str
    at: datetime
    sources: tuple[int, ...] = ()
    vector: Vector | None = field(default=None, repr=False)


AnyRecord = TypeVar("AnyRecord", bound=Record)


def remade(kind: type[AnyRecord], record: Record, **own: object) -> AnyRecord:
    """A record of this kind with the fields of another, which has no more than it, but for those given."""
    same = {field.name: getattr(record, field.name) for field in fields(record)}
    return kind(**{**same, **own})


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What is new of an owner's records since a revision: written anew or for the first time, in the order in which
    they were first written; and the ids of those that are gone."""

    records: tuple[Record, ...]
    gone: frozenset[RecordId]
    revision: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """How often an owner's records were written (`revision`), and up to which seq utterances were read for them. `born`
    is the revision at which the records were last forgotten whole; 0 if they never were."""

    revision: int = 0
    read_to: int = 0
    born: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What a system decided: records to keep, in place of those of the same id, and records to drop."""

    keep: Sequence[Record] = ()
    drop: Sequence[RecordId] = ()
