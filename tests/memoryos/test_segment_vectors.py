"""What a segment's vector is made of: its summary in preset `paper`, its pages in `default`; also after a switch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from embermem import Memory, OwnerMemory
from embermem.core.types import Scope
from embermem.embedders.hashed import HashedNgrams
from scripted import NOW, Clock
from soundness import assert_sound

LINES = (
    "I walk in the wetland park each Sunday.",
    "The wetland park has a new boardwalk.",
    "A heron stood in the wetland park.",
    "My tax letter came.",
)


def opened(path: Path, **settings: Any) -> Memory:
    given = {"embedder": "hashed", "background": False, "clock": Clock(NOW), "short_term_pages": 1, **settings}
    return Memory(path, **given)


def filled(memory: Memory) -> OwnerMemory:
    alice = memory.of("alice")
    for line in LINES:
        alice.add(line, "I see.")
    alice.settle()
    return alice


def assert_of_summaries(alice: OwnerMemory) -> None:
    segments = alice.segments()
    made = HashedNgrams().embed([segment.summary for segment in segments])
    assert segments
    for segment, expected in zip(segments, made, strict=True):
        assert segment.embedding is not None
        assert np.allclose(segment.embedding, expected, atol=1e-4)  # as sums are stored (core/vector_sums.py)


def assert_of_pages(alice: OwnerMemory) -> None:
    segments = alice.segments()
    assert segments
    for segment in segments:
        pages = [page for page in alice.pages() if page.id in segment.page_ids]
        vectors = [HashedNgrams().embed([u.text for u in page.utterances]).sum(axis=0) for page in pages]
        total = np.sum([one / np.linalg.norm(one) for one in vectors], axis=0)
        assert segment.embedding is not None
        assert np.allclose(segment.embedding, total / np.linalg.norm(total), atol=2e-3)


def test_a_store_whose_preset_changes_makes_its_segments_vectors_again_when_it_works(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    with opened(file) as memory:
        assert_of_pages(filled(memory))
    with opened(file, preset="paper") as memory:
        alice = memory.of("alice")
        assert_of_pages(alice)  # until there is work
        assert "wetland park" in alice.recall("Where do I walk?").text
        alice.settle()
        assert_of_summaries(alice)
        assert [found for found in memory.check(deep=True) if found.level == "error"] == []
    with opened(file) as memory:
        memory.of("alice").settle()
        assert_of_pages(memory.of("alice"))
    assert_sound(file)


def test_a_summary_of_what_may_not_be_seen_is_left_out_and_follows_the_pages_that_are_left(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    with opened(file, preset="paper", theta=-1.0) as memory:
        alice = filled(memory)
        assert_of_summaries(alice)
        assert "topics of these pages:" in alice.recall("the wetland park").text
        # Of the segment's three pages the last began with #5.
        seen = alice.recall("the wetland park", scope=Scope(before_seq=5)).text
        assert "boardwalk" in seen
        assert "topics of these pages:" not in seen
        assert "heron" not in seen

        (before,) = alice.segments()
        alice.forget(page=before.page_ids[1])
        alice.settle()
        (after,) = alice.segments()
        assert "boardwalk" not in after.summary
        assert_of_summaries(alice)
    assert_sound(file)


def test_without_chains_or_mid_term_memory_their_summaries_are_left_out(tmp_path: Path) -> None:
    texts = {}
    for without in ("nothing", "chain", "mid_term", "long_term"):
        with opened(tmp_path / f"{without}.db", preset="paper", theta=-1.0, without=without) as memory:
            texts[without] = filled(memory).recall("the wetland park").text
    assert "topics of these pages:" in texts["nothing"]
    assert "conversations of these pages:" in texts["nothing"]
    assert "topics of these pages:" in texts["chain"]
    assert "conversations of these pages:" not in texts["chain"]
    assert "topics of these pages:" not in texts["mid_term"]
    assert "conversations of these pages:" in texts["long_term"]
