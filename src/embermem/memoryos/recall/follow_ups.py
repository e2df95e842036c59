"""Follow-ups: a query that rests on the last turns of its thread is read together with them.

"And her sister?" after "Where does Ana work?" means nothing by itself. What was said before is added to the query: its
words count less than the query's own, and its names only where the query names nobody.
"""

from __future__ import annotations

import re
from dataclasses import replace

from embermem.core.text import visible
from embermem.index.query_context import Query
from embermem.index.snapshot import Snapshot
from embermem.languages.dates.engine import names_days
from embermem.languages.questions import continues, points_back, refers_to_person
from embermem.languages.words import asks, content_words, sentences
from embermem.memoryos.people import People

__all__ = ["read_in_thread"]

_TURNS = 3
"""Questions of the thread that are looked back over: a follow-up may follow a follow-up."""
_CHARS = 240
"""Characters of a turn that are read: a question stands in its last sentences, an answer in its first."""
_FEW = 2
"""Content words below which a query says too little by itself."""


def read_in_thread(query: Query, snapshot: Snapshot, people: People) -> Query:
    """The query with the turns of its thread that it rests on; the same where it stands by itself, or its thread is
    unknown. Reads only."""
    number = None if query.thread is None else snapshot.thread_number(query.thread)
    if number is None:
        return query
    names = any(word[:1] != word[:1].lower() and word in query.text for word in _names_in(query.text, people))
    refers = points_back(query.text) or (not names and refers_to_person(query.text))
    if not (refers or _is_incomplete(query.text)):
        return query
    # "And her sister?" asks for another answer; "how much is it there?" may mean what was answered.
    of_answers = points_back(query.text) or (refers and not continues(query.text))
    rows = (snapshot.thread_of(snapshot.n) == number).nonzero()[0].tolist()
    turns: list[str] = []
    answers: list[str] = []
    read: list[int] = []
    looked_at = 0
    for row in reversed(rows):
        said = snapshot.utterances[row]
        text = visible(snapshot.text(row)).strip()
        if not text or said.passage is not None or text == query.text.strip():
            continue
        if said.role.agent_side:
            if of_answers:
                answers.append(_first(text))
                read.append(said.seq)
            continue
        turns += [_last(text), *answers]
        read += [said.seq] if asks(text) else []
        answers, looked_at = [], looked_at + 1
        # What the user said last is enough, unless it rests on more itself.
        if looked_at == _TURNS or not (_is_incomplete(text) or points_back(text) or refers_to_person(text)):
            break
    turns += answers
    if names:  # they stand in the place of others
        turns = [_without_people(turn, people) for turn in turns]
    return replace(query, before=tuple(turns), read_before=frozenset(read))


def _without_people(turn: str, people: People) -> str:
    """A turn without the names of those whom it names."""
    for word in sorted(_names_in(turn, people), key=len, reverse=True):
        turn = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", " ", turn, flags=re.IGNORECASE)
    return turn


def _names_in(text: str, people: People) -> frozenset[str]:
    """The names and kin words of those whom a text names."""
    return frozenset(word for one in people.named_in(text) for word in people.words_for(one))


def _is_incomplete(query: str) -> bool:
    """Whether a query says too little to be understood by itself."""
    return continues(query) or (asks(query.rstrip()) and len(content_words(query)) < _FEW and not names_days(query))


def _last(text: str) -> str:
    """The end of a turn, from the beginning of a sentence."""
    begin = next((start for start, end in sentences(text) if len(text) - start <= _CHARS), len(text) - _CHARS)
    return text[max(0, begin) :]


def _first(text: str) -> str:
    """The beginning of a turn, to the end of a sentence where there is one."""
    ends = [end for _, end in sentences(text) if end <= _CHARS]
    return text[: ends[-1] if ends else _CHARS]
