"""The definition of a language, and the defaults for what is not known of it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import ClassVar

from embermem.core.attributes import FAVORITE_PREFIX, is_instruction
from embermem.core.fields import Field
from embermem.core.sensitive import SecretWords
from embermem.core.text import bare, fold
from embermem.core.traits import dimensions_by_name
from embermem.languages.dates.rules import ISO, DateTables
from embermem.languages.facts.finding import Finding
from embermem.languages.kinship import RELATIONS, Kin
from embermem.languages.parts import Guards, PeopleWords, Questions, Screening, Talk, ThemeWords, Values

__all__ = ["Language"]

_KINDS = frozenset({"has_relative", "has_pet", "knows"})
"""Attributes whose value is somebody's kin word, or an animal, with or without a name."""
_ENOUGH = 0.25
"""Of the words in English talk, a third and more are function words; in other languages next to none of these."""

_ALONE = 0.33
"""The same where only one is there: "pendant" is a word of two languages."""


class Language:
    """One language. The defaults need no knowledge of it: words are compared without accents, dates are ISO 8601, and
    no instruction is read. Instances are immutable."""

    code: ClassVar[str]
    """ISO 639, and the name of its folder."""
    name: ClassVar[str]
    """In English: "French"."""
    signs: ClassVar[str] = ""
    """The class of characters that only this language is written with, as in a regular expression without its
    brackets; empty for one that shares the letters of others."""
    shares: ClassVar[str] = ""
    """The code of a language whose signs this one is written with, too: a text of both is this one's, if enough of its
    signs are this one's own."""
    spaced: ClassVar[bool] = True
    """Whether spaces separate its words. If not, a character carries about as much as a short word."""
    density: ClassVar[float] = 1.0
    """How much a character carries, relative to one of English."""

    stop_words: ClassVar[frozenset[str]] = frozenset()
    """Function words, folded: they carry grammar, not topic."""
    telling_words: ClassVar[frozenset[str]] = frozenset()
    """Words, folded, by which a text in letters that languages share is known to be this language's: its function words
    and more; none where those are all."""
    own_letters: ClassVar[str] = ""
    """Letters that speak for this language among those that share an alphabet, in lower case."""
    abbreviations: ClassVar[str] = ""
    """A pattern of abbreviations whose full stop ends no sentence, without it."""
    full_stop: ClassVar[str] = "."
    assistant: ClassVar[str] = "Assistant"
    """The name of an assistant without a name."""
    sentence_end: ClassVar[str] = r"(?<=[.!?…])[\"'”’)\]]*\s+"
    """A pattern of the text between two sentences."""
    weekdays: ClassVar[tuple[str, ...]] = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    """Short names of the days of a week, from Monday."""
    talked_about: ClassVar[str] = "Talked about"
    """What stands before a list of topics."""
    speaks_of: ClassVar[str] = "speaks of"
    """The relation of a speaker to the content of a message."""
    templates: ClassVar[Mapping[str, str]] = {}
    """How a fact reads, by its attribute, without its subject: `{}` is the value."""
    ended: ClassVar[Mapping[str, str]] = {}
    """The same of a fact that is no longer so; of an attribute without a value, with `!` behind its name."""
    things: ClassVar[Mapping[str, str]] = {}
    """Words for the things of which somebody has a favorite."""
    favorite: ClassVar[str] = "favorite {thing}: {value}"
    """How a favorite reads: `{thing}` and `{value}`."""
    instructed: ClassVar[str] = "instruction: {}"
    """How an instruction reads: `{}` is the instruction."""
    no_longer_so: ClassVar[str] = "no longer: {}"
    """How any other fact reads that is no longer so: `{}` is the statement."""
    joint: ClassVar[str] = ", "
    """Between two things of a heading: "knee pain and sleep"."""
    month_names: ClassVar[Sequence[str]] = ()
    """Its months as a day is written, from January; none where they are numbers."""
    day_form: ClassVar[str] = "{year:04d}-{month:02d}-{day:02d}"
    short_day_form: ClassVar[str] = "{year:04d}-{month:02d}-{day:02d}"
    month_form: ClassVar[str] = "{year:04d}-{month:02d}"
    """How a day, a day without its year, and a month are written."""
    in_a_time: ClassVar[str] = " ({})"
    since_a_time: ClassVar[str] = " (since {})"
    said_then: ClassVar[str] = " (said {})"
    ended_on: ClassVar[str] = " (until {})"
    """What follows a statement, with its time."""
    speaks: ClassVar[str] = "{}: {}"
    """A speaker and a message."""
    said_words: ClassVar[str] = 'said "{}"'
    has_field: ClassVar[str] = "{label}: {value}"
    has_flag: ClassVar[str] = "{label}: {value}"
    """A field with its value, and one that is true or false, with the words for that."""
    yes: ClassVar[str] = "yes"
    no: ClassVar[str] = "no"
    longest_piece: ClassVar[int] = 300
    """Characters after which a sentence is taken apart: a transcript without full stops has parts too."""

    dates: ClassVar[DateTables] = DateTables(leads=ISO.leads, cores=ISO.cores)
    questions: ClassVar[Questions] = Questions()
    talk: ClassVar[Talk] = Talk()
    screening: ClassVar[Screening] = Screening()
    guards: ClassVar[Guards] = Guards()
    themes: ClassVar[Mapping[str, ThemeWords]] = {}
    """Words of the themes for which a goal or limit is relevant to a query, by the theme's name."""
    temperaments: ClassVar[Mapping[str, float]] = {}
    """Words for a temperament: from introverted (−1) to extroverted (+1)."""
    secrets: ClassVar[SecretWords] = SecretWords()
    values: ClassVar[Values] = Values()
    asks: ClassVar[Mapping[str, str]] = {}
    """Patterns of the questions that a fact answers, by its attribute; for a query in lower case."""
    people: ClassVar[PeopleWords] = PeopleWords()
    full_width: ClassVar[str] = ""
    """The class of its punctuation that is as wide as its characters."""

    # ------------------------------------------------------------------------------------------------------ words

    def terms_of(self, run: str) -> tuple[str, ...]:
        """The terms of a folded word (of a run without spaces, if it is written so): none for a function word."""
        return () if run in self.stop_words else (bare(run),)

    def search_terms_of(self, run: str) -> tuple[str, ...]:
        """The same for a search, where more forms of a word are to meet."""
        return self.terms_of(run)

    def terms_to_match(self, run: str) -> tuple[str, ...]:
        """The same for uses that must not miss a match: without accents, in full case folding."""
        return self.terms_of(run)

    def stem(self, word: str) -> str:
        """The stem of a lower-cased word; the word itself if the stem is unknown."""
        return word

    def singular(self, word: str) -> str:
        """The singular of a lower-cased noun; any other word unchanged."""
        return word

    def inflected(self, one: str, other: str, *, counted: bool) -> bool:
        """Whether two lower-cased words that differ are forms of one that mean the same in a value. `counted`: an
        article stands before one of them."""
        return False

    def keywords_of(self, run: str) -> tuple[str, ...]:
        """The words of a run, as written, that may be keywords: folded, in the singular, without fillers."""
        word = fold(run)
        return (word,) if len(word) > 2 and word not in self.stop_words and not word.isdecimal() else ()

    def parts_of(self, run: str) -> Iterable[str]:
        """The words that an unbroken run is made of, in order; together they are the run."""
        return (run,)

    def phrases(self, sentence: str) -> Iterable[str]:
        """Phrases of a sentence that could stand in a heading, about a thing or a name, as they are written."""
        return (run for run in re.findall(r"[^\W\d_]+", sentence) if self.keywords_of(run))

    def is_thing(self, word: str) -> bool:
        """Whether a keyword could be the name of a thing, as far as the language knows."""
        return True

    def both(self, one: str, other: str) -> str:
        """A heading of two things: "knee pain and sleep"."""
        return f"{one}{self.joint}{other}"

    def is_written_in(self, words: Sequence[str]) -> bool:
        """Whether a text of these folded words is this language's: a quarter of them are its function words, or begin
        with one that lost its vowel ("j'habite")."""
        telling = self.telling_words or self.stop_words
        known = sum(word in telling or word[: word.find("'") + 1] in telling for word in words)
        return known > 0 and known >= (_ENOUGH if known > 1 else _ALONE) * len(words)

    def name_for(self, text: str, words: Sequence[str]) -> str | None:
        """The name of a text's language for a model that has to answer in it; None for another language. `words`
        are those of its words that are spelled in letters, folded."""
        return self.name if self.is_written_in(words) else None

    # ---------------------------------------------------------------------------------------- instructions and fields

    def instructions(self, text: str, said_at: datetime) -> Iterable[Finding]:
        """The standing instructions of a screened text to the agent, and what it takes back of earlier ones, in order.
        Positions are those of the text given."""
        return ()

    def instruction(self, phrase: str) -> tuple[str, str]:
        """The attribute and value of an instruction in its speaker's words: "Please keep your answers short." """
        return "instruction", phrase.strip()

    def of_fields(self, text: str, said_at: datetime, fields: Sequence[Field]) -> Iterable[Finding]:
        """The statements of a screened text about its speaker that give values of an application's fields, in the words
        that were said; of a field that holds many, a list. Positions are those of the text given."""
        return ()

    @property
    def interests(self) -> Mapping[str, str]:
        """The dimension of traits that a word, folded and in the singular, indicates."""
        return {}

    # ---------------------------------------------------------------------------------------------------- phrases

    def statement(self, attribute: str, value: str) -> str:
        """A fact in words, without its subject: "lives in Lyon"."""
        if attribute.startswith(FAVORITE_PREFIX):
            thing = attribute.removeprefix(FAVORITE_PREFIX)
            return self.favorite.format(thing=self.things.get(thing, thing.replace("_", " ")), value=value)
        if is_instruction(attribute):
            return self.instructed.replace("{}", value, 1)
        template = self.templates.get(attribute)
        if template is None:
            return f"{attribute.replace('_', ' ')}: {value}"
        return self.filled(template, self.with_article(value) if attribute in _KINDS else value)

    def filled(self, template: str, value: str) -> str:
        """A template with its value."""
        return template.replace("{}", value, 1)

    def with_article(self, noun: str) -> str:
        """A relative, friend or pet with its article, and its name: "une sœur, Ana"."""
        return noun

    def field(self, label: str, value: str) -> str:
        """The value of a field in words, without its subject: "has the level B1"."""
        return self.has_field.format(label=label, value=value)

    def flag(self, label: str, *, holds: bool) -> str:
        """The same of a field that is true or false: "has newsletter: yes"."""
        return self.has_flag.format(label=label, value=self.yes if holds else self.no)

    def no_longer(self, attribute: str, value: str) -> str:
        """The retraction of a statement; without a value, of the whole attribute."""
        template = self.ended.get(attribute if value else f"{attribute}!")
        if template is not None:
            return self.filled(template, value)
        return self.no_longer_so.replace("{}", self.statement(attribute, value).strip(), 1)

    def dated(self, label: str, *, since: bool) -> str:
        """The suffix of a statement that was true in a period, or is true since a time."""
        return (self.since_a_time if since else self.in_a_time).format(label)

    def said_on(self, day: str) -> str:
        """The suffix of a statement without a time of its own: the day on which it was said, in ISO 8601."""
        return self.said_then.format(day)

    def until(self, moment: datetime) -> str:
        """The suffix of a statement that is no longer true: the day on which it ended."""
        return self.ended_on.format(self.day(moment))

    def day(self, moment: datetime) -> str:
        """A day as people write it, in the moment's own zone."""
        return self._written(self.day_form, moment)

    def short_day(self, moment: datetime) -> str:
        """The same without the year."""
        return self._written(self.short_day_form, moment)

    def month(self, moment: datetime) -> str:
        """A month as people write it, in the moment's own zone."""
        return self._written(self.month_form, moment)

    def _written(self, form: str, moment: datetime) -> str:
        month = self.month_names[moment.month - 1] if self.month_names else moment.month
        return form.format(year=moment.year, month=month, day=moment.day)

    def of_subject(self, subject: str, statement: str) -> str:
        """The statement with its subject: "sister Ana lives in Lyon"."""
        return f"{subject}{' ' if self.spaced else ''}{statement}"

    def relative_of(self, kin: str, of: str) -> str:
        """How a relative of somebody is called at the beginning of a sentence, where whose they are stands behind; ""
        where it stands before, with `PeopleWords.possessive`."""
        return ""

    def said_by(self, speaker: str, text: str) -> str:
        """A message with its speaker: "Ana: I live in Lyon"."""
        return self.speaks.format(speaker, text)

    def quoted(self, text: str) -> str:
        """A statement that somebody said this, without its subject: 'said "I live in Lyon"'."""
        return self.said_words.format(text)


@cache
def words_of(code: str, name: str) -> frozenset[str]:
    """The words of <name>.txt in a language's folder: separated by white space, `_` for a space within one; `#` begins
    a comment."""
    lines = file_of(code, f"{name}.txt").splitlines()
    return frozenset(w.replace("_", " ") for line in lines for w in line.partition("#")[0].split())


def kin_of(code: str) -> dict[str, Kin]:
    """The words of kin.csv in a language's folder, each with what it says; `_` for a space within one. Raises
    ValueError for an unknown relation."""
    found: dict[str, Kin] = {}
    for row in csv.DictReader(file_of(code, "kin.csv").splitlines()):
        if row["relation"] not in RELATIONS:
            raise ValueError(f"{code}/kin.csv names an unknown relation: {row['relation']}")
        kin = Kin(row["relation"], row["sex"], row["age"])
        found |= {word.replace("_", " "): kin for word in row["words"].split()}
    return found


def interests_of(language: Language) -> dict[str, str]:
    """The dimensions of a language's interests.csv, by its words, folded and in the singular. Raises ValueError for a
    dimension that is not one of the 90."""
    known = dimensions_by_name()
    found: dict[str, str] = {}
    for row in csv.DictReader(file_of(language.code, "interests.csv").splitlines()):
        if row["dimension"] not in known:
            raise ValueError(f"{language.code}/interests.csv names an unknown dimension: {row['dimension']}")
        for word in row["words"].split():
            found.setdefault(normal_form(language, word.replace("_", " ")), row["dimension"])
    return found


def normal_form(language: Language, text: str) -> str:
    """A text's words folded, in the singular, without punctuation around them."""
    return " ".join(language.singular(word.strip(".,'\"")) for word in fold(text).split())


def file_of(code: str, name: str) -> str:
    """The text of a file in a language's folder."""
    return files("embermem.languages").joinpath(code, name).read_text(encoding="utf-8")
