"""What the adapters of agent frameworks share."""

from __future__ import annotations

import pytest

from embermem import OwnerMemory
from embermem.core.errors import ConfigError, InputError
from embermem.core.extras import needing
from embermem.integrations import shared


def test_a_missing_package_is_told_with_its_extra() -> None:
    said = "the adapter needs the package no_such_framework: pip install 'embermem\\[some-extra\\]'"
    with pytest.raises(ConfigError, match=said), needing("some-extra", "the adapter"):
        import no_such_framework  # type: ignore[import-not-found]  # noqa: F401


def test_what_is_shown_to_a_model_is_removed_when_it_is_added_again(alice: OwnerMemory) -> None:
    alice.add("I keep a heron called Zephyrine.")
    shown = shared.recalled_text(alice, alice.recall("What is the heron called?"))
    assert "Zephyrine" in shown
    alice.add(f"{shown}\nHello again.")
    assert "Zephyrine" not in alice.pages()[-1].query
    assert alice.pages()[-1].query.endswith("Hello again.")


def test_the_same_context_is_shown_as_the_same_text(alice: OwnerMemory) -> None:
    alice.add("I keep a heron called Zephyrine.")
    context = alice.recall("What is the heron called?")
    assert shared.recalled_text(alice, context) == shared.recalled_text(alice, context)


def test_an_empty_context_is_shown_as_no_text(alice: OwnerMemory) -> None:
    assert shared.recalled_text(alice, alice.recall("What is the heron called?")) == ""
    assert shared.search_memory(alice, "What is the heron called?") == "Nothing is remembered about this."


def test_the_tools_find_what_they_remembered(alice: OwnerMemory) -> None:
    assert shared.remember(alice, "I am allergic to nuts.") == "Remembered."
    assert "allergic to nuts" in shared.search_memory(alice, "What am I allergic to?")
    assert [(page.thread, page.query) for page in alice.pages()] == [("remembered", "I am allergic to nuts.")]


def test_two_texts_that_are_remembered_are_two_pages(alice: OwnerMemory) -> None:
    for text in ("I am allergic to nuts.", "I live in Lyon."):
        shared.remember(alice, text)
    assert [page.query for page in alice.pages()] == ["I am allergic to nuts.", "I live in Lyon."]


def test_a_text_that_cannot_be_stored_is_refused(alice: OwnerMemory) -> None:
    with pytest.raises(InputError):
        shared.remember(alice, "x" * 1_000_001)
