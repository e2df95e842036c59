"""How facts read: a sentence for each attribute, without its subject."""

from __future__ import annotations

from typing import Final

from embermem.core.attributes import FAVORITE_PREFIX, is_instruction
from embermem.core.patterns import regex

_TEMPLATES: Final = {
    "name": "is called {}",
    "nickname": "goes by {}",
    "gender": "is {a}",
    "age": "is {} years old",
    "birth_year": "was born in {}",
    "birthday": "has their birthday on {}",
    "born_in": "was born in {}",
    "comes_from": "comes from {}",
    "grew_up_in": "grew up in {}",
    "nationality": "is {}",
    "lives_in": "lives in {}",
    "works_as": "works as {a}",
    "works_at": "works at {}",
    "works_in": "works in {}",
    "studies": "studies {}",
    "studies_at": "studies at {}",
    "graduated_from": "graduated from {}",
    "marital_status": "is {}",
    "native_language": "speaks {} as first language",
    "speaks": "speaks {}",
    "learns": "is learning {}",
    "diet": "is {}",
    "allergic_to": "is allergic to {}",
    "has_condition": "has {}",
    "has_pet": "has {}",
    "has_relative": "has {k}",
    "likes": "likes {}",
    "dislikes": "dislikes {}",
    "prefers": "prefers {}",
    "hobby": "has the hobby {}",
    "plays": "plays {}",
    "collects": "collects {}",
    "avoids": "avoids {}",
    "drives": "drives {a}",
    "visited": "visited {}",
    "temperament": "is {n}",
    "role": "is {}",
    "cannot": "cannot {}",
    "health": "is {}",
    "afraid_of": "is afraid of {}",
    "wants_to": "wants to {}",
    "prepares_for": "is preparing for {}",
    "saves_for": "is saving for {}",
    "gives_up": "is giving up {}",
    "cuts_down_on": "is cutting down on {}",
    "on_diet": "is on {a}",
    "budget": "is on {}",
    "pronouns": "goes by the pronouns {}",
    "religion": "is {}",
    "height": "is {} tall",
    "phone": "has the phone number {}",
    "email": "has the email address {}",
    "education": "has {}",
    "knows": "has {k}",
    "owns": "has {}",
    "did": "{}",
    "feels": "{}",
    "says": "says that {}",
    "does": "{}",
    "plans": "plans to {}",
    "would_like_to": "would like to {}",
}
"""`{}` is the value, `{a}` the value after a or an, `{n}` the same unless the value is an adjective ("introverted"),
`{k}` a kin word with its article, and its name ("a sister named Ana")."""
_KIN_NAMED: Final = regex(r"((?:best )?[a-zé-]+) ([A-ZÀ-Þ].*)")
"""A kin word and a name."""
_IS_PLURAL: Final = regex(r".*(?:children|[^s]s)").fullmatch
_STATES: Final = frozenset(
    """pregnant expecting sick seasick carsick ill deaf blind colour-blind color-blind diabetic dyslexic autistic
    asthmatic epileptic anaemic anemic coeliac celiac infertile disabled depressed bipolar""".split()
)
"""A condition that somebody is and does not have: "pregnant", "diabetic"."""


def statement(attribute: str, value: str) -> str | None:
    """ "lives in Lyon"; None for an attribute that is not known."""
    if attribute.startswith(FAVORITE_PREFIX):
        return f"has {value} as favorite {attribute.removeprefix(FAVORITE_PREFIX).replace('_', ' ')}"
    if is_instruction(attribute):
        return f"wants the assistant {_infinitive(value)}"
    template = _TEMPLATES.get(attribute)
    if template is None:
        return None
    if attribute == "has_condition" and value.lower() in _STATES:
        template = _TEMPLATES["health"]
    if attribute == "role" and value.startswith("your "):
        value = f"the user's {value.removeprefix('your ')}"
    with_article = _with_article(value)
    if "{k}" in template:
        named = _KIN_NAMED.fullmatch(value)
        if named is not None:
            value = f"{named[1] if _IS_PLURAL(named[1]) else _with_article(named[1])} named {named[2]}"
        elif " " not in value and not _IS_PLURAL(value):
            value = with_article
        return template.replace("{k}", value, 1)
    if attribute == "owns" and value.isascii() and value.isalpha() and not _IS_PLURAL(value):
        value = with_article
    as_noun = value if value.endswith("ed") else with_article
    return template.replace("{a}", with_article, 1).replace("{n}", as_noun, 1).replace("{}", value, 1)


def _infinitive(order: str) -> str:
    """ "never to call them Bob", "to always give sources"."""
    return f"never to {order.removeprefix('never ')}" if order.startswith("never ") else f"to {order}"


def _with_article(value: str) -> str:
    if value.lower().startswith(("a ", "an ", "the ")):
        return value
    return f"{'an' if value[:1].lower() in 'aeiou' else 'a'} {value}"
