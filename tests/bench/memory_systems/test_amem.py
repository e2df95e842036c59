"""A-MEM: notes, their links and their evolution by hand; and that what its published code gets wrong is right here."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem import Scope
from embermem.core import equations as eq
from embermem.core.errors import ModelError, ModelReplyError
from embermem.testing.model_server import ModelServer
from embermem_bench.systems import OwnerSystem, SystemMemory, open_system
from embermem_bench.systems.amem import AMem, Note, Version
from embermem_bench.systems.numbers import AMemNumbers
from memory_systems.answered import Answered
from memory_systems.conftest import SystemOpener, fresh
from proofs import bounded
from scripted import Clock

HERON = {"keywords": ["heron", "wetland park"], "context": "Ana watched a bird.", "tags": ["nature", "trip"]}
TRAM = {"keywords": ["tram", "wetland park"], "context": "How Ana got to the park.", "tags": ["travel"]}
BREAD = {"keywords": ["rye bread"], "context": "What Bo bakes.", "tags": ["food"]}
STAYS = {"changes": False, "context": "", "keywords": [], "tags": []}
GROWN = {
    "changes": True,
    "context": "Ana watched a bird; she came by tram.",
    "keywords": ["heron", "wetland park", "tram"],
    "tags": ["nature", "trip", "travel"],
}


@pytest.fixture
def model(model_server: ModelServer) -> Answered:
    """The answers of the scripted server."""
    answered = Answered()
    model_server.reply_with(answered)
    return answered


def opened(
    folder: Path,
    server: ModelServer | None = None,
    options: Mapping[str, object] | None = None,
    file: str = "amem.db",
    clock: Clock | None = None,
) -> SystemMemory:
    """A system whose linked neighbours alone evolve, if nothing else is said: fewer answers to give."""
    options = {"evolve_linked": True, **(options or {})}
    asked: dict[str, Any] = {}
    if server is not None:
        asked = {"model": "scripted", "model_url": server.url, "model_key": "none", "model_retries": 0}
    return open_system(
        "amem", folder / file, options=options, embedder="hashed", background=False, clock=clock, **asked
    )


def add(owner: OwnerSystem, text: str, day: int = 2) -> None:
    owner.add(text, at=f"2026-05-{day:02d}T10:00:00+00:00", thread=f"s{day}")


def notes(memory: SystemMemory, user: str = "ana") -> list[Note]:
    system = memory.system
    assert isinstance(system, AMem)
    return list(system.kept(memory.of(user).owner, Note))


def stated(note: Note) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    return note.keywords, note.context, note.tags


def told_of_a_park(ana: OwnerSystem, model: Answered) -> None:
    """Two notes; the second is linked to the first, which evolves."""
    add(ana, "I saw a grey heron in the wetland park.")
    add(ana, "The tram to the wetland park takes half an hour.", day=3)
    model.give("AMemNote", HERON, TRAM)
    model.give("AMemLinks", {"linked": [1]})
    model.give("AMemEvolved", GROWN)
    ana.settle()


# ------------------------------------------------------------------------------------------- the paper's steps, by hand


def test_a_note_is_constructed_linked_and_changes_its_neighbour(
    tmp_path: Path, model_server: ModelServer, model: Answered
) -> None:
    with opened(tmp_path, model_server) as memory:
        ana = memory.of("ana")
        add(ana, "I saw a grey heron in the wetland park.")
        model.give("AMemNote", HERON)
        ana.settle()
        assert model.asked == [("AMemNote", "2026-05-02 ana: I saw a grey heron in the wetland park.")]
        (heron,) = notes(memory)
        assert heron.text == "ana: I saw a grey heron in the wetland park."
        assert stated(heron) == (("heron", "wetland park"), "Ana watched a bird.", ("nature", "trip"))
        assert (heron.links, heron.sources) == ((), (1,))

        add(ana, "The tram to the wetland park takes half an hour.", day=3)
        model.give("AMemNote", TRAM)
        model.give("AMemLinks", {"linked": [1]})
        model.give("AMemEvolved", GROWN)
        ana.settle()
        assert model.names() == ["AMemNote", "AMemNote", "AMemLinks", "AMemEvolved"]
        older = (
            "2026-05-02 ana: I saw a grey heron in the wetland park. | context: Ana watched a bird."
            " | keywords: heron, wetland park | tags: nature, trip"
        )
        new = (
            "2026-05-03 ana: The tram to the wetland park takes half an hour. | context: How Ana got to the park."
            " | keywords: tram, wetland park | tags: travel"
        )
        assert model.shown("AMemLinks") == [f"new note\n{new}\nolder notes\n1 {older}"]
        assert model.shown("AMemEvolved") == [f"new note\n{new}\nolder note\n{older}"]
        evolved, tram = notes(memory)
        assert (evolved.id, tram.links) == (heron.id, (heron.id,))
        assert evolved.text == heron.text
        assert stated(evolved) == (
            ("heron", "wetland park", "tram"),
            "Ana watched a bird; she came by tram.",
            ("nature", "trip", "travel"),
        )
        assert (evolved.sources, tram.sources) == ((1, 2), (2,))

        add(ana, "Bo bakes rye bread.", day=4)
        model.give("AMemNote", BREAD)
        model.give("AMemLinks", {"linked": []})
        ana.settle()
        assert model.names()[4:] == ["AMemNote", "AMemLinks"]
        assert [stated(note) for note in notes(memory)[:2]] == [stated(evolved), stated(tram)]


def test_every_note_is_constructed_by_the_model_and_a_failure_leaves_it_unmade(
    tmp_path: Path, model_server: ModelServer, model: Answered
) -> None:
    with opened(tmp_path, model_server) as memory:
        ana = memory.of("ana")
        ana.add("I saw a heron.", "Where was it?", at="2026-05-02T10:00:00+00:00")
        ana.add(" \n", "In the park, I think.", at="2026-05-02T10:01:00+00:00")
        ana.settle()
        assert len(model.shown("AMemNote")) == 3
        assert [note.said for note in notes(memory)] == [1, 2, 3]
        assert all(note.context for note in notes(memory))
        assert notes(memory)[0].keywords == notes(memory)[0].tags == ("heron", "saw")

    part = fresh(tmp_path)
    model.clear()
    with opened(part, model_server) as memory:
        ana = memory.of("ana")
        add(ana, "I saw a grey heron in the wetland park.")
        add(ana, "The tram to the wetland park takes half an hour.", day=3)
        model.give("AMemNote", HERON, TRAM, TRAM)
        model.give("AMemLinks", {"linked": [1]}, {"linked": [1]})
        model_server.fail_next("http_500", after=3)
        with pytest.raises(ModelError):
            ana.settle()
        (heron,) = notes(memory)
        assert stated(heron)[1] == "Ana watched a bird."
    with opened(part, model_server) as memory:
        model.give("AMemEvolved", GROWN)
        assert memory.of("ana").settle() == 1
        assert [note.context for note in notes(memory)] == [GROWN["context"], "How Ana got to the park."]


def test_a_note_evolves_by_what_was_shown_and_links_to_nothing_else(
    tmp_path: Path, model_server: ModelServer, model: Answered
) -> None:
    with opened(tmp_path, model_server) as memory:
        ana = memory.of("ana")
        for text in ("My bicycle has a flat tyre.", "Bo bakes rye bread.", "I saw a grey heron in the wetland park."):
            add(ana, text)
            model.give("AMemNote", {"keywords": [], "context": "", "tags": []})
        model.give("AMemLinks", {"linked": []}, {"linked": []})
        ana.settle()
        before = notes(memory)
        add(ana, "A grey heron stood in the wetland park again.", day=3)
        model.give("AMemNote", {"keywords": [], "context": "", "tags": []})
        model.give("AMemLinks", {"linked": [1]})
        model.give("AMemEvolved", GROWN)
        ana.settle()
        first = model.shown("AMemLinks")[-1].splitlines()[3]
        assert first == "1 2026-05-02 ana: I saw a grey heron in the wetland park."  # nearest, though it came last
        after = notes(memory)
        assert [stated(note) for note in after[:2]] == [stated(note) for note in before[:2]]
        assert after[2].context == GROWN["context"]
        assert after[3].links == (before[2].id,)

    part = fresh(tmp_path)
    model.clear()
    with opened(part, model_server) as memory:
        ana = memory.of("ana")
        add(ana, "I saw a grey heron in the wetland park.")
        ana.settle()
        add(ana, "The tram takes half an hour.", day=3)
        model.give("AMemLinks", {"linked": [0]}, {"linked": [2]})
        with pytest.raises(ModelReplyError):
            ana.settle()
        assert "Note 0 was not shown" in str(model_server.requests[-1])
        assert len(notes(memory)) == 1
        model.give("AMemLinks", {"linked": [1, 1]})
        ana.settle()
        old, new = notes(memory)
        assert new.links == (old.id,)

    part = fresh(tmp_path)
    model.clear()
    with opened(part, model_server, {"evolve_each": False}) as memory:
        ana = memory.of("ana")
        add(ana, "I saw a grey heron in the wetland park.")
        add(ana, "Bo bakes rye bread.", day=3)
        model.give("AMemNote", HERON, BREAD, HERON)
        model.give("AMemLinks", {"linked": []}, {"linked": [2, 1]})
        change = {"number": 2, "context": "Changed.", "keywords": ["bread"], "tags": []}
        wrong = {"changed": [{**change, "number": 3}]}
        model.give("AMemEvolvedAll", wrong, {"changed": [change]})
        add(ana, "A heron again.", day=4)
        ana.settle()
        heron, bread, _ = notes(memory)
        assert stated(heron)[1] == "Ana watched a bird."
        assert stated(bread) == (("bread",), "Changed.", ("food",))
        assert "Note 3 was not shown" in str(model_server.requests[-1])

    part = fresh(tmp_path)
    model.clear()
    with opened(part, model_server) as memory:
        ana = memory.of("ana")
        add(ana, "I saw a grey heron.")
        words = ["Heron", "heron ", "a\nb\u202e", " ", "x" * 90, *map(str, range(20))]
        model.give(
            "AMemNote",
            {"keywords": words, "context": "A\u0007 bird\n" + "yyy" + "".join(map(str, range(700))), "tags": words},
        )
        ana.settle()
        (note,) = notes(memory)
        assert note.keywords[:2] == ("heron", "a b")
        assert (len(note.keywords), len(note.keywords[2]), len(note.tags)) == (8, 40, 5)
        assert note.context.startswith("A bird yyy")
        assert len(note.context) == 300
        add(ana, "A heron, grey.", day=3)
        model.give("AMemLinks", {"linked": [1]})
        model.give("AMemEvolved", {**STAYS, "changes": True, "tags": ["birds"]})
        ana.settle()
        assert stated(notes(memory)[0]) == (note.keywords, note.context, ("birds",))


def test_what_evolved_is_kept_embedded_anew_as_it_was_then_and_not_emptied_by_a_second_system(
    tmp_path: Path, model_server: ModelServer, model: Answered
) -> None:
    with opened(tmp_path, model_server) as memory:
        told_of_a_park(memory.of("ana"), model)
    with opened(tmp_path, model_server) as memory:
        evolved = notes(memory)[0]
        assert evolved.context == GROWN["context"]
        system = memory.system
        assert isinstance(system, AMem)
        assert evolved.vector is not None
        whole = "\n".join(
            [evolved.text, "heron, wetland park, tram", "nature, trip, travel", "Ana watched a bird; she came by tram."]
        )
        assert eq.cosine(evolved.vector, system.embed(whole)[0]) == pytest.approx(1.0, abs=1e-3)
        assert memory.of("ana").settle() == 0
        ana = memory.of("ana")
        with opened(tmp_path, model_server) as other:
            assert [note.id for note in notes(other)] == [note.id for note in notes(memory)]
        assert len(ana.recall("Which bird?").hits) == 2
        assert "tram" in ana.recall("heron").text
        then = ana.recall("heron", scope=Scope(before_seq=2))
        assert then.text == (
            "2026-05-02 ana: I saw a grey heron in the wetland park. | context: Ana watched a bird."
            " | keywords: heron, wetland park | tags: nature, trip"
        )
        assert [hit.utterance.seq for hit in then.hits] == [1]


def test_linked_notes_come_beside_the_k_nearest_also_by_links_that_lead_to_them(
    tmp_path: Path, model_server: ModelServer, model: Answered
) -> None:
    for linked, found in [([], [3]), ([1, 2], [3, 1, 2])]:
        with opened(tmp_path, model_server, {"recall_k": 1, "evolution": False}, f"{len(linked)}.db") as memory:
            ana = memory.of("ana")
            add(ana, "I saw a grey heron in the wetland park.")
            add(ana, "My bicycle has a flat tyre.", day=3)
            add(ana, "Bo bakes rye bread.", day=4)
            model.give("AMemLinks", {"linked": []}, {"linked": linked})
            ana.settle()
            hits = ana.recall("Who bakes rye bread?").hits
            assert hits[0].utterance.seq == 3
            assert sorted(hit.utterance.seq for hit in hits) == sorted(found)
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    with opened(tmp_path, model_server, {"recall_k": 1, "evolution": False}) as memory:
        ana = memory.of("ana")
        for day, text in enumerate(("Bo bakes rye bread.", "The oven is new.", "My bicycle has a flat tyre."), 2):
            add(ana, text, day)
        model.give("AMemLinks", {"linked": [1]}, {"linked": []})
        ana.settle()
        assert [hit.utterance.seq for hit in ana.recall("Bo bakes rye bread").hits] == [1, 2]  # 2 links to 1
        assert [hit.utterance.seq for hit in ana.recall("The oven is new").hits] == [2, 1]
        assert [hit.utterance.seq for hit in ana.recall("My bicycle has a flat tyre").hits] == [3]
        early = ana.recall("Bo bakes rye bread", scope=Scope(before_seq=2))
        assert [hit.utterance.seq for hit in early.hits] == [1]  # the link was not there yet


def test_a_linked_note_gets_tags_anew_and_a_category_and_counts_its_retrievals(
    tmp_path: Path, model_server: ModelServer, model: Answered, clock: Clock
) -> None:
    with opened(tmp_path, model_server, {"evolution": False}) as memory:
        ana = memory.of("ana")
        add(ana, "I saw a grey heron in the wetland park.")
        add(ana, "The tram to the wetland park takes half an hour.", day=3)
        add(ana, "Bo bakes rye bread.", day=4)
        model.give("AMemNote", HERON, TRAM, BREAD)
        model.give("AMemLinks", {"linked": [1], "tags": ["trip", "travel"]}, {"linked": [], "tags": ["lost"]})
        ana.settle()
        heron, tram, bread = notes(memory)
        assert (heron.tags, tram.tags, bread.tags) == (("nature", "trip"), ("trip", "travel"), ("food",))
        system = memory.system
        assert isinstance(system, AMem)
        context = "tram, wetland park\ntrip, travel\nHow Ana got to the park."
        whole = f"ana: The tram to the wetland park takes half an hour.\n{context}"
        assert tram.vector is not None
        anew, bare = system.embed(whole, whole.replace("trip, ", ""))
        assert float(tram.vector @ anew) > 0.999 > float(tram.vector @ bare)

    part = fresh(tmp_path)
    model.clear()
    with opened(part, model_server, {"recall_k": 1, "evolution": False}, clock=clock) as memory:
        ana = memory.of("ana")
        add(ana, "I saw a grey heron in the wetland park.")
        add(ana, "Bo bakes rye loaf.", day=3)
        model.give("AMemNote", {**HERON, "category": "Birds"}, BREAD)
        model.give("AMemLinks", {"linked": []})
        ana.settle()
        recalled = ana.recall("Which bird did I see in the park?")
        assert "| category: Birds" in recalled.text
        system = memory.system
        assert isinstance(system, AMem)
        assert {note.retrieval_count for note in system.notes(ana.owner)} == {0}
        ana.visit(recalled.hits)
        ana.visit(recalled.hits)
        bird, loaf = system.notes(ana.owner)
        assert (bird.category, bird.retrieval_count, bird.last_accessed) == ("Birds", 2, clock.now)
        assert (loaf.category, loaf.retrieval_count, loaf.last_accessed) == ("", 0, None)
        assert ana.recall("Which bird did I see in the park?").text == recalled.text


# ------------------------------------------------------------------------------------------------------------- options


def test_the_parts_of_the_paper_can_be_left_out(tmp_path: Path, model_server: ModelServer, model: Answered) -> None:
    parts: list[tuple[dict[str, object], list[str]]] = [
        ({}, ["AMemNote", "AMemLinks", "AMemEvolved"]),
        ({"links": False, "evolution": False}, ["AMemNote"]),
        (asdict(AMemNumbers()), ["AMemNote", "AMemLinks", "AMemEvolved", "AMemEvolved"]),
        ({"evolve_each": False, "evolve_linked": False}, ["AMemNote", "AMemLinks", "AMemEvolvedAll"]),
    ]
    if bounded(False, proofs=True):
        parts += [
            ({"evolution": False}, ["AMemNote", "AMemLinks"]),
            ({"links": False}, ["AMemNote", "AMemEvolved", "AMemEvolved"]),
            ({"evolve_each": False}, ["AMemNote", "AMemLinks", "AMemEvolvedAll"]),
        ]
    for number, (options, names) in enumerate(parts):
        file = f"{number}.db"
        with opened(tmp_path, model_server, {"links": False, "evolution": False}, file) as memory:
            add(memory.of("ana"), "I saw a grey heron in the wetland park.")
            add(memory.of("ana"), "Bo bakes rye bread.", day=3)
            memory.of("ana").settle()
        asked = len(model.asked)
        with opened(tmp_path, model_server, options, file) as memory:
            add(memory.of("ana"), "The heron in the park was grey.", day=4)
            model.give("AMemLinks", {"linked": [1]})
            memory.of("ana").settle()
            assert model.names()[asked:] == names
            assert bool(notes(memory)[2].links) == ("AMemLinks" in names)


# ------------------------------------------------------------------------------------------------- failures, and scope


# ------------------------------------------------------------------------------------------------------ without a model


def test_without_a_model_near_notes_are_linked_and_take_over_keywords(system_opened: SystemOpener) -> None:
    memory = system_opened("amem")
    ana = memory.of("ana")
    add(ana, "The grey heron stood in the wetland park.")
    add(ana, "我昨天在公园看到一只苍鹭。", day=3)
    add(ana, "The grey heron stood in the wetland park again, asleep.", day=4)
    ana.settle()
    heron, chinese, again = notes(memory)
    assert again.links == (heron.id,)
    assert set(heron.keywords) >= {"heron", "wetland", "park", "asleep"}
    assert heron.sources == (1, 3)
    assert "苍鹭" in chinese.keywords
    assert (heron.tags, heron.context) == ((), "ana: The grey heron stood in the wetland park.")
    assert ana.recall("公园里的苍鹭").hits[0].utterance.seq == 2


@settings(max_examples=bounded(4, proofs=75))
@given(
    st.lists(
        st.sampled_from(["a grey heron", "the grey heron stood", "rye bread", "he bakes rye bread", "苍鹭在水里"]),
        max_size=8,
    )
)
def test_links_lead_back_to_notes_that_are_there_and_every_note_rests_on_its_utterance(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), options={"link_cosine": 0.4}) as memory:
        for text in texts:
            add(memory.of("ana"), text)
        memory.of("ana").settle()
        found = notes(memory)
        assert [note.said for note in found] == list(range(1, len(texts) + 1))
        place = {note.id: number for number, note in enumerate(found)}
        for note in found:
            assert note.said in note.sources
            assert len(set(note.links)) == len(note.links) <= 10
            assert all(place[link] < place[note.id] for link in note.links)
        system = memory.system
        assert isinstance(system, AMem)
        for version in system.kept(memory.of("ana").owner, Version):
            assert set(version.sources) < set(found[place[version.of]].sources)
