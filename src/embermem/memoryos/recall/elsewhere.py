"""What another agent knows of the same user, told beside an agent's own memory.

It is who the user is, never what was said: the user's profile and traits, and facts about the user. What the user
wishes of that agent, what is known of others and of the agent itself stay there. Where both memories know one thing
that has one value, the newer is told; both stay stored where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from embermem.core.attributes import is_instruction, single
from embermem.core.types import Context, Fact, Persona, ProfileField, Source
from embermem.memoryos.people import People
from embermem.prompts.rendering import fact_line, profile_lines, trait_lines
from embermem.protocols import TokenCounter

__all__ = ["Elsewhere", "context_of", "known_of_user", "newer_here", "without"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Elsewhere:
    """What a memory knows of its user: profile, traits and all facts about the user; those to tell, best first; and
    when each fact (by id) and profile line ("user.home") was said."""

    persona: Persona
    told: tuple[Fact, ...]
    said_at: Mapping[str, datetime] = field(default_factory=dict)


def known_of_user(
    persona: Persona,
    people: People,
    said_at: Callable[[Source], datetime | None],
    told: Iterable[Fact] | None = None,
) -> Elsewhere:
    """What may be told elsewhere; of the facts `told`, or all, the newest first. `said_at` says when a source was
    said."""

    def of_user(facts: Iterable[Fact]) -> tuple[Fact, ...]:
        return tuple(one for one in facts if people.is_user(one.subject) and not is_instruction(one.attribute))

    def time(known: Fact | ProfileField) -> datetime:
        return max((at for source in known.sources if (at := said_at(source))), default=known.recorded_at)

    facts = tuple(people.shown(fact) for fact in of_user(persona.facts))
    times = {fact.id: time(fact) for fact in facts} | {f"user.{line.name}": time(line) for line in persona.profile}
    return Elsewhere(
        persona=Persona(profile=persona.profile, traits=persona.traits, facts=facts),
        told=facts[::-1] if told is None else of_user(told),
        said_at=times,
    )


def newer_here(here: Elsewhere, there: Elsewhere) -> frozenset[str]:
    """What is not told from there because it was said here later: ids of facts, names of profile lines."""
    lines = {name for name in here.said_at.keys() & there.said_at.keys() if name.startswith("user.")}
    old = {name for name in lines if here.said_at[name] > there.said_at[name]}
    newest: dict[str, datetime] = {}
    for fact in here.persona.facts:
        if single(fact.attribute):
            at = here.said_at[fact.id]
            newest[fact.attribute] = max(at, newest.get(fact.attribute, at))
    for fact in there.persona.facts:
        if fact.attribute in newest and newest[fact.attribute] > there.said_at[fact.id]:
            old.add(fact.id)
    return frozenset(old)


def without(known: Elsewhere, outdated: frozenset[str]) -> Elsewhere:
    """The same without what is outdated."""
    lines = tuple(one for one in known.persona.profile if f"user.{one.name}" not in outdated)
    facts = _but(known.persona.facts, outdated)
    return replace(known, persona=replace(known.persona, profile=lines, facts=facts), told=_but(known.told, outdated))


def context_of(known: Elsewhere, empty: Context, budget: int, counter: TokenCounter) -> Context:
    """What is told, within the budget: the profile, then facts while they fit, then traits. Without numbers of sources,
    which are another memory's. `empty` is a context without anything."""
    facts: list[Fact] = []
    lines = _fitting(profile_lines(known.persona), [], budget, counter)
    for fact in known.told:
        line = fact_line(replace(fact, sources=()))
        if _fitting([line], lines, budget, counter) != lines:
            lines.append(line)
            facts.append(fact)
    lines = _fitting(trait_lines(known.persona), lines, budget, counter)
    text = "\n".join(lines)
    return replace(
        empty,
        text=text,
        tokens=counter.count(text),
        facts=tuple(facts),
        persona=known.persona,
        rests_on=tuple(dict.fromkeys(source.utterance_id for fact in facts for source in fact.sources)),
    )


def _fitting(lines: Sequence[str], before: Sequence[str], budget: int, counter: TokenCounter) -> list[str]:
    kept = [*before]
    for line in lines:
        if counter.count("\n".join((*kept, line))) <= budget:
            kept.append(line)
    return kept


def _but(facts: Sequence[Fact], outdated: frozenset[str]) -> tuple[Fact, ...]:
    return tuple(one for one in facts if one.id not in outdated)
