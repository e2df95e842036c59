"""What the papers' other systems share: observe, a settle that never does a page twice, and hits that name utterances.

A system says how it learns a page and how it recalls; docs/research/systems/your-own.md builds one of ten lines.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, TypeVar

from embermem import prompts
from embermem.core.config import Settings
from embermem.core.errors import InputError, ModelMissing, ModelReplyError, ModelTooLong, RevisionMoved
from embermem.core.types import (
    Added,
    Context,
    Hit,
    Message,
    Owner,
    OwnerId,
    Page,
    Persona,
    Role,
    Scope,
    ThreadId,
    Tier,
    Utterance,
    UtteranceId,
)
from embermem.index.tokens import counter
from embermem.prompts.data import enclosed
from embermem.protocols import Analyst, Asker, ChatMessage, ConversationLog, Embedder, Purpose
from embermem_bench import prompts as bench_prompts
from embermem_bench.systems.record_file import RecordFile
from embermem_bench.systems.records import AnyRecord, Record, RecordId, Written

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

__all__ = ["Kit", "Piece", "RecordedSystem", "only_shown", "similarities"]

Answer = TypeVar("Answer")

_READ_AT_ONCE = 1_000
_OWNERS_HELD = 32
"""Owners whose log and records are at hand; the least recently used leaves."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kit:
    """What a system works with: the log of what was said, its own records beside it, and the parts of Ember that read.

    `asker` is None without a model; then `extractive`, `keywords` (of a text, at most so many) and `condense` (many
    texts to one, of at most so many characters) say what can be said without."""

    log: ConversationLog
    records: RecordFile
    embedder: Embedder
    asker: Asker | None
    extractive: Analyst
    keywords: Callable[[str, int], tuple[str, ...]]
    condense: Callable[[Sequence[str], int], str]
    settings: Settings
    clock: Callable[[], datetime]
    new_id: Callable[[str], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Something that a system recalls: how a prompt shows it, its score (higher is better), and the seqs of the
    utterances it rests on, those that matter most first."""

    text: str
    score: float
    seqs: tuple[int, ...]


class RecordedSystem(ABC):
    """A MemorySystem on records. Subclasses give `name`, `kinds`, `learn` and `recall`."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[type[Record], ...]] = ()
    """The records it keeps."""
    batch: ClassVar[int] = 1
    """Pages that `learn` is given at most."""
    prompts: ClassVar[str] = bench_prompts.__name__
    """The package whose folder has the prompts of `ask`."""
    tries: ClassVar[int] = 8
    """How often a page is learnt, or a write decided, anew when another wrote first."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self._counter = counter(kit.settings.token_counter)
        self._held: OrderedDict[OwnerId, _Held] = OrderedDict()
        self._lock = threading.RLock()

    # ---------------------------------------------------------------------------------------------- the protocol

    def observe(
        self,
        owner: Owner,
        messages: Sequence[Message],
        *,
        key: str | None = None,
        digest: str = "",
        fresh: bool = False,
    ) -> Added:
        """Keep messages: one short transaction, no model."""
        return self.kit.log.append(owner, messages, now=self.kit.clock(), key=key, digest=digest, fresh=fresh)

    def settle(self, owner: Owner, progress: Callable[[int, int], None] | None = None) -> int:
        """Learn every page that was not learnt yet, in order; their number.

        What was learnt stays if a later page fails; the failure is raised (ModelError, EmbedderError, StoreError), and
        the next call goes on there. A page that grew after it was learnt comes again, with what is new of it.
        """
        return self._settle(owner, progress, leaves_out=False)[0]

    def settle_before(self, owner: Owner, seq: int) -> int:
        """As `settle`, but only what was said before an utterance."""
        return self._settle(owner, None, leaves_out=False, before=seq)[0]

    def settle_leaving_out(self, owner: Owner, progress: Callable[[int, int], None] | None = None) -> int:
        """As `settle`, but a page about which the model, asked about it alone, gives no usable answer teaches nothing;
        the number of such pages."""
        return self._settle(owner, progress, leaves_out=True)[1]

    def _settle(
        self,
        owner: Owner,
        progress: Callable[[int, int], None] | None,
        *,
        leaves_out: bool,
        before: int | None = None,
    ) -> tuple[int, int]:
        """Pages learnt, and left out."""
        done = tries = left_out = 0
        size = self.batch
        while True:
            standing = self.kit.records.standing(owner.id)
            revision, unread = standing.revision, self._unread(owner.id, standing.read_to, before)
            if not unread:
                return done, left_out
            total = done + left_out + len(unread)
            pages = unread[:size]
            try:
                while pages:
                    written = self.learn(owner, pages)
                    revision = self._read_to(owner, written, revision, pages[-1])
                    done, tries, size = done + len(pages), 0, self.batch
                    if progress is not None:
                        progress(done + left_out, total)
                    unread = unread[len(pages) :]
                    pages = unread[:size]
            except RevisionMoved:
                tries += 1
                if tries == self.tries:
                    raise
            except (ModelReplyError, ModelTooLong):
                if not leaves_out:
                    raise
                if len(pages) > 1:
                    size = len(pages) // 2
                else:
                    self._read_to(owner, Written(), revision, pages[0])
                    left_out, size = left_out + 1, self.batch

    def _read_to(self, owner: Owner, written: Written, revision: int, page: Page) -> int:
        return self.kit.records.write(owner.id, written, revision=revision, read_to=page.last_seq)

    @abstractmethod
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
        """What matters for a query. Reads only; see `context`."""

    def visit(self, owner: Owner, hits: Iterable[Hit]) -> None:
        """Count what was recalled: nothing, for a system that does not."""
        return

    # ----------------------------------------------------------------------------------- what a system says itself

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """What the next pages, oldest first, teach: decided outside any transaction, written in one."""
        return Written()

    # --------------------------------------------------------------------------------------- what it is helped with

    def said(self, owner: Owner, scope: Scope | None = None) -> tuple[Utterance, ...]:
        """What was said, oldest first, as far as a recall may see it. Raises InputError for a scope that this system
        cannot judge."""
        self._require_judged(scope)
        return tuple(u for u in self._log(owner.id) if _in_scope(u, scope))

    def pages(self, owner: Owner, scope: Scope | None = None) -> tuple[Page, ...]:
        """The pages of what was said, oldest first, as far as a recall may see it."""
        return tuple(_page(tuple(group)) for _, group in groupby(self.said(owner, scope), key=lambda u: u.page_id))

    def kept(self, owner: Owner, kind: type[AnyRecord], scope: Scope | None = None) -> tuple[AnyRecord, ...]:
        """The owner's records of a kind, in the order in which they were first written; with a scope those that rest
        on nothing outside it. Raises InputError as `said`."""
        self._require_judged(scope)
        with self._lock:
            held = self._refreshed(owner.id)
            records = tuple(r for r in held.records.values() if isinstance(r, kind) and r.kind == kind.kind)
            if scope is None:
                return records
            seen = {u.seq for u in held.log if _in_scope(u, scope)}
        return tuple(r for r in records if seen.issuperset(r.sources))

    def new_id(self) -> RecordId:
        """A new record's id."""
        return RecordId(self.kit.new_id("r"))

    def embed(self, *texts: str) -> Vectors:
        """Their vectors, shape (n, dim), L2 norm 1. Raises EmbedderError."""
        return self.kit.embedder.embed(list(texts))

    def cost(self, line: str) -> int:
        """Tokens of a line of a context, its line break among them, by the counter in use."""
        return self._counter.count(line) + 1

    def ask(
        self,
        owner: Owner,
        purpose: Purpose,
        prompt: str,
        answer: type[Answer],
        shown: str,
        check: Callable[[Answer], None] = lambda _: None,
        **variables: str,
    ) -> Answer:
        """Put the question of a prompt to the model, with what it is shown enclosed as data after it.

        Raises ModelMissing without one, ModelError, ModelWait; see Asker.ask.
        """
        if self.kit.asker is None:
            raise ModelMissing(f"{self.name} asks a model here, and none is set")
        messages = (
            ChatMessage(role=Role.SYSTEM, text=prompts.load(prompt, self.prompts).fill(**variables)),
            ChatMessage(role=Role.USER, text=enclosed(shown)),
        )
        return self.kit.asker.ask(owner, purpose, messages, answer, check)

    def write(self, owner: Owner, decide: Callable[[], Written]) -> None:
        """Write what is decided on the owner's records as they stand; decided anew if another wrote first."""

        def step() -> None:
            records, standing = self.kit.records, self.kit.records.standing(owner.id)
            written = decide()
            if written.keep or written.drop:
                records.write(owner.id, written, revision=standing.revision, read_to=standing.read_to)

        for _ in range(self.tries - 1):
            with suppress(RevisionMoved):
                return step()
        return step()

    def context(
        self,
        owner: Owner,
        query: str,
        pieces: Sequence[Piece],
        *,
        budget: int | None,
        head: Sequence[str] = (),
        order: Callable[[Piece], float] | None = None,
        notes: tuple[str, ...] = (),
    ) -> Context:
        """A Context of pieces, best first, under `head`, lines that stand above them.

        Without a budget all of it; with one the pieces that fit, best first, after as much of the head as fits.
        `order` sorts what is shown, such as by time; else the best stands first. `confidence` is the best score, cut
        to [0, 1].
        """
        log = self._log(owner.id)
        lines, chosen = _within(head, pieces, budget, self.cost)
        shown = chosen if order is None else sorted(chosen, key=order)
        text = "\n".join([*lines, *(piece.text for piece in shown)])
        hits = self._hits(log, pieces)
        own: defaultdict[int, list[str]] = defaultdict(list)
        for piece in chosen:
            for seq in piece.seqs:
                own[seq].append(piece.text)
        packed = tuple(hit for hit in hits if _stands_in(hit.utterance, (*own[hit.utterance.seq], text)))
        return Context(
            text=text,
            hits=hits[: self.kit.settings.hits],
            packed=packed,
            facts=(),
            persona=Persona(),
            tokens=self._counter.count(text),
            counter=self._counter.name,
            confidence=max(0.0, min(1.0, pieces[0].score)) if pieces else 0.0,
            partial=False,
            query=query,
            preset=self.name,
            notes=notes,
            rests_on=_resting(log, chosen),
        )

    def _hits(self, log: Sequence[Utterance], pieces: Sequence[Piece]) -> tuple[Hit, ...]:
        """Each utterance once, where the best piece that rests on it stands."""
        of = {u.seq: u for u in log}
        newest = list(dict.fromkeys(u.page_id for u in reversed(log)))[: self.kit.settings.short_term_pages]
        scores: dict[int, float] = {}
        for piece in pieces:
            for seq in piece.seqs:
                scores.setdefault(seq, piece.score)
        return tuple(
            Hit(
                utterance=of[seq],
                score=score,
                rank=rank,
                tier=Tier.SHORT if of[seq].page_id in newest else Tier.PENDING,
            )
            for rank, (seq, score) in enumerate(((s, v) for s, v in scores.items() if s in of), 1)
        )

    # --------------------------------------------------------------------------------------------------- what is held

    def _require_judged(self, scope: Scope | None) -> None:
        for name in _UNJUDGED:
            if scope is not None and getattr(scope, name) is not None:
                raise InputError(
                    f"scope.{name} cannot be judged by {self.name}, which has neither tiers nor facts about people; "
                    "leave it out, or ask memoryos"
                )

    def _unread(self, owner_id: OwnerId, read_to: int, before: int | None) -> tuple[Page, ...]:
        new = tuple(u for u in self._said_after(owner_id, read_to) if before is None or u.seq < before)
        return tuple(_page(tuple(group)) for _, group in groupby(new, key=lambda u: u.page_id))

    def _log(self, owner_id: OwnerId) -> list[Utterance]:
        with self._lock:
            return self._refreshed(owner_id).log

    def _refreshed(self, owner_id: OwnerId) -> _Held:
        """The owner's log and records, with what is new of both. A log that was handed out does not change."""
        standing = self.kit.records.standing(owner_id)
        held = self._held.setdefault(owner_id, _Held())
        self._held.move_to_end(owner_id)
        while len(self._held) > _OWNERS_HELD:
            self._held.popitem(last=False)
        if held.born != standing.born:
            held.log, held.records, held.revision, held.born = [], {}, 0, standing.born
        if new := list(self._said_after(owner_id, held.log[-1].seq if held.log else 0)):
            held.log = [*held.log, *new]
        if self.kinds and standing.revision > held.revision:
            found = self.kit.records.records(owner_id, self.kinds, held.revision)
            for gone in found.gone:
                held.records.pop(gone, None)
            held.records |= {record.id: record for record in found.records}
            held.revision = found.revision
        return held

    def _said_after(self, owner_id: OwnerId, seq: int) -> Iterator[Utterance]:
        while some := self.kit.log.utterances(owner_id, seq, _READ_AT_ONCE):
            yield from some
            seq = some[-1].seq


@dataclass(slots=True)
class _Held:
    """What a process holds of an owner."""

    log: list[Utterance] = field(default_factory=list)
    records: dict[RecordId, Record] = field(default_factory=dict)
    revision: int = 0
    born: int = 0


def only_shown(numbers: Iterable[int], shown: int, words: str) -> None:
    """Raise ValueError if one of the numbers was not shown to the model, from 1 on. `words` tell it so: `{}` stands for
    the number, and then for how many were shown."""
    for number in numbers:
        if not 1 <= number <= shown:
            raise ValueError(words.format(number, shown))


def similarities(query: Vector, records: Sequence[Record]) -> list[float]:
    """The cosine of a query's vector to each record's; 0 for a record without one."""
    return [0.0 if record.vector is None else float(query @ record.vector) for record in records]


def _stands_in(utterance: Utterance, texts: Iterable[str]) -> bool:
    """Whether the words of an utterance stand in one of the texts; short ones first, since the last one is long."""
    words = " ".join(utterance.text.split())
    return any(words in text for text in texts)


def _resting(log: Sequence[Utterance], pieces: Sequence[Piece]) -> tuple[UtteranceId, ...]:
    """The utterances that pieces rest on, in order."""
    seqs = {seq for piece in pieces for seq in piece.seqs}
    return tuple(utterance.id for utterance in log if utterance.seq in seqs)


def _page(utterances: tuple[Utterance, ...]) -> Page:
    first = utterances[0]
    return Page(id=first.page_id, no=0, thread=first.thread, utterances=utterances)


_UNJUDGED = ("people", "tiers", "kinds")
"""What a scope may say that only MemoryOS can judge."""


def _in_scope(utterance: Utterance, scope: Scope | None) -> bool:
    return scope is None or scope.admits(utterance)


def _within(
    head: Sequence[str], pieces: Sequence[Piece], budget: int | None, cost_of: Callable[[str], int]
) -> tuple[list[str], list[Piece]]:
    """As much of the head and of the pieces as a budget takes."""
    left = float("inf") if budget is None else float(budget)
    lines: list[str] = []
    for line in head:
        if (cost := cost_of(line)) <= left:
            lines.append(line)
            left -= cost
    chosen: list[Piece] = []
    for piece in pieces:
        if (cost := cost_of(piece.text)) <= left:
            chosen.append(piece)
            left -= cost
    return lines, chosen
