"""Recall with the vectors of two encoders: what the first reads is ranked by it, everything else by the second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from talking import DIM, Line, snapshot

from embermem import Memory, OwnerMemory
from embermem.core.config import Settings
from embermem.core.types import Vector
from embermem.core.vectors import SECOND_SHARE
from embermem.embedders.weights import USE, find_weights
from embermem.index.fusion import fuse
from embermem.index.query_context import Query, View
from embermem.index.snapshot import Snapshot
from embermem.protocols import TokenVectors

FIRST_DIM = DIM - 2
NO_TOKENS = np.zeros((0, 4), dtype=np.float32)


def read(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, ...]:
    """The vector of a text that both encoders read, each as an angle's cosine and sine."""
    whole, rest = (1.0 - SECOND_SHARE) ** 0.5, SECOND_SHARE**0.5
    return (*(whole * x for x in first), *(0.0,) * (FIRST_DIM - 2), *(rest * x for x in second))


def unread(second: tuple[float, float]) -> tuple[float, ...]:
    """The vector of a text that only the second encoder reads."""
    return (*(0.0,) * FIRST_DIM, *second)


def asked(vector: tuple[float, ...], encoder: int) -> Query:
    tokens = TokenVectors(words=(), vectors=NO_TOKENS, reads="any" if encoder else "en", encoder=encoder)
    return Query(text="Which one is it?", vector=np.array(vector, dtype=np.float32), tokens=tokens)


EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.8, 0.6)
LINES = [
    Line("one", thread="a", vector=read(EAST, NORTH)),
    Line("two", thread="b", vector=read(NORTH, EAST)),
    Line("一", thread="c", vector=unread(EAST)),
    Line("二", thread="d", vector=unread(NORTH)),
]


def said(query: Query, lines: list[Line] = LINES) -> dict[str, list[float]]:
    memory = snapshot(lines, first_dim=FIRST_DIM)
    fused = fuse(View(memory, query, Settings()))
    return {name: np.round(raw, 3).tolist() for name, raw in zip(fused.names, fused.raw, strict=True)}


def counted(query: Query) -> dict[str, list[bool]]:
    fused = fuse(View(snapshot(LINES, first_dim=FIRST_DIM), query, Settings()))
    return {name: (normal != 0.0).tolist() for name, normal in zip(fused.names, fused.normalised, strict=True)}


def test_the_first_encoder_ranks_what_it_reads_and_the_second_only_what_it_does_not() -> None:
    query = asked(read(EAST, EAST), 0)
    assert said(query)["dense"] == [1.0, 0.0, 0.0, 0.0]
    assert counted(query)["dense"] == [True, True, False, False]

    query = asked(read(EAST, EAST), 0)
    assert said(query)["meaning"] == pytest.approx([0.0, 1.0, 1.0, 0.0], abs=2e-3)
    assert counted(query)["meaning"] == [False, False, True, True]

    query = asked(read(BETWEEN, EAST), 0)
    found = said(query, LINES[:2])
    assert found["dense"] == [0.8, 0.6]
    assert found["meaning"] == [0.0, 0.0]

    query = asked(unread(BETWEEN), 1)
    assert said(query)["meaning"] == pytest.approx([0.6, 0.8, 0.8, 0.6], abs=2e-3)
    assert not any(counted(query)["dense"])
    assert all(counted(query)["meaning"])


def test_how_near_two_texts_are_is_said_by_the_encoder_that_reads_both_of_a_part_too() -> None:
    rows = np.arange(4)
    memory = snapshot(LINES, first_dim=FIRST_DIM)
    english = View(memory, asked(read(EAST, NORTH), 0), Settings()).similarities(rows)
    np.testing.assert_allclose(english, [1.0, 0.0, 0.0, 1.0], atol=1e-3)
    other = View(memory, asked(unread(EAST), 1), Settings()).similarities(rows)
    np.testing.assert_allclose(other, [0.0, 1.0, 1.0, 0.0], atol=1e-3)

    whole = snapshot(LINES, first_dim=FIRST_DIM)
    part = whole.part(np.array([True, False, True, True]))
    vector: Vector = np.array(read(EAST, NORTH), dtype=np.float32)
    ways: tuple[Callable[[Snapshot], Any], ...] = (
        lambda s: s.first_cosines(vector),
        lambda s: s.second_cosines(vector),
        lambda s: s.dots(vector),
    )
    for cosines in ways:
        np.testing.assert_allclose(cosines(part), cosines(whole)[[0, 2, 3]], atol=1e-6)
    np.testing.assert_array_equal(part.vectors_of([0, 1, 2]), whole.vectors_of([0, 2, 3]))


# ------------------------------------------------------------------------------------------------ with real encoders

SAID = [
    "我养了一只猫，叫米卡，已经十二岁了。",
    "我们上个月搬到了大理，住在洱海边上。",
    "My brother repairs violins in a small workshop.",
    "Ma fille est allergique aux noix.",
    "昨天的会议拖了三个小时。",
    "The heating in the office is broken again.",
    "Le train de sept heures était en retard.",
]


@pytest.fixture(scope="module")
def alice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerMemory]:
    if find_weights() is None or find_weights(USE) is None:
        pytest.skip("the weights are not installed")
    place = tmp_path_factory.mktemp("pair") / "memory.db"
    with Memory(place, background=False, embedder="minilm+use") as memory:
        alice = memory.of("alice")
        for number, text in enumerate(SAID):
            alice.add(text, thread=f"t{number}")
        alice.settle()
        yield alice


def test_a_question_finds_what_was_said_in_another_language(alice: OwnerMemory) -> None:
    for question, answer in (
        ("Which pet do I have?", 0),
        ("Where did we move to?", 1),
        ("Quel animal vit chez moi ?", 0),
        ("我哥哥是做什么工作的？", 2),
        ("What must my daughter not eat?", 3),
        ("哪个孩子不能吃坚果？", 3),
        ("Was macht mein Bruder in seiner Werkstatt?", 2),
    ):
        found = [hit.utterance.text for hit in alice.search(question, k=2)]
        assert SAID[answer] in found


@pytest.mark.proof
def test_a_memory_of_the_first_language_is_ranked_as_by_the_first_encoder_alone(tmp_path: Path) -> None:
    if find_weights() is None or find_weights(USE) is None:
        pytest.skip("the weights are not installed")
    lines = [
        "I moved to Lyon last spring, because of the job.",
        "My sister Ana plays the cello in an orchestra.",
        "We adopted an old dog from the shelter.",
        "The landlord wants to sell the flat.",
        "I am allergic to walnuts.",
        "Our train to Porto was three hours late.",
    ]
    ranked: list[Any] = []
    for embedder in ("minilm", "minilm+use"):
        with Memory(tmp_path / f"{len(ranked)}.db", background=False, embedder=embedder, ranker="none") as memory:
            owner = memory.of("alice")
            for line in lines:
                owner.add(line)
            owner.settle()
            hits = [
                owner.search(asked, k=6) for asked in ("Which instrument does my sister play?", "What can I not eat?")
            ]
            ranked.append([[(hit.utterance.text, round(hit.score, 2)) for hit in found] for found in hits])
    assert ranked[0] == ranked[1]
