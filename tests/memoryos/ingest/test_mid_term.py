"""Which segment a page joins, what a segment becomes by it, which are hot and which is coldest."""

from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
import pytest

from embermem.core.changes import SummaryPart
from embermem.core.config import load
from embermem.core.types import ChainId, SegmentId
from embermem.memoryos.ingest import mid_term
from scripted import NOW, page, segment, vector

EAST, NORTH = vector(1, 0), vector(0, 1)


def part(chain: str | None, text: str) -> SummaryPart:
    return SummaryPart(chain_id=None if chain is None else ChainId(chain), text=text)


# ------------------------------------------------------------------------------------------------------- placing


def test_a_page_joins_the_best_segment_strictly_above_theta_by_vectors_and_shown_keywords() -> None:
    known = [segment("s1", vector_sum=vector(3, 4))]  # cos with (4, 3)/5 is 0.96
    score = mid_term.place(vector(4, 3), (), known, 0.0, 9).f_score
    assert score == pytest.approx(0.96)
    assert score is not None
    assert mid_term.place(vector(4, 3), (), known, score, 9).segment_id is None
    assert mid_term.place(vector(4, 3), (), known, math.nextafter(score, 0), 9).segment_id == "s1"

    known = [segment("s1", vector_sum=vector(1, 1)), segment("s2", vector_sum=vector(1, 0.1))]
    assert mid_term.place(EAST, (), known, 0.6, 9).segment_id == "s2"

    known = [segment("s1", vector_sum=NORTH, words=("park", "bird", "rain"))]
    placed = mid_term.place(EAST, ("park", "bird"), known, 0.6, 9)
    assert placed.f_score == pytest.approx(2 / 3)
    assert placed.segment_id == "s1"
    assert mid_term.place(EAST, ("park", "bird"), known, 0.6, 1).f_score == pytest.approx(1 / 2)

    placed = mid_term.place(EAST, (), [segment("s1", vector_sum=NORTH)], 0.6, 9)
    assert (placed.segment_id, placed.f_score) == (None, 0.0)
    assert mid_term.place(EAST, (), [], 0.6, 9).segment_id is None
    assert mid_term.place(None, (), [segment("s1", vector_sum=NORTH)], 0.6, 9).f_score is None


# ------------------------------------------------------------------------------------------------------- growing


def test_a_segment_follows_its_pages_and_is_no_older_in_access_for_an_old_one() -> None:
    later, newer = NOW + timedelta(days=1), NOW + timedelta(hours=1)
    first = mid_term.opened(SegmentId("s1"), page(no=1, vector=EAST), ("park", "bird", "park"), [part("c1", "Park.")])
    assert (first.unanalysed, first.visits, first.said_from, first.said_to) == (1, 0, NOW, NOW)
    assert [k.word for k in first.keywords] == ["park", "bird"]
    view = page(no=2, vector=NORTH, at=later, recorded_at=newer)
    grown = mid_term.grown(first, view, ("bird", "rain"), [part("c2", "Rain.")], load())
    assert [(k.word, k.pages) for k in grown.keywords] == [("bird", 2), ("rain", 1), ("park", 1)]
    assert (grown.unanalysed, grown.said_from, grown.said_to, grown.last_access) == (2, NOW, later, newer)
    assert [p.text for p in grown.parts] == ["Park.", "Rain."]
    assert grown.vector_sum is not None
    assert np.allclose(grown.vector_sum, EAST + NORTH)

    first = mid_term.opened(SegmentId("s1"), page(vector=EAST), (), [part("c1", "")])
    old = page(no=2, vector=EAST, at=NOW - timedelta(days=900), recorded_at=NOW - timedelta(days=1))
    grown = mid_term.grown(first, old, (), [part("c1", "")], load())
    assert (grown.last_access, grown.said_from) == (NOW, NOW - timedelta(days=900))


# ---------------------------------------------------------------------------------------------------------- heat


def test_every_segment_that_is_hot_strictly_above_tau_is_promoted() -> None:
    settings = load(alpha=2, beta=0.5, gamma=4, mu=1e7)
    known = segment(visits=3, unanalysed=2, last_access=NOW)
    assert mid_term.heat_of(known, NOW + timedelta(seconds=1e7), settings) == pytest.approx(6 + 1 + 4 / math.e)
    assert mid_term.heat_of(known, NOW - timedelta(days=1), settings) == 6 + 1 + 4

    settings = load(tau=5, min_new=5, gamma=0)
    assert mid_term.hot([segment(unanalysed=5)], NOW, settings) == ()  # heat is 5, not above it
    assert len(mid_term.hot([segment(unanalysed=5, visits=1)], NOW, settings)) == 1
    assert mid_term.hot([segment(unanalysed=4, visits=90)], NOW, settings) == ()

    segments = [segment("a", unanalysed=6), segment("b", unanalysed=2), segment("c", unanalysed=9)]
    assert [s.id for s in mid_term.hot(segments, NOW, load())] == ["c", "a"]


def test_the_coldest_that_was_not_just_touched_leaves_above_the_capacity() -> None:
    segments = [segment("a", visits=2), segment("b", visits=1), segment("c", visits=3)]
    assert mid_term.coldest(segments, NOW, load(mid_term_segments=3), ()) is None
    coldest = mid_term.coldest(segments, NOW, load(mid_term_segments=2), ())
    assert coldest is not None
    assert coldest.id == "b"

    segments = [segment("a", visits=2), segment("b", visits=0)]
    settings = load(mid_term_segments=1)
    spared = mid_term.coldest(segments, NOW, settings, {SegmentId("b")})
    assert spared is not None
    assert spared.id == "a"
    taken = mid_term.coldest(segments, NOW, settings, {SegmentId("a"), SegmentId("b")})
    assert taken is not None
    assert taken.id == "b"

    segments = [segment("a"), segment("b", last_access=NOW - timedelta(days=1))]
    coldest = mid_term.coldest(segments, NOW, load(mid_term_segments=1, gamma=0), ())
    assert coldest is not None
    assert coldest.id == "b"
