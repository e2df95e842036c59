"""The vocabulary of facts: each attribute, its kind, whether it has one value at a time, and whether it is a goal or
limit. Each language defines its wording (`Language.statement`). `Attributes` is the vocabulary of one memory: what is
built in, and the fields of its application.

Goals and limits are considered at every recall, even if no word of the query matches: a goal until it is reached or
given up, a limit (an allergy, food or activities that are excluded) as long as it is true. Instructions are told with
every recall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Literal

from embermem.core.errors import ConfigError
from embermem.core.fields import Field
from embermem.core.text import fold

Standing = Literal["goal", "limit"]


class Kind(IntEnum):
    """What a fact is about. The knowledge base keeps a higher kind longer: when it is full, tastes leave first."""

    TASTE = 1
    EVENT = 2
    """Something that happened once, or a state that passes."""
    HABIT = 3
    PLAN = 4
    """A goal, a plan or a wish: it ends at its date, when it is done, or when it is taken back."""
    POSSESSION = 5
    LIFE = 6
    """Work, education, languages, places."""
    RELATIVE = 7
    HEALTH = 8
    INSTRUCTION = 9
    """How somebody wants the agent to behave, until it is taken back."""
    IDENTITY = 10
    """Who someone is. It needs a statement of one's own: nobody else's word sets it, but for a relative's."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its kind; whether it has one value at a time; whether it is a goal, a limit, or neither
    (`standing`); the field of a person's profile that it is also stored as, or None; other names for it that a model or
    a caller may use."""

    name: str
    kind: Kind
    single: bool
    standing: Standing | None = None
    profile: str | None = None
    synonyms: tuple[str, ...] = ()


_TABLE = (
    Attribute("name", Kind.IDENTITY, True, profile="name", synonyms=("full_name", "first_name")),
    Attribute("nickname", Kind.IDENTITY, True, profile="name"),
    Attribute("gender", Kind.IDENTITY, True, profile="gender"),
    Attribute("age", Kind.IDENTITY, True),
    Attribute("birth_year", Kind.IDENTITY, True, profile="birth_year"),
    Attribute("birthday", Kind.IDENTITY, True, synonyms=("date_of_birth",)),
    Attribute("born_in", Kind.IDENTITY, True),
    Attribute("comes_from", Kind.IDENTITY, False, synonyms=("hometown", "origin")),
    Attribute("grew_up_in", Kind.IDENTITY, True),
    Attribute("nationality", Kind.IDENTITY, True),
    Attribute("lives_in", Kind.IDENTITY, True, profile="home", synonyms=("home", "residence", "location", "city")),
    Attribute("works_as", Kind.LIFE, True, profile="occupation", synonyms=("job", "occupation", "profession", "title")),
    Attribute("works_at", Kind.LIFE, True, synonyms=("employer", "company", "workplace")),
    Attribute("works_in", Kind.LIFE, True),
    Attribute("studies", Kind.LIFE, False, synonyms=("major", "field_of_study")),
    Attribute("studies_at", Kind.LIFE, True, synonyms=("school", "university")),
    Attribute("graduated_from", Kind.LIFE, False),
    Attribute("marital_status", Kind.RELATIVE, True),
    Attribute("native_language", Kind.IDENTITY, True, profile="language"),
    Attribute("speaks", Kind.LIFE, False),
    Attribute("learns", Kind.LIFE, False),
    Attribute("diet", Kind.HEALTH, False, "limit", synonyms=("dietary_restriction",)),
    Attribute("allergic_to", Kind.HEALTH, False, "limit", synonyms=("allergy", "allergies")),
    Attribute("has_condition", Kind.HEALTH, False, "limit", synonyms=("illness", "condition", "diagnosis")),
    Attribute("has_pet", Kind.POSSESSION, False, synonyms=("pet", "pets")),
    Attribute("has_relative", Kind.RELATIVE, False, synonyms=("relative", "family_member", "relationship")),
    Attribute("likes", Kind.TASTE, False, synonyms=("loves", "enjoys", "interest")),
    Attribute("dislikes", Kind.TASTE, False, synonyms=("hates",)),
    Attribute("prefers", Kind.TASTE, False),
    Attribute("hobby", Kind.HABIT, False),
    Attribute("plays", Kind.HABIT, False),
    Attribute("collects", Kind.POSSESSION, False),
    Attribute("avoids", Kind.HEALTH, False, "limit"),
    Attribute("drives", Kind.POSSESSION, True),
    Attribute("visited", Kind.EVENT, False),
    Attribute("temperament", Kind.IDENTITY, False),
    Attribute("role", Kind.IDENTITY, True),
    Attribute("cannot", Kind.HEALTH, False, "limit"),
    Attribute("health", Kind.HEALTH, False, "limit"),
    Attribute("afraid_of", Kind.HEALTH, False, "limit"),
    Attribute("wants_to", Kind.PLAN, False, "goal", synonyms=("goal", "wish")),
    Attribute("prepares_for", Kind.PLAN, False, "goal"),
    Attribute("saves_for", Kind.PLAN, False, "goal"),
    Attribute("gives_up", Kind.PLAN, False, "goal"),
    Attribute("cuts_down_on", Kind.PLAN, False, "goal"),
    Attribute("on_diet", Kind.PLAN, True, "goal"),
    Attribute("budget", Kind.PLAN, True, "goal"),
    Attribute("pronouns", Kind.IDENTITY, True),
    Attribute("religion", Kind.IDENTITY, True),
    Attribute("height", Kind.IDENTITY, True),
    Attribute("phone", Kind.IDENTITY, True, synonyms=("phone_number",)),
    Attribute("email", Kind.IDENTITY, True, synonyms=("email_address",)),
    Attribute("education", Kind.LIFE, False, synonyms=("degree",)),
    Attribute("knows", Kind.RELATIVE, False, synonyms=("friend", "colleague")),
    Attribute("owns", Kind.POSSESSION, False, synonyms=("has", "bought")),
    Attribute("did", Kind.EVENT, False, synonyms=("event", "experienced")),
    Attribute("feels", Kind.EVENT, False, synonyms=("thinks", "opinion")),
    Attribute("says", Kind.EVENT, False, synonyms=("states",)),
    Attribute("does", Kind.HABIT, False, synonyms=("activity", "habit", "routine")),
    Attribute("plans", Kind.PLAN, False, synonyms=("plan", "intends")),
    Attribute("would_like_to", Kind.PLAN, False, synonyms=("hopes_to", "dreams_of")),
    Attribute("instruction", Kind.INSTRUCTION, False, synonyms=("standing_instruction",)),
)

OPPOSITE = {"likes": "dislikes", "dislikes": "likes"}
"""Who says the one of a thing takes back the other."""

FAVORITE_PREFIX = "favorite_"
"""`favorite_<thing>` (favorite_color, favorite_food, …) holds one value each."""
INSTRUCTION = "instruction"
INSTRUCTION_PREFIX = "instruction_"
"""`instruction_<matter>` (instruction_language, instruction_length, …) holds one value each: a newer instruction about
the same matter ends the older one. `instruction` holds all others."""
_FAMILIES = {FAVORITE_PREFIX: Kind.TASTE, INSTRUCTION_PREFIX: Kind.INSTRUCTION}
"""Attributes that are made from a word of their own, each of one value."""


@cache
def attributes() -> dict[str, Attribute]:
    """Return the table by name."""
    return {a.name: a for a in _TABLE}


def attribute(name: str) -> Attribute:
    """The entry of that name. `favorite_<thing>` and `instruction_<matter>` are made from their words. Raises KeyError
    for an unknown name."""
    family = _family(name)
    return attributes()[name] if family is None else Attribute(name, family, True)


def single(name: str) -> bool:
    """Whether an attribute holds one value at a time; one that is not in the table does not."""
    return _family(name) is not None or (name in attributes() and attributes()[name].single)


def standing(name: str) -> Standing | None:
    """Whether an attribute is a goal or a limit; None for all others, and for one that is not in the table."""
    known = attributes().get(name)
    return None if known is None else known.standing


def kind(name: str) -> Kind:
    """The kind of an attribute; one that is not in the table is kept like a habit."""
    known = attributes().get(name)
    return (_family(name) or Kind.HABIT) if known is None else known.kind


def is_instruction(name: str) -> bool:
    """Whether an attribute holds standing instructions: facts of it are told with every recall, if they are the
    user's."""
    return name == INSTRUCTION or name.startswith(INSTRUCTION_PREFIX)


def _family(name: str) -> Kind | None:
    return next((kind for prefix, kind in _FAMILIES.items() if name.startswith(prefix)), None)


def canonical(name: str) -> str:
    """The table's name of an attribute; a name that it does not know unchanged."""
    return _names().get(name, name)


@cache
def _names() -> dict[str, str]:
    return {synonym: a.name for a in _TABLE for synonym in a.synonyms}


OTHER = "other"
"""The attribute of a fact for which none was given."""
_RESERVED = frozenset({OTHER, "description"})


class Attributes:
    """The attributes of one memory: those that are built in, and the fields of its application.

    A field may have the name of a built-in attribute if it holds as many values, which are texts or choices: it then
    adds to what is known of it. `never` are names of attributes, and of kinds such as "health", that are not kept.
    Immutable. Raises ConfigError for fields of the same name, and for one that cannot be told from what is built in.
    """

    def __init__(self, own: Sequence[Field] = (), never: Sequence[str] = ()) -> None:
        for name, count in Counter(one.name for one in own).items():
            if count > 1:
                raise ConfigError(f"there are {count} fields {name!r}; leave all but one out, or rename them")
        self.own = tuple(own)
        self._own = {one.name: one for one in own}
        self._never = frozenset(never)
        for one in own:
            _check_beside_built_in(one)
        self.former = {one.was: one.name for one in own if one.was}
        self._check_former()
        self._check_aliases()

    def _check_former(self) -> None:
        for one in self.own:
            if one.was in self._own:
                raise ConfigError(
                    f"field {one.name!r}: was = {one.was!r} is another field; leave was out, or that field"
                )
            if sum(other.was == one.was for other in self.own) > 1 and one.was:
                raise ConfigError(f"two fields were {one.was!r}; its values can move to one of them only")

    def _check_aliases(self) -> None:
        """A word names one field."""
        named: dict[str, str] = {}
        for one in self.own:
            for word in (one.name, one.label):
                named[fold(word)] = one.name
        for one in self.own:
            for alias in one.aliases:
                other = named.setdefault(fold(alias), one.name)
                if other != one.name:
                    raise ConfigError(
                        f"field {one.name!r}: the alias {alias!r} names the field {other!r} too; leave one of them out"
                    )

    def field(self, name: str) -> Field | None:
        """The field of that name; None if the application has none."""
        return self._own.get(name)

    def single(self, name: str) -> bool:
        """Whether an attribute holds one value at a time."""
        own = self._own.get(name)
        return single(name) if own is None else own.single

    def kind(self, name: str) -> Kind:
        """The kind of an attribute; a field is kept like what is known of somebody's life."""
        return Kind.LIFE if name in self._own and name not in attributes() else kind(name)

    def canonical(self, name: str) -> str:
        """The name under which an attribute is stored."""
        name = self.former.get(name, name)
        return name if name in self._own else canonical(name)

    def profile(self, name: str) -> str | None:
        """The line of a profile that an attribute is also stored as; None for an attribute that is in none."""
        own, known = self._own.get(name), attributes().get(name)
        if own is not None and own.single:
            return known.profile if known is not None and known.profile in _OF_PERSONS else name
        return None if known is None else known.profile

    def names_of(self, name: str) -> tuple[str, ...]:
        """The names under which values of an attribute were told: its own, and its former one."""
        own = self._own.get(name)
        return (name, own.was) if own is not None and own.was else (name,)

    def is_kept(self, name: str) -> bool:
        """Whether facts of an attribute may be kept."""
        return name not in self._never and self.kind(name).name.lower() not in self._never

    def may_show(self, line: str) -> bool:
        """Whether a line of a profile may be kept: one that is named by an attribute only if that is."""
        return not self.knows(line) or self.is_kept(line)

    def knows(self, name: str) -> bool:
        """Whether a name is that of an attribute, built in or of a field."""
        return name in self._own or name in attributes() or _family(name) is not None


BUILT_IN = Attributes()
"""The attributes of a memory without fields."""
_OF_PERSONS = frozenset({"name", "gender", "birth_year"})
"""Lines of profiles that say who somebody is: what reads them knows them by these names."""


def _check_beside_built_in(field: Field) -> None:
    """Raises ConfigError for a field that would be taken for what is built in, or would change it."""
    known, where = attributes().get(field.name), f"field {field.name!r}"
    if field.name in _RESERVED or _family(field.name) is not None or is_instruction(field.name):
        raise ConfigError(f"{where}: the name is kept for built-in attributes; choose another, such as my_{field.name}")
    if known is None:
        lines = {a.profile: a.name for a in _TABLE if a.profile}
        if built_in := lines.get(field.name):
            raise ConfigError(
                f"{where}: that line of a profile belongs to the built-in attribute {built_in}; call it {built_in} to "
                f"add to that, or choose another name, such as my_{field.name}"
            )
    elif known.single != field.single or field.type not in ("text", "choice"):
        count = "one value" if known.single else "many values"
        raise ConfigError(
            f"{where}: the built-in attribute of that name holds {count}, which are texts; set many = "
            f"{str(not known.single).lower()} and type = 'text' or 'choice', or choose another name, such as "
            f"my_{field.name}"
        )
