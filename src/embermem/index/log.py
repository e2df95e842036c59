"""What all snapshots of an owner share: arrays that grow at their end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from sys import getsizeof
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from embermem.core.errors import EmbedderMismatch
from embermem.core.types import PageId, Role, ThreadId, Utterance
from embermem.index.bm25 import Postings
from embermem.index.dating import DateTable
from embermem.index.growable_array import Column
from embermem.index.labels import Labels
from embermem.index.late import inverse_norms
from embermem.index.notes import Notes
from embermem.index.pairs import read_by_second
from embermem.index.passages import passages_of
from embermem.index.products import cosines
from embermem.index.vectors import indexed_text
from embermem.languages.questions import says_number, states_preference
from embermem.languages.words import asks, terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector, Vectors

    Floats = NDArray[np.float64]

_UTTERANCE_BYTES = 700
"""Estimated bytes of one utterance's record beside its text: the object, two ids, two times."""

_SPAN_BYTES = 250
"""Estimated bytes of which characters a passage has."""

_METADATA_BYTES = 100
"""Estimated bytes of one name with its value in an utterance's metadata."""

_ROLES = {role: number for number, role in enumerate(Role)}

_NO_SEQS: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

_ADDED_AT_ONCE = 8192
"""Rows whose words are cut out before they are indexed: what is held meanwhile stays small."""


class Log:
    """What all snapshots of an owner share. Rows are only ever appended: one for each passage of an utterance, nearly
    always one.

    Two kinds of cell are written once, after their row was appended: `next` (0 is open, else row + 1) and `slots`
    (0 is open, else the vector's place + 1). A snapshot that is older than what was written there knows it by the
    number: it lies beyond its own count.
    """

    def __init__(self, dim: int, token_dim: int, first_dim: int | None = None) -> None:
        """`first_dim` of a vector's `dim` numbers are the first encoder's of a pair; None: it is no pair."""
        self.lock = threading.RLock()
        self.dim = dim
        self.first_dim = dim if first_dim is None else first_dim
        self.token_dim = token_dim
        self.utterances: list[Utterance] = []
        self._spans: dict[int, tuple[int, int]] = {}
        """Of each row that is a part of a text, which characters; of no others."""
        self.first_rows = Column(np.int32)
        self.seqs = Column(np.int64)
        self.words = Postings()
        self.said_at = Column(np.int64)
        self.text_length = Column(np.float32)
        self.asks = Column(np.bool_)
        self.says_number = Column(np.bool_)
        self.states_preference = Column(np.bool_)
        self.dates = DateTable()

        self.labels = Labels()
        self.role = Column(np.int8)

        self.speakers: list[str] = []
        self._speaker_numbers: dict[str, int] = {}
        self.speaker = Column(np.int32)

        self._thread_numbers: dict[ThreadId, int] = {}
        self._thread_ends: list[int] = []
        self.thread = Column(np.int32)
        self.previous = Column(np.int32)
        self.next = Column(np.int32)

        self._page_numbers: dict[PageId, int] = {}
        self._page_rows: list[list[int]] = []
        self.page = Column(np.int32)
        self._pages_so_far = Column(np.int32)

        self.vectors = Column(np.float32, width=self.first_dim)
        """Of a pair of encoders, the first's part; `second` is the other's."""
        self.second = Column(np.float32, width=dim - self.first_dim)
        self.by_second = Column(np.bool_)
        """Which vectors are of texts that only the second encoder reads."""
        self.vector_rows = Column(np.int32)
        self.highest = Column(np.int32)
        self.slots = Column(np.int32)
        self.tokens = Column(np.uint8, width=token_dim // 2)
        self.token_norms = Column(np.float32)
        self.token_ends = Column(np.int64)
        self.notes = Notes()
        self._text_bytes = 0

    def holding(self, n: int, utterances: Sequence[Utterance]) -> Log:
        """This log, if what it has after row n is what is to be added; else a copy of its first n rows.

        The copy is needed only by a caller who grows two different futures out of one snapshot.
        """
        with self.lock:
            for utterance in utterances:
                row = int(np.searchsorted(self.seqs.first(self.seqs.length), utterance.seq))
                if row == len(self.utterances):
                    break
                if self.utterances[row].id != utterance.id:
                    return self._copy(n)
        return self

    def add(self, utterances: Sequence[Utterance], embedded: NDArray[np.int64] = _NO_SEQS) -> int:
        """Append those that are newer than all it has; the number of rows up to the last of them.

        `embedded` has the seq of each vector that is stored, once for each passage: an utterance is cut as it was when
        its vectors were made.
        """
        embedded = np.sort(embedded)
        newest = self.utterances[-1].seq if self.utterances else 0
        fresh = [utterance for utterance in utterances if utterance.seq > newest]
        for start in range(0, len(fresh), _ADDED_AT_ONCE):
            self._add(fresh[start : start + _ADDED_AT_ONCE], embedded)
        last = utterances[-1].seq if utterances else 0
        return int(np.searchsorted(self.seqs.first(self.seqs.length), last, side="right"))

    def add_vectors(self, seqs: NDArray[np.int64], vectors: Vectors, tokens: Sequence[bytes] = ()) -> None:
        """Vectors and packed tokens by seq, which stands once for each passage, in order; the first ones of a passage
        stay, those of an unknown utterance, or beyond its passages, are passed over."""
        if len(seqs) == 0:
            return
        if vectors.shape != (len(seqs), self.dim):
            raise EmbedderMismatch(f"vectors of shape {vectors.shape} do not fit an index of dimension {self.dim}")
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
        highest = int(self.highest.data[start - 1]) if start else -1
        self.vectors.extend(vectors[first, : self.first_dim])
        self.second.extend(vectors[first, self.first_dim :])
        self.by_second.extend(read_by_second(vectors[first], self.first_dim))
        self.vector_rows.extend(rows)
        self.highest.extend(np.maximum(np.maximum.accumulate(rows), highest))
        self._add_tokens([tokens[i] for i in first] if len(tokens) else [b""] * len(rows))
        self.slots.data[rows] = np.arange(start + 1, start + 1 + len(rows), dtype=np.int32)

    def _add_tokens(self, tokens: Sequence[bytes]) -> None:
        width = self.token_dim // 2
        held = self.tokens.length
        if width:
            codes = np.frombuffer(b"".join(tokens), dtype=np.uint8).reshape(-1, width)
            self.tokens.extend(codes)
            self.token_norms.extend(inverse_norms(codes))
        counts = np.array([len(one) // width if width else 0 for one in tokens], dtype=np.int64)
        self.token_ends.extend(held + np.cumsum(counts))

    def pages_of(self, n: int) -> int:
        """Pages begun within the first n rows, those of documents too."""
        return int(self._pages_so_far.data[n - 1]) if n else 0

    def span(self, row: int) -> tuple[int, int] | None:
        """Which characters of its text a row has; None for all of them."""
        return self._spans.get(row)

    def thread_number(self, thread: ThreadId) -> int | None:
        """The number of a thread; None for one that is not held."""
        return self._thread_numbers.get(thread)

    def page_number(self, page_id: PageId) -> int | None:
        """The number of a page; None for one that is not held."""
        return self._page_numbers.get(page_id)

    def rows_of_page(self, page: int) -> Sequence[int]:
        """The rows of a page, ascending."""
        return self._page_rows[page]

    def documents(self, n: int) -> NDArray[np.bool_]:
        """Which of the first n rows are passages of documents."""
        return np.asarray(self.role.first(n) == _ROLES[Role.DOCUMENT])

    def alone(self, n: int) -> NDArray[np.bool_]:
        """Which of the first n rows have no neighbours in their thread: passages, and messages without text."""
        return np.asarray(self.documents(n) | (self.text_length.first(n) == 0.0))

    def meeting(self, wanted: Mapping[str, Any], n: int) -> NDArray[np.bool_]:
        """Which of the first n rows have metadata that meet a filter."""
        return self.labels.meeting(wanted, n)

    def dots(self, direction: Vector, n: int, vectors: int, bare: float) -> Floats:
        """The product of a vector (dim,) with that of each of the first n rows, shape (n,); `bare` where the first
        `vectors` vectors have none."""
        found = self.first_dots(direction[: self.first_dim], n, vectors, bare)
        tail = direction[self.first_dim :]
        return found + self.second_dots(tail, n, vectors, 0.0) if tail.any() else found

    def first_dots(self, direction: Vector, n: int, vectors: int, bare: float) -> Floats:
        """The same with the first encoder's part alone, (first_dim,)."""
        return self._products(self.vectors, direction, n, vectors, bare)

    def second_dots(self, direction: Vector, n: int, vectors: int, bare: float) -> Floats:
        """The same with the second encoder's part alone, (dim − first_dim,)."""
        return self._products(self.second, direction, n, vectors, bare)

    def _products(self, column: Column, direction: Vector, n: int, vectors: int, bare: float) -> Floats:
        found = np.full(n, bare)
        rows, held = self.vector_rows.first(vectors), column.first(vectors)
        # They came nearly in order: the first ones are all seen.
        first = int(np.searchsorted(self.highest.first(vectors), n))
        found[rows[:first]] = cosines(held[:first], direction[None])[:, 0]
        later = first + np.flatnonzero(rows[first:] < n)
        if len(later):
            found[rows[later]] = cosines(held[later], direction[None])[:, 0]
        return found

    def speaking(self, n: int) -> tuple[list[tuple[str, Role]], NDArray[np.int64]]:
        """Who speaks in the first n rows, in which role; and which of these each row is, shape (n,)."""
        of = self.speaker.first(n).astype(np.int64) * len(_ROLES) + self.role.first(n)
        numbers, which = np.unique(of, return_inverse=True)
        roles = tuple(_ROLES)
        return [(self.speakers[one // len(roles)], roles[one % len(roles)]) for one in numbers.tolist()], which

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        columns = (
            *(
                self.first_rows,
                self.role,
                self.seqs,
                self.text_length,
                self.asks,
                self.speaker,
                self.thread,
                self.previous,
                self.next,
            ),
            *(
                self.page,
                self._pages_so_far,
                self.vectors,
                self.second,
                self.by_second,
                self.vector_rows,
                self.highest,
                self.slots,
            ),
            *(self.tokens, self.token_norms, self.token_ends, self.dates, self.said_at),
            *(self.says_number, self.states_preference),
        )
        records = _UTTERANCE_BYTES * len(self.utterances) + self._text_bytes + 200 * len(self._page_rows)
        records += _SPAN_BYTES * len(self._spans)
        return (
            sum(column.nbytes for column in columns)
            + self.words.nbytes
            + self.labels.nbytes
            + self.notes.nbytes
            + records
        )

    def _add(self, said: Sequence[Utterance], embedded: NDArray[np.int64]) -> None:
        """The next rows, column by column: a third of what they cost row by row."""
        begin = len(self.utterances)
        utterances, texts = self._passages(said, begin, embedded)
        self.words.add_all(terms(indexed_text(one, text)) for one, text in zip(utterances, texts, strict=True))
        self.dates.add_all(
            (text, one.said_at, one.passage is None) for text, one in zip(texts, utterances, strict=True)
        )
        self.seqs.extend([utterance.seq for utterance in utterances])
        self.said_at.extend([micros(utterance.said_at) for utterance in utterances])
        self.text_length.extend(np.log1p([len(text) for text in texts]))
        self.asks.extend([asks(text) for text in texts])
        self.says_number.extend([says_number(text) for text in texts])
        self.states_preference.extend([states_preference(text) for text in texts])
        self.slots.extend([0] * len(texts))
        self.labels.add_all(begin, [utterance.metadata for utterance in utterances])
        self.role.extend([_ROLES[utterance.role] for utterance in utterances])
        self.speaker.extend([self._speaker_number(utterance.speaker) for utterance in utterances])
        self._add_to_threads(utterances, texts, begin)
        self._add_to_pages([utterance.page_id for utterance in utterances], begin)
        self._text_bytes += sum(getsizeof(one.text) + _METADATA_BYTES * len(one.metadata) for one in said)
        self.utterances.extend(utterances)

    def _passages(
        self, said: Sequence[Utterance], begin: int, embedded: NDArray[np.int64]
    ) -> tuple[list[Utterance], list[str]]:
        """The next rows' utterances and texts."""
        seqs = [one.seq for one in said]
        vectors = np.searchsorted(embedded, seqs, side="right") - np.searchsorted(embedded, seqs)
        utterances: list[Utterance] = []
        texts: list[str] = []
        first_rows: list[int] = []
        for one, count in zip(said, vectors.tolist(), strict=True):
            first, spans = begin + len(texts), passages_of(one, count or None)
            if len(spans) > 1:
                self._spans.update(enumerate(spans, first))
            utterances += [one] * len(spans)
            texts += [one.text[start:end].strip() for start, end in spans]
            first_rows += [first] * len(spans)
        self.first_rows.extend(first_rows)
        return utterances, texts

    def _speaker_number(self, speaker: str) -> int:
        number = self._speaker_numbers.setdefault(speaker, len(self.speakers))
        if number == len(self.speakers):
            self.speakers.append(speaker)
        return number

    def _add_to_threads(self, utterances: Sequence[Utterance], texts: Sequence[str], begin: int) -> None:
        """Passages of a document follow nobody: their order is that of the text, not that in which they came. Messages
        without text are passed over."""
        numbers: list[int] = []
        previous: list[int] = []
        for row, (utterance, text) in enumerate(zip(utterances, texts, strict=True), begin):
            number = self._thread_numbers.get(utterance.thread)
            if number is None:
                number = self._thread_numbers[utterance.thread] = len(self._thread_ends)
                self._thread_ends.append(-1)
            numbers.append(number)
            alone = utterance.passage is not None or not text
            previous.append(-1 if alone else self._thread_ends[number])
            if not alone:
                self._thread_ends[number] = row
        self.thread.extend(numbers)
        self.previous.extend(previous)
        self.next.extend([0] * len(utterances))
        for row, end in enumerate(previous, begin):
            if end >= 0:
                self.next.set(end, row + 1)

    def _add_to_pages(self, page_ids: Sequence[PageId], begin: int) -> None:
        numbers: list[int] = []
        so_far: list[int] = []
        for row, page_id in enumerate(page_ids, begin):
            number = self._page_numbers.get(page_id)
            if number is None:
                number = self._page_numbers[page_id] = len(self._page_rows)
                self._page_rows.append([])
            self._page_rows[number].append(row)
            numbers.append(number)
            so_far.append(len(self._page_rows))
        self.page.extend(numbers)
        self._pages_so_far.extend(so_far)

    def _copy(self, n: int) -> Log:
        copy = Log(self.dim, self.token_dim, self.first_dim)
        rows = self.vector_rows.first(self.vectors.length)
        said = [one for row, one in enumerate(self.utterances[:n]) if self.first_rows.data[row] == row]
        copy.add(said, self.seqs.data[rows])
        ends = self.token_ends.first(self.vectors.length)
        tokens = [one.tobytes() for one in np.split(self.tokens.first(self.tokens.length), ends[:-1])]
        vectors = np.hstack([self.vectors.first(len(rows)), self.second.first(len(rows))])
        copy.add_vectors(self.seqs.data[rows], vectors, tokens if self.token_dim else ())
        return copy


class Utterances(Sequence[Utterance]):
    """The first n utterances of a list that others may append to."""

    def __init__(self, utterances: list[Utterance], n: int) -> None:
        self._all, self._n = utterances, n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> Utterance: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Utterance]: ...
    def __getitem__(self, index: int | slice) -> Utterance | Sequence[Utterance]:
        if isinstance(index, slice):
            return [self._all[i] for i in range(*index.indices(self._n))]
        if not -self._n <= index < self._n:
            raise IndexError(index)
        return self._all[index % self._n]

    def __iter__(self) -> Iterator[Utterance]:
        return (self._all[i] for i in range(self._n))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Microseconds since 1970 (UTC)."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def _repeats(seqs: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many equal ones stand right before each."""
    places = np.arange(len(seqs))
    begins = np.ones(len(seqs), dtype=bool)
    begins[1:] = seqs[1:] != seqs[:-1]
    return np.asarray(places - np.maximum.accumulate(np.where(begins, places, 0)))
