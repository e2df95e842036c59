"""One reader of statements for the languages of Europe but English, driven by each language's `Grammar`.

A text is cut into sentences and clauses. A clause is read if it says how things are (no question, condition, report,
doubt or dream), and if its subject is the speaker or a relative; what it states is the first frame that understands it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple

from embermem.core.text import fold
from embermem.languages.dates.engine import DateSpan, date_spans
from embermem.languages.facts.clause_values import Phrases, Read
from embermem.languages.facts.finding import USER, Finding, When
from embermem.languages.facts.rules import implied
from embermem.languages.kinship import Kin
from embermem.languages.words import sentences

__all__ = ["Frame", "Grammar", "statements"]

_HIDDEN: Final = "\ue000"
_LONGEST: Final = 400
"""Characters of a sentence that is read: longer ones are documents."""
_TIMED: Final = frozenset(
    "did lives_in works_as works_at works_in studies studies_at graduated_from has_pet owns marital_status"
    " has_condition visited learns diet gives_up drives hobby plays allergic_to".split()
)
"""Attributes whose statements keep the time that they name."""
_DATES: Final = frozenset({"birthday", "birth_year"})
"""Attributes whose value is a date."""
_LISTS: Final = frozenset({"allergic_to"})
"""Attributes of which a clause may name several."""
_BESIDES: Final = frozenset(
    {
        ("birthday", "birth_year"),
        ("birthday", "born_in"),
        ("birth_year", "born_in"),
        ("works_as", "works_at"),
        ("studies", "studies_at"),
    }
)
"""What a clause may tell beside its first attribute: "I'm a nurse at St Mary's"."""
_AHEAD: Final = frozenset({"plans", "would_like_to", "wants_to", "prepares_for", "saves_for"})


@dataclass(frozen=True, slots=True)
class Frame:
    """A statement of `attribute`: how it begins, and how its value is read. `prefix` stands before the value: the verb
    in the third person."""

    attribute: str
    pattern: re.Pattern[str]
    read: Read
    retracts: bool = False
    prefix: Callable[[re.Match[str]], str] | None = None
    needs_date: bool = False
    """Whether it says so only beside a date to come: "I'm going to the sea on Sunday"."""


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """How a language states facts."""

    phrases: Phrases
    frames: tuple[Frame, ...]
    """Of the speaker; the first that understands a clause has it. What ends stands before what holds."""
    of_kin: tuple[Frame, ...]
    """Of a relative, from the verb on."""
    cut: re.Pattern[str]
    """What stands between two clauses."""
    joins: re.Pattern[str]
    """Between two verbs of one subject within such a clause ("and comes", "where"): a date on one side is not a time of
    what the other side states. Not between two objects ("and a car")."""
    unreal_sentence: re.Pattern[str]
    """A sentence that holds this says nothing of how things are."""
    unreal: re.Pattern[str]
    """From a clause that holds this on, neither does the rest of the sentence."""
    doubtful: re.Pattern[str]
    """Neither does a clause that holds this."""
    blocked: re.Pattern[str]
    """What stands before a statement that makes it none: "that", "if", "not"."""
    withdrawn: re.Pattern[str]
    """A sentence that takes back the one before: "just kidding"."""
    tag: re.Pattern[str]
    """A question that asks whether what was said is so: "right?"."""
    kin_words: Mapping[str, Kin]
    kin_forms: Mapping[str, str]
    """Other forms of these words, folded: "Kollegen" of "Kollege"."""
    kin: re.Pattern[str]
    """A relative of the speaker: "my sister Ana", with the groups `kin` and `who`."""
    subject_open: re.Pattern[str]
    """What may stand before the subject of a clause."""
    and_me: re.Pattern[str]
    """What follows a relative who does something with the speaker: "and I"; `we` is read in place of both."""
    we: str
    elided: re.Pattern[str]
    """A clause that begins so leaves its speaker out ("and play the piano"): it is read with `speaker` before it."""
    speaker: str
    pronoun: re.Pattern[str]
    """A pronoun of the third person at the beginning of a clause, with the groups `she` and `he`."""
    no_names: frozenset[str]
    """Capitalised words that are no names."""
    label: Callable[[date, str], str]
    """The first day, and "day", "week", "month" or "year", in words."""
    list_cut: re.Pattern[str]
    """What parts the items of a list."""
    between: re.Pattern[str]
    """What leads to a date, and goes with it."""
    of_agent: tuple[tuple[str, re.Pattern[str]], ...] = ()


class _Clause(NamedTuple):
    text: str
    start: int


def statements(grammar: Grammar, text: str, said_at: datetime) -> Iterator[Finding]:
    """The statements of a screened text about its speaker and the speaker's relatives, in order."""
    spans = sentences(text)
    for at, (start, end) in enumerate(spans):
        sentence = text[start:end]
        after = text[slice(*spans[at + 1])] if at + 1 < len(spans) else ""
        if len(sentence) > _LONGEST or _HIDDEN in sentence or grammar.withdrawn.match(after):
            continue
        if grammar.unreal_sentence.search(sentence):
            continue
        yield from _sentence(grammar, sentence, start, said_at)


def _sentence(grammar: Grammar, sentence: str, offset: int, said_at: datetime) -> Iterator[Finding]:
    subject = ""
    for clause in _clauses(grammar, sentence):
        if grammar.unreal.search(clause.text):
            return
        if grammar.doubtful.search(clause.text):
            subject = ""
            continue
        told, found = _clause(grammar, clause.text, subject, said_at)
        subject = told
        at = offset + clause.start
        for one in found:
            moved = replace(one, start=at + one.start, end=at + one.end)
            yield moved
            yield from implied(moved)


def _clauses(grammar: Grammar, sentence: str) -> list[_Clause]:
    """The clauses of a sentence; of a question those before the one that asks."""
    found: list[_Clause] = []
    start = 0
    for match in grammar.cut.finditer(sentence):
        found.append(_Clause(sentence[start : match.start()], start))
        start = match.end()
    found.append(_Clause(sentence[start:], start))
    kept = [one for one in found if one.text.strip()]
    if sentence.rstrip().endswith("?") and kept:
        return [] if grammar.tag.search(kept[-1].text) else kept[:-1]
    return kept


def _clause(grammar: Grammar, clause: str, before: str, said_at: datetime) -> tuple[str, list[Finding]]:
    """Whom a clause is about, if that is a relative, and what it states."""
    found = [*_relatives(grammar, clause)]
    opened = grammar.subject_open.match(clause)
    at = 0 if opened is None else opened.end()
    match = grammar.kin.match(clause, at)
    subject, pos = "", at
    if match is not None and (both := grammar.and_me.match(clause, match.end())) is not None:
        both_of_us = grammar.we.rjust(both.end()) + clause[both.end() :]
        return "", [*found, *_first(grammar, grammar.frames, both_of_us, 0, said_at, USER)]
    if match is not None and (told := _called(grammar, match)) is not None:
        subject, pos = told, match.end()
    elif before:
        pronoun = grammar.pronoun.match(clause, at)
        if pronoun is None or _fits(grammar, before, pronoun):
            subject, pos = before, at if pronoun is None else pronoun.end()
    if subject:
        stated = _first(grammar, grammar.of_kin, clause, pos, said_at, subject)
        if stated or match is not None:
            return subject, [*found, *stated]
    if grammar.elided.match(clause, at):
        stated = _first(grammar, grammar.frames, grammar.speaker + clause[at:], 0, said_at, USER)
        return "", [*found, *(replace(one, start=at, end=len(clause.rstrip(" ,;:"))) for one in stated)]
    return "", [*found, *_first(grammar, grammar.frames, clause, 0, said_at, USER)]


def _first(
    grammar: Grammar, frames: tuple[Frame, ...], clause: str, pos: int, said_at: datetime, subject: str
) -> list[Finding]:
    """What the first frame that understands the clause reads in it, and what it may tell besides."""
    found: list[Finding] = []
    undated, spans = _undated(grammar, clause, pos, said_at)
    for frame in frames:
        if found and (found[0].attribute, frame.attribute) not in _BESIDES:
            continue
        text = clause if frame.attribute in _DATES else undated
        match = frame.pattern.search(text) if subject == USER else frame.pattern.match(text, pos)
        if match is None or (subject == USER and grammar.blocked.search(text, 0, match.start())):
            continue
        own = _of_verb(grammar, clause, text, match.end(), () if frame.attribute in _DATES else spans)
        found += _read(grammar, frame, match, own, said_at, subject)
    end = len(clause.rstrip(" ,;:"))
    return [replace(one, start=len(clause) - len(clause.lstrip()), end=end) for one in found]


def _read(
    grammar: Grammar,
    frame: Frame,
    match: re.Match[str],
    spans: tuple[DateSpan, ...],
    said_at: datetime,
    subject: str,
) -> list[Finding]:
    value = frame.read(match.string, match.end())
    if value is None:
        return []
    said = f"{frame.prefix(match)} {value[0]}" if frame.prefix is not None else value[0]
    one = Finding(
        subject=subject, attribute=frame.attribute, value=said.strip(), start=0, end=0, retracts=frame.retracts
    )
    each = grammar.list_cut.split(one.value) if frame.attribute in _LISTS else [one.value]
    timed = [_timed(grammar, replace(one, value=value), spans, said_at) for value in each if value or frame.retracts]
    return [] if frame.needs_date and any(said.until is None for said in timed) else timed


def _undated(grammar: Grammar, clause: str, pos: int, said_at: datetime) -> tuple[str, tuple[DateSpan, ...]]:
    """The clause without the dates from the position on and what leads to them, and all its dates."""
    spans = date_spans(clause, said_at)
    text = clause
    for span in reversed(spans):
        if span.start < pos:
            continue
        lead = grammar.between.search(text, pos, span.start)
        text = text[: lead.start() if lead is not None else span.start].rstrip() + text[span.end :]
    return text, spans


def _of_verb(grammar: Grammar, clause: str, text: str, at: int, spans: tuple[DateSpan, ...]) -> tuple[DateSpan, ...]:
    """The dates of the clause that stand with the verb that ends at `at` in its text without dates."""
    if not spans:
        return ()
    within = len(grammar.joins.findall(text, 0, at))
    joins = [
        one.start() for one in grammar.joins.finditer(clause) if not any(s.start < one.start() < s.end for s in spans)
    ]
    return tuple(span for span in spans if sum(start < span.start for start in joins) == within)


def _timed(grammar: Grammar, finding: Finding, spans: tuple[DateSpan, ...], said_at: datetime) -> Finding:
    """The statement with the time that its clause names: of a plan when it ends, of others since when they hold."""
    today = said_at.date()
    if finding.attribute in _AHEAD:
        for span in spans:
            span = span.on_side(1, today)
            first, last = span.first, span.last
            if last >= today:
                when = When(_moment(first, said_at), grammar.label(first, _grain(first, last)), 0)
                return replace(finding, when=when, until=_moment(last + timedelta(days=1), said_at))
        return finding
    if finding.attribute in _TIMED:
        for span in spans:
            if finding.attribute == "did":
                span = span.on_side(-1, today)
            first, last = span.first, span.last
            if first <= today and (finding.attribute == "did" or last < today):
                return replace(
                    finding, when=When(_moment(first, said_at), grammar.label(first, _grain(first, last)), 0)
                )
    return finding


def _grain(first: date, last: date) -> str:
    days = (last - first).days
    return "day" if not days else "week" if days < 14 else "month" if days < 120 else "year"


def _moment(day: date, said_at: datetime) -> datetime:
    return datetime.combine(day, time(), said_at.tzinfo)


_NAMED_ENOUGH: Final = frozenset({"partner", "child"})
"""Relations that are told without a name: somebody has a wife."""


def _relatives(grammar: Grammar, clause: str) -> Iterator[Finding]:
    """The relatives and friends of the speaker that a clause names."""
    for match in grammar.kin.finditer(clause):
        kin = grammar.kin_words.get(_kin_word(grammar, match["kin"]))
        told = _called(grammar, match)
        if kin is None or told is None or grammar.blocked.search(clause, 0, match.start()):
            continue
        if not match["who"] and kin.relation not in _NAMED_ENOUGH:
            continue
        attribute = "knows" if kin.relation == "acquaintance" else "has_relative"
        yield Finding(subject=USER, attribute=attribute, value=told, start=match.start(), end=match.end())


def _called(grammar: Grammar, match: re.Match[str]) -> str | None:
    """The relative: "sœur Ana"."""
    who = match["who"]
    if who and fold(who) in grammar.no_names:
        return None
    kin = _kin_word(grammar, match["kin"])
    return f"{kin} {who}" if who else kin


def _kin_word(grammar: Grammar, said: str) -> str:
    """A kin word as the language lists it."""
    folded = grammar.kin_forms.get(fold(said), fold(said))
    return next((word for word in grammar.kin_words if fold(word) == fold(folded)), folded)


def _fits(grammar: Grammar, subject: str, pronoun: re.Match[str]) -> bool:
    """Whether a pronoun may stand for a relative."""
    kin = next((kin for word, kin in grammar.kin_words.items() if fold(subject).startswith(fold(word))), None)
    return kin is not None and (not kin.sex or (kin.sex == "female") == bool(pronoun["she"]))
