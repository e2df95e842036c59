"""Whom a name means that several people have, where an analyst tells of the name alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from embermem.core.text import fold
from embermem.core.types import Fact, FactProposal, Source, ThreadId
from embermem.languages.people import called, whose
from embermem.memoryos.namesakes import RELATIVES
from embermem.memoryos.people import People

__all__ = ["in_full"]

_ThreadOf = Callable[[int], ThreadId | None]


def in_full(
    proposal: FactProposal, told: Iterable[FactProposal], people: People, known: Iterable[Fact], thread_of: _ThreadOf
) -> FactProposal:
    """A proposal about one of several people of a name, with whom it means: by the kin word that the same utterance
    has for the name, as the other proposals say that were `told` with it; as the fact that it replaces; else whom the
    thread spoke of last, by the facts that are `known`. What shows none of these stays open."""
    name, source = proposal.subject, proposal.sources[0]
    if called(name).kin:
        return proposal
    kin = _kin_said(name, source, told)
    if kin is not None:
        full = people.in_full(kin)
        return proposal if fold(full) == fold(name) else replace(proposal, subject=full)
    if not people.namesakes(name) or people.of(proposal) != people.id_of(name):
        return proposal
    known = tuple(known)
    old = next((fact for fact in known if fact.id == proposal.replaces), None)
    meant = None if old is None else people.namesake_in(old, name)
    meant = meant or _last_spoken_of(name, source.seq, people, known, thread_of)
    return replace(proposal, subject=meant or name)


def _last_spoken_of(name: str, seq: int, people: People, known: Iterable[Fact], thread_of: _ThreadOf) -> str | None:
    """Of several people of a name the one whom the thread of an utterance spoke of last before it, in full."""
    thread, last, found = thread_of(seq), 0, None
    for fact in known:
        seqs = [source.seq for source in fact.sources if last < source.seq <= seq]
        if seqs and (one := people.namesake_in(fact, name)) is not None:
            here = max((at for at in seqs if thread_of(at) == thread), default=0)
            if here > last:
                last, found = here, one
    return found


def _kin_said(name: str, source: Source, told: Iterable[FactProposal]) -> str | None:
    """Who a name is by the last kin word that stands before it in an utterance, in full: "Ann's brother Jonas"."""
    said: dict[str, int] = {}
    for one in told:
        value = called(one.value) if one.attribute in RELATIVES else None
        if value is not None and value.kin and fold(value.name) == fold(name):
            starts = [here.start or 0 for here in one.sources if here.seq == source.seq]
            said |= {whose(one.subject, value.kin, value.name): start for start in starts}
    before = {full: start for full, start in said.items() if start <= (source.start or 0)} or said
    return max(before, key=lambda full: before[full], default=None)
