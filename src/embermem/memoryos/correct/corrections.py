"""What a caller says of facts: another value, no longer so, never to be archived. Decided from the persona alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from embermem.core.changes import (
    CALLER,
    ConflictSettled,
    Decision,
    FactAdded,
    FactAffirmed,
    FactDenied,
    FactPinned,
    FactRestored,
    FactRetired,
    ProfileSet,
)
from embermem.core.config import Settings
from embermem.core.errors import InputError
from embermem.core.metadata import Metadata
from embermem.core.types import Fact, FactId, Persona, Source
from embermem.core.user_overrides import plain, speaks_of
from embermem.memoryos.ingest.knowledge_cap import over_cap
from embermem.memoryos.ingest.profile_lines import mirrors
from embermem.memoryos.ingest.value_equality import same_value


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Since when a fact holds, until when it held, and when it ends by itself."""

    valid_from: datetime | None
    valid_to: datetime | None = None
    expires_at: datetime | None = None


def correcting(
    fact: Fact, text: str, value: str, persona: Persona, *, no: int, seq: int, settings: Settings, times: Times
) -> list[Decision]:
    """The decisions of change `no` by which a new fact takes the place of one that was wrong.

    The old one then held for no time; the new one rests on the same utterances. What was said up to `seq` neither ends
    it nor teaches the old value again, and what the old one contradicted may stay. A fact that already says the same
    becomes part of it. Raises InputError for a fact that no longer holds, for one that says just this, and for times
    that end before they begin.
    """
    _must_hold(fact)
    since, until = times.valid_from, times.valid_to
    if since is not None and until is not None and until < since:
        raise InputError(f"valid_to = {until.isoformat()} is before valid_from = {since.isoformat()}")
    if (fact.text, fact.value, fact.valid_from, None) == (text, value, since, until):
        raise InputError(f"fact {fact.id} already has this text; nothing was changed")
    new = FactId(f"f{no}-000")
    held = _held(persona)
    alike = [one for one in held if one.id != fact.id and speaks_of(one) == speaks_of(fact)]
    same = [one for one in alike if same_value(one.value, value, fact.attribute)]
    ended = [fact, *same]
    sources = dict.fromkeys(source for one in ended for source in one.sources)
    decisions: list[Decision] = [
        FactAdded.of(
            replace(
                fact,
                id=new,
                value=value,
                text=text,
                sources=tuple(sources),
                valid_from=since,
                expires_at=times.expires_at if until is None else None,
            )
        )
    ]
    decisions += [FactRetired(fact_id=one.id, superseded_by=new, valid_to=one.valid_from) for one in ended]
    if any(one.pinned for one in ended):
        decisions.append(FactPinned(fact_id=new, pinned=True))
    decisions.append(FactAffirmed(fact_id=new, upto_seq=seq))
    if not same_value(fact.value, value, fact.attribute):
        decisions.append(denied(fact, seq))
    decisions += [
        ConflictSettled(fact_id=one, other_id=new) for one in fact.conflicts if one not in {f.id for f in same}
    ]
    decisions += _lines(fact, value, persona)
    if until is not None:
        ended_one = replace(fact, id=new, value=value, text=text)
        decisions += [FactRetired(fact_id=new, superseded_by=None, valid_to=until), denied(ended_one, seq)]
        decisions += _lines(fact, None, persona, ended=until)
    after = [one for one in held if one not in ended]
    return [*decisions, *over_cap([*after, replace(fact, id=new, pinned=any(one.pinned for one in ended))], settings)]


def labelling(fact: Fact, metadata: Metadata, *, no: int, seq: int) -> list[Decision]:
    """The decisions of change `no` by which a fact of the same words, with other metadata of its own, takes the place
    of one. Raises InputError for a fact that no longer holds, or that has just these."""
    _must_hold(fact)
    if fact.own_metadata == metadata:
        raise InputError(f"fact {fact.id} already has this metadata; nothing was changed")
    new = FactId(f"f{no}-000")
    made: list[Decision] = [
        FactAdded.of(replace(fact, id=new, own_metadata=metadata)),
        FactRetired(fact_id=fact.id, superseded_by=new, valid_to=fact.valid_from),
    ]
    made += [FactPinned(fact_id=new, pinned=True)] if fact.pinned else []
    return [*made, FactAffirmed(fact_id=new, upto_seq=seq)]


def retiring(fact: Fact, persona: Persona, *, at: datetime, seq: int) -> list[Decision]:
    """The decisions by which a fact holds no longer, from `at` on: it was true until then. What was said up to `seq`
    does not teach it again. Raises InputError for a fact that no longer holds."""
    _must_hold(fact)
    return [
        FactRetired(fact_id=fact.id, superseded_by=None, valid_to=at),
        denied(fact, seq),
        *_lines(fact, None, persona, ended=at),
    ]


def pinning(facts: Sequence[Fact], pinned: bool, persona: Persona, settings: Settings) -> list[Decision]:
    """The decisions by which facts are kept from the cap, or no longer are; none for those where that is so already.
    Those in the archive hold again. Raises InputError for a fact that no longer holds."""
    decisions: list[Decision] = []
    for fact in facts:
        _must_hold(fact)
        if fact.pinned == pinned and not (pinned and fact.archived):
            continue
        decisions += [FactRestored(fact_id=fact.id)] if pinned and fact.archived else []
        decisions.append(FactPinned(fact_id=fact.id, pinned=pinned))
    told = {one.fact_id for one in decisions if isinstance(one, FactPinned)}
    after = [replace(one, pinned=pinned) if one.id in told else one for one in _held(persona)]
    return [*decisions, *over_cap(after, settings)] if decisions else []


def merging(
    keep: Fact,
    others: Sequence[Fact],
    persona: Persona,
    *,
    no: int,
    seq: int,
    settings: Settings,
) -> list[Decision]:
    """The decisions of change `no` by which facts that say the same become one: it has the words of `keep`, what all of
    them rest on, and is true since the first of them was. What was said up to `seq` neither ends it nor teaches again
    what the others said otherwise. Raises InputError for a fact that no longer holds, and for facts about several
    persons.
    """
    new, ended = FactId(f"f{no}-000"), [keep, *others]
    for one in ended:
        _must_hold(one)
        if (one.person, one.about) != (keep.person, keep.about):
            raise InputError(
                f"fact {one.id} is about {one.person}, and fact {keep.id} about {keep.person}: only facts about one "
                "person can be merged"
            )
    since = [one.valid_from for one in ended if one.valid_from is not None]
    sources = dict.fromkeys(source for one in ended for source in one.sources)
    whole = replace(
        keep,
        id=new,
        sources=tuple(sources),
        valid_from=min(since, default=None),
        pinned=any(one.pinned for one in ended),
        archived=False,
    )
    decisions: list[Decision] = [FactAdded.of(whole)]
    decisions += [FactRetired(fact_id=one.id, superseded_by=new, valid_to=one.valid_from) for one in ended]
    decisions += [FactPinned(fact_id=new, pinned=True)] if whole.pinned else []
    decisions.append(FactAffirmed(fact_id=new, upto_seq=seq))
    for one in others:
        if not same_value(one.value, keep.value, keep.attribute) or one.attribute != keep.attribute:
            decisions += [denied(one, seq), *_lines(one, keep.value, persona)]
    gone = {one.id for one in ended}
    after = [one for one in _held(persona) if one.id not in gone]
    return [*decisions, *over_cap([*after, whole], settings)]


def refuting(wrong: Fact, right: Fact, persona: Persona, *, seq: int) -> list[Decision]:
    """The decisions by which one of two facts was never so, and the other one is right. What was said up to `seq` does
    not teach the wrong one again."""
    same = wrong.attribute == right.attribute and speaks_of(wrong) == speaks_of(right)
    lines = [
        one
        if one.value is None
        else replace(
            one,
            sources=right.sources,
            set_by=one.set_by if right.sources else CALLER,
            valid_from=right.valid_from,
        )
        for one in _lines(wrong, right.value if same else None, persona)
    ]
    return [
        FactRetired(fact_id=wrong.id, superseded_by=right.id, valid_to=wrong.valid_from),
        FactAffirmed(fact_id=right.id, upto_seq=seq),
        denied(wrong, seq),
        *lines,
    ]


def _must_hold(fact: Fact) -> None:
    if fact.retired_at is not None:
        raise InputError(f"fact {fact.id} is no longer current; only current facts can be changed")


def _held(persona: Persona) -> list[Fact]:
    return [*persona.facts, *persona.agent_facts]


def denied(fact: Fact, seq: int) -> FactDenied:
    """What was said up to an utterance does not teach again what a fact says."""
    return FactDenied(
        fact_id=fact.id,
        about=fact.about,
        subject=fact.subject,
        attribute=fact.attribute,
        value=fact.value,
        upto_seq=seq,
    )


def _lines(fact: Fact, value: str | None, persona: Persona, ended: datetime | None = None) -> list[ProfileSet]:
    """The profile lines that say what the fact said, with the new value; without one, or where they say it in another
    way (a year of a birthday), they go, from when the fact `ended` or, where it was wrong, for all of their time. What
    callers set themselves stays."""
    made: list[ProfileSet] = []
    for line in persona.profile:
        if line.set_by == CALLER or not mirrors(fact, line):
            continue
        says = value if plain(line.value) == plain(fact.value) else None
        sources: tuple[Source, ...] = line.sources if says is not None else ()
        by = CALLER if says is None else line.set_by
        since = line.valid_from if ended is None else ended
        made.append(
            ProfileSet(whose=line.whose, name=line.name, value=says, sources=sources, set_by=by, valid_from=since)
        )
    return made
