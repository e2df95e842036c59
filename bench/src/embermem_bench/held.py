"""What a memory holds when a conversation is over, and how it was used: heat, visits, strength, what left.

`bench run` keeps these figures of each unit beside what it learnt, so that a live replay can be compared with a frozen
run. A system of which nothing is known here has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from embermem.core.changes import Cause
from embermem.memoryos.ingest import mid_term
from embermem.memoryos.system import MemoryOS
from embermem_bench import metrics
from embermem_bench.systems.amem import AMem, Note
from embermem_bench.systems.memorybank import Fading, MemoryBank

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem_bench.systems import SystemMemory


def held(memory: SystemMemory, owner: Owner, at: datetime) -> Mapping[str, float]:
    """The figures at a time, by their names in docs/research/bench.md."""
    system = memory.system
    if isinstance(system, MemoryOS):
        return _of_segments(memory, owner, at)
    if isinstance(system, MemoryBank):
        return _of_memories(system, owner, at)
    if isinstance(system, AMem):
        return _of_notes(system, owner)
    return {}


def _of_segments(memory: SystemMemory, owner: Owner, at: datetime) -> dict[str, float]:
    store, settings = memory.store, memory.settings
    segments = store.segment_states(owner.id)
    heats = [mid_term.heat_of(one, at, settings) for one in segments]
    promoted = store.changes(owner.id, causes=[Cause.PROMOTION])
    return {
        "segments": len(segments),
        "archived": len(store.segments(owner.id, archived=True)),
        "visited": sum(one.visits > 0 for one in segments),
        "visits": sum(one.visits for one in segments),
        "hottest": round(max(heats, default=0.0), 3),
        "heat_p50": round(metrics.percentile(heats, 0.5) or 0.0, 3),
        "promotions": len(promoted),
        "not_analysed": sum(one.unanalysed for one in segments),
    }


def _of_memories(system: MemoryBank, owner: Owner, at: datetime) -> dict[str, float]:
    memories: list[Fading] = [
        one for kind in system.kinds if issubclass(kind, Fading) for one in system.kept(owner, kind)
    ]
    first = system.numbers.strength
    return {
        "memories": len(memories),
        "visited": sum(one.recalled_at is not None for one in memories),
        "visits": sum(one.strength - first for one in memories),
        "strongest": max((one.strength for one in memories), default=0.0),
    }


def _of_notes(system: AMem, owner: Owner) -> dict[str, float]:
    notes = system.kept(owner, Note)
    counts = [note.retrieval_count for note in notes]
    return {
        "memories": len(notes),
        "visited": sum(count > 0 for count in counts),
        "visits": sum(counts),
        "strongest": max(counts, default=0),
    }
