"""A segment's shown keywords are stored by their places among those that are counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.changes import KeywordCount
from embermem.core.errors import StoreCorrupt
from embermem.store.codec import shown_from, shown_text

WORDS = st.lists(st.text(), max_size=8)


@given(shown=WORDS, counted=WORDS)
def test_shown_keywords_come_back_in_their_order_whether_they_are_counted_or_not(
    shown: list[str], counted: list[str]
) -> None:
    known = [KeywordCount(word=word, pages=1) for word in counted]
    text = shown_text(shown, known)
    assert text is not None
    assert shown_from(text, known) == tuple(shown)


def test_words_and_nothing_are_read_too() -> None:
    assert shown_from('["heron","lake"]', []) == ("heron", "lake")
    assert shown_text(None, []) is None


def test_a_place_that_no_keyword_has_is_told_as_damage() -> None:
    cases: list[str] = ["[1]", "[-1]", "[", '{"a":1}']
    for damaged in cases:
        with pytest.raises(StoreCorrupt):
            shown_from(damaged, [KeywordCount(word="heron", pages=1)])
