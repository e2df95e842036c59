from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from embermem.core import equations
from embermem.index.bm25 import Postings
from embermem.index.texts import Texts

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


def chained(n: int, threads: list[int]) -> tuple[Texts, list[list[int]]]:
    """n texts of one row each, dealt out to threads, and each one's window by a plain search."""
    of = [threads[i % len(threads)] for i in range(n)]
    previous = [max((j for j in range(i) if of[j] == of[i]), default=-1) for i in range(n)]
    following = [min((j for j in range(i + 1, n) if of[j] == of[i]), default=-1) for i in range(n)]
    windows = [[j for j in (previous[i], i, following[i]) if j >= 0] for i in range(n)]
    return texts(list(range(n)), previous, following), windows


def texts(first_rows: list[int], previous: list[int], following: list[int]) -> Texts:
    """The texts of these rows; −1 for no neighbour."""
    of, before, after = (np.array(one, dtype=np.int32) for one in (first_rows, previous, following))
    return Texts(of, before, after + 1)


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
    single, windows = chained(len(documents), threads)
    joined = [[term for j in window for term in documents[j]] for window in windows]
    scores = postings(documents).window_scores(dict.fromkeys(terms, 1.0), single, K_1, B)
    assert scores == pytest.approx(naive(joined, terms))


@given(
    DOCUMENTS.filter(bool), st.sets(st.sampled_from("abcdef")), st.lists(st.integers(1, 3), min_size=10, max_size=10)
)
def test_a_text_of_several_passages_scores_in_its_window_as_if_it_were_not_cut(
    documents: list[list[str]], terms: set[str], passages: list[int]
) -> None:
    whole, _ = chained(len(documents), [0, 1])
    cut = [document[i::count] for document, count in zip(documents, passages, strict=False) for i in range(count)]
    begins = np.cumsum([0, *passages[: len(documents)]])
    rows = range(len(cut))
    first = [int(begins[np.searchsorted(begins, row, side="right") - 1]) for row in rows]
    of = [begins.tolist().index(one) for one in first]
    before = [row - 1 if row > first[row] else _last(begins, of[row] - 2) for row in rows]
    after = [row + 1 if row + 1 < begins[of[row] + 1] else _first(begins, of[row] + 2) for row in rows]
    asked = dict.fromkeys(terms, 1.0)
    expected = postings(documents).window_scores(asked, whole, K_1, B)
    assert postings(cut).window_scores(asked, texts(first, before, after), K_1, B) == pytest.approx(expected)


def _last(begins: NDArray[np.int64], text: int) -> int:
    return -1 if text < 0 else int(begins[text + 1]) - 1


def _first(begins: NDArray[np.int64], text: int) -> int:
    return -1 if text + 1 >= len(begins) else int(begins[text])


def test_a_term_counts_by_its_weight() -> None:
    made = postings([["a", "b"], ["b"]])
    whole, half = made.scores({"a": 1.0}, 2, K_1, B), made.scores({"a": 0.5}, 2, K_1, B)
    assert half.tolist() == (0.5 * whole).tolist()
    assert half[0] > 0.0
