"""Long texts are cut into passages, each a row of the index."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from growing import delta, empty, said
from hypothesis import given
from hypothesis import strategies as st

from embermem.index.passages import passages

LONG = " ".join(f"Sentence number {i} tells of a heron." for i in range(300))


@given(st.text(st.sampled_from("ab .?!\n。é公"), max_size=40).map(lambda text: text * 400))
def test_passages_hold_all_of_a_text_once_and_in_order(text: str) -> None:
    cut = passages(text)
    assert "".join("".join(text[start:end].split()) for start, end in cut) == "".join(text.split())
    assert all(before <= start < end for (_, before), (start, end) in pairwise(cut))
    assert len(cut) == 1 or max(end - start for start, end in cut) <= 1_000


def test_what_is_not_long_is_one_passage() -> None:
    assert {text: got for text in ["", "Hm.", "no end " * 140] if (got := passages(text)) != ((0, len(text)),)} == {}


def test_passages_end_after_a_sentence_and_are_about_equally_long_or_half_as_long_without_spaces() -> None:
    assert all(LONG[end - 1] == "." for _, end in passages(LONG))
    lengths = [end - start for start, end in passages(LONG)]
    assert max(lengths) - min(lengths) < 50
    text = "我们昨天一起去了公园。" * 200
    assert max(end - start for start, end in passages(text)) <= 500


def test_a_long_utterance_has_a_row_for_each_passage_with_the_vector_and_the_words_of_it() -> None:
    count = len(passages(LONG))
    vectors = np.eye(4, dtype=np.float32)[np.arange(count) % 4]
    talk = [said(1, "Hello."), said(2, LONG), said(3, "Bye.")]
    snapshot = empty().extended(delta(talk, [2] * count, vectors))
    assert snapshot.n == 2 + count
    assert [snapshot.row(seq) for seq in (1, 2, 3)] == [0, 1, 1 + count]
    assert snapshot.vectors_of(range(1, 1 + count)).tolist() == vectors.tolist()
    assert [one.seq for one in snapshot.missing_vectors(9)] == [1, 3]
    assert "".join(snapshot.text(row) for row in range(1, 1 + count)).replace(" ", "") == LONG.replace(" ", "")
    assert snapshot.page_begins(1) == (1,)
    rows, _ = snapshot.words.find("299", snapshot.n)
    assert rows.tolist() == [count]


def test_a_vector_made_before_texts_were_cut_is_that_of_the_first_passage_and_nothing_is_missing() -> None:
    snapshot = empty().extended(delta([said(1, LONG)], [1], np.ones((1, 4), dtype=np.float32)))
    assert snapshot.vectors_of([0, 1]).tolist() == [[1.0] * 4, [0.0] * 4]
    assert not snapshot.partial
    assert snapshot.missing_vectors(9) == ()


def test_vectors_made_under_the_cut_before_keep_it() -> None:
    """Up to 8,000 characters a text had one vector; above, one for each passage of up to 1,000."""
    for text in [LONG[:3_000], LONG]:
        count = 1 if len(text) <= 8_000 else 12
        vectors = np.eye(4, dtype=np.float32)[np.arange(count) % 4]
        snapshot = empty().extended(delta([said(1, text), said(2, LONG)], [1] * count, vectors))
        assert snapshot.n == count + len(passages(LONG)) != 2 * len(passages(LONG))
        assert snapshot.vectors_of(range(count)).tolist() == vectors.tolist()
        assert not snapshot.has_vector[count:].any()


def test_vectors_beyond_the_passages_of_a_text_are_passed_over() -> None:
    vectors = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], dtype=np.float32)
    snapshot = empty().extended(delta([said(1, "Hello."), said(2, "Bye.")], [1, 1, 2], vectors))
    assert snapshot.vectors_of([0, 1]).tolist() == [vectors[0].tolist(), vectors[2].tolist()]
