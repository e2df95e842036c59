"""Train what tells what a query needs of memory and whether a request stands, and write
`src/embermem/reader/perceptrons.safetensors`.

    python reader/train_perceptrons.py WEIGHTS [--hidden 32] [--seed 0]

WEIGHTS is the encoder's converted file, as `embermem model install` leaves it. Each line of `data/queries/*.tsv` is a
message, with its language and kind; each line of `data/requests/*.jsonl` a message with the words of its requests by
their kind, or with none. What is labelled as an instruction in `data/labels` is a request too, with less weight: it
stands unless it is not worth noting; the sentences of other messages there are none. The encoder gives the means of
the shared states. Before the weights are made of all writers, each writer's messages are judged by a network that was
trained on those of the others: what is printed is of these judgements. It runs in ten minutes, on one core.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from labelled import Claim, Span, labelled
from torch import nn
from torch.nn import functional

from embermem.embedders.e5 import E5, QUERY
from embermem.embedders.tensors import write_tensors
from embermem.languages.words import sentences
from embermem.reader.perceptron import NEEDS, QUERIES, REQUESTS, STANDS, of_request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "embermem" / "reader" / "perceptrons.safetensors"
MESSAGES, RATE, DECAY = 256, 3e-3, 0.05
PASSES = {QUERIES: 60, REQUESTS: 25}
DROPPED, DROPPED_WITHIN, SMOOTHED = {QUERIES: 0.1, REQUESTS: 0.3}, 0.3, 0.05
LABELLED = {STANDS.index("standing"): 0.2, STANDS.index("once"): 1.0}
"""What a labelled instruction counts beside a request that was written as such."""
OTHERS, OF_OTHERS = 8000, 0.3
"""Of how many labelled messages without a request the sentences are told apart from those that stand, and what each
counts."""
NONE, SHARES = STANDS.index("none"), (0.25, 0.25, 0.5)
"""What asks nothing, and what the kinds count together."""
HELD_OUT = frozenset(("w6", "w9", "w10", "w24", "w25"))
"""Writers on whom thresholds are set."""
NOT_SO = frozenset(("end", "quote", "joke", "suppose", "ask", "past"))
"""Flags of labels that are no requests."""
LOST = 0.03
"""The share of messages that need memory and are taken for such that do not, at which it is told how many of the others
are recognised; and of requests that stand."""


class Data(NamedTuple):
    """The means of each message's states, its kind, its writer and what it counts."""

    inputs: Floats
    kinds: NDArray[np.int64]
    writers: NDArray[np.str_]
    weights: Floats

    def of(self, some: NDArray[np.bool_]) -> Data:
        """Some of them."""
        return Data(self.inputs[some], self.kinds[some], self.writers[some], self.weights[some])


def queries(encoder: E5) -> Data:
    """The messages to be told apart by what they need. Raises ValueError for a line without its parts."""
    inputs, kinds, writers = [], [], []
    for path in sorted((HERE / "data" / "queries").glob("*.tsv")):
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            _, kind, text = line.split("\t")
            shared = encoder.shared(text, QUERY)
            if shared is None:
                raise ValueError(f"a message without a piece: {text!r}")
            inputs.append(shared.rows.astype(np.float32).mean(axis=0))
            kinds.append(NEEDS.index(kind))
            writers.append(path.stem)
    return Data(np.array(inputs), np.array(kinds), np.array(writers), np.ones(len(kinds), dtype=np.float32))


def requests(encoder: E5) -> Data:
    """The requests to be told apart by whether they stand. Raises ValueError for one whose words are not in its
    text."""
    found = []
    for text, spans, kind, writer, weight in (*_written(), *_labelled()):
        shared = encoder.shared(text)
        if shared is None:
            continue
        states = shared.rows.astype(np.float32)
        for start, end in spans:
            at = [i for i, (a, b) in enumerate(shared.places) if a < end and start < b]
            if at:  # not behind what is run at once
                first = shared.before + at[0]
                found.append((of_request(states, first, first + len(at)), kind, writer, weight))
    inputs, kinds, writers, weights = (np.array(one) for one in zip(*found, strict=True))
    of_kind = np.array([weights[kinds == kind].sum() for kind in range(len(STANDS))])
    counts = weights * (np.array(SHARES) / of_kind)[kinds] * len(weights)
    return Data(inputs, kinds, writers, counts.astype(np.float32))


def _written() -> Iterator[tuple[str, list[Span], int, str, float]]:
    for path in sorted((HERE / "data" / "requests").glob("*.jsonl")):
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            one = json.loads(line)
            text, said = one["text"], {kind: one[kind] for kind in STANDS if kind in one}
            for kind, clauses in said.items():
                spans = [(text.index(clause), text.index(clause) + len(clause)) for clause in clauses]
                yield text, spans, STANDS.index(kind), path.stem, 1.0
            if not any(said.values()):
                yield text, sentences(text), NONE, path.stem, 1.0


def _labelled() -> Iterator[tuple[str, list[Span], int, str, float]]:
    all_ = labelled(None)
    without = [one for one in all_ if one.writer not in HELD_OUT and not any(map(_is_request, one.claims))]
    for message in random.Random(0).sample(without, OTHERS):
        yield message.text, sentences(message.text), NONE, message.writer, OF_OTHERS
    for message in all_:
        for claim in message.claims:
            if _is_request(claim) and not (claim.event or claim.flags & NOT_SO):
                is_standing = claim.attribute == "instruction" and "low" not in claim.flags
                kind = STANDS.index("standing" if is_standing else "once")
                yield message.text, [claim.value], kind, message.writer, LABELLED[kind]


def _is_request(claim: Claim) -> bool:
    return claim.attribute in ("instruction", "task")


def trained(data: Data, hidden: int, passes: int, dropped: float) -> dict[str, torch.Tensor]:
    """The weights, with what makes the inputs' channels alike worked into them."""
    right, counts = torch.from_numpy(data.kinds), torch.from_numpy(data.weights)
    mean, spread = data.inputs.mean(axis=0), data.inputs.std(axis=0) + 1e-6
    alike = torch.from_numpy((data.inputs - mean) / spread)
    first, second = nn.Linear(alike.shape[1], hidden), nn.Linear(hidden, int(data.kinds.max()) + 1)
    network = nn.Sequential(nn.Dropout(dropped), first, nn.ReLU(), nn.Dropout(DROPPED_WITHIN), second)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    for _ in range(passes):
        for some in torch.randperm(len(alike)).split(MESSAGES):
            optimizer.zero_grad()
            each = functional.cross_entropy(
                network(alike[some]), right[some], label_smoothing=SMOOTHED, reduction="none"
            )
            ((each * counts[some]).sum() / counts[some].sum()).backward()
            optimizer.step()
    scaled = first.weight.detach() / torch.from_numpy(spread)
    bias = first.bias.detach() - scaled @ torch.from_numpy(mean)
    weights = {"hidden.weight": scaled.T, "hidden.bias": bias}
    return weights | {"out.weight": second.weight.detach().T, "out.bias": second.bias.detach()}


def probabilities(weights: dict[str, torch.Tensor], inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of each kind (n, kinds)."""
    hidden = functional.relu(torch.from_numpy(inputs) @ weights["hidden.weight"] + weights["hidden.bias"])
    return np.asarray((hidden @ weights["out.weight"] + weights["out.bias"]).softmax(-1).numpy())


def judged(data: Data, writers: Sequence[str], hidden: int, passes: int, dropped: float) -> Floats:
    """Of each message of these writers the probabilities by what was trained on all others."""
    found = np.zeros((len(data.kinds), int(data.kinds.max()) + 1), dtype=np.float32)
    for writer in writers:
        of = data.writers == writer
        found[of] = probabilities(trained(data.of(~of), hidden, passes, dropped), data.inputs[of])
        print(f"{writer}: {np.mean(found[of].argmax(axis=1) == data.kinds[of]):.3f} of {of.sum()} right", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)
    encoder = E5(given.weights)
    weights: dict[str, NDArray[np.float16]] = {}
    for name, data, kind in (
        (QUERIES, queries(encoder), NEEDS.index("nothing")),
        (REQUESTS, requests(encoder), STANDS.index("once")),
    ):
        writers = [path.stem for path in sorted((HERE / "data" / name).iterdir())]
        found = judged(data, writers, given.hidden, PASSES[name], DROPPED[name])
        at = np.isin(data.writers, writers)
        found, kinds = found[at], data.kinds[at]
        of = kinds == kind
        least = np.quantile(found[~of, kind], 1.0 - LOST)
        print(f"{name}: {np.mean(found.argmax(axis=1) == kinds):.3f} of {len(of):,} right; from {least:.2f}:")
        print(f"{LOST:.0%} of those that need memory or stand, {np.mean(found[of, kind] >= least):.3f} of the others")
        made = trained(data, given.hidden, PASSES[name], DROPPED[name])
        weights |= {f"{name}.{part}": one.numpy().astype(np.float16) for part, one in made.items()}
    write_tensors(TARGET, weights, {})
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
