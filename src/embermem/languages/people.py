"""Names of persons who are told of: kin words before a name, alone, and as somebody's; and how a person is called."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from embermem import languages
from embermem.core.text import fold
from embermem.languages.language import Language

__all__ = ["AGENT", "USER", "Called", "called", "label", "no_name", "whose"]

USER, AGENT = "user", "agent"
"""The subjects of facts about a speaker without a name, on the user's and on the agent's side."""


class Called(NamedTuple):
    """A subject taken apart: "Bob's sister Ana" is of Bob, by kin sister, by name Ana. Empty is what is not said."""

    of: str
    kin: str
    name: str


def called(subject: str) -> Called:
    """The parts of a subject. What has no kin word is a name; a kin word without an owner is the user's."""
    for pattern in _patterns():
        if (match := pattern.fullmatch(subject.strip())) is not None:
            return Called(match["of"] or USER, match["kin"].lower(), match["name"] or "")
    return Called("", "", subject.strip())


def whose(of: str, kin: str, language: Language) -> str:
    """The subject for somebody's relative without a name: "Bob's sister", "Bob的妹妹"."""
    return f"{of}{language.people.possessive}{kin}"


def label(subject: str, language: Language) -> str:
    """How a subject is called in a sentence: "Ana", "The user", "The user's sister"."""
    for role, word in ((USER, language.people.user), (AGENT, language.people.agent)):
        if subject == role:
            return word
        if subject.startswith(role + language.people.possessive):
            return word + subject[len(role) :]
    return subject


def no_name(speaker: str) -> bool:
    """Whether a speaker's name says only the part played ("user", "助手"), not who it is."""
    return fold(speaker) in _roles()


@cache
def _roles() -> frozenset[str]:
    return frozenset({"", *(fold(word) for one in languages.all() for word in one.talk.nobody)})


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(_pattern(one) for one in languages.all() if one.people.kin)


def _pattern(language: Language) -> re.Pattern[str]:
    kin = "|".join(re.escape(word) for word in sorted(language.people.kin, key=lambda word: (-len(word), word)))
    space = " " if language.spaced else ""
    return re.compile(
        rf"(?:(?P<of>.+?){re.escape(language.people.possessive)})?(?P<kin>{kin})(?:{space}(?P<name>\S.*))?",
        re.IGNORECASE,
    )
