"""Names of persons who are told of: kin words before a name, alone, and as somebody's; and how a person is called."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from embermem import languages
from embermem.core.text import fold
from embermem.languages.kinship import OF_MANY, Kin, exclude
from embermem.languages.language import Language
from embermem.languages.words import terms, unspaced

__all__ = [
    "AGENT",
    "JOINTS",
    "USER",
    "Called",
    "called",
    "excluded",
    "is_parted",
    "kin_in",
    "label",
    "may_be_another",
    "mentions",
    "no_name",
    "of_theirs",
    "person_in",
    "relation_of",
    "told_in",
    "whose",
    "without_own",
]

_OWN = languages.either(lambda one: one.people.own)
JOINTS = tuple({one.people.possessive for one in languages.all() if not one.spaced})
"""What joins two words in scripts without spaces, and begins none."""
_PARTED = languages.finder(lambda one: one.people.parted)
_THEIRS = languages.either(lambda one: one.people.theirs)

USER, AGENT = "user", "agent"
"""The subjects of facts about a speaker without a name, on the user's and on the agent's side."""


class Called(NamedTuple):
    """A subject taken apart: "Bob's sister Ana" is of Bob, by kin sister, by name Ana. Empty is what is not said."""

    of: str
    kin: str
    name: str


@lru_cache(maxsize=8192)
def called(subject: str) -> Called:
    """The parts of a subject. What has no kin word is a name; a kin word without an owner is the user's."""
    for pattern in _patterns():
        if (match := pattern.fullmatch(subject.strip())) is not None:
            name = match["name"] or ""  # 表姐的老家 names no cousin, but hers
            return Called(match["of"] or USER, match["kin"].lower(), "" if name.startswith(JOINTS) else name)
    return Called("", "", subject.strip())


def person_in(words: str) -> str | None:
    """The subject that words of a message name: a word of kin with what follows it, or a name; None where they name
    nobody, as a pronoun does."""
    words = without_own(words)
    parts = words.split()
    for first in range(len(parts)):
        who = called(" ".join(parts[first:]))
        if who.kin:
            words = " ".join(parts[first:])
            is_cut = not who.name or (len(who.name) == 1 and unspaced(who.name) > 0)
            return who.kin if is_cut and unspaced(words[-1]) else words
    is_name = not words[:1].islower() and (len(words) > 1 or not unspaced(words)) and not words.startswith(JOINTS)
    return words if is_name and terms(words) else None


def without_own(words: str) -> str:
    """The words without what says at their beginning that it is the speaker's: "sister" of "my sister"."""
    own = _OWN.match(words)
    return words if own is None else words[own.end() :]


def of_theirs(words: str) -> bool:
    """Whether words name somebody by whose relative they are, and that is not the speaker: "her husband"."""
    return _THEIRS.match(words) is not None


def whose(of: str, kin: str, name: str = "") -> str:
    """The subject for somebody's relative: "Bob's sister", "Bob的妹妹"; with a name "Bob's sister Ana"."""
    language = _language_of(kin, f"{of}{kin}{name}")
    return f"{of}{language.people.possessive}{kin}{_joint(language) if name else ''}{name}"


def _language_of(kin: str, told: str) -> Language:
    """The language of a kin word: the one that has it, or that of what is told, if none has or several have it."""
    those = [language for language in languages.all() if fold(kin) in language.people.kin]
    return those[0] if len(those) == 1 else languages.by_signs(told if told and those else kin)


def _joint(language: Language) -> str:
    """What stands between a kin word and a name."""
    joint = language.people.joint
    return joint if joint is not None else " " if language.spaced else ""


def excluded(kin: str, other: str) -> bool:
    """Whether nobody is both to the same person: a brother and a colleague, a sister and a mother."""
    one, another = _kin().get(fold(kin)), _kin().get(fold(other))
    return one is not None and another is not None and exclude(one, another)


def kin_in(text: str) -> frozenset[str]:
    """The words of kin in a text, of every language."""
    folded = fold(text)
    said = frozenset(re.findall(r"[^\W_]+(?:-[^\W_]+)*", folded))
    return frozenset(
        word for word in _kin() if word in said or ((" " in word or not word.isascii()) and word in folded)
    )


def label(subject: str, language: Language) -> str:
    """How a subject is called in a sentence: "Ana", "The user", "The user's sister"."""
    for role, word in ((USER, language.people.user), (AGENT, language.people.agent)):
        if subject == role:
            return word
        if subject.startswith(role + language.people.possessive):
            rest = subject[len(role) + len(language.people.possessive) :]
            return language.relative_of(rest, word) or word + subject[len(role) :]
    return subject


def told_in(statement: str) -> Language:
    """The language of a statement, which begins in it, whatever names stand in it: 住在Lyon, "lives in 北京"."""
    begins = languages.by_signs(statement[:1])
    return languages.by_signs(statement) if begins.signs else languages.spelled(statement)


def mentions(text: str, name: str) -> bool:
    """Whether a name stands in a text as words of its own, in whatever case: not Al in "allergic"."""
    text, name = fold(text), fold(name)
    at = text.find(name)
    while name and at >= 0:
        if not _one_word(text[at - 1 : at], name[0]) and not _one_word(name[-1], text[at + len(name) :][:1]):
            return True
        at = text.find(name, at + 1)
    return False


def _one_word(left: str, right: str) -> bool:
    """Whether two characters beside one another belong to one word of a language with spaces."""
    return left.isalnum() and right.isalnum() and not unspaced(left) and not unspaced(right)


def may_be_another(subject: str) -> bool:
    """Whether a subject is a relative or an acquaintance without a name, of whom somebody may have several."""
    return not called(subject).name and relation_of(subject) in OF_MANY


def relation_of(words: str) -> str:
    """How somebody is related whom words of kin name (kinship.py): "sibling" of "sister Ana"; "" where none does."""
    kin = _kin().get(fold(called(words).kin))
    return "" if kin is None else kin.relation


def is_parted(status: str) -> bool:
    """Whether a marital status is that of somebody who had a partner: divorced, widowed."""
    return _PARTED(status) is not None


def no_name(speaker: str) -> bool:
    """Whether a speaker's name says only the part played ("user", "助手"), not who it is."""
    return fold(speaker) in _roles()


@cache
def _roles() -> frozenset[str]:
    return frozenset({"", *(fold(word) for one in languages.all() for word in one.talk.nobody)})


@cache
def _kin() -> dict[str, Kin]:
    return {fold(word): kin for language in languages.all() for word, kin in language.people.kin.items()}


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(_pattern(one) for one in languages.all() if one.people.kin)


def _pattern(language: Language) -> re.Pattern[str]:
    kin = "|".join(re.escape(word) for word in sorted(language.people.kin, key=lambda word: (-len(word), word)))
    return re.compile(
        rf"(?:(?P<of>.+?){re.escape(language.people.possessive)})?(?P<kin>{kin})(?:{re.escape(_joint(language))}(?P<name>\S.*))?",
        re.IGNORECASE,
    )
