"""The cap of a knowledge base: what leaves for the archive when there are more facts than it holds (paper §3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from embermem.core.attributes import kind
from embermem.core.changes import FactAdded, FactArchived
from embermem.core.config import Settings
from embermem.core.text import fold
from embermem.core.types import About, Fact, FactId


def over_cap(held: Iterable[Fact], settings: Settings) -> list[FactArchived]:
    """What goes to the archive of the facts that are held: see `beyond_cap`; pinned ones stay."""
    return beyond_cap({fact.id: fact for fact in held if not fact.pinned}, settings)


def beyond_cap(unpinned: Mapping[FactId, Fact | FactAdded], settings: Settings) -> list[FactArchived]:
    """§3.3: knowledge bases are queues of 100; here the oldest unpinned facts go to the archive, not away. They are in
    order of confirmation. Each subject has a base of its own, and what leaves first are tastes, then what happened
    once: who somebody is, their relatives and their health stay longest (`Kind`). Preset `paper`: the oldest."""
    bases: dict[tuple[About, str], list[FactId]] = {}
    paper = settings.preset == "paper"
    for fact_id, fact in unpinned.items():
        bases.setdefault((fact.about, "" if paper else fold(fact.subject)), []).append(fact_id)
    archived: list[FactArchived] = []
    for (about, _), own in bases.items():
        over = len(own) - (settings.user_facts if about is About.USER else settings.agent_facts)
        first = own if paper else sorted(own, key=lambda fact_id: kind(unpinned[fact_id].attribute))
        archived += [FactArchived(fact_id=fact_id) for fact_id in first[: max(0, over)]]
    return archived
