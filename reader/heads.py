"""The reader's layers and heads in torch, to be trained. `src/embermem/reader/network.py` has the heads in numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from export import shipped
from network import Layers
from torch import Tensor, nn

from embermem.embedders.convert import HIDDEN
from embermem.embedders.tensors import read_tensors
from embermem.reader.labels import GROUPS, JUDGED, TAGS

__all__ = ["LINEAR", "Reader", "Stretch", "weights_of"]

WIDTH, OF_A_GROUP = 256, 64
LINEAR = {"tag": "tag", "q": "q", "mlp": "mlp.0"}
"""Linear heads by their names in the file that ships, and here."""

Stretch = tuple[int, int, int, int]
"""The row of a message in the batch, the first piece and the one after the last, and the number of a group."""


class Reader(nn.Module):
    """The layers over the shared states, and the heads."""

    def __init__(self, above: Layers, dropped: float) -> None:
        super().__init__()
        self.above, self.dropout = above, nn.Dropout(dropped)
        self.kinds = nn.Parameter(torch.zeros(2, HIDDEN))
        self.tag, self.q = nn.Linear(HIDDEN, len(TAGS) * 3), nn.Linear(HIDDEN, HIDDEN)
        self.groups = nn.Embedding(len(GROUPS), OF_A_GROUP)
        self.mlp = nn.Sequential(nn.Linear(4 * HIDDEN + OF_A_GROUP, WIDTH), nn.GELU(), nn.Dropout(dropped))
        self.judges = nn.ModuleDict({name: nn.Linear(WIDTH, count) for name, count in JUDGED.items()})

    def states(self, rows: Tensor, kinds: Tensor, real: Tensor) -> Tensor:
        """The last states (n, t, 384) of shared ones; `kinds` (n, t): 0 of the message before, 1 of the message."""
        return self.dropout(self.above.run(rows + self.kinds[kinds], real).float())

    def tags(self, states: Tensor) -> Tensor:
        """(n, t, tags, 3)."""
        return self.tag(states).view(*states.shape[:2], len(TAGS), 3)

    def judged(self, states: Tensor, real: Tensor, stretches: Sequence[Stretch]) -> dict[str, Tensor]:
        """What the stretches are, by what they are judged for."""
        count, length, _ = states.shape
        flat = states.reshape(count * length, HIDDEN)
        shares = torch.zeros(len(stretches), count * length)
        for place, (row, first, last, _) in enumerate(stretches):
            shares[place, row * length + first : row * length + last] = 1.0 / (last - first)
        means = shares @ flat
        # The stretches of a message look at its rows together.
        of_message: Counter[int] = Counter()
        most = max(Counter(row for row, *_ in stretches).values())
        slots = []
        for row, *_ in stretches:
            slots.append(row * most + of_message[row])
            of_message[row] += 1
        asks = torch.zeros(count * most, HIDDEN).index_copy(0, torch.tensor(slots), self.q(means))
        near = torch.bmm(asks.view(count, most, HIDDEN), states.transpose(1, 2)) * HIDDEN**-0.5
        looked = torch.bmm(near.masked_fill(~real[:, None, :], -1e9).softmax(-1), states)
        features = (
            means,
            flat[[row * length + first for row, first, _, _ in stretches]],
            flat[[row * length + last - 1 for row, _, last, _ in stretches]],
            looked.reshape(count * most, HIDDEN)[slots],
            self.groups(torch.tensor([group for *_, group in stretches])),
        )
        hidden = self.mlp(torch.cat(features, dim=-1))
        return {name: judge(hidden) for name, judge in self.judges.items()}


def weights_of(path: Path) -> dict[str, Tensor]:
    """The weights of a reader by name: of what training left, or of the .safetensors that ships."""
    if path.suffix != ".safetensors":
        left: dict[str, Tensor] = torch.load(path)
        return left
    arrays, _ = read_tensors(path)
    layers = sorted(shipped(arrays).items())
    found = {f"above.{place}.{name}": one for place, (_, layer) in enumerate(layers) for name, one in layer.items()}
    found |= {"kinds": arrays["kinds"], "groups.weight": arrays["groups"]}
    for name, known in LINEAR.items():
        found |= {f"{known}.weight": arrays[f"{name}.weight"].T, f"{known}.bias": arrays[f"{name}.bias"]}
    first = 0
    for name, count in JUDGED.items():
        some = slice(first, first + count)
        found[f"judges.{name}.weight"] = arrays["judges.weight"][:, some].T
        found[f"judges.{name}.bias"] = arrays["judges.bias"][some]
        first += count
    return {name: torch.tensor(np.ascontiguousarray(one, dtype=np.float32)) for name, one in found.items()}
