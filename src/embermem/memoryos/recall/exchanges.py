"""What makes sense only together: a question with its answer, a short answer with its question. And what says little.

Pure functions of a view: nothing here counts tokens or decides what is packed (packing.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from embermem import languages
from embermem.index.query_context import View
from embermem.languages.words import (
    asks,
    content_words,
    has_content_words,
    is_beginning,
    search_terms,
    sentences,
    terms,
)

__all__ = [
    "Exchanges",
    "completing",
    "ends_in_question",
    "is_worth_a_line",
    "open_page",
    "says_nothing",
    "statement_of",
]

_SHORT = 4
"""Content words up to which an utterance says little by itself."""
_NOTHING = 1
"""Content words beside those of courtesy up to which it says nothing."""
_COURTESY = frozenset(term for language in languages.all() for word in language.talk.courtesy for term in terms(word))
"""Words of thanks, praise and farewell, which say little."""
_FARTHEST = 3
"""Utterances of one speaker in a row that are passed over on the way to the other's."""
_LONGEST = 3
"""Questions in a row, each in the answer to the one before, that are followed."""
_LOOKS_AT = 300
"""Characters at the end of an utterance in which its question is looked for; a longer one is not short."""
_MARKS = tuple(dict.fromkeys(mark for language in languages.all() for mark in language.questions.marks))
_REST = re.compile(r"(?:[^\w\[]|\[[^\[\]]*\])*")
"""What may stand after a question: a description in brackets, signs that are no letters."""


class Exchanges:
    """Which of the rows that a query sees belong together."""

    def __init__(self, view: View) -> None:
        snapshot = view.snapshot
        self._view = view
        self._names = view.names
        self._query = frozenset(term for term in view.idf if not is_beginning(term)) - view.names - _COURTESY
        self._facts = snapshot.facts
        self._speaker = snapshot.speaker_of(view.n)
        self._asks = snapshot.notes("asks")
        self._short = snapshot.notes(("is short", view.names))

    def of(self, row: int) -> tuple[int, ...]:
        """The row with what it needs: the answer that it asks for, and the answers to what these ask, in their order;
        before a row that says little, the question that it answers. The row alone, if nothing answers it."""
        found = [row]
        question = self.question_of(row)
        if question is not None and self.is_short(row):
            found.insert(0, question)
        while len(found) <= _LONGEST and (answer := self.answer_to(found[-1])) is not None:
            found.append(answer)
        return tuple(found)

    def asks(self, row: int) -> bool:
        """Whether an utterance ends in a question, whatever signs or description stand after it."""
        known: bool | None = self._asks.get(row)
        if known is None:
            known = self._asks[row] = ends_in_question(self._text(row))
        return known

    def answer_to(self, row: int) -> int | None:
        """The next utterance of its thread by another speaker, if the row asks and that may be seen."""
        if not self.asks(row):
            return None
        view, following, spoke = self._view, self._view.links.next, self._speaker
        other = row
        for _ in range(_FARTHEST):
            other = following.item(other)
            if other >= view.n:
                return None
            if spoke.item(other) != spoke.item(row):
                return other if self._is_seen(other) else None
        return None

    def question_of(self, row: int) -> int | None:
        """The utterance right before it of its thread, if another speaker asks there and that may be seen."""
        before: int = self._view.links.previous.item(row)
        if before >= self._view.n or not self._is_seen(before) or not self.asks(before):
            return None
        return before if self._speaker.item(before) != self._speaker.item(row) else None

    def is_short(self, row: int) -> bool:
        """Whether an utterance has no more than four content words; names of those who speak and words of courtesy do
        not count."""
        known: bool | None = self._short.get(row)
        if known is None:
            text = self._text(row)
            known = len(text) < _LOOKS_AT and not is_worth_a_line(text, self._names)
            self._short[row] = known
        return known

    def is_empty(self, row: int) -> bool:
        """Whether an utterance is a greeting, thanks, praise or a farewell, and next to nothing else."""
        words = content_words(self._text(row)) - self._names
        return len(words - _COURTESY) <= _NOTHING and (not words or not words.isdisjoint(_COURTESY))

    def says_something(self, row: int) -> bool:
        """Whether a short utterance may matter by itself: it holds a word of the query that is none of courtesy, or a
        fact rests on it."""
        if self._facts.is_source(int(self._view.snapshot.seqs[row])):
            return True
        return not self._query.isdisjoint(search_terms(self._text(row)))

    def _is_seen(self, row: int) -> bool:
        return self._view.allowed is None or bool(self._view.allowed.item(row))

    def _text(self, row: int) -> str:
        return self._view.snapshot.text(row)


def completing(view: View, rows: Iterable[int]) -> tuple[int, ...]:
    """What else must be known to complete the exchanges of these rows."""
    exchanges = Exchanges(view)
    return tuple(dict.fromkeys(other for row in rows for other in exchanges.of(row)))


def is_worth_a_line(part: str, names: Set[str]) -> bool:
    """Whether a part of an utterance says enough: it has more than four content words; names and words of courtesy do
    not count."""
    return has_content_words(part, _SHORT + 1, names, _COURTESY)


def open_page(view: View) -> tuple[int, ...]:
    """The rows of the newest page of the query's own thread, while no agent's answer has joined it."""
    snapshot, thread = view.snapshot, view.query.thread
    number = None if thread is None else snapshot.thread_number(thread)
    if number is None:
        return ()
    seen = view.candidates & ~snapshot.is_passage(view.n) & (snapshot.thread_of(view.n) == number)
    if not seen.any():
        return ()
    newest = view.n - 1 - int(seen[::-1].argmax())
    rows = snapshot.page_rows(int(snapshot.page_of(view.n)[newest]))
    return () if any(snapshot.utterances[row].role.agent_side for row in rows) else rows


def says_nothing(text: str) -> bool:
    """Whether a text asks nothing and is made of words of courtesy alone, or of none."""
    return not asks(text.rstrip()) and not content_words(text) - _COURTESY


def ends_in_question(text: str) -> bool:
    """Whether the last sentence of a text is a question; what stands in brackets after it does not count."""
    return _end_of_question(text) > 0


def statement_of(text: str) -> str:
    """A text without the questions that it ends in; empty, if it is nothing else."""
    end = _end_of_question(text)
    if end == 0:
        return text.rstrip()
    kept = end
    for start, stop in reversed(sentences(text[:end])):
        if not asks(text[start:stop]):
            break
        kept = start
    return text[:kept].rstrip()


def _end_of_question(text: str) -> int:
    """Where the question that a text ends in has its end; 0 if it ends in none."""
    begin = max(0, len(text) - _LOOKS_AT)
    last = max([text.rfind(mark, begin) for mark in _MARKS])
    return last + 1 if last >= 0 and _REST.fullmatch(text, last + 1) is not None else 0
