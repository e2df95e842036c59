"""French."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from embermem.languages.european import European
from embermem.languages.fr import patterns, words
from embermem.languages.fr.asks import ASKS
from embermem.languages.fr.dates import DATES
from embermem.languages.fr.statements import ENDED, TEMPLATES
from embermem.languages.fr.vocabulary import MONTH_NAMES
from embermem.languages.language import interests_of, kin_of
from embermem.languages.parts import PeopleWords

if TYPE_CHECKING:
    from embermem.languages.facts.order_reader import Orders


class French(European):
    """French."""

    code = "fr"
    name = "French"
    vocabulary = words.WORDS
    stop_words = words.WORDS.function_words
    telling_words = words.TELLING
    own_letters = "çœæèêëàâîïôùûÿ"
    abbreviations = r"m|mm|mme|mlle|dr|pr|etc|cf|p\. ex|av|env|bd|st|ste"
    sentence_end = r"(?<=[.!?…])[\s\u00a0\u202f]*[»\"”]*\s+"
    assistant = "Assistant"
    weekdays = ("lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim.")
    talked_about = "A parlé de"
    speaks_of = "parle de"
    joint = " et "
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
        kin=kin_of("fr"),
        own=r"(?:mon|ma|mes|notre|nos)\s+",
        parted=r"\b(?:divorc\w+|séparée?s?|veu(?:f|ve))\b",
        theirs=r"(?:son|sa|ses|leurs?)\b",
        user="L'utilisateur",
        agent="L'assistant",
    )
    interests = cached_property(interests_of)

    month_names = MONTH_NAMES
    templates = TEMPLATES
    ended = ENDED
    favorite = "a pour {thing} préféré(e) : {value}"
    instructed = "souhaite de l'assistant : {}"
    no_longer_so = "n'est plus vrai : {}"
    since_a_time, said_then, ended_on = " (depuis {})", " (dit le {})", " (jusqu'au {})"
    said_words = "a dit « {} »"
    has_field, has_flag, yes, no = "a pour {label} {value}", "a pour {label} : {value}", "oui", "non"
    things: ClassVar[Mapping[str, str]] = {
        "color": "couleur", "food": "plat", "movie": "film", "book": "livre", "song": "chanson", "sport": "sport", "animal": "animal",
        "season": "saison", "city": "ville", "band": "groupe", "game": "jeu", "fruit": "fruit", "dessert": "dessert", "show": "série",
        "singer": "chanteur", "author": "auteur", "drink": "boisson", "flower": "fleur", "restaurant": "restaurant",
    }  # fmt: skip

    def orders(self) -> Orders:
        from embermem.languages.fr.orders import ORDERS

        return ORDERS

    def filled(self, template: str, value: str) -> str:
        from embermem.languages.fr.statements import told

        return told(template, value)

    def with_article(self, noun: str) -> str:
        from embermem.languages.fr.statements import with_article

        return with_article(noun, self.people.kin)

    def relative_of(self, kin: str, of: str) -> str:
        from embermem.languages.fr.statements import relative_of

        return relative_of(kin, of, self.people.kin)


LANGUAGE: Final = French()
