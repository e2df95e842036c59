from __future__ import annotations

import threading
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from growing import DIM, delta, empty, said
from hypothesis import given
from hypothesis import strategies as st

from embermem.core import equations
from embermem.core.errors import EmbedderMismatch
from embermem.core.types import About, Fact, FactId, PageId, Persona, Segment, SegmentId, Utterance
from embermem.core.vector_codes import StoredVectors
from embermem.index.segments import SegmentTable
from embermem.index.snapshot import Snapshot
from embermem.protocols import PageMark
from proofs import bounded

if TYPE_CHECKING:
    from embermem.core.types import Vectors

WORDS = ["park", "wetland", "heron", "tea", "Lyon", "book", "公园"]


@st.composite
def conversations(draw: st.DrawFn) -> list[Utterance]:
    lines = draw(
        st.lists(
            st.tuples(st.lists(st.sampled_from(WORDS), max_size=4), st.sampled_from("abc"), st.integers(0, 3)),
            max_size=14,
        )
    )
    return [
        said(seq, " ".join(words), thread=thread, page=f"{thread}{page}")
        for seq, (words, thread, page) in enumerate(lines, 1)
    ]


def vectors_for(seqs: list[int]) -> Vectors:
    return np.array([[seq, 1, 0, 0] for seq in seqs], dtype=np.float32).reshape(-1, DIM)


def tokens_for(seqs: list[int]) -> list[bytes]:
    """seq % 3 tokens for each."""
    return [bytes([17 + seq % 8] * 4 * (seq % 3)) for seq in seqs]


def both_for(seqs: list[int]) -> tuple[list[int], Vectors]:
    return seqs, vectors_for(seqs)


def picture(snapshot: Snapshot) -> dict[str, Any]:
    """All that a reader can see of a snapshot."""
    n = snapshot.n
    links = snapshot.links(n)
    return {
        "n": (n, snapshot.seq, snapshot.revision, snapshot.pages), "utterances": list(snapshot.utterances),
        "links": (links.previous.tolist(), links.next.tolist()),
        "dots": [snapshot.dots(direction, -9.0).tolist() for direction in np.eye(snapshot.dim, dtype=np.float32)],
        "by row": snapshot.vectors_of(range(n)).tolist(),
        "tokens": [part.tolist() for part in snapshot.tokens_of(np.arange(n))],
        "days": snapshot.dates.said.first(n).tolist(),
        "missing": snapshot.missing_vectors(100), "pages": [snapshot.page_rows(page) for page in range(snapshot.pages)],
        "segments": snapshot.segment_of_page().tolist(),
        "speakers": [snapshot.speakers()[i] for i in snapshot.speaker_of(n)], "threads": snapshot.thread_of(n).tolist(),
        "words": [snapshot.words.scores({w.lower(): 1.0}, n, 1.2, 0.75).tolist() for w in WORDS],
        "windows": [snapshot.words.window_scores({w.lower(): 1.0}, snapshot.texts, 1.2, 0.75).tolist() for w in WORDS],
    }  # fmt: skip


@given(conversations(), st.lists(st.integers(0, 14), max_size=5), st.sets(st.integers(1, 14)))
def test_extending_in_any_steps_equals_extending_at_once(
    talk: list[Utterance], cuts: list[int], embedded: set[int]
) -> None:
    seqs = [u.seq for u in talk if u.seq in embedded]
    at_once = empty().extended(delta(talk, *both_for(seqs), tokens=tokens_for(seqs)))
    stepwise = empty()
    bounds = sorted({0, *(cut for cut in cuts if cut < len(talk)), len(talk)})
    for start, end in pairwise(bounds):
        part = talk[start:end]
        new = [u.seq for u in part if u.seq in embedded]
        stepwise = stepwise.extended(delta(part, *both_for(new), tokens=tokens_for(new)))
    assert picture(stepwise) == picture(at_once)


@given(conversations(), st.integers(0, 14), st.sets(st.integers(1, 14)))
def test_an_older_snapshot_is_not_touched_by_what_comes_later(
    talk: list[Utterance], cut: int, embedded: set[int]
) -> None:
    old = empty().extended(delta(talk[:cut]))
    before = picture(old)
    seqs = [u.seq for u in talk if u.seq in embedded]
    newer = old.extended(delta(talk[cut:], *both_for(seqs), tokens=tokens_for(seqs)))
    assert picture(old) == before
    assert picture(newer) == picture(empty().extended(delta(talk, *both_for(seqs), tokens=tokens_for(seqs))))


@given(
    conversations(),
    st.lists(st.booleans(), min_size=14, max_size=14),
    st.lists(st.booleans(), min_size=14, max_size=14),
)
def test_a_part_is_as_if_nothing_else_had_been_said(talk: list[Utterance], first: list[bool], then: list[bool]) -> None:
    def of(said: list[Utterance]) -> Snapshot:
        seqs = [u.seq for u in said if u.seq % 4]
        return empty().extended(delta(said, *both_for(seqs), tokens=tokens_for(seqs)))

    kept = [one for one, inside in zip(talk, first, strict=False) if inside]
    part = of(talk).part(np.array(first[: len(talk)], dtype=bool))
    again = part.part(np.array(then[: len(kept)], dtype=bool))
    left = [one for one, inside in zip(kept, then, strict=False) if inside]
    for found, only in ((part, of(kept)), (again, of(left))):
        assert picture(found) | {"n": 0} == picture(only) | {"n": 0}
        assert (found.n, found.pages) == (only.n, only.pages)
        assert [found.row(one.seq) for one in talk] == [only.row(one.seq) for one in talk]
        for thread in {one.thread for one in found.utterances}:
            assert found.thread_number(thread) == only.thread_number(thread)
        for page in range(found.pages):
            said = found.utterances[found.page_rows(page)[0]]
            assert found.page_number(said.page_id) == page
            everywhere = [one for one in talk if one.page_id == said.page_id]
            assert found.is_whole(page) == (len(found.page_rows(page)) == len(everywhere))
        gone = {one.page_id for one in talk} - {one.page_id for one in found.utterances}
        assert all(found.page_number(one) is None for one in gone)


def test_a_part_keeps_all_passages_of_a_long_text() -> None:
    long = " ".join(f"Sentence {i} tells of the wetland park." for i in range(400))
    talk = [said(1, "tea"), said(2, long), said(3, "a heron")]
    whole = empty().extended(delta(talk))
    part = whole.part(whole.seqs >= 2)
    assert part.n == whole.n - 1
    assert [part.text(row) for row in range(part.n)] == [whole.text(row) for row in range(1, whole.n)]
    assert part.is_part(0) == (False, True)
    assert part.nbytes > 0


def test_a_snapshot_becomes_newer_once() -> None:
    old = empty().extended(delta([said(1, "park")]))
    old.extended(delta([said(2, "heron")]))
    with pytest.raises(ValueError, match="becomes newer once"):
        old.extended(delta([said(2, "book")]))


def test_utterances_that_come_twice_are_held_once() -> None:
    talk = [said(1, "park"), said(2, "tea")]
    snapshot = empty().extended(delta(talk)).extended(delta([*talk, said(3, "heron")]))
    assert [u.seq for u in snapshot.utterances] == [1, 2, 3]


def test_gaps_in_seq_do_not_move_rows() -> None:
    snapshot = empty().extended(delta([said(2, "park"), said(7, "tea")], [7], vectors_for([7])))
    assert (snapshot.row(7), snapshot.row(3), snapshot.rows_before(7)) == (1, None, 1)
    assert snapshot.vectors_of([1]).tolist() == vectors_for([7]).tolist()


def test_the_newest_utterances_without_a_vector_are_missing() -> None:
    snapshot = empty().extended(delta([said(i, "x") for i in range(1, 6)], [4], vectors_for([4])))
    assert [u.seq for u in snapshot.missing_vectors(2)] == [3, 5]
    assert snapshot.missing_vectors(0) == ()
    assert snapshot.partial


def test_vectors_made_at_recall_are_in_the_new_snapshot_only() -> None:
    old = empty().extended(delta([said(1, "park"), said(2, "tea")]))
    new = old.with_vectors([2, 1, 2, 9], vectors_for([2, 1, 5, 9]))
    assert new.missing_vectors(9) == ()
    assert new.vectors_of([0, 1]).tolist() == vectors_for([1, 2]).tolist()
    assert len(old.missing_vectors(9)) == 2
    assert not old.vectors_of([0, 1]).any()


def test_a_reset_throws_away_what_was_held() -> None:
    old = empty().extended(delta([said(1, "park")], revision=3))
    new = old.extended(delta([said(5, "tea")], revision=1, reset=True))
    assert [u.seq for u in new.utterances] == [5]
    assert new.revision == 1
    assert [u.seq for u in old.utterances] == [1]


def test_vectors_that_are_damaged_as_they_are_stored_are_refused() -> None:
    for row in (b"", b"\x01", b"\x01" * DIM, "a text"):
        with pytest.raises(EmbedderMismatch, match=r"stored .* run `embermem reindex`"):
            empty().extended(delta([said(1, "park")], [1], StoredVectors([row], DIM)))  # type: ignore[arg-type, list-item]


def test_tokens_that_are_cut_off_are_refused() -> None:
    vectors = np.ones((1, DIM), dtype=np.float32)
    with pytest.raises(EmbedderMismatch, match=r"tokens .* run `embermem reindex`"):
        empty().extended(delta([said(1, "park")], [1], vectors, tokens=[b"\x77" * 5]))


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(EmbedderMismatch, match="dimension 4"):
        empty().extended(delta([said(1, "park")], [1], np.zeros((1, 3), dtype=np.float32)))


def segment(name: str, summary: str = "", keywords: tuple[str, ...] = (), *, archived: bool = False) -> Segment:
    at = datetime(2023, 5, 8, tzinfo=UTC)
    return Segment(
        id=SegmentId(name),
        summary=summary,
        keywords=keywords,
        counted=keywords,
        page_ids=(),
        visits=0,
        unanalysed=0,
        last_access=at,
        archived=archived,
        change_no=1,
        recorded_at=at,
        said_from=at,
        said_to=at,
        embedding=np.array([len(keywords), 1, 2, 0], dtype=np.float32),
    )


def mark(page: str, segment_id: str | None) -> PageMark:
    return PageMark(
        page_id=PageId(page),
        no=1,
        segment_id=None if segment_id is None else SegmentId(segment_id),
    )


def test_a_segment_replaces_the_one_with_its_id() -> None:
    old = empty().extended(delta([said(1, "a"), said(2, "b")], pages=[mark("p1", "s")], segments=[segment("s", "one")]))
    new = old.extended(delta(pages=[mark("p1", None), mark("p2", "t")], segments=[segment("s", "two"), segment("t")]))
    assert (old.segment(0), new.segment(0), new.segment(1)) == (("s", False), None, ("t", False))
    assert [one.summary for one in old.segments.rows] == ["one"]
    assert [one.summary for one in new.segments.rows] == ["two", segment("t").summary]


@given(st.lists(st.sets(st.sampled_from(WORDS)), max_size=5), st.frozensets(st.sampled_from(WORDS)))
def test_f_scores_of_all_segments_equal_equation_1(keywords: list[set[str]], asked: frozenset[str]) -> None:
    segments = [segment(f"s{i}", keywords=tuple(sorted(words))) for i, words in enumerate(keywords)]
    table = SegmentTable(empty().dim).replaced(segments, ())
    query = np.array([1, 2, 0, 1], dtype=np.float32)
    expected = [
        equations.f_score(equations.cosine(s.embedding, query), equations.jaccard(frozenset(s.keywords), asked))
        for s in segments
        if s.embedding is not None
    ]
    assert table.f_scores(query, asked) == pytest.approx(expected)


def fact(name: str, text: str) -> Fact:
    return Fact(
        id=FactId(name),
        about=About.USER,
        subject="user",
        attribute="likes",
        value=text,
        text=text,
        sources=(),
        valid_from=None,
        valid_to=None,
        recorded_at=datetime(2023, 5, 8, tzinfo=UTC),
    )


def test_a_persona_is_replaced_whole_and_kept_where_none_comes() -> None:
    first = empty().extended(delta(persona=Persona(facts=(fact("f", "drinks green tea"),))))
    kept = first.extended(delta([said(1, "park")]))
    second = kept.extended(delta(persona=Persona(facts=(fact("g", "reads books"),))))
    assert kept.persona == first.persona
    assert kept.facts.coverage({"tea": 1.0, "park": 3.0}).tolist() == [0.25]
    assert second.facts.coverage({"book": 1.0, "tea": 1.0}).tolist() == [0.5]


def test_readers_see_whole_snapshots_while_a_writer_extends() -> None:
    current = [empty()]
    failures: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            snapshot = current[0]
            n = snapshot.n
            scores = snapshot.words.scores({"tea": 1.0}, n, 1.2, 0.75)
            dots = snapshot.dots(np.eye(snapshot.dim, dtype=np.float32)[0], np.nan)
            if len(scores) != n or (n and not scores.all()) or not np.allclose(dots, np.arange(1, n + 1), rtol=0.01):
                failures.append(f"at {n}")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for seq in range(1, bounded(150, proofs=400)):
        current[0] = current[0].extended(delta([said(seq, "tea")], [seq], vectors_for([seq])))
    done.set()
    for reader in readers:
        reader.join()
    assert failures == []


def test_nbytes_grows_with_what_is_held() -> None:
    small = empty().extended(delta([said(1, "park")]))
    size = small.nbytes
    large = small.extended(delta([said(i, "park " * 50) for i in range(2, 200)]))
    assert large.nbytes > size + 198 * 250


def test_tokens_come_with_the_vectors_and_stand_by_row() -> None:
    old = empty().extended(delta([said(seq, "tea") for seq in (1, 2, 3)]))
    new = old.with_vectors([3, 1], vectors_for([3, 1]), [b"\x11" * 8, b"\x22" * 4])
    counts, codes, norms = new.tokens_of(np.array([0, 1, 2]))
    assert counts.tolist() == [1, 0, 2]
    assert codes.tolist() == [[0x22] * 4, [0x11] * 4, [0x11] * 4]
    assert norms.shape == (3,)
    assert old.tokens_of(np.array([0, 1, 2]))[0].tolist() == [0, 0, 0]


def test_an_embedder_without_tokens_gives_none() -> None:
    bare = Snapshot.empty(empty().owner, DIM).extended(delta([said(1, "tea")], [1], vectors_for([1])))
    assert not bare.has_tokens()
    assert bare.tokens_of(np.array([0]))[0].tolist() == [0]


def test_what_is_left_when_facts_have_expired_is_worked_out_once_until_more_have() -> None:
    at = datetime(2026, 5, 2, 9, tzinfo=UTC)
    facts = tuple(
        Fact(
            id=FactId(f"f1-{day:03}"),
            about=About.USER,
            subject="user",
            attribute="plans",
            value="visit Rome",
            text="plans to visit Rome",
            sources=(),
            valid_from=None,
            valid_to=None,
            recorded_at=at,
            expires_at=at.replace(day=day),
        )
        for day in (3, 5)
    )
    snapshot = empty().extended(delta([said(1, "tea")], persona=Persona(facts=facts), revision=1))
    assert snapshot.unexpired(at, facts=True) is snapshot

    first = snapshot.unexpired(at.replace(day=4), facts=True)
    assert [fact.id for fact in first.facts.rows] == ["f1-005"]
    assert snapshot.unexpired(at.replace(day=4, hour=20), facts=True) is first
    assert snapshot.unexpired(at.replace(day=4), facts=False) is snapshot

    later = snapshot.unexpired(at.replace(day=6), facts=True)
    assert later.facts.rows == later.persona.facts == ()
    more = snapshot.extended(delta([said(2, "book")]))
    assert more.unexpired(at.replace(day=6), facts=True).n == 2
