"""The table of decisions: what the rest of Ember knows of each kind, said once.

Forgetting, undoing, histories, checks, rows and every wording read it. Three modules have logic of their own for some
kinds: store/projector.py (what else a kind writes beside its row), redacting.py (rules) and undoing.py (facts).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any, get_args

from embermem.core.changes import decisions as d
from embermem.core.changes.decisions import Decision, Item
from embermem.core.changes.kinds import ByRule, Falls, Heading, Kind, Moves, Rests, Say, Sort, Stays, Undoing
from embermem.core.metadata import texts as metadata_texts
from embermem.core.types import About, Relation, Source

__all__ = [
    "BY_API_KIND",
    "BY_TAG",
    "KINDS",
    "api_kind",
    "ended_by",
    "ids",
    "kind_of",
    "named",
    "set_by",
    "sources",
    "texts",
    "unset",
    "values",
]

_PAGE, _CHAIN, _SEGMENT, _FACT = Sort.PAGE, Sort.CHAIN, Sort.SEGMENT, Sort.FACT
_NAMED = (Sort.PAGE, Sort.CHAIN, Sort.SEGMENT, Sort.FACT)
"""The sorts of ids that have a history."""


def table(kinds: Iterable[type[Any]], entries: Iterable[Kind[Any]]) -> Mapping[type[Any], Kind[Any]]:
    """The entries by their kinds. Raises TypeError unless each kind has one of its own, and a tag of its own."""
    by = {entry.of: entry for entry in entries}
    wanted = tuple(kinds)
    if without := [kind.__name__ for kind in wanted if kind not in by]:
        raise TypeError(f"{', '.join(without)}: no entry in the table of decisions says how it is forgotten and told")
    tags = [kind.tag for kind in wanted]
    if len({*tags}) < len(wanted) or not {*by} <= {*wanted}:
        raise TypeError("the table of decisions names a kind that is none, or two kinds have one tag")
    return by


# ------------------------------------------------------------------------------------------------------- how it is told


def _erased(one: d.Erased) -> Mapping[str, int]:
    return {"pages": len(one.pages), "utterances": one.utterances, "facts": len(one.facts)}


def _placed(one: d.Placed, say: Say) -> str:
    how = "opened" if one.f_score is None else f"joined (F = {one.f_score:.2f})"
    return f"{say(one.page_id)} {how} {say(one.segment_id)}"


def _noted(one: d.Noted, say: Say) -> str:
    joined = "goes on with its chain" if one.continues else "begins a chain"
    return f"{say(one.page_id)} {joined}; {', '.join(one.keywords)}"


def _grew(one: d.SegmentGrew) -> str:
    return " ".join(part.text for part in one.parts) or ", ".join(count.word for count in one.keywords[:8])


def _until(at: datetime | None) -> str:
    return "no end" if at is None else f"until {at.isoformat(timespec='minutes')}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _no_line(names: tuple[str, ...], now: d.ProfileSet | None) -> d.ProfileSet:
    """No value, for the whole time that the line now covers."""
    whose, name = names
    since = None if now is None else now.valid_from
    return d.ProfileSet(whose=About(whose), name=name, value=None, sources=(), set_by=d.CALLER, valid_from=since)


def _related(one: d.PersonRelated) -> str:
    if one.relation is Relation.SPEAKS:
        return f"{one.one} speaks as {one.other}"
    match one.holds:
        case True:
            return f"{one.one} and {one.other} are one person"
        case False:
            return f"{one.one} and {one.other} are different persons"
        case None:
            return f"{one.one} and {one.other}: not ruled any more"


# --------------------------------------------------------------------------------------------------------- the entries

_PAGES_AND_SEGMENTS: tuple[Kind[Any], ...] = (
    Kind(
        of=d.Embedded,
        heading=Heading.BOOKKEEPING,
        labels=("embedder",),
        forgotten=Stays(),
        undone=Undoing.NOTHING,
        moves=Moves.NOTHING,
        told=lambda one, say: ("embedded", f"utterances #{one.first_seq} to #{one.last_seq}"),
        did=lambda one: ("utterances embedded", one.last_seq - one.first_seq + 1),
    ),
    Kind(
        of=d.Noted,
        heading=Heading.BOOKKEEPING,
        ids={"page_id": _PAGE, "chain_id": _CHAIN, "facts.replaces": _FACT, "traits.dimension": Sort.DIMENSION},
        unnamed=frozenset({"facts.replaces"}),
        sources=("facts.sources", "traits.sources", "profile.sources"),
        texts=(
            *("keywords", "facts.subject", "facts.value", "facts.text"),
            *("traits.subject", "profile.subject", "profile.value"),
        ),
        labels=("analyst", "facts.attribute", "profile.name"),
        forgotten=ByRule(),
        undone=Undoing.NOTHING,
        moves=Moves.NOTHING,
        sets=(Item.NOTE, ("page_id",)),
        told=lambda one, say: ("page read", _noted(one, say)),
        about="page_id",
        did=lambda one: ("pages read", 1),
    ),
    Kind(
        of=d.ChainSummarised,
        heading=Heading.BOOKKEEPING,
        ids={"chain_id": _CHAIN},
        sources=("sources",),
        texts=("summary",),
        labels=("thread",),
        forgotten=ByRule(),
        undone=Undoing.NOTHING,
        moves=Moves.NOTHING,
        sets=(Item.CHAIN, ("chain_id",)),
        told=lambda one, say: ("chain summarised", one.summary),
        did=lambda one: ("chains summarised", 1),
    ),
    Kind(
        of=d.Placed,
        heading=Heading.BOOKKEEPING,
        ids={"page_id": _PAGE, "segment_id": _SEGMENT},
        forgotten=Falls(("page_id",)),
        undone=Undoing.NOTHING,
        moves=Moves.NOTHING,
        sets=(Item.MEMBERSHIP, ("page_id",)),
        told=lambda one, say: ("page placed", _placed(one, say)),
        about="segment_id",
        did=lambda one: ("pages placed", 1),
    ),
    Kind(
        of=d.SegmentWritten,
        heading=Heading.BOOKKEEPING,
        ids={"segment_id": _SEGMENT, "parts.chain_id": _CHAIN},
        sources=("parts.sources",),
        texts=("parts.text", "parts.phrases", "keywords.word", "title", "shown"),
        forgotten=ByRule(),
        undone=Undoing.NOTHING,
        moves=Moves.NOTHING,
        sets=(Item.SEGMENT_TEXT, ("segment_id",)),
        told=lambda one, say: ("segment written", one.title or ", ".join(count.word for count in one.keywords[:8])),
        about="segment_id",
        did=lambda one: ("segments written", 1),
    ),
    Kind(
        of=d.SegmentGrew,
        heading=Heading.BOOKKEEPING,
        ids={"segment_id": _SEGMENT, "parts.chain_id": _CHAIN},
        sources=("parts.sources",),
        texts=("parts.text", "parts.phrases", "keywords.word", "dropped", "title", "shown"),
        forgotten=ByRule(),
        undone=Undoing.NOTHING,
        moves=Moves.NOTHING,
        sets=(Item.SEGMENT_TEXT, ("segment_id",)),
        told=lambda one, say: ("segment grew", f"{say(one.segment_id)}: {_grew(one)}"),
        about="segment_id",
        did=lambda one: ("segments written", 1),
    ),
    Kind(
        of=d.Analysed,
        heading=Heading.BOOKKEEPING,
        ids={"page_id": _PAGE},
        forgotten=Falls(("page_id",)),
        undone=Undoing.NOTHING,
        moves=Moves.NOTHING,
        told=lambda one, say: ("page analysed", f"{say(one.page_id)} up to #{one.upto_seq}"),
        about="page_id",
        did=lambda one: ("pages analysed", 1),
    ),
    Kind(
        of=d.Evicted,
        heading=Heading.BOOKKEEPING,
        ids={"segment_id": _SEGMENT},
        forgotten=Falls(("segment_id",)),
        undone=Undoing.LOST,
        moves=Moves.NOTHING,
        told=lambda one, say: ("segment archived", say(one.segment_id)),
        about="segment_id",
        did=lambda one: ("segments archived", 1),
    ),
    Kind(
        of=d.SegmentEnded,
        heading=Heading.BOOKKEEPING,
        ids={"segment_id": _SEGMENT, "into": _SEGMENT},
        forgotten=ByRule(),
        undone=Undoing.NOTHING,
        moves=Moves.NOTHING,
        ends=(Item.SEGMENT_TEXT, ("segment_id",)),
        told=lambda one, say: ("segment ended", f"{say(one.segment_id)}: its pages are in others"),
        about="segment_id",
        did=lambda one: ("segments ended", 1),
    ),
    Kind(
        of=d.Visited,
        heading=Heading.BOOKKEEPING,
        ids={"items.item_id": Sort.VISITED},
        unnamed=frozenset({"items.item_id"}),
        forgotten=ByRule(),
        undone=Undoing.NOTHING,
        moves=Moves.NOTHING,
        told=lambda one, say: ("visits counted", f"{len(one.items)} segments and facts"),
        did=lambda one: ("visits counted", sum(item.visits for item in one.items)),
    ),
)

_FACTS: tuple[Kind[Any], ...] = (
    Kind(
        of=d.FactAdded,
        heading=Heading.LEARNT,
        ids={"fact_id": _FACT},
        sources=("sources",),
        texts=("subject", "value", "text", "metadata"),
        labels=("attribute",),
        forgotten=ByRule(),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.FACT, ("fact_id",)),
        told=lambda one, say: ("learnt", one.text),
        about="fact_id",
        taught=lambda one, say: f"+ {say(one.fact_id)}",
    ),
    Kind(
        of=d.FactStrengthened,
        heading=Heading.BOOKKEEPING,
        ids={"fact_id": _FACT},
        sources=("sources",),
        forgotten=Rests(("fact_id",)),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.FACT, ("fact_id",)),
        told=lambda one, say: ("said again", say(one.fact_id)),
        about="fact_id",
        taught=lambda one, say: f"again: {say(one.fact_id)}",
    ),
    Kind(
        of=d.FactRetired,
        heading=Heading.LEARNT,
        ids={"fact_id": _FACT, "superseded_by": _FACT},
        forgotten=ByRule(),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.FACT, ("fact_id",)),
        told=lambda one, say: (
            "no longer held",
            say(one.fact_id) + (f" (now: {say(one.superseded_by)})" if one.superseded_by else ""),
        ),
        about="fact_id",
        taught=lambda one, say: f"− {say(one.fact_id)}",
    ),
    Kind(
        of=d.FactArchived,
        heading=Heading.BOOKKEEPING,
        ids={"fact_id": _FACT},
        forgotten=Falls(("fact_id",)),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.FACT, ("fact_id",)),
        told=lambda one, say: ("to the archive", say(one.fact_id)),
        about="fact_id",
        taught=lambda one, say: f"archived: {say(one.fact_id)}",
    ),
    Kind(
        of=d.FactRestored,
        heading=Heading.CORRECTED,
        ids={"fact_id": _FACT},
        forgotten=ByRule(),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.FACT, ("fact_id",)),
        told=lambda one, say: ("holds again", say(one.fact_id)),
        about="fact_id",
        taught=lambda one, say: f"+ {say(one.fact_id)}",
    ),
    Kind(
        of=d.FactPinned,
        heading=Heading.CORRECTED,
        ids={"fact_id": _FACT},
        forgotten=Falls(("fact_id",)),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.FACT, ("fact_id",)),
        told=lambda one, say: ("pinned" if one.pinned else "no longer pinned", say(one.fact_id)),
        about="fact_id",
        taught=lambda one, say: f"{'pinned' if one.pinned else 'no longer pinned'}: {say(one.fact_id)}",
    ),
    Kind(
        of=d.FactExpires,
        heading=Heading.CORRECTED,
        ids={"fact_id": _FACT},
        forgotten=Falls(("fact_id",)),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.FACT, ("fact_id",)),
        told=lambda one, say: ("expires", f"{say(one.fact_id)}: {_until(one.at)}"),
        about="fact_id",
        taught=lambda one, say: (
            f"{'does not expire' if one.at is None else f'expires {say.when(one.at)}'}: {say(one.fact_id)}"
        ),
    ),
    Kind(
        of=d.ConflictSettled,
        heading=Heading.CORRECTED,
        ids={"fact_id": _FACT, "other_id": _FACT},
        forgotten=Falls(("fact_id", "other_id")),
        undone=Undoing.LIFTED,
        moves=Moves.PERSONA,
        told=lambda one, say: ("both stand", f"{say(one.fact_id)} / {say(one.other_id)}"),
        about="fact_id",
        taught=lambda one, say: f"both stand: {say(one.fact_id)} / {say(one.other_id)}",
    ),
    Kind(
        of=d.FactAffirmed,
        heading=Heading.CORRECTED,
        ids={"fact_id": _FACT},
        forgotten=Falls(("fact_id",)),
        undone=Undoing.LIFTED,
        moves=Moves.NOTHING,
        told=lambda one, say: ("affirmed", f"{say(one.fact_id)}: nothing said up to #{one.upto_seq} ends it"),
        about="fact_id",
        taught=lambda one, say: f"as the caller says: {say(one.fact_id)}",
    ),
    Kind(
        of=d.FactDenied,
        heading=Heading.CORRECTED,
        ids={"fact_id": _FACT},
        texts=("subject", "value"),
        labels=("attribute",),
        forgotten=ByRule(),
        undone=Undoing.LIFTED,
        moves=Moves.NOTHING,
        told=lambda one, say: (
            "denied",
            f"{_words(one.attribute)} {one.value}: not learnt again from what was said",
        ),
        about="fact_id",
        taught=lambda one, say: f"not: {one.subject} {one.attribute} {one.value}",
    ),
    Kind(
        of=d.FactBarred,
        heading=Heading.FORGOTTEN,
        labels=("mark",),
        forgotten=Stays(),
        undone=Undoing.LIFTED,
        moves=Moves.NOTHING,
        told=lambda one, say: (
            "barred",
            "a value that was forgotten is not learnt again from what was said before",
        ),
        taught=lambda one, say: "a forgotten value, not to be learnt again",
    ),
)

_TRAITS_AND_LINES: tuple[Kind[Any], ...] = (
    Kind(
        of=d.TraitSet,
        heading=Heading.PROFILE,
        ids={"dimension": Sort.DIMENSION},
        sources=("sources",),
        forgotten=Rests(),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.TRAIT, ("dimension",)),
        unset=lambda names, now: d.TraitCleared(dimension=names[0]),
        told=lambda one, say: (
            "trait",
            f"{_words(one.dimension)} {one.level:+.2f}, confidence {one.confidence:.2f}",
        ),
        taught=lambda one, say: f"{one.dimension} {one.level:+.2f}",
    ),
    Kind(
        of=d.TraitCleared,
        heading=Heading.PROFILE,
        ids={"dimension": Sort.DIMENSION},
        forgotten=Stays(),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        ends=(Item.TRAIT, ("dimension",)),
        told=lambda one, say: ("trait unknown", _words(one.dimension)),
        taught=lambda one, say: f"{one.dimension} unknown",
    ),
    Kind(
        of=d.ProfileSet,
        heading=Heading.PROFILE,
        sources=("sources",),
        texts=("value",),
        labels=("name", "set_by"),
        forgotten=ByRule(),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.PROFILE, ("whose", "name")),
        unset=_no_line,
        told=lambda one, say: (
            f"{one.whose} profile",
            f"{_words(one.name)} {'taken away' if one.value is None else f'= {one.value}'}",
        ),
        taught=lambda one, say: f"{one.whose} {one.name} = {'nothing' if one.value is None else one.value}",
    ),
    Kind(
        of=d.PersonRelated,
        heading=Heading.PEOPLE,
        sources=("sources",),
        texts=("one", "other"),
        forgotten=ByRule(),
        undone=Undoing.RESTORED,
        moves=Moves.PERSONA,
        sets=(Item.PERSON, ("relation", "one", "other")),
        unset=lambda names, now: d.PersonRelated(relation=Relation(names[0]), one=names[1], other=names[2], holds=None),
        told=lambda one, say: ("person", _related(one)),
        taught=lambda one, say: _related(one),
    ),
)

_OF_THE_LOG: tuple[Kind[Any], ...] = (
    Kind(
        of=d.TextsBarred,
        heading=Heading.FORGOTTEN,
        labels=("messages", "texts"),
        forgotten=Stays(),
        undone=Undoing.LIFTED,
        moves=Moves.NOTHING,
        told=lambda one, say: ("barred", "texts that were forgotten are not stored or learnt from again"),
        taught=lambda one, say: "forgotten texts, not to be stored or learnt from again",
    ),
    Kind(
        of=d.Erased,
        heading=Heading.FORGOTTEN,
        ids={"pages": _PAGE, "facts": _FACT},
        unnamed=frozenset({"pages", "facts"}),
        forgotten=Stays(),
        undone=Undoing.LOST,
        moves=Moves.NOTHING,
        told=lambda one, say: ("forgotten", ", ".join(f"{count} {what}" for what, count in _erased(one).items())),
        taught=lambda one, say: (
            "; ".join(f"{what} forgotten: {count}" for what, count in _erased(one).items() if count) or "forgotten"
        ),
    ),
    Kind(
        of=d.Undone,
        heading=Heading.CORRECTED,
        ids={"no": Sort.CHANGE},
        forgotten=Stays(),
        undone=Undoing.MARK,
        moves=Moves.ALL,
        told=lambda one, say: ("undoes", f"change {one.no}"),
        about="no",
        taught=lambda one, say: f"undoes change {one.no}",
    ),
    Kind(
        of=d.BegunAnew,
        heading=Heading.CORRECTED,
        forgotten=Stays(),
        undone=Undoing.MARK,
        moves=Moves.ALL,
        told=lambda one, say: ("begun anew", "all that was derived before is put away and read again"),
        taught=lambda one, say: "memory begun anew",
    ),
)

KINDS = table(get_args(Decision), (*_PAGES_AND_SEGMENTS, *_FACTS, *_TRAITS_AND_LINES, *_OF_THE_LOG))
"""The entry of each kind of decision."""
BY_TAG: Mapping[str, type[Any]] = {kind.tag: kind for kind in KINDS}
"""The kinds of decisions by the tags that they are stored under."""


# -------------------------------------------------------------------------------------------------------- reading it


def unset(item: Item, names: tuple[str, ...], now: Decision | None) -> Decision | None:
    """The decision that takes an item away; `now` is the decision that set it. None if an undo does not do that."""
    by = next((one.unset for one in KINDS.values() if one.unset and one.sets and one.sets[0] is item), None)
    return None if by is None else by(names, now)


def kind_of(decision: Decision) -> Kind[Any]:
    """The entry of a decision's kind. Raises KeyError for what is none."""
    return KINDS[type(decision)]


def api_kind(kind: type[Decision]) -> str:
    """What the HTTP API calls a kind of decision: its tag in snake_case."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.tag).lower()


BY_API_KIND: Mapping[str, type[Any]] = {api_kind(kind): kind for kind in KINDS}
"""The kinds of decisions by what the HTTP API calls them."""


def ids(decision: Decision) -> Iterator[tuple[Sort, str]]:
    """The ids of what a decision is about, each with what it is of. What is forgotten is named by none."""
    entry = kind_of(decision)
    for path, sort in entry.ids.items():
        if path not in entry.unnamed:
            yield from ((sort, one) for one in values(decision, path))


def named(decision: Decision) -> frozenset[str]:
    """The ids of facts, pages, segments and chains that a decision names: it stands in their history."""
    return frozenset(one for sort, one in ids(decision) if sort in _NAMED)


def sources(decision: Decision) -> tuple[Source, ...]:
    """The utterances that a decision rests on."""
    return tuple(one for path in kind_of(decision).sources for one in values(decision, path))


def texts(decision: Decision) -> tuple[str, ...]:
    """The words of others in a decision."""
    return tuple(one for path in kind_of(decision).texts for one in values(decision, path))


def set_by(decision: Decision) -> tuple[Item, tuple[str, ...]] | None:
    """What a decision sets."""
    return _which(decision, kind_of(decision).sets)


def ended_by(decision: Decision) -> tuple[Item, tuple[str, ...]] | None:
    """What a decision ends."""
    return _which(decision, kind_of(decision).ends)


def _which(decision: Decision, which: tuple[Item, tuple[str, ...]] | None) -> tuple[Item, tuple[str, ...]] | None:
    return None if which is None else (which[0], tuple(str(getattr(decision, name)) for name in which[1]))


def values(decision: object, path: str) -> Iterator[Any]:
    """What stands in a field, each by itself; nothing for None. Of metadata, their texts."""
    found = [decision]
    for name in _steps(path):
        inner: list[Any] = []
        for one in found:
            value = getattr(one, name)
            if isinstance(value, tuple):
                inner += value
            elif isinstance(value, Mapping):
                inner += [text for _, text in metadata_texts(value)]
            elif value is not None:
                inner.append(value)
        found = inner
    return iter(found)


@cache
def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))
