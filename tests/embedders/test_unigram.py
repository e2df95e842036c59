"""Cutting texts into pieces of a unigram model, on a model that is made here."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.embedders.unigram import SPACE, UNKNOWN_PENALTY, Unigram, tables_of

PIECES = ["<s>", "<unk>", SPACE, "a", "b", "é", SPACE + "a", "ab", "ba", "aba", SPACE + "ab", "bb", "的", "x" * 16]
SCORES = np.array([0, 0, -2, -3, -3.5, -4, -4, -5, -5.25, -7, -6, -4.5, -3, -9], dtype=np.float32)
REPLACED = {"\t": " ", "\u00a0": " ", "ａ": "a", "\u00ad": "", "⅟": "a b"}
UNKNOWN = 1
MODEL = Unigram(tables_of([one.encode() for one in PIECES], SCORES, REPLACED, frozenset({0, 1})), UNKNOWN)
BY_PIECE = {piece: id_ for id_, piece in enumerate(PIECES) if id_ > UNKNOWN}


def cut(text: str, limit: int = 100) -> list[list[str]]:
    """The pieces of each word; "?" for one that is unknown."""
    found = []
    for word in MODEL.words(text, limit):
        ends = np.cumsum([0, *word.lengths]).tolist()
        pieces = [word.text[begin:end] for begin, end in pairwise(ends)]
        assert "".join(pieces) == word.text
        found.append(["?" if id_ == UNKNOWN else piece for id_, piece in zip(word.ids, pieces, strict=True)])
        assert [PIECES[id_] for id_ in word.ids if id_ != UNKNOWN] == [one for one in found[-1] if one != "?"]
    return found


def best_score(word: str) -> float:
    """Of all ways to cut a word."""
    best = [0.0] + [-np.inf] * len(word)
    for end in range(1, len(word) + 1):
        for begin in range(end):
            id_ = BY_PIECE.get(word[begin:end])
            score = None if id_ is None else float(SCORES[id_])
            if end == begin + 1 and score is None:
                score = float(SCORES.min()) - UNKNOWN_PENALTY
            if score is not None:
                best[end] = max(best[end], best[begin] + score)
    return best[-1]


def test_texts_are_normalised_and_cut_into_the_likeliest_pieces() -> None:
    cases = {
        "ab": [[SPACE + "ab"]],
        "  a\tb\u00a0": [[SPACE + "a"], [SPACE, "b"]],
        "e\u0301": [[SPACE, "é"]],  # composed before it is looked up
        "ａ\u00adbb": [[SPACE + "a", "bb"]],
        "⅟": [[SPACE + "a"], [SPACE, "b"]],
        "的的": [[SPACE, "的", "的"]],
        "a🎉\ud83d": [[SPACE + "a", "?", "?"]],
        "<s>": [[SPACE, "?", "?", "?"]],
        "x" * 16: [[SPACE, "x" * 16]],
        "": [],
        " \t\u00a0": [],
    }
    assert {text: cut(text) for text in cases} == cases


@given(st.text(alphabet="ab的é🎉", max_size=12))
def test_no_other_cut_of_a_word_has_a_higher_score(text: str) -> None:
    for word in MODEL.words(text, 100):
        scores = [SCORES[id_] if id_ != UNKNOWN else SCORES.min() - UNKNOWN_PENALTY for id_ in word.ids]
        assert sum(map(float, scores)) == pytest.approx(best_score(word.text))


def test_words_end_with_the_one_that_reaches_the_limit() -> None:
    assert [len(MODEL.words("ab " * 50, limit)) for limit in (1, 3, 50, 100)] == [1, 3, 50, 50]
    assert len(MODEL.words("\t" * 100_000 + "ab", 10)) == 0  # no more is read than 10 pieces can hold
    assert len(MODEL.words(" ".join(["ab"] * 100_000), 10)) == 10


def test_a_piece_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="has more than 16 characters"):
        tables_of([b"y" * 17], np.zeros(1, dtype=np.float32), {}, frozenset())
