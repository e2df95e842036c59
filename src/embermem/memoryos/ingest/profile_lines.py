"""Profile lines beside facts: which line says what a fact says, and the traits that stand in the profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from embermem import languages
from embermem.core.changes import CALLER, FactAdded, ProfileSet
from embermem.core.traits import dimensions_by_name
from embermem.core.types import Fact, FactProposal, Persona, ProfileField, ProfileProposal, Trait
from embermem.core.user_overrides import speaks_of
from embermem.memoryos.ingest.value_equality import same_value

_YOUNG, _OLD = 20, 60
"""age_group: +1 at twenty and below, −1 at sixty and above, linear between (ours; the paper gives only the poles)."""
_GENDER_LEVELS = {"female": 1.0, "male": -1.0}


def mirrors(fact: Fact | FactProposal | FactAdded, line: ProfileField | ProfileProposal | ProfileSet) -> bool:
    """Whether a profile line says what the fact says: both rest on the same words of the same utterance; where only
    the utterance is known, on the same one with the same value."""
    spans = {(source.seq, source.start, source.end) for source in fact.sources}
    return any(
        (source.seq, source.start, source.end) in spans
        and (source.start is not None or same_value(fact.value, line.value or ""))
        for source in line.sources
    )


def lines_before(then: Persona, now: Persona) -> tuple[ProfileField, ...]:
    """Lines that the profile `now` has from a later time on, as the facts say that were true `then`: where one change
    learnt both, the log holds the later line alone."""
    known = {line.name for line in then.profile}
    told = []
    for line in now.profile:
        behind = next((fact for fact in now.facts if line.set_by != CALLER and mirrors(fact, line)), None)
        if line.name in known or behind is None:
            continue
        before = [fact for fact in then.facts if speaks_of(fact) == speaks_of(behind)]
        if before:
            fact = before[-1]
            told.append(
                replace(
                    line,
                    value=fact.value,
                    sources=fact.sources,
                    recorded_at=fact.recorded_at,
                    retired_at=fact.retired_at,
                    valid_from=fact.valid_from,
                    change_no=fact.change_no,
                )
            )
    return tuple(told)


def derived_traits(profile: Sequence[ProfileField], at: datetime) -> tuple[Trait, ...]:
    """age_group and gender, which stand in the profile and are derived from it."""
    known = {field.name: field for field in profile}
    traits = []
    birth = known.get("birth_year")
    if birth is not None and birth.value.strip().isdecimal():
        age = at.year - int(birth.value)
        level = max(-1.0, min(1.0, 1.0 - 2.0 * (age - _YOUNG) / (_OLD - _YOUNG)))
        traits.append(_from_profile("age_group", level, birth))
    gender = known.get("gender")
    known_as = None if gender is None else languages.gender(gender.value)
    if gender is not None and known_as is not None:
        traits.append(_from_profile("gender", _GENDER_LEVELS[known_as], gender))
    return tuple(traits)


def _from_profile(name: str, level: float, field: ProfileField) -> Trait:
    dimension = dimensions_by_name()[name]
    return Trait(
        dimension=name,
        category=dimension.category,
        level=level,
        confidence=1.0,
        pole=dimension.pole(level),
        sources=field.sources,
        recorded_at=field.recorded_at,
        change_no=field.change_no,
    )
