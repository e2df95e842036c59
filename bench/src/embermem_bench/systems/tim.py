"""Think-in-Memory, TiM (arXiv 2311.08719): what is kept are thoughts, in a hash table where like stands by like.

After each exchange come thoughts, each a relation of a head to a tail in one sentence (post-thinking, §3.2). Locality-
sensitive hashing says into which bucket a thought goes; what the new ones contradict or repeat in their bucket is
forgotten or merged (§3.4). A query looks into its own bucket, and takes the nearest thoughts there (§3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from embermem.core.errors import ConfigError
from embermem.core.text import fold
from embermem.core.types import Context, FactProposal, Owner, Page, PageView, Scope, ThreadId, Utterance
from embermem.languages.words import asks, runs, sentences, terms
from embermem.prompts.data import one_line
from embermem.prompts.rendering import day
from embermem.protocols import Purpose
from embermem_bench.systems import equations as eq
from embermem_bench.systems.numbers import TimNumbers
from embermem_bench.systems.recorded import Kit, Piece, RecordedSystem, only_shown, similarities
from embermem_bench.systems.records import Record, RecordId, Written

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

__all__ = ["ThinkInMemory", "Thought"]

_NO_LONGER = "no longer "
"""Before the relation of a thought, found without a model, that ends another."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Thought(Record):
    """An inductive thought (Definition 3.1): the triple (head, relation, tail), `text` the sentence that tells it."""

    kind: ClassVar[str] = "tim.thought"

    head: str
    relation: str
    tail: str
    bucket: int


class ThinkInMemory(RecordedSystem):
    """A MemorySystem of thoughts in buckets."""

    name: ClassVar[str] = "tim"
    kinds: ClassVar[tuple[type[Record], ...]] = (Thought,)

    def __init__(self, kit: Kit, numbers: TimNumbers | None = None) -> None:
        """Raises ConfigError if the store's thoughts were put into buckets by another projection."""
        super().__init__(kit)
        self.numbers = numbers or TimNumbers()
        wanted = f"buckets={self.numbers.buckets}, seed={self.numbers.seed}"
        known = kit.records.remember_once("tim_projection", wanted)
        if known != wanted:
            raise ConfigError(f"the store's thoughts are kept with {known}, not {wanted}: open it with those options")

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """The thoughts of a page, and what they make of the older ones in their buckets."""
        (page,) = pages
        drafts = self._extracted(owner, page) if self.kit.asker is None else self._post_thought(owner, page)
        new = self._placed(drafts)
        buckets = {thought.bucket for thought in new}
        older = [thought for thought in self.kept(owner, Thought) if thought.bucket in buckets]
        if self.kit.asker is None:
            return tidied(list(zip(drafts, new, strict=True)), older, self.numbers.near_cosine)
        return self._organised(owner, new, older)

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
        """The thoughts nearest to the query among those of its bucket (§3.3)."""
        thoughts = self.kept(owner, Thought, scope)
        if not thoughts:
            return self.context(owner, query, [], budget=budget)
        x = self.embed(query)[0]
        found = self._looked_up(x, thoughts)
        best = nlargest(self.numbers.top_k, zip(similarities(x, found), found, strict=True), key=lambda pair: pair[0])
        pieces = [Piece(text=f"{day(t.at)} {t.text}", score=score, seqs=t.sources) for score, t in best]
        return self.context(owner, query, pieces, budget=budget)

    # ---------------------------------------------------------------------------------------------- the hash table

    @cached_property
    def _projection(self) -> Vectors:
        """R, shape (d, b/2). Of RandomState, whose numbers are the same in every release of numpy: buckets are kept."""
        shape = (self.kit.embedder.dim, self.numbers.buckets // 2)
        return np.random.RandomState(self.numbers.seed).standard_normal(shape).astype(np.float32)

    def _looked_up(self, x: Vector, thoughts: Sequence[Thought]) -> list[Thought]:
        """The thoughts of the bucket F(x); with `fill`, while they are fewer than top_k, those of the next one too."""
        towards = eq.lsh_scores(x, self._projection) or (0.0,)
        found: list[Thought] = []
        for bucket in sorted(range(len(towards)), key=lambda b: -towards[b]):
            found += (thought for thought in thoughts if thought.bucket == bucket)
            if not self.numbers.fill or len(found) >= self.numbers.top_k:
                break
        return found

    def _placed(self, drafts: Sequence[Draft]) -> list[Thought]:
        """Inserting: each thought with its vector and bucket."""
        if not drafts:
            return []
        return [
            Thought(
                id=draft.id or self.new_id(),
                text=draft.text,
                at=draft.at,
                sources=draft.seqs,
                vector=vector,
                head=draft.head,
                relation=draft.relation,
                tail=draft.tail,
                bucket=eq.lsh(vector, self._projection),
            )
            for draft, vector in zip(drafts, self.embed(*(draft.text for draft in drafts)), strict=True)
        ]

    # ------------------------------------------------------------------------------------------------ with a model

    def _post_thought(self, owner: Owner, page: Page) -> list[Draft]:
        """The thoughts that the model has of a page, as much of it at once as one question shows."""
        said = [u for u in page.utterances if u.text.strip()]
        step = max(1, self.numbers.part)
        parts = (said[start : start + step] for start in range(0, len(said), step))
        return [draft for part in parts for draft in self._thoughts_of(owner, part)]

    def _thoughts_of(self, owner: Owner, said: Sequence[Utterance]) -> list[Draft]:
        n = self.numbers
        lines = [
            f"{number} {one_line(u.speaker, n.entity_chars)}: {one_line(u.text, n.utterance_chars)}"
            for number, u in enumerate(said, 1)
        ]
        shown = "\n".join([day(said[0].said_at), *lines])
        answer = self.ask(owner, Purpose.REMEMBER, "tim_think", TimThoughts, shown, check=_lines_up_to(len(said)))
        drafts = []
        for thought in answer.thoughts[: n.thoughts_most]:
            rests_on = [said[number - 1] for number in sorted(set(thought.lines))] or said
            drafts.append(self._draft(thought, tuple(u.seq for u in rests_on), max(u.said_at for u in rests_on)))
        return [draft for draft in drafts if draft.text]

    def _organised(self, owner: Owner, new: Sequence[Thought], older: Sequence[Thought]) -> Written:
        """Forgetting and merging (§3.4): one question about the buckets where a new thought meets older ones."""
        groups = alike(new, older, self.numbers)
        if not groups:
            return Written(keep=new)
        fresh = {thought.id for thought in new}
        thoughts = list(chain(*groups))
        shown = "\n".join(_group_lines(groups, fresh))
        check = _numbers_in([i for i, group in enumerate(groups) for _ in group])
        answer = self.ask(owner, Purpose.REMEMBER, "tim_organise", TimOrganised, shown, check=check)
        gone = {thoughts[number - 1].id for number in answer.forget}
        merged = []
        for merge in answer.merge:
            members = [thoughts[number - 1] for number in merge.numbers]
            seqs = tuple(sorted({seq for thought in members for seq in thought.sources}))
            draft = self._draft(merge, seqs, max(thought.at for thought in members))
            if draft.text:
                gone |= {thought.id for thought in members}
                merged.append(replace(draft, id=next((t.id for t in members if t.id not in fresh), members[0].id)))
        keep = [*(thought for thought in new if thought.id not in gone), *self._placed(merged)]
        return Written(keep=keep, drop=sorted(gone - fresh - {thought.id for thought in keep}))

    def _draft(self, told: TimThought | TimMerge, seqs: tuple[int, ...], at: datetime) -> Draft:
        n = self.numbers
        head, relation, tail = (one_line(text, n.entity_chars) for text in (told.head, told.relation, told.tail))
        text = one_line(told.thought, n.thought_chars)
        return Draft(head=head, relation=relation, tail=tail, text=text, seqs=seqs, at=at)

    # --------------------------------------------------------------------------------------------- without a model

    def _extracted(self, owner: Owner, page: Page) -> list[Draft]:
        """The facts that the extractive analyst finds, and the sentences that state something beyond them."""
        facts = self.kit.extractive.annotate(owner, {}, [PageView(page=page)])[0].facts
        said = {u.seq: u for u in page.utterances}
        drafts = [self._of_fact(fact, said) for fact in facts]
        for utterance in page.utterances:
            told = [(s.start or 0, s.end or 0) for fact in facts for s in fact.sources if s.seq == utterance.seq]
            drafts += self._stated(utterance, told)
        return drafts

    def _of_fact(self, fact: FactProposal, said: Mapping[int, Utterance]) -> Draft:
        n = self.numbers
        seqs = tuple(sorted({source.seq for source in fact.sources}))
        last = said[seqs[-1]]
        head = one_line(last.speaker if fact.subject in _SPEAKERS else fact.subject, n.entity_chars)
        return Draft(
            head=head,
            relation=f"{_NO_LONGER * fact.retracts}{fact.attribute.replace('_', ' ')}",
            tail=one_line(fact.value, n.entity_chars),
            text=one_line(fact.text, n.thought_chars),
            seqs=seqs,
            at=last.said_at,
            decides=fact.single or fact.retracts,
        )

    def _stated(self, utterance: Utterance, told: Sequence[tuple[int, int]]) -> list[Draft]:
        """Sentences that ask nothing and hold two words of meaning, but those that facts, at `told`, tell whole."""
        n = self.numbers
        head = one_line(utterance.speaker, n.entity_chars)
        drafts = []
        for start, end in sentences(utterance.text[: n.thoughts_most * n.thought_chars])[: n.thoughts_most]:
            sentence = one_line(utterance.text[start:end], n.thought_chars)
            whole = any(first <= start and end <= last + 1 for first, last in told)  # but for its full stop
            if not (whole or asks(sentence) or len(set(terms(sentence))) < 2):
                draft = Draft(
                    head=head,
                    relation="said",
                    tail=one_line(sentence, n.entity_chars),
                    text=f"{head}: {sentence}",
                    seqs=(utterance.seq,),
                    at=utterance.said_at,
                )
                drafts.append(draft)
        return drafts


_SPEAKERS = ("user", "agent")
"""Subjects of facts about whoever speaks: the text of such a fact begins with its verb."""


# ----------------------------------------------------------------------------------------------------- what is decided


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A thought before it is embedded. `id` is that of the thought whose place it takes. `decides`: its relation holds
    one tail at a time, or it ends another, so that older thoughts may no longer be so."""

    head: str
    relation: str
    tail: str
    text: str
    seqs: tuple[int, ...]
    at: datetime
    id: RecordId | None = None
    decides: bool = False


def alike(new: Sequence[Thought], older: Sequence[Thought], numbers: TimNumbers) -> list[list[Thought]]:
    """What is to be organised: of each bucket the older thoughts that have the same head as a new one or lie near it,
    and its new ones after them. A bucket without such is left out: there is nothing to decide."""
    groups = []
    left = numbers.shown_most
    for bucket in dict.fromkeys(thought.bucket for thought in new):
        fresh = [thought for thought in new if thought.bucket == bucket]
        there = [thought for thought in older if thought.bucket == bucket]
        found = {one.id: one for thought in fresh for one in _beside(thought, there, numbers)}
        group = [*found.values(), *fresh][:left]
        if found and len(group) > 1:
            groups.append(group)
            left -= len(group)
    return groups


def _beside(thought: Thought, there: Sequence[Thought], numbers: TimNumbers) -> list[Thought]:
    near = [
        (score, one)
        for score, one in zip(_nearness(thought, there), there, strict=True)
        if score >= numbers.near_cosine or fold(one.head) == fold(thought.head)
    ]
    return [one for _, one in nlargest(numbers.near, near, key=lambda pair: pair[0])]


def tidied(new: Sequence[tuple[Draft, Thought]], older: Sequence[Thought], near_cosine: float) -> Written:
    """Forgetting and merging without a model, in each bucket: a thought in the words of an older one is one with it; of
    what has one value at a time the later said stays."""
    thoughts = {thought.id: thought for thought in older}
    written: set[RecordId] = set()
    for draft, placed in new:
        thought = placed
        there = [one for one in thoughts.values() if one.bucket == thought.bucket]
        for one, score in zip(there, _nearness(thought, there), strict=True):
            if score >= near_cosine and _words(one.text) == _words(thought.text):
                seqs = tuple(sorted({*one.sources, *thought.sources}))
                thought = replace(thought, id=one.id, at=max(one.at, thought.at), sources=seqs)
            elif draft.decides and one.at <= thought.at and _contradicts(thought, one):
                del thoughts[one.id]
        thoughts[thought.id] = thought
        written.add(thought.id)
    gone = [thought.id for thought in older if thought.id not in thoughts]
    return Written(keep=[thought for thought in thoughts.values() if thought.id in written], drop=gone)


def _contradicts(thought: Thought, older: Thought) -> bool:
    ends = thought.relation.startswith(_NO_LONGER)
    if fold(older.head) != fold(thought.head) or older.relation != thought.relation.removeprefix(_NO_LONGER):
        return False
    same_tail = fold(older.tail) == fold(thought.tail)
    return same_tail or not thought.tail if ends else not same_tail


def _nearness(thought: Thought, others: Sequence[Thought]) -> list[float]:
    return [0.0] * len(others) if thought.vector is None else similarities(thought.vector, others)


def _words(text: str) -> list[str]:
    return runs(fold(text))


# ------------------------------------------------------------------------------------------ the model: asked, answered


def _group_lines(groups: Sequence[Sequence[Thought]], fresh: set[RecordId]) -> Iterator[str]:
    number = 0
    for i, group in enumerate(groups, 1):
        yield f"group {i}"
        for thought in group:
            number += 1
            yield f"{number} {day(thought.at)}{' new' * (thought.id in fresh)} [{thought.head}] {thought.text}"


@dataclass(frozen=True, kw_only=True, slots=True)
class TimThought:
    """A thought as the model tells it; `lines` are the numbers of what it rests on."""

    head: str
    relation: str
    tail: str
    thought: str
    lines: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TimThoughts:
    """The answer to tim_think."""

    schema_name: ClassVar[str] = "TimThoughts"
    thoughts: tuple[TimThought, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TimMerge:
    """Several thoughts that become one."""

    numbers: tuple[int, ...]
    head: str
    relation: str
    tail: str
    thought: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TimOrganised:
    """The answer to tim_organise."""

    schema_name: ClassVar[str] = "TimOrganised"
    forget: tuple[int, ...]
    merge: tuple[TimMerge, ...]


def _lines_up_to(count: int) -> Callable[[TimThoughts], None]:
    """A check that only lines are named that were shown."""

    def check(answer: TimThoughts) -> None:
        lines = (number for thought in answer.thoughts for number in thought.lines)
        only_shown(lines, count, "A thought rests on line {}; the lines shown are 1 to {}.")

    return check


def _numbers_in(groups: Sequence[int]) -> Callable[[TimOrganised], None]:
    """A check that thoughts are named that were shown, each once, and that two or more of one group are merged.

    `groups` holds the group of thought 1, 2, …
    """

    def check(answer: TimOrganised) -> None:
        seen: set[int] = set()
        named = (*answer.forget, *chain(*(merge.numbers for merge in answer.merge)))
        only_shown(named, len(groups), "Thought {} was not shown; the numbers are 1 to {}.")
        for number in named:
            if number in seen:
                raise ValueError(f"Thought {number} is named twice; each may be named once.")
            seen.add(number)
        for merge in answer.merge:
            if len(merge.numbers) < 2:
                raise ValueError("To merge takes two thoughts or more.")
            if len({groups[number - 1] for number in merge.numbers}) > 1:
                raise ValueError(f"The thoughts {', '.join(map(str, merge.numbers))} are not of one group.")

    return check
