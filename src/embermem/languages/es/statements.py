"""How facts read: a sentence for each attribute, without its subject."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.kinship import Kin

TEMPLATES: Final = {
    "name": "se llama {}", "nickname": "se hace llamar {}", "gender": "es de género {}", "age": "tiene {} años",
    "birth_year": "nació en {}", "birthday": "cumple años el {}", "born_in": "nació en {}", "comes_from": "es de {}",
    "grew_up_in": "creció en {}", "nationality": "es de nacionalidad {}", "lives_in": "vive en {}", "works_as": "trabaja como {}",
    "works_at": "trabaja en {}", "works_in": "se dedica a {}", "studies": "estudia {}", "studies_at": "estudia en {}",
    "graduated_from": "tiene un título de {}", "marital_status": "tiene como estado civil: {}", "native_language": "tiene como lengua materna el {}", "speaks": "habla {}",
    "learns": "está aprendiendo {}", "diet": "lleva una dieta: {}", "allergic_to": "tiene alergia a: {}",
    "has_condition": "tiene como enfermedad: {}", "has_pet": "tiene {}", "has_relative": "tiene {}", "likes": "disfruta de {}",
    "dislikes": "no disfruta de {}", "prefers": "prefiere {}", "hobby": "tiene como afición: {}", "plays": "practica: {}",
    "collects": "colecciona {}", "avoids": "evita: {}", "drives": "conduce: {}", "visited": "visitó {}",
    "temperament": "es una persona {}", "role": "es {}", "cannot": "no sabe {}", "health": "tiene como estado de salud: {}",
    "afraid_of": "tiene miedo a: {}", "wants_to": "quiere {}", "prepares_for": "se prepara para: {}",
    "saves_for": "ahorra para {}", "gives_up": "intenta dejar: {}", "cuts_down_on": "reduce: {}",
    "on_diet": "está a dieta: {}", "budget": "tiene un presupuesto de {}", "pronouns": "usa los pronombres {}",
    "religion": "es de religión {}", "height": "mide {}", "phone": "tiene el número de teléfono {}",
    "email": "tiene el correo {}", "education": "tiene como formación: {}", "knows": "conoce a {}", "owns": "posee {}",
    "did": "{}", "feels": "{}", "says": "dice que {}", "does": "{}", "takes": "toma {}", "plans": "tiene previsto {}",
    "would_like_to": "desea {}",
}  # fmt: skip
"""`{}` is the value."""
ENDED: Final = {
    "works_as!": "ya no trabaja", "works_at!": "ya no trabaja para esa empresa", "lives_in": "ya no vive en {}",
    "works_at": "ya no trabaja en {}", "works_as": "ya no trabaja como {}", "has_pet": "ya no tiene esta mascota: {}",
    "likes": "ya no disfruta de {}", "dislikes": "ya no rechaza {}", "plans": "ya no tiene previsto {}",
    "allergic_to": "ya no tiene alergia a: {}", "diet": "ya no lleva una dieta: {}", "nickname": "ya no se hace llamar {}",
    "studies": "ya no estudia {}", "speaks": "ya no habla {}",
}  # fmt: skip
_COUNTED = regex(
    r"(?:un|una|dos|tres|cuatro|cinco|seis|siete|\d+|unos|unas|varios|los|las|el|la|su|sus)\b", re.IGNORECASE
)
_SHE = frozenset("perra gata gatita tortuga cotorra yegua gallina cobaya serpiente oveja cabra".split())


_WITH_EL = regex(r"\b(de|a) el (?=[a-záéíóúñ])")


def told(template: str, value: str) -> str:
    """A template with its value: "disfruta del café"."""
    return _WITH_EL.sub(r"\1l ", template.replace("{}", value, 1))


def with_article(noun: str, kin: Mapping[str, Kin]) -> str:
    """A relative or a pet with its article, and its name: "una hermana, Ana"."""
    if _COUNTED.match(noun):
        return noun
    kind, name = _split(noun)
    known = kin.get(kind.lower())
    is_she = kind in _SHE or kind == "pareja" or (known is not None and known.sex == "female")
    article = "" if kind.endswith("s") else "una" if is_she else "un"
    told = f"{article} {kind}".strip()
    return f"{told}, {name}" if name else told


def relative_of(noun: str, of: str, kin: Mapping[str, Kin]) -> str:
    """ "La hermana del usuario"."""
    kind, name = _split(noun)
    known = kin.get(kind.lower())
    she = kind == "pareja" or (known is not None and known.sex == "female")
    article = ("Los " if kind.endswith("s") else "La " if she else "El ") if known is not None else ""
    whose = of[:1].lower() + of[1:] if of.startswith("El ") else of
    link = f"del {whose[3:]}" if whose.startswith("el ") else f"de {whose}"
    return f"{article}{kind} {link}{f', {name},' if name else ''}"


def _split(noun: str) -> tuple[str, str]:
    """A kind and a name: "hermana", "Ana"."""
    match = re.fullmatch(r"(.*?) ([A-ZÀ-Þ].*)", noun)
    return (noun, "") if match is None else (match[1], match[2])
