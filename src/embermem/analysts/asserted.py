"""Findings of what the trained reader asserts: the attributes of the vocabulary, of whom, and whether it ends.

What is below the threshold of its attribute is left out, as is what is told of a person whom the message does not name,
and what is hidden as not the speaker's own words (`screening`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter

from embermem import languages
from embermem.analysts.screening import HIDDEN
from embermem.core.text import fold
from embermem.core.types import Utterance
from embermem.languages import Language
from embermem.languages.dates.days import DateSpan
from embermem.languages.dates.engine import date_spans
from embermem.languages.facts.finding import USER, Finding, When
from embermem.languages.people import called, person_in, without_own
from embermem.languages.questions import asks_of_oneself
from embermem.languages.words import content_words, terms, unspaced
from embermem.protocols import Assertion

__all__ = ["added", "found", "of_itself"]

# From which confidence it is believed: a value, a clause, an end, and a value of some attributes. What judges found
# right of a writer's messages, and of talk, that took no part in training decides (`reader/CARD.md`).
LEAST, LEAST_AS_SAID, LEAST_END = 0.70, 0.81, 0.83
# An end that names what ends is believed sooner: it ends nothing but a fact of that value.
LEAST_NAMED_END = 0.73
# A value takes the place of another from these confidences, the second if it says that it is new; a correction does in
# any case.
LEAST_CHANGE, LEAST_BEGUN = 0.90, 0.85
# From which confidence the end of a relative for life is believed: nothing but a death ends one.
LEAST_DEATH = 0.91
# Another value of its attribute in the message, from this confidence on, makes it doubtful.
LEAST_DOUBT = 0.48
LEAST_OF = {
    **dict.fromkeys(("has_relative", "knows"), 0.57),
    "instruction": 0.965,
    **dict.fromkeys(("diet", "likes", "speaks"), 0.71),
    "age": 0.73,
    **dict.fromkeys(("comes_from", "does", "learns", "studies", "studies_at", "wants_to"), 0.76),
    **dict.fromkeys(("allergic_to", "has_pet", "marital_status", "takes"), 0.78),
    **dict.fromkeys(("has_condition", "owns", "works_as", "works_at"), 0.80),
    **dict.fromkeys(("afraid_of", "lives_in", "name", "plans"), 0.85),
}
AS_SAID = frozenset(("cannot", "diet", "did", "does", "instruction", "plans", "prefers", "takes", "wants_to"))
"""Attributes whose values are clauses: they are told in the words that were said."""
_BELIEVED = AS_SAID | frozenset(
    "name nickname age birthday nationality religion height phone email comes_from lives_in works_as works_at studies "
    "education studies_at learns speaks has_relative knows marital_status has_pet owns allergic_to has_condition "
    "afraid_of likes dislikes".split()
)
_NAMED = {"status": "marital_status", "wants": "wants_to"}
_CLAUSES = AS_SAID - {"instruction"}
_VAGUE = frozenset({"did", "does", "feels", "owns", "plans", "says", "wants_to", "would_like_to"})
"""What rules say of words of which more can be said."""
_KIN = frozenset({"has_relative", "knows"})
_PEOPLE = frozenset({"has_pet", *_KIN})
_PHONE, _MAIL = re.compile(r"\+?[\d ()./-]{6,}"), re.compile(r"\S+@\S+\.\S+")
_ENDS_WITH = {"works_as": ("works_as", "works_at"), "works_at": ("works_at", "works_as")}
"""What ends with an attribute where the words do not say which value ends: a job and its employer."""
_ENDS_ALONE = _PEOPLE | frozenset(("works_as", "works_at", "lives_in", "studies", "studies_at", "marital_status"))
"""Attributes of which words that name no value, such as "dumped me", end the one value that is known."""
_MISTAKEN = frozenset({"works_as", "works_at", "studies_at"})
"""Attributes of which much is read that is none: who acts, talks or pastes seems to work and to study."""
_NEW = frozenset({"begin", "fix"})
_CHANGED = frozenset({"studies"})
"""Attributes of several values of which one that says that it is new takes the place of the only one that is known."""
_FIXED = _PEOPLE | {"plans"}
"""Attributes of several values of which a corrected one takes the place of that of its matter or relation."""
_NOT_MEANT = (
    languages.finder(lambda one: one.guards.supposing),
    languages.finder(lambda one: one.guards.ironic),
)
_DEGREE = languages.either(lambda one: one.guards.degree)
_DWELLING = languages.either(lambda one: rf"(?:{one.guards.dwelling})\W*$")
_GROWN = languages.either(lambda one: rf"(?:{one.guards.grown})$")
_WORKING = languages.either(lambda one: one.guards.working)
_NO_ALLERGY = languages.finder(lambda one: one.guards.no_allergy)
_SINCE = frozenset({"did", "lives_in", "works_as", "works_at", "studies", "studies_at", "owns", "has_pet"})
"""Attributes whose time says when it was, or since when it is so."""
# What begins within this time is known as what is so then.
_SOON = timedelta(days=14)
# Days from which on a time is told by its months.
_MONTH = 27
# Characters of a word of kin in a script without spaces.
_LONGEST_KIN = 4
# Characters around words of time that may say on which side of the day they lie.
_AROUND = 40
# Characters of a clause that is told as a plan, and of a sentence that is told as a wish.
_SHORT, _WHOLE = 80, 200
_WORD_BEFORE = re.compile(r"\w+\s+$")
_SENTENCE = re.compile(r"[.!?。！？\n]")
_YEARS = re.compile(r"\d+")
_SAID_OF = attrgetter("of_other", "person", "change", "event", "negated")
_COUNTED = re.compile(r"[^\W\d_A-Z]+(?: [^\W\d_A-Z]+)+")
_CLAUSE = re.compile(r"[,;.!?。！？，；\n]")

_Span = tuple[int, int]


def added(
    by_rules: Sequence[tuple[Finding, Language]],
    text: str,
    screened: str,
    assertions: Sequence[Assertion],
    said_at: datetime,
) -> list[tuple[Finding, Language]]:
    """What rules found, and what was asserted beside it. Of words that both read, what the rules say, if it is more
    than that somebody did or said something, and not a list of what was asserted one by one; else what was asserted,
    if that is more."""
    asserted = list(found(text, screened, assertions, said_at))
    read = [one for one, _ in asserted]
    lists = {_words_of(rule) for rule, _ in by_rules if _is_list_of(rule, read)}
    by_rules = [pair for pair in by_rules if _words_of(pair[0]) not in lists]
    more = [
        one
        for one in asserted
        if one[0].retracts or not any(_overlap(one[0], rule) for rule, _ in by_rules if _says_as_much(rule, one[0]))
    ]
    values = [one for one, _ in more if not one.retracts and one.attribute not in _CLAUSES]
    kept = [
        pair
        for pair in by_rules
        if pair[0].attribute not in _VAGUE or not any(_overlap(pair[0], one) for one in values)
    ]
    return sorted((*kept, *more), key=lambda pair: (pair[0].start, not pair[0].retracts))


def _is_list_of(rule: Finding, all_: Sequence[Finding]) -> bool:
    """Whether what a rule read as one value are several of its attribute: "green teas, and hiking in the hills"."""
    within = (one for one in all_ if rule.start <= one.start and one.end <= rule.end and one.value in rule.value)
    of = {one.value for one in within if one.subject == rule.subject and one.attribute == rule.attribute}
    return len(of) > 1 and not rule.retracts and rule.attribute not in _PEOPLE  # "a dog named Rex" is one


def _words_of(rule: Finding) -> tuple[str, str, int, int]:
    """The value of a rule and where it stands: the same of what it makes likes, and no longer dislikes."""
    return rule.subject, rule.value, rule.start, rule.end


def of_itself(text: str, one: Assertion, before: Utterance | None) -> bool:
    """Whether an agent says something of itself: with a word for "I", or neither in general ("ten minutes daily beat an
    hour on Sunday") nor what it was told just before ("Noted: no walnuts.")."""
    if asks_of_oneself(_between(_SENTENCE, text, one)):
        return True
    said = content_words(text[one.start : one.end])
    is_told = before is not None and not before.role.agent_side and said <= content_words(before.text)
    return one.attribute != "does" and not is_told


def _says_as_much(rule: Finding, one: Finding) -> bool:
    return rule.attribute not in _VAGUE or (rule.attribute != "says" and one.attribute in _CLAUSES)


def _overlap(one: Finding, other: Finding) -> bool:
    return one.start < other.end and other.start < one.end


def found(
    text: str, screened: str, assertions: Sequence[Assertion], said_at: datetime
) -> Iterator[tuple[Finding, Language]]:
    """The statements among what was asserted of a text and what is left of it after screening, each with the language
    in which it is told. Of words with two readings the surer one counts."""
    by_signs = languages.by_signs(text)
    language = by_signs if by_signs.signs else languages.spelled(text)
    own = [
        one
        for one in assertions
        if HIDDEN not in screened[one.start : one.end] and not _is_not_meant(screened, one.start)
    ]
    whole = [_of_relative(_of_kin(text, _introduced(text, _denied(text, one)))) for one in _joined(text, own)]
    taken: list[_Span] = []
    over = [one for one in whole if one.event and one.change == "end" and one.confidence >= LEAST_END]
    ended = {_ended_with(text, one, whole) for one in over}
    named = {fold(one.relation) for one in whole if one.attribute in _KIN and not _is_relation(text, one)}
    for one in sorted(whole, key=lambda one: -one.confidence):
        value, of_whom = text[one.start : one.end], _subject(text, one, whole)
        if (
            of_whom is None
            or (one.attribute in _MISTAKEN and called(value).kin)
            or not terms(value)
            or terms(value) == terms(one.attribute.split("_")[0])
            or any(one.start < end and start < one.end for start, end in taken)
            or (one.attribute == "instruction" and one.confidence < _least("instruction", one, one.change == "end"))
        ):
            continue
        if one.attribute in _KIN and _is_relation(text, one) and fold(one.relation) in named:
            continue
        if one.change != "end" and _is_person(one) and value in ended:
            continue
        taken.append((one.start, one.end))
        for attribute, told, retracts in _told(text, one, value, whole, language):
            if fold(told) == fold(of_whom[0]):
                continue
            if attribute in _BELIEVED and one.confidence >= _least(attribute, one, retracts):
                statement = Finding(
                    subject=of_whom[0],
                    kin=of_whom[1],
                    attribute=attribute,
                    value=told,
                    start=_range(_SENTENCE, text, one)[0] if retracts and one.change in _NEW else one.start,
                    end=one.end,
                    retracts=retracts,
                    as_said=attribute in AS_SAID,
                    sure=_is_sure(one, whole),
                )
                yield (
                    _begun(_dated(statement, text, one.time, said_at, language), one, value, said_at, language),
                    language,
                )


def _denied(text: str, one: Assertion) -> Assertion:
    """An allergy that its clause denies: "not allergic to nuts after all"."""
    if one.attribute != "allergic_to" or one.change != "none" or _NO_ALLERGY(_clause(text, one)) is None:
        return one
    return replace(one, negated=True, confidence=max(one.confidence, LEAST_CHANGE))


def _introduced(text: str, one: Assertion) -> Assertion:
    """Of a name with which a clause begins that goes on to say whose relative that is, that there is one:
    张欣怡是我的表姐."""
    at = text.find(one.relation, one.end) if one.relation else -1
    if one.attribute != "name" or one.of_other or at < 0 or _before(text, one) or _CLAUSE.search(text, one.end, at):
        return one
    ends = at + len(one.relation)
    is_own = any(without_own(text[begin:ends]) == one.relation for begin in range(one.end, at))
    return replace(one, attribute="has_relative") if is_own else one


def _of_kin(text: str, one: Assertion) -> Assertion:
    """In a script without spaces, of a clause that begins with a relative that it is said of the relative:
    我的下属喜欢画画."""
    words = _before(text, one)
    who = without_own(words)
    if one.of_other or one.attribute in _PEOPLE | {"instruction"} or who == words or not unspaced(words[-1]):
        return one
    ends = (end for end in range(min(len(who), _LONGEST_KIN), 0, -1) if called(who[:end]).kin)
    end = next((end for end in ends if not called(who[:end]).name), 0)
    rest = who[end:]
    if end == 0 or any(without_own(rest[at:]) != rest[at:] for at in range(len(rest))):
        return one
    return replace(one, of_other=True, person=who[:end], relation="")


def _before(text: str, one: Assertion) -> str:
    """The words of its clause before a value."""
    return text[_range(_CLAUSE, text, one)[0] : one.start].strip()


def _of_relative(one: Assertion) -> Assertion:
    """Of the name of a relative that there is one: "my sister is called Ana", "my mum is Rose"."""
    who = called(one.person or one.relation)
    if not one.of_other or not who.kin or who.name:
        return one
    if one.attribute == "name" or (one.attribute in _KIN and fold(called(one.relation).kin) == fold(who.kin)):
        attribute = "has_relative" if one.attribute == "name" else one.attribute
        return replace(one, attribute=attribute, of_other=False, person="", relation=who.kin)
    return one


def _is_sure(one: Assertion, all_: Sequence[Assertion]) -> bool:
    """Whether a value may take another's place: it says so, or is believed and the only one of its message; and whether
    an end may be a death."""
    if one.change == "end":
        return one.confidence >= LEAST_DEATH
    if one.change == "fix" or (one.change == "begin" and one.confidence >= LEAST_BEGUN):
        return True
    if one.attribute not in _MISTAKEN:
        return True
    others = (other for other in all_ if other.attribute == one.attribute and other is not one)
    return one.confidence >= LEAST_CHANGE and all(other.confidence < LEAST_DOUBT for other in others)


def _least(attribute: str, one: Assertion, retracts: bool) -> float:
    """From which confidence a value of an attribute is believed, or its end."""
    if retracts and (one.change == "end" or one.negated):
        return LEAST_END if one.event and attribute not in _PEOPLE else LEAST_NAMED_END
    return LEAST_OF.get(attribute, LEAST_AS_SAID if attribute in AS_SAID else LEAST)


def _dated(finding: Finding, text: str, time: _Span | None, said_at: datetime, language: Language) -> Finding:
    """A statement with the days that its words of time name: of a plan when it ends, of others since when they hold.
    Words that name no day stay in a plan's value if they stand beside it."""
    if time is None or finding.retracts:
        return finding
    today, is_plan = said_at.date(), finding.attribute == "plans"
    # "9 march" is read as a date only here, where it is known to be a time.
    begin, words = max(0, time[0] - _AROUND), text[slice(*time)]
    titled = words.title() if len(words.title()) == len(words) else words
    for span in date_spans(text[begin : time[0]] + titled + text[time[1] : time[1] + _AROUND], said_at):
        if begin + span.start < time[1] and time[0] < begin + span.end:
            days = span.on_side(1 if is_plan else -1 if finding.attribute == "did" else 0, today)
            if is_plan and days.last >= today:
                return replace(finding, when=_when(days, said_at, language), until=days.is_over(said_at))
            if finding.attribute in _SINCE and days.first <= today:
                return replace(finding, when=_when(days, said_at, language))
    start, end = min(finding.start, time[0]), max(finding.end, time[1])
    if not is_plan or end - start > finding.end - finding.start + time[1] - time[0] + 1:
        return finding
    return replace(finding, value=text[start:end], start=start, end=end)


def _begun(plan: Finding, one: Assertion, value: str, said_at: datetime, language: Language) -> Finding:
    """What begins within days, as what is so from then on: a plan would be gone when it begins."""
    is_begin = plan.attribute == "plans" and one.change == "begin" and one.attribute in _SINCE - {"did"}
    if not is_begin or plan.when is None or one.confidence < LEAST_BEGUN or plan.when.at - said_at > _SOON:
        return plan
    when = replace(plan.when, label=language.day(plan.when.at))
    return replace(plan, attribute=one.attribute, value=value, when=when, until=None, as_said=False, sure=True)


def _when(days: DateSpan, said_at: datetime, language: Language) -> When:
    """A time as the language writes days; of several days the first and the last, of a month or more the months."""
    first, last = days.begins(said_at), replace(days, first=days.last).begins(said_at)
    written = language.month if (days.last - days.first).days >= _MONTH else language.day
    return When(first, "–".join(dict.fromkeys((written(first), written(last)))), 0)


def _is_not_meant(text: str, place: int) -> bool:
    """Whether a word for a supposition, or for irony, stands before a place in its sentence."""
    begin = max((mark.end() for mark in _SENTENCE.finditer(text, 0, place)), default=0)
    return any(finder(text[begin:place]) is not None for finder in _NOT_MEANT)


def _joined(text: str, assertions: Sequence[Assertion]) -> list[Assertion]:
    """With values of one attribute that stand beside one another as one value: "hamster Gizmo", "t1 diabetic"."""
    joined: list[Assertion] = []
    for one in sorted(assertions, key=lambda one: one.start):
        last = joined[-1] if joined else None
        if last is not None and _is_one_value(text, last, one):
            joined[-1] = replace(last, end=one.end, confidence=max(last.confidence, one.confidence))
        else:
            joined.append(one)
    return joined


def _is_one_value(text: str, one: Assertion, next_: Assertion) -> bool:
    if one.attribute != next_.attribute or one.attribute in _KIN or text[one.end : next_.start].strip(" "):
        return False
    are_believed = min(one.confidence, next_.confidence) >= LEAST and one.attribute not in AS_SAID
    is_one = are_believed and _SAID_OF(one) == _SAID_OF(next_) and not text[one.start].isdigit()
    return one.attribute == "has_pet" or is_one


def _joined_words(one: str, other: str) -> str:
    """As "sister Ana" and 舅舅张伟 are written."""
    return f"{one}{other}" if unspaced(one[-1]) and unspaced(other[0]) else f"{one} {other}"


def _is_called_own(text: str, one: Assertion) -> bool:
    """Whether "my" stands before a value: of "my wife and my kids" the second is no name of the first."""
    before = _WORD_BEFORE.search(text, 0, one.start)
    return before is not None and without_own(text[before.start() : one.end]) == text[one.start : one.end]


def _is_relation(text: str, one: Assertion) -> bool:
    """Whether the value is the word for the relation alone: "my sister", without her name."""
    return fold(text[one.start : one.end]) == fold(one.relation)


def _told(
    text: str, one: Assertion, value: str, all_: Sequence[Assertion], language: Language
) -> Iterator[tuple[str, str, bool]]:
    """Attribute, value and whether it is no longer so, of what somebody asserts."""
    attribute = _NAMED.get(one.attribute, one.attribute)
    if one.change == "end":
        if not one.event:
            yield attribute, value, True
            if attribute == "works_at":
                yield "works_as", "", True
        elif attribute in _PEOPLE and one.confidence < LEAST_END:
            yield attribute, value, True  # a name may be among the words of the event
        elif attribute in _ENDS_ALONE:
            ended = _ended_with(text, one, all_) or one.relation
            yield from ((name, ended, True) for name in _ENDS_WITH.get(attribute, (attribute,)))
        return
    if one.event or (one.tense == "past" and attribute not in {"did", "comes_from"}):
        return
    if one.tense == "future" and attribute not in {"plans", "wants_to", "birthday"}:
        clause = _clause(text, one)
        if attribute in _SINCE and not one.negated and len(clause) <= _SHORT:
            yield "plans", clause, False
        return
    if one.change == "fix" and attribute in _FIXED and (one.relation or attribute not in _KIN):
        yield attribute, value if attribute == "plans" else one.relation, True
    elif one.change in _NEW and attribute in _CHANGED:
        yield attribute, "", True
    if attribute == "contact":
        attribute = "phone" if _PHONE.fullmatch(value) else "email" if _MAIL.fullmatch(value) else ""
    if one.negated and attribute not in {"cannot", "diet", "instruction"}:
        if attribute == "likes":
            yield "dislikes", value, False
        elif attribute in {"allergic_to", "has_condition", "takes", "owns", "has_pet"}:
            yield attribute, value, True
        return
    if attribute in _KIN:
        if (who := called(value)).kin and not who.name and value.startswith(who.kin):
            value = value[: len(who.kin)]
        if not one.relation and attribute == "has_relative" and _COUNTED.fullmatch(value):
            yield attribute, value, False  # "siete nietos": words without a capital, which name nobody
            return
        if not one.relation or not all(map(terms, value.replace(one.relation, "").split())):
            return
        rest = value.replace(one.relation, "")
        if fold(value) in fold(one.relation) or (len(rest) == 1 and unspaced(rest)):
            if attribute == "knows":  # that somebody has a boss says nothing without the boss's name
                return
            value = one.relation
        elif fold(one.relation) not in fold(value) and not _is_called_own(text, one):
            value = _joined_words(one.relation, value)
    if attribute == "name" and one.change == "fix" and not asks_of_oneself(_before(text, one)):
        return  # "its Kowalczyk with a y": somebody's
    if attribute == "lives_in" and _DWELLING.search(value) is not None:
        return
    if attribute == "works_as" and _WORKING.match(value) is not None:
        return
    if attribute == "comes_from":
        value = _GROWN.sub("", value) or value
    if attribute == "has_condition" and value[0].isdigit():  # "5 months pregnant"
        return
    if attribute == "studies" and _DEGREE.fullmatch(value) is not None:
        attribute = "education"
    if attribute == "age" and not (value := _years(value, language)):
        return
    if attribute in {"cannot", "diet", "instruction"}:
        value = _clause(text, one)
    if attribute in {"instruction", "wants_to"} and " " not in value and not unspaced(value[0]):
        return
    if attribute == "prefers" and len(sentence := _between(_SENTENCE, text, one)) <= _WHOLE:
        value = sentence
    if attribute:
        yield attribute, value, False


def _years(value: str, language: Language) -> str:
    """An age as a number of years, in figures or words; "" of what names none."""
    if (figures := _YEARS.search(value)) is not None:
        return figures.group()
    unit = language.statement("age", "\0").partition("\0")[2].split()
    ends = (" ".join(unit[:count]) for count in range(len(unit), 0, -1))
    end = next((end for end in ends if value.endswith(end)), "")
    return "" if not end and " " in value else value.removesuffix(end).strip()


def _ended_with(text: str, one: Assertion, all_: Sequence[Assertion]) -> str:
    """The person whom the sentence of an end names: "Ana and I broke up"; "" where it names none, or several."""
    begin, end = _range(_SENTENCE, text, one)
    named = {text[other.start : other.end] for other in all_ if _is_person(other) and begin <= other.start < end}
    return named.pop() if one.attribute in _KIN and len(named) == 1 else ""


def _is_person(one: Assertion) -> bool:
    return one.attribute in _KIN and not one.event and not one.of_other


def _clause(text: str, one: Assertion) -> str:
    """The clause of a value: what somebody does not eat, or need not be called, is not told without its "not"."""
    return _between(_CLAUSE, text, one)


def _between(marks: re.Pattern[str], text: str, one: Assertion) -> str:
    """The words between the marks around a value."""
    begin, end = _range(marks, text, one)
    return text[begin:end].strip()


def _range(marks: re.Pattern[str], text: str, one: Assertion) -> _Span:
    """Where the words between the marks around a value stand."""
    begin = max((mark.end() for mark in marks.finditer(text, 0, one.start)), default=0)
    return begin, next((mark.start() for mark in marks.finditer(text, one.end)), len(text))


def _subject(text: str, one: Assertion, all_: Sequence[Assertion]) -> tuple[str, str] | None:
    """The subject of a finding, and a word of kin that no language knows: the person whom the message names, or the one
    relative of whom it speaks; None where it is told of somebody who is not named."""
    if not one.of_other:
        return USER, ""
    if one.person:  # in a script without spaces it may be cut: 欣怡 of 张欣怡
        names = (text[other.start : other.end] for other in all_ if _is_person(other) and unspaced(one.person[0]))
        return next((name for name in names if name.endswith(one.person)), one.person), ""
    others = [other for other in all_ if other.attribute in _KIN and other is not one]
    relations = {fold(other.relation): other.relation for other in others if other.relation}
    words = [one.relation] if one.relation and one.attribute not in _KIN else [*relations.values()]
    if len(words) != 1:
        return None
    who = person_in(words[0])
    return (who, "") if who is not None else (USER, words[0])
