"""Build `src/embermem/embedders/minilm.onnx`: all-MiniLM-L6-v2 as a graph without its weights.

The graph names each weight as `model.safetensors` does and holds none of them; `embedders/minilm.py` hands
them over when it loads. Needs the dev dependency `onnx`. From the project's root:

    python scripts/build_minilm_graph.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

TARGET = Path(__file__).parents[1] / "src" / "embermem" / "embedders" / "minilm.onnx"

# From the model's config.json (sentence-transformers/all-MiniLM-L6-v2).
HIDDEN = 384
INNER = 1536
HEADS = 12
LAYERS = 6
POSITIONS = 512
TYPES = 2
VOCABULARY = 30522
LAYER_NORM_EPSILON = 1e-12
PAD = 0

# Added to the score of a padded key: exp(−1e9) is 0 in float32, so that padding changes nothing.
MASKED = -1e9

# The first opset with Gelu; IR 9 came with it. onnxruntime reads both from 1.17 on.
OPSET = 20
IR = 9


def build() -> onnx.ModelProto:
    """The model: `ids` int64 (n, t), padded with 0 → `sentence` (n, 384), `tokens` and `before` (n·t, 384).

    `tokens` is the last hidden state, `before` the one before the last layer, the rows of all texts under each
    other; rows at padded places mean nothing. `sentence` is the mean of a text's `tokens`, with L2 norm 1.
    """
    graph = _Graph()
    graph.pooling(graph.transformer())
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            inputs=[helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", "t"])],
            outputs=[
                helper.make_tensor_value_info("sentence", TensorProto.FLOAT, ["n", HIDDEN]),
                helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["rows", HIDDEN]),
                helper.make_tensor_value_info("before", TensorProto.FLOAT, ["rows", HIDDEN]),
            ],
            initializer=graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR,
        producer_name="embermem",
    )
    return model


class _Graph:
    """Collects nodes and initializers. Rows of all texts lie under each other, (n·t, 384), between the layers."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def transformer(self) -> str:
        """The layers; the name of the last hidden state, (n, t, 384)."""
        shape = self.op("Shape", "ids")
        flat = self.integers("flat", [-1, HIDDEN])
        rows = self.op("Reshape", self.embeddings(shape), flat)
        split = self.op("Concat", shape, self.integers("heads", [HEADS, HIDDEN // HEADS]), axis=0)
        mask = self.mask()
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}"
            mixed = self.attention(rows, f"{layer}.attention", split, flat, mask)
            rows = self.layer_norm(self.op("Add", rows, mixed), f"{layer}.attention.output.LayerNorm")
            inner = self.op("Gelu", self.dense(rows, f"{layer}.intermediate.dense", HIDDEN, INNER))
            outer = self.dense(inner, f"{layer}.output.dense", INNER, HIDDEN)
            output = {LAYERS - 2: "before", LAYERS - 1: "tokens"}.get(number)
            rows = self.layer_norm(self.op("Add", rows, outer), f"{layer}.output.LayerNorm", output)
        unflat = self.op("Concat", shape, self.integers("hidden", [HIDDEN]), axis=0)
        return self.op("Reshape", rows, unflat)

    def embeddings(self, shape: str) -> str:
        words = self.weight("embeddings.word_embeddings.weight", [VOCABULARY, HIDDEN])
        positions = self.weight("embeddings.position_embeddings.weight", [POSITIONS, HIDDEN])
        types = self.weight("embeddings.token_type_embeddings.weight", [TYPES, HIDDEN])
        length = self.op("Slice", shape, self.integers("one", [1]), self.integers("two", [2]))
        place = self.op("Slice", positions, self.integers("zero", [0]), length)
        first_type = self.op("Gather", types, "zero")
        total = self.op("Add", self.op("Gather", words, "ids"), self.op("Add", place, first_type))
        return self.layer_norm(total, "embeddings.LayerNorm")

    def mask(self) -> str:
        """(n, 1, 1, t): 0 at a text's tokens, MASKED at its padding."""
        padded = self.op("Cast", self.op("Equal", "ids", self.integers("pad", [PAD])), to=TensorProto.FLOAT)
        scores = self.op("Mul", padded, self.numbers("masked", [MASKED]))
        return self.op("Unsqueeze", scores, self.integers("head_axes", [1, 2]))

    def attention(self, rows: str, name: str, split: str, flat: str, mask: str) -> str:
        def heads(which: str, perm: list[int]) -> str:
            dense = self.dense(rows, f"{name}.self.{which}", HIDDEN, HIDDEN)
            return self.op("Transpose", self.op("Reshape", dense, split), perm=perm)

        query, key, value = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
        scale = self.numbers("scale", [(HIDDEN // HEADS) ** -0.5])
        scores = self.op("Add", self.op("Mul", self.op("MatMul", query, key), scale), mask)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        joined = self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), flat)
        return self.dense(joined, f"{name}.output.dense", HIDDEN, HIDDEN)

    def pooling(self, tokens: str) -> None:
        real = self.op("Cast", self.op("Not", self.op("Equal", "ids", "pad")), to=TensorProto.FLOAT)
        row = self.op("Unsqueeze", real, "one")
        total = self.op("Squeeze", self.op("MatMul", row, tokens), "one")
        count = self.op("ReduceSum", real, "one", keepdims=1)
        self.op("LpNormalization", self.op("Div", total, count), axis=-1, p=2, output="sentence")

    def dense(self, rows: str, name: str, wide: int, out: int) -> str:
        """x·Wᵀ + b. Gemm takes W as it lies in the file, (out, in), so that nothing is transposed at load."""
        weight, bias = self.weight(f"{name}.weight", [out, wide]), self.weight(f"{name}.bias", [out])
        return self.op("Gemm", rows, weight, bias, transB=1)

    def layer_norm(self, rows: str, name: str, output: str | None = None) -> str:
        weight, bias = self.weight(f"{name}.weight", [HIDDEN]), self.weight(f"{name}.bias", [HIDDEN])
        return self.op("LayerNormalization", rows, weight, bias, axis=-1, epsilon=LAYER_NORM_EPSILON, output=output)

    def op(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def weight(self, name: str, shape: list[int]) -> str:
        """A weight that the loader supplies: declared as external data, with no place of its own."""
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="model.safetensors")
        self.initializers.append(tensor)
        return name

    def integers(self, name: str, values: list[int]) -> str:
        self.constant(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def numbers(self, name: str, values: list[float]) -> str:
        self.constant(helper.make_tensor(name, TensorProto.FLOAT, [len(values)], values))
        return name

    def constant(self, tensor: onnx.TensorProto) -> None:
        if all(known.name != tensor.name for known in self.initializers):
            self.initializers.append(tensor)


if __name__ == "__main__":
    TARGET.write_bytes(build().SerializeToString(deterministic=True))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")
