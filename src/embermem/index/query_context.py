"""A query, and what of a snapshot it may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core import equations
from embermem.core.config import Mode, Settings
from embermem.core.errors import EmbedderMismatch
from embermem.core.text import fold
from embermem.core.types import FactId, Role, Scope, ThreadId
from embermem.index.dating import asked_of, without_days
from embermem.index.late import stems_of
from embermem.index.products import cosines
from embermem.index.said import micros
from embermem.index.snapshot import Snapshot
from embermem.index.spelling import corrected
from embermem.index.texts import Links, Texts
from embermem.languages.dates.engine import ELSEWHEN, DateSpan, date_spans
from embermem.languages.questions import asks_for_days_alone, speaks_to_somebody
from embermem.languages.words import is_beginning, search_terms, unspaced, vocabularies
from embermem.protocols import Needs, Reader, TokenVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

__all__ = ["Query", "View"]

_NAMED = 0.15
"""What a day counts that a query names without asking for it, beside one that it asks for (ours)."""
_BESIDE = 0.5
"""What a day counts for a row that only asks, or that the agent said, beside one that tells of it (ours)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What is asked. `keywords` are the analyst's (K of Eq. 2); `budget` in tokens, None takes the setting's.

    `thread` is the conversation it is asked in, `at` the moment; neither makes the near or the new score higher, but
    "last week" is counted from `at`. `scope` says what may be told, and limits the snapshot. `shown` are threads whose
    lines whoever asks shows already: none of them is told again, nor what rests on them alone. `valid_at` asks for what
    was true then: what was said by then, and what the facts of the snapshot rest on, which are to be those that were
    true. `facts` are the cosines of facts' own vectors to the query's, where they were asked for (preset `paper`).
    `outdated` are ids of facts and names of profile lines ("user.home") that are not told, since another memory of the
    same user knows newer. `needs` is what a trained `reader` says that the text needs of memory, where there is one; in
    `mode` inject a message that needs nothing gets nothing. `wishes` is, for a request for advice, the vector that is
    near to what bears on it (`Reader.wishes`). Of utterances only those of the relevance `min_score` or
    more are wanted. `before` are the turns of its thread that it rests on, if it does (memoryos/recall/follow_ups.py):
    `vector`, `tokens` and `keywords` are those of `in_full`. `read_before` are the seqs of the questions among them and
    of their answers: they are parts of the query, and no hits.
    """

    text: str
    before: tuple[str, ...] = ()
    read_before: frozenset[int] = frozenset()
    vector: Vector | None = field(default=None, compare=False, repr=False)
    tokens: TokenVectors | None = field(default=None, compare=False, repr=False)
    keywords: frozenset[str] = frozenset()
    budget: int | None = None
    at: datetime | None = None
    thread: ThreadId | None = None
    scope: Scope | None = None
    shown: frozenset[ThreadId] = frozenset()
    valid_at: datetime | None = None
    facts: Mapping[FactId, float] | None = field(default=None, compare=False, repr=False)
    outdated: frozenset[str] = frozenset()
    needs: Needs | None = None
    wishes: Vector | None = field(default=None, compare=False, repr=False)
    reader: Reader | None = field(default=None, compare=False, repr=False)
    mode: Mode = "ask"
    min_score: float = 0.0

    @property
    def in_full(self) -> str:
        """The query, and behind it the turns that it rests on."""
        return "\n".join((self.text, *self.before))

    @property
    def searched(self) -> str:
        """The same without the words that name days asked for: these are looked for by their time, and as words they
        would find what names other days."""
        now = ELSEWHEN if self.at is None else self.at
        asked = asked_of(self.text, date_spans(self.text, now), now)
        return "\n".join((_or_all(self.text, without_days(self.text, asked)), *self.before))


class View:
    """The rows of a snapshot as one query sees them. What its scope excludes is not among them: the snapshot was
    narrowed before (memoryos/recall/scoping.py).

    Raises EmbedderMismatch if the query's vector is of another length than the index's.
    """

    def __init__(self, snapshot: Snapshot, query: Query, settings: Settings) -> None:
        self.snapshot, self.query, self.settings = snapshot, query, settings
        if query.vector is not None and query.vector.shape != (snapshot.dim,):
            raise EmbedderMismatch(f"a query of shape {query.vector.shape}, an index of dimension {snapshot.dim}")
        self.n = snapshot.n
        self.allowed = self._allowed()
        self.vocabularies = vocabularies(query.text)
        """The languages of the query's words, by script."""
        self.corrections = self._corrections()
        self.terms = tuple(dict.fromkeys(self.corrections.get(term, term) for term in search_terms(self.text)))
        """The query's own terms, without those that name days."""

    def _allowed(self) -> Mask | None:
        numbers = [number for t in self.query.shown if (number := self.snapshot.thread_number(t)) is not None]
        allowed = ~np.isin(self.snapshot.thread_of(self.n), numbers) if numbers else None
        if self.query.read_before:
            asked = np.isin(self.snapshot.seqs[: self.n], list(self.query.read_before))
            allowed = ~asked if allowed is None else allowed & ~asked
        if (says := self.snapshot.says) is not None:
            allowed = says if allowed is None else allowed & says
        if self.query.valid_at is None:
            return allowed
        told = self._told_of(self.query.valid_at)
        return told if allowed is None else allowed & told

    def _told_of(self, valid_at: datetime) -> Mask:
        """Which rows tell of a time: those said by then, and those that facts true then rest on."""
        told = self.snapshot.said_at(self.n) <= micros(valid_at)
        rows, inside = self.snapshot.facts.found(self.snapshot.seqs[: self.n])
        told[rows[inside]] = True
        return self.texts.spread(told[self.texts.begins])

    def _corrections(self) -> Mapping[str, str]:
        """For the query's words that no row holds, and that the embedder does not know as words, their next neighbours
        that rows hold."""
        tokens = self.query.tokens
        pieces = Counter(() if tokens is None else tokens.words)
        known = set(stems_of([word for word, count in pieces.items() if count == 1]))
        words, n = self.snapshot.words, self.n
        asked = dict.fromkeys(search_terms(self.text))
        unknown = [term for term in asked if term not in known and not words.holds(term, n)]
        function_words = self.vocabularies["LATIN"].stop_words
        found = {
            term: corrected(term, lambda one: words.holds(one, n), function_words, words.known)
            for term in unknown[: self.settings.query_terms]
        }
        return {term: held for term, held in found.items() if held is not None}

    @cached_property
    def terms_before(self) -> tuple[str, ...]:
        """Those of the turns that it rests on that it lacks itself. Who spoke is not named there for a query that names
        somebody."""
        found = dict.fromkeys(term for turn in self.query.before for term in search_terms(turn))
        named = not self.names.isdisjoint(self.terms)
        return tuple(term for term in found if term not in self.terms and not (named and term in self.names))

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """How much each term counts, in (0, 1]: the query's own fully."""
        return dict.fromkeys(self.terms_before, self.settings.recall_before) | dict.fromkeys(self.terms, 1.0)

    @cached_property
    def nothing(self) -> Floats:
        """0 for each of the n rows: what a channel gives that has nothing to say. Not to be written to."""
        return self.snapshot.nothing

    @cached_property
    def candidates(self) -> Mask:
        """Which of the n rows may be recalled."""
        return np.ones(self.n, dtype=bool) if self.allowed is None else self.allowed

    @cached_property
    def links(self) -> Links:
        """Thread neighbours among the n rows."""
        return self.snapshot.links(self.n)

    @property
    def texts(self) -> Texts:
        """Which of the n rows are of one text, and the neighbours of each text in its thread."""
        return self.snapshot.texts

    @cached_property
    def idf(self) -> Mapping[str, float]:
        """How rare each of the query's terms is among the n rows, times its weight."""
        rows_with = self._rows_with
        return {term: weight * equations.idf(self.n, rows_with[term]) for term, weight in self.weights.items()}

    @cached_property
    def _rows_with(self) -> Mapping[str, int]:
        """How many of the n rows hold each of the query's terms."""
        return {term: self.snapshot.words.holds(term, self.n) for term in self.weights}

    @cached_property
    def searched(self) -> Mapping[str, float]:
        """The query's terms that BM25 looks for, with their weights: the rarest of those that occur, `query_terms` at
        most."""
        held = [term for term, rows in self._rows_with.items() if rows]
        rarest = sorted(held, key=lambda term: -self.idf[term])[: self.settings.query_terms]
        return {term: self.weights[term] for term in rarest}

    @cached_property
    def segment_scores(self) -> Floats:
        """F_score of every segment against the query, shape (segments,)."""
        return self.snapshot.segments.f_scores(self.query.vector, self.query.keywords)

    def similarities(self, rows: NDArray[np.integer[Any]]) -> Floats:
        """The cosine of each of these rows' vectors and the query's; 0 without a vector."""
        vector = self.query.vector
        if vector is None:
            return np.zeros(len(rows))
        return cosines(self.snapshot.vectors_of(rows), vector[None])[:, 0].astype(np.float64)

    @property
    def names(self) -> frozenset[str]:
        """The terms of the names of all who spoke."""
        return self.snapshot.names_of_speakers

    @cached_property
    def said_by_named(self) -> Floats:
        """1 for each of the n rows that somebody said whom the query names, else 0; `nothing`, if it names nobody who
        spoke."""
        named = np.array(self._named(self.snapshot.speakers()) or [False])
        if not named.any():
            return self.nothing
        said = ~self.snapshot.is_passage(self.n)
        return (named[self.snapshot.speaker_of(self.n)] & said).astype(np.float64)

    def _named(self, names: Sequence[str]) -> list[bool]:
        """Which of these the query names: by a word of the name, or by two characters of it, where they stand for
        words.

        Such a name that stands whole in the query is meant alone: of two people with one family name, one is asked for.
        """
        asked = {term for term in self.weights if not is_beginning(term)}
        known, query = self.vocabularies, fold(self.query.in_full)
        whole = {name for name in names if unspaced(name) and fold(name) in query}

        def named(name: str) -> bool:
            if not unspaced(name):
                return not asked.isdisjoint(search_terms(name, known))
            if whole:
                return name in whole
            return any(len(term) > 1 and term in asked for term in search_terms(name, known))

        return [named(name) for name in names]

    @cached_property
    def asked_tokens(self) -> tuple[NDArray[np.float32], Floats]:
        """The vectors of the query's content words (q, token_dim), and how rare each is (q,), the rarest first; empty
        where the embedder gives none.

        Who spoke is the speaker channel's to say: names count nothing here.
        """
        tokens, n = self.query.tokens, self.n
        if tokens is None:
            return np.zeros((0, self.snapshot.token_dim), dtype=np.float32), np.zeros(0)
        stems = [None if stem is None else self.corrections.get(stem, stem) for stem in stems_of(tokens.words)]
        places = [i for i, stem in enumerate(stems) if stem is not None and stem not in self.names]
        known = [stems[i] or "" for i in places]
        own, words = self.idf, self.snapshot.words
        idf = np.array([own[stem] if stem in own else words.idf(stem, n) for stem in known])
        rarest = np.argsort(-idf, kind="stable")[: self.settings.query_terms]
        return tokens.vectors[[places[i] for i in rarest]], idf[rarest]

    @cached_property
    def asked_days(self) -> tuple[DateSpan, ...]:
        """The days that the query names; "last week" is counted from `at`, or from the newest thing said."""
        if self.now is None or self._own_days:
            return self._own_days
        return next(filter(None, (date_spans(text, self.now) for text in self.query.before)), ())

    @cached_property
    def _own_days(self) -> tuple[DateSpan, ...]:
        return () if self.now is None else date_spans(self.query.text, self.now)

    @cached_property
    def text(self) -> str:
        """The query's text without the words that name days asked for; all of it, if it has no others."""
        return _or_all(self.query.text, without_days(self.query.text, self._own_days_asked_for))

    @cached_property
    def days_asked_for(self) -> tuple[DateSpan, ...]:
        """Those of `asked_days` of which it is asked what was on them."""
        return self._own_days_asked_for if self._own_days else self.asked_days

    @cached_property
    def _own_days_asked_for(self) -> tuple[DateSpan, ...]:
        return () if self.now is None else asked_of(self.query.text, self._own_days, self.now)

    @cached_property
    def on_days(self) -> Floats:
        """What each of the n rows has to do with the days that the query names, in [0, 1]."""
        if self.now is None or not self.asked_days:
            return self.nothing
        dates, now = self.snapshot.dates, self.now
        if self.days_asked_for:
            return dates.on_days(self.days_asked_for, self.n, now)
        return _NAMED * dates.on_days(self.asked_days, self.n, now, spoken_of=True)

    @cached_property
    def day_scores(self) -> Floats:
        """The same, less for rows that do not tell of the days asked for."""
        if not self.days_asked_for or self.on_days is self.nothing:
            return self.on_days
        return self.on_days * np.where(self._tells, 1.0, _BESIDE)

    @property
    def _tells(self) -> Mask:
        """Which of the n rows do more than ask, and are not the agent's, unless the query speaks to it or names who
        spoke."""
        tells = ~self.snapshot.asks(self.n)
        if self.said_by_named is self.nothing and not speaks_to_somebody(self.query.text):
            speakers, which = self.snapshot.speaking()
            tells &= np.array([role is not Role.ASSISTANT for _, role in speakers], dtype=np.bool_)[which]
        return tells

    @cached_property
    def asks_days_alone(self) -> bool:
        """Whether the query asks for nothing but what was on some days."""
        if self.query.before or not self.days_asked_for:
            return False
        rest = without_days(self.query.text, self._own_days)
        return asks_for_days_alone(rest) and bool(self.on_days[self.candidates].any())

    @cached_property
    def now(self) -> datetime | None:
        """The moment of the query; else that of the newest thing said, or stored where nothing was said."""
        if self.query.at is not None or self.n == 0:
            return self.query.at
        said = np.flatnonzero(~self.snapshot.is_passage(self.n))
        return self.snapshot.utterances[int(said[-1]) if len(said) else self.n - 1].said_at


def _or_all(text: str, rest: str) -> str:
    """The rest of a text, if it has a word."""
    return rest if any(map(str.isalnum, rest)) else text
