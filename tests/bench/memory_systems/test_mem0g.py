"""Mem0g step by step: which nodes and edges a conversation makes, which are marked obsolete, and what is recalled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from embermem import Scope
from embermem.core.errors import ModelError, ModelReplyError
from embermem.testing.model_server import ModelServer
from embermem_bench.systems import OwnerSystem
from embermem_bench.systems.mem0g import Entity, Mem0Graph, Relation
from memory_systems.conftest import SystemOpener
from memory_systems.test_mem0 import NANTES, Json, Said, Script, facts, memories, opened, told

PLACES = ("Nantes", "Lyon", "Rome")
Triple = tuple[str, str, str]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def model_server(script: Script) -> Iterator[ModelServer]:
    with ModelServer(script) as server:
        yield server


def graph(system_opened: SystemOpener, **options: Any) -> OwnerSystem:
    """A graph alone, with a model, in a store of its own."""
    return opened(system_opened, "mem0g", file=f"{uuid4()}.db", options={"memories": False, **options})[1]


def grown(owner: OwnerSystem, script: Script, query: str, day: int, *triples: Triple, obsolete: str = "") -> None:
    """One page that tells these triples; the known relation with the words `obsolete` no longer holds."""
    names = list(dict.fromkeys(name for source, _, target in triples for name in (source, target)))
    entities = [{"name": name, "type": "place" if name in PLACES else "person"} for name in names]
    found: list[Json] = [
        {"source": names.index(source) + 1, "relation": relation, "target": names.index(target) + 1, "messages": [1]}
        for source, relation, target in triples
    ]

    def ended(shown: str) -> Json:
        lines = re.findall(r"^known (\d+): (.*)$", shown, re.MULTILINE)
        return {"obsolete": [int(number) for number, text in lines if obsolete and obsolete in text]}

    told(
        owner,
        script,
        query,
        day,
        Mem0gEntities={"entities": entities},
        Mem0gTriples={"triples": found},
        Mem0gObsolete=ended,
    )


def system_of(owner: OwnerSystem) -> Mem0Graph:
    system = owner._memory.system
    assert isinstance(system, Mem0Graph)
    return system


def nodes(owner: OwnerSystem) -> list[Entity]:
    return list(system_of(owner).kept(owner.owner, Entity))


def edges(owner: OwnerSystem) -> list[Relation]:
    return list(system_of(owner).kept(owner.owner, Relation))


def held(owner: OwnerSystem) -> list[tuple[str, tuple[int, ...]]]:
    """Text and sources of the edges that hold, oldest first."""
    return [(edge.text, edge.sources) for edge in edges(owner) if edge.ended_at is None]


# ------------------------------------------------------------------------------------------------------ the paper's way


def test_a_conversation_grows_a_graph_as_the_paper_says(system_opened: SystemOpener, script: Script) -> None:
    alice = graph(system_opened)
    grown(
        alice,
        script,
        "I live in Nantes, with Ana, my sister.",
        1,
        ("Alice", "lives in", "Nantes"),
        ("Ana", "is sister of", "Alice"),
    )
    assert [(node.text, node.type, node.at.day) for node in nodes(alice)] == [
        ("Alice", "person", 1),
        ("Nantes", "place", 1),
        ("Ana", "person", 1),
    ]
    assert held(alice) == [("Alice lives in Nantes", (1,)), ("Ana is sister of Alice", (1,))]
    alice_id, nantes_id, ana_id = (node.id for node in nodes(alice))
    assert [(edge.source, edge.relation, edge.target) for edge in edges(alice)] == [
        (alice_id, "lives in", nantes_id),
        (ana_id, "is sister of", alice_id),
    ]

    grown(alice, script, "Ana lives in Lyon now.", 2, ("ana", "lives in", "Lyon"))  # one end is known, one is new
    assert [node.text for node in nodes(alice)] == ["Alice", "Nantes", "Ana", "Lyon"]
    assert edges(alice)[2].source == ana_id

    grown(alice, script, "I moved to Lyon.", 3, ("Alice", "lives in", "Lyon"), obsolete="Nantes")  # both are known
    assert len(nodes(alice)) == 4
    (gone,) = [edge for edge in edges(alice) if edge.ended_at]
    assert (gone.text, gone.ended_at, gone.ended_by) == (NANTES, datetime(2026, 5, 3, 10, tzinfo=UTC), 5)
    assert [name for name, _ in script.asked] == [
        *("Mem0gEntities", "Mem0gTriples"),
        *("Mem0gEntities", "Mem0gTriples", "Mem0gObsolete"),
        *("Mem0gEntities", "Mem0gTriples", "Mem0gObsolete"),
    ]


def test_edges_grow_become_obsolete_and_hold_again_by_what_is_told(system_opened: SystemOpener, script: Script) -> None:
    # Relations that had nothing to do with what was new were taken for contradicted.
    alice = graph(system_opened)
    grown(
        alice, script, "…", 1, ("Alice", "lives in", "Nantes"), ("Ana", "lives in", "Nantes"), ("Alice", "rows", "Ana")
    )
    grown(alice, script, "…", 2, ("Alice", "lives in", "Lyon"), ("Alice", "rows", "Ana"))
    assert script.of("Mem0gObsolete") == [
        "new: 2026-05-02 Alice lives in Lyon\nknown 1: 2026-05-01 Alice lives in Nantes"
    ]

    alice = graph(system_opened)
    grown(alice, script, "I live in Nantes.", 1, ("Alice", "lives in", "Nantes"))
    grown(alice, script, "Nantes is where I live.", 2, ("Alice", "Lives in", "nantes"))
    assert held(alice) == [("Alice lives in Nantes", (1, 3))]
    early = alice.recall("Where does Alice live?", scope=Scope(before_seq=3))
    assert [hit.utterance.seq for hit in early.hits] == [1]
    assert alice.recall("Where does Alice live?", scope=Scope(before_seq=1)).text == ""

    alice = graph(system_opened)
    grown(alice, script, "I live in Nantes.", 1, ("Alice", "lives in", "Nantes"))
    grown(alice, script, "I moved to Lyon.", 2, ("Alice", "lives in", "Lyon"), obsolete="Nantes")
    grown(alice, script, "I am back in Nantes.", 3, ("Alice", "lives in", "Nantes"), obsolete="Lyon")
    assert held(alice) == [("Alice lives in Nantes", (5,))]
    assert [edge.text for edge in edges(alice) if edge.ended_at] == ["Alice lives in Nantes", "Alice lives in Lyon"]

    alice = graph(system_opened, same_entity=0.5)
    grown(alice, script, "…", 1, ("Ana", "sleeps in", "meeting room 101"))
    grown(alice, script, "…", 2, ("Ana", "eats in", "the meeting room 101"), ("Ana", "works in", "meeting room 102"))
    assert [node.text for node in nodes(alice)] == ["Ana", "meeting room 101", "meeting room 102"]
    assert held(alice)[1] == ("Ana eats in meeting room 101", (3,))


# ------------------------------------------------------------------------------------------------------------- recall


def test_a_recall_finds_edges_by_entity_and_text_that_held_at_its_time(
    system_opened: SystemOpener, script: Script
) -> None:
    told_of = (("Alice", "lives in", "Nantes"), ("Ana", "is sister of", "Alice"), ("Ben", "repairs", "bicycles"))
    by_name = graph(system_opened, relevance=1.0)
    grown(by_name, script, "…", 1, *told_of)
    assert by_name.recall("Who is Alice?").text.splitlines() == [
        "2026-05-01 Ana is sister of Alice",
        "2026-05-01 Alice lives in Nantes",
    ]  # into it and out of it
    assert by_name.recall("Who repairs things?").text == ""

    memory, by_text = opened(system_opened, "mem0g", file="two.db", options={"memories": False, "near_entity": 1.0})
    grown(by_text, script, "…", 1, *told_of)
    assert by_text.recall("Who repairs things?").text == "2026-05-01 Ben repairs bicycles"
    memory.close()

    alice = graph(system_opened)
    grown(alice, script, "I live in Nantes.", 1, ("Alice", "lives in", "Nantes"))
    grown(alice, script, "I moved to Lyon.", 2, ("Alice", "lives in", "Lyon"), obsolete="Nantes")
    assert alice.recall("Where does Alice live?").text == "2026-05-02 Alice lives in Lyon"
    assert "Nantes" in alice.recall("Where does Alice live?", at="2026-05-01T12:00:00+00:00").text
    assert "Nantes" in alice.recall("Where does Alice live?", scope=Scope(before_seq=3)).text

    alice = graph(system_opened)
    grown(alice, script, "I live in Nantes.", 1, ("Alice", "lives in", "Nantes"))
    grown(alice, script, "Nantes it is. Ana, too.", 3, ("Alice", "lives in", "Nantes"), ("Ana", "lives in", "Nantes"))
    assert len(alice.recall("Who lives in Nantes?").text.splitlines()) == 2
    past = alice.recall("Who lives in Nantes?", at="2026-05-02T10:00:00+00:00")
    assert past.text == "2026-05-01 Alice lives in Nantes"
    assert [hit.utterance.seq for hit in past.hits] == [1]
    assert alice.recall("Who lives in Nantes?", at="2026-04-30T10:00:00+00:00").text == ""


def test_the_memories_of_mem0_stand_before_the_triples(system_opened: SystemOpener, script: Script) -> None:
    _, alice = opened(system_opened, "mem0g")
    names = [{"name": "Alice", "type": "person"}, {"name": "Nantes", "type": "place"}]
    triple = {"source": 1, "relation": "lives in", "target": 2, "messages": [1]}
    told(
        alice,
        script,
        "I live in Nantes.",
        1,
        Mem0Facts=facts("Alice is at home in Nantes"),
        Mem0gEntities={"entities": names},
        Mem0gTriples={"triples": [triple]},
    )
    assert alice.recall("Where does Alice live?").text.splitlines() == [
        "2026-05-01 Alice is at home in Nantes",
        "2026-05-01 Alice lives in Nantes",
    ]


# -------------------------------------------------------------------------------------- failures, and what is not shown


def test_an_answer_that_names_what_was_not_shown_is_refused_and_nothing_is_kept(
    system_opened: SystemOpener, script: Script, model_server: ModelServer
) -> None:
    refused: list[tuple[dict[str, Json], str]] = [
        ({"Mem0gTriples": {"triples": [{"source": 1, "relation": "x", "target": 3, "messages": []}]}}, "no thing 3"),
        ({"Mem0gTriples": {"triples": [{"source": 1, "relation": "x", "target": 2, "messages": [9]}]}}, "no message 9"),
        ({"Mem0gObsolete": {"obsolete": [2]}}, "no known relation 2"),
        ({"Mem0gEntities": {"entities": [{"name": "Ana", "type": "planet"}]}}, "planet"),
    ]
    for answers, said in refused:
        alice = graph(system_opened)
        grown(alice, script, "I live in Nantes.", 1, ("Alice", "lives in", "Nantes"))
        before = held(alice)
        names = {"entities": [{"name": "Alice", "type": "person"}, {"name": "Rome", "type": "place"}]}
        triple = {"triples": [{"source": 1, "relation": "lives in", "target": 2, "messages": []}]}
        given: Said = {"Mem0gEntities": names, "Mem0gTriples": triple, **answers}
        with pytest.raises(ModelReplyError):
            told(alice, script, "I moved.", 2, **given)
        assert said in json.dumps(model_server.requests[-1])
        assert held(alice) == before
        assert len(nodes(alice)) == 2


def test_memories_and_graph_of_a_page_are_kept_together_or_not_at_all_and_go_on_after_a_restart(
    system_opened: SystemOpener, script: Script, model_server: ModelServer
) -> None:
    _, alice = opened(system_opened, "mem0g", file="one.db")
    alice.add("I live in Nantes.", "I see.", at="2026-05-01T10:00:00+00:00")
    model_server.fail_next("http_500", after=1)  # extraction succeeds, the question for entities fails
    with pytest.raises(ModelError):
        alice.settle()
    assert memories(alice) == []
    _, again = opened(system_opened, "mem0g", file="one.db")
    assert again.settle() == 1
    assert [memory.text for memory in memories(again)] == ["alice: I live in Nantes."]
    assert edges(again)

    memory, alice = opened(system_opened, "mem0g", file="two.db", options={"memories": False})
    grown(alice, script, "I live in Nantes.", 1, ("Alice", "lives in", "Nantes"))
    memory.close()
    _, again = opened(system_opened, "mem0g", file="two.db", options={"memories": False})
    grown(again, script, "Ana is in Nantes.", 2, ("Ana", "lives in", "Nantes"))
    assert [node.text for node in nodes(again)] == ["Alice", "Nantes", "Ana"]
    assert held(again) == [("Alice lives in Nantes", (1,)), ("Ana lives in Nantes", (3,))]


# --------------------------------------------------------------------------------------------------- without a model


def learnt(system_opened: SystemOpener, *queries: str) -> tuple[OwnerSystem, list[str]]:
    """A graph without a model that learnt these pages, and its edges that hold."""
    alice = system_opened("mem0g", f"{uuid4()}.db", options={"memories": False}).of("alice")
    for day, query in enumerate(queries, 1):
        alice.add(query, None, at=f"2026-05-{day:02d}T10:00:00+00:00", thread=f"s{day}")
    alice.settle()
    return alice, [text for text, _ in held(alice)]


def test_without_a_model_triples_come_from_facts_and_end_when_they_change(system_opened: SystemOpener) -> None:
    alice, texts = learnt(system_opened, "My sister Ana lives in Lyon.", "We saw a heron.", "The heron is back!")
    assert "Ana lives in Lyon" in texts
    assert dict(held(alice))["alice speaks of heron"] == (2, 3)
    assert len(texts) == len(set(texts))
    assert [hit.utterance.seq for hit in alice.recall("Did a heron come?").hits][:2] == [3, 2]

    for first, second, old, new in [
        ("I live in Nantes.", "I live in Lyon now.", "alice lives in Nantes", "alice lives in Lyon"),
        ("I work as a nurse.", "I work as a teacher now.", "alice works as nurse", "alice works as teacher"),
    ]:
        _, texts = learnt(system_opened, first, second, first)
        assert old in texts
        assert new not in texts

    alice, texts = learnt(system_opened, "I live in Nantes.", "I don't live in Nantes any more.")
    assert "alice lives in Nantes" not in texts
    assert [edge.ended_by for edge in edges(alice) if edge.ended_at] == [2]
