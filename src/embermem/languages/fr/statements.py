"""How facts read: a sentence for each attribute, without its subject."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.kinship import Kin

TEMPLATES: Final = {
    "name": "s'appelle {}", "nickname": "se fait appeler {}", "gender": "est de genre {}", "age": "a {} ans",
    "birth_year": "est né(e) en {}", "birthday": "fête son anniversaire le {}", "born_in": "est né(e) {in}",
    "comes_from": "vient de {}", "grew_up_in": "a grandi {in}", "nationality": "est {} de nationalité",
    "lives_in": "habite {in}", "works_as": "travaille comme {}", "works_at": "a pour lieu de travail {}",
    "works_in": "travaille dans {}", "studies": "étudie {}", "studies_at": "étudie à {}",
    "graduated_from": "a un diplôme de {}", "marital_status": "est {}", "native_language": "a pour langue maternelle le {}",
    "speaks": "parle {}", "learns": "apprend {}", "diet": "est au régime {}", "allergic_to": "est allergique à : {}",
    "has_condition": "a comme maladie : {}", "has_pet": "a {}", "has_relative": "a {}", "likes": "aime {}",
    "dislikes": "n'aime pas {}", "prefers": "préfère {}", "hobby": "fait pour loisir : {}", "plays": "joue {}",
    "collects": "collectionne {}", "avoids": "évite : {}", "drives": "conduit : {}", "visited": "a visité {}",
    "temperament": "est de nature {}", "role": "est {}", "cannot": "ne sait pas {}", "health": "est {}",
    "afraid_of": "a peur de : {}", "wants_to": "veut {}", "prepares_for": "prépare {}", "saves_for": "économise pour {}",
    "gives_up": "essaie d'arrêter : {}", "cuts_down_on": "réduit : {}", "on_diet": "suit un régime : {}",
    "budget": "a un budget de {}", "pronouns": "a pour pronoms {}", "religion": "est {} de religion",
    "height": "mesure {}", "phone": "a pour numéro de téléphone {}", "email": "a pour adresse e-mail {}",
    "education": "a comme formation : {}", "knows": "connaît {}", "owns": "possède {}", "did": "{}", "feels": "{}",
    "says": "dit que {}", "does": "{}", "takes": "prend {}", "plans": "prévoit de {}", "would_like_to": "aimerait {}",
}  # fmt: skip
"""`{}` is the value."""
ENDED: Final = {
    "works_as!": "ne travaille plus", "works_at!": "ne travaille plus chez cet employeur", "lives_in": "n'habite plus {in}",
    "works_at": "n'a plus pour lieu de travail {}", "works_as": "ne travaille plus comme {}", "has_pet": "n'a plus d'animal : {}",
    "likes": "n'aime plus {}", "dislikes": "ne déteste plus {}", "plans": "ne prévoit plus de {}",
    "allergic_to": "n'est plus allergique à : {}", "diet": "n'est plus au régime {}", "nickname": "ne se fait plus appeler {}",
    "marital_status": "n'est plus {}", "studies": "n'étudie plus {}", "speaks": "ne parle plus {}",
}  # fmt: skip
_IN: Final = {
    "en": "france italie espagne allemagne belgique suisse angleterre écosse irlande grèce turquie algérie tunisie suède norvège"
    " finlande pologne russie ukraine roumanie hongrie chine inde australie argentine colombie afrique europe asie amérique"
    " corse bretagne normandie provence alsace bourgogne auvergne savoie guadeloupe martinique guyane côte_d'ivoire",
    "au": "canada québec portugal maroc japon brésil mexique luxembourg sénégal cameroun mali liban vietnam danemark chili"
    " pérou togo bénin congo royaume-uni",
    "aux": "états-unis pays-bas philippines antilles",
}  # fmt: skip
_PREPOSITION: Final = {place.replace("_", " "): word for word, places in _IN.items() for place in places.split()}
_DE: Final = regex(r"\b(d|qu)e (?=[aeiouyéèêâîôûœ])", re.IGNORECASE)


def told(template: str, value: str) -> str:
    """A template with its value: "habite en Italie", "prévoit d'acheter un vélo"."""
    where = f"{_PREPOSITION.get(value.lower(), 'à')} {value}"
    return _DE.sub(r"\1'", template.replace("{in}", where, 1).replace("{}", value, 1))


_VOWEL = regex(r"[aeiouyéèêâîôûœh]", re.IGNORECASE)
_COUNTED = regex(
    r"(?:une?|deux|trois|quatre|cinq|six|sept|huit|\d+|des|plusieurs|le|la|les|son|sa|ses)\b|l'", re.IGNORECASE
)
_PETS = {"chienne": "une", "chatte": "une", "tortue": "une", "perruche": "une", "jument": "une", "poule": "une"}


def with_article(noun: str, kin: Mapping[str, Kin]) -> str:
    """A relative or a pet with its article, and its name: "une sœur, Ana"."""
    if _COUNTED.match(noun):
        return noun
    kind, name = _split(noun)
    known = kin.get(kind.lower())
    article = _PETS.get(kind, "un") if known is None else {"female": "une", "male": "un"}.get(known.sex, "un(e)")
    if kind == "parents":
        article = "des"
    told = f"{article} {kind}".strip()
    return f"{told}, {name}" if name else told


def relative_of(noun: str, of: str, kin: Mapping[str, Kin]) -> str:
    """ "La sœur de l'utilisateur"."""
    kind, name = _split(noun)
    known = kin.get(kind.lower())
    article = (
        "L'" if _VOWEL.match(kind) else {"female": "La ", "male": "Le "}.get("" if known is None else known.sex, "")
    )
    told = f"{article}{kind}" if article else kind[:1].upper() + kind[1:]
    whose = of[:1].lower() + of[1:]
    return f"{told} {'d' + chr(39) if _VOWEL.match(whose) else 'de '}{whose}{f', {name},' if name else ''}"


def _split(noun: str) -> tuple[str, str]:
    """A kind and a name: "sœur", "Ana"."""
    match = re.fullmatch(r"(.*?) ([A-ZÀ-Þ].*)", noun)
    return (noun, "") if match is None else (match[1], match[2])
