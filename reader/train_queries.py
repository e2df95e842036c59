"""Train what tells whether a message needs memory, and write `src/embermem/reader/queries.safetensors`.

    python reader/train_queries.py WEIGHTS [--passes 60] [--hidden 32] [--seed 0]

WEIGHTS is the encoder's converted file, as `embermem model install` leaves it. Each line of `data/queries/*.tsv` is a
message, with its language and kind; the encoder gives the mean of its shared states. Before the weights are made of all
writers, each writer's messages are judged by a network that was trained on those of the others: what is printed is of
these judgements. It runs in a minute, on one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from embermem.embedders.e5 import E5, QUERY
from embermem.embedders.tensors import write_tensors
from embermem.reader.queries import KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "embermem" / "reader" / "queries.safetensors"
MESSAGES, RATE, DECAY = 256, 3e-3, 0.05
DROPPED, DROPPED_WITHIN, SMOOTHED = 0.1, 0.3, 0.05
LOST = 0.03
"""The share of messages that need memory and are taken for such that do not, at which it is told how many of the others
are recognised."""


def messages() -> list[tuple[str, str, str, str]]:
    """Writer, language, kind and text of each message. Raises ValueError for a line without them."""
    found = []
    for path in sorted((HERE / "data" / "queries").glob("*.tsv")):
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            language, kind, text = line.split("\t")
            found.append((path.stem, language, KINDS[KINDS.index(kind)], text))
    return found


def means(encoder: E5, texts: list[str]) -> NDArray[np.float32]:
    """The mean of the shared states of each text (n, 384)."""
    found = []
    for text in texts:
        shared = encoder.shared(text, QUERY)
        if shared is None:
            raise ValueError(f"a message without a piece: {text!r}")
        found.append(shared.rows.astype(np.float32).mean(axis=0))
    return np.array(found)


def trained(inputs: NDArray[np.float32], kinds: torch.Tensor, hidden: int, passes: int) -> dict[str, torch.Tensor]:
    """The weights, with what makes the inputs' channels alike worked into them."""
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6
    alike = torch.from_numpy((inputs - mean) / spread)
    first, second = nn.Linear(inputs.shape[1], hidden), nn.Linear(hidden, len(KINDS))
    network = nn.Sequential(nn.Dropout(DROPPED), first, nn.ReLU(), nn.Dropout(DROPPED_WITHIN), second)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    for _ in range(passes):
        for some in torch.randperm(len(alike)).split(MESSAGES):
            optimizer.zero_grad()
            functional.cross_entropy(network(alike[some]), kinds[some], label_smoothing=SMOOTHED).backward()
            optimizer.step()
    scaled = first.weight.detach() / torch.from_numpy(spread)
    bias = first.bias.detach() - scaled @ torch.from_numpy(mean)
    weights = {"hidden.weight": scaled.T, "hidden.bias": bias}
    return weights | {"out.weight": second.weight.detach().T, "out.bias": second.bias.detach()}


def probabilities(weights: dict[str, torch.Tensor], inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of each kind (n, kinds)."""
    hidden = functional.relu(torch.from_numpy(inputs) @ weights["hidden.weight"] + weights["hidden.bias"])
    return np.asarray((hidden @ weights["out.weight"] + weights["out.bias"]).softmax(-1).numpy())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--passes", type=int, default=60)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)
    data = messages()
    inputs = means(E5(given.weights), [text for *_, text in data])
    kinds = torch.tensor([KINDS.index(kind) for _, _, kind, _ in data])
    writers = np.array([writer for writer, *_ in data])
    told = np.zeros((len(data), len(KINDS)), dtype=np.float32)
    for writer in sorted(set(writers)):
        of, others = writers == writer, torch.from_numpy(writers != writer)
        told[of] = probabilities(trained(inputs[~of], kinds[others], given.hidden, given.passes), inputs[of])
        print(f"{writer}: {np.mean(told[of].argmax(axis=1) == kinds[~others].numpy()):.3f} of {of.sum()} right")
    needs_none = kinds.numpy() == KINDS.index("nothing")
    none = told[:, KINDS.index("nothing")]
    least = np.quantile(none[~needs_none], 1.0 - LOST)
    print(
        f"all: {np.mean(told.argmax(axis=1) == kinds.numpy()):.3f} of {len(data):,} right; `nothing` from {least:.2f}:"
    )
    print(f"{LOST:.0%} of those that need memory, {np.mean(none[needs_none] >= least):.3f} of those that need none")
    weights = trained(inputs, kinds, given.hidden, given.passes)
    write_tensors(TARGET, {name: one.numpy().astype(np.float16) for name, one in weights.items()}, {})
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
