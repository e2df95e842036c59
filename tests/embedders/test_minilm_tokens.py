"""Token vectors of all-MiniLM-L6-v2: what they are, whose they are, long texts, and the constants that ship."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.embedders import sessions
from embermem.embedders.minilm import (
    DIM,
    MAX_PASSAGES,
    MAX_PIECES,
    SENTENCE_ENDS,
    TOKEN_DIM,
    Loaded,
    MiniLM,
    cut_passages,
    pad,
)
from embermem.embedders.weights import VOCABULARY, find_weights
from embermem.protocols import TokenEmbedder, TokenVectors

if TYPE_CHECKING:
    from embermem.core.types import Vectors

ROOT = Path(__file__).parents[2]
ROOM = MAX_PIECES - 2

TEXTS = [
    "I moved to Lyon last spring.",
    "My sister Ana plays the cello in an orchestra, and her dog Bruno howls whenever she practises at home.", "ok", "",
    "我昨天在上海吃了小笼包。", "🎉🎂", "Unbelievable! Où est le café ?",
    "One sentence after another, and so on. " * 60,
]  # fmt: skip


@pytest.fixture(scope="module")
def weights() -> Path:
    folder = find_weights()
    if folder is None:
        pytest.skip("the weights of all-MiniLM-L6-v2 are not installed")
    return folder


@pytest.fixture(scope="module")
def minilm(weights: Path) -> MiniLM:
    return MiniLM(weights, threads=2)


@pytest.fixture(scope="module")
def loaded(weights: Path) -> Loaded:
    return Loaded(weights)


def assert_same(found: TokenVectors, expected: TokenVectors) -> None:
    assert found.words == expected.words
    np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-4)


# -------------------------------------------------------------------------------------------------- tokens of a text


def test_token_vectors_have_the_promised_shape_type_and_norm_and_come_with_the_vectors_of_embed(minilm: MiniLM) -> None:
    assert isinstance(minilm, TokenEmbedder)
    assert minilm.token_dim == TOKEN_DIM == 128
    vectors, tokens = minilm.embed_tokens(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, minilm.embed(TEXTS), atol=1e-5)
    assert len(tokens) == len(TEXTS)
    for found in tokens:
        assert found.vectors.shape == (len(found.words), TOKEN_DIM)
        assert found.vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1.0, atol=1e-6)


def test_each_token_stands_in_its_word(minilm: MiniLM) -> None:
    cases = [
        ("I like Café Zoë.", "i like cafe zoe ."),
        ("Embeddings, yes!", "embeddings embeddings embeddings embeddings , yes !"), ("我住在上海。", "我 上 海 。"),
        ("don't 7:45", "don ' t 7 : 45"), ("🎉 party 🎂", "party"), ("[SEP] [UNK]", "[ sep ] [ unk unk ]"),
        ("x" * 101 + " end", "end"),
    ]  # fmt: skip
    for text, words in cases:
        _, (found,) = minilm.embed_tokens([text])
        assert " ".join(found.words) == words


def test_a_text_with_nothing_in_it_has_no_token(minilm: MiniLM) -> None:
    for text in ["", " \n\u3000", "\u200d"]:
        vectors, (before, nothing, after) = minilm.embed_tokens(["one", text, "two"])
        assert not vectors[1].any()
        assert nothing.words == ()
        assert nothing.vectors.shape == (0, TOKEN_DIM)
        assert (before.words, after.words) == (("one",), ("two",))


def test_a_text_of_unknown_words_has_a_vector_and_no_token(minilm: MiniLM) -> None:
    vectors, (tokens,) = minilm.embed_tokens(["🎉🎂"])
    assert np.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-6)
    assert tokens.words == ()
    assert tokens.vectors.shape == (0, TOKEN_DIM)


def test_no_texts_give_nothing(minilm: MiniLM) -> None:
    vectors, tokens = minilm.embed_tokens([])
    assert vectors.shape == (0, DIM)
    assert tokens == []


def test_tokens_do_not_depend_on_their_company(minilm: MiniLM) -> None:
    _, together = minilm.embed_tokens(TEXTS)
    for text, tokens in zip(TEXTS, together, strict=True):
        assert_same(minilm.embed_tokens([text])[1][0], tokens)


@pytest.mark.proof
def test_several_threads_get_what_one_gets(weights: Path) -> None:
    _, expected = MiniLM(weights, threads=1).embed_tokens(TEXTS)
    fresh = MiniLM(weights, threads=2)
    with ThreadPoolExecutor(4) as pool:
        for _, tokens in pool.map(lambda _: fresh.embed_tokens(TEXTS), range(8)):
            for one, other in zip(tokens, expected, strict=True):
                assert_same(one, other)


def test_callers_may_write_into_what_they_get(minilm: MiniLM) -> None:
    _, first = minilm.embed_tokens(TEXTS)
    kept = first[1].vectors.copy()
    first[0].vectors[:] = 0.0
    np.testing.assert_array_equal(first[1].vectors, kept)
    assert minilm.embed_tokens(TEXTS)[1][0].vectors.any()


def test_a_word_is_nearer_to_itself_in_another_sentence_than_to_other_words(minilm: MiniLM) -> None:
    _, (asked, said) = minilm.embed_tokens(["Where is the cello now?", "She sold her old cello to a friend in Porto."])
    cosines = asked.vectors[asked.words.index("cello")] @ said.vectors.T
    assert said.words[cosines.argmax()] == "cello"
    assert np.sort(cosines)[-1] > np.sort(cosines)[-2] + 0.3


# ------------------------------------------------------------------------------------------------------- long texts


def test_the_first_passage_is_what_embed_reads(loaded: Loaded) -> None:
    text = "unbelievable things happened to Zoë in 上海, " * 100
    for shift in range(6):
        passages = loaded.passages("a " * shift + text)
        assert passages[0].ids == loaded.pieces("a " * shift + text)
        assert [passage.first for passage in passages] == [True] + [False] * (len(passages) - 1)


def test_a_word_that_the_first_passage_tears_is_whole_in_the_second(minilm: MiniLM) -> None:
    text = "a " * (ROOM - 1) + "embeddings good"  # room for the first of four pieces
    vectors, (tokens,) = minilm.embed_tokens([text])
    assert tokens.words == ("a",) * (ROOM - 1) + ("embeddings",) * 4 + ("good",)
    np.testing.assert_allclose(vectors, minilm.embed([text]), atol=1e-5)
    assert_same(
        TokenVectors(words=tokens.words[-5:], vectors=tokens.vectors[-5:]),
        minilm.embed_tokens(["embeddings good"])[1][0],
    )


def test_every_word_of_a_long_text_is_there_once_and_in_order(minilm: MiniLM) -> None:
    sentences = [f"Item {i} costs {3 * i} coins, says Zoë." for i in range(100)]
    _, (tokens,) = minilm.embed_tokens([" ".join(sentences)])
    alone = [word for found in minilm.embed_tokens(sentences)[1] for word in found.words]
    assert len(alone) > 3 * MAX_PIECES
    assert list(tokens.words) == alone


def test_a_long_text_has_eight_passages_at_most(loaded: Loaded) -> None:
    passages = loaded.passages("word " * 5_000 + "end")
    assert (len(passages), sum(len(passage.words) for passage in passages)) == (MAX_PASSAGES, MAX_PASSAGES * ROOM)


@pytest.mark.proof
def test_what_lies_beyond_eight_passages_has_no_tokens(minilm: MiniLM) -> None:
    vectors, (full, beyond) = minilm.embed_tokens(["word " * 2032, "word " * 100_000 + "end"])
    assert len(full.words) == len(beyond.words) == MAX_PASSAGES * ROOM == 2032
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-5)


def test_a_passage_after_the_first_ends_with_a_sentence(loaded: Loaded) -> None:
    passages = loaded.passages("Here is a sentence of some words. " * 200)
    assert len(passages) == 7
    assert [passage.words[-1] for passage in passages[1:]] == ["."] * 6
    assert all(2 * ROOM < 3 * (len(passage.ids) - 2) <= 3 * ROOM for passage in passages[:-1])


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", ".", "。"]), st.lists(st.just(1), min_size=1, max_size=5))),
    st.integers(5, 20),
    st.integers(1, 5),
)
def test_passages_hold_the_words_one_after_the_other_within_the_room(
    words: list[tuple[str, list[int]]], room: int, most: int
) -> None:
    cuts = cut_passages(words, room, most)
    assert len(cuts) <= most
    assert [cut.start for cut in cuts] == [0, *(cut.stop for cut in cuts[:-1])][: len(cuts)]
    sizes = [sum(len(ids) for _, ids in words[cut]) for cut in cuts]
    assert all(0 < size <= room for size in sizes)
    assert len(cuts) == most or (cuts[-1].stop if cuts else 0) == len(words)
    for cut, size in zip(cuts, sizes, strict=True):
        full = cut.stop == len(words) or size + len(words[cut.stop][1]) > room
        assert full or (cut.start > 0 and words[cut.stop - 1][0] in SENTENCE_ENDS and 3 * size > 2 * room)


# ------------------------------------------------------------------------------------------------------ the constants


def test_a_token_vector_is_the_formula_on_the_hidden_states(minilm: MiniLM, loaded: Loaded) -> None:
    space = _shipped()
    text = "She sold her old cello to a friend in Porto."
    _, before, last, _ = loaded.states(pad([loaded.pieces(text)]))
    assert len(before) == len(loaded.pieces(text)) - 2

    def unit(rows: Vectors) -> Vectors:
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    mixed = unit(unit(before - space.before) + unit(last - space.last))
    _, (tokens,) = minilm.embed_tokens([text])
    np.testing.assert_allclose(tokens.vectors, unit(mixed @ space.rotation), atol=1e-5)


def test_the_states_are_those_whose_mean_is_the_sentence_vector(minilm: MiniLM, loaded: Loaded) -> None:
    (whole,) = minilm.embed(["A rather longer text, with commas, about nothing much."])
    ids = pad([loaded.pieces("A rather longer text, with commas, about nothing much.")])
    (last,) = sessions.run(loaded._model, ["tokens"], {"ids": ids}, "MiniLM")
    mean = last.mean(axis=0)
    np.testing.assert_allclose(mean / np.linalg.norm(mean), whole, atol=2e-6)


def test_the_shipped_rotation_has_orthonormal_columns() -> None:
    rotation = _shipped().rotation
    assert rotation.shape == (DIM, TOKEN_DIM)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(TOKEN_DIM), atol=1e-3)


def test_the_shipped_graph_is_what_the_script_builds_of_its_constants() -> None:
    onnx = pytest.importorskip("onnx")
    script = _script()
    committed = (files("embermem.embedders") / "minilm_tokens.onnx").read_bytes()
    model = onnx.load_from_string(committed)
    assert model == script.build(script.read(model))
    onnx.checker.check_model(model, full_check=True)
    assert len(committed) < 110_000


def test_the_pseudo_sentences_never_change(weights: Path) -> None:
    made = _script().sentences((weights / VOCABULARY).read_text(encoding="utf-8").split("\n"))
    assert len(made) == 6000
    assert made[1] == "What engaging did you crow?"
    assert hashlib.sha256("\n".join(made).encode()).hexdigest()[:16] == "0a08bcb96eadbebe"


@pytest.mark.proof
def test_the_shipped_constants_are_what_the_script_measures(weights: Path) -> None:
    shipped, measured = _shipped(), _script().measure(weights)
    np.testing.assert_allclose(shipped.before, measured.before, atol=2e-3)
    np.testing.assert_allclose(shipped.last, measured.last, atol=2e-3)
    # Column by column, signs included.
    cosines = np.einsum("ij,ij->j", shipped.rotation, measured.rotation)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-2)


def _shipped() -> Any:
    onnx = pytest.importorskip("onnx")
    return _script().read(onnx.load_from_string((files("embermem.embedders") / "minilm_tokens.onnx").read_bytes()))


def _script() -> ModuleType:
    pytest.importorskip("onnx")
    name = "build_minilm_tokens"
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module
