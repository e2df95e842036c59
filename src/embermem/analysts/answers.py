"""What a model answers to `annotate` and `profile`, and the faults that fail a whole answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import msgspec

from embermem.analysts.guards import no_summary
from embermem.core.attributes import canonical
from embermem.core.traits import dimensions_by_name
from embermem.core.types import Fact, PageView, Utterance

_SNAKE = re.compile(r"[a-z][a-z0-9_]*")
_NAMED = 5
"""Faults named in one message to the model; the others are like them."""


class PageNote(msgspec.Struct, frozen=True, kw_only=True):
    """What a model says of one page."""

    id: str
    continues: bool
    summary: str
    keywords: list[str]


class BatchNotes(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `annotate`."""

    schema_name: ClassVar[str] = "BatchNotes"
    pages: list[PageNote]


class FieldNote(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the user's profile."""

    name: Literal["name", "birth_year", "gender", "language", "home", "occupation"]
    value: str
    evidence: list[str]


class TraitNote(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence for a trait."""

    dimension: str
    level: float
    confidence: float
    evidence: list[str]


class FactNote(msgspec.Struct, frozen=True, kw_only=True):
    """A fact, and what becomes of a known one by it."""

    action: Literal["add", "same", "supersede", "retire"]
    fact: str
    who: Literal["user", "agent"]
    subject: str
    attribute: str
    value: str
    text: str
    evidence: list[str]


class LinkNote(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories that belong together and, where the other is a segment, what becomes of it."""

    one: str
    other: str
    reason: str
    keywords: list[str]
    tags: list[str]
    context: str


class SegmentNotes(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `profile`. Without `links` it is one that links nothing, without `title` one that
    gives none."""

    schema_name: ClassVar[str] = "SegmentNotes"
    summary: str
    profile: list[FieldNote]
    traits: list[TraitNote]
    facts: list[FactNote]
    links: list[LinkNote] = []
    title: str = ""


# -------------------------------------------------------------------------- faults that fail the whole answer


def check_pages(notes: BatchNotes, shown: Mapping[str, PageView]) -> None:
    """Exactly the pages shown, each with a summary. Raises ValueError."""
    counts = Counter(note.id for note in notes.pages)
    faults = [f"{name} is missing" for name in shown if name not in counts]
    faults += [f"{name[:20]!r} was not shown" for name in counts if name not in shown]
    faults += [f"{name[:20]!r} stands {n} times" for name, n in counts.items() if n > 1]
    faults += [f"the summary of {note.id[:20]!r} is none" for note in notes.pages if no_summary(note.summary)]
    _refuse(faults)


def check_segment(notes: SegmentNotes, said: Mapping[str, Utterance], known: Mapping[str, Fact]) -> None:
    """Only ids, dimensions and levels that exist, and a summary. Raises ValueError."""
    faults = ["the summary is none"] if no_summary(notes.summary) else []
    items: list[tuple[str, FieldNote | TraitNote | FactNote]] = [
        *(("field", field) for field in notes.profile),
        *(("trait", trait) for trait in notes.traits),
        *(("fact", fact) for fact in notes.facts),
    ]
    for kind, item in items:
        faults += [f"evidence {name[:20]!r} was not shown" for name in item.evidence if local_id(name) not in said]
        if not item.evidence:
            faults.append(f"{kind} without evidence")
    for trait in notes.traits:
        if trait.dimension not in dimensions_by_name():
            faults.append(f"dimension {trait.dimension[:40]!r} is not in the list")
        if not (-1.0 <= trait.level <= 1.0 and 0.0 <= trait.confidence <= 1.0):
            faults.append(f"level of {trait.dimension[:40]!r} must lie in -1 to 1, its confidence in 0 to 1")
    ended: Counter[str] = Counter()
    for fact in notes.facts:
        if fact.action != "add":
            if local_id(fact.fact) not in known:
                faults.append(f"fact {fact.fact[:20]!r} was not shown, {fact.action} needs one that was")
            elif fact.action != "same":
                ended[local_id(fact.fact)] += 1
        if fact.action in ("add", "supersede") and not _SNAKE.fullmatch(attribute_of(fact.attribute)):
            faults.append(f"attribute {fact.attribute[:40]!r} is no English word in snake_case")
    faults += [f"{name} is ended {n} times" for name, n in ended.items() if n > 1]
    _refuse(faults)


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        more = f"; and {len(faults) - _NAMED} more" if len(faults) > _NAMED else ""
        raise ValueError("; ".join(faults[:_NAMED]) + more)


def local_id(name: str) -> str:
    """An id as it was shown, whatever a model put around it."""
    return name.strip().strip("[]().").lower()


def attribute_of(name: str) -> str:
    """An attribute as it is stored: words in snake_case, under the name of the table where it has another there."""
    return canonical("_".join(re.findall(r"[a-z0-9]+", name.lower())))
