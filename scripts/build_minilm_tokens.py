"""Build `src/embermem/embedders/minilm_tokens.onnx`: what makes MiniLM's token vectors of its hidden states.

Its constants come from the model's own vocabulary and weights, and from no text: words of the vocabulary are put
into templates by a seeded generator, and the constants are statistics of the hidden states of these sentences.
Needs the weights (`embermem model install`) and the dev dependency `onnx`. From the project's root:

    python scripts/build_minilm_tokens.py
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from embermem.embedders.minilm import DIM, PIECES_PER_RUN, TOKEN_DIM, Loaded, pad, plan
from embermem.embedders.weights import VOCABULARY, find_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET = Path(__file__).parents[1] / "src" / "embermem" / "embedders" / "minilm_tokens.onnx"

SEED = 0
SENTENCES = 6000
# Lines of the vocabulary before its first whole word: [unused…], marks, single characters.
SPECIALS = 1996
# The vocabulary goes from frequent to rare; the rest are mostly names.
WORDS = 12_000
TEMPLATES = (
    "{}",
    "I like {} and {}.",
    "We talked about the {} and the {} yesterday.",
    "She went to the {} with her {}.",
    "What {} did you {}?",
    "My {} is very {}, and the {} was {}.",
    "Have you ever tried {} in {}?",
    "Last week I {} a {} for my {}.",
)

# As `build_minilm_graph.py` has them.
OPSET = 20
IR = 9


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TokenSpace:
    """`before` and `last` (384,): the mean token after layers 5 and 6; `rotation` (384, 128): orthonormal columns."""

    before: NDArray[np.float32]
    last: NDArray[np.float32]
    rotation: NDArray[np.float32]


def build(space: TokenSpace) -> onnx.ModelProto:
    """The graph: hidden states `before` and `last` (t, 384) → `vectors` (t, 128), L2 norm 1.

    Each layer's states about their mean, with norm 1; their sum, rotated, with norm 1. The constants are float16.
    """
    states = {"before": space.before, "last": space.last}
    nodes: list[onnx.NodeProto] = []
    for name in states:
        nodes += [
            helper.make_node("Cast", [f"mean_{name}"], [f"wide_{name}"], to=TensorProto.FLOAT),
            helper.make_node("Sub", [name, f"wide_{name}"], [f"centred_{name}"]),
            helper.make_node("LpNormalization", [f"centred_{name}"], [f"unit_{name}"], axis=-1, p=2),
        ]
    nodes += [
        helper.make_node("Add", ["unit_before", "unit_last"], ["mixed"]),
        helper.make_node("Cast", ["rotation"], ["wide_rotation"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["mixed", "wide_rotation"], ["rotated"]),
        helper.make_node("LpNormalization", ["rotated"], ["vectors"], axis=-1, p=2),
    ]
    constants = {f"mean_{name}": mean for name, mean in states.items()} | {"rotation": space.rotation}
    return helper.make_model(
        helper.make_graph(
            nodes,
            "all-MiniLM-L6-v2 token vectors",
            inputs=[helper.make_tensor_value_info(name, TensorProto.FLOAT, ["t", DIM]) for name in states],
            outputs=[helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["t", TOKEN_DIM])],
            initializer=[numpy_helper.from_array(array.astype("<f2"), name) for name, array in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR,
        producer_name="embermem",
    )


def read(model: onnx.ModelProto) -> TokenSpace:
    """The constants of a graph that `build` made."""
    arrays = {tensor.name: numpy_helper.to_array(tensor).astype(np.float32) for tensor in model.graph.initializer}
    return TokenSpace(before=arrays["mean_before"], last=arrays["mean_last"], rotation=arrays["rotation"])


def measure(folder: Path) -> TokenSpace:
    """The constants, from the model's files in `folder`: 47,000 tokens, some ten seconds."""
    vocabulary = (folder / VOCABULARY).read_text(encoding="utf-8").split("\n")
    return fit(*hidden_states(Loaded(folder), sentences(vocabulary)))


def sentences(vocabulary: Sequence[str]) -> list[str]:
    """Templates filled with words of the vocabulary."""
    words = [word for word in vocabulary[SPECIALS:] if word.isalpha() and word.isascii() and len(word) > 2][:WORDS]
    rng = random.Random(SEED)
    made: list[str] = []
    for _ in range(SENTENCES):
        template = rng.choice(TEMPLATES)
        made.append(template.format(*[rng.choice(words) for _ in range(template.count("{}"))]))
    return made


def hidden_states(loaded: Loaded, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The tokens of all texts after layers 5 and 6, (t, 384) each."""
    cut = [loaded.pieces(text) for text in texts]
    before, last = [], []
    for batch in plan([len(pieces) for pieces in cut], PIECES_PER_RUN):
        states = loaded.states(pad([cut[row] for row in batch]))
        before.append(states[1])
        last.append(states[2])
    return np.concatenate(before), np.concatenate(last)


def fit(before: NDArray[np.float32], last: NDArray[np.float32]) -> TokenSpace:
    """The means, and the leading eigenvectors of the tokens' second moments. Overwrites what it is given.

    An eigenvector's sign is chosen so that its largest number is positive.
    """
    mean_before, mean_last = _centre(before), _centre(last)
    mixed = before + last
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    wide = mixed.astype(np.float64)
    _, vectors = np.linalg.eigh(wide.T @ wide)
    leading = vectors[:, ::-1][:, :TOKEN_DIM]
    largest = np.take_along_axis(leading, np.abs(leading).argmax(axis=0)[None], axis=0)
    return TokenSpace(before=mean_before, last=mean_last, rotation=(leading * np.sign(largest)).astype(np.float32))


def _centre(states: NDArray[np.float32]) -> NDArray[np.float32]:
    """Takes the mean from the rows and gives them norm 1, in their place; the mean."""
    mean: NDArray[np.float32] = states.mean(axis=0, dtype=np.float64).astype(np.float32)
    states -= mean
    states /= np.linalg.norm(states, axis=1, keepdims=True)
    return mean


if __name__ == "__main__":
    weights = find_weights()
    if weights is None:
        raise SystemExit("the weights are not installed; run `embermem model install`")
    TARGET.write_bytes(build(measure(weights)).SerializeToString(deterministic=True))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
