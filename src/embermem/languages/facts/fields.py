"""Fields of an application's own, as people state them: what they are called in talk, and what a value means.

Each language finds the statements (`Language.of_fields`); here a value is read by the type of its field. What does not
fit the type is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cache, lru_cache

from embermem.core.fields import Field
from embermem.core.text import fold
from embermem.languages import registry
from embermem.languages.dates.engine import date_spans
from embermem.languages.facts.finding import USER, Finding
from embermem.languages.language import Language

__all__ = ["called", "label", "parts", "shown", "spoken_of", "stated", "statement", "value_is_plain", "value_said"]

_LONGEST_NAME = 3
"""Words of a description that is another name of its field."""
_AROUND = " \t\"'“”‘’「」.。!！,，"
_MOST_PARTS = 12


def called(field: Field) -> tuple[str, ...]:
    """What a field is called in talk: its name in words, its aliases, and its description if that is a short name."""
    names = [field.label, *field.aliases]
    if 0 < len(field.description.split()) <= _LONGEST_NAME:
        names.append(field.description.rstrip(".。"))
    return tuple(dict.fromkeys(" ".join(fold(name).split()) for name in names))


def label(field: Field, language: Language) -> str:
    """What a field is called in a sentence of a language: an alias in its own signs, else the name in words."""
    signs = re.compile(f"[{language.signs}]") if language.signs else None
    own = (name for name in field.aliases if signs is not None and signs.search(name))
    return next(own, field.label)


def spoken_of(text: str, fields: Sequence[Field]) -> tuple[Field, ...]:
    """The fields of which a text may speak."""
    return tuple(field for field in fields if _name_of(field).search(text) is not None)


def statement(field: Field, value: str, language: Language) -> str:
    """A value of a field in words, without its subject: "has the exam date 12 March 2026"."""
    name = label(field, language)
    if field.type == "boolean":
        return language.flag(name, holds=value == field.fits("yes"))
    if field.many:
        *first, last = name.split(" ")
        name = " ".join((*first, language.singular(last)))
    return language.field(name, shown(field, value, language))


def stated(text: str, said_at: datetime, fields: Sequence[Field]) -> Iterator[tuple[Finding, Language]]:
    """The statements of a screened text about its speaker that give a value of one of these fields, each with the
    language in which it is told. Their values are in written form."""
    spoken = spoken_of(text, fields)
    by_name = {field.name: field for field in spoken}
    seen: set[tuple[str, str]] = set()
    for language in registry.all():
        told = [*_whole(text, spoken), *language.of_fields(text, said_at, spoken)]
        for finding in told:
            field = by_name[finding.attribute]
            for said in parts(finding.value) if field.many else (finding.value,):
                value = value_said(field, said, said_at)
                if value is not None and (field.name, fold(value)) not in seen:
                    seen.add((field.name, fold(value)))
                    yield replace(finding, value=value), registry.by_signs(finding.value + label(field, language))


def value_said(field: Field, said: str, said_at: datetime) -> str | None:
    """What somebody said as a value of a field, in its written form; None if it does not fit. A day without a year is
    the next one from when it was said."""
    text = said.strip(_AROUND)
    if (value := field.fits(text)) is not None:
        return value
    if field.type == "date":
        return _day(text, said_at)
    if field.type == "boolean":
        word = fold(text)
        if any(word in language.values.yes for language in registry.all()):
            return field.fits("yes")
        if any(word in language.values.no for language in registry.all()):
            return field.fits("no")
    return None


def shown(field: Field, value: str, language: Language) -> str:
    """A value as a sentence of a language has it."""
    if field.type != "date":
        return value
    day = date.fromisoformat(value)
    return language.day(datetime(day.year, day.month, day.day))


def parts(value: str) -> list[str]:
    """The items of a list: "fractions, word order and past tense"."""
    return [piece for found in _joints().split(value) if (piece := found.strip())][:_MOST_PARTS]


@cache
def _joints() -> re.Pattern[str]:
    """What parts a list: commas, and the words for "and"."""
    words = [rf"\s+{re.escape(word)}\s+" for one in registry.all() for word in one.values.conjunctions]
    last = "|".join(words)
    return re.compile(rf"[,、，;；](?:{last})?|{last}|{registry.alternatives(lambda one: one.values.within)}")


def _day(text: str, said_at: datetime) -> str | None:
    spans = date_spans(text, said_at)
    if len(spans) != 1 or spans[0].first != spans[0].last:
        return None
    span = spans[0]
    if text[: span.start].strip(_AROUND) or text[span.end :].strip(_AROUND):
        return None
    return (_next(span.first, said_at.date()) if span.any_year else span.first).isoformat()


def _next(day: date, today: date) -> date:
    """The day of that month from today on. The 29 of February is in the next year that has one."""
    for year in range(today.year, today.year + 9):
        try:
            found = day.replace(year=year)
        except ValueError:
            continue
        if found >= today:
            return found
    return day


def _whole(text: str, fields: Sequence[Field]) -> Iterator[Finding]:
    """A message that is nothing but a name and a value, as an answer to a form: "Level: B1"."""
    if "\n" in text.strip():
        return
    for field in fields:
        match = _form(field).fullmatch(text)
        if match is not None and value_is_plain(field, match["v"]):
            start, end = match.span("said")
            yield Finding(subject=USER, attribute=field.name, value=match["v"], start=start, end=end)


def value_is_plain(field: Field, value: str) -> bool:
    """Whether a text can be a value without more around it: a text must be short, and hold no sentence."""
    return field.type != "text" or (len(value.split()) <= 6 and not re.search(r"[.!?。！？\ue000]\s|\ue000", value))


@lru_cache(maxsize=512)
def _name_of(field: Field) -> re.Pattern[str]:
    """What a text holds that speaks of a field: the first word of one of its names, in the singular or plural."""
    heads = {re.escape(name.split()[0].removesuffix("s")) for name in called(field)}
    return re.compile("|".join(sorted(heads, key=len, reverse=True)), re.IGNORECASE)


@lru_cache(maxsize=512)
def _form(field: Field) -> re.Pattern[str]:
    names = "|".join(r"\s+".join(map(re.escape, name.split())) for name in called(field))
    return re.compile(
        rf"\s*(?P<said>(?:{names})\s*[:：]\s*(?P<v>[^\s?？][^?？\n]{{0,99}}?))\s*[.。!！]?\s*", re.IGNORECASE
    )
