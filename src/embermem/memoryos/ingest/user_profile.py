"""What follows for the user's profile and traits where it turns out that somebody else is the user, or nobody is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from embermem.core.attributes import Attributes
from embermem.core.changes import CALLER, ProfileSet, TraitCleared
from embermem.core.types import About, Fact, Persona, ProfileField, Trait
from embermem.memoryos.ingest.profile_lines import mirrors
from embermem.memoryos.people import People, profile_from

__all__ = ["follows", "moved"]


def moved(persona: Persona, before: People, after: People, attributes: Attributes) -> Persona:
    """A persona without the lines and traits that rest on what is known of who is not the user any more, and with the
    lines that say what is known of who is the user now. What callers set of the user stays."""
    were, are = ([fact for fact in persona.facts if people.is_user(fact.subject)] for people in (before, after))
    if were == are:
        return persona
    return replace(persona, profile=_lines(persona, are, attributes), traits=_traits(persona, were, are))


def follows(was: Persona, now: Persona) -> list[ProfileSet | TraitCleared]:
    """The decisions that bring the user's lines and traits from what they were to what they are."""
    names, dimensions = {line.name for line in now.profile}, {trait.dimension for trait in now.traits}
    return [
        *(ProfileSet.ended(line, line.valid_from) for line in was.profile if line.name not in names),
        *(ProfileSet.of(line) for line in now.profile if line not in was.profile),
        *(TraitCleared(dimension=one.dimension) for one in was.traits if one.dimension not in dimensions),
    ]


def _lines(persona: Persona, are: Sequence[Fact], attributes: Attributes) -> tuple[ProfileField, ...]:
    others = [fact for fact in persona.facts if fact not in are]
    kept = tuple(
        line for line in persona.profile if line.set_by == CALLER or not any(mirrors(fact, line) for fact in others)
    )
    names = {line.name for line in kept}
    said = profile_from([fact for fact in are if fact.sources], attributes)  # what callers brought sets no line
    fresh = (replace(line, whose=About.USER) for line in said if line.name not in names)
    return (*kept, *fresh)


def _traits(persona: Persona, were: Sequence[Fact], are: Sequence[Fact]) -> tuple[Trait, ...]:
    ours = {source.seq for fact in are for source in fact.sources}
    theirs = {source.seq for fact in were for source in fact.sources} - ours
    return tuple(
        trait
        for trait in persona.traits
        if not trait.sources or not theirs.issuperset(source.seq for source in trait.sources)
    )
