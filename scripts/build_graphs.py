"""Build multilingual-e5-small (`src/embermem/embedders/e5.onnx`) and the reader (`layers.onnx` and `judge.onnx` of
`src/embermem/reader/`) as graphs without their weights.

A graph names each weight as its file of weights does and holds none of them; `embedders/graphs.py` supplies them when
it loads. Needs the dev dependency `onnx`. From the project's root:

    python scripts/build_graphs.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

ROOT = Path(__file__).parents[1] / "src" / "embermem"
ENCODER = ROOT / "embedders" / "e5.onnx"
READER, JUDGE = ROOT / "reader" / "layers.onnx", ROOT / "reader" / "judge.onnx"

# From the model's config.json (intfloat/multilingual-e5-small).
HIDDEN = 384
INNER = 1536
HEADS = 12
LAYERS = 12
# The layers that the reader shares with the encoder; its own ones follow in place of the others.
SHARED = 8
LAYER_NORM_EPSILON = 1e-12
# Of a token's vector.
TOKEN_DIM = 128

# Of the reader: its tags, three numbers each; a group's features; the width before it judges, and its answers.
TAGS, GROUPS, OF_A_GROUP, WIDTH = 27, 24, 64, 256
ANSWERS = 42 + 3 + 6 + 3 + 2 + 4 + 2 + 2

# The first opset with Gelu; IR 9 came with it.
OPSET = 20
IR = 9
# The domain of the operators that are of onnxruntime itself.
CONTRIB = "com.microsoft"

Shapes = dict[str, list[int | str]]


def encoder() -> onnx.ModelProto:
    """The model of one text: `embedded` float32 (t, 384), the sum of word, position and type → `mean` (384,), the mean
    of the last hidden states; `tokens` (t, 128), these states about their mean, rotated, with L2 norm 1; and `shared`
    (t, 384), the hidden states after the layers that the reader shares."""
    graph = _Graph("e5.safetensors")
    rows = graph.layer_norm("embedded", "norm")
    rows = graph.layers(rows, range(SHARED))
    graph.op("Identity", rows, output="shared")
    graph.outputs(graph.layers(rows, range(SHARED, LAYERS)))
    outputs: Shapes = {"mean": [HIDDEN], "tokens": ["t", TOKEN_DIM], "shared": ["t", HIDDEN]}
    return graph.model("multilingual-e5-small", {"embedded": ["t", HIDDEN]}, outputs)


def reader() -> onnx.ModelProto:
    """The reader's layers: `rows` float32 (t, 384), shared states of a message and of the one before → `states`
    (t, 384) and `tags` (t, 81)."""
    graph = _Graph("reader.safetensors")
    states = graph.op("Identity", graph.layers("rows", range(SHARED, LAYERS)), output="states")
    graph.linear(states, "tag", HIDDEN, 3 * TAGS, output="tags")
    return graph.model("reader", {"rows": ["t", HIDDEN]}, {"states": ["t", HIDDEN], "tags": ["t", 3 * TAGS]})


def judge() -> onnx.ModelProto:
    """What stretches of a message are: its `states` (t, 384); of each stretch the `shares` of its rows (n, t), its
    first and last row and its group (n,) → `told` (n, 64)."""
    graph = _Graph("reader.safetensors")
    means = graph.op("MatMul", "shares", "states")
    asks = graph.op("Mul", graph.linear(means, "q", HIDDEN, HIDDEN), graph.number("scale", HIDDEN**-0.5))
    near = graph.op("MatMul", asks, graph.op("Transpose", "states", perm=[1, 0]))
    looked = graph.op("MatMul", graph.op("Softmax", near, axis=-1), "states")
    first, last = (graph.op("Gather", "states", place, axis=0) for place in ("first", "last"))
    group = graph.op("Gather", graph.weight("groups", [GROUPS, OF_A_GROUP]), "group", axis=0)
    features = graph.op("Concat", means, first, last, looked, group, axis=1)
    hidden = graph.op("Gelu", graph.linear(features, "mlp", 4 * HIDDEN + OF_A_GROUP, WIDTH))
    graph.linear(hidden, "judges", WIDTH, ANSWERS, output="told")
    given: Shapes = {"states": ["t", HIDDEN], "shares": ["n", "t"]}
    return graph.model("judge", given, {"told": ["n", ANSWERS]}, ("first", "last", "group"))


class _Graph:
    """Collects nodes and initializers. Between the layers a text is (t, 384)."""

    def __init__(self, weights: str) -> None:
        self._weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def model(
        self,
        name: str,
        given: Shapes,
        outputs: Shapes,
        places: Sequence[str] = (),
    ) -> onnx.ModelProto:
        """The model that was collected; `places` are inputs (n,) that number rows."""
        asked = [helper.make_tensor_value_info(one, TensorProto.FLOAT, shape) for one, shape in given.items()]
        asked += [helper.make_tensor_value_info(one, TensorProto.INT64, ["n"]) for one in places]
        told = [helper.make_tensor_value_info(one, TensorProto.FLOAT, shape) for one, shape in outputs.items()]
        return helper.make_model(
            helper.make_graph(self.nodes, name, inputs=asked, outputs=told, initializer=self.initializers),
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)],
            ir_version=IR,
            producer_name="embermem",
        )

    def linear(self, rows: str, name: str, wide: int, out: int, output: str | None = None) -> str:
        """rows·weight + bias, in float32."""
        product = self.op("MatMul", rows, self.weight(f"{name}.weight", [wide, out]))
        return self.op("Add", product, self.weight(f"{name}.bias", [out]), output=output)

    def number(self, name: str, value: float) -> str:
        self.initializers.append(helper.make_tensor(name, TensorProto.FLOAT, [], [value]))
        return name

    def layers(self, rows: str, numbers: range) -> str:
        """Some of the layers, upon these rows; the name of the last one's hidden states."""
        one_text = self.integers(f"one_text_{numbers.start}", [1, -1, HIDDEN])
        rows_of_text = self.integers(f"rows_of_text_{numbers.start}", [-1, HIDDEN])
        for number in numbers:
            name = f"layer.{number}"
            joined = self.dense(rows, f"{name}.qkv", HIDDEN, 3 * HIDDEN)
            parts = [self.op("Reshape", part, one_text) for part in self.split(joined, name)]
            mixed = self.op("MultiHeadAttention", *parts, domain=CONTRIB, num_heads=HEADS)
            attended = self.dense(self.op("Reshape", mixed, rows_of_text), f"{name}.o", HIDDEN, HIDDEN)
            rows = self.layer_norm(self.op("Add", rows, attended), f"{name}.n1")
            inner = self.op("Gelu", self.dense(rows, f"{name}.f1", HIDDEN, INNER))
            rows = self.layer_norm(self.op("Add", rows, self.dense(inner, f"{name}.f2", INNER, HIDDEN)), f"{name}.n2")
        return rows

    def outputs(self, states: str) -> None:
        self.op("ReduceMean", states, self.integers("first_axis", [0]), keepdims=0, output="mean")
        centred = self.op("Sub", states, self.weight("mean.tokens", [HIDDEN]))
        rotated = self.op("MatMul", centred, self.weight("rotation", [HIDDEN, TOKEN_DIM]))
        self.op("LpNormalization", rotated, axis=-1, p=2, output="tokens")

    def split(self, joined: str, name: str) -> list[str]:
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        self.nodes.append(helper.make_node("Split", [joined], parts, axis=-1, num_outputs=3))
        return parts

    def dense(self, rows: str, name: str, wide: int, out: int) -> str:
        """(rows ∘ inverse)·codes ∘ scales + bias; the rows are quantized with one scale for all of them."""
        scaled = self.op("Mul", rows, self.weight(f"{name}.inverse", [wide]))
        codes = self.weight(f"{name}.codes", [wide, out], TensorProto.INT8)
        scales, bias = self.weight(f"{name}.scales", [out]), self.weight(f"{name}.bias", [out])
        return self.op("DynamicQuantizeMatMul", scaled, codes, scales, "", bias, domain=CONTRIB)

    def layer_norm(self, rows: str, name: str) -> str:
        weight, bias = self.weight(f"{name}.weight", [HIDDEN]), self.weight(f"{name}.bias", [HIDDEN])
        return self.op("LayerNormalization", rows, weight, bias, axis=-1, epsilon=LAYER_NORM_EPSILON)

    def op(self, kind: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        output = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], domain=domain, **attributes))
        return output

    def weight(self, name: str, shape: list[int], kind: int = TensorProto.FLOAT) -> str:
        """A weight that the loader supplies: declared as external data, in no file."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=self._weights)
        self.initializers.append(tensor)
        return name

    def integers(self, name: str, values: list[int]) -> str:
        self.initializers.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name


if __name__ == "__main__":
    for target, model in ((ENCODER, encoder()), (READER, reader()), (JUDGE, judge())):
        target.write_bytes(model.SerializeToString(deterministic=True))
        print(f"{target.name}: {target.stat().st_size} bytes")
