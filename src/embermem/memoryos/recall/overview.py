"""An overview: who somebody is and what happened, by time, from what is known of them.

    Ana is a nurse [#4]; lives in Lyon (since May 2026) [#31]; has a dog named Tofu [#12].
    May 2026: Ana moved to Lyon (3 May 2026) [#31]; plans to visit Rome (August 2026) [#33].

First what lasts and still holds, then a line a month; where there is room, what was talked about:

    Talked about: Moving to Lyon (April 2026–May 2026); Training for a marathon (May 2026).

Beside facts, sentences of the summaries of segments are told, in the month in which they were said: `said "I love the
new flat" [#35]`. Where the budget does not hold all that is known, those statements are told that cover the most of
what the person spoke of: their words, each weighed by how often they occur in the talk and how rare they are in it,
once, per token (budgeted maximum coverage: Lin and Bilmes, A class of submodular functions for document summarization,
ACL 2011).
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from embermem.core.attributes import Kind, attributes, is_instruction, kind
from embermem.core.types import Fact, Segment, Source
from embermem.index.dating import falls_on
from embermem.index.query_context import View
from embermem.languages.people import USER, label, told_in
from embermem.languages.questions import asks_for_overview, asks_of_oneself
from embermem.languages.words import content_words, search_terms
from embermem.memoryos.people import People
from embermem.prompts.rendering import one_line
from embermem.protocols import TokenCounter

if TYPE_CHECKING:
    from embermem.languages.dates.engine import DateSpan
    from embermem.languages.language import Language

__all__ = ["Overview", "Subject", "asked_overview", "overview", "topics"]

_LASTING = frozenset({Kind.TASTE, Kind.HABIT, Kind.POSSESSION, Kind.LIFE, Kind.RELATIVE, Kind.HEALTH, Kind.IDENTITY})
"""What is so, rather than happens."""
_WORTH: Mapping[Kind, float] = {
    Kind.TASTE: 0.5,
    Kind.IDENTITY: 1.5,
    Kind.LIFE: 1.5,
    Kind.RELATIVE: 1.5,
    Kind.HEALTH: 1.5,
}
"""How much the words of a fact count by its kind (ours): likes are many, and tell least of a life."""
_SENTENCE_WORTH = 0.7
"""How much the words of a summary's sentence count (ours): from about 1 on they take the place of facts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What an overview is of: these persons, by id (none: everybody); these days (none: any)."""

    people: frozenset[str] = frozenset()
    days: tuple[DateSpan, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    """The lines, the facts that they tell, in order, and the sources of what is told beside these."""

    lines: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    sources: tuple[Source, ...] = ()


def asked_overview(view: View, people: People) -> Subject | None:
    """What a query asks an overview of; None where it asks for something else."""
    text, named = view.query.text, people.named_in(view.query.text)
    for span in reversed(view.asked_days):
        text = f"{text[: span.start]} {text[span.end :]}"
    words = (word for one in named for word in people.words_for(one))
    for word in sorted(words, key=len, reverse=True):
        text = text.lower().replace(word.lower(), " ")
    if not asks_for_overview(text):
        return None
    own = {people.user} if people.user is not None and asks_of_oneself(text) and not named else set[str]()
    return Subject(people=named | own, days=view.asked_days)


def overview(
    view: View,
    people: People,
    subject: Subject,
    counter: TokenCounter,
    budget: int,
    segments: Iterable[Segment] = (),
) -> Overview:
    """What is known of the subject, within `budget` tokens: facts, and sentences of the summaries of these segments."""
    facts = [
        _of_fact(fact, people, view, dated=bool(subject.days))
        for fact in _known(view, people)
        if _is_of(fact, subject, view, people)
    ]
    said = _of_summaries(segments, facts, people, view)
    known = [*facts, *(one for one in said if not subject.days or (one.at and falls_on(subject.days, one.at)))]
    told = _within(known, view, counter, budget)
    while told and counter.count("\n".join(_lines(_in_order(told)))) > budget:
        told.pop()
    told = _in_order(told)
    return Overview(
        lines=tuple(_lines(told)),
        facts=tuple(one.fact for one in told if one.fact is not None),
        sources=tuple(one.source for one in told if one.fact is None and one.source is not None),
    )


def topics(
    segments: Iterable[Segment], subject: Subject, counter: TokenCounter, budget: int
) -> tuple[str, tuple[Segment, ...]]:
    """A line of what was talked about, by title, with the months, and the segments in it: those of most pages, within
    `budget` tokens, in the order of time. Empty for one person, whose pages are not told apart."""
    if subject.people:
        return "", ()
    named = [one for one in segments if one.title and _was_on(one, subject.days)]
    named.sort(key=lambda one: (-len(one.page_ids), one.said_from, one.id))
    chosen: list[Segment] = []
    for one in named:
        if counter.count(_topic_line([*chosen, one])) <= budget:
            chosen.append(one)
    chosen.sort(key=lambda one: (one.said_from, one.id))
    return _topic_line(chosen) if chosen else "", tuple(chosen)


def _topic_line(segments: Sequence[Segment]) -> str:
    language = told_in(segments[0].title)
    said = (f"{one_line(one.title)} ({_months(one)})" for one in segments)
    return language.said_by(language.talked_about, "; ".join(said)) + language.full_stop


def _months(segment: Segment) -> str:
    language = told_in(segment.title)
    first, last = language.month(segment.said_from), language.month(segment.said_to)
    return first if first == last else f"{first}–{last}"


def _was_on(segment: Segment, days: Collection[DateSpan]) -> bool:
    return not days or any(falls_on(days, at) for at in (segment.said_from, segment.said_to))


def _known(view: View, people: People) -> Iterable[Fact]:
    """Facts that hold, and those that held for a time, but for instructions; none that rests only on what may not be
    seen."""
    snapshot = view.snapshot
    ended = [fact for fact in snapshot.ended_facts if fact.valid_to is not None and fact.valid_from != fact.valid_to]
    for fact in (*snapshot.facts.rows, *ended):
        if is_instruction(fact.attribute) or fact.id in view.query.outdated:
            continue
        rows = (snapshot.row(source.seq) for source in fact.sources)
        if not fact.sources or any(row is not None and view.candidates[row] for row in rows):
            yield people.shown(fact)


def _is_of(fact: Fact, subject: Subject, view: View, people: People) -> bool:
    if subject.people and people.of(fact) not in subject.people:
        return False
    at = _time(fact, view)
    return not subject.days or (at is not None and falls_on(subject.days, at))


def _time(fact: Fact, view: View) -> datetime | None:
    """When it was so, or was said."""
    if fact.valid_from is not None or not fact.sources:
        return fact.valid_from
    row = view.snapshot.row(fact.sources[0].seq)
    return None if row is None else view.snapshot.utterances[row].said_at


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    """A statement as a part of a line, without its subject: a fact, or a sentence of a summary."""

    person: str
    name: str
    text: str
    language: Language
    source: Source | None
    at: datetime | None
    month: tuple[int, int] | None
    worth: float
    fact: Fact | None = None

    @property
    def said(self) -> str:
        """The statement with its source."""
        return self.text if self.source is None else f"{self.text} [#{self.source.seq}]"


def _of_fact(fact: Fact, people: People, view: View, *, dated: bool) -> _Told:
    """`dated`: of its month, also where it lasts."""
    language, at = told_in(fact.text), _time(fact, view)
    name, is_of = label(fact.person or fact.subject, language), kind(fact.attribute)
    text = _after(name, one_line(fact.text)) or one_line(fact.text)
    lasts = is_of in _LASTING and fact.valid_to is None and not dated
    return _Told(
        person=people.of(fact),
        name=name,
        text=text + ("" if fact.valid_to is None else language.until(fact.valid_to)),
        language=language,
        source=fact.sources[0] if fact.sources else None,
        at=at,
        month=None if lasts or at is None else (at.year, at.month),
        worth=_WORTH.get(is_of, 1.0),
        fact=fact,
    )


def _of_summaries(segments: Iterable[Segment], facts: Sequence[_Told], people: People, view: View) -> Iterable[_Told]:
    """What the persons of these facts say in summaries whose sentences each have their source, and no fact tells."""
    names = {one.person: one.name for one in facts}
    words: dict[int, frozenset[str]] = {}
    for one in facts:
        for source in () if one.fact is None else one.fact.sources:
            words[source.seq] = words.get(source.seq, frozenset()) | content_words(one.text)
    for segment in segments:
        lines = segment.summary.splitlines()
        if len(lines) != len(segment.sources):
            continue
        for line, source in zip(lines, segment.sources, strict=True):
            row = view.snapshot.row(source.seq)
            if row is None or not view.candidates[row]:
                continue
            utterance, language = view.snapshot.utterances[row], told_in(line)
            person = people.find(utterance.speaker)
            quoted = _after(language.said_by(utterance.speaker, ""), line)
            is_told = content_words(quoted) <= words.get(source.seq, frozenset())
            if person is not None and person in names and not is_told:
                yield _Told(
                    person=person,
                    name=names[person],
                    text=language.quoted(one_line(quoted)),
                    language=language,
                    source=source,
                    at=utterance.said_at,
                    month=(utterance.said_at.year, utterance.said_at.month),
                    worth=_SENTENCE_WORTH,
                )


def _after(beginning: str, text: str) -> str:
    """What stands after the beginning of a text; empty, if it begins otherwise."""
    return text[len(beginning) :].lstrip() if text.startswith(beginning) else ""


def _within(told: Sequence[_Told], view: View, counter: TokenCounter, budget: int) -> list[_Told]:
    """The statements to tell, the best first: those that cover most, while they fit.

    What a statement would cover only shrinks, so that of a heap of older gains, the first that still holds is the best.
    """
    held = [frozenset(search_terms(one.said)) for one in told]
    weights = {term: _weight(term, view) for some in held for term in some}
    costs = [counter.count(f"{one.said}; ") for one in told]
    covered, chosen, heads = set[str](), list[_Told](), set[object]()

    def gain(i: int) -> float:
        return told[i].worth * math.fsum(weights[term] for term in held[i] if term not in covered) / costs[i]

    left = [(-gain(i), i) for i in range(len(told))]
    heapq.heapify(left)
    while left:
        before, best = left[0]
        if (now := -gain(best)) != before:
            heapq.heapreplace(left, (now, best))
            continue
        heapq.heappop(left)
        one = told[best]
        cost = costs[best] + (0 if (one.person, one.month) in heads else _head_cost(one, counter))
        if cost <= budget:
            budget -= cost
            heads.add((one.person, one.month))
            chosen.append(one)
            covered |= held[best]
    return chosen


def _head_cost(one: _Told, counter: TokenCounter) -> int:
    return counter.count(f"{one.name} {'' if one.at is None else one.language.month(one.at)}: .\n")


def _weight(term: str, view: View) -> float:
    """How much a term says of what was talked of. Names of who spoke say nothing."""
    held = len(view.snapshot.words.find(term, view.n)[0])
    return 0.0 if term in view.names else math.log1p(held) * view.snapshot.words.idf(term, view.n)


def _in_order(told: Iterable[_Told]) -> list[_Told]:
    """The user first, then those of whom most is told; of each what lasts, by attribute, then by month."""
    told = list(told)
    order = {name: place for place, name in enumerate(attributes())}
    counts = Counter(one.person for one in told)

    def place(one: _Told) -> tuple[object, ...]:
        first = one.month is None
        return (
            one.person != USER,
            -counts[one.person],
            one.person,
            one.month or (0, 0),
            order.get(one.fact.attribute, len(order)) if first and one.fact is not None else len(order),
            one.at.timestamp() if one.at is not None and not first else 0.0,
        )

    return sorted(told, key=place)


def _lines(told: Sequence[_Told]) -> Iterable[str]:
    """A line for what lasts of each person, and one for each month."""
    for _, group in groupby(told, key=lambda one: (one.person, one.month)):
        parts = list(group)
        first, language = parts[0], parts[0].language
        line = language.of_subject(first.name, "; ".join(one.said for one in parts)) + language.full_stop
        yield line if first.month is None or first.at is None else language.said_by(language.month(first.at), line)
