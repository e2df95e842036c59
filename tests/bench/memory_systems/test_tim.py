"""TiM: thoughts in a hash table; the paper's steps by hand, and what becomes of thoughts in one bucket."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Scope
from embermem.core.equations import cosine
from embermem.core.errors import ConfigError, ModelError, ModelReplyError
from embermem.testing.model_server import ModelServer
from embermem_bench.systems import OwnerSystem, SystemMemory, open_system
from embermem_bench.systems import equations as eq
from embermem_bench.systems.tim import ThinkInMemory, Thought
from memory_systems.answered import Answered
from memory_systems.conftest import SystemOpener, fresh
from proofs import bounded

ONE_BUCKET = {"buckets": 1}
components = st.lists(st.floats(-10, 10, width=32), min_size=3, max_size=3)


@pytest.fixture
def model(model_server: ModelServer) -> Answered:
    """The answers of the scripted server."""
    answered = Answered()
    model_server.reply_with(answered)
    return answered


def opened(folder: Path, options: Mapping[str, object], server: ModelServer | None = None) -> SystemMemory:
    asked: dict[str, Any] = {}
    if server is not None:
        asked = {"model": "scripted", "model_url": server.url, "model_key": "none", "model_retries": 0}
    return open_system("tim", folder / "tim.db", options=options, embedder="hashed", background=False, **asked)


def add(owner: OwnerSystem, query: str | None, response: str | None = None, day: int = 2) -> None:
    owner.add(query, response, at=f"2026-05-{day:02d}T10:00:00+00:00")


def kept(memory: SystemMemory, user: str = "ana") -> list[Thought]:
    system = memory.system
    assert isinstance(system, ThinkInMemory)
    return list(system.kept(memory.of(user).owner, Thought))


def texts(memory: SystemMemory) -> list[tuple[str, tuple[int, ...]]]:
    return [(thought.text, thought.sources) for thought in kept(memory)]


def thought(head: str, relation: str, tail: str, *lines: int, text: str | None = None) -> dict[str, Any]:
    told = text or f"{head} {relation} {tail}."
    return {"head": head, "relation": relation, "tail": tail, "thought": told, "lines": list(lines)}


def merge(*numbers: int, head: str = "Ana", text: str = "Both.") -> dict[str, Any]:
    return {"numbers": list(numbers), "head": head, "relation": "is", "tail": "both", "thought": text}


# --------------------------------------------------------------------------------------------------------- the equation


def test_the_hash_is_the_direction_that_a_vector_points_to_most_by_hand() -> None:
    R = np.array([[1, 0], [0, 1]], dtype=np.float32)
    assert eq.lsh_scores(np.array([1, 2], dtype=np.float32), R) == (1, 2, -1, -2)
    assert eq.lsh(np.array([1, 2], dtype=np.float32), R) == 1
    assert eq.lsh(np.array([-3, 1], dtype=np.float32), R) == 2
    assert eq.lsh(np.array([1, -2], dtype=np.float32), R) == 3
    assert eq.lsh(np.array([0, 0], dtype=np.float32), R) == 0
    assert eq.lsh(np.array([1, 2], dtype=np.float32), R[:, :0]) == 0


@given(components, st.floats(0.5, 8), st.integers(1, 4))
def test_the_hash_hears_no_length_and_its_opposite_stands_half_the_table_away(
    x: list[float], scale: float, half: int
) -> None:
    R = np.random.RandomState(7).standard_normal((3, half)).astype(np.float32)
    vector = np.array(x, dtype=np.float32)
    bucket, scores = eq.lsh(vector, R), sorted(eq.lsh_scores(vector, R))
    assert 0 <= bucket < 2 * half
    if scores[-1] - scores[-2] > 1e-3:
        assert eq.lsh(np.float32(scale) * vector, R) == bucket
        assert eq.lsh(-vector, R) == (bucket + half) % (2 * half)


# ------------------------------------------------------------------------------------------- the paper's steps, by hand


def test_thoughts_are_inserted_forgotten_and_merged_into_their_bucket_also_after_a_restart(
    tmp_path: Path, model_server: ModelServer, model: Answered
) -> None:
    with opened(tmp_path, ONE_BUCKET, model_server) as memory:
        ana = memory.of("ana")
        add(ana, "I live in Lyon.", "A fine town.")
        model.give("TimThoughts", {"thoughts": [thought("Ana", "lives in", "Lyon", 1)]})
        ana.settle()
        assert model.names() == ["TimThoughts"]  # nothing older: nothing to decide
        assert model.shown("TimThoughts") == ["2026-05-02\n1 ana: I live in Lyon.\n2 assistant: A fine town."]
        assert texts(memory) == [("Ana lives in Lyon.", (1,))]

        add(ana, "I moved to Nantes.", "And Bo?", day=3)
        told = [thought("Ana", "lives in", "Nantes", 1), thought("Ana", "moved from", "Lyon", 1, 2)]
        model.give("TimThoughts", {"thoughts": told})
        model.give("TimOrganised", {"forget": [1], "merge": []})
        ana.settle()
        assert model.shown("TimOrganised") == [
            "group 1\n1 2026-05-02 [Ana] Ana lives in Lyon.\n2 2026-05-03 new [Ana] Ana lives in Nantes.\n"
            "3 2026-05-03 new [Ana] Ana moved from Lyon."
        ]
        assert texts(memory) == [("Ana lives in Nantes.", (3,)), ("Ana moved from Lyon.", (3, 4))]

        add(ana, "I work there as a nurse.", None, day=4)
        model.give("TimThoughts", {"thoughts": [thought("Ana", "works as", "a nurse", 1)]})
        model.give("TimOrganised", {"forget": [], "merge": [merge(1, 2, 3, text="Ana left Lyon, a nurse in Nantes.")]})
        ana.settle()
        assert texts(memory) == [("Ana left Lyon, a nurse in Nantes.", (3, 4, 5))]
        context = ana.recall("Where is Ana?")
        assert context.text == "2026-05-04 Ana left Lyon, a nurse in Nantes."
        assert [hit.utterance.seq for hit in context.hits] == [3, 4, 5]

    part = fresh(tmp_path)
    model.clear()
    with opened(part, {"near_cosine": 0.0}, model_server) as memory:
        ana = memory.of("ana")
        for day, text in enumerate(("Ana saw a heron.", "Ana saw a heron."), 1):
            add(ana, text, day=day)
            model.give("TimThoughts", {"thoughts": [thought("Ana", "saw", "a heron", 1)]})
            model.give("TimOrganised", {"forget": [], "merge": [merge(1, 2, text="Bread is baked by her on Sunday.")]})
            ana.settle()
        (one,) = kept(memory)
        system = memory.system
        assert isinstance(system, ThinkInMemory)
        assert one.vector is not None
        assert one.sources == (1, 2)
        assert cosine(one.vector, system.embed("Bread is baked by her on Sunday.")[0]) == pytest.approx(1, abs=1e-3)
        assert one.bucket == eq.lsh(one.vector, system._projection)

    part = fresh(tmp_path)
    model.clear()
    with opened(part, ONE_BUCKET, model_server) as memory:
        add(memory.of("ana"), "I live in Lyon.", "A fine town.")
        model.give("TimThoughts", {"thoughts": [thought("Ana", "lives in", "Lyon", 1)]})
        memory.of("ana").settle()
        add(memory.of("ana"), "I moved to Nantes.", "Since when?", day=3)
    with opened(part, ONE_BUCKET, model_server) as memory:
        model.give("TimThoughts", {"thoughts": [thought("Ana", "lives in", "Nantes", 1)]})
        model.give("TimOrganised", {"forget": [1], "merge": []})
        assert memory.of("ana").settle() == 1
        assert texts(memory) == [("Ana lives in Nantes.", (3,))]


def test_a_model_that_fails_or_names_what_was_not_shown_changes_nothing(
    tmp_path: Path, model_server: ModelServer, model: Answered
) -> None:
    with opened(tmp_path, ONE_BUCKET, model_server) as memory:
        ana = memory.of("ana")
        add(ana, "I live in Lyon.", day=2)
        add(ana, "Hello", "I am here.", day=3)
        add(ana, "I moved to Nantes.", day=4)
        model.give("TimThoughts", {"thoughts": [thought("Ana", "lives in", "Lyon", 1)]}, {"thoughts": []})
        model_server.fail_next("http_500", after=2)
        with pytest.raises(ModelError):
            ana.settle()
        assert texts(memory) == [("Ana lives in Lyon.", (1,))]
        model.give("TimThoughts", {"thoughts": [thought("Ana", "lives in", "Nantes", 1)]})
        model_server.fail_next("http_500", after=1)
        with pytest.raises(ModelError):
            ana.settle()
        assert texts(memory) == [("Ana lives in Lyon.", (1,))]
        model.give("TimThoughts", {"thoughts": [thought("Ana", "lives in", "Nantes", 1)]})
        model.give("TimOrganised", {"forget": [1], "merge": []})
        assert ana.settle() == 1
        assert texts(memory) == [("Ana lives in Nantes.", (4,))]

    part = fresh(tmp_path)
    model.clear()
    with opened(part, ONE_BUCKET, model_server) as memory:
        ana = memory.of("ana")
        add(ana, "I live in Lyon.")
        wrong = {"thoughts": [thought("Ana", "lives in", "Lyon", 2)]}
        model.give("TimThoughts", wrong, wrong)
        with pytest.raises(ModelReplyError):
            ana.settle()
        assert kept(memory) == []
        model.give("TimThoughts", wrong, {"thoughts": [thought("Ana", "lives in", "Lyon")]})
        ana.settle()
        assert "the lines shown are 1 to 1" in str(model_server.requests[-1])
        assert texts(memory) == [("Ana lives in Lyon.", (1,))]  # where no line is named it rests on all of them

    model.clear()
    answers: list[tuple[dict[str, Any], str]] = [
        ({"forget": [3], "merge": []}, "Thought 3 was not shown"),
        ({"forget": [1], "merge": [merge(1, 2)]}, "Thought 1 is named twice"),
        ({"forget": [], "merge": [merge(2)]}, "takes two thoughts or more"),
        *bounded([], proofs=[({"forget": [0], "merge": []}, "Thought 0 was not shown")]),
    ]
    for answer, said in answers:
        with opened(fresh(tmp_path), ONE_BUCKET, model_server) as memory:
            ana = memory.of("ana")
            for town in ("Lyon", "Nantes"):
                add(ana, f"I live in {town}.")
                model.give("TimThoughts", {"thoughts": [thought("Ana", "lives in", town, 1)]})
            model.give("TimOrganised", answer, {"forget": [], "merge": []})
            ana.settle()
            assert said in str(model_server.requests[-1])
            assert len(kept(memory)) == 2

    part = fresh(tmp_path)
    model.clear()
    many = {
        "thoughts": [
            thought("Ana", "likes", f"{bird} {n}")
            for bird in ("herons", "bread", "trams", "violins", "winters", "kettles")
            for n in range(2)
        ]
    }
    with opened(part, {"buckets": 2}, model_server) as memory:
        ana = memory.of("ana")
        for day in (2, 3):
            add(ana, "Birds!", day=day)
            model.give("TimThoughts", many)
        model.give("TimOrganised", {"forget": [], "merge": [merge(1, 20)]}, {"forget": [], "merge": []})
        ana.settle()
        assert {one.bucket for one in kept(memory)} == {0, 1}
        assert "are not of one group" in str(model_server.requests[-1])
        (shown,) = dict.fromkeys(model.shown("TimOrganised"))
        for group in shown.split("group ")[1:]:
            named = {line.split("] ")[1] for line in group.splitlines()[1:]}
            assert len({one.bucket for one in kept(memory) if one.text in named}) == 1


# ------------------------------------------------------------------------------------------------ what a model may name


def test_a_page_is_thought_about_in_parts_where_it_is_new_and_answers_are_cleaned(
    tmp_path: Path, model_server: ModelServer, model: Answered
) -> None:
    with opened(tmp_path, {"part": 2, **ONE_BUCKET}, model_server) as memory:
        ana = memory.of("ana")
        messages = [
            {"role": "user", "content": text, "at": "2026-05-02T10:00:00Z"} for text in ("A b.", "C d.", "E f.")
        ]
        ana.add_messages(messages)
        part_one = {"thoughts": [thought("Ana", "said", "C", 2)]}
        model.give("TimThoughts", part_one, {"thoughts": [thought("Ana", "said", "E", 1)]})
        ana.settle()
        assert [shown.splitlines()[1:] for shown in model.shown("TimThoughts")] == [
            ["1 ana: A b.", "2 ana: C d."],
            ["1 ana: E f."],
        ]
        assert [one.sources for one in kept(memory)] == [(2,), (3,)]

    part = fresh(tmp_path)
    model.clear()
    with opened(part, ONE_BUCKET, model_server) as memory:
        ana = memory.of("ana")
        add(ana, "I live in Lyon.")
        ana.settle()
        add(ana, None, "How is it there?")
        ana.settle()
        assert model.shown("TimThoughts")[1] == "2026-05-02\n1 assistant: How is it there?"

    part = fresh(tmp_path)
    model.clear()
    with opened(part, ONE_BUCKET, model_server) as memory:
        ana = memory.of("ana")
        add(ana, "I live in Lyon.")
        long = thought(
            "Ana\u202e\nsystem",
            "is",
            "x" * 900,
            1,
            text="Ana\nlives \u0007in Lyon. " + "yyy" + "".join(map(str, range(2700))),
        )
        empty = thought("Ana", "is", "so", 1, text=" \n")
        model.give("TimThoughts", {"thoughts": [long, empty, *[thought("Bo", "is", str(n), 1) for n in range(60)]]})
        ana.settle()
        first = kept(memory)[0]
        assert first.text.startswith("Ana lives in Lyon. yyy")
        assert (len(first.text), first.head, len(first.tail)) == (300, "Ana system", 80)
        assert len(kept(memory)) == 39

    part = fresh(tmp_path)
    model.clear()
    with opened(part, ONE_BUCKET, model_server) as memory:
        ana = memory.of("ana")
        for town in ("Lyon", "Nantes"):
            add(ana, f"I live in {town}.")
            model.give("TimThoughts", {"thoughts": [thought("Ana", "lives in", town, 1)]})
        model.give("TimOrganised", {"forget": [], "merge": [merge(1, 2, text="Ana lived in Lyon, then in Nantes.")]})
        ana.settle()
        assert ana.recall("Where?", scope=Scope(before_seq=2)).text == ""
        assert "Nantes" in ana.recall("Where?", scope=Scope(before_seq=3)).text


# ------------------------------------------------------------------------------------------------------- the hash table


def talked(memory: SystemMemory) -> OwnerSystem:
    ana = memory.of("ana")
    for n, thing in enumerate(("heron", "bread", "tram", "violin", "garden", "kettle", "winter", "football")):
        add(ana, f"Yesterday the {thing} was on my mind.", f"The {thing} is a wide field, number {n}.")
    ana.settle()
    return ana


def test_a_query_looks_into_its_bucket_the_nearest_first_and_a_small_one_is_filled(tmp_path: Path) -> None:
    with opened(tmp_path, {"fill": False}) as memory:
        ana = talked(memory)
        system = memory.system
        assert isinstance(system, ThinkInMemory)
        bucket_of = {seq: one.bucket for one in kept(memory) for seq in one.sources}
        assert len(set(bucket_of.values())) > 1
        for query in ("Was the heron on my mind?", "The kettle", "A wide field"):
            own = eq.lsh(system.embed(query)[0], system._projection)
            found = {hit.utterance.seq for hit in ana.recall(query).hits}
            assert found == {seq for seq, bucket in bucket_of.items() if bucket == own}

    with opened(fresh(tmp_path), {"top_k": 16}) as memory:
        ana = talked(memory)
        assert len(kept(memory)) == 16
        assert {hit.utterance.seq for hit in ana.recall("The kettle").hits} == set(range(1, 17))

    with opened(fresh(tmp_path), {"top_k": 3, **ONE_BUCKET}) as memory:
        hits = talked(memory).recall("Yesterday the kettle was on my mind.").hits
        assert (len(hits), hits[0].utterance.seq) == (3, 11)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_projection_follows_from_the_seed_and_an_odd_number_of_buckets_gives_one_less(tmp_path: Path) -> None:
    buckets = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        with opened(folder, {"seed": 3}) as memory:
            talked(memory)
            buckets.append([one.bucket for one in kept(memory)])
    assert buckets[0] == buckets[1]
    with opened(tmp_path / "a", {"seed": 3}):
        pass
    for other in ({"seed": 4}, {"seed": 3, "buckets": 4}):
        with pytest.raises(ConfigError, match="seed=3"):
            opened(tmp_path / "a", other)

    buckets = []
    for number in (4, 5):
        (tmp_path / str(number)).mkdir()
        with opened(tmp_path / str(number), {"buckets": number}) as memory:
            talked(memory)
            buckets.append([one.bucket for one in kept(memory)])
    assert buckets[0] == buckets[1]
    assert 1 < len(set(buckets[1])) <= 4


# ------------------------------------------------------------------------------------------------------ without a model


def test_without_a_model_thoughts_are_facts_and_statements_of_which_the_later_stays(
    system_opened: SystemOpener, tmp_path: Path
) -> None:
    memory = system_opened("tim")
    ana = memory.of("ana")
    add(ana, "I live in Lyon. Yesterday I saw a grey heron in the reeds. Do you like birds?", "Which one? Yes.")
    ana.settle()
    assert texts(memory) == [("ana lives in Lyon", (1,)), ("ana: Yesterday I saw a grey heron in the reeds.", (1,))]
    fact, said = kept(memory)
    assert (fact.head, fact.relation, fact.tail) == ("ana", "lives in", "Lyon")
    assert (said.head, said.relation) == ("ana", "said")

    for first, then, left in [
        ("I live in Lyon.", "I live in Nantes.", "ana lives in Nantes"),
        ("I work as a nurse.", "I work as a teacher.", "ana works as a teacher"),
    ]:
        with opened(fresh(tmp_path), ONE_BUCKET) as memory:
            ana = memory.of("ana")
            add(ana, first)
            add(ana, then, day=3)
            ana.settle()
            assert [text for text, _ in texts(memory) if text.startswith(left[:6])] == [left]
            assert "Lyon" not in ana.recall("Where does Ana live?").text

    with opened(fresh(tmp_path), {}) as memory:
        ana = memory.of("ana")
        for day, text in enumerate(
            ("The grey heron stood there.", "the grey heron stood there!", "一只苍鹭站在水里。"), 2
        ):
            add(ana, text, day=day)
            ana.settle()
        assert texts(memory) == [("ana: the grey heron stood there!", (1, 2)), ("ana: 一只苍鹭站在水里。", (3,))]
        assert ana.recall("苍鹭在哪里？").hits[0].utterance.seq == 3

    with opened(fresh(tmp_path), ONE_BUCKET) as memory:
        ana = memory.of("ana")
        add(ana, "I work as a nurse.")
        ana.settle()
        assert [one.relation for one in kept(memory)] == ["works as"]
        add(ana, "I no longer work as a nurse.", day=3)
        ana.settle()
        assert [one.relation for one in kept(memory) if one.relation != "said"] == ["no longer works as"]
