"""Mem0 (arXiv 2504.19413, §2.1): facts taken from each exchange, and reconciled with those nearest to them.

Extraction takes candidates from a pair of messages, in the light of a rolling summary S and of the m messages before.
Update compares each with the s memories nearest to it: ADD, UPDATE, DELETE or NOOP. What a DELETE ends, or an UPDATE
replaces, stays, marked, for recalls of a time before. Recall gives the memories nearest to the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Literal

from embermem.core.types import Context, FactProposal, Owner, Page, PageView, Scope, ThreadId, Utterance
from embermem.languages.words import asks, sentences, terms
from embermem.memoryos.people import speaker_of
from embermem.prompts.data import one_line
from embermem.prompts.rendering import day
from embermem.protocols import Purpose
from embermem_bench.systems.mem0_shared import exchanges, holds, only_numbered, ranked, same_words, stacked, visible
from embermem_bench.systems.numbers import Mem0Numbers
from embermem_bench.systems.recorded import Kit, Piece, RecordedSystem
from embermem_bench.systems.records import Record, RecordId, Written, remade

if TYPE_CHECKING:
    from embermem.core.types import Vector

Operation = Literal["ADD", "UPDATE", "DELETE", "NOOP"]

_SPEAKER_CHARS = 60
"""Subjects by which the extractive analyst means whoever speaks."""
_STATED = 2
"""Terms that a sentence must have to state something: "Yes, Ana!" has one."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Memory(Record):
    """One fact, known from `at` on. `ended_at` is when something contradicted it, said in the utterance `ended_by`;
    None while it holds.

    `slot` and `value` are of the extractive analyst: whose attribute it gives, and as what; empty with a model.
    """

    kind: ClassVar[str] = "mem0.memory"

    ended_at: datetime | None = None
    ended_by: int = 0
    slot: str = ""
    value: str = ""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Version(Memory):
    """A memory as it was before an UPDATE, at which it ended."""

    kind: ClassVar[str] = "mem0.version"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Summary(Record):
    """S: what was talked about up to the utterance `upto`. There is one; it is never recalled."""

    kind: ClassVar[str] = "mem0.summary"

    upto: int


# ------------------------------------------------------------------------------------------- what a model is asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0Fact:
    """One candidate, ω, and the numbers of the messages that tell it."""

    text: str
    messages: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0Facts:
    """Ω, the candidates of an exchange."""

    schema_name: ClassVar[str] = "Mem0Facts"
    facts: tuple[Mem0Fact, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0Update:
    """What becomes of a candidate: `memory` is the number of the memory meant, `text` what an UPDATE makes of it."""

    schema_name: ClassVar[str] = "Mem0Update"
    operation: Operation
    memory: int = 0
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0FactUpdate:
    """The same, of the candidate with the number `fact`."""

    fact: int
    operation: Operation
    memory: int = 0
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0Updates:
    """What becomes of all candidates of an exchange."""

    schema_name: ClassVar[str] = "Mem0Updates"
    updates: tuple[Mem0FactUpdate, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0Summary:
    """S, made anew."""

    schema_name: ClassVar[str] = "Mem0Summary"
    summary: str


# ---------------------------------------------------------------------------------------------------------- the system


class Mem0(RecordedSystem):
    """A MemorySystem of facts that are kept consistent as they come in."""

    name: ClassVar[str] = "mem0"
    kinds: ClassVar[tuple[type[Record], ...]] = (Memory, Version, Summary)

    def __init__(self, kit: Kit, numbers: Mem0Numbers | None = None) -> None:
        super().__init__(kit)
        self.numbers = numbers or Mem0Numbers()

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """Extract, then update, each exchange in turn."""
        desk = Desk(self.kept(owner, Memory))
        known = summary = next(iter(self.kept(owner, Summary)), None)
        for page in pages:
            if self.kit.asker is None:
                self._learn_by_rule(owner, page, desk)
                continue
            for new in exchanges(page, self.numbers.pair_most):
                summary = self._summary(owner, summary, new[0].seq)
                candidates = self._extract(owner, summary, new)
                self._update(owner, candidates, desk)
        anew = [] if summary is None or summary is known else [summary]
        return Written(keep=[*desk.changed.values(), *anew])

    def recall(
        self,
        owner: Owner,
        query: str,
        *,
        at: datetime | None = None,
        budget: int | None = None,
        thread: ThreadId | None = None,
        scope: Scope | None = None,
    ) -> Context:
        """The memories nearest to the query that hold now, or that were known and held at a time."""
        pieces = self.remembered(owner, self.embed(query)[0], at, scope)
        return self.context(owner, query, pieces, budget=budget)

    def remembered(self, owner: Owner, query: Vector, at: datetime | None, scope: Scope | None) -> list[Piece]:
        """The recall_k memories nearest to a query's vector, best first."""
        seen = None if scope is None else {u.seq for u in self.said(owner, scope)}
        known = (*self.kept(owner, Memory, scope), *self.kept(owner, Version, scope))
        held = [memory for memory in known if holds(memory, at, seen)]
        return [
            Piece(text=f"{day(memory.at)} {memory.text}", score=score, seqs=memory.sources)
            for score, memory in ranked(query, stacked(held), held, self.numbers.recall_k)
        ]

    # ------------------------------------------------------------------------------------------------- with a model

    def _summary(self, owner: Owner, summary: Summary | None, first: int) -> Summary | None:
        """S; made anew if enough was said between what it covers and the utterance `first`."""
        every, upto = self.numbers.summary_every, 0 if summary is None else summary.upto
        since = [u for u in self.said(owner)[upto : first - 1] if visible(u.text)]
        if not every or len(since) < every:
            return summary
        shown = [f"summary so far: {summary.text if summary else 'none'}"]
        shown += [self.line(u) for u in since[-2 * every :]]  # more only if pages were learnt without a model
        answer = self.ask(owner, Purpose.REMEMBER, "mem0_summary", Mem0Summary, "\n".join(shown), _some_summary)
        return Summary(
            id=summary.id if summary else self.new_id(),
            text=one_line(answer.summary, self.numbers.summary_chars),
            at=since[-1].said_at,
            upto=first - 1,
        )

    def _extract(self, owner: Owner, summary: Summary | None, new: Sequence[Utterance]) -> list[Candidate]:
        """φ(P): the candidates of an exchange."""
        new = [u for u in new if visible(u.text)]
        if not new:
            return []
        shown = [f"summary: {summary.text if summary else 'none'}", "before:", *self.before(owner, new[0]), "new:"]
        shown += [f"{number} {self.line(u)}" for number, u in enumerate(new, 1)]

        def check(answer: Mem0Facts) -> None:
            only_numbered((n for fact in answer.facts for n in fact.messages), len(new), "message")

        answer = self.ask(owner, Purpose.REMEMBER, "mem0_facts", Mem0Facts, "\n".join(shown), check)
        texts: dict[str, Candidate] = {}
        for fact in answer.facts[: self.numbers.facts_most]:
            if text := one_line(fact.text, self.numbers.fact_chars):
                told = [new[n - 1] for n in sorted(set(fact.messages))] or new
                texts.setdefault(same_words(text), Candidate.told(text, told))
        return list(texts.values())

    def _update(self, owner: Owner, candidates: Sequence[Candidate], desk: Desk) -> None:
        """Decide what becomes of each candidate, and do it. One that stands there word for word is no question."""
        if not candidates:
            return
        vectors = list(self.embed(*(one.text for one in candidates)))
        told = list(zip(candidates, vectors, strict=True))
        if self.numbers.update_each:
            for candidate, vector in told:
                near = self._near([vector], desk)
                if not _among(candidate, near):
                    self._apply(self._decision(owner, candidate, near), candidate, vector, near, desk)
            return
        near = self._near(vectors, desk)
        told = [(candidate, vector) for candidate, vector in told if not _among(candidate, near)]
        updates = self._decisions(owner, [candidate for candidate, _ in told], near)
        for update, (candidate, vector) in zip(updates, told, strict=True):
            self._apply(update, candidate, vector, near, desk)

    def _decision(self, owner: Owner, candidate: Candidate, near: Sequence[Memory]) -> Mem0Update:
        """The operation for one candidate, as in §2.1; ADD without asking where nothing is kept."""
        if not near:
            return Mem0Update(operation="ADD")
        shown = [f"fact: {candidate.line}", *_memory_lines(near)]

        def check(answer: Mem0Update) -> None:
            _check_update(answer.operation, answer.memory, answer.text, candidate, near)

        return self.ask(owner, Purpose.REMEMBER, "mem0_update", Mem0Update, "\n".join(shown), check)

    def _decisions(self, owner: Owner, candidates: Sequence[Candidate], near: Sequence[Memory]) -> list[Mem0Update]:
        """The operations for all candidates of an exchange, in their order, by one question."""
        if not near or not candidates:
            return [Mem0Update(operation="ADD") for _ in candidates]
        shown = [f"fact {number}: {one.line}" for number, one in enumerate(candidates, 1)] + _memory_lines(near)

        def check(answer: Mem0Updates) -> None:
            if sorted(one.fact for one in answer.updates) != list(range(1, len(candidates) + 1)):
                raise ValueError(f"Decide about every fact from 1 to {len(candidates)} once.")
            for one in answer.updates:
                _check_update(one.operation, one.memory, one.text, candidates[one.fact - 1], near)
            changed = [one.memory for one in answer.updates if one.operation in ("UPDATE", "DELETE")]
            if len(changed) != len(set(changed)):
                raise ValueError("A memory may be changed once at most.")

        answer = self.ask(owner, Purpose.REMEMBER, "mem0_update_all", Mem0Updates, "\n".join(shown), check)
        return [
            Mem0Update(operation=one.operation, memory=one.memory, text=one.text)
            for one in sorted(answer.updates, key=lambda one: one.fact)
        ]

    def _near(self, vectors: Sequence[Vector], desk: Desk) -> list[Memory]:
        """The s memories nearest to each of the vectors, each once."""
        found = [memory for vector in vectors for _, memory in desk.nearest(vector, self.numbers.near)]
        return list({memory.id: memory for memory in found}.values())

    def _apply(
        self, update: Mem0Update, candidate: Candidate, vector: Vector, near: Sequence[Memory], desk: Desk
    ) -> None:
        """Do what was decided. A contradicted memory ends and the candidate takes its place: both or neither."""
        if update.operation == "UPDATE":
            old = near[update.memory - 1]
            text = one_line(update.text, self.numbers.fact_chars)
            changed = vector if text == candidate.text else self.embed(text)[0]
            desk.replace(old, candidate.extending(old, text, changed), self.new_id())
            return
        if update.operation == "DELETE":
            desk.end(near[update.memory - 1], candidate)
        if update.operation != "NOOP":
            desk.put(candidate.memory(self.new_id(), vector))

    def before(self, owner: Owner, new: Utterance) -> list[str]:
        """The m messages of the thread before an utterance, oldest first, as a model is shown them."""
        earlier = reversed(self.said(owner)[: new.seq - 1])
        own = (u for u in earlier if u.thread == new.thread and visible(u.text))
        return [self.line(u) for u in islice(own, self.numbers.recent)][::-1]

    def line(self, utterance: Utterance) -> str:
        """One message as a model is shown it."""
        said = one_line(utterance.text, self.numbers.message_chars)
        return f"{day(utterance.said_at)} {one_line(utterance.speaker, _SPEAKER_CHARS)}: {said}"

    # ---------------------------------------------------------------------------------------------- without a model

    def _learn_by_rule(self, owner: Owner, page: Page, desk: Desk) -> None:
        """The facts that the extractive analyst finds, and the sentences that state something."""
        (annotation,) = self.kit.extractive.annotate(owner, {}, [PageView(page=page)])
        of = {u.seq: u for u in page.utterances}
        candidates: list[Candidate] = []
        for fact in annotation.facts:
            candidate = _of_fact(fact, of, self.numbers.fact_chars)
            if not fact.retracts:
                candidates.append(candidate)
                continue
            candidates = [one for one in candidates if one.slot_value != candidate.slot_value]
            if old := desk.of_slot(candidate.slot, candidate.value):
                desk.end(old, candidate)
        candidates += self._statements(page, annotation.facts)
        vectors = self.embed(*(one.text for one in candidates)) if candidates else ()
        for candidate, vector in zip(candidates, vectors, strict=True):
            self._apply_by_rule(candidate, vector, desk)

    def _apply_by_rule(self, candidate: Candidate, vector: Vector, desk: Desk) -> None:
        """Algorithm 1 where no model judges: of one slot with another value, DELETE; nearly the same words, UPDATE by
        the one that says more, or NOOP; else ADD."""
        old = desk.of_slot(candidate.slot) if candidate.single else None
        if old is not None and old.value.casefold() != candidate.value.casefold():
            self._apply(Mem0Update(operation="DELETE", memory=1), candidate, vector, [old], desk)
            return
        near = [m for score, m in desk.nearest(vector, 1) if score >= self.numbers.same_fact]
        update = Mem0Update(operation="ADD")
        if near and near[0].slot == candidate.slot and near[0].value == candidate.value:
            known, told = set(terms(near[0].text)), set(terms(candidate.text))
            if told <= known:
                update = Mem0Update(operation="NOOP", memory=1)
            elif known < told:
                update = Mem0Update(operation="UPDATE", memory=1, text=candidate.text)
        self._apply(update, candidate, vector, near, desk)

    def _statements(self, page: Page, facts: Sequence[FactProposal]) -> Iterator[Candidate]:
        """The sentences that state something beyond what a fact says whole."""
        said_whole = [s for fact in facts if not fact.retracts for s in fact.sources]
        for utterance in page.utterances:
            own = [(s.start, s.end) for s in said_whole if s.seq == utterance.seq]
            for start, end in sentences(utterance.text):
                sentence = utterance.text[start:end]
                inside = [utterance.text[first:last] for first, last in own if _within(first, last, start, end)]
                rest = reduce(lambda text, part: text.replace(part, " ", 1), inside, sentence)
                states = len(set(terms(sentence))) >= _STATED and not asks(sentence)
                if states and terms(rest):
                    line = f"{one_line(utterance.speaker, _SPEAKER_CHARS)}: "
                    yield Candidate.told(line + one_line(sentence, self.numbers.fact_chars), [utterance])


# --------------------------------------------------------------------------------------------------------------- parts


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """ω: a fact that may become a memory; what it rests on, and when that was said."""

    text: str
    sources: tuple[int, ...]
    at: datetime
    slot: str = ""
    value: str = ""
    single: bool = False

    @classmethod
    def told(cls, text: str, said: Sequence[Utterance]) -> Candidate:
        """A candidate that these utterances tell, oldest first."""
        return cls(text=text, sources=tuple(u.seq for u in said), at=said[-1].said_at)

    @property
    def slot_value(self) -> tuple[str, str]:
        """The attribute that it gives, and as what; empty for a statement."""
        return self.slot, self.value.casefold()

    @property
    def line(self) -> str:
        """How a model is shown it."""
        return f"{day(self.at)} {self.text}"

    def memory(self, record_id: RecordId, vector: Vector) -> Memory:
        """The memory that it becomes."""
        return Memory(
            id=record_id,
            text=self.text,
            at=self.at,
            sources=self.sources,
            vector=vector,
            slot=self.slot,
            value=self.value,
        )

    def extending(self, old: Memory, text: str, vector: Vector) -> Memory:
        """The memory in place of an old one, which it extends: known since both were."""
        sources = tuple(sorted({*old.sources, *self.sources}))
        return replace(self.memory(old.id, vector), text=text, at=max(old.at, self.at), sources=sources)


class Desk:
    """The memories that hold while a page is learnt, and those of all that were changed."""

    def __init__(self, kept: Iterable[Memory]) -> None:
        self._known = [memory for memory in kept if memory.ended_at is None]
        self._held = {memory.id: memory for memory in self._known}
        self._vectors = stacked(self._known)
        self.changed: dict[RecordId, Memory] = {}

    def nearest(self, vector: Vector, k: int) -> list[tuple[float, Memory]]:
        """The k memories that are nearest to a vector, each after its cosine, best first."""
        own = [memory for memory in self.changed.values() if memory.id in self._held]
        old = ranked(vector, self._vectors, self._known, k + len(self.changed))
        found = [(score, memory) for score, memory in old if memory.id not in self.changed]
        found += ranked(vector, stacked(own), own, k)
        return sorted(found, key=lambda one: -one[0])[:k]

    def of_slot(self, slot: str, value: str | None = None) -> Memory | None:
        """The one that gives an attribute, or gives it as this value."""
        own = (m for m in self._held.values() if slot and m.slot == slot)
        return next((m for m in own if value is None or m.value.casefold() == value.casefold()), None)

    def put(self, memory: Memory) -> None:
        """Keep a new memory, or a changed one in place of the old."""
        self._held[memory.id] = self.changed[memory.id] = memory

    def replace(self, old: Memory, new: Memory, version_id: RecordId) -> None:
        """Keep a memory in place of an old one, which stays as a version if it was known before."""
        self.put(new)
        told = [seq for seq in new.sources if seq not in old.sources]
        if told:
            self.changed[version_id] = remade(Version, old, id=version_id, ended_at=new.at, ended_by=told[-1])

    def end(self, memory: Memory, by: Candidate) -> None:
        """Mark a memory as no longer valid."""
        self._held.pop(memory.id, None)
        self.changed[memory.id] = replace(memory, ended_at=by.at, ended_by=by.sources[-1])


def _some_summary(answer: Mem0Summary) -> None:
    if not visible(answer.summary):
        raise ValueError("The summary is empty.")


def _among(candidate: Candidate, near: Sequence[Memory]) -> bool:
    return same_words(candidate.text) in {same_words(memory.text) for memory in near}


def _memory_lines(near: Sequence[Memory]) -> list[str]:
    return [f"memory {number}: {day(memory.at)} {memory.text}" for number, memory in enumerate(near, 1)]


def _check_update(operation: Operation, memory: int, text: str, candidate: Candidate, near: Sequence[Memory]) -> None:
    """Raise ValueError, in words for the model, if an update cannot be meant so."""
    if operation not in ("UPDATE", "DELETE"):
        return
    only_numbered([memory], len(near), "memory")
    if operation == "UPDATE" and not visible(text):
        raise ValueError("UPDATE needs the new text of the memory.")
    if operation == "DELETE" and set(terms(near[memory - 1].text)) == set(terms(candidate.text)):
        raise ValueError(f"Memory {memory} says what the fact says and does not contradict it; NOOP is meant.")


def _within(first: int | None, last: int | None, start: int, end: int) -> bool:
    return first is not None and last is not None and start <= first and last <= end


def _slot(fact: FactProposal) -> str:
    return f"{fact.about}/{fact.subject}/{fact.attribute}"


def _of_fact(fact: FactProposal, of: Mapping[int, Utterance], limit: int) -> Candidate:
    """A fact of the extractive analyst as a candidate: of somebody else, with the name of who said it."""
    said = [of[source.seq] for source in fact.sources]
    speaker, text = one_line(said[0].speaker, _SPEAKER_CHARS), fact.text
    if fact.subject != speaker_of(said[0].speaker, said[0].role):
        text = f"{speaker}: {text}"
    candidate = Candidate.told(one_line(text, limit), said)
    return replace(candidate, slot=_slot(fact), value=fact.value, single=fact.single)
