"""What all snapshots of an owner share: arrays that grow at their end."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from sys import getsizeof
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.errors import EmbedderMismatch
from embermem.core.types import PageId, ThreadId, Utterance
from embermem.index.bm25 import Postings
from embermem.index.dating import DateTable
from embermem.index.growable_array import Column
from embermem.index.late import inverse_norms
from embermem.index.passages import passages
from embermem.index.vectors import indexed_text
from embermem.languages.questions import says_number
from embermem.languages.words import asks, terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors

_UTTERANCE_BYTES = 700
"""Estimated bytes of one utterance's record beside its text: the object, two ids, two times."""

_SPAN_BYTES = 250
"""Estimated bytes of which characters a passage has."""

_ADDED_AT_ONCE = 8192
"""Rows whose words are cut out before they are indexed: what is held meanwhile stays small."""


class Log:
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
        self.utterances: list[Utterance] = []
        self.spans: dict[int, tuple[int, int]] = {}
        """Of each row that is a part of a text, which characters; of no others."""
        self.first_rows = Column(np.int32)
        self.seqs = Column(np.int64)
        self.words = Postings()
        self.said_at = Column(np.int64)
        self.text_length = Column(np.float32)
        self.asks = Column(np.bool_)
        self.says_number = Column(np.bool_)
        self.dates = DateTable()

        self.speakers: list[str] = []
        self._speaker_numbers: dict[str, int] = {}
        self.speaker = Column(np.int32)

        self.thread_numbers: dict[ThreadId, int] = {}
        self._thread_ends: list[int] = []
        self.thread = Column(np.int32)
        self.previous = Column(np.int32)
        self.next = Column(np.int32)

        self.page_numbers: dict[PageId, int] = {}
        self.page_rows: list[list[int]] = []
        self.page = Column(np.int32)
        self.page_no = Column(np.int32)
        self._pages_so_far = Column(np.int32)

        self.vectors = Column(np.float32, width=dim)
        self.vector_rows = Column(np.int32)
        self.highest = Column(np.int32)
        self.slots = Column(np.int32)
        self.is_passage = Column(np.bool_)
        self.tokens = Column(np.uint8, width=token_dim // 2)
        self.token_norms = Column(np.float32)
        self.token_ends = Column(np.int64)
        self._text_bytes = 0
        self._talk_pages = 0

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

    def add(self, utterances: Sequence[Utterance]) -> int:
        """Append those that are newer than all it has; the number of rows up to the last of them."""
        newest = self.utterances[-1].seq if self.utterances else 0
        fresh = [utterance for utterance in utterances if utterance.seq > newest]
        for start in range(0, len(fresh), _ADDED_AT_ONCE):
            self._add(fresh[start : start + _ADDED_AT_ONCE])
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
        self.vectors.extend(vectors[first])
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

    def pages_of_talk(self, n: int) -> int:
        """Pages of talk begun within the first n rows."""
        return int(self.page_no.data[: self.pages_of(n)].max(initial=0))

    @property
    def nbytes(self) -> int:
        columns = (
            *(
                self.first_rows,
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
                self.page_no,
                self.is_passage,
                self._pages_so_far,
                self.vectors,
                self.vector_rows,
                self.highest,
                self.slots,
            ),
            *(self.tokens, self.token_norms, self.token_ends, self.says_number, self.dates, self.said_at),
        )
        records = _UTTERANCE_BYTES * len(self.utterances) + self._text_bytes + 200 * len(self.page_rows)
        records += _SPAN_BYTES * len(self.spans)
        return sum(column.nbytes for column in columns) + self.words.nbytes + records

    def _add(self, said: Sequence[Utterance]) -> None:
        """The next rows, column by column: a third of what they cost row by row."""
        begin = len(self.utterances)
        utterances, texts = self._passages(said, begin)
        self.words.add_all(terms(indexed_text(one, text)) for one, text in zip(utterances, texts, strict=True))
        is_passage = [utterance.passage is not None for utterance in utterances]
        self.is_passage.extend(is_passage)
        self.dates.add_all(
            (text, one.said_at, one.passage is None) for text, one in zip(texts, utterances, strict=True)
        )
        self.seqs.extend([utterance.seq for utterance in utterances])
        self.said_at.extend([micros(utterance.said_at) for utterance in utterances])
        self.text_length.extend(np.log1p([len(text) for text in texts]))
        self.asks.extend([asks(text) for text in texts])
        self.says_number.extend([says_number(text) for text in texts])
        self.slots.extend([0] * len(texts))
        self.speaker.extend([self._speaker_number("" if one.passage else one.speaker) for one in utterances])
        self._add_to_threads(utterances, begin)
        self._add_to_pages(utterances, begin)
        self._text_bytes += sum(getsizeof(utterance.text) for utterance in said)
        self.utterances.extend(utterances)

    def _passages(self, said: Sequence[Utterance], begin: int) -> tuple[list[Utterance], list[str]]:
        """The next rows' utterances and texts."""
        utterances: list[Utterance] = []
        texts: list[str] = []
        first_rows: list[int] = []
        for one in said:
            first, spans = begin + len(texts), passages(one.text)
            if len(spans) > 1:
                self.spans.update(enumerate(spans, first))
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

    def _add_to_threads(self, utterances: Sequence[Utterance], begin: int) -> None:
        """Passages of a document follow nobody: their order is that of the text, not that in which they came."""
        numbers: list[int] = []
        previous: list[int] = []
        for row, utterance in enumerate(utterances, begin):
            number = self.thread_numbers.get(utterance.thread)
            if number is None:
                number = self.thread_numbers[utterance.thread] = len(self._thread_ends)
                self._thread_ends.append(-1)
            numbers.append(number)
            previous.append(self._thread_ends[number] if utterance.passage is None else -1)
            self._thread_ends[number] = row
        self.thread.extend(numbers)
        self.previous.extend(previous)
        self.next.extend([0] * len(utterances))
        for row, end in enumerate(previous, begin):
            if end >= 0:
                self.next.set(end, row + 1)

    def _add_to_pages(self, utterances: Sequence[Utterance], begin: int) -> None:
        numbers: list[int] = []
        so_far: list[int] = []
        for row, utterance in enumerate(utterances, begin):
            number = self.page_numbers.get(utterance.page_id)
            if number is None:
                number = self.page_numbers[utterance.page_id] = len(self.page_rows)
                self.page_rows.append([])
                self._talk_pages += utterance.passage is None
                self.page_no.extend([self._talk_pages if utterance.passage is None else 0])
            self.page_rows[number].append(row)
            numbers.append(number)
            so_far.append(len(self.page_rows))
        self.page.extend(numbers)
        self._pages_so_far.extend(so_far)

    def _copy(self, n: int) -> Log:
        copy = Log(self.dim, self.token_dim)
        copy.add([one for row, one in enumerate(self.utterances[:n]) if self.first_rows.data[row] == row])
        rows = self.vector_rows.first(self.vectors.length)
        ends = self.token_ends.first(self.vectors.length)
        tokens = [one.tobytes() for one in np.split(self.tokens.first(self.tokens.length), ends[:-1])]
        copy.add_vectors(
            self.seqs.data[rows], self.vectors.first(self.vectors.length), tokens if self.token_dim else ()
        )
        return copy


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
