"""An overview: who somebody is and what happened, by time, from what is known of them.

    Ana is a nurse [#4]; lives in Lyon (since May 2026) [#31]; has a dog named Tofu [#12].
    May 2026: Ana moved to Lyon (3 May 2026) [#31]; plans to visit Rome (August 2026) [#33].

First what lasts and still holds, then a line a month; where there is room, what was talked about:

    Talked about: Moving to Lyon (April 2026–May 2026); Training for a marathon (May 2026).
 Where the budget does not hold all that is known, those
facts are told that cover the most of what the person spoke of: the words of their facts, each weighed by how often they
occur in the talk and how rare they are in it, once, per token (budgeted maximum coverage: Lin and Bilmes, A class of
submodular functions for document summarization, ACL 2011).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from embermem.core.attributes import Kind, attributes, is_instruction, kind
from embermem.core.types import Fact, Segment
from embermem.index.dating import falls_on
from embermem.index.query_context import View
from embermem.languages.people import USER, label, told_in
from embermem.languages.questions import asks_for_overview, asks_of_oneself
from embermem.languages.words import terms
from embermem.memoryos.people import People
from embermem.prompts.rendering import one_line
from embermem.protocols import TokenCounter

if TYPE_CHECKING:
    from embermem.languages.dates.engine import DateSpan

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What an overview is of: these persons, by id (none: everybody); these days (none: any)."""

    people: frozenset[str] = frozenset()
    days: tuple[DateSpan, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    """The lines, and the facts that they tell, in order."""

    lines: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()


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


def overview(view: View, people: People, subject: Subject, counter: TokenCounter, budget: int) -> Overview:
    """What is known of the subject, within `budget` tokens."""
    known = (fact for fact in _known(view, people) if _is_of(fact, subject, view, people))
    told = _within([_Told(fact, people, view, counter, dated=bool(subject.days)) for fact in known], view, budget)
    while told and counter.count("\n".join(_lines(_in_order(told)))) > budget:
        told.pop()
    told = _in_order(told)
    return Overview(lines=tuple(_lines(told)), facts=tuple(one.fact for one in told))


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
        if is_instruction(fact.attribute):
            continue
        rows = (snapshot.row(source.seq) for source in fact.sources)
        if not fact.sources or any(row is not None and row < view.n and view.candidates[row] for row in rows):
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


class _Told:
    """A fact as a part of a line; `dated`: of its month, also where it lasts."""

    def __init__(self, fact: Fact, people: People, view: View, counter: TokenCounter, *, dated: bool) -> None:
        self.fact = fact
        self.person = people.of(fact)
        self.language = told_in(fact.text)
        self.name = label(fact.person or fact.subject, self.language)
        self.kind = kind(fact.attribute)
        self.at = _time(fact, view)
        text = one_line(fact.text)
        about = text.startswith(self.name)
        self.text = text[len(self.name) :].lstrip() if about else text
        self.text += "" if fact.valid_to is None else self.language.until(fact.valid_to)
        self.text += f" [#{fact.sources[0].seq}]" if fact.sources else ""
        self.terms = frozenset(terms(self.text))
        self.cost = counter.count(f"{self.text}; ")
        self.head_cost = counter.count(f"{self.name} {'' if self.at is None else self.language.month(self.at)}: .\n")

        lasts = self.kind in _LASTING and fact.valid_to is None and not dated
        self.month = None if lasts or self.at is None else (self.at.year, self.at.month)


def _within(facts: Sequence[_Told], view: View, budget: int) -> list[_Told]:
    """The facts to tell, the best first: those that cover most, while they fit."""
    weights = {term: _weight(term, view) for one in facts for term in one.terms}
    left, covered, chosen, heads = list(facts), set[str](), list[_Told](), set[object]()
    while left:
        best = max(left, key=lambda one: _gain(one, covered, weights))
        left.remove(best)
        head = (best.person, best.month)
        cost = best.cost + (0 if head in heads else best.head_cost)
        if cost <= budget:
            budget -= cost
            heads.add(head)
            chosen.append(best)
            covered |= best.terms
    return chosen


def _weight(term: str, view: View) -> float:
    """How much a term says of what was talked of. Names of who spoke say nothing."""
    held = len(view.snapshot.words.find(term, view.n)[0])
    return 0.0 if term in view.names else math.log1p(held) * view.snapshot.words.idf(term, view.n)


def _gain(one: _Told, covered: Collection[str], weights: Mapping[str, float]) -> float:
    fresh = math.fsum(weights[term] for term in one.terms if term not in covered)
    return _WORTH.get(one.kind, 1.0) * fresh / one.cost


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
            order[one.fact.attribute] if first and one.fact.attribute in order else len(order),
            one.at.timestamp() if one.at is not None and not first else 0.0,
        )

    return sorted(told, key=place)


def _lines(told: Sequence[_Told]) -> Iterable[str]:
    """A line for what lasts of each person, and one for each month."""
    for _, group in groupby(told, key=lambda one: (one.person, one.month)):
        parts = list(group)
        first, language = parts[0], parts[0].language
        line = language.of_subject(first.name, "; ".join(one.text for one in parts)) + language.full_stop
        yield line if first.month is None or first.at is None else language.said_by(language.month(first.at), line)
