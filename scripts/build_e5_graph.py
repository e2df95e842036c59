"""Build `src/embermem/embedders/e5.onnx`: multilingual-e5-small as a graph without its weights.

The graph names each weight as the converted file does and holds none of them; `embedders/e5.py` supplies them when it
loads. Needs the dev dependency `onnx`. From the project's root:

    python scripts/build_e5_graph.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

TARGET = Path(__file__).parents[1] / "src" / "embermem" / "embedders" / "e5.onnx"

# From the model's config.json (intfloat/multilingual-e5-small).
HIDDEN = 384
INNER = 1536
HEADS = 12
LAYERS = 12
LAYER_NORM_EPSILON = 1e-12
# Of a token's vector.
TOKEN_DIM = 128

# The first opset with Gelu; IR 9 came with it.
OPSET = 20
IR = 9
# The domain of the operators that are of onnxruntime itself.
CONTRIB = "com.microsoft"


def build() -> onnx.ModelProto:
    """The model of one text: `embedded` float32 (t, 384), the sum of word, position and type → `mean` (384,), the mean
    of the last hidden states, and `tokens` (t, 128), these states about their mean, rotated, with L2 norm 1."""
    graph = _Graph()
    graph.outputs(graph.transformer())
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "multilingual-e5-small",
            inputs=[helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["t", HIDDEN])],
            outputs=[
                helper.make_tensor_value_info("mean", TensorProto.FLOAT, [HIDDEN]),
                helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["t", TOKEN_DIM]),
            ],
            initializer=graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)],
        ir_version=IR,
        producer_name="embermem",
    )


class _Graph:
    """Collects nodes and initializers. Between the layers a text is (t, 384)."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def transformer(self) -> str:
        """The layers; the name of the last hidden states."""
        one_text = self.integers("one_text", [1, -1, HIDDEN])
        rows_of_text = self.integers("rows", [-1, HIDDEN])
        rows = self.layer_norm("embedded", "norm")
        for number in range(LAYERS):
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
        tensor.external_data.add(key="location", value="e5.safetensors")
        self.initializers.append(tensor)
        return name

    def integers(self, name: str, values: list[int]) -> str:
        self.initializers.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name


if __name__ == "__main__":
    TARGET.write_bytes(build().SerializeToString(deterministic=True))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
