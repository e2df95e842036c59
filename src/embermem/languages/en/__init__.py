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
    first_person = patterns.FIRST_PERSON
    """A text without it says nothing of its speaker."""
    guards = patterns.GUARDS
    themes = patterns.THEMES
    temperaments = patterns.TEMPERAMENTS
    secrets = patterns.SECRETS
    values = patterns.VALUES
    asks = ASKS
    people = PeopleWords(
        kin=kin_of("en"),
        own=r"(?:my|our)\s+",
        parted=r"\b(?:divorc\w+|separated|widow\w*|broken up)\b",
        theirs=r"(?:his|her|their)\b",
    )
    interests = cached_property(interests_of)
    joint = " and "
    month_names = MONTH_NAMES
    day_form, short_day_form, month_form = "{day} {month} {year}", "{day} {month}", "{month} {year}"
    has_field, has_flag = "has the {label} {value}", "has {label}: {value}"

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

    def name_for(self, text: str, words: Iterable[str]) -> str | None:
        """English; only of a text that begins with three words of plain letters."""
        told = list(words)
        return super().name_for(text, told) if all(word.isascii() for word in told[:3]) else None

    def facts(self, text: str, said_at: datetime) -> Iterable[Finding]:
        """The statements of a screened text about its speaker, in order. Positions are those of the text given."""
        from embermem.languages.en.facts.clauses import statements

        return statements(text, said_at)

    def instructions(self, text: str, said_at: datetime) -> Iterable[Finding]:
        from embermem.languages.en.facts.instructions import instructions

        return instructions(text, said_at)

    def instruction(self, phrase: str) -> tuple[str, str]:
        from embermem.languages.en.facts.instructions import instruction

        return instruction(phrase)

    def facts_of_agent(self, text: str) -> Iterable[Finding]:
        """Statements of an assistant about itself in a screened text: its name, its role, what it cannot do."""
        from embermem.languages.en.facts.agent import statements

        return statements(text)

    def of_fields(self, text: str, said_at: datetime, fields: Sequence[Field]) -> Iterable[Finding]:
        from embermem.languages.en.facts.fields import of_fields

        return of_fields(text, said_at, fields)

    def statement(self, attribute: str, value: str) -> str:
        return statement(attribute, value) or super().statement(attribute, value)

    def no_longer(self, attribute: str, value: str) -> str:
        told = self.statement(attribute, value) if value else f"{attribute.replace('_', ' ')} anything"
        return self.no_longer_so.replace("{}", told, 1)


LANGUAGE: Final = English()
