from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core import equations
from embermem.index.bm25 import Links, Postings

K_1, B = 1.2, 0.75
DOCUMENTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=10)


def naive(documents: list[list[str]], terms: set[str]) -> list[float]:
    """BM25 as the formula says it, one document and one term at a time."""
    N = len(documents)
    average = max(1.0, sum(map(len, documents)) / N) if N else 1.0
    scores = []
    for document in documents:
        score = 0.0
        for term in terms:
            holders = sum(term in other for other in documents)
            if term in document:
                weight = equations.bm25_term(document.count(term), len(document), average, K_1, B)
                score += equations.idf(N, holders) * weight
        scores.append(score)
    return scores


def postings(documents: list[list[str]]) -> Postings:
    made = Postings()
    made.add_all(documents)
    return made


def chained(n: int, threads: list[int]) -> tuple[Links, list[list[int]]]:
    """Links of n rows dealt out to threads, and each row's window by a plain search."""
    of = [threads[i % len(threads)] for i in range(n)]
    previous = [max((j for j in range(i) if of[j] == of[i]), default=-1) for i in range(n)]
    following = [min((j for j in range(i + 1, n) if of[j] == of[i]), default=-1) for i in range(n)]
    windows = [[j for j in (previous[i], i, following[i]) if j >= 0] for i in range(n)]
    links = Links(np.array(previous, dtype=np.int32), np.array(following, dtype=np.int32) + 1)
    return links, windows


@given(DOCUMENTS, st.sets(st.sampled_from("abcdef")))
def test_scores_equal_the_formula_document_by_document(documents: list[list[str]], terms: set[str]) -> None:
    scores = postings(documents).scores(dict.fromkeys(terms, 1.0), len(documents), K_1, B)
    assert scores == pytest.approx(naive(documents, terms))


@given(DOCUMENTS, st.sets(st.sampled_from("abc")), st.integers(0, 10))
def test_the_first_rows_score_as_if_the_later_ones_were_not_there(
    documents: list[list[str]], terms: set[str], n: int
) -> None:
    n = min(n, len(documents))
    asked = dict.fromkeys(terms, 1.0)
    assert postings(documents).scores(asked, n, K_1, B) == pytest.approx(naive(documents[:n], terms))


@given(DOCUMENTS, st.sets(st.sampled_from("abcdef")), st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_a_window_scores_like_its_three_texts_in_one(
    documents: list[list[str]], terms: set[str], threads: list[int]
) -> None:
    links, windows = chained(len(documents), threads)
    joined = [[term for j in window for term in documents[j]] for window in windows]
    scores = postings(documents).window_scores(dict.fromkeys(terms, 1.0), links, K_1, B)
    assert scores == pytest.approx(naive(joined, terms))


def test_neighbours_at_distance_two_are_those_of_the_neighbours() -> None:
    links, _ = chained(6, [0, 1])
    values = np.array([1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0])
    assert links.near(values, 1).tolist() == [100.0, 1000.0, 10_001.0, 100_010.0, 100.0, 1000.0]
    assert links.near(values, 2).tolist() == [10_000.0, 100_000.0, 0.0, 0.0, 1.0, 10.0]


def test_a_term_counts_by_its_weight() -> None:
    made = postings([["a", "b"], ["b"]])
    whole, half = made.scores({"a": 1.0}, 2, K_1, B), made.scores({"a": 0.5}, 2, K_1, B)
    assert half.tolist() == (0.5 * whole).tolist()
    assert half[0] > 0.0
