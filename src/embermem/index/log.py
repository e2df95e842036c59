"""What all snapshots of an owner share: arrays that grow at their end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.errors import EmbedderMismatch
from embermem.core.types import PageId, Role, ThreadId, Utterance, UtteranceId
from embermem.core.vector_codes import StoredVectors, codes_of
from embermem.core.vectors import quantized
from embermem.index.bm25 import Postings
from embermem.index.dating import DateTable
from embermem.index.growable_array import Column, Columns, under
from embermem.index.labels import Labels
from embermem.index.late import squares_of
from embermem.index.names import Names
from embermem.index.notes import Notes
from embermem.index.passages import passages_of
from embermem.index.products import code_products
from embermem.index.said import Ids, Said, micros, moment
from embermem.index.vectors import indexed_text
from embermem.languages.words import only_asks, search_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.metadata import Metadata
    from embermem.core.packed_ids import IdTable
    from embermem.core.types import Vector, Vectors

    Codes = NDArray[np.int8]
    Floats = NDArray[np.float64]

_UTTERANCE_BYTES = 900
"""Estimated bytes of one utterance's record that was made: the object, its texts, two times."""

_MADE = 2048
"""Utterances whose records are kept, once they were made: a recall asks for the same ones several times."""

_ROLES = {role: number for number, role in enumerate(Role)}

_OF_NUMBER = tuple(Role)

_WRITTEN_LATER = ("next", "slots", "_page_last", "_thread_ends")
"""Columns of which cells are written after they were appended."""

_ADDED_AT_ONCE = 8192
"""Rows whose words are cut out before they are indexed: what is held meanwhile stays small."""


class Log(Columns):
    """What all snapshots of an owner share. Rows are only ever appended: one for each passage of an utterance, nearly
    always one.

    Two kinds of cell are written once, after their row was appended: `next` (0 is open, else row + 1) and `slots`
    (0 is open, else the vector's place + 1). A snapshot that is older than what was written there knows it by the
    number: it lies beyond its own count.
    """

    def __init__(self, dim: int, token_dim: int) -> None:
        self.lock = threading.RLock()
        self.dim = dim
        self.token_dim = token_dim
        self.said = Said()
        self._made: dict[int, Utterance] = {}
        self._labels: Labels | None = None
        self._labelled = 0
        self.starts = Column(np.int32)
        """Which characters of its text a row has."""
        self.ends = Column(np.int32)
        self.first_rows = Column(np.int32)
        self.seqs = Column(np.int64)
        self.words = Postings()
        self.said_at = Column(np.int64)
        self.text_length = Column(np.float32)
        self.asks = Column(np.bool_)
        self.dates = DateTable()
        self.role = Column(np.int8)

        self.speakers = Names()
        self.speaker = Column(np.int32)

        self.threads = Names()
        self._thread_ends = Column(np.int32)
        self.thread = Column(np.int32)
        self.previous = Column(np.int32)
        self.next = Column(np.int32)

        self._pages = Ids()
        self._page_first = Column(np.int32)
        self._page_last = Column(np.int32)
        """Of each page the last row that there is now: of a snapshot that is older, at most its own last one."""
        self.page = Column(np.int32)

        self.vectors = Column(np.int8, width=dim)
        """A number is a code times the scale of its vector (`core.vectors.quantized`)."""
        self.scales = Column(np.float32)
        self.slots = Column(np.int32)
        self.tokens = Column(np.uint8, width=token_dim // 2)
        self.token_squares = Column(np.uint16)
        self.token_ends = Column(np.int64)
        self.notes = Notes()

    def add(self, utterances: Sequence[Utterance], embedded: NDArray[np.int64]) -> None:
        """Append those that are newer than all it has.

        `embedded` has the seq of each vector that is stored, once for each passage: an utterance is cut as it was when
        its vectors were made.
        """
        embedded = np.sort(embedded)
        newest = int(self.seqs.data[self.rows - 1]) if self.rows else 0
        fresh = [utterance for utterance in utterances if utterance.seq > newest]
        for start in range(0, len(fresh), _ADDED_AT_ONCE):
            self._add(fresh[start : start + _ADDED_AT_ONCE], embedded)

    def add_vectors(
        self, seqs: NDArray[np.int64], vectors: Vectors | StoredVectors, tokens: Sequence[bytes] = ()
    ) -> None:
        """Vectors and packed tokens by seq, which stands once for each passage, in order; the first ones of a passage
        stay, those of an unknown utterance, or beyond its passages, are passed over."""
        if len(seqs) == 0:
            return
        if vectors.shape != (len(seqs), self.dim):
            raise self._mismatch(f"of shape {vectors.shape}")
        known = self.seqs.first(self.seqs.length)
        places = np.searchsorted(known, seqs) + _repeats(seqs)
        fit = np.flatnonzero(places < len(known))
        fit = fit[known[places[fit]] == seqs[fit]]
        rows, first = np.unique(places[fit], return_index=True)
        bare = self.slots.data[rows] == 0
        rows, first = rows[bare].astype(np.int32), fit[first[bare]]
        if len(rows) == 0:
            return
        start = self.vectors.length
        for begin in range(0, len(first), _ADDED_AT_ONCE):
            self._add_codes(*self._codes(vectors, first[begin : begin + _ADDED_AT_ONCE]))
        self._add_tokens([tokens[i] for i in first] if len(tokens) else [b""] * len(rows))
        self.slots.data[rows] = np.arange(start + 1, start + 1 + len(rows), dtype=np.int32)

    def _codes(self, vectors: Vectors | StoredVectors, some: NDArray[np.int64]) -> tuple[Codes, Codes]:
        """Of some vectors the codes (n, dim), and the exponents (n,) of their scales."""
        if isinstance(vectors, StoredVectors):
            try:
                return codes_of([vectors.rows[place] for place in some.tolist()], self.dim)
            except (ValueError, TypeError) as error:  # bytes, or what a damaged row has in their place
                raise self._mismatch("as they are stored", "; run `embermem reindex`") from error
        return quantized(np.asarray(vectors[some], dtype=np.float32))

    def _mismatch(self, which: str, advice: str = "") -> EmbedderMismatch:
        return EmbedderMismatch(f"vectors {which} do not fit an index of dimension {self.dim}{advice}")

    def _add_codes(self, codes: Codes, exponents: Codes) -> None:
        self.vectors.extend(codes)
        self.scales.extend(np.ldexp(np.float32(1.0), exponents.astype(np.int32)))

    def _add_tokens(self, tokens: Sequence[bytes]) -> None:
        width = self.token_dim // 2
        held = self.tokens.length
        if width:
            if any(len(one) % width for one in tokens):
                raise self._mismatch("with tokens as they are stored", "; run `embermem reindex`")
            codes = np.frombuffer(b"".join(tokens), dtype=np.uint8).reshape(-1, width)
            self.tokens.extend(codes)
            self.token_squares.extend(squares_of(codes))
        counts = np.array([len(one) // width if width else 0 for one in tokens], dtype=np.int64)
        self.token_ends.extend(held + np.cumsum(counts))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.slots.length

    def utterance(self, row: int) -> Utterance:
        """The utterance of a row; those asked for last are kept."""
        first = int(self.first_rows.data[row])
        made = self._made.get(first)
        if made is None:
            if len(self._made) >= _MADE:
                self._made = {}
            made = self._made[first] = self._utterance(first)
        return made

    def _utterance(self, row: int) -> Utterance:
        said, role = self.said, _OF_NUMBER[self.role.data[row]]
        metadata, passage, origin = said.extras(row)
        return Utterance(
            id=UtteranceId(said.ids[row]),
            seq=int(self.seqs.data[row]),
            page_id=PageId(self._pages[int(self.page.data[row])]),
            thread=ThreadId(self.threads.all[self.thread.data[row]]),
            role=role,
            origin=origin or role.origin,
            speaker=self.speakers.all[self.speaker.data[row]],
            text=said.texts.text(row),
            said_at=moment(int(self.said_at.data[row]), int(said.offset.data[row])),
            recorded_at=moment(int(said.recorded_at.data[row]), 0),
            metadata=metadata,
            passage=passage,
        )

    def text(self, row: int) -> str:
        """The text of a row's utterance, all of it."""
        first = int(self.first_rows.data[row])
        made = self._made.get(first)
        return self.said.texts.text(first) if made is None else made.text

    def vectors_of(self, slots: NDArray[np.integer[Any]]) -> Vectors:
        """The vectors at these places, shape (len(slots), dim)."""
        return np.asarray(self.vectors.data[slots] * self.scales.data[slots, None])

    def pages_of(self, n: int) -> int:
        """Pages begun within the first n rows, those of documents too."""
        return int(self.page.first(n).max(initial=-1)) + 1

    def span(self, row: int) -> tuple[int, int]:
        """Which characters of its text a row has."""
        return int(self.starts.data[row]), int(self.ends.data[row])

    def thread_number(self, thread: ThreadId) -> int | None:
        """The number of a thread; None for one that is not held."""
        return self.threads.find(thread)

    def page_numbers(self, page_ids: Sequence[PageId]) -> list[int | None]:
        """The number of each of these pages; None for one that is not held."""
        return self._pages.numbers(page_ids)

    def numbers_of_pages(self, pages: IdTable) -> NDArray[np.int64]:
        """The number of each of these pages; −1 for one that is not held."""
        return self._pages.numbers_of(pages)

    def rows_of_page(self, page: int) -> Sequence[int]:
        """The rows of a page, ascending."""
        first, last = int(self._page_first.data[page]), int(self._page_last.data[page])
        if first == last:
            return (first,)
        found: list[int] = (first + np.flatnonzero(self.page.data[first : last + 1] == page)).tolist()
        return found

    def documents(self, n: int) -> NDArray[np.bool_]:
        """Which of the first n rows are passages of documents."""
        return np.asarray(self.role.first(n) == _ROLES[Role.DOCUMENT])

    def alone(self, n: int) -> NDArray[np.bool_]:
        """Which of the first n rows have no neighbours in their thread: passages, and messages without text."""
        return np.asarray(self.documents(n) | (self.text_length.first(n) == 0.0))

    def meeting(self, wanted: Mapping[str, Any], n: int) -> NDArray[np.bool_]:
        """Which of the first n rows have metadata that meet a filter."""
        with self.lock:
            if self._labels is None:
                self._labels, self._labelled = Labels(), 0
            if self._labelled < n:
                self._labels.add_all(self._metadata(self._labelled, n))
                self._labelled = n
        return self._labels.meeting(wanted, n)

    def _metadata(self, begin: int, end: int) -> Iterator[tuple[int, Metadata]]:
        """The rows from `begin` to `end` that have metadata, and these: of each passage those of its utterance."""
        first_rows = self.first_rows.first(end)
        for first, metadata in self.said.labelled(int(first_rows[begin]) if end > begin else begin, end):
            last = int(np.searchsorted(first_rows, first, side="right"))
            for row in range(max(first, begin), last):
                yield row, metadata

    def dots(self, direction: Vector, n: int, vectors: int, bare: float) -> Floats:
        """The product of a vector (dim,) with that of each of the first n rows, shape (n,); `bare` where the first
        `vectors` vectors have none."""
        slots = self.slots.first(n)
        known = np.flatnonzero((slots > 0) & (slots <= vectors))
        found, slots = np.full(n, bare), slots[known] - 1
        if 4 * len(known) < vectors:
            found[known] = code_products(self.vectors.data[slots], self.scales.data[slots], direction)
        else:  # gathering so many costs more than multiplying all
            found[known] = code_products(self.vectors.first(vectors), self.scales.first(vectors), direction)[slots]
        return found

    def speaking(self, n: int) -> tuple[list[tuple[str, Role]], NDArray[np.int64]]:
        """Who speaks in the first n rows, in which role; and which of these each row is, shape (n,)."""
        of = self.speaker.first(n).astype(np.int64) * len(_ROLES) + self.role.first(n)
        numbers, which = np.unique(of, return_inverse=True)
        roles = tuple(_ROLES)
        return [(self.speakers.all[one // len(roles)], roles[one % len(roles)]) for one in numbers.tolist()], which

    def columns(self) -> dict[str, Column]:
        """As `Columns.columns`."""
        return super().columns() | {f"dates.{name}": one for name, one in self.dates.columns().items()}

    def held(self) -> dict[str, Column]:
        """The same as they are now, for a file. What later rows write into cells of earlier ones is copied."""
        with self.lock:
            arrays = {name: one.first(one.length) for name, one in self.columns().items()}
            return {name: Column.of(one.copy() if name in _WRITTEN_LATER else one) for name, one in arrays.items()}

    def adopt(self, columns: Mapping[str, Column]) -> None:
        """As `Columns.adopt`."""
        super().adopt(columns)
        self.dates.adopt(under("dates", columns))
        for name in _WRITTEN_LATER:  # their cells are written from here on: they are checked before
            _ = columns[name].data

    @property
    def nbytes(self) -> int:
        """Estimated bytes held, but for what is mapped."""
        labels = 0 if self._labels is None else self._labels.nbytes
        return super().nbytes + self.dates.nbytes + labels + self.notes.nbytes + _UTTERANCE_BYTES * len(self._made)

    def _add(self, said: Sequence[Utterance], embedded: NDArray[np.int64]) -> None:
        """The next rows, column by column: a third of what they cost row by row."""
        begin = self.rows
        utterances, texts = self._passages(said, begin, embedded)
        first_rows = self.first_rows.data[begin : begin + len(texts)].tolist()
        self.words.add_all([search_terms(indexed_text(one, text)) for one, text in zip(utterances, texts, strict=True)])
        self.dates.add_all(
            (text, one.said_at, one.passage is None) for text, one in zip(texts, utterances, strict=True)
        )
        self.seqs.extend([utterance.seq for utterance in utterances])
        self.said_at.extend([micros(utterance.said_at) for utterance in utterances])
        self.text_length.extend(np.log1p([len(text) for text in texts]))
        self.asks.extend([only_asks(text) for text in texts])
        self.role.extend([_ROLES[utterance.role] for utterance in utterances])
        self.speaker.extend([self.speakers.number(utterance.speaker) for utterance in utterances])
        self._add_to_threads(utterances, texts, begin)
        self._add_to_pages([utterance.page_id for utterance in utterances], begin)
        self.said.extend(utterances, begin, [row == first for row, first in enumerate(first_rows, begin)])
        self.slots.extend([0] * len(texts))  # written last: what has a place here is whole

    def _passages(
        self, said: Sequence[Utterance], begin: int, embedded: NDArray[np.int64]
    ) -> tuple[list[Utterance], list[str]]:
        """The next rows' utterances and texts."""
        seqs = [one.seq for one in said]
        vectors = np.searchsorted(embedded, seqs, side="right") - np.searchsorted(embedded, seqs)
        utterances: list[Utterance] = []
        texts: list[str] = []
        first_rows: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        for one, count in zip(said, vectors.tolist(), strict=True):
            first, spans = begin + len(texts), passages_of(one, count or None)
            starts += [start for start, _ in spans]
            ends += [end for _, end in spans] if len(spans) > 1 else [len(one.text)]
            utterances += [one] * len(spans)
            texts += [one.text[start:end].strip() for start, end in spans]
            first_rows += [first] * len(spans)
        self.first_rows.extend(first_rows)
        self.starts.extend(starts)
        self.ends.extend(ends)
        return utterances, texts

    def _add_to_threads(self, utterances: Sequence[Utterance], texts: Sequence[str], begin: int) -> None:
        """Passages of a document follow nobody: their order is that of the text, not that in which they came. Messages
        without text are passed over."""
        numbers: list[int] = []
        previous: list[int] = []
        for row, (utterance, text) in enumerate(zip(utterances, texts, strict=True), begin):
            number = self.threads.number(utterance.thread)
            if number == self._thread_ends.length:
                self._thread_ends.extend([-1])
            numbers.append(number)
            alone = utterance.passage is not None or not text
            previous.append(-1 if alone else int(self._thread_ends.data[number]))
            if not alone:
                self._thread_ends.set(number, row)
        self.thread.extend(numbers)
        self.previous.extend(previous)
        self.next.extend([0] * len(utterances))
        for row, end in enumerate(previous, begin):
            if end >= 0:
                self.next.set(end, row + 1)

    def _add_to_pages(self, page_ids: Sequence[PageId], begin: int) -> None:
        numbers: list[int] = []
        fresh: list[str] = []
        first: list[int] = []
        pages = self._page_first.length
        known = dict(zip(distinct := list(dict.fromkeys(page_ids)), self._known_pages(distinct), strict=True))
        for row, page_id in enumerate(page_ids, begin):
            number = known[page_id]
            if number is None:
                number = known[page_id] = pages + len(first)
                fresh.append(page_id)
                first.append(row)
            numbers.append(number)
        self._pages.extend(fresh)
        self._page_last.extend(first)
        self._page_first.extend(first)
        for row, number in enumerate(numbers, begin):
            self._page_last.set(number, row)
        self.page.extend(numbers)

    def _known_pages(self, page_ids: Sequence[str]) -> list[int | None]:
        """The numbers of pages that something was said on before. What is said next is mostly said on the newest."""
        newest = self._page_first.length - 1
        if newest >= 0 and len(page_ids) == 1 and self._pages[newest] == page_ids[0]:
            return [newest]
        return self._pages.numbers(page_ids) if newest >= 0 else [None] * len(page_ids)


class Utterances:
    """The utterances of a log's first n rows, made as they are asked for."""

    def __init__(self, log: Log, n: int) -> None:
        self._log, self._n = log, n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, row: int) -> Utterance:
        if not 0 <= row < self._n:
            raise IndexError(row)
        return self._log.utterance(row)

    def __iter__(self) -> Iterator[Utterance]:
        return map(self._log.utterance, range(self._n))


def _repeats(seqs: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many equal ones stand right before each."""
    places = np.arange(len(seqs))
    begins = np.ones(len(seqs), dtype=bool)
    begins[1:] = seqs[1:] != seqs[:-1]
    return np.asarray(places - np.maximum.accumulate(np.where(begins, places, 0)))
