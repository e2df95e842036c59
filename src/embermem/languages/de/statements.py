"""How facts read: a sentence for each attribute, without its subject."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.kinship import Kin

TEMPLATES: Final = {
    "name": "heißt {}", "nickname": "wird {} genannt", "gender": "ist {}", "age": "ist {} Jahre alt", "birth_year": "ist {} geboren",
    "birthday": "hat am {} Geburtstag", "born_in": "ist in {} geboren", "comes_from": "kommt aus {}", "grew_up_in": "ist in {} aufgewachsen",
    "nationality": "hat als Staatsangehörigkeit: {}", "lives_in": "wohnt in {}", "works_as": "arbeitet als {}", "works_at": "hat als Arbeitsplatz: {}",
    "works_in": "arbeitet im Bereich {}", "studies": "studiert {}", "studies_at": "hat als Studienort: {}", "graduated_from": "hat einen Abschluss von {}",
    "marital_status": "ist {}", "native_language": "hat als Muttersprache {}", "speaks": "spricht {}", "learns": "lernt {}",
    "diet": "ernährt sich so: {}", "allergic_to": "ist allergisch gegen {}", "has_condition": "hat {}", "has_pet": "hat {}", "has_relative": "hat {}",
    "likes": "mag {}", "dislikes": "mag nicht: {}", "prefers": "bevorzugt {}", "hobby": "hat als Hobby {}", "plays": "spielt {}",
    "collects": "sammelt {}", "avoids": "meidet {}", "drives": "fährt {}", "visited": "hat {} besucht", "temperament": "ist {}",
    "role": "ist {}", "cannot": "kann nicht {}", "health": "hat als Gesundheitszustand: {}", "afraid_of": "hat Angst vor {}", "wants_to": "will {}",
    "prepares_for": "bereitet sich vor auf {}", "saves_for": "spart für {}", "gives_up": "versucht aufzuhören: {}", "cuts_down_on": "reduziert {}",
    "on_diet": "macht eine Diät: {}", "budget": "hat ein Budget von {}", "pronouns": "verwendet die Pronomen {}", "religion": "hat als Religion: {}",
    "height": "ist {} groß", "phone": "hat die Telefonnummer {}", "email": "hat die E-Mail-Adresse {}", "education": "hat als Ausbildung {}",
    "knows": "kennt {}", "owns": "besitzt {}", "did": "{}", "feels": "{}", "says": "sagt, dass {}", "does": "{}",
    "takes": "nimmt ein: {}", "plans": "hat vor: {}", "would_like_to": "würde gern {}",
}  # fmt: skip
"""`{}` is the value."""
ENDED: Final = {
    "works_as!": "arbeitet nicht mehr", "works_at!": "ist nicht mehr bei diesem Arbeitgeber", "lives_in": "wohnt nicht mehr in {}",
    "works_at": "hat nicht mehr als Arbeitsplatz: {}", "works_as": "arbeitet nicht mehr als {}", "has_pet": "hat dieses Haustier nicht mehr: {}",
    "likes": "mag nicht mehr: {}", "dislikes": "hat nichts mehr gegen: {}", "plans": "hat nicht mehr vor: {}", "allergic_to": "ist nicht mehr allergisch gegen {}",
    "diet": "ernährt sich nicht mehr so: {}", "nickname": "wird nicht mehr {} genannt", "studies": "studiert nicht mehr {}", "speaks": "spricht nicht mehr {}",
}  # fmt: skip
_COUNTED = regex(r"(?:ein|eine|einen|zwei|drei|vier|fünf|sechs|\d+|mehrere|den|die|das|der|dem)\b", re.IGNORECASE)
_OBLIQUE: Final = {
    f"einen {word}": f"einen {form}"
    for word, form in {
        "Neffe": "Neffen", "Kollege": "Kollegen", "Nachbar": "Nachbarn", "Lebensgefährte": "Lebensgefährten",
        "Verlobter": "Verlobten", "bester": "besten Freund",
    }.items()
}  # fmt: skip
"""The accusative of words that have one of their own."""
_SHE = frozenset("katze hündin schildkröte ratte maus schlange echse ziege henne stute wüstenrennmaus".split())
_IT = frozenset("kaninchen meerschweinchen pferd pony huhn frettchen kätzchen hündchen chinchilla baby schaf".split())


def with_article(noun: str, kin: Mapping[str, Kin]) -> str:
    """A relative or a pet with its article, and its name: "eine Schwester, Ana"."""
    if _COUNTED.match(noun):
        return noun
    kind, name = split(noun)
    known = next((of for word, of in kin.items() if word.lower() == kind.lower()), None)
    if kind in ("Eltern", "Geschwister", "Großeltern", "Kinder"):
        told = kind
    elif kind.lower() in _SHE or (known is not None and known.sex == "female"):
        told = f"eine {kind}"
    else:
        told = f"{'ein' if kind.lower() in _IT else 'einen'} {kind}"
    told = _OBLIQUE.get(told, told)
    return f"{told}, {name}" if name else told


def relative_of(noun: str, of: str, kin: Mapping[str, Kin]) -> str:
    """ "Die Schwester der Person"."""
    kind, name = split(noun)
    kind = next((word for word in kin if word.lower() == kind.lower()), kind)
    known = kin.get(kind)
    plural = kind in ("Eltern", "Geschwister", "Großeltern", "Kinder")
    she = plural or (known is not None and known.sex == "female")
    article = ("Die " if she else "Das " if kind == "Baby" else "Der ") if known is not None else ""
    whose = f"der {of.removeprefix('Die ')}" if of.startswith("Die ") else f"von {of}"
    return f"{article}{kind} {whose}{f', {name},' if name else ''}"


def split(noun: str) -> tuple[str, str]:
    """A kind and a name: "Schwester", "Ana"."""
    kind, _, name = noun.partition(" ")
    return (noun, "") if not name[:1].isupper() else (kind, name)
