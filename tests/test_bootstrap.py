"""What `bootstrap` chooses for a store: its embedder."""

from contextlib import closing

import pytest

from embermem import Memory
from embermem.bootstrap import in_memory, make_embedder, open_store
from embermem.core.config import Settings
from embermem.core.errors import ConfigError, EmbedderMismatch
from embermem.embedders import e5
from scripted import Place


def test_another_embedder_than_the_stores_is_refused_with_the_command_that_helps(place: Place) -> None:
    with Memory(place(), embedder="hashed", background=False) as memory:
        memory.of("alice").add("The heron is back.", "Lovely.")
    with pytest.raises(EmbedderMismatch, match="embermem reindex --embedder e5"):
        Memory(place(), embedder="e5", background=False)


def test_a_store_of_another_embedder_can_be_opened_to_be_reindexed(place: Place) -> None:
    with Memory(place(), embedder="hashed", background=False) as memory:
        memory.of("alice").add("The heron is back.", "Lovely.")
        memory.of("alice").settle()
    with Memory(place(), embedder="e5", reindex=True, background=False) as memory:
        assert memory.of("alice").search("heron")[0].utterance.text == "The heron is back."  # by words
        assert memory.reindex() == 2
    with Memory(place(), background=False) as memory:
        assert memory.embedder_name == e5.NAME
        assert not memory.of("alice").recall("heron").partial


def test_a_store_of_an_encoder_that_is_no_more_says_so_and_one_command_reindexes_it(place: Place) -> None:
    with Memory(place(), embedder="hashed", background=False) as memory:
        memory.of("alice").add("The heron is back.", "Lovely.")
        memory.of("alice").settle()
    with closing(open_store(place(), Settings())) as store:
        store.remember({"embedder": "all-MiniLM-L6-v2"})
    with pytest.raises(EmbedderMismatch, match=r"are of 'all-MiniLM-L6-v2', which no setting .* `embermem reindex "):
        Memory(place(), background=False)
    with pytest.raises(EmbedderMismatch, match=r"run `embermem reindex --embedder hashed`$"):
        Memory(place(), embedder="hashed", background=False)
    with Memory(place(), embedder="hashed", reindex=True, background=False) as memory:
        assert memory.reindex() == 2


def test_the_error_for_an_unknown_embedder_lists_what_there_is() -> None:
    with pytest.raises(ConfigError, match="'minilm' is not allowed; one of: auto, e5, hashed, openai:MODEL"):
        make_embedder("minilm", Settings())


def test_a_place_that_names_no_store_is_refused() -> None:
    for nowhere in ["", "mysql://x/y", "sqlite://"]:
        with pytest.raises(ConfigError):
            Memory(nowhere)


def test_a_reindex_names_what_it_makes_again(place: Place) -> None:
    with Memory(place(), embedder="hashed", background=False) as memory:
        memory.of("alice").add("The heron is back.", "Lovely.")
        memory.of("alice").settle()
        assert memory.reindex("hashed") == 0  # made by it already
        assert memory.reindex() == 2  # all of them
        assert memory.reindex("e5") == 2  # by another
        assert memory.reindex("e5") == 0


def test_a_store_on_a_server_or_in_a_file_is_not_one_in_memory() -> None:
    cases = [
        (":memory:", True), ("sqlite:///:memory:", True), ("memory.db", False), ("postgresql://host/memory", False),
        ("postgres://host/memory", False),
    ]  # fmt: skip
    assert {place: got for place, expected in cases if (got := in_memory(place)) is not expected} == {}
