"""What the index says of its memory, which `resident_bytes` limits, against what Python's allocator gave it."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import islice

import numpy as np
import pytest
from growing import delta, said

from embermem.core.types import OwnerId, Utterance
from embermem.index.snapshot import Snapshot
from embermem_bench.synthetic import talk

DIM, TOKEN_DIM, TOKENS = 64, 128, 12
SYLLABLES = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
VOCABULARY = [a + b for a in SYLLABLES for b in SYLLABLES]


def conversation(pages: int) -> list[Utterance]:
    texts = talk(0, VOCABULARY, words=(20, 60), answer_words=(20, 60))
    return [
        said(2 * no + side + 1, text, thread=one.thread, page=f"p{no}")
        for no, one in enumerate(islice(texts, pages))
        for side, text in enumerate((one.query, one.response))
    ]


def built(utterances: list[Utterance]) -> Snapshot:
    seqs = [one.seq for one in utterances]
    vectors = np.ones((len(seqs), DIM), dtype=np.float32)
    tokens = [bytes([0x99]) * (TOKENS * TOKEN_DIM // 2)] * len(seqs)
    return Snapshot.empty(OwnerId("owner"), DIM, TOKEN_DIM).extended(delta(utterances, seqs, vectors, tokens=tokens))


@pytest.mark.proof
def test_the_estimate_is_near_what_is_held() -> None:
    built(conversation(1000))  # fills the caches of words, which are not the owner's
    gc.collect()
    tracemalloc.start()
    try:
        snapshot = built(conversation(1000))
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert snapshot.nbytes == pytest.approx(held, rel=0.25)


def test_one_by_one_and_all_at_once_make_the_same_index() -> None:
    utterances = conversation(40)
    whole = Snapshot.empty(OwnerId("owner"), DIM).extended(delta(utterances))
    grown = Snapshot.empty(OwnerId("owner"), DIM)
    for one in utterances:
        grown = grown.extended(delta([one]))
    n = len(utterances)
    for term in ("bada", "bade", "may", "owner", "alice"):
        (rows, counts), (others, their_counts) = whole.words.find(term, n), grown.words.find(term, n)
        assert rows.tolist() == others.tolist()
        assert counts.tolist() == their_counts.tolist()
    for column in ("speaker_of", "thread_of", "page_of", "text_length", "asks"):
        assert getattr(whole, column)(n).tolist() == getattr(grown, column)(n).tolist()
    assert whole.dates.dated(n).tolist() == grown.dates.dated(n).tolist()
    assert whole.links(n).previous.tolist() == grown.links(n).previous.tolist()
    assert whole.links(n).next.tolist() == grown.links(n).next.tolist()
    assert [whole.page_rows(page) for page in range(whole.pages)] == [
        grown.page_rows(page) for page in range(grown.pages)
    ]
