"""The cap of a knowledge base: what leaves for the archive when there are more facts than it holds (paper §3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from embermem.core.changes import FactAdded, FactArchived
from embermem.core.config import Settings
from embermem.core.text import fold
from embermem.core.types import About, Fact, FactId

_Unpinned = TypeVar("_Unpinned", bound=Fact | FactAdded)


def as_written(fact: Fact | FactAdded) -> str:
    """The subject of a fact, as it is compared with others."""
    return fold(fact.subject)


def over_cap(
    held: Iterable[Fact], settings: Settings, person: Callable[[Fact], str] = as_written
) -> list[FactArchived]:
    """What goes to the archive of the facts that are held: see `beyond_cap`; pinned ones stay."""
    return beyond_cap({fact.id: fact for fact in held if not fact.pinned}, settings, person)


def beyond_cap(
    unpinned: Mapping[FactId, _Unpinned], settings: Settings, person: Callable[[_Unpinned], str] = as_written
) -> list[FactArchived]:
    """§3.3: knowledge bases are queues of 100; here the oldest unpinned facts go to the archive, not away. They are in
    order of confirmation. Each `person` has a base of their own, and what leaves first are tastes, then what happened
    once: who somebody is, their relatives and their health stay longest (`Kind`). Preset `paper`: the oldest."""
    bases: dict[tuple[About, str], list[FactId]] = {}
    paper, known = settings.preset == "paper", settings.attributes
    for fact_id, fact in unpinned.items():
        bases.setdefault((fact.about, "" if paper else person(fact)), []).append(fact_id)
    archived: list[FactArchived] = []
    for (about, _), own in bases.items():
        over = len(own) - (settings.user_facts if about is About.USER else settings.agent_facts)
        first = own if paper else sorted(own, key=lambda fact_id: known.kind(unpinned[fact_id].attribute))
        archived += [FactArchived(fact_id=fact_id) for fact_id in first[: max(0, over)]]
    return archived
