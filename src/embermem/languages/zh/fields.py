"""Fields of an application's own in Chinese: 我的水平是B1, 我在B1水平, B1是我的水平."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from embermem.core.fields import Field
from embermem.core.patterns import regex
from embermem.languages.dates.engine import date_spans
from embermem.languages.facts.fields import called, parts
from embermem.languages.facts.finding import USER, Finding
from embermem.languages.facts.rules import Rule, Value, matched
from embermem.languages.zh.clauses import clauses_of
from embermem.languages.zh.script import simplified

_Check = Callable[[str], "str | None"]
"""Takes what a rule captured, and returns it as it is kept, or None to refuse it."""

_TAIL: Final = r"(?:了|的|啦|呀|哦|啊|呢|哈|嘛|吧|~|～)*$"
_SENTENCE: Final = regex(r"[^。！？!?\n；;]+[。！？!?；;]*")
_SENTENCE_CHARS: Final = 200
_NOW: Final = "(?:现在|目前|今年|暂时)?"
_IS: Final = "(?:就|还|已经)?(?:是|为|定在|有)"
_OWNED: Final = regex("我(?:的|们的)?")
_LATIN: Final = regex(r"[A-Z][\w'&.-]*(?: [A-Z][\w'&.-]*){0,3}|[A-Z]{1,3}\d{1,4}")
_NOUNS: Final = ("n", "vn", "eng", "j", "l")
_A_DAY: Final = datetime(2024, 1, 3, tzinfo=UTC)
_LONGEST_WORDS: Final = 12
_TELLS: Final = regex("[我你您他她它咱这那们某谁哪什怎么不没很太最更都也还就]|自己|别人|大家|人家|比较|非常|挺")


def of_fields(text: str, said_at: datetime, fields: Sequence[Field]) -> Iterator[Finding]:
    """The statements of a screened text that give a value of these fields, in the words that were said."""
    read = simplified(text)
    opened = [one for field in fields for one in _rules(field)]
    turned = [one for field in fields for one in _turned(field)]
    for sentence in _SENTENCE.finditer(read):
        for clause in clauses_of(sentence.group()[:_SENTENCE_CHARS]):
            rules = opened if clause.has_subject else turned
            for one in matched(rules, clause.body):
                start, end = sentence.start() + clause.start, sentence.start() + clause.end
                value = one.value if read == text else _as_said(one.value, read[start:end], text[start:end])
                yield Finding(subject=USER, attribute=one.rule.attribute, value=value, start=start, end=end)
                break


def _as_said(value: str, read: str, said: str) -> str:
    """The value as it was written, in characters that were not simplified."""
    at = read.find(value)
    return value if at < 0 or len(read) != len(said) else said[at : at + len(value)]


@lru_cache(maxsize=512)
def _rules(field: Field) -> tuple[Rule, ...]:
    names, check = _names(field), _check(field)
    made = [_rule(field.name, rf"{_OWNED.pattern}{_NOW}{names}{_NOW}{_IS}(?P<v>.{{1,40}}?)", check)]
    if field.type in ("choice", "number"):
        made.append(_rule(field.name, rf"{_OWNED.pattern}{_NOW}{names}{_NOW}(?P<v>[^是].{{0,20}}?)", check))
        made.append(_rule(field.name, rf"我{_NOW}(?:已经)?(?:是|在|处于)(?P<v>.{{1,20}}?)(?:的)?{names}", check))
    if field.type == "boolean":
        made.append(
            _rule(field.name, rf"我{_NOW}(?:有(?:一[个张只条辆本台])?|是(?:一?[个名位])?){names}", _fixed("yes"))
        )
        made.append(_rule(field.name, rf"我{_NOW}(?:没有?|不是(?:一?[个名位])?){names}", _fixed("no")))
    return tuple(made)


@lru_cache(maxsize=512)
def _turned(field: Field) -> tuple[Rule, ...]:
    return (_rule(field.name, rf"我(?P<v>[^我]{{1,30}}?)(?:就)?是我{_NOW}的{_names(field)}", _check(field)),)


def _names(field: Field) -> str:
    names = sorted((simplified(name) for name in called(field)), key=len, reverse=True)
    return f"(?i:{'|'.join(map(re.escape, names))})"


def _rule(attribute: str, pattern: str, check: _Check) -> Rule:
    """A rule whose value is the group `v`, checked; a rule without that group has none."""

    def read(match: re.Match[str]) -> Value | None:
        value = check(match.groupdict().get("v") or "")
        return None if value is None else (value, match.end())

    return Rule(attribute, re.compile(pattern + _TAIL), read, False)


def _fixed(value: str) -> _Check:
    return lambda _: value


def _check(field: Field) -> _Check:
    """A value that the field can hold, of a text one that names something; of a list, all of them."""

    def one(value: str) -> bool:
        if field.type == "text":
            return value in field.examples or _names_something(value)
        if field.type == "date":
            return _is_date(value)
        return field.fits(value) is not None or field.type == "boolean"

    def check(value: str) -> str | None:
        value = re.sub(_TAIL, "", value).strip()
        items = parts(value) if field.many else [value]
        return value if items and all(one(item) for item in items) else None

    return check


def _is_date(value: str) -> bool:
    spans = date_spans(value, _A_DAY)
    return len(spans) == 1 and (spans[0].start, spans[0].end) == (0, len(value))


def _names_something(value: str) -> bool:
    """A name in Latin letters, or words of which each is a noun."""
    if _LATIN.fullmatch(value):
        return True
    value = value.strip('“”"《》「」 ')
    if not 1 <= len(value) <= _LONGEST_WORDS or _TELLS.search(value):
        return False
    import rjieba

    return all(tag.startswith(_NOUNS) for _, tag in rjieba.tag(value, False))
