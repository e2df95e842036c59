"""An owner's resident working set: what a recall looks at.

A `Snapshot` is an immutable view. `extended` makes the next one, at a cost that follows what is new; it is swapped
in by reference. All snapshots of an owner share one `Log` of arrays that grow at their end, and each sees its own
first n rows of it. One writer at a time, any number of readers without a lock.

A row is a passage's place in the order of seq: of an utterance, or of a part of a long one (index/passages.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.expiry import Hidden
from embermem.core.recent import Recent
from embermem.core.types import Fact, OwnerId, PageId, Persona, Role, ThreadId, Utterance
from embermem.core.vector_codes import rounded
from embermem.index.bm25 import Postings
from embermem.index.dating import DateTable
from embermem.index.facts import FactTable
from embermem.index.growable_array import Column
from embermem.index.late import inverse_lengths
from embermem.index.log import Log, Utterances
from embermem.index.mapped import Held
from embermem.index.part import Part, Whole
from embermem.index.segments import SegmentTable, sums_by
from embermem.index.texts import Links, Texts
from embermem.languages.words import search_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.packed_ids import IdTable
    from embermem.core.types import SegmentId, Vector, Vectors
    from embermem.protocols import Delta, PageMark

    Floats = NDArray[np.float64]

    Rows = NDArray[np.int32]

_NO_ROWS = np.empty(0, dtype=np.int32)
_KEPT = 8
"""Of each snapshot, the narrowed ones that were asked for last."""
_A_ROW, _A_FACT = 60, 400
"""Estimated bytes that a narrowed snapshot holds for each row when it was asked (neighbours, lengths of windows), and
for each fact."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Snapshot:
    """An owner's utterances, vectors, postings, pages, segments and persona, as of (seq, revision).

    `n` utterances and `pages` pages are seen, those of documents too; `vectors_held` are the vectors that it knows of,
    those of rows that it does not see too. Arrays it hands out are not to be written to.
    """

    owner: OwnerId
    dim: int
    seq: int = 0
    revision: int = 0
    born: int = 0
    mark: str = ""
    n: int = 0
    pages: int = 0
    vectors_held: int = 0
    segments: SegmentTable
    facts: FactTable = field(default_factory=FactTable, repr=False)
    persona: Persona = field(default_factory=Persona)
    archived_facts: tuple[Fact, ...] = ()
    expiring: tuple[tuple[PageId, datetime], ...] = ()
    ended_facts: tuple[Fact, ...] = ()
    _log: Log = field(repr=False)
    _page_segments: Rows = field(default_factory=lambda: _NO_ROWS, repr=False)
    _whole: Whole | None = field(default=None, repr=False)
    _narrowed: Recent[Hashable, Snapshot] = field(init=False, default_factory=lambda: Recent(_KEPT), repr=False)

    @classmethod
    def empty(cls, owner: OwnerId, dim: int, token_dim: int = 0) -> Snapshot:
        """Nothing yet, at (0, 0), for vectors of length `dim` and token vectors of length `token_dim` (0: none)."""
        return cls(owner=owner, dim=dim, segments=SegmentTable(dim), _log=Log(dim, token_dim))

    @classmethod
    def of_held(cls, held: Held) -> Snapshot:
        """The snapshot that a file holds (index/mapped.py). Raises KeyError for one that is damaged."""
        log = Log(held.dim, held.token_dim)
        log.adopt(held.arrays)
        return cls(
            owner=held.owner,
            dim=held.dim,
            seq=held.seq,
            revision=held.revision,
            born=held.born,
            mark=held.mark,
            n=held.rows,
            pages=log.pages_of(held.rows),
            segments=SegmentTable(held.dim, held.segments, partial(_all, held.arrays["segment_vectors"])),
            facts=FactTable.of_terms(held.persona, held.archived_facts, held.fact_terms),
            persona=held.persona,
            archived_facts=held.archived_facts,
            expiring=held.expiring,
            ended_facts=held.ended_facts,
            _log=log,
            vectors_held=held.vectors,
            _page_segments=_all(held.arrays["page_segments"]),
        )

    def held(self, embedder: str) -> Held | None:
        """What a file keeps of it; None where its log holds more than it sees, or vectors that are not stored yet."""
        arrays = self._log.held()
        if arrays["slots"].length != self.n:
            return None
        arrays["page_segments"] = Column.of(self._page_segments)
        arrays["segment_vectors"] = Column.of(self.segments.stacked())
        return Held(
            owner=self.owner,
            embedder=embedder,
            dim=self.dim,
            token_dim=self.token_dim,
            seq=self.seq,
            revision=self.revision,
            born=self.born,
            mark=self.mark,
            vectors=arrays["vectors"].length,
            segments=self.segments.rows,
            persona=self.persona,
            archived_facts=self.archived_facts,
            ended_facts=self.ended_facts,
            expiring=self.expiring,
            fact_terms=self.facts.terms(),
            arrays=arrays,
        )

    # ------------------------------------------------------------------------------------------ becoming newer

    def extended(self, delta: Delta) -> Snapshot:
        """The snapshot after this delta; this one stays as it is, and gets no other that is newer.

        Utterances and vectors it already holds are passed over. Raises EmbedderMismatch for vectors of another
        length.
        """
        if delta.reset:
            empty = Snapshot.empty(self.owner, self.dim, self.token_dim)
            return empty.extended(replace(delta, reset=False))
        log = self._log
        with log.lock:
            if log.rows != self.n:
                raise ValueError("a snapshot becomes newer once: its log holds more than it sees")
            log.add(delta.utterances, delta.vector_seqs)
            log.add_vectors(delta.vector_seqs, delta.vectors, delta.tokens)
            n, vectors = log.rows, log.vectors.length
            pages = log.pages_of(n)
        segments = self.segments
        if delta.segments or delta.ended_segments:
            segments = segments.replaced(delta.segments, delta.ended_segments)
        if delta.persona is not None:
            gone = {fact.id for fact in delta.ended_facts}
            ended = (*(fact for fact in self.ended_facts if fact.id not in gone), *delta.ended_facts)
            archived = (*(fact for fact in self.archived_facts if fact.id not in gone), *delta.archived_facts)
            facts = self.facts.replaced(delta.persona, archived)
            self = replace(self, persona=delta.persona, archived_facts=archived, ended_facts=ended, facts=facts)
        return replace(
            self,
            expiring=self.expiring if delta.expiring is None else delta.expiring,
            seq=max(self.seq, delta.seq),
            revision=max(self.revision, delta.revision),
            born=delta.born or self.born,
            mark=delta.mark,
            n=n,
            pages=pages,
            vectors_held=vectors,
            segments=segments,
            _page_segments=self._marked(log, delta.pages, segments, pages),
        )

    def unexpired(self, now: datetime, *, facts: bool) -> Snapshot:
        """The snapshot without what has expired by now: pages are `hidden`, the persona has nothing that rests on them
        alone, and, if asked for, the facts that have expired are left out. It does not become newer."""
        pages = frozenset(page_id for page_id, at in self.expiring if at <= now)
        ending = self.facts.ending if facts else ()
        lapsed = frozenset(fact.id for fact in ending if fact.expires_at is not None and fact.expires_at <= now)
        if not pages and not lapsed:
            return self
        return self.kept((pages, lapsed, facts), lambda: self._without(pages, now, facts=facts))

    def _without(self, pages: frozenset[PageId], now: datetime, *, facts: bool) -> Snapshot:
        numbers = [number for number in self.page_numbers([*pages]) if number is not None]
        gone = np.isin(self.page_of(self.n), numbers)
        hiding = Hidden(pages=pages, seqs=frozenset(self.seqs[gone].tolist()), at=now)
        return replace(
            self.part(~gone),
            persona=hiding.shown(self.persona),
            facts=self.facts.only(hiding.shows) if facts else self.facts,
            archived_facts=hiding.shown_facts(self.archived_facts),
        )

    def part(self, shown: NDArray[np.bool_]) -> Snapshot:
        """The snapshot of some of its rows: as if nothing else had been said. What was derived stays, and is whoever
        asks's to replace, but for the segments: of one that has other pages too, only its pages here have a say."""
        if shown.all():
            return self
        n, log = int(np.count_nonzero(shown)), self._log
        if shown[:n].all():  # the first rows, which every array has in one piece
            here = np.arange(log.pages_of(n), dtype=np.int32)
        else:
            log = part = Part(self._log, self.n, np.flatnonzero(shown))
            here = part.pages_here(self._log)
        cut = np.zeros(self.pages, dtype=bool)
        cut[self.page_of(self.n)[~shown]] = True
        placed = self.segment_of_page()
        rest = replace(
            self,
            _log=log,
            n=n,
            pages=len(here),
            _page_segments=placed[here],
            _whole=Whole.of(self._whole, here, cut, self.newer_pages()),
        )
        whole = np.ones(len(self.segments.rows), dtype=bool)
        whole[placed[cut & (placed >= 0)]] = False
        if whole.all():
            return rest
        return replace(rest, segments=self.segments.partly(whole, lambda: rest.segment_sums(~whole)))

    def kept(self, which: Hashable, narrow: Callable[[], Snapshot]) -> Snapshot:
        """What `narrow` makes of this snapshot, made once: the same is mostly asked for again. Those used last stay."""
        return self._narrowed.of(which, narrow)

    def narrowed(self, seq: int, revision: int) -> Snapshot:
        """The same rows up to a seq, at a revision; what was derived stays, and is whoever asks's to replace
        (index/past.py)."""
        n = self.rows_before(seq + 1)
        pages = self._log.pages_of(n)
        return replace(self, seq=seq, revision=revision, n=n, pages=pages, _page_segments=self._page_segments[:pages])

    def placed(self, segments: SegmentTable, page_segments: Rows) -> Snapshot:
        """The same with other segments, and the place of each page's among them, −1 for none."""
        return replace(self, segments=segments, _page_segments=page_segments)

    def with_vectors(
        self, seqs: Sequence[int] | NDArray[np.int64], vectors: Vectors, tokens: Sequence[bytes] = ()
    ) -> Snapshot:
        """The same snapshot with vectors (len(seqs), dim), and packed tokens, for utterances that had none: one for
        each passage, in order. They are rounded as a store rounds them, so that nothing is ranked otherwise once it is
        stored."""
        stored = rounded(vectors)
        with self._log.lock:
            self._log.add_vectors(np.asarray(seqs, dtype=np.int64), stored, tokens)
            return replace(self, vectors_held=self._log.vectors.length)

    def _marked(self, log: Log, marks: Sequence[PageMark], segments: SegmentTable, pages: int) -> Rows:
        """Page → place of its segment. Copied when pages were placed, which happens by the batch, not by the add."""
        if not marks:
            return self._page_segments
        grown = np.full(pages, -1, dtype=np.int32)
        grown[: len(self._page_segments)] = self._page_segments
        for mark, page in zip(marks, log.page_numbers([mark.page_id for mark in marks]), strict=True):
            if page is not None and page < pages:
                grown[page] = -1 if mark.segment_id is None else segments.places.get(mark.segment_id, -1)
        return grown

    # ------------------------------------------------------------------------------------------------- reading

    @cached_property
    def utterances(self) -> Utterances:
        """The utterance of every row, in the order of seq; a long one stands once for each of its passages."""
        return Utterances(self._log, self.n)

    def text(self, row: int) -> str:
        """The passage: the utterance's text, or the part of it that this row is."""
        return self._log.text(row)[slice(*self._log.span(row))]

    def notes(self, kind: Hashable, *, texts: bool = False) -> dict[int, Any]:
        """What was worked out of single rows, by row, for the next query; `texts`: each note holds the row's text
        (index/notes.py)."""
        return self._log.notes.of(kind, texts=texts)

    def is_part(self, row: int) -> tuple[bool, bool]:
        """Whether there is more of the text before the row's passage, and after it."""
        start, end = self._log.span(row)
        return start > 0, end < len(self._log.text(row))

    @property
    def seqs(self) -> NDArray[np.int64]:
        """The seq of every row, ascending, shape (n,)."""
        return self._log.seqs.first(self.n)

    def row(self, seq: int) -> int | None:
        """The row of an utterance by its seq: of its first passage."""
        row = int(np.searchsorted(self.seqs, seq))
        return row if row < self.n and self.seqs[row] == seq else None

    def rows_before(self, seq: int) -> int:
        """How many rows have a smaller seq: a recall limited to them sees exactly these first rows."""
        return int(np.searchsorted(self.seqs, seq))

    @property
    def words(self) -> Postings:
        """BM25 over single utterances and, by way of `links`, over windows of three."""
        return self._log.words

    def links(self, n: int) -> Links:
        """Who stands next to whom in a thread, among the first n rows."""
        return self._links if n == self.n else Links(self._log.previous.first(n), self._log.next.first(n))

    @cached_property
    def _links(self) -> Links:
        if self.texts.are_rows:
            return self.texts.links
        return Links(self._log.previous.first(self.n), self._log.next.first(self.n))

    @cached_property
    def texts(self) -> Texts:
        """Which rows are of one text, and the neighbours of each text in its thread."""
        first_rows = self._log.first_rows.first(self.n)
        return Texts(first_rows, self._log.previous.first(self.n), self._log.next.first(self.n))

    def dots(self, vector: Vector, bare: float = 0.0) -> Floats:
        """The product of a vector (dim,) with that of every row; `bare` where there is none yet; shape (n,)."""
        return self._log.dots(vector, self.n, self.vectors_held, bare)

    def vectors_of(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> Vectors:
        """Vectors of these rows (len(rows), dim); 0 where there is none yet."""
        slots = self._log.slots.data[np.asarray(rows, dtype=np.int64)]
        known = (slots > 0) & (slots <= self.vectors_held)
        if known.all():
            return self._log.vectors_of(slots - 1)
        vectors = np.zeros((len(slots), self.dim), dtype=np.float32)
        vectors[known] = self._log.vectors_of(slots[known] - 1)
        return vectors

    @property
    def token_dim(self) -> int:
        """The length of a token's vector; 0 where there are none."""
        return self._log.token_dim

    def has_tokens(self) -> bool:
        """Whether any token vector is held."""
        return self._log.tokens.length > 0

    def tokens_of(
        self, rows: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.float32]]:
        """How many tokens each of these rows has, 0 where they are not known; then all their packed vectors in the
        order of the rows, and 1 over the length of each."""
        log = self._log
        slots = log.slots.data[np.asarray(rows, dtype=np.int64)]
        known = (slots > 0) & (slots <= self.vectors_held)
        slots = np.where(known, slots, 0)
        ends = log.token_ends.data
        # Slot s (from 1) has the tokens from the end of the one before to its own.
        begins = np.where(slots > 1, ends[np.maximum(slots - 2, 0)], 0)
        counts = np.where(known, ends[np.maximum(slots - 1, 0)] - begins, 0)
        jumps = np.repeat(begins - (np.cumsum(counts) - counts), counts)
        places = jumps + np.arange(len(jumps))
        return counts, log.tokens.take(places), inverse_lengths(log.token_squares.data[places])

    @cached_property
    def has_vector(self) -> NDArray[np.bool_]:
        """Which rows are of an utterance that has a vector, shape (n,). Where it was embedded before its text was cut
        into passages, only the first of them has."""
        slots = self._log.slots.data[self._log.first_rows.first(self.n)]
        return np.asarray((slots > 0) & (slots <= self.vectors_held))

    def missing_vectors(self, limit: int) -> tuple[Utterance, ...]:
        """The utterances without a vector of up to `limit` rows, the newest ones, in the order of seq. A text of more
        passages than that is left to those who embed in the background, and so are documents that together have
        more."""
        if limit <= 0:
            return ()
        without = ~self.has_vector
        of_documents = without & self.is_passage(self.n)
        if of_documents.sum() > limit:
            without &= ~of_documents
        missing = np.flatnonzero(without)[-limit:]
        begin = missing[self._log.first_rows.data[missing] == missing]
        return tuple(self._log.utterance(row) for row in begin.tolist())

    def speakers(self) -> tuple[str, ...]:
        """Names of all who spoke; `speaker_of` numbers them."""
        return self._speakers

    @cached_property
    def _speakers(self) -> tuple[str, ...]:
        return tuple(self._log.speakers.all[: self.speaker_of(self.n).max(initial=-1) + 1])

    def speaker_of(self, n: int) -> Rows:
        """The place in `speakers()` of each of the first n rows."""
        return self._log.speaker.first(n)

    @cached_property
    def names_of_speakers(self) -> frozenset[str]:
        """The terms of the names of all who spoke."""
        spoke = np.bincount(self.speaker_of(self.n)[~self.is_passage(self.n)]) if self.n else _NO_ROWS
        names = self._log.speakers.all
        return frozenset(term for number in np.flatnonzero(spoke).tolist() for term in search_terms(names[number]))

    def thread_of(self, n: int) -> Rows:
        """The number of the thread of each of the first n rows: threads are numbered from 0 as they began."""
        return self._log.thread.first(n)

    def thread_number(self, thread: ThreadId) -> int | None:
        """The number of a thread; None for one that is not held."""
        return self._log.thread_number(thread)

    def page_of(self, n: int) -> Rows:
        """The page of each of the first n rows; pages are numbered from 0 in the order of their first utterance."""
        return self._log.page.first(n)

    def is_passage(self, n: int) -> NDArray[np.bool_]:
        """Which of the first n rows are of documents: nobody said them in a talk. Not to be written to."""
        return self._log.documents(n) if self.has_documents else np.broadcast_to(np.bool_(False), n)

    def page_number(self, page_id: PageId) -> int | None:
        """The number of a page, from 0; None for one that is not held."""
        return self.page_numbers([page_id])[0]

    def page_numbers(self, page_ids: Sequence[PageId]) -> list[int | None]:
        """The same of each of these pages."""
        numbers = self._log.page_numbers(page_ids)
        return [one if one is not None and one < self.pages else None for one in numbers]

    def numbers_of_pages(self, pages: IdTable) -> NDArray[np.int64]:
        """The number of each of these pages; −1 for one that is not held."""
        numbers = self._log.numbers_of_pages(pages)
        return np.where(numbers < self.pages, numbers, -1)

    def page_rows(self, page: int) -> tuple[int, ...]:
        """The rows of a page, ascending."""
        return tuple(row for row in self._log.rows_of_page(page) if row < self.n)

    def page_begins(self, page: int) -> tuple[int, ...]:
        """The first row of each of a page's utterances: a page's vector is made of theirs."""
        return tuple(row for row in self.page_rows(page) if self._log.first_rows.data[row] == row)

    def begins(self) -> NDArray[np.int64]:
        """The first row of every utterance."""
        return np.flatnonzero(self._log.first_rows.first(self.n) == np.arange(self.n))

    def is_whole(self, page: int) -> bool:
        """Whether a page has all its utterances here: none was left out (`part`)."""
        return page < self.pages and (self._whole is None or not bool(self._whole.cut[page]))

    def newer_pages(self) -> Rows:
        """How many pages of talk of the whole memory began after each page, shape (pages,); −1 for a page of a
        document."""
        return self._newer if self._whole is None else self._whole.newer

    @cached_property
    def _newer(self) -> Rows:
        talk = np.ones(self.pages, dtype=bool)
        talk[self.page_of(self.n)[self.is_passage(self.n)]] = False
        newer = np.count_nonzero(talk) - np.cumsum(talk)
        return np.where(talk, newer, -1).astype(np.int32)

    def segment_of_page(self) -> Rows:
        """The place in `segments` of every page, −1 for a page not placed, shape (pages,)."""
        marked = self._page_segments
        if len(marked) == self.pages:
            return marked
        return np.concatenate([marked, np.full(self.pages - len(marked), -1, dtype=np.int32)])

    def segment(self, page: int) -> tuple[SegmentId, bool] | None:
        """The segment a page is in, and whether it left mid-term memory."""
        place = int(self._page_segments[page]) if page < len(self._page_segments) else -1
        return None if place < 0 else (self.segments.rows[place].id, bool(self.segments.archived[place]))

    def segment_sums(self, which: NDArray[np.bool_]) -> Vectors:
        """The sum of the vectors of the pages of `which` segments, each with norm 1, as that of all pages is a page's
        of what was said on it; 0 for the others. Shape (segments, dim)."""
        begins, segment_of = self.begins(), self.segment_of_page()
        page_of = self.page_of(self.n)[begins]
        inside = np.flatnonzero(segment_of[page_of] >= 0)
        inside = inside[which[segment_of[page_of[inside]]]]
        pages, of_pages = sums_by(page_of[inside], self.vectors_of(begins[inside]))
        places, of_segments = sums_by(segment_of[pages], of_pages)
        found = np.zeros((len(which), self.dim), dtype=np.float32)
        found[places] = of_segments
        return found

    def said_at(self, n: int) -> NDArray[np.int64]:
        """When each of the first n rows was said, in microseconds since 1970 (UTC)."""
        return self._log.said_at.first(n)

    @cached_property
    def past_facts(self) -> FactTable:
        """The facts that are no longer held, oldest first."""
        return FactTable().replaced(Persona(), self.ended_facts)

    @cached_property
    def replaced(self) -> Mapping[int, int]:
        """By the seq of an utterance that of the one that holds now, whose fact took the place of all that was read of
        it; nothing for one whose own value holds again."""
        if not self.ended_facts:
            return {}
        held = {fact.id: fact for fact in (*self.facts.rows, *self.ended_facts)}
        found: dict[int, int] = {}
        for fact in self.ended_facts:
            after, seen = fact, {fact.id}
            while (following := held.get(after.superseded_by or after.id)) is not None and following.id not in seen:
                after = following
                seen.add(after.id)
            if after is fact or not after.current or after.value == fact.value:
                continue
            newest = max((source.seq for source in after.sources), default=-1)
            found |= {one.seq: newest for one in fact.sources if one.seq < newest and not self.facts.is_source(one.seq)}
        return found

    def text_length(self, n: int) -> NDArray[np.float32]:
        """ln(1 + characters) of each of the first n texts."""
        return self._log.text_length.first(n)

    def asks(self, n: int) -> NDArray[np.bool_]:
        """Which of the first n texts only ask."""
        return self._log.asks.first(n)

    @cached_property
    def says(self) -> NDArray[np.bool_] | None:
        """Which rows have a text, shape (n,); None for all."""
        says = self.text_length(self.n) > 0.0
        return None if says.all() else says

    @cached_property
    def nothing(self) -> Floats:
        """0 for each row, not to be written to."""
        return np.broadcast_to(np.float64(0.0), self.n)

    @cached_property
    def has_documents(self) -> bool:
        """Whether any row is a passage of a document."""
        return bool(self._log.documents(self.n).any())

    def speaking(self) -> tuple[list[tuple[str, Role]], NDArray[np.int64]]:
        """Who speaks, in which role; and which of these each row is, shape (n,)."""
        return self._log.speaking(self.n)

    def meeting(self, wanted: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Which rows have metadata that meet a filter of `core.metadata.checked_filter`, shape (n,)."""
        return self._log.meeting(wanted, self.n)

    @property
    def dates(self) -> DateTable:
        """When every row was said, and the days its text names."""
        return self._log.dates

    @cached_property
    def partial(self) -> bool:
        """Whether some utterance has no vector yet."""
        return not bool(self.has_vector.all())

    @property
    def nbytes(self) -> int:
        """Estimated bytes held in memory, spare capacity included."""
        facts = len(self.persona.facts) + len(self.persona.agent_facts) + len(self.archived_facts)
        facts += len(self.ended_facts)
        return self._log.nbytes + self.segments.nbytes + 1500 * facts + self.narrowed_bytes

    @property
    def mapped_bytes(self) -> int:
        """Bytes of it in a mapped file, which other processes share and the system may take back."""
        return self._log.mapped_bytes

    @property
    def times_narrowed(self) -> int:
        """How often something narrowed was made of it."""
        return self._narrowed.added

    @property
    def narrowed_bytes(self) -> int:
        """Estimated bytes of what it keeps of itself narrowed."""
        return sum(one.bytes_beside(self) for one in self._narrowed.values() if one is not self)

    def bytes_beside(self, whole: Snapshot) -> int:
        """Estimated bytes that it holds beside those of the snapshot of which it was narrowed."""
        log = 0 if self._log is whole._log else self._log.nbytes
        segments = 0 if self.segments is whole.segments else 4 * self.dim * len(self.segments.rows)
        return log + segments + _A_ROW * self.n + _A_FACT * len(self.facts.rows) + self.narrowed_bytes


def _all(column: Column) -> NDArray[Any]:
    return column.first(column.length)
