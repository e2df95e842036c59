"""German."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from embermem.languages.de import patterns, words
from embermem.languages.de.asks import ASKS
from embermem.languages.de.dates import DATES
from embermem.languages.de.statements import ENDED, TEMPLATES, relative_of, with_article
from embermem.languages.de.vocabulary import MONTH_NAMES
from embermem.languages.european import European
from embermem.languages.language import interests_of, kin_of
from embermem.languages.parts import PeopleWords

if TYPE_CHECKING:
    from embermem.languages.facts.order_reader import Orders


class German(European):
    """German."""

    code = "de"
    name = "German"
    vocabulary = words.WORDS
    stop_words = words.WORDS.function_words
    telling_words = words.TELLING
    own_letters = "äöüß"
    abbreviations = r"hr|fr|dr|prof|bzw|z\. ?b|u\. ?a|d\. ?h|usw|ca|nr|str|evtl|ggf|inkl|\d{1,2}"
    assistant = "Assistent"
    weekdays = ("Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa.", "So.")
    talked_about = "Sprach über"
    speaks_of = "spricht von"
    joint = " und "
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
    people = PeopleWords(
        kin=kin_of("de"),
        own=r"(?:mein|unser)\w{0,2}\s+",
        parted=r"\b(?:geschieden|getrennt|verwitwet|witwer?)\b",
        theirs=r"(?:sein|ihr)(?:e[mnrs]?)?\b",
        user="Die Person",
        agent="Der Assistent",
    )
    interests = cached_property(interests_of)

    month_names = MONTH_NAMES
    templates = TEMPLATES
    ended = ENDED
    favorite = "hat als Lieblings-{thing}: {value}"
    instructed = "wünscht sich vom Assistenten: {}"
    no_longer_so = "gilt nicht mehr: {}"
    since_a_time, said_then, ended_on = " (seit {})", " (gesagt am {})", " (bis {})"
    said_words = "sagte „{}“"
    has_field, has_flag, yes, no = "hat {label} {value}", "hat {label}: {value}", "ja", "nein"
    day_form, short_day_form, month_form = "{day}. {month} {year}", "{day}. {month}", "{month} {year}"
    things: ClassVar[Mapping[str, str]] = {
        "color": "Farbe", "food": "Essen", "movie": "Film", "book": "Buch", "song": "Lied", "sport": "Sport", "animal": "Tier",
        "season": "Jahreszeit", "city": "Stadt", "band": "Band", "game": "Spiel", "fruit": "Obst", "show": "Serie",
        "singer": "Sänger(in)", "author": "Autor(in)", "drink": "Getränk", "flower": "Blume",
    }  # fmt: skip

    def with_article(self, noun: str) -> str:
        return with_article(noun, self.people.kin)

    def relative_of(self, kin: str, of: str) -> str:
        return relative_of(kin, of, self.people.kin)

    def orders(self) -> Orders:
        from embermem.languages.de.orders import ORDERS

        return ORDERS


LANGUAGE: Final = German()
