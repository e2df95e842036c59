"""What ends by itself: pages are forgotten for good, facts hold no longer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from embermem.core.changes import CALLER, Decision, FactRetired, ProfileSet
from embermem.core.config import Settings
from embermem.core.types import Fact, Owner, Persona
from embermem.memoryos.forget import forgetting
from embermem.memoryos.ingest.long_term import mirrors
from embermem.protocols import Store


def forget_expired(
    store: Store,
    owner: Owner,
    *,
    now: datetime,
    settings: Settings,
    summarise: forgetting.Summarise,
    extractive: str,
) -> bool:
    """Forget the pages that have expired, all in one; whether there were any. What is said again later teaches as if it
    were new: it ended, and was not ruled out. Raises StoreError."""
    pages, _ = store.expired(owner.id, now)
    if pages:
        forgetting.forget(
            store,
            owner,
            forgetting.Named(pages=pages, again=True),
            now=now,
            settings=settings,
            summarise=summarise,
            extractive=extractive,
            dry_run=False,
        )
    return bool(pages)


def ended(facts: Sequence[Fact], persona: Persona) -> list[Decision]:
    """The decisions by which facts that have expired hold no longer: they were true until then. Profile lines that say
    the same end with them, but for what callers set."""
    made: list[Decision] = []
    gone: set[str] = set()
    for fact in sorted(facts, key=lambda fact: (fact.expires_at, fact.id)):
        made.append(FactRetired(fact_id=fact.id, superseded_by=None, valid_to=fact.expires_at))
        for line in persona.profile:
            if line.set_by != CALLER and line.name not in gone and mirrors(fact, line):
                gone.add(line.name)
                made.append(
                    ProfileSet(
                        whose=line.whose,
                        name=line.name,
                        value=None,
                        sources=(),
                        set_by=line.set_by,
                        valid_from=fact.expires_at,
                    )
                )
    return made
