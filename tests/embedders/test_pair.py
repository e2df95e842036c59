"""MiniLM and USE side by side: English as MiniLM reads it, other languages as USE does."""

from __future__ import annotations

import numpy as np
import pytest

from embermem.core.vectors import SECOND_SHARE
from embermem.embedders.minilm import MiniLM
from embermem.embedders.pair import MiniLMWithUse
from embermem.embedders.use import UseMultilingual
from embermem.embedders.weights import USE, find_weights
from embermem.index.pairs import read_by_second, similarities
from embermem.protocols import PairedEmbedder

ENGLISH = ["A cat lives with me, called Minka.", "Which pet do you have?", "The train leaves at 7:45."]
OTHERS = ["我养了一只猫，叫米卡。", "火车七点四十五分开。", "Вчера я ходил в музей с сестрой."]


@pytest.fixture(scope="module")
def pair() -> MiniLMWithUse:
    if find_weights() is None or find_weights(USE) is None:
        pytest.skip("the weights are not installed")
    return MiniLMWithUse(MiniLM(threads=1), UseMultilingual(threads=1))


def test_products_of_english_texts_are_the_cosines_of_minilm(pair: MiniLMWithUse) -> None:
    both, alone = pair.embed(ENGLISH), MiniLM(threads=1).embed(ENGLISH)
    np.testing.assert_allclose(both @ both.T, alone @ alone.T, atol=2 * SECOND_SHARE)
    stored = both.astype(np.float16).astype(np.float32)
    found = [similarities(stored, one, pair.first_dim) for one in stored]
    np.testing.assert_allclose(found, alone @ alone.T, atol=1e-3)


def test_products_of_texts_in_other_languages_are_the_cosines_of_use(pair: MiniLMWithUse) -> None:
    both, alone = pair.embed(OTHERS), UseMultilingual(threads=1).embed(OTHERS)
    np.testing.assert_allclose(both @ both.T, alone @ alone.T, atol=1e-5)


def test_texts_of_two_languages_are_compared_by_use_also_when_stored_in_half_precision(pair: MiniLMWithUse) -> None:
    alone = UseMultilingual(threads=1).embed([*ENGLISH, *OTHERS])
    stored = pair.embed([*ENGLISH, *OTHERS]).astype(np.float16).astype(np.float32)
    for place in range(len(ENGLISH)):
        found = similarities(stored[len(ENGLISH) :], stored[place], pair.first_dim)
        np.testing.assert_allclose(found, alone[len(ENGLISH) :] @ alone[place], atol=2e-3)


def test_which_encoder_reads_a_text_is_seen_in_its_vector(pair: MiniLMWithUse) -> None:
    vectors = pair.embed([*ENGLISH, *OTHERS, ""])
    assert read_by_second(vectors, pair.first_dim).tolist() == [False] * 3 + [True] * 3 + [False]


def test_tokens_are_those_of_the_encoder_that_reads_the_text_and_english_has_both(pair: MiniLMWithUse) -> None:
    assert isinstance(pair, PairedEmbedder)
    _, (english, chinese) = pair.embed_tokens([ENGLISH[0], OTHERS[0]])
    assert (english.encoder, english.reads, english.words[1]) == (0, "en", "cat")
    assert english.second is not None
    assert (english.second.encoder, english.second.words[1]) == (1, "cat")
    assert (chinese.encoder, chinese.reads, chinese.second) == (1, "any", None)
    assert "猫" in chinese.words


def test_a_word_in_another_language_is_the_token_that_comes_nearest(pair: MiniLMWithUse) -> None:
    _, (asked, said) = pair.embed_tokens(["Which cat is yours?", "我养了一只猫，叫米卡。"])
    assert asked.second is not None
    cat = asked.second.vectors[asked.second.words.index("cat")]
    assert said.words[int((said.vectors @ cat).argmax())] == "猫"
