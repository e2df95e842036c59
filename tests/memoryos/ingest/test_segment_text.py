"""The text of a segment: its summary parts and its keyword counts."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from embermem.core.changes import KeywordCount, SummaryPart
from embermem.core.types import ChainId
from embermem.memoryos.ingest import segment_text


def part(chain: str | None, text: str) -> SummaryPart:
    return SummaryPart(chain_id=None if chain is None else ChainId(chain), text=text)


def test_a_chain_s_new_summary_takes_its_old_one_s_place() -> None:
    parts = segment_text.with_part((part("c1", "old"), part("c2", "two")), part("c1", "new"), 1000)
    assert [(p.chain_id, p.text) for p in parts] == [("c2", "two"), ("c1", "new")]


def test_a_condensed_part_is_kept_beside_a_chain_s() -> None:
    parts = segment_text.with_part((part(None, "before"),), part("c1", "new"), 1000)
    assert [p.text for p in parts] == ["before", "new"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=60)), min_size=1, max_size=30))
def test_summary_parts_are_bounded_and_the_newest_always_stays(added: list[tuple[str, str]]) -> None:
    parts: Sequence[SummaryPart] = ()
    for chain, text in added:
        parts = segment_text.with_part(parts, part(chain, text), 80)
        assert (parts[-1].chain_id, parts[-1].text) == (chain, text)
        assert len(parts) == 1 or sum(len(p.text) + 1 for p in parts) <= 80
        assert len({p.chain_id for p in parts}) == len(parts)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5), max_size=12))
def test_keyword_counts_are_the_pages_that_have_the_word(pages: list[list[str]]) -> None:
    counts: tuple[KeywordCount, ...] = ()
    for words in pages:
        counts = segment_text.with_keywords(counts, words, 100)
    assert {c.word: c.pages for c in counts} == {
        word: sum(word in words for words in pages) for word in {w for words in pages for w in words}
    }
    assert [c.pages for c in counts] == sorted((c.pages for c in counts), reverse=True)
    assert len(segment_text.with_keywords(counts, ["z"], 3)) <= 3
