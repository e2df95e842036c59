"""Spanish."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from embermem.languages.es import patterns, words
from embermem.languages.es.asks import ASKS
from embermem.languages.es.dates import DATES
from embermem.languages.es.statements import ENDED, TEMPLATES, relative_of, told, with_article
from embermem.languages.es.vocabulary import MONTH_NAMES
from embermem.languages.european import European
from embermem.languages.language import interests_of, kin_of
from embermem.languages.parts import PeopleWords

if TYPE_CHECKING:
    from embermem.languages.facts.order_reader import Orders


class Spanish(European):
    """Spanish."""

    code = "es"
    name = "Spanish"
    vocabulary = words.WORDS
    stop_words = words.WORDS.function_words
    telling_words = words.TELLING
    own_letters = "ñ¿¡áíóú"
    abbreviations = r"sr|sra|srta|dr|dra|d|dña|etc|p\. ej|av|avda|núm|pág|ud|uds"
    assistant = "Asistente"
    weekdays = ("lun.", "mar.", "mié.", "jue.", "vie.", "sáb.", "dom.")
    talked_about = "Habló de"
    speaks_of = "habla de"
    joint = " y "
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
        kin=kin_of("es"),
        own=r"(?:mis?|nuestr[oa]s?)\s+",
        parted=r"\b(?:divorciad\w+|separad\w+|viud\w+)\b",
        theirs=r"sus?\b",
        user="El usuario",
        agent="El asistente",
    )
    interests = cached_property(interests_of)

    month_names = MONTH_NAMES
    templates = TEMPLATES
    ended = ENDED
    favorite = "tiene como {thing} favorito(a): {value}"
    instructed = "quiere del asistente: {}"
    no_longer_so = "ya no es cierto: {}"
    since_a_time, said_then, ended_on = " (desde {})", " (dicho el {})", " (hasta el {})"
    said_words = "dijo «{}»"
    has_field, has_flag, yes, no = "tiene {label} {value}", "tiene {label}: {value}", "sí", "no"
    day_form, short_day_form, month_form = "{day} de {month} de {year}", "{day} de {month}", "{month} de {year}"
    things: ClassVar[Mapping[str, str]] = {
        "color": "color", "food": "plato", "movie": "película", "book": "libro", "song": "canción", "sport": "deporte",
        "animal": "animal", "season": "estación", "city": "ciudad", "band": "grupo", "game": "juego", "fruit": "fruta",
        "show": "serie", "singer": "cantante", "author": "autor", "drink": "bebida", "flower": "flor",
    }  # fmt: skip

    def filled(self, template: str, value: str) -> str:
        return told(template, value)

    def with_article(self, noun: str) -> str:
        return with_article(noun, self.people.kin)

    def relative_of(self, kin: str, of: str) -> str:
        return relative_of(kin, of, self.people.kin)

    def orders(self) -> Orders:
        from embermem.languages.es.orders import ORDERS

        return ORDERS


LANGUAGE: Final = Spanish()
