"""The words and patterns of a language, by what they are asked for.

A pattern is a regular expression as text, without groups that have names. What every language says of one thing is
joined to one pattern (`registry.either`) and compiled without regard to case, if the field does not say otherwise.
`NEVER` matches nothing: a language that has it adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from embermem.core.types import Role
from embermem.languages.kinship import Kin

NEVER: Final = r"(?!)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Questions:
    """What a query asks for."""

    marks: tuple[str, ...] = ("?",)
    """What a question ends with."""
    several: str = NEVER
    """Which ones, all of them."""
    past: str = NEVER
    """What was."""
    character: str = NEVER
    """What somebody is like: their personality, what they are into."""
    advice: str = NEVER
    """A wish for advice, an idea or a plan, which depends on likes and limits: "What should I …?"."""
    continues: str = NEVER
    """What makes a query the continuation of another: an opening ("and her sister?"), or nothing but what asks
    ("why?")."""
    points_back: str = NEVER
    """A word for a thing or a place that was named before: "there"."""
    pronoun: str = NEVER
    """A word for somebody who was named before."""
    overview: str = NEVER
    """Who is somebody, what happened, what is known: in lower case."""
    overview_words: str = NEVER
    """Words of such a question beside names and times, in lower case. With any other it asks for something else."""
    days_words: str = NEVER
    """Further words of a question that asks for nothing but what was on some days, in lower case."""
    beside_day: str = NEVER
    """What a query names a day with (written §) without asking what was on it: "planned for §", "since §"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Talk:
    """How people talk: openings of a message, who is meant, what says little."""

    shift: str = NEVER
    """Openings that turn to another topic, after signs that are no letters."""
    back: str = NEVER
    """Openings that point back to what was said."""
    small_talk: str = NEVER
    """Openings of sentences that say little."""
    leads: str = NEVER
    """Openings that join a sentence to the one before and say nothing by themselves, with what parts them from it."""
    me: str = NEVER
    """The speaker, in lower case: where none is found, the speaker is not told of."""
    you: str = NEVER
    """The one spoken to, in lower case."""
    you_signs: tuple[str, ...] = ()
    """One of these stands wherever `you` is found."""
    my_words: str = NEVER
    """What marks a sentence as said of the speaker, for a summary."""
    courtesy: frozenset[str] = frozenset()
    """Words, folded, of thanks, praise and farewell: a few words beside them say little."""
    parts: Mapping[str, Role] = field(default_factory=dict)
    """Names, in lower case, that say only which side of a conversation speaks, in files of conversations."""
    nobody: frozenset[str] = frozenset()
    """Names, in lower case, that say the part played and not who it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Screening:
    """What is not the speaker's own word."""

    quoted_speaker: str = NEVER
    """The first person in a quotation."""
    whole: str = NEVER
    """Texts of which nothing is the speaker's own: to translate, a letter, fiction, a joke."""
    from_here: str = NEVER
    """From here on the text is fiction or another's."""
    lasting: str = NEVER
    """A text without it holds no standing instruction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guards:
    """What is not believed of a page or a model."""

    order: str = NEVER
    """An order to the memory or its model."""
    error: str = NEVER
    """How an error or a refusal begins, after signs that are no letters."""
    nothing: str = NEVER
    """Words for there being no value."""
    genders: Mapping[str, str] = field(default_factory=dict)
    """Words for a gender, in lower case: "female" or "male"."""
    female: str = NEVER
    male: str = NEVER
    """Words, in lower case, by which who says them of themselves has that gender."""
    reporting: str = ""
    """Words, apart by spaces, with which somebody tells what others said."""
    stating: Mapping[str, str] = field(default_factory=dict)
    """By attribute, what a statement of it holds: "I live in …" for a home."""
    denying: str = NEVER
    """What a statement holds that something is not so."""
    ending: str = NEVER
    """What a statement holds that something is no longer so."""
    own: str = NEVER
    """A statement that its speaker makes of themselves."""
    supposing: str = NEVER
    """What stands before what is only supposed: "if I lived in Rome"."""
    degree: str = NEVER
    """A degree or a kind of school, as a value by itself."""
    no_allergy: str = NEVER
    """A clause that denies an allergy."""
    dwelling: str = NEVER
    """What ends a value that names a dwelling or a part of it, or who lives there, and no place: "a flat on the third
    floor", "alone"."""
    grown: str = NEVER
    """What stands behind a place in words that say that somebody grew up or was born there."""
    working: str = NEVER
    """What begins words that say what somebody does at work, and name no occupation: "teaches in a room"."""
    ironic: str = NEVER
    """What stands before what is not meant: "yeah right, I love Mondays"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThemeWords:
    """What a query of a theme says, and what the text of a fact says that belongs to it; in lower case."""

    asked: str
    told: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Values:
    """What may differ between two values that say the same. Words are folded."""

    leading: str = NEVER
    """How who likes something says so, before what is liked; in lower case."""
    subject: str = NEVER
    """The speaker before a value ("I'm a nurse"); in lower case."""
    infinitive: str = ""
    """What stands before a verb ("to ")."""
    possessive: str = ""
    """The end of a word that owns the next ("'s")."""
    articles: frozenset[str] = frozenset()
    """Words for one, where another follows."""
    dropped: frozenset[str] = frozenset()
    """Words that add nothing where another follows: possessives, fillers."""
    conjunctions: frozenset[str] = frozenset()
    """Words that part a list."""
    yes: frozenset[str] = frozenset()
    no: frozenset[str] = frozenset()
    """Words for a truth value."""
    naming: frozenset[str] = frozenset()
    """Words between what somebody has and its name ("a dog named Rex")."""
    within: str = NEVER
    """What parts a list within a run without spaces."""
    taken_off: tuple[str, ...] = ()
    """What is taken off a run without spaces, one after the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PeopleWords:
    """How persons are named who are told of: `kin` are words such as sister, friend and boss, each before a name or
    alone, with what they say; `possessive` joins whose they are to them; `user` and `agent` stand for a speaker without
    a name at the beginning of a sentence; `joint` stands between a kin word and a name, None for a space where the
    language has spaces. `own` matches what stands before a kin word and says that it is the speaker's, `theirs`
    what says that it is somebody else's, `parted` a marital status after a partner."""

    kin: Mapping[str, Kin] = field(default_factory=dict)
    possessive: str = "'s "
    user: str = "The user"
    agent: str = "The assistant"
    joint: str | None = None
    own: str = NEVER
    theirs: str = NEVER
    parted: str = NEVER
