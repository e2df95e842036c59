"""One suite over every embedder: what `protocols.Embedder` promises."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from embedding_server import EmbeddingServer

from embermem.embedders.e5 import E5
from embermem.embedders.hashed import HashedNgrams
from embermem.embedders.openai_http import OpenAIEmbedder
from embermem.embedders.weights import find_weights
from embermem.protocols import Embedder

TEXTS = [
    "I moved to Lyon last spring.",
    "My sister Ana plays the cello in an orchestra, and her dog Bruno howls whenever she practises at home.", "ok",
    "我昨天在上海吃了小笼包。", "🎉🎂", "Où est le café ?", "The train leaves at 7:45, platform 3.",
]  # fmt: skip


@pytest.fixture(scope="module", params=["e5", "hashed", "openai"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "e5":
        if find_weights() is None:
            pytest.skip("the weights of multilingual-e5-small are not installed")
        yield E5(threads=2)
    elif request.param == "hashed":
        yield HashedNgrams()
    else:
        with EmbeddingServer() as server:
            yield OpenAIEmbedder(base_url=server.base_url, api_key=None, model="fake", batch_size=3)


def test_vectors_have_the_promised_shape_type_and_norm(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_the_name_is_not_empty_and_does_not_change(embedder: Embedder) -> None:
    before = embedder.name
    embedder.embed(["a word"])
    assert before == embedder.name != ""


def test_a_vector_depends_neither_on_its_company_nor_on_the_order(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=2e-6)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_a_text_with_nothing_in_it_is_a_zero_vector_and_leaves_the_others_alone(embedder: Embedder) -> None:
    for text in ["", "   ", "\n\t \u3000"]:
        vectors = embedder.embed([TEXTS[0], text, TEXTS[1]])
        assert not vectors[1].any()
        np.testing.assert_allclose(vectors[[0, 2]], embedder.embed(TEXTS[:2]), atol=2e-6)


def test_a_text_of_a_hundred_thousand_characters_is_embedded(embedder: Embedder) -> None:
    vectors = embedder.embed(["word after word " * 6250, "x" * 100_000, "记忆" * 50_000, TEXTS[0]])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(vectors[3], embedder.embed(TEXTS[:1])[0], atol=2e-6)


def test_odd_characters_do_no_harm(embedder: Embedder) -> None:
    cases = ["half an emoji \ud83d here", "nul \x00 and bell \x07 here", "\u202eright to left"]
    assert {
        text: got for text in cases if (got := np.linalg.norm(embedder.embed([text]))) != pytest.approx(1.0, abs=1e-6)
    } == {}


def test_texts_that_share_words_are_nearer_than_texts_that_share_none(embedder: Embedder) -> None:
    asked, near, far = embedder.embed(
        ["Where does my sister play the cello?", "My sister plays the cello in Porto.", "Tyre pressure: 2.4 bar"]
    )
    assert asked @ near > asked @ far + 0.1
    asked, near, far = embedder.embed(["我妹妹在哪里拉大提琴？", "我妹妹在波尔图拉大提琴。", "轮胎气压应为两巴"])
    assert asked @ near > asked @ far


def test_several_threads_get_what_one_gets(embedder: Embedder) -> None:
    expected = embedder.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: embedder.embed(TEXTS), range(4)):
            np.testing.assert_allclose(found, expected, atol=2e-6)


def test_callers_may_write_into_what_they_get(embedder: Embedder) -> None:
    first = embedder.embed(TEXTS)
    kept = first.copy()
    first[:] = 0.0
    np.testing.assert_array_equal(embedder.embed(TEXTS), kept)
