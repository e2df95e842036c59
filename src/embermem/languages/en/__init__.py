"""English."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

from embermem.core.fields import Field
from embermem.languages.en import patterns, words
from embermem.languages.en.asks import ASKS
from embermem.languages.en.dates import DATES
from embermem.languages.en.inflection import inflected
from embermem.languages.en.statements import statement
from embermem.languages.en.vocabulary import MONTH_NAMES
from embermem.languages.facts.agent import find
from embermem.languages.facts.finding import Finding
from embermem.languages.language import Language, interests_of, kin_of
from embermem.languages.parts import PeopleWords


class English(Language):
    """English. What no language claims is read as it."""

    code = "en"
    name = "English"
    stop_words = words.STOP_WORDS
    abbreviations = r"mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|jr|sr|no"
    dates = DATES
    questions = patterns.QUESTIONS
    talk = patterns.TALK
    screening = patterns.SCREENING
    guards = patterns.GUARDS
    themes = patterns.THEMES
    temperaments = patterns.TEMPERAMENTS
    secrets = patterns.SECRETS
    values = patterns.VALUES
    asks = ASKS
    people = PeopleWords(kin=kin_of("en"))
    interests = cached_property(interests_of)

    terms_of = staticmethod(words.terms_of)
    stem = staticmethod(words.stem)
    singular = staticmethod(words.singular)
    keywords_of = staticmethod(words.keywords_of)
    inflected = staticmethod(inflected)

    def phrases(self, sentence: str) -> Iterable[str]:
        from embermem.languages.en.phrases import noun_phrases

        return noun_phrases(sentence)

    def is_thing(self, word: str) -> bool:
        from embermem.languages.en.phrases import is_thing

        return is_thing(word)

    def both(self, one: str, other: str) -> str:
        return f"{one} and {other}"

    def name_for(self, text: str, words: Iterable[str]) -> str | None:
        """English; only of a text that begins with three words of plain letters."""
        told = list(words)
        return super().name_for(text, told) if all(word.isascii() for word in told[:3]) else None

    def facts(self, text: str, said_at: datetime) -> Iterable[Finding]:
        from embermem.languages.en.facts.clauses import statements

        return statements(text, said_at)

    def instructions(self, text: str, said_at: datetime) -> Iterable[Finding]:
        from embermem.languages.en.facts.instructions import instructions

        return instructions(text, said_at)

    def instruction(self, phrase: str) -> tuple[str, str]:
        from embermem.languages.en.facts.instructions import instruction

        return instruction(phrase)

    def facts_of_agent(self, text: str) -> Iterable[Finding]:
        from embermem.languages.en.facts.agent import AGENT_RULES

        return find(AGENT_RULES, text)

    def of_fields(self, text: str, said_at: datetime, fields: Sequence[Field]) -> Iterable[Finding]:
        from embermem.languages.en.facts.fields import of_fields

        return of_fields(text, said_at, fields)

    def field(self, label: str, value: str) -> str:
        return f"has the {label} {value}"

    def flag(self, label: str, *, holds: bool) -> str:
        return f"has {label}: {'yes' if holds else 'no'}"

    def statement(self, attribute: str, value: str) -> str:
        return statement(attribute, value) or super().statement(attribute, value)

    def until(self, moment: datetime) -> str:
        return f" (until {self.day(moment)})"

    def day(self, moment: datetime) -> str:
        """ "8 May 2023"."""
        return f"{moment.day} {MONTH_NAMES[moment.month - 1]} {moment.year}"

    def month(self, moment: datetime) -> str:
        """ "May 2023"."""
        return f"{MONTH_NAMES[moment.month - 1]} {moment.year}"


LANGUAGE: Final = English()
