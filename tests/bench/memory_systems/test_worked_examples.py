"""Examples of A-MEM and of Mem0g, worked through by hand: the numbers stand beside the assertions.

Vectors are counts of a few words, of length 1, so that every cosine is a fraction that can be checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from embermem import Context
from embermem.testing.model_server import ModelServer
from embermem_bench.systems import OwnerSystem, mem0g, open_system
from embermem_bench.systems.amem import AMem
from embermem_bench.systems.recorded import RecordedSystem
from memory_systems.answered import Answered
from scripted import Clock

System = TypeVar("System", bound=RecordedSystem)
Json = Mapping[str, Any]


class Counts:
    """An embedder that counts the words given, and one more for texts without any of them."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.name, self.dim = f"counts-{'-'.join(words)}", len(words) + 1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([[text.lower().count(word) for word in self.words] + [0] for text in texts], np.float32)
        rows[rows.sum(axis=1) == 0, -1] = 1.0
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


class Example:
    """Ana's memory in one system, whose model gives these answers in turn."""

    def __init__(self, folder: Path, server: ModelServer, clock: Clock) -> None:
        self._folder, self._server, self._clock = folder, server, clock
        self.model = Answered()
        server.reply_with(self.model)

    def opened(self, name: str, kind: type[System], words: Sequence[str] = (), **options: object) -> System:
        memory = open_system(
            name,
            self._folder / f"{name}.db",
            options=options,
            embedder="hashed",
            background=False,
            clock=self._clock,
            token_counter="words",
            model="scripted",
            model_url=self._server.url,
            model_key="none",
            model_retries=0,
        )
        system = memory.system
        assert isinstance(system, kind)
        self.ana: OwnerSystem = memory.of("ana")
        self.system: RecordedSystem = kind(replace(system.kit, embedder=Counts(*words)), system.numbers)  # type: ignore[attr-defined, call-arg]
        assert isinstance(self.system, kind)
        return self.system

    def says(self, text: str, day: int, reply: str | None = None, /, **answers: Json | Sequence[Json]) -> None:
        """One page, which is learnt with these answers."""
        for name, given in answers.items():
            self.model.give(name, *([given] if isinstance(given, Mapping) else given))
        self.ana.add(text, reply, at=f"2026-05-{day:02d}T10:00:00+00:00", thread=f"s{day}")
        self.system.settle(self.ana.owner)

    def recalls(self, query: str) -> Context:
        return self.system.recall(self.ana.owner, query)


@pytest.fixture
def example(tmp_path: Path, model_server: ModelServer, clock: Clock) -> Example:
    return Example(tmp_path, model_server, clock)


def near(number: float) -> object:
    """Vectors are stored with half precision."""
    return pytest.approx(number, abs=2e-3)


# ------------------------------------------------------------------------------------------------- A-MEM, §3.1 to §3.4


def test_amem_a_new_note_lets_its_neighbour_evolve_which_is_found_by_what_it_learnt(example: Example) -> None:
    """Words counted: heron, park, tram.

    m_1: c has heron and park once, K heron: (2, 1, 0)/√5. m_2: park once, tram twice (c, K): (0, 1, 2)/√5.
    s = (2·0 + 1·1 + 0·2)/5 = 0.2 (Eq. 4). When m_1 has evolved, K has tram, too, and X tram: (2, 1, 2)/3.
    """
    amem = example.opened("amem", AMem, ("heron", "park", "tram"), recall_k=1)
    bird = {"keywords": ["heron"], "context": "A bird.", "tags": ["nature"], "category": "outings"}
    example.says("A heron in the park!", 1, AMemNote=bird)
    (alone,) = amem.notes(example.ana.owner)
    assert example.recalls("tram").hits[0].score == 0.0

    way = {"keywords": ["tram"], "context": "The way.", "tags": ["travel"], "category": "outings"}
    grown = {"changes": True, "context": "A bird; by tram.", "keywords": ["heron", "tram"], "tags": ["nature", "trip"]}
    strengthened = {"linked": [1], "tags": ["travel", "trip"]}
    example.says("The tram stops at the park.", 2, AMemNote=way, AMemLinks=strengthened, AMemEvolved=grown)
    heron, tram = amem.notes(example.ana.owner)
    assert alone.vector is not None
    assert tram.vector is not None
    assert float(alone.vector @ tram.vector) == near(0.2)
    assert (heron.context, heron.keywords, heron.tags) == ("A bird; by tram.", ("heron", "tram"), ("nature", "trip"))
    assert (heron.id, heron.text) == (alone.id, "ana: A heron in the park!")  # only what is understood of it evolves
    assert (tram.links, tram.tags) == ((heron.id,), ("travel", "trip"))

    context = example.recalls("tram")  # the nearest is m_2; its box brings m_1
    assert [(hit.utterance.seq, hit.score) for hit in context.hits] == [(2, near(2 / math.sqrt(5))), (1, near(2 / 3))]
    context = example.recalls("heron")  # the nearest is m_1, to which m_2 links: the box has no direction
    assert [(hit.utterance.seq, hit.score) for hit in context.hits] == [(1, near(2 / 3)), (2, near(0.0))]


def noon(day: int) -> datetime:
    """Noon of that day of May."""
    return datetime(2026, 5, 1, 12, tzinfo=UTC) + timedelta(days=day - 1)


# ------------------------------------------------------------------------------------------------------ Mem0g, §2.2


@pytest.mark.parametrize(("t", "nodes"), [(0.7, 4), (0.71, 5)])
def test_mem0g_a_name_is_a_known_entity_above_t_and_a_conflict_marks_the_older_edge(
    example: Example, t: float, nodes: int
) -> None:
    """Words counted: ana, silva, lyon, nantes. cos("Ana", "Ana Silva") = (1, 0)·(1, 1)/√2 = 0.7071."""
    system = example.opened("mem0g", mem0g.Mem0Graph, ("ana", "silva", "lyon", "nantes"), memories=False, same_entity=t)

    def told(source: str, target: str) -> dict[str, Json]:
        names = [{"name": source, "type": "person"}, {"name": target, "type": "place"}]
        triple = {"source": 1, "relation": "lives in", "target": 2, "messages": [1]}
        return {"Mem0gEntities": {"entities": names}, "Mem0gTriples": {"triples": [triple]}}

    def edges(of: Callable[[mem0g.Relation], bool]) -> list[str]:
        return [edge.text for edge in system.kept(example.ana.owner, mem0g.Relation) if of(edge)]

    example.says("Ana lives in Lyon.", 1, None, **told("Ana", "Lyon"))
    example.says("Bo lives in Lyon, too.", 2, None, **told("Bo", "Lyon"))
    conflict = {**told("Ana Silva", "Nantes"), "Mem0gObsolete": {"obsolete": [1]}}
    example.says("Ana Silva lives in Nantes now.", 3, None, **conflict)
    assert len(system.kept(example.ana.owner, mem0g.Entity)) == nodes
    same = nodes == 4
    assert example.model.shown("Mem0gObsolete") == (
        ["new: 2026-05-03 Ana lives in Nantes\nknown 1: 2026-05-01 Ana lives in Lyon"] if same else []
    )
    assert edges(lambda edge: edge.ended_at is not None) == (["Ana lives in Lyon"] if same else [])
    now = set(example.recalls("Lyon or Nantes?").text.splitlines())
    assert ("2026-05-01 Ana lives in Lyon" in now) is not same
    then = system.recall(example.ana.owner, "Lyon or Nantes?", at=noon(2)).text.splitlines()
    assert set(then) == {"2026-05-01 Ana lives in Lyon", "2026-05-02 Bo lives in Lyon"}
