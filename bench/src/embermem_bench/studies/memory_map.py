"""Two memories of one conversation as points in the plane (A-MEM paper, Figure 4), and how near what belongs together
lies: notes of A-MEM with their links, pages of MemoryOS in their segments.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from embermem import bootstrap
from embermem.core.errors import InputError
from embermem.core.vectors import plane
from embermem_bench import ProgressFn, figures
from embermem_bench.cost import Clock, chosen
from embermem_bench.datasets import Conversation, load
from embermem_bench.load_conversation import messages_of
from embermem_bench.studies.writing import Written, document, place, write
from embermem_bench.systems import open_system

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors
    from embermem.protocols import LanguageModel

    Floats = NDArray[np.float64]

__all__ = ["MAP", "Memories", "draw_map", "nearness"]

MAP: Final = "memory-map"
COLOURED: Final = len(figures.COLOURS)
"""The largest groups have a colour each; all others are grey."""
TITLE: Final = "How two memories of one conversation lie"


@dataclass(frozen=True, kw_only=True, slots=True)
class Memories:
    """What a system keeps: vectors (n, dim), the group of each (−1: of none), and pairs that are linked.

    Two belong together if they are linked, or where nothing is linked, if they are of one group.
    """

    system: str
    what: str
    embedder: str
    vectors: Vectors = field(repr=False)
    groups: tuple[int, ...]
    links: tuple[tuple[int, int], ...] = ()
    linked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Nearness:
    """The mean cosine of pairs that belong together and of all others, and how many pairs there are of each; None of
    none."""

    together: float | None
    apart: float | None
    pairs_together: int
    pairs_apart: int


def draw_map(
    data: Path,
    out: Path,
    *,
    conversation: str | None = None,
    model: LanguageModel | None = None,
    preset: str = "default",
    command: str = "",
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> Written:
    """Tells one conversation (the first, unless one is named) to A-MEM and to MemoryOS, and draws both.

    `command` is told as what made it. Raises ConfigError if nothing can be drawn or a setting is wrong, InputError for
    data without that conversation.
    """
    figures.check()
    place(out)
    dataset = load(data)
    talk = chosen(dataset.conversations, conversation)
    settings = {"background": False, "model": model, **settings}
    with tempfile.TemporaryDirectory(prefix="embermem-map-") as folder:
        both = (_notes(talk, Path(folder), told, settings), _pages(talk, Path(folder), told, {**settings}, preset))
    rows = [{"system": m.system, "memories": m.what, **_figures(m)} for m in both]
    made = {
        "data": f"{dataset.name} ({data.name}, sha256 {hashlib.sha256(_content(data)).hexdigest()})",
        "conversation": talk.id,
        "model": "none: read by extraction" if model is None else model.name,
        "embedder": both[1].embedder,
        "preset of MemoryOS": preset,
        "places": "the two directions in which the vectors differ most (PCA), each system by itself",
    }
    content = {"study": MAP, "title": TITLE, "source": "A-MEM paper, Figure 4", "made": made, "rows": rows}
    columns = list(rows[0])
    text = document(
        title=TITLE,
        figure=MAP,
        lead=(
            "After A-MEM paper, Figure 4, which uses t-SNE. PCA needs no further package and no seed.",
            "A point is a memory. Of A-MEM the lines are links, and the colours the largest parts that hang together "
            "by links; of MemoryOS the colours are the largest segments. Grey is everything else. Pages that are still "
            "in short-term memory are in no segment, and not in the picture.",
            "Together are notes that are linked, and pages of one segment; apart are all other pairs. The cosines are "
            "those of the whole vectors, not of the picture.",
        ),
        tables=(("Mean cosines", columns, [[row[name] for name in columns] for row in rows]),),
        made=made,
        command=command,
    )
    drawn = figures.panels(
        out / MAP,
        title=f"{TITLE}: {talk.id}",
        shown=[
            figures.Panel(title=m.system, places=plane(m.vectors), groups=_largest(m.groups), links=m.links)
            for m in both
        ],
    )
    return write(out / MAP, content, text, drawn)


def nearness(memories: Memories) -> Nearness:
    """How near memories that belong together lie, against all others."""
    n = len(memories.vectors)
    norms = np.linalg.norm(memories.vectors, axis=1, keepdims=True)
    unit = np.divide(memories.vectors, norms, out=np.zeros_like(memories.vectors), where=norms > 0)
    cosines = (unit @ unit.T).astype(np.float64)
    belongs = np.zeros((n, n), dtype=bool)
    if memories.linked:
        for a, b in memories.links:
            belongs[a, b] = belongs[b, a] = True
    else:
        groups = np.array(memories.groups, dtype=np.int64)
        belongs = (groups[:, None] == groups[None, :]) & (groups >= 0)[:, None]
    pairs = np.triu(np.ones((n, n), dtype=bool), 1)
    together, apart = cosines[pairs & belongs], cosines[pairs & ~belongs]
    return Nearness(
        together=float(together.mean()) if len(together) else None,
        apart=float(apart.mean()) if len(apart) else None,
        pairs_together=len(together),
        pairs_apart=len(apart),
    )


def _figures(memories: Memories) -> dict[str, Any]:
    near = nearness(memories)
    return {
        "n": len(memories.vectors),
        "groups": len({group for group in memories.groups if group >= 0}),
        "cosine together": None if near.together is None else round(near.together, 4),
        "cosine apart": None if near.apart is None else round(near.apart, 4),
        "pairs together": near.pairs_together,
        "pairs apart": near.pairs_apart,
    }


def _largest(groups: Sequence[int]) -> list[int]:
    """The groups numbered by size, the largest 0; those that get no colour, and those of one memory, are −1."""
    sizes = Counter(group for group in groups if group >= 0)
    first = sorted((g for g in sizes if sizes[g] > 1), key=lambda g: (-sizes[g], g))[:COLOURED]
    number = {group: n for n, group in enumerate(first)}
    return [number.get(group, -1) for group in groups]


# ------------------------------------------------------------------------------------------------- the two memories


def _notes(talk: Conversation, folder: Path, told: ProgressFn, settings: dict[str, Any]) -> Memories:
    from embermem_bench.systems.amem import AMem, Note

    with open_system("amem", folder / "amem.db", clock=_clock(talk), **settings) as memory:
        owner = memory.of(talk.id)
        for thread, messages in messages_of(talk):
            owner.add_messages(messages, thread=thread.id)
        owner.settle(lambda done, total: told("A-MEM", done, total))
        embedder = memory.embedder_name
        if not isinstance(memory.system, AMem):
            raise InputError("amem is another system here")
        notes = [note for note in memory.system.kept(owner.owner, Note) if note.vector is not None]
    number = {note.id: n for n, note in enumerate(notes)}
    links = {
        tuple(sorted((number[note.id], number[other]))) for note in notes for other in note.links if other in number
    }
    pairs = tuple(sorted((a, b) for a, b in links if a != b))
    return Memories(
        system="A-MEM",
        what="notes",
        embedder=embedder,
        vectors=_stacked([note.vector for note in notes if note.vector is not None]),
        groups=connected(len(notes), pairs),
        links=pairs,
        linked=True,
    )


def _pages(talk: Conversation, folder: Path, told: ProgressFn, settings: dict[str, Any], preset: str) -> Memories:
    options = {"preset": preset}
    with open_system("memoryos", folder / "memoryos.db", options=options, clock=_clock(talk), **settings) as memory:
        owner = memory.of(talk.id)
        for thread, messages in messages_of(talk):
            owner.add_messages(messages, thread=thread.id)
        owner.settle(lambda done, total: told("MemoryOS", done, total))
        owner_id, read, embedder = owner.owner.id, memory.settings, memory.embedder_name
    store = bootstrap.open_store(folder / "memoryos.db", read)
    try:
        parts = [store.page_vectors(owner_id, segment.id) for segment in store.segment_states(owner_id)]
    finally:
        store.close()
    return Memories(
        system="MemoryOS",
        what="pages in segments",
        embedder=embedder,
        vectors=_stacked([vector for part in parts for vector in part]),
        groups=tuple(number for number, part in enumerate(parts) for _ in part),
    )


def connected(n: int, links: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """For each of n the smallest number of those that hang together with it by links."""
    root = list(range(n))

    def top(a: int) -> int:
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        return a

    for a, b in links:
        low, high = sorted((top(a), top(b)))
        root[high] = low
    return tuple(map(top, range(n)))


def _clock(talk: Conversation) -> Clock:
    """Stands at the last turn: nothing depends on when a study is made. Raises InputError for an empty conversation."""
    times = [turn.at for _, turn in talk.turns()]
    if not times:
        raise InputError(f"{talk.id} has no turns")
    return Clock(max(times))


def _stacked(vectors: Sequence[Any]) -> Vectors:
    return np.array(vectors, dtype=np.float32).reshape(len(vectors), -1)


def _content(data: Path) -> bytes:
    return data.read_bytes() if data.is_file() else b""
