"""Mem0g (arXiv 2504.19413, §2.2): the memories of Mem0, and beside them a directed labelled graph G = (V, E, L).

Nodes are entities with a type, an embedding and a creation time; edges are triples (v_s, r, v_d), found in two stages:
entities, then what relates them. A name that is near enough to a node's is that node. An edge that a new one makes
untrue is marked, not removed. Recall comes from two sides: the edges of the entities that a query names, and the edges
whose text is near the query's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from embermem import languages
from embermem.core.types import Context, FactProposal, Owner, Page, PageView, Scope, ThreadId, Utterance
from embermem.memoryos.people import speaker_of
from embermem.prompts.data import one_line
from embermem.prompts.rendering import day
from embermem.protocols import Purpose
from embermem_bench.systems.mem0 import Mem0
from embermem_bench.systems.mem0_shared import exchanges, holds, only_numbered, ranked, same_words, stacked, visible
from embermem_bench.systems.numbers import Mem0GraphNumbers
from embermem_bench.systems.recorded import Kit, Piece
from embermem_bench.systems.records import Record, RecordId, Written

if TYPE_CHECKING:
    from embermem.core.types import Vector

EntityType = Literal["person", "place", "object", "concept", "event", "attribute"]
"""L, the types of nodes that §2.2 names."""

_DIGITS = re.compile(r"\d+")
_QUERY_NAMES = 8
"""Words of a query that may name an entity."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Entity(Record):
    """v: its name is `text`, its embedding e_v is `vector`, its creation time t_v is `at`; `sources` named it first."""

    kind: ClassVar[str] = "mem0g.entity"

    type: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Relation(Record):
    """(v_s, r, v_d), with the ids of two entities; `text` says it in words. All utterances that told it are `sources`.

    `ended_at` is when a newer one made it obsolete, told in the utterance `ended_by`; None while it holds.
    """

    kind: ClassVar[str] = "mem0g.relation"

    source: RecordId
    relation: str
    target: RecordId
    ended_at: datetime | None = None
    ended_by: int = 0


# ------------------------------------------------------------------------------------------- what a model is asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0gEntity:
    """One entity and its type."""

    name: str
    type: EntityType


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0gEntities:
    """The entities of an exchange."""

    schema_name: ClassVar[str] = "Mem0gEntities"
    entities: tuple[Mem0gEntity, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0gTriple:
    """One triple, by the numbers of two entities, and those of the messages that tell it."""

    source: int
    relation: str
    target: int
    messages: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0gTriples:
    """The triples of an exchange."""

    schema_name: ClassVar[str] = "Mem0gTriples"
    triples: tuple[Mem0gTriple, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mem0gObsolete:
    """The numbers of the known relations that no longer hold."""

    schema_name: ClassVar[str] = "Mem0gObsolete"
    obsolete: tuple[int, ...]


# ---------------------------------------------------------------------------------------------------------- the system


class Mem0Graph(Mem0):
    """A MemorySystem of facts and of a graph of what they are about."""

    name: ClassVar[str] = "mem0g"
    kinds: ClassVar[tuple[type[Record], ...]] = (*Mem0.kinds, Entity, Relation)
    numbers: Mem0GraphNumbers

    def __init__(self, kit: Kit, numbers: Mem0GraphNumbers | None = None) -> None:
        super().__init__(kit, numbers or Mem0GraphNumbers())

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """What Mem0 learns of the pages, and what they add to the graph: one transaction."""
        written = super().learn(owner, pages) if self.numbers.memories else Written()
        graph = Graph(self, self.kept(owner, Entity), self.kept(owner, Relation))
        for page in pages:
            if self.kit.asker is None:
                self._join(owner, self._told_by_rule(owner, page, graph), graph)
                continue
            for new in exchanges(page, self.numbers.pair_most):
                self._join(owner, self._told(owner, new), graph)
        return Written(keep=[*written.keep, *graph.changed.values()])

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
        """The nearest memories, then the nearest triples; of both what holds now, or was known and held at a time."""
        vector = self.embed(query)[0]
        pieces = self.remembered(owner, vector, at, scope) if self.numbers.memories else []
        return self.context(owner, query, [*pieces, *self._related(owner, query, vector, at, scope)], budget=budget)

    # ------------------------------------------------------------------------------------------------- into the graph

    def _told(self, owner: Owner, new: Sequence[Utterance]) -> list[Triple]:
        """The two stages of extraction: entities, then triples between them."""
        new = [u for u in new if visible(u.text)]
        entities = self._entities(owner, new) if new else []
        if len(entities) < 2:
            return []
        shown = ["things:", *(f"{number} {name} ({type_})" for number, (name, type_) in enumerate(entities, 1))]
        shown += ["messages:", *(f"{number} {self.line(u)}" for number, u in enumerate(new, 1))]

        def check(answer: Mem0gTriples) -> None:
            only_numbered((n for one in answer.triples for n in (one.source, one.target)), len(entities), "thing")
            only_numbered((n for one in answer.triples for n in one.messages), len(new), "message")

        answer = self.ask(owner, Purpose.REMEMBER, "mem0g_triples", Mem0gTriples, "\n".join(shown), check)
        return [
            Triple(
                source=entities[one.source - 1],
                relation=relation,
                target=entities[one.target - 1],
                sources=tuple(told.seq for told in said),
                at=said[-1].said_at,
            )
            for one in answer.triples[: self.numbers.triples_most]
            if one.source != one.target and (relation := self._name(one.relation))
            for said in [[new[n - 1] for n in sorted(set(one.messages))] or new]
        ]

    def _entities(self, owner: Owner, new: Sequence[Utterance]) -> list[tuple[str, str]]:
        """The names and types of what an exchange is about, each name once."""
        shown = ["before:", *self.before(owner, new[0]), "new:"]
        shown += [f"{number} {self.line(u)}" for number, u in enumerate(new, 1)]
        answer = self.ask(owner, Purpose.REMEMBER, "mem0g_entities", Mem0gEntities, "\n".join(shown))
        named: dict[str, tuple[str, str]] = {}
        for one in answer.entities[: self.numbers.entities_most]:
            if name := self._name(one.name):
                named.setdefault(same_words(name), (name, one.type))
        return list(named.values())

    def _join(self, owner: Owner, told: Sequence[Triple], graph: Graph) -> None:
        """Put triples into the graph, and mark what they make obsolete."""
        new = graph.add(told)
        if self.kit.asker is None:
            for edge in (edge for triple, edge in new if triple.single):
                graph.end_others(edge)
            return
        now = {seq for triple in told for seq in triple.sources}
        doubtful: dict[RecordId, Relation] = {}
        for _, edge in new:
            known = [one for one in graph.leaving(edge.source) if now.isdisjoint(one.sources)]
            if edge.vector is not None:
                near = ranked(edge.vector, stacked(known), known, self.numbers.near)
                doubtful |= {one.id: one for _, one in near}
        if doubtful:
            self._end_obsolete(owner, [edge for _, edge in new], list(doubtful.values()), graph)

    def _end_obsolete(self, owner: Owner, new: Sequence[Relation], known: Sequence[Relation], graph: Graph) -> None:
        """Ask which known edges no longer hold; only those were shown that leave an entity of a new one."""
        shown = [f"new: {day(one.at)} {one.text}" for one in new]
        shown += [f"known {number}: {day(one.at)} {one.text}" for number, one in enumerate(known, 1)]

        def check(answer: Mem0gObsolete) -> None:
            only_numbered(answer.obsolete, len(known), "known relation")

        answer = self.ask(owner, Purpose.REMEMBER, "mem0g_obsolete", Mem0gObsolete, "\n".join(shown), check)
        for number in sorted(set(answer.obsolete)):
            old = known[number - 1]
            by = next(one for one in reversed(new) if one.source == old.source)
            graph.end(old, by.at, by.sources[-1])

    def _told_by_rule(self, owner: Owner, page: Page, graph: Graph) -> list[Triple]:
        """Without a model: the extractive facts as triples, and of what each speaker speaks, by keywords."""
        (annotation,) = self.kit.extractive.annotate(owner, {}, [PageView(page=page)])
        of = {u.seq: u for u in page.utterances}
        told: list[Triple] = []
        for fact in annotation.facts:
            triple = self._of_fact(fact, of[fact.sources[0].seq])
            if not fact.retracts:
                told.append(triple)
                continue
            told = [one for one in told if one.words != triple.words]
            graph.end_told(triple)
        for utterance in page.utterances:
            relation = languages.by_signs(utterance.text).speaks_of
            speaker = (self._name(utterance.speaker), "person")
            for word in self.kit.keywords(utterance.text, self.numbers.spoken_of):
                told.append(Triple.by(utterance, speaker, relation, (self._name(word), "concept")))
        return told

    def _of_fact(self, fact: FactProposal, utterance: Utterance) -> Triple:
        """(subject, attribute, value); a speaker goes by the whole name."""
        own = fact.subject == speaker_of(utterance.speaker, utterance.role)
        subject = self._name(utterance.speaker if own else fact.subject)
        relation, value = fact.attribute.replace("_", " "), self._name(fact.value)
        triple = Triple.by(utterance, (subject, "person"), relation, (value, "attribute"))
        return replace(triple, single=fact.single)

    def _name(self, text: str) -> str:
        return one_line(text, self.numbers.name_chars)

    # --------------------------------------------------------------------------------------------- out of the graph

    def _related(
        self, owner: Owner, query: str, vector: Vector, at: datetime | None, scope: Scope | None
    ) -> list[Piece]:
        """Half of the triples from the edges of entities that the query names, the rest by their text; best first."""
        edges = self._edges(owner, at, scope)
        k = self.numbers.relations_k
        named = self._named(owner, query)
        around = [edge for edge in edges if edge.source in named or edge.target in named]
        found = {edge.id: (score, edge) for score, edge in ranked(vector, stacked(around), around, k // 2)}
        for score, edge in ranked(vector, stacked(edges), edges, k):
            if len(found) < k and score >= self.numbers.relevance:
                found.setdefault(edge.id, (score, edge))
        return [
            Piece(text=f"{day(edge.at)} {edge.text}", score=score, seqs=edge.sources[::-1])
            for score, edge in sorted(found.values(), key=lambda one: -one[0])
        ]

    def _edges(self, owner: Owner, at: datetime | None, scope: Scope | None) -> list[Relation]:
        """The edges that hold, each by those of its tellings that a recall may see."""
        edges = self.kept(owner, Relation)
        if scope is None and at is None:
            return [edge for edge in edges if holds(edge, None, None)]
        said = self.said(owner, scope)
        told = {u.seq: u.said_at for u in said if at is None or u.said_at <= at}
        seen = None if scope is None else {u.seq for u in said}
        known = [(edge, tuple(seq for seq in edge.sources if seq in told)) for edge in edges]
        return [replace(edge, sources=seqs, at=told[seqs[0]]) for edge, seqs in known if seqs and holds(edge, at, seen)]

    def _named(self, owner: Owner, query: str) -> set[RecordId]:
        """The nodes that a query's words name."""
        nodes = self.kept(owner, Entity)
        words = self.kit.keywords(query, _QUERY_NAMES)
        if not words or not nodes:
            return set()
        near = (self.embed(*words) @ stacked(nodes).T).max(axis=0) >= self.numbers.near_entity
        return {node.id for node, is_near in zip(nodes, near, strict=True) if is_near}


# --------------------------------------------------------------------------------------------------------------- parts


@dataclass(frozen=True, kw_only=True, slots=True)
class Triple:
    """A triple before it is in the graph: its ends are names with their types."""

    source: tuple[str, str]
    relation: str
    target: tuple[str, str]
    sources: tuple[int, ...]
    at: datetime
    single: bool = False

    @classmethod
    def by(cls, said: Utterance, source: tuple[str, str], relation: str, target: tuple[str, str]) -> Triple:
        """One that an utterance tells."""
        return cls(source=source, relation=relation, target=target, sources=(said.seq,), at=said.said_at)

    @property
    def words(self) -> tuple[str, str, str]:
        """What it says, to be compared."""
        return same_words(self.source[0]), same_words(self.relation), same_words(self.target[0])


class Graph:
    """Nodes and the edges that hold while a page is learnt, and all that was made or changed."""

    def __init__(self, system: Mem0Graph, nodes: Iterable[Entity], edges: Iterable[Relation]) -> None:
        self._system = system
        self._nodes = {same_words(node.text): node for node in nodes}
        self._edges = {_key(edge): edge for edge in edges if edge.ended_at is None}
        self.changed: dict[RecordId, Record] = {}

    def add(self, told: Sequence[Triple]) -> list[tuple[Triple, Relation]]:
        """Put triples in; those that were not known, each with its edge. What is told again is a source more."""
        node_of = self._found_or_made(told)
        new: dict[tuple[RecordId, str, RecordId], tuple[Triple, Relation]] = {}
        for triple in told:
            source, target = (node_of[same_words(name)] for name, _ in (triple.source, triple.target))
            key = (source.id, same_words(triple.relation), target.id)
            if source is target:
                continue
            if old := self._edges.get(key):
                self._put(replace(old, sources=tuple(sorted({*old.sources, *triple.sources}))))
                if key in new:
                    new[key] = (triple, self._edges[key])
                continue
            edge = Relation(
                id=self._system.new_id(),
                text=f"{source.text} {triple.relation} {target.text}",
                at=triple.at,
                sources=triple.sources,
                source=source.id,
                relation=triple.relation,
                target=target.id,
            )
            self._put(edge)
            new[key] = (triple, edge)
        if not new:
            return []
        vectors = self._system.embed(*(edge.text for _, edge in new.values()))
        made = [(t, replace(edge, vector=v)) for (t, edge), v in zip(new.values(), vectors, strict=True)]
        for _, edge in made:
            self._put(edge)
        return made

    def leaving(self, source: RecordId) -> list[Relation]:
        """The edges that leave a node and hold, oldest first."""
        return [edge for edge in self._edges.values() if edge.source == source]

    def end(self, edge: Relation, at: datetime, seq: int) -> None:
        """Mark an edge as no longer valid, by what was said then and there."""
        self._edges.pop(_key(edge), None)
        self.changed[edge.id] = replace(edge, ended_at=at, ended_by=seq)

    def end_others(self, new: Relation) -> None:
        """End the edges before a new one that say the same of its source with another target: it has one at a time."""
        if self._edges.get(_key(new)) is not new:
            return  # ended itself by a later one
        for old in self.leaving(new.source):
            if old is new:
                break
            if same_words(old.relation) == same_words(new.relation):
                self.end(old, new.at, new.sources[-1])

    def end_told(self, triple: Triple) -> None:
        """End the edge that says what a triple takes back, if there is one."""
        source, target = (self._nodes.get(same_words(name)) for name, _ in (triple.source, triple.target))
        if source and target and (old := self._edges.get((source.id, same_words(triple.relation), target.id))):
            self.end(old, triple.at, triple.sources[-1])

    def _found_or_made(self, told: Sequence[Triple]) -> dict[str, Entity]:
        """The node of each name: of the same words, or near enough; else a new one."""
        named: dict[str, tuple[tuple[str, str], Triple]] = {}
        for triple in told:
            for end in (triple.source, triple.target):
                named.setdefault(same_words(end[0]), (end, triple))
        unknown = [name for name in named if name not in self._nodes]
        if unknown:
            nodes = list(self._nodes.values())
            rows = stacked(nodes)
            for name, vector in zip(unknown, self._system.embed(*(named[n][0][0] for n in unknown)), strict=True):
                (text, type_), triple = named[name]
                made = [node for node in self.changed.values() if isinstance(node, Entity)]
                near = [*ranked(vector, rows, nodes, 1), *ranked(vector, stacked(made), made, 1)]
                best = max(near, key=lambda one: one[0], default=None)
                if best and best[0] > self._system.numbers.same_entity and _same_digits(text, best[1].text):
                    self._nodes[name] = best[1]
                    continue
                node = Entity(
                    id=self._system.new_id(),
                    text=text,
                    type=type_,
                    at=triple.at,
                    sources=triple.sources,
                    vector=vector,
                )
                self._nodes[name] = self.changed[node.id] = node
        return {name: self._nodes[name] for name in named}

    def _put(self, edge: Relation) -> None:
        self._edges[_key(edge)] = self.changed[edge.id] = edge


def _key(edge: Relation) -> tuple[RecordId, str, RecordId]:
    return edge.source, same_words(edge.relation), edge.target


def _same_digits(one: str, other: str) -> bool:
    """Whether two names have the same numbers: May 7 is near May 8 in any embedding."""
    return _DIGITS.findall(one) == _DIGITS.findall(other)
