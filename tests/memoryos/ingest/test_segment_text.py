"""The text of a segment: its summary parts and its keyword counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from embermem.core.changes import KeywordCount, SummaryPart
from embermem.core.types import ChainId
from embermem.memoryos.ingest import segment_text


def part(chain: str | None, text: str) -> SummaryPart:
    return SummaryPart(chain_id=None if chain is None else ChainId(chain), text=text)


def test_a_model_s_summary_takes_the_place_of_what_was_told_and_sentences_stand_once() -> None:
    parts = segment_text.with_part((part("c1", "old"), part("c2", "two"), part("c1", "older")), part("c1", "new"))
    assert [(p.chain_id, p.text) for p in parts] == [("c2", "two"), ("c1", "new")]

    parts = segment_text.with_part((part(None, "before"),), part("c1", "new"))
    assert [p.text for p in parts] == ["before", "new"]

    parts = segment_text.with_told((part("c1", "a"), part("c1", "b")), [part("c2", "a"), part("c2", "c")])
    assert [(p.chain_id, p.text) for p in parts] == [("c1", "b"), ("c2", "a"), ("c2", "c")]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5), max_size=12))
def test_keyword_counts_are_the_pages_that_have_the_word(pages: list[list[str]]) -> None:
    counts: tuple[KeywordCount, ...] = ()
    for words in pages:
        counts = segment_text.with_counts(counts, dict.fromkeys(words, 1), 100)
    assert {c.word: c.pages for c in counts} == {
        word: sum(word in words for words in pages) for word in {w for words in pages for w in words}
    }
    assert [c.pages for c in counts] == sorted((c.pages for c in counts), reverse=True)
    assert len(segment_text.with_counts(counts, {"z": 1}, 3)) <= 3
