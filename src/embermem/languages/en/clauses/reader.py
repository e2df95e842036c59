"""Statements in clauses: what somebody did, does, plans, has, likes and feels, where it is worth noting.

The rules of `facts` come first; a clause is read here where none of them has read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import pairwise
from typing import NamedTuple

from embermem.core.patterns import regex
from embermem.languages.dates.engine import DateSpan
from embermem.languages.en.clauses import frames, worth
from embermem.languages.en.clauses.clause import Clause, Tense, clauses
from embermem.languages.en.clauses.judged import judgement
from embermem.languages.en.clauses.nouns import Stated, about_things
from embermem.languages.en.clauses.plans import is_given_up, over, wished
from embermem.languages.en.clauses.predicates import Predicate, predicate
from embermem.languages.en.clauses.times import label_of, timed
from embermem.languages.en.clauses.tokens import Token, low, tokens
from embermem.languages.en.clauses.told import told, undetermined
from embermem.languages.en.clauses.values import MOST_WORDS, complement, content
from embermem.languages.en.clauses.words import CUTS, FUNCTION, LEAD_OUT, PREPOSITIONS
from embermem.languages.facts.finding import USER, Finding, When

_SIGNS = regex(
    r"\b(?:i|i'\w+|im|ive|we|we'\w+|my|our|me|us|let's|please|dream|goal)\b"
    r"|^\W*(?:\w+,? )?(?:\w+ing|\w+ed|need|want|hope|gotta|wanna|still|just|went|took|got|made|had|bought|lost|won|met"
    r"|found|began|built|gonna|been|the)\b",
    re.IGNORECASE,
)
"""A sentence without any of these has no clause to read."""
_DOUBTED = frozenset(("?", "if", "unless", "\ue000"))
"""What ends a clause that states nothing."""
_OBJECTS_TOO = frozenset("how what where why whether who which if that you it he she they \ue000".split())
"""Words before which a clause ends, and with which an object of its last verb may begin."""
_DATED = frozenset(("did", "plans", "would_like_to", "does", "feels"))
_HAPPENED = (Tense.PAST, Tense.PERFECT, Tense.PASSIVE, Tense.WAS, Tense.PAST_PROGRESSIVE)
_TO_COME = (Tense.FUTURE, Tense.WISH, Tense.PROGRESSIVE)
_WISHES = frozenset(("plans", "would_like_to"))
_USUAL = frozenset(("usually", "always", "often", "never", "typically", "normally"))
_BEFORE_TIME = frozenset(
    """in on at during over for this the from back just around about early late , of starting""".split()
)
_RELATED_TO = frozenset("since until before after by from".split())
"""Words before a time that is not when it was."""
_STARTING = frozenset("starting beginning effective from".split())
_OF_ARRANGED = _STARTING | frozenset("by until before".split())
"""Words before a time to come of what is done already: "negotiated a cut starting 1 July 2026"."""
_ELSEWHERE = frozenset("and but so because when while although though which who where".split())
"""Words between a time and a clause that it is not the time of."""
_FOR = "for"
"""What relates an arrangement to its time: "booked a room for 5 May 2023"."""


_SPEAKER = frozenset(("me", "us", "my", "our"))
_PARTS_OF_DAY = frozenset("morning afternoon arvo evening night".split())
_DAY_OF_SPEECH = frozenset("yesterday tomorrow tonight today".split())
_SHIFTS = frozenset("last this next".split())
_UNITS = _PARTS_OF_DAY | frozenset("week weekend month year summer winter spring fall".split())


class Reading(NamedTuple):
    """A statement and what it is worth."""

    finding: Finding
    score: float


class _Time(NamedTuple):
    """When it was or will be, what relates to that ("since"), and the tokens of the complement without it."""

    span: DateSpan | None
    relation: str
    kept: list[Token]
    is_of_arranged: bool = False
    """Whether it is to come, of what has happened already."""


def readings(
    sentence: str, offset: int, said_at: datetime, taken: Sequence[tuple[int, int]] = (), following: str = ""
) -> Iterator[Reading]:
    """The statements of a sentence that stands at `offset`; none in a clause that begins where one of `taken` does.
    `following`: the text after the sentence, which may judge what it tells."""
    if _SIGNS.search(sentence) is None:
        return
    sentence = sentence.replace("*", " ")  # emphasis
    parts = tokens(sentence)
    within = [(start - offset, end - offset) for start, end in taken]
    for one in _read_all(sentence, parts, said_at, within, following):
        finding = one.finding
        yield Reading(replace(finding, start=finding.start + offset, end=finding.end + offset), one.score)


def _read_all(
    sentence: str, parts: list[Token], said_at: datetime, taken: Sequence[tuple[int, int]], following: str
) -> Iterator[Reading]:
    for finding, score in wished(sentence, parts):
        yield Reading(finding, score)
    found = clauses(parts)
    thing = about_things(parts)
    if thing is not None and not _is_taken(parts[thing.start], taken) and (one := _of_thing(parts, thing)) is not None:
        yield one
        found = [clause for clause in found if clause.start >= thing.end]
    spans = timed(sentence, said_at) if found else ()
    for clause in found:
        if not _is_stated(sentence, parts, clause):
            continue
        for finding in over(parts, clause):
            yield Reading(finding, 0.0)
        if _is_taken(parts[clause.start], taken) or is_given_up(parts, clause):
            continue
        if (one := _read(parts, clause, spans, said_at)) is not None:
            yield _with_judgement(one, sentence, parts, clause, following)


def _with_judgement(one: Reading, sentence: str, parts: Sequence[Token], clause: Clause, following: str) -> Reading:
    """What happened, with how it was found: "went to a fair. It was so inspiring!"."""
    if one.finding.attribute != "did" or clause.tense is not Tense.PAST or clause.negative:
        return one
    if clause.subject != USER or any(low(parts, k) in ("find", "found", "it") for k in range(clause.at, clause.end)):
        return one
    rest = sentence[parts[clause.end - 1].end :]
    found = judgement(f"{rest.rstrip()} {following}" if clause.end == len(parts) or not rest[1:].strip() else rest)
    if not found:
        return one
    return Reading(replace(one.finding, value=f"{one.finding.value} and {found}"), one.score + 0.3)


def _is_taken(token: Token, taken: Sequence[tuple[int, int]]) -> bool:
    return any(start <= token.start < end for start, end in taken)


def _is_stated(sentence: str, parts: Sequence[Token], clause: Clause) -> bool:
    """Whether nothing before the clause makes it a condition, and nothing is hidden there."""
    happened = clause.tense in (Tense.PAST, Tense.PASSIVE)
    before, clause_start = parts[clause.lead : clause.start], parts[clause.start].start
    conditions = (token.low for token in before if token.low in LEAD_OUT)
    if any(not (happened and word in ("when", "before")) for word in conditions):
        return False
    near = [t.low for t in parts[max(0, clause.start - 4) : clause.start]]
    if not happened and "once" in near:
        return False
    return "\ue000" not in sentence[:clause_start]


def _of_thing(parts: list[Token], thing: Stated) -> Reading | None:
    most = MOST_WORDS - (thing.at - thing.start) - 1
    kept = complement(parts, thing.at + 1, thing.end, most, is_open=thing.stopped in _OBJECTS_TOO)
    if kept is None or thing.end - kept[1] > 1 or _is_relative_time(parts[thing.start : thing.end]):
        return None
    score = worth.of_thing(parts[thing.start : thing.at], parts[kept[0] : kept[1]])
    if score is None:
        return None
    opening = parts[thing.start]
    value = told(parts, thing.start, kept[1])
    if opening.text.istitle() and (opening.low in FUNCTION or opening.low.endswith(("ing", "s"))):
        value = value[:1].lower() + value[1:]
    finding = Finding(subject=USER, attribute="says", value=value, start=opening.start, end=parts[kept[1] - 1].end)
    return Reading(finding, score)


def _is_passing(parts: Sequence[Token], clause: Clause) -> bool:
    """ "I'm not keen on it right now"."""
    said = [t.low for t in parts[clause.start : clause.end + 2]]
    return any(pair in (("right", "now"), ("the", "moment")) for pair in pairwise(said))


def _is_relative_time(words: Sequence[Token]) -> bool:
    """Whether a time is told by the day of speech: "last week", "tomorrow"."""
    if any(t.low in _DAY_OF_SPEECH for t in words):
        return True
    return any(t.low in _SHIFTS and low(words, k + 1) in _UNITS for k, t in enumerate(words))


def _read(parts: list[Token], clause: Clause, spans: Sequence[DateSpan], said_at: datetime) -> Reading | None:
    found = predicate(parts, clause)
    if found is None or clause.stopped in _DOUBTED or (clause.stopped == "but" and clause.verb in frames.TO_INFINITIVE):
        return None
    told_time = _time(parts, clause, found.start, spans, said_at.date())
    if not told_time.is_of_arranged:
        found = _planned(found, clause, told_time.span, said_at.date())
    if found is None or _is_over(found.attribute, told_time.span, said_at.date()):
        return None
    most = MOST_WORDS - found.head.count(" ") - (2 if told_time.span is not None else 0)
    of_relative = clause.subject != USER
    is_open = clause.stopped in _OBJECTS_TOO
    limits = complement(told_time.kept, 0, len(told_time.kept), most, of_relative=of_relative, is_open=is_open)
    if limits is None:
        return None
    kept = told_time.kept[: limits[1]]
    if _is_relative_time(kept):
        return None
    if found.attribute == "feels" and _is_passing(parts, clause):
        return None
    if " " in clause.subject and any(t.low in _SPEAKER for t in kept):  # "Ana called them": whom?
        return None
    value = _value(parts, clause, found, kept)
    score = _score(clause, found, told_time.span, kept, said_at.date())
    if value is None or score is None:
        return None
    when, until, suffix = _dates(found.attribute, told_time, said_at)
    start, end = parts[clause.start].start, kept[-1].end
    return Reading(
        Finding(
            subject=clause.subject,
            attribute=found.attribute,
            value=value + suffix,
            start=start,
            end=end,
            when=when,
            until=until,
        ),
        score,
    )


def _time(parts: Sequence[Token], clause: Clause, start: int, spans: Sequence[DateSpan], said: date) -> _Time:
    """The time named in a clause or before it, taken out of the complement, which begins at `start`."""
    kept = [t for k, t in enumerate(parts[start : clause.end], start) if not _points(parts, k)]
    lead, begin, end = parts[clause.lead].start, _lead_start(parts, clause), parts[clause.end - 1].end
    near = [one for one in spans if lead <= one.start < end]
    # What happened goes on in the time of the clause before: "it crashed last week and I lost my work".
    goes_on = clause.tense in _HAPPENED
    span = next((one for one in near if one.start >= begin or (goes_on and one.first <= said)), None)
    if span is None or _USUAL & set(clause.adverbs):
        return _Time(None, "", kept)
    span = _of_year(span, clause, said)
    before = next((token.low for token in reversed(parts) if token.end <= span.start), "")
    is_done = clause.tense in _HAPPENED and span.first > said
    is_arranged = is_done and (clause.verb in frames.ARRANGING or before in _OF_ARRANGED)
    if is_arranged:
        relation = _FOR if clause.verb in frames.ARRANGING else before
    else:
        relation = before if before in _RELATED_TO else ""
    if not kept or not kept[0].start <= span.start < kept[-1].end:
        return _Time(span, relation, kept, is_arranged)
    left = [t for t in kept if t.end <= span.start]
    if before in _RELATED_TO:
        left.pop()
    while left and left[-1].low in _BEFORE_TIME:
        left.pop()
    right = [t for t in kept if t.start >= span.end]
    if right and right[0].low in _PARTS_OF_DAY:
        right.pop(0)
    return _Time(span, relation, left + right, is_arranged)


def _lead_start(parts: Sequence[Token], clause: Clause) -> int:
    """Where the words begin that lead up to the clause and are of no other: behind the last conjunction."""
    joints = [k for k in range(clause.lead, clause.start) if parts[k].low in _ELSEWHERE]
    return parts[joints[-1] if joints else clause.lead].start


def _points(parts: Sequence[Token], k: int) -> bool:
    """Whether a "here" stands there that the clause does without: "began volunteering here after …"."""
    return parts[k].low == "here" and low(parts, k - 1) not in PREPOSITIONS and low(parts, k + 1) in CUTS


def _of_year(span: DateSpan, clause: Clause, said: date) -> DateSpan:
    """A date without a year in the year that the tense asks for: "in March" of what happened was the last one."""
    if clause.tense in _HAPPENED:
        return span.on_side(1 if clause.verb in frames.ARRANGING else -1, said)
    return span.on_side(1, said) if clause.tense in _TO_COME else span


def _planned(found: Predicate, clause: Clause, span: DateSpan | None, said: date) -> Predicate | None:
    """A progressive or present with a time to come tells a plan; what has happened has no such time."""
    if span is None:
        return found
    if found.attribute == "did" and span.first > said:
        return None
    is_present = clause.tense in (Tense.PROGRESSIVE, Tense.PRESENT) and not clause.negative
    to_come = span.first > said or (clause.tense is Tense.PROGRESSIVE and span.last > said)
    if found.attribute == "does" and is_present and to_come and clause.verb in frames.ARRANGED:
        return found._replace(attribute="plans", head=clause.verb)
    return found


def _is_over(attribute: str, span: DateSpan | None, said: date) -> bool:
    """Whether a wish names a time that is past, or what is so only today is told as a state."""
    return attribute in _WISHES and span is not None and span.last < said


def _value(parts: Sequence[Token], clause: Clause, found: Predicate, kept: Sequence[Token]) -> str | None:
    if kept[0].low in ("this", "that", "these", "those"):
        word = undetermined(kept, 0)
        if word is None:
            return None
        is_opinion = found.attribute == "feels" and kept[0].low == "that"
        word = "that" if is_opinion else "the" if found.attribute in _WISHES else word
        rest = f"{word} {told(kept, 1, len(kept))}"
    else:
        is_present = clause.tense is Tense.PRESENT and found.attribute == "does"
        rest = told(kept, 0, len(kept), inflected=is_present and not clause.negative and found.head != "needs")
    head = f"{found.head}{'' if rest.startswith(',') else ' '}"
    return f"{head}{rest} {_companions(parts, clause, kept)}".strip()


def _companions(parts: Sequence[Token], clause: Clause, kept: Sequence[Token]) -> str:
    start, end = clause.companions
    if end <= start or any(t.low == "with" for t in kept):
        return ""
    who = told(parts, start, end)
    return f"with {who[:1].lower()}{who[1:]}"


def _score(clause: Clause, found: Predicate, span: DateSpan | None, kept: Sequence[Token], said: date) -> float | None:
    today = span is not None and span.first == span.last == said
    if today and low((*kept,), 0) and found.head.split(" ")[0] in ("needs", "cannot", "does"):
        return None
    if found.head.startswith("needs") and len(content(kept)) < 2:
        return None
    passing = today and found.attribute not in ("did", "plans")
    return worth.score(
        clause,
        found.attribute,
        found.weight - passing,
        kept,
        span is not None and (not today or found.attribute == "did"),
    )


def _dates(attribute: str, told_time: _Time, said_at: datetime) -> tuple[When | None, datetime | None, str]:
    """When it was, until when it is planned, and what is said of the time in the value itself ("since May 2023")."""
    span = told_time.span
    if span is None or attribute not in _DATED or (attribute == "feels" and span.first > said_at.date()):
        return None, None, ""
    is_to_come = attribute in _WISHES or span.first > said_at.date()
    until = span.is_over(said_at) if is_to_come else None
    if told_time.relation:
        until = None if told_time.is_of_arranged and told_time.relation in _STARTING else until
        return None, until, f" {told_time.relation} {label_of(span)}"
    return When(span.begins(said_at), label_of(span), span.end), until, ""
