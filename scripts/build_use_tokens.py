"""Build `src/embermem/embedders/use_tokens.npz`: how token vectors are made of what a piece adds to its text's sum.

The mean and the leading directions are measured on texts drawn from the model's own unigram language model, script by
script, so that no collection of text is needed and no language is favoured. From the project's root:

    python scripts/build_use_tokens.py
"""

from __future__ import annotations

import math
import random
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from build_use_graph import FEATURES, build
from onnx import TensorProto, helper

from embermem.embedders import sessions
from embermem.embedders.unigram import BEGIN, END, read_model
from embermem.embedders.use import DIM, NAME, PROJECTION, TOKEN_DIM, inputs, projected, read_weights
from embermem.embedders.weights import USE, find_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

TARGET = Path(__file__).parents[1] / "src" / "embermem" / "embedders" / PROJECTION

SEED = 0
TEXTS = 6000
# Pieces of a text: at least, and at most.
LENGTHS = (4, 24)
# How often a text is of each script: as many texts of spaced as of unspaced ones.
SCRIPTS: Mapping[str, int] = {
    "LATIN": 6,
    "CYRILLIC": 1,
    "ARABIC": 1,
    "CJK": 4,
    "HIRAGANA": 2,
    "KATAKANA": 2,
    "HANGUL": 1,
}
# Scripts that a text of this one also draws from.
BESIDE: Mapping[str, tuple[str, ...]] = {"HIRAGANA": ("CJK",), "KATAKANA": ("HIRAGANA", "CJK")}


def measure(folder: Path) -> tuple[Floats, Floats]:
    """The mean (512,) and the rotation (512, 128), from the model's files in `folder`: 84,000 pieces, a minute."""
    pieces, scores, _ = read_model(folder / USE.files[1])
    return fit(states(folder, texts(pieces, list(scores))))


def texts(pieces: list[str], scores: list[float]) -> list[list[int]]:
    """Ids of pieces, drawn by their probabilities among those of one script and marks."""
    known: dict[str, list[int]] = defaultdict(list)
    for id_, piece in enumerate(pieces):
        known[script(piece)].append(id_)
    rng = random.Random(SEED)
    drawn = rng.choices(list(SCRIPTS), weights=list(SCRIPTS.values()), k=TEXTS)
    pools = {
        name: [*known[name], *known[""], *(i for one in BESIDE.get(name, ()) for i in known[one])] for name in SCRIPTS
    }
    weights = {name: [math.exp(scores[i]) for i in pool] for name, pool in pools.items()}
    return [[BEGIN, *rng.choices(pools[name], weights=weights[name], k=rng.randint(*LENGTHS)), END] for name in drawn]


def script(piece: str) -> str:
    """The script of a piece's first letter, by its Unicode name; "" for a piece without one."""
    letter = next((char for char in piece if char.isalpha()), None)
    if letter is None:
        return "" if not piece.startswith("<") else "control"
    return unicodedata.name(letter, "?").split()[0]


def states(folder: Path, drawn: Sequence[Sequence[int]]) -> Floats:
    """What each piece adds to its text's sum, (t, 512)."""
    table, weights = read_weights(folder / USE.files[0])
    graph = build()
    graph.graph.output.append(helper.make_tensor_value_info("features", TensorProto.FLOAT, ["t", FEATURES]))
    nothing = np.zeros(DIM, dtype=np.float32), np.zeros((DIM, TOKEN_DIM), dtype=np.float32)
    model = sessions.of_graph(graph.SerializeToString(), projected(weights, nothing), folder)
    found = []
    for text in drawn:
        (features,) = sessions.run(model, ["features"], inputs([text], table), NAME)
        found.append(features[1:-1] @ weights["cnn_W"] + weights["cnn_b"])
    return np.concatenate(found)


def fit(states: Floats) -> tuple[Floats, Floats]:
    """The mean, and the leading eigenvectors of the second moments of the states about it, with norm 1 each.

    An eigenvector's sign is chosen so that its largest number is positive.
    """
    mean = states.mean(axis=0, dtype=np.float64)
    wide = states - mean
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(wide.T @ wide)
    leading = vectors[:, ::-1][:, :TOKEN_DIM]
    largest = np.take_along_axis(leading, np.abs(leading).argmax(axis=0)[None], axis=0)
    return mean.astype(np.float32), (leading * np.sign(largest)).astype(np.float32)


if __name__ == "__main__":
    weights = find_weights(USE)
    if weights is None:
        raise SystemExit("the weights are not installed; run `embermem model install`")
    mean, rotation = measure(weights)
    np.savez(TARGET, mean=mean.astype("<f2"), rotation=rotation.astype("<f2"))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
