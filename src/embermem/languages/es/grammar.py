"""What the reader of statements needs to know of Spanish: clauses, doubts, relatives, and how dates read."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from datetime import date
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.es.facts import FRAMES, NO_NAMES, OF_KIN, PHRASES
from embermem.languages.es.vocabulary import MONTH_NAMES
from embermem.languages.facts.clause_reader import Grammar
from embermem.languages.facts.clause_values import CAP
from embermem.languages.language import kin_of
from embermem.languages.parts import NEVER

_I: Final = re.IGNORECASE
_KIN: Final = kin_of("es")
_WORDS: Final = "|".join(re.escape(word) for word in sorted(_KIN, key=len, reverse=True))
_VERBS: Final = r"(?:yo|me|mi|mis|nos|no|ya|vivo|trabajo|tengo|tenemos|soy|estoy|estudio|ahora|también|hago|toco|juego|voy|vamos|he|hemos|odio|detesto|adoro|prefiero|quiero|hablo|nací|crecí|vive|trabaja|tiene|es|está|se|le|estudia|adora|odia|toca|juega|además|desde|él|ella|compré|fui|nuestr[oa])\b"


def label(day: date, grain: str) -> str:
    """ "12 de marzo de 2024", "marzo de 2024", "2024"."""
    if grain == "year":
        return str(day.year)
    month = f"{MONTH_NAMES[day.month - 1]} de {day.year}"
    return month if grain == "month" else f"{'semana del ' if grain == 'week' else ''}{day.day} de {month}"


GRAMMAR: Final = Grammar(
    phrases=PHRASES,
    frames=FRAMES,
    of_kin=OF_KIN,
    cut=regex(
        r"\s*[;:–—]\s+|\s+-\s+|\s*[()]\s*|\s*(?=¿)|\s*¡|,\s+(?=(?!(?:que|llamad[oa])\b)\w)(?!(?:el|la|los|las|un|una|a la|al|a los)\s[^,]{0,25}(?:,| y ))"
        rf"|\s+(?:y|pero|porque|ya que|así que|pues|aunque|e)\s+(?={_VERBS})",
        _I,
    ),
    joins=regex(
        r"\s(?:y|e|pero|ni)\s(?!(?:el|la|los|las|un|una|unos|unas|mi|mis|su|sus|de|del|en|a|al|con|por|para|sin|desde|hasta|también|otr[oa]s?|cada|este|esta|dos|tres)\b|\d|(?-i:[A-ZÁÉÍÓÚÑ]))"
        r"|\s(?:y|pero)\s(?=(?:en|el|a|desde|este|la)\s[^,.;]{3,24}\s(?:se|me|nos|te|ven\w+|viene|vino|empie\w+|va|voy)\b)|\s(?:porque|aunque|donde|cuando|mientras|así que)\s|,\sque\s",
        _I,
    ),
    unreal_sentence=regex(
        r"\b(?:imagin(?:a|ad|ate|emos|emonos)|imagínate|supong(?:amos|o)|pongamos|soñé|he soñado|en (?:mi|un) sueño|en (?:la|el|una|un|mi) (?:película|libro|juego|novela|serie) (?=soy|tengo|vivo|me)|mi personaje|juego de rol|hago el papel|finge|haz como|inocentada|érase una vez|había una vez|traduce|traducción|cómo se (?:dice|escribe)|la frase|esta frase|por ejemplo,? (?:yo|tengo|soy)|eres (?:un|una) (?:experto|experta|asistente|profesor))\b",
        _I,
    ),
    unreal=regex(
        r"(?:^|\s)(?:si|por si|como si|ojalá|en caso de que|a no ser que|a menos que)\s|\b(?:parece que|dicen que|(?:me|nos|le) (?:ha|han) (?:dicho|contado|preguntado|escrito)|(?:me|nos|le) (?:dijo|dijeron|contó|preguntó|escribió)|(?:dice|decía|dicen|cuenta|piensa|cree|pregunta|escribe|dijo|respondió) (?:que|:)|según|me pregunto|como (?:decía|dice|solía decir))\b"
        r"|\b(?:hubiera|habría|tendría|viviría|sería|fuera|fuese|viviera|tuviera)\b|\b(?:crees|piensas|sabes|conoces|dirías|quieres) (?:que|si|algún|alguna|qué|cómo)?",
        _I,
    ),
    doubtful=regex(
        r"\b(?:quizás?|tal vez|a lo mejor|probablemente|puede que|igual me|no sé si|no estoy segur[oa]|creo (?:que|haber)|pienso que|me parece que|casi (?!siempre|todos|todas|nunca)|por poco|supuestamente|cuando (?:era|tenía|vivía|fui)|de (?:pequeñ[oa]|niñ[oa]|joven)|antes (?:vivía|trabajaba)"
        r"|es broma|estoy bromeando|o no)\b",
        _I,
    ),
    blocked=regex(
        r"\b(?:que(?! viene| entra)|si|donde|cuando|quien|quienes|como|sin|hasta que|tú|usted|él|ella|ellos|ellas|cuál|qué|por qué|cuánto|cuántos|dónde|cómo|cuándo|nunca|jamás|ni|dice|dijo|tampoco)(?:\b|$)",
        _I,
    ),
    withdrawn=regex(r"\W*(?:(?:no,? )?(?:es|era) (?:una )?broma|(?:no,? )?estoy bromeando|que va|es mentira|no,? (?:en realidad|perdón),? (?:es|no))", _I),
    tag=regex(r"^\W*(?:no|verdad|cierto|eh|vale|sí|o no|a que sí|no es así|correcto|es así|me equivoco)\W*$", _I),
    kin_words=_KIN,
    kin_forms={},
    kin=regex(
        rf"\b(?:mi|mis|nuestr[oa]) (?:(?:querid[oa]|otr[oa]|futur[oa]|nuev[oa]) )?(?P<kin>{_WORDS})(?: (?:mayor|menor|pequeñ[oa]|gemel[oa]))?(?![\w-])(?:,? (?:se llama |llamad[oa] |que se llama )?(?P<who>(?-i:{CAP})(?!\w)))?,?",
        _I,
    ),
    subject_open=regex(
        r"\s*(?:(?:y|pero|pues|entonces|porque|así que|además|por cierto|bueno|oye|ah|oh|sí|luego|después|ahora|hoy|ayer|también|este finde|este año|por fin|menos mal que|desgraciadamente|buenas noticias|de hecho)[,\s]+)*",
        _I,
    ),
    and_me=regex(r"\s*y yo,?", _I),
    we="",
    elided=regex(NEVER),
    speaker="",
    pronoun=regex(r"(?:(?P<she>ella)|(?P<he>él))\b", _I),
    no_names=NO_NAMES,
    label=label,
    list_cut=regex(r"(?:,? y|,| e| así como) (?:al |a la |a los |a las |a |el |la |los |las )", _I),
    between=regex(r"\s*\b(?:el|la|los|en|desde|para|hacia|a partir de|del|de|a|este|esta|durante|antes de|después de|hasta|por)?\s*(?:el |la |los )?$", _I),
    of_agent=(
        ("name", regex(rf"(?:^|(?<=[.!,] ))[Mm]e llamo (?P<v>{CAP})(?=\s*(?:[.,!]|$|y\b))")),
        ("role", regex(r"(?:^|(?<=[.!,] )|(?<=y ))[Ss]oy (?P<v>(?:tu|su) (?:[a-záéíóúñ-]+ ){0,2}?(?:tutora?|profesora?|profe|coach|asistente|guía|conseje\w+|compañer[oa]|ayudante|entrenadora?))(?=\s*(?:[.,!]|$|y\b|para\b|de\b))")),
        ("cannot", regex(r"(?:^|(?<=[.!] ))[Cc]omo (?:IA|inteligencia artificial),? no puedo (?P<v>[a-záéíóúñ][^,.;!?\n*]{2,60})(?=[,.;!]|$)")),
    ),
)  # fmt: skip
