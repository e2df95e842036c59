"""A store that began without the weights: when they come, it is embedded again, and recall works meanwhile.

The weights are looked for below `sys.prefix` and the user's folder: other folders are an environment without them.
"""

from __future__ import annotations

import logging
import site
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from running import run

from embermem import Memory
from embermem.bootstrap import make_embedder
from embermem.changes import Cause
from embermem.cli.embedder import best
from embermem.core.config import Settings
from embermem.embedders.weights import find_weights
from scripted import Place

HASHED = "hashed-ngram-v1"
SETTING = best()
BEST = make_embedder(SETTING, Settings()).name
"""Of the embedder that is chosen where all weights are there that are here."""
QUESTION = "Which pet do you have?"

pytestmark = pytest.mark.skipif(find_weights() is None, reason="the weights of multilingual-e5-small are not installed")


@contextmanager
def no_weights(folder: Path) -> Iterator[None]:
    """An environment that holds nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "prefix", str(folder))
        patch.setattr(site, "USER_BASE", str(folder))
        yield


@pytest.fixture
def begun(place: Place, tmp_path: Path) -> Place:
    """A store with two owners, made where there are no weights and no setting names an embedder."""
    with no_weights(tmp_path / "bare"), Memory(place(), background=False) as memory:
        for user in ("alice", "bob"):
            memory.of(user).add("A cat lives with me, called Minka.", "How old is she?")
            memory.of(user).settle()
        assert memory.embedder_name == HASHED
        assert memory.better_embedder() is None
    return place


def found(memory: Memory, user: str = "alice") -> bool:
    return any("Minka" in hit.utterance.text for hit in memory.of(user).recall("the cat Minka").hits)


@pytest.mark.engines
def test_settle_embeds_the_store_again_once_the_weights_are_here(
    begun: Place, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory(begun(), background=False) as memory, caplog.at_level(logging.WARNING, "embermem"):
        assert (memory.embedder_name, memory.better_embedder()) == (HASHED, SETTING)
        assert found(memory)
        memory.of("alice").settle()
        assert (memory.embedder_name, memory.better_embedder()) == (BEST, None)
        assert not memory.of("alice").recall(QUESTION).partial
        assert found(memory, "bob")  # whose vectors are not made yet
        memory.work()
        assert memory.stats().without_vector == 0
        assert not memory.of("bob").recall(QUESTION).partial
        memory.of("alice").settle()
        assert [one.getMessage() for one in caplog.records if "embeds again" in one.getMessage()] == [
            f"{BEST} is now available and embeds again what {HASHED} embedded; "
            "recall finds the rest by words until then"
        ]
        assert not any(finding.level == "error" for finding in memory.check(deep=True))
    with Memory(begun(), background=False) as memory:
        assert (memory.embedder_name, memory.stats().embedder) == (BEST, BEST)


def test_the_background_does_so_without_a_word_added_and_recall_works_meanwhile(begun: Place) -> None:
    with Memory(begun(), pause_s=0.0) as memory:
        until = time.monotonic() + 60
        while memory.stats().without_vector or memory.stats().embedder != BEST:
            assert found(memory)
            assert time.monotonic() < until
            time.sleep(0.02)
        assert found(memory)
        assert not memory.of("bob").recall(QUESTION).partial


def test_a_setting_that_names_the_hashed_embedder_keeps_it(begun: Place) -> None:
    with Memory(begun(), embedder="hashed", background=False) as memory:
        assert memory.better_embedder() is None
        memory.of("alice").settle()
        memory.work()
        assert (memory.embedder_name, memory.stats().without_vector) == (HASHED, 0)


def test_a_store_whose_embedder_somebody_chose_keeps_it(place: Place, begun: Place) -> None:
    with Memory(place("chosen"), embedder="hashed", background=False) as memory:
        memory.of("alice").add("A cat lives with me.", "Since when?")
    with Memory(begun(), embedder="hashed", background=False) as memory:
        memory.reindex("hashed")
    for where in (place("chosen"), begun()):
        with Memory(where, background=False) as memory:
            memory.of("alice").settle()
            assert (memory.embedder_name, memory.better_embedder()) == (HASHED, None)


def test_another_memory_that_has_the_store_open_changes_with_it(begun: Place) -> None:
    with Memory(begun(), background=False) as one, Memory(begun(), background=False) as other:
        one.of("alice").settle()
        assert found(other)  # by words
        other.of("alice").add("The cat is four.", "A good age.")
        other.of("alice").settle()
        assert other.embedder_name == BEST
        assert not other.of("alice").recall(QUESTION).partial
        assert one.stats().embedder == BEST


def test_who_only_reads_changes_nothing(begun: Place) -> None:
    with Memory(begun(), read_only=True) as memory:
        assert memory.better_embedder() is None
        assert found(memory)
        assert memory.stats().embedder == HASHED


@pytest.mark.sqlite
def test_the_commands_say_what_will_be_embedded_again(begun: Place) -> None:
    store = Path(begun())
    more = {"EMBERMEM_EMBEDDER": "auto"}
    assert "`embermem settle`" in run(store, "doctor", more=more).out.replace("\n", " ")
    stats = run(store, "stats", "--json", more=more)
    assert f"the embedder {SETTING} is now available" in " ".join(stats.err.split())
    assert stats.json["store"]["embedder"] == HASHED
    assert run(store, "model", "--json", more=more).json["embedder"] == HASHED
    run(store, "--user", "alice", "settle", more=more)
    assert run(store, "model", "--json", more=more).json["embedder"] == BEST
    assert "is now available" not in run(store, "stats", more=more).err
    assert f"{BEST}; 2 messages have no vector yet" in " ".join(run(store, "doctor", "--json", more=more).out.split())
    run(store, "worker", "--once", more=more)
    assert "have no vector yet" not in run(store, "doctor", "--json", more=more).out


@pytest.mark.sqlite
def test_the_commands_say_what_was_read_without_the_trained_reader_and_one_reads_it_again(
    begun: Place, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, more = Path(begun()), {"EMBERMEM_EMBEDDER": "auto"}
    with no_weights(tmp_path / "bare"), caplog.at_level(logging.WARNING, "embermem"):
        for command in ("stats", "doctor", "model"):
            told = run(store, command, more=more)
            assert "2 pages were read by rules alone" in " ".join((told.out + told.err).split()), command
        refused = run(store, "rebuild", "--outdated", more=more)
        assert (refused.code, "run `embermem model install`" in " ".join(refused.err.split())) == (1, True)
        with Memory(store, background=False) as memory:
            memory.of("alice").add("j'habite à Nantes avec mon chat", "Ah oui ?")
            memory.of("alice").settle()
        assert any("without the trained reader" in one.getMessage() for one in caplog.records)
    assert run(store, "model", "install", more=more).code == 0
    sentence = "3 pages were read without the present trained reader, reader-5 (3 by extractive-v1)"
    for command in ("stats", "doctor", "model"):
        told = run(store, command, more=more)
        assert sentence in " ".join((told.out + told.err).split()), command
    own = run(store, "--user", "alice", "stats", "--json", more=more).json["owner"]
    assert own["outdated"] == [{"analyst": "extractive-v1", "pages": 2, "reader": "reader-5"}]
    done = run(store, "rebuild", "--outdated", "--json", more=more)
    assert [one["owner"]["user"] for one in done.json["owners"]] == ["alice", "bob"]
    assert run(store, "rebuild", "--outdated", more=more).out == "no page is outdated\n"
    assert "trained reader" not in run(store, "stats", more=more).out
    with Memory(store, background=False) as memory:
        assert memory.outdated() == {}
        read = [change.analyst for change in memory.of("alice").changes() if change.cause is Cause.ANNOTATION]
        assert (read[0], read[-1]) == ("extractive-v1", "extractive-v1+reader-5")


def test_installing_the_weights_embeds_a_store_of_the_hashed_embedder_again_and_no_other(tmp_path: Path) -> None:
    for name, setting, after in (("a.db", "auto", BEST), ("b.db", "hashed", HASHED)):
        with Memory(tmp_path / name, embedder="hashed", background=False) as memory:
            memory.of("alice").add("A cat lives with me.", "Since when?")
            memory.of("alice").settle()
        done = run(tmp_path / name, "model", "install", "--json", more={"EMBERMEM_EMBEDDER": setting})
        assert done.json["embedder"] == after
