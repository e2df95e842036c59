"""Which clauses may speak, of whom, and what they say.

A sentence is cut into clauses. Each has a subject: the speaker (我), a relative (我妹妹, 老婆), the one of the clause before
where it has none of its own, or nobody who is known. What is asked, supposed, reported or doubted is not read; a
statement before a question in the same sentence is.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from embermem.core.attributes import FAVORITE_PREFIX, standing
from embermem.core.patterns import regex
from embermem.languages.facts.finding import USER, Finding, When
from embermem.languages.facts.rules import Rule, implied, matched
from embermem.languages.language import words_of
from embermem.languages.zh.facts.clauses import Clause, Mood, clauses_of
from embermem.languages.zh.facts.events import Event, Said, events, tells_of_a_thing
from embermem.languages.zh.facts.goals import lasting
from embermem.languages.zh.facts.identity import BARE
from embermem.languages.zh.facts.people import MORE_RELATIVES
from embermem.languages.zh.facts.phrases import OTHERS, PARTNERS_AND_CHILDREN, TAIL
from embermem.languages.zh.facts.places import CANCELLED, LASTING_STAY, TOWN
from embermem.languages.zh.facts.script import as_written, simplified
from embermem.languages.zh.facts.table import OF_RELATIVES, RULES
from embermem.languages.zh.facts.tastes import THINGS
from embermem.languages.zh.facts.times import past
from embermem.languages.zh.facts.work import SECOND
from embermem.languages.zh.patterns import SCREENING

_SENTENCE = regex(r"[^。！？!?\n；;]+[。！？!?；;]*")
_SENTENCE_CHARS = 200
_LONGEST_CLAUSE = 40
_PET_NAMED = regex(r"(?:它)?(?:名字)?叫([一-鿿]{1,4}|[A-Za-z]{2,12})" + TAIL)
_WHOLE = regex(SCREENING.whole)
_IS_OTHER = regex(OTHERS)
_UNDATED: Final = frozenset({"age", "phone", "email", "height", "comes_from", "name", "nickname", "gender"})
_IDENTITY: Final = frozenset(
    {"name", "nickname", "gender", "age", "comes_from", "lives_in", "works_as", "works_at", "studies", "studies_at"}
)
_OF_ANOTHER: Final = frozenset({"has_pet", "has_relative"})
"""What the next clause without a subject tells more of: an animal or a child, not the speaker."""
_HAS_ONE: Final = regex(r"有.{0,4}[个位只条名对]|^我们?(?:家|的)(?![住在有养])|我[猫狗]")
"""Clauses that bring somebody or something else up, of which the next may tell."""
_AT_LAST: Final = regex("终于|总算")
"""What was planned is done."""
_MANY: Final = regex("朋友|同事|同学|邻居")
"""Without a name they may be another each time."""
_DEATH: Final = regex("去世|过世|病逝|走了(?=.{1,3}年)")


class _Last(NamedTuple):
    """The clause before, and the attribute that it told of."""

    clause: Clause
    attribute: str


def statements(text: str, said_at: datetime) -> Iterator[Finding]:
    """The statements of a screened text, in order. Positions are those of the text given."""
    read = simplified(text)
    if read != text and _WHOLE.search(read):
        return
    relatives: set[str] = set()
    for sentence in _SENTENCE.finditer(read):
        for found in _sentence(sentence.group()[:_SENTENCE_CHARS], said_at):
            if found.attribute == "has_relative" and not found.retracts:
                if found.value in relatives:
                    continue
                relatives.add(found.value)
            start, end = sentence.start() + found.start, sentence.start() + found.end
            value = found.value if read == text else as_written(found.value, read[start:end], text[start:end])
            subject = found.subject if read == text else as_written(found.subject, read[start:end], text[start:end])
            yield replace(found, value=value, subject=subject, start=start, end=end)


def _sentence(sentence: str, said_at: datetime) -> Iterator[Finding]:
    clauses = clauses_of(sentence)
    is_lasting = lasting(sentence)
    last: _Last | None = None
    for i, clause in enumerate(clauses):
        following = clauses[i + 1].text if i + 1 < len(clauses) else ""
        told = list(_told(clause, following, last, is_lasting, said_at))
        of_another = last is not None and last.attribute in _OF_ANOTHER and clause.is_carried
        if of_another and last is not None:
            last = _Last(clause, last.attribute)
        elif told:
            last = _Last(clause, told[-1].attribute)
        else:
            last = _Last(clause, "has_relative" if _brings_another_up(clause) else "")
        for found in told:
            yield found
            yield from implied(found)


def _brings_another_up(clause: Clause) -> bool:
    """Whether a clause that says nothing of its subject is on somebody or something else: 我有个朋友, 我同桌."""
    if _HAS_ONE.search(clause.text):
        return True
    return clause.is_opened and clause.subject == USER and tells_of_a_thing(clause.body[1:])


def _told(clause: Clause, following: str, last: _Last | None, is_lasting: bool, said_at: datetime) -> Iterator[Finding]:
    """What one clause says."""
    if (
        not clause.subject
        or _MANY.fullmatch(clause.subject)
        or clause.mood is Mood.UNREAL
        or len(clause.body) > _LONGEST_CLAUSE
    ):
        return
    found = _statement(clause, following, last, is_lasting)
    happened: list[Event] = []
    if found is None or found.retracts:
        happened = [event for event in _events(clause, last, said_at) if _is_told(event, clause)]
    died = any(_DEATH.match(event.value) for event in happened)
    if clause.kin and clause.is_opened and clause.mood is not Mood.PAST and not died:
        yield from _relation(clause)
    if found is not None:
        yield _found(clause, found, said_at)
        if not found.retracts:
            yield from _besides(clause, found, said_at)
        if found.attribute == "visited" and _AT_LAST.search(clause.text):
            yield _finding(clause, clause.subject, "plans", f"去{found.value}", retracts=True)
    for event in happened:
        yield Finding(
            subject=clause.subject,
            attribute=event.attribute,
            value=event.value,
            start=clause.start,
            end=clause.end,
            when=event.when,
            until=event.until,
            retracts=event.retracts,
        )


def _relation(clause: Clause) -> Iterator[Finding]:
    """That the speaker has a partner, a child, or a relative or friend with a name."""
    if clause.subject != clause.kin or clause.kin in PARTNERS_AND_CHILDREN:
        attribute = "knows" if _IS_OTHER.fullmatch(clause.kin) else "has_relative"
        yield _finding(clause, USER, attribute, clause.subject)


def _events(clause: Clause, last: _Last | None, said_at: datetime) -> Iterator[Event]:
    """What happened, happens and is planned, of a clause that does not go on about an animal or a child."""
    if clause.is_opened and clause.subject == USER and tells_of_a_thing(clause.body[1:]):
        return
    if clause.mood is Mood.PAST or (clause.is_carried and last is not None and last.attribute in _OF_ANOTHER):
        return
    said = Said(
        body=re.sub("^(?:我们?|咱们?|俺)(?:家)?", "", clause.body),
        text=clause.text,
        at=said_at,
        needs_time=not clause.is_opened and not clause.is_carried,
        goes_on_habit=clause.is_carried and last is not None and last.attribute == "does",
    )
    yield from events(said)


def _is_told(event: Event, clause: Clause) -> bool:
    """Whether an event is of whom the clause seems to tell: of a relative that was only carried on it must say no time,
    since with one the speaker often tells of themselves again; of a friend without a name it is not kept."""
    if clause.mood is Mood.PLAN and event.attribute not in ("plans", "does"):
        return False
    if clause.subject == USER:
        return True
    if clause.is_carried and event.timed:
        return False
    return not _IS_OTHER.fullmatch(clause.subject)


class _Statement(NamedTuple):
    """What a clause says; `more` clauses after it belong to it."""

    attribute: str
    value: str
    retracts: bool
    more: str


def _statement(clause: Clause, following: str, last: _Last | None, is_lasting: bool) -> _Statement | None:
    for one in matched(_rules(clause, last), clause.body):
        attribute, value = one.rule.attribute, one.value
        if thing := one.match.groupdict().get("thing"):
            if thing not in THINGS:
                continue
            attribute = f"{FAVORITE_PREFIX}{THINGS[thing]}"
        more = ""
        if attribute == "has_pet" and not one.rule.retracts and (named := _PET_NAMED.match(following)):
            value, more = f"{value}，叫{named[1]}", following
        found = _Statement(attribute, value, one.rule.retracts, more)
        if not _refused(found, clause, is_lasting) and not _of_another(found, clause, last):
            return found
    if (town := TOWN.pattern.fullmatch(clause.body)) and clause.subject == USER and clause.mood is Mood.REAL:
        read = TOWN.read(town)
        return _Statement("lives_in", read[0], False, "") if read and LASTING_STAY.search(following) else None
    if (
        clause.subject == USER
        and clause.is_carried
        and last is not None
        and last.attribute in ("name", "age", "nickname")
    ):
        bare = re.sub(TAIL, "", clause.text)
        if bare in words_of("zh", "occupations"):
            return _Statement("works_as", bare, False, "")
    return None


def _rules(clause: Clause, last: _Last | None) -> Iterable[Rule]:
    if clause.subject != USER:
        return OF_RELATIVES
    if clause.is_carried and last is not None and last.attribute == "has_relative":
        return (*MORE_RELATIVES, *RULES)
    if clause.is_opened or clause.is_carried:
        return RULES
    return (*BARE, *CANCELLED)


def _refused(found: _Statement, clause: Clause, is_lasting: bool) -> bool:
    """Whether the clause speaks of a plan or of the past, and the statement does not."""
    if found.retracts:
        return clause.mood is Mood.PLAN
    if standing(found.attribute) == "goal":
        return clause.mood is Mood.PAST or not is_lasting
    return clause.mood is not Mood.REAL


def _of_another(found: _Statement, clause: Clause, last: _Last | None) -> bool:
    """Whether a clause without a subject may give somebody else's name or age: 我养了一只猫，叫大福，三岁了."""
    if not clause.is_carried or last is None:
        return False
    if last.attribute in _OF_ANOTHER and not (last.attribute == found.attribute == "has_relative"):
        return True
    if found.attribute not in ("name", "nickname", "age"):
        return False
    return last.attribute not in _IDENTITY and (
        "今年" not in clause.text or re.search("[有养生]", last.clause.text) is not None
    )


def _found(clause: Clause, found: _Statement, said_at: datetime) -> Finding:
    holds = not found.retracts and standing(found.attribute) != "goal" and found.attribute not in _UNDATED
    when = past(clause.text, said_at) if holds else None
    return _finding(clause, clause.subject, found.attribute, found.value, when, found.retracts, len(found.more))


def _besides(clause: Clause, found: _Statement, said_at: datetime) -> Iterator[Finding]:
    """What a second rule reads in the same clause: the school beside the subject, the place beside the job."""
    for one in matched(SECOND, clause.body):
        if one.rule.attribute != found.attribute:
            yield _finding(clause, clause.subject, one.rule.attribute, one.value, past(clause.text, said_at))
            return


def _finding(
    clause: Clause,
    subject: str,
    attribute: str,
    value: str,
    when: When | None = None,
    retracts: bool = False,
    more: int = 0,
) -> Finding:
    end = clause.end + (more + 1 if more else 0)
    return Finding(
        subject=subject, attribute=attribute, value=value, start=clause.start, end=end, when=when, retracts=retracts
    )
