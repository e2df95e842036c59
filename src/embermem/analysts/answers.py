"""What a model answers to the questions about pages: the forms, its ids, and the faults that fail a whole answer.

The forms are lenient: an item that is not of its form is left out, and the others stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, TypeVar

import msgspec

from embermem.analysts.guards import no_summary
from embermem.core.attributes import BUILT_IN, Attributes
from embermem.core.types import PageView, Utterance

SNAKE = re.compile(r"[a-z][a-z0-9_]*")
_ID = re.compile(r"\W*(?:([a-z])\s?0*(\d{1,4})\b.*|0*(\d{1,4})\W*)", re.IGNORECASE | re.DOTALL)
_NAMED = 5
"""Faults named in one message to the model; the others are like them."""
_Item = TypeVar("_Item")

ShownId = Annotated[str, msgspec.Meta(extra_json_schema={"format": "shown-id"})]
"""A field of an answer that names one of AnswerForm.ids. Objects of a list that have such an `id` are one for each."""


def _at_most(chars: int) -> msgspec.Meta:
    """A bound for grammars alone: a longer text is read all the same."""
    return msgspec.Meta(extra_json_schema={"maxLength": chars})


def _items(count: int) -> msgspec.Meta:
    """The same for a list."""
    return msgspec.Meta(extra_json_schema={"maxItems": count})


class ToldNote(msgspec.Struct, frozen=True, kw_only=True):
    """What a model tells of one page in the short form."""

    id: ShownId
    continues: bool = False
    summary: Annotated[str, _at_most(300)]


class PageNote(ToldNote, frozen=True, kw_only=True):
    """What a model says of one page."""

    keywords: Annotated[list[Annotated[str, _at_most(40)]], _items(8)] = []


class BatchNotes(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `annotate`."""

    schema_name: ClassVar[str] = "BatchNotes"
    lenient: ClassVar[bool] = True
    pages: list[PageNote]


class BatchSummaries(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `annotate` in the short form, without keywords."""

    schema_name: ClassVar[str] = "BatchSummaries"
    lenient: ClassVar[bool] = True
    pages: list[ToldNote]


class SaidNote(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that pages tell."""

    evidence: Annotated[list[ShownId], _items(4)]
    subject: Annotated[str, _at_most(40)] = ""
    attribute: Annotated[str, _at_most(40)]
    value: Annotated[str, _at_most(100)]
    text: Annotated[str, _at_most(160)] = ""


class FactNote(SaidNote, frozen=True, kw_only=True):
    """A fact, and what becomes of a known one by it: `same` is said again, `supersede` takes its place, `retire` is no
    longer so. `corrects` names a claim that it puts right."""

    action: Literal["add", "same", "supersede", "retire"] = "add"
    fact: Annotated[str, _at_most(6)] = ""
    corrects: Annotated[str, _at_most(6)] = ""


class TraitNote(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence for a trait."""

    evidence: Annotated[list[ShownId], _items(4)]
    dimension: Annotated[str, _at_most(40)]
    level: float


class SegmentNotes(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `profile`. It must list facts, if none; what else is missing is not told. `confirmed` and `dropped`
    name claims."""

    schema_name: ClassVar[str] = "SegmentNotes"
    lenient: ClassVar[bool] = True
    facts: Annotated[list[FactNote], _items(24)]
    confirmed: Annotated[list[Annotated[str, _at_most(6)]], _items(64)] = []
    dropped: Annotated[list[Annotated[str, _at_most(6)]], _items(64)] = []
    title: Annotated[str, _at_most(80)] = ""
    summary: Annotated[str, _at_most(600)] = ""
    traits: Annotated[list[TraitNote], _items(6)] = []


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `facts`, the short form of `profile`."""

    schema_name: ClassVar[str] = "PageFacts"
    lenient: ClassVar[bool] = True
    facts: Annotated[list[SaidNote], _items(24)]


# -------------------------------------------------------------------------- faults that fail the whole answer


def check_pages(notes: BatchNotes | BatchSummaries, shown: Mapping[str, PageView]) -> None:
    """A summary for at least half of the pages shown. Raises ValueError."""
    told = by_page(notes, shown)
    faults = [f"{name} is missing" for name in shown if name not in told]
    faults += [f"{note.id[:20]!r} was not shown" for note in notes.pages if named(note.id, shown) is None]
    faults += [f"the summary of {note.id[:20]!r} is none" for note in notes.pages if no_summary(note.summary)]
    _refuse(faults if 2 * len(told) < len(shown) else [])


def check_facts(notes: Sequence[SaidNote], said: Mapping[str, Utterance]) -> None:
    """If facts are told, at least one that rests on what was shown. Raises ValueError."""
    if not notes or any(named(name, said) is not None for note in notes for name in note.evidence):
        return
    faults = [f"evidence {name[:20]!r} was not shown" for note in notes for name in note.evidence]
    _refuse(faults or ["a fact without evidence: name the ids of the lines that say it"])


def by_page(notes: BatchNotes | BatchSummaries, shown: Mapping[str, PageView]) -> dict[str, ToldNote]:
    """The first note of each page that has a summary, by the page's local id."""
    found: dict[str, ToldNote] = {}
    for note in notes.pages:
        name = named(note.id, shown)
        if name is not None and not no_summary(note.summary):
            found.setdefault(name, note)
    return found


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        more = f"; and {len(faults) - _NAMED} more" if len(faults) > _NAMED else ""
        raise ValueError("; ".join(faults[:_NAMED]) + more)


# --------------------------------------------------------------------------------------------------- names


def named(name: str, shown: Iterable[str]) -> str | None:
    """Which of the ids shown is meant, whatever a model put around it: " [P1]. ", "u12 user: …"; a number alone where
    all ids shown are of one letter. None for one that was not shown."""
    match = _ID.fullmatch(name)
    if match is None:
        return None
    letter, number = (match[1] or "").lower(), match[2] or match[3]
    wanted = [one for one in shown if one == letter + number or (not letter and one[1:] == number)]
    return wanted[0] if len(wanted) == 1 else None


def all_named(names: Iterable[str], shown: Mapping[str, _Item]) -> dict[str, _Item]:
    """What is meant of what was shown, in the order in which that stands."""
    meant = {named(part, shown) for name in names for part in name.split(",")}
    return {name: one for name, one in shown.items() if name in meant}


def attribute_of(name: str, known: Attributes = BUILT_IN) -> str:
    """An attribute as it is stored: words in snake_case, under the name of the table where it has another there."""
    return known.canonical("_".join(re.findall(r"[a-z0-9]+", name.lower())))
