"""Why something is remembered: the words said that it rests on, the changes that made it, and what it replaced.

Bounded on every side, whatever the store holds: so many quotes and changes, chains of so many facts, none twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from embermem.core.changes import BegunAnew, Change, ProfileSet, TraitCleared, TraitSet
from embermem.core.traits import dimensions_by_name
from embermem.core.types import (
    About,
    Chain,
    ChainId,
    Fact,
    FactId,
    MadeBy,
    OwnerId,
    ProfileField,
    Quote,
    Segment,
    SegmentId,
    Source,
    Trait,
    Why,
)
from embermem.memoryos.ingest.profile_lines import derived_traits, mirrors
from embermem.memoryos.people import People
from embermem.protocols import FactSelection, Store

_QUOTES = 8
"""Quotes of one item, the newest."""
_CHANGES = 12
"""Changes of one item: the first, and the newest."""
_FACTS = 8
"""Facts behind an item, and facts in a chain of those that took each other's place."""


def why(store: Store, owner_id: OwnerId, item_id: str, at: datetime, people: People) -> Why | None:
    """Why there is a fact, segment or chain (by its id), a trait (by its dimension) or a profile line (such as
    "user.home"); None if there is none. `at` is now: an age counts from it. Facts name whom they
    are about as `people` knows them."""
    return _ProvenanceQuery(store, owner_id, at, people).why(item_id)


class _ProvenanceQuery:
    def __init__(self, store: Store, owner_id: OwnerId, at: datetime, people: People) -> None:
        self._store = store
        self._owner_id = owner_id
        self._at = at
        self._people = people

    def why(self, item_id: str) -> Why | None:
        """By the kinds of ids in turn."""
        store, owner_id = self._store, self._owner_id
        whose, dot, name = item_id.partition(".")
        if dot:
            return self._line(whose, name)
        if item_id in dimensions_by_name():
            return self._trait(item_id)
        if facts := self._facts([item_id]):
            return self._fact(facts[0])
        if found := store.reads.segments(owner_id, ids=[SegmentId(item_id)]):
            return self._segment(found[0])
        chains = store.reads.chains(owner_id, ids=[ChainId(item_id)])
        return self._chain(chains[0]) if chains else None

    # -------------------------------------------------------------------------------------------------------- facts

    def _fact(self, fact: Fact) -> Why:
        return replace(
            self._sourced(fact, self._making("fact", fact.id)),
            replaced=tuple(self._sourced(one) for one in self._before(fact)),
            replaced_by=tuple(self._sourced(one) for one in self._after(fact)),
            conflicts=tuple(self._sourced(one) for one in self._facts(self._people.shown(fact).conflicts)),
        )

    def _sourced(self, fact: Fact, changes: Sequence[Change] | None = None) -> Why:
        """A fact; where its changes are not given, with the one that added it."""
        made = self._store.change_log.changes(self._owner_id, fact.change_no - 1, 1) if changes is None else changes
        return replace(
            self._why(fact.id, "fact", self._people.named(fact), fact.sources, made),
            held=fact.retired_at is None,
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
        )

    def _before(self, fact: Fact) -> list[Fact]:
        """Those that it took the place of, and they of others, the oldest last."""
        found: dict[FactId, Fact] = {}
        of = [fact.id]
        while of and len(found) < _FACTS:
            ended = self._store.reads.facts(self._owner_id, FactSelection(superseded_by=frozenset(of)))
            older = [one for one in sorted(ended, key=_ended_last) if one.id not in {fact.id, *found}]
            found |= {one.id: one for one in older[: _FACTS - len(found)]}
            of = [one.id for one in older]
        return list(found.values())

    def _after(self, fact: Fact) -> list[Fact]:
        """The one that took its place, and so on up to the one that holds."""
        found: dict[FactId, Fact] = {}
        last: Fact | None = fact
        while last is not None and last.superseded_by is not None and len(found) < _FACTS:
            last = next(iter(self._facts([last.superseded_by])), None)
            if last is None or last.id in found or last.id == fact.id:
                break
            found[last.id] = last
        return list(found.values())

    def _facts(self, ids: Iterable[str]) -> list[Fact]:
        named = [FactId(one) for one in dict.fromkeys(ids)][:_FACTS]
        found = {fact.id: fact for fact in self._store.reads.facts(self._owner_id, FactSelection(ids=frozenset(named)))}
        return [found[one] for one in named if one in found]

    def _resting(self, sources: Sequence[Source]) -> tuple[Fact, ...]:
        seqs = frozenset(source.seq for source in sources)
        found = self._store.reads.facts(self._owner_id, FactSelection(resting_on=seqs)) if seqs else ()
        return tuple(sorted(found, key=lambda fact: fact.id))

    # ------------------------------------------------------------------------------------------ profiles and traits

    def _line(self, whose: str, name: str) -> Why | None:
        persona = self._store.reads.persona(self._owner_id)
        lines = {f"{line.whose.value}.{line.name}": line for line in (*persona.profile, *persona.agent_profile)}
        line = lines.get(f"{whose}.{name}")
        if line is None:
            return None
        sets = [
            (change, d)
            for change in self._since_anew(ProfileSet)
            for d in change.decisions
            if isinstance(d, ProfileSet) and d.whose is line.whose and d.name == name
        ]
        earlier = [(change, d) for change, d in sets[:-1] if d.value is not None and d.value != line.value]
        item_id, changes = f"{whose}.{name}", list({change.no: change for change, _ in sets}.values())
        older = [
            self._why(item_id, "profile", d.value or "", d.sources, [change])
            for change, d in earlier[: -_FACTS - 1 : -1]
        ]
        return replace(
            self._why(item_id, "profile", _line_text(line), line.sources, changes),
            valid_from=line.valid_from,
            behind=self._behind_line(line),
            replaced=tuple(replace(one, held=False) for one in older),
        )

    def _behind_line(self, line: ProfileField) -> tuple[Why, ...]:
        if line.whose is not About.USER:
            return ()
        facts = [fact for fact in self._resting(line.sources) if mirrors(fact, line)]
        return tuple(
            replace(self._sourced(fact), replaced=tuple(self._sourced(one) for one in self._before(fact)))
            for fact in facts[-_FACTS:]
        )

    def _trait(self, dimension: str) -> Why | None:
        persona = self._store.reads.persona(self._owner_id)
        derived = {trait.dimension: trait for trait in derived_traits(persona.profile, self._at)}
        if dimension in derived:
            name = "birth_year" if dimension == "age_group" else dimension
            line = self._line(About.USER.value, name)
            return self._set(derived[dimension], [], () if line is None else (line,))
        trait = next((one for one in persona.traits if one.dimension == dimension), None)
        if trait is None:
            return None
        sets = [
            change
            for change in self._since_anew(TraitSet, TraitCleared)
            if any(isinstance(d, TraitSet | TraitCleared) and d.dimension == dimension for d in change.decisions)
        ]
        spans = {(source.seq, source.start, source.end) for source in trait.sources}
        whole = {source.seq for source in trait.sources if source.start is None}
        facts = [
            fact
            for fact in self._resting(trait.sources)
            if any((s.seq, s.start, s.end) in spans or s.seq in whole for s in fact.sources)
        ]
        return self._set(trait, sets, tuple(self._sourced(fact) for fact in facts[-_FACTS:]))

    def _set(self, trait: Trait, changes: Sequence[Change], behind: tuple[Why, ...]) -> Why:
        text = f"{trait.pole} (level {trait.level:+.2f}, confidence {trait.confidence:.2f})"
        told = self._why(trait.dimension, "trait", text, trait.sources, changes)
        return replace(told, valid_from=trait.valid_from, behind=behind)

    def _since_anew(self, *kinds: type[ProfileSet] | type[TraitSet] | type[TraitCleared]) -> list[Change]:
        """The changes with decisions of these kinds, since memory was begun anew last."""
        log = [
            one for one in self._store.change_log.changes(self._owner_id, kinds=(*kinds, BegunAnew)) if one.decisions
        ]
        begun = max((i for i, one in enumerate(log) if any(isinstance(d, BegunAnew) for d in one.decisions)), default=0)
        return log[begun:]

    # ---------------------------------------------------------------------------------------- segments and chains

    def _segment(self, segment: Segment) -> Why:
        return self._why(segment.id, "segment", segment.summary, segment.sources, self._making("segment", segment.id))

    def _chain(self, chain: Chain) -> Why:
        return self._why(chain.id, "chain", chain.summary, chain.sources, self._making("chain", chain.id))

    # ------------------------------------------------------------------------------------------------ of every item

    def _making(self, kind: str, item_id: str) -> list[Change]:
        """The changes with a decision of this item; in others it is only named."""
        found = self._store.change_log.changes_naming(self._owner_id, item_id)
        return [change for change in found if any(getattr(d, f"{kind}_id", None) == item_id for d in change.decisions)]

    def _why(self, item_id: str, kind: str, text: str, sources: Sequence[Source], changes: Sequence[Change]) -> Why:
        """What is said of every item: the words that it rests on, and the changes that made it."""
        shown = sorted(dict.fromkeys(sources), key=lambda one: (one.seq, one.start or 0))[-_QUOTES:]
        kept = [*changes[:1], *changes[1:][-(_CHANGES - 1) :]]
        quotes = tuple(quote for source in shown if (quote := self._quote(source)) is not None)
        return Why(
            item_id=item_id,
            kind=kind,
            text=text,
            quotes=quotes,
            changes=tuple(_made_by(change) for change in kept),
            left_out=len(dict.fromkeys(sources)) - len(quotes) + len(changes) - len(kept),
        )

    def _quote(self, source: Source) -> Quote | None:
        found = self._store.log.utterances_by_id(self._owner_id, [source.utterance_id])
        return Quote(utterance=found[0], start=source.start, end=source.end) if found else None


def _ended_last(fact: Fact) -> tuple[float, int, str]:
    """Orders facts by when it was recorded that they ended, the last one first."""
    ended = 0.0 if fact.retired_at is None else fact.retired_at.timestamp()
    return -ended, -fact.change_no, fact.id


def _made_by(change: Change) -> MadeBy:
    return MadeBy(no=change.no, cause=change.cause.value, analyst=change.analyst, recorded_at=change.recorded_at)


def _line_text(line: ProfileField) -> str:
    return f"{line.value} (set by the caller)" if line.set_by == "caller" else line.value
