"""Plans the evidence of a question that one utterance does not answer, without a model.

- Sides: "Which came first, the fair or the exam?" and "Is A cheaper than B?" need what was said of each. Each side is
  scored alone too, and the evidence is shared out between them.
- Persons: "What have Ana and Ben both read?" needs what each of them said.
- Around an event: "since I moved", "before the wedding". The event is found like any other question, or read as a date;
  what was said on the right side of its time counts more.
- First and last: of what matches, the oldest or the newest.
- Advice: preferences of the question's theme (preferences.py).
- Running talk: a long request in the first person goes on with something; what was said lately counts more.

Each adds a channel to the scores; none excludes an utterance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from embermem.index.fusion import Fused, fuse
from embermem.index.query_context import Query, View
from embermem.index.said import micros
from embermem.languages.dates.engine import date_spans
from embermem.languages.questions import (
    asks_for_first,
    asks_for_last,
    asks_for_order,
    asks_for_several,
    asks_of_oneself,
    asks_of_the_past,
    asks_to_compare,
    happened_after,
    happened_before,
    happened_between,
    parts_asked,
)
from embermem.languages.words import content_words, is_beginning, search_terms
from embermem.memoryos.recall.preferences import preferences
from embermem.prompts.rendering import day, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["needs_several", "planned", "searched_alone"]

_REQUEST = 8
"""Content words of a query from which it is a request rather than a question."""
_MOST_SIDES = 4
"""Sides that are looked at: each costs a search."""
_OTHER_PERSON = 1.5
"""What a row of another person loses for the side of one: as much as the speaker's channel gives (recall_speaker)."""
_MATCHES = 3.0
"""How far below the best score a row still matches, for the first or the last of what does (ours)."""
_MATCHING = 12
"""How many rows are ordered by time for that, at most (ours)."""
_SOON_DAYS = 14.0
"""Days after which what happened "after" an event counts half as much (ours)."""
_SOON_LINES = 4.0
"""The same in lines of the thread in which the event was told (ours)."""
_LIKELY = 0.1
"""The probability of holding the evidence from which an utterance tells when an event was (ours)."""
_DAY = 86_400e6
"""Microseconds."""


def needs_several(query: str) -> bool:
    """Whether the evidence of a question is likely to stand in several places, by what it asks for."""
    return asks_for_several(query) or asks_for_order(query) or asks_to_compare(query)


def searched_alone(query: str) -> tuple[str, ...]:
    """The parts of a question that are searched for alone: its sides, the events that it names."""
    if asks_for_order(query) or asks_to_compare(query):
        return _parts(query)
    events = happened_between(query) or (happened_after(query), happened_before(query))
    return tuple(event for event in events if event is not None)


def _parts(query: str) -> tuple[str, ...]:
    """The things that a question names beside each other, without what leads to them; none, if there are too many."""
    parts = parts_asked(query)
    parts = parts[1:] if len(parts) > 2 else parts
    return parts if 2 <= len(parts) <= _MOST_SIDES else ()


class Step(NamedTuple):
    """What one step of a plan adds to each row (n,), and what a reader of the context is told of it."""

    said: Floats
    note: str


def planned(view: View, fused: Fused) -> tuple[Fused, tuple[str, ...]]:
    """The scores with what the plan of the question adds, and a note for each of its steps; the same scores, and no
    note, for a question of one step."""
    settings, notes = view.settings, []
    if view.asks_days_alone:
        return fused, ("asks for days alone: what was on them, in the order of time",)
    plans: tuple[tuple[str, float, Callable[[View, Floats], Step | None]], ...] = (
        ("preference", settings.recall_preference, _preferences),
        ("sides", 1.0, _sides),
        ("around", settings.recall_around, _around),
        ("extreme", settings.recall_extreme, _extreme),
        ("lately", settings.recall_lately, _lately),
    )
    for name, weight, plan in plans:
        if weight and (step := plan(view, fused.scores)) is not None:
            fused = fused.plus(name, weight, step.said)
            notes.append(step.note)
    return fused, tuple(notes)


def _preferences(view: View, scores: Floats) -> Step | None:
    said = preferences(view, scores)
    return None if said is None else Step(said, "preferences, limits and wishes of the query's theme count more")


def _lately(view: View, _: Floats) -> Step | None:
    """ln(1 + threads begun since), below 0; None for a question, and for what asks about the past: age says nothing
    about what is true of it."""
    text = view.query.text
    if len(content_words(text)) < _REQUEST or not asks_of_oneself(text) or asks_of_the_past(text) or view.n == 0:
        return None
    threads = view.snapshot.thread_of(view.n).astype(np.float64)
    return Step(-np.log1p(threads.max() - threads), "a long request: what was said lately counts more")


# ------------------------------------------------------------------------------------------------- side by side


def _sides(view: View, scores: Floats) -> Step | None:
    """What is added to each row so that every side has its share of the evidence; None for a question of one side.

    exp(score) over the sum of all is the probability that a row holds the evidence. With k sides it becomes the mixture
    of that probability, with the weight 1 - λ, and of those by the sides alone, with λ / k each.
    """
    text, share = view.query.text, view.settings.recall_sides
    if share == 0.0:
        return None
    if not (asks_for_order(text) or asks_to_compare(text)):
        return None
    sides = _of_persons(view, scores) or _of_parts(view, scores)
    seen = np.isfinite(scores)
    if len(sides) < 2 or not seen.any():
        return None
    whole = float(np.logaddexp.reduce(scores[seen]))
    mixed = scores[seen] - whole + np.log1p(-share)
    for one in sides.values():
        mixed = np.logaddexp(mixed, one[seen] - np.logaddexp.reduce(one[seen]) + np.log(share / len(sides)))
    added = np.zeros(view.n)
    added[seen] = mixed + whole - scores[seen]
    return Step(added, f"searched for each by itself: {'; '.join(map(one_line, sides))}")


def _of_parts(view: View, scores: Floats) -> dict[str, Floats]:
    """The scores of each thing that the question names beside others: by the whole query and by its own words."""
    parts = [part for part in _parts(view.query.text) if set(search_terms(part)) - view.names]
    if len(parts) < 2:
        return {}
    alone = view.settings.recall_side_alone
    return {part: (1.0 - alone) * scores + alone * _of(view, part) for part in parts}


def _of_persons(view: View, scores: Floats) -> dict[str, Floats]:
    """The scores for each of several persons who spoke and whom the question names: those of the others lose."""
    asked = {term for term in view.terms if not is_beginning(term)}
    spoke = view.snapshot.speaker_of(view.n)
    names = view.snapshot.speakers()
    named = [
        one
        for one in np.unique(spoke[view.candidates]).tolist()
        if asked & set(search_terms(names[one], view.vocabularies))
    ]
    if not 2 <= len(named) <= _MOST_SIDES:
        return {}
    others = np.isin(spoke, named)
    return {names[one]: scores - _OTHER_PERSON * (others & (spoke != one)) for one in named}


# ------------------------------------------------------------------------------------------------------- in time


def _around(view: View, _: Floats) -> Step | None:
    """How well each row lies on the side of an event in time that the question names, in [0, 1]."""
    text = view.query.text
    if asks_for_order(text):
        return None
    between, after, before = happened_between(text), happened_after(text), happened_before(text)
    if between is not None:
        after, before = between
    begin = None if after is None else _found(view, after)
    end = None if before is None else _found(view, before, whole=between is not None)
    if begin is None and end is None:
        return None
    said = view.snapshot.said_at(view.n)
    inside = np.ones(view.n)
    if begin is not None:
        inside[said < micros(begin.at)] = 0.0
    if end is not None:
        inside[said > micros(end.at)] = 0.0
    for event in (begin, end) if between is None else ():
        if event is not None:
            inside *= _soon(view, event)
    return Step(inside, f"what was said {_told(after, begin, 'after')}{_told(before, end, ' before')} counts more")


def _told(name: str | None, event: _Event | None, when: str) -> str:
    return "" if name is None or event is None else f'{when} "{one_line(name)}" ({day(event.at)})'


def _soon(view: View, event: _Event) -> Floats:
    """How soon before or after an event each row was said, from 1 to a third: by days, and by lines of its thread."""
    days = np.abs(view.snapshot.said_at(view.n) - micros(event.at)) / _DAY
    near = 1.0 + np.exp(-days / _SOON_DAYS)
    if event.row is not None:
        threads = view.snapshot.thread_of(view.n)
        lines = np.where(threads == threads[event.row], np.abs(np.arange(view.n) - event.row), np.inf)
        near += np.exp(-lines / _SOON_LINES)
    return np.asarray(near / 3.0)


class _Event(NamedTuple):
    """When something was, and the row that tells it; None for a date."""

    at: datetime
    row: int | None


def _found(view: View, event: str, *, whole: bool = False) -> _Event | None:
    """An event that the query names: by a day in it, or when the best evidence for it was said. Days begin what came
    after them; `whole`: they end it."""
    now = view.now
    if now is not None and (spans := date_spans(event, now)):
        day = spans[0].last if whole else spans[0].first
        return _Event(datetime.combine(day, time.max if whole else time.min, now.tzinfo), None)
    if not set(search_terms(event)) - view.names:
        return None
    scores = _of(view, event)
    if not np.isfinite(scores).any():
        return None
    best = int(np.argmax(scores))
    if scores[best] < np.logaddexp.reduce(scores) + np.log(_LIKELY):
        return None
    return _Event(view.snapshot.utterances[best].said_at, best)


def _extreme(view: View, scores: Floats) -> Step | None:
    """How early, or how late, each of the rows that match was said among them, from 1 to 0."""
    text = view.query.text
    first, last = asks_for_first(text), asks_for_last(text)
    if first == last or asks_for_order(text):
        return None
    best = np.argsort(-scores, kind="stable")[:_MATCHING]
    best = best[scores[best] >= scores[best[0]] - _MATCHES] if len(best) else best
    if len(best) < 2:
        return None
    said = view.snapshot.said_at(view.n)[best]
    order = np.argsort(said if first else -said, kind="stable")
    found = np.zeros(view.n)
    found[best[order]] = 1.0 - np.arange(len(best)) / len(best)
    return Step(found, f"of what matches, the {'oldest' if first else 'newest'} counts more")


# ----------------------------------------------------------------------------------------------- one part alone


def _of(view: View, part: str) -> Floats:
    """Every row's score for a part of the query alone, by its words and their vectors."""
    return fuse(View(view.snapshot, _only(view.query, part), view.settings)).scores


def _only(query: Query, part: str) -> Query:
    """The query for a part of its text, with the part's own vectors, if it has them."""
    vector, tokens = query.parts.get(part, (None, None))
    return replace(query, text=part, before=(), vector=vector, tokens=tokens, keywords=frozenset())
