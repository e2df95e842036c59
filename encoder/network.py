"""The encoder's layers in torch, to be trained. The same layers in numpy are in `float_layers.py`."""

from __future__ import annotations

import torch
from float_layers import EPSILON, HEADS
from torch import Tensor, nn
from torch.nn import functional

from embermem.embedders.convert import HIDDEN, INNER, LAYERS, Published, unpacked

__all__ = ["Layers", "Network"]


class Layer(nn.Module):
    """One layer: attention, then two dense layers, each added to its input and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.o = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.f1, self.f2 = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.n1, self.n2 = nn.LayerNorm(HIDDEN, EPSILON), nn.LayerNorm(HIDDEN, EPSILON)
        self.dropout = nn.Dropout(0.0)

    def forward(self, rows: Tensor, hidden: Tensor) -> Tensor:
        """`rows` (n, t, 384); `hidden` (n · heads, 1, t) is added to the scores of what may not be looked at.

        Attention is written out: on a processor it is twice as fast, forwards and backwards, as torch's own.
        """
        n, t, _ = rows.shape
        split = self.qkv(rows).view(n, t, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        query, key, value = split.reshape(3, n * HEADS, t, HIDDEN // HEADS).unbind(0)
        scores = torch.bmm(query, key.transpose(1, 2)) * (HIDDEN // HEADS) ** -0.5 + hidden.to(query.dtype)
        mixed = torch.bmm(self.dropout(scores.softmax(-1).to(value.dtype)), value)
        joined = mixed.view(n, HEADS, t, HIDDEN // HEADS).transpose(1, 2).reshape(n, t, HIDDEN)
        rows = self.n1(rows + self.dropout(self.o(joined)))
        return self.n2(rows + self.dropout(self.f2(functional.gelu(self.f1(rows)))))


class Layers(nn.ModuleList):
    """Some of the layers, one upon the other."""

    def run(self, rows: Tensor, real: Tensor) -> Tensor:
        """`real` (n, t) says which rows are of a text, and no padding."""
        hidden = torch.zeros(real.shape).masked_fill(~real, -1e4).repeat_interleave(HEADS, 0)[:, None, :]
        for layer in self:
            rows = layer(rows, hidden)
        return rows


class Network:
    """The published encoder: the layers below, which stay, and those above, which are trained."""

    def __init__(self, published: Published, trained: int) -> None:
        layers = []
        for number in range(LAYERS):
            layer = Layer()
            layer.load_state_dict({name: torch.tensor(one) for name, one in published.layer(number).items()})
            layers.append(layer)
        self.below, self.above = Layers(layers[: LAYERS - trained]), Layers(layers[LAYERS - trained :])
        self.below.requires_grad_(requires_grad=False)
        self._words, self._positions = published.blocks("emb.word", HIDDEN), torch.tensor(published.positions())
        self._norm = tuple(torch.tensor(one) for one in published.norm())

    def embedded(self, ids: Tensor) -> Tensor:
        """What the first layer is given of ids (n, t): (n, t, 384)."""
        words = torch.from_numpy(unpacked(self._words[ids.flatten().numpy()])).view(*ids.shape, HIDDEN)
        rows = words + self._positions[: ids.shape[1]]
        return functional.layer_norm(rows, (HIDDEN,), *self._norm, EPSILON)
