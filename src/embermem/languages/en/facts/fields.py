"""Fields of an application's own in English: "my level is B1", "I'm at level B1 now", "B1 is my level"."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import repeat
from typing import Final

from embermem.core.fields import Field
from embermem.core.patterns import regex
from embermem.core.text import fold
from embermem.languages.dates.engine import date_spans
from embermem.languages.en import words
from embermem.languages.en.clauses.words import FUNCTION, is_adverb
from embermem.languages.en.facts.clauses import declarations, is_certain, is_told, stated
from embermem.languages.en.facts.identity import NATIONALITY, NO_NAME
from embermem.languages.en.facts.phrases import CAP, Read, rule
from embermem.languages.en.phrases import is_thing
from embermem.languages.facts.fields import called, value_is_plain
from embermem.languages.facts.finding import USER, Finding
from embermem.languages.facts.rules import Rule, Value

_END: Final = r"(?=\s*(?:[.,;!)]|$)|\s+(?:and|but|so|now|currently|because|since|right now|at the moment|these days|this (?:year|month|week))\b)"
_STILL: Final = r"(?: (?:now|currently|still|actually|just|officially|always|already)){0,2}"
_WHICH: Final = r"(?:(?:current|present|new|actual|official|overall|usual|exact|own) )?"
_A_DAY: Final = datetime(2024, 1, 3, tzinfo=UTC)
"""Where a date ends does not depend on when it is said."""
_LOWER: Final = regex(r"(?:the )?(?P<v>[a-zà-ÿ]+(?:[- ][a-zà-ÿ]+){0,3})" + _END)
_NAME: Final = rf"(?:{CAP}|\d[\w.-]*)(?: (?:{CAP}|\d[\w.-]*|of|the|de|la|van|von|&|and(?= [A-Z]))){{0,5}}"
_THING: Final = regex(r"(?:tion|sion|ness|ment|ity|logy|ism|ship|ics|graphy)$")
_NAMED: Final = regex(rf"(?:{_NAME}){_END}")
_ITEM: Final = r"[A-Za-zÀ-ÿ0-9][\w'-]*(?: [\w'-]+){0,3}?"
_ITEMS: Final = regex(rf"{_ITEM}(?:, (?!and\b){_ITEM}){{0,10}}(?:,? and {_ITEM})?{_END}")
_TURNED: Final = regex(
    r"(?:^|[,;] (?:and |but |so )?)(?P<v>[^,;:]{1,60}?) (?:is|are) (?:(?:now|currently|still) )?(?:one of )?my (?P<name>[^.,;:!?]{1,60}?)(?: (?:now|currently))?(?=\s*(?:[.,;!]|$))"
)


def of_fields(text: str, said_at: datetime, fields: Sequence[Field]) -> Iterator[Finding]:
    """The statements of a screened text that give a value of these fields, in the words that were said."""
    yield from stated(text, said_at, [one for field in fields for one in _rules(field)])
    for sentence, start, _ in declarations(text):
        if " my " in sentence and is_told(sentence):
            yield from _turned(sentence, start, fields)


def _turned(sentence: str, offset: int, fields: Sequence[Field]) -> Iterator[Finding]:
    """ "B1 is my level"."""
    for match in _TURNED.finditer(sentence):
        before = sentence[: match.start("v")]
        if not is_certain(before, sentence[match.end() :]):
            continue
        for field in fields:
            if _alone(field).fullmatch(match["name"]) is None:
                continue
            found = _reader(field)(match["v"], 0) or _reader(field)(match["v"][:1].lower() + match["v"][1:], 0)
            if found is not None and found[1] == len(match["v"].rstrip()):
                start, end = match.start("v") + offset, match.end("name") + offset
                yield Finding(subject=USER, attribute=field.name, value=found[0], start=start, end=end)


@lru_cache(maxsize=512)
def _alone(field: Field) -> re.Pattern[str]:
    return re.compile(_WHICH + _names(field), re.IGNORECASE)


@lru_cache(maxsize=512)
def _rules(field: Field) -> tuple[Rule, ...]:
    names, read = _names(field), _reader(field)
    short = "" if field.type == "text" else "|'s"  # "my son's school fees" says nothing of what he is
    made = [rule(field.name, rf"[Mm]y {_WHICH}(?i:{names})(?: is| are|:{short}){_STILL}{_lead(field)} ", read)]
    if field.type in ("choice", "number"):
        made.append(rule(field.name, rf"[Ii](?:'m| am){_STILL}(?: at| on| in)?(?: an?| the)? (?i:{names}) ", read))
    if field.type in ("choice", "number", "date"):
        has = r"[Ii](?:'ve| have)(?: got)?(?: an?| the)?"
        made.append(rule(field.name, rf"{has} (?i:{names}) (?:of|on|at) ", read))
    if field.type == "boolean":
        yes = rf"(?:[Ii](?:'m| am){_STILL} an?|[Ii](?: have|'ve got){_STILL} (?:an?|my)) (?i:{names}){_END}"
        no = rf"(?:[Ii](?:'m| am) not an?|[Ii] (?:don't|do not) have (?:an?|any|my)|[Ii] have no) (?i:{names}){_END}"
        made += [rule(field.name, yes, _fixed("yes")), rule(field.name, no, _fixed("no"))]
    return tuple(made)


def _fixed(value: str) -> Read:
    def read(sentence: str, pos: int) -> Value:
        return value, pos

    return read


def _lead(field: Field) -> str:
    """What may stand between "is" and a value."""
    return {"date": r"(?: on| the| set for| scheduled for)?", "choice": r"(?: at| an?| the)?"}.get(field.type, "")


def _names(field: Field) -> str:
    """The names of a field, each word of which may own the next ("pet's name"), in the singular or plural."""
    found = []
    for name in called(field):
        *first, last = name.split()
        stem = re.escape(last[:-1] if last.endswith("s") and not last.endswith("ss") else last)
        found.append(r"(?:'s)?\s+".join([*map(re.escape, first), f"{stem}(?:e?s)?"]))
    return f"(?:{'|'.join(sorted(found, key=len, reverse=True))})"


@lru_cache(maxsize=512)
def _reader(field: Field) -> Read:
    """Reads a value of the field where it begins, up to where a clause may end."""
    if field.type == "choice":
        return _list_of(_matched(_either(field.choices), field), field)
    if field.type == "number":
        units = _either(field.units) if field.units else r"(?!)"
        return _matched(rf"(?:{units} ?)?[+-]?\d[\d,]*(?:\.\d+)?(?: ?{units})?", field)
    if field.type == "date":
        return _read_date
    if field.type == "boolean":
        return _matched(r"(?:yes|no|true|false)", field)
    return _list_of(_text_of(field), field)


def _either(texts: Sequence[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(texts, key=len, reverse=True)))})"


def _matched(pattern: str, field: Field) -> Read:
    compiled = re.compile(rf"(?:{pattern})(?!\w){_END}", re.IGNORECASE)

    def read(sentence: str, pos: int) -> Value | None:
        match = compiled.match(sentence, pos)
        return None if match is None or field.fits(match.group()) is None else (match.group(), match.end())

    return read


def _read_date(sentence: str, pos: int) -> Value | None:
    rest = sentence[pos : pos + 80]
    span = next(iter(date_spans(rest, _A_DAY)), None)
    if span is None or rest[: span.start].strip() not in ("", "on", "the") or span.first != span.last:
        return None
    if re.match(_END, rest[span.end :]) is None:
        return None
    return rest[span.start : span.end], pos + span.end


def _text_of(field: Field) -> Read:
    """One of the examples, a name, or things in small letters."""
    known = _matched(_either(field.examples), field) if field.examples else None

    def read(sentence: str, pos: int) -> Value | None:
        found = None if known is None else known(sentence, pos)
        if found is not None:
            return found
        match = _NAMED.match(sentence, pos)
        if match is not None and _is_name(match.group(), field):
            return match.group(), match.end()
        match = _LOWER.match(sentence, pos)
        return (match["v"], match.end()) if match is not None and _is_surely_thing(match["v"], field) else None

    return read


def _list_of(one: Read, field: Field) -> Read:
    """Reads one value or, of a field that holds many, a list of them. Beside what is surely a value, a noun is one."""

    def read(sentence: str, pos: int) -> Value | None:
        match = _ITEMS.match(sentence, pos)
        if match is not None:
            items = [item.removeprefix("the ") for item in re.split(r",? and |, ", match.group())]
            sure = [_whole(one, item) for item in items]
            if len(items) > 1 and any(sure) and all(map(_may_stand_beside, items, sure, repeat(field))):
                return ", ".join(items), match.end()
        found = one(sentence, pos)
        return found if found is None or not re.match(r",? and [a-z]+\s*(?:[.;!]|$)", sentence[found[1] :]) else None

    return read if field.many else one


def _may_stand_beside(item: str, sure: bool, field: Field) -> bool:
    return sure or (field.type == "text" and _LOWER.fullmatch(item) is not None and _is_noun_phrase(item))


def _whole(read: Read, item: str) -> bool:
    found = read(item, 0)
    return found is not None and found[1] == len(item)


def _is_surely_thing(value: str, field: Field) -> bool:
    """Whether small letters name a thing and are no adjective: a plural, of a field that holds many, or a word such as
    "pronunciation"; or the last word is that of an example."""
    if not _is_noun_phrase(value):
        return False
    last = value.split()[-1]
    if any(fold(one).split()[-1] == last for one in field.examples):
        return True
    return field.many and (words.singular(last) != last or _THING.search(last) is not None)


def _is_name(value: str, field: Field) -> bool:
    """Whether what is written with a capital names something, and is no "German" of an employer."""
    first = fold(value.split()[0])
    if first in NO_NAME or first in words.STOP_WORDS or first in FUNCTION or "'s" in value:
        return False
    if not any(char.isalpha() for char in value):
        return False
    alike = any(NATIONALITY.match(one) for one in field.examples)
    return value_is_plain(field, value) and (alike or NATIONALITY.match(value) is None)


def _is_noun_phrase(value: str) -> bool:
    said = value.replace("-", " ").split()
    if any(word in FUNCTION or word in words.STOP_WORDS or is_adverb(word) for word in said):
        return False
    return is_thing(words.singular(said[-1]))
