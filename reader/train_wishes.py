"""Train how near a request for advice is to what somebody said that bears on it, and write
`src/embermem/reader/wishes.safetensors`.

    python reader/train_wishes.py WEIGHTS [--rank 48] [--steps 1500] [--seed 0]

WEIGHTS is the encoder's converted file, as `embermem model install` leaves it. Each line of `data/wishes/*.jsonl` holds
what somebody `said` in passing of what they want, like, avoid or may not; three requests (`asks`) on which it bears;
one on which it does not (`far`); and what they said that holds no wish (`plain`). A request's vector q and an
utterance's vector u have the score s·q·u + (A q)·(B u) + w·u, whose softmax over the utterances is to be 1 for what
bears: beside those of the other people of a batch, and messages of `data/people`. Half of the vectors' numbers are
dropped in training. Before the weights are made of all writers, each writer's requests are judged by what was trained
on the others: what is printed is how often what bears is among the first so many of all that this writer's people said
and of 1,600 other messages, by the score and by the cosine. Ten minutes, on one core.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from labelled import labelled
from torch import Tensor, nn
from torch.nn import functional

from embermem.embedders.e5 import E5
from embermem.embedders.tensors import write_tensors
from embermem.reader.wishes import score

if TYPE_CHECKING:
    from numpy.typing import NDArray

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "embermem" / "reader" / "wishes.safetensors"
ITEMS, OTHERS, RATE, DECAY, DROPPED = 96, 300, 2e-3, 0.05, 0.5
MESSAGES, CHARS = 1_600, 800
SCALE, TIMES = 20.0, 20.0
"""Where the weight of the cosine begins; what the other two are multiplied by, so that they learn as fast."""
FIRST = (1, 5, 10, 30)


class Data(NamedTuple):
    """The vectors of items: of what was `said` and `plain` (n, dim), of the requests (n, 3, dim)."""

    said: Tensor
    plain: Tensor
    asks: Tensor


def items(encoder: E5, path: Path) -> Data:
    """Those of a writer."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    said, plain = (torch.from_numpy(encoder.embed([one[key] for one in lines])) for key in ("said", "plain"))
    asks = np.array([[encoder.embed_query(text)[0] for text in one["asks"]] for one in lines])
    return Data(said, plain, torch.from_numpy(asks))


def trained(data: Data, others: Tensor, rank: int, steps: int, seed: int) -> dict[str, NDArray[np.float32]]:
    """The weights, as they are written."""
    torch.manual_seed(seed)
    dim = data.said.shape[1]
    query, said = (nn.Parameter(torch.randn(dim, rank) * 0.02) for _ in range(2))
    bias, scale = nn.Parameter(torch.zeros(dim)), nn.Parameter(torch.tensor(SCALE))
    groups = [{"params": [query, said, bias], "weight_decay": DECAY}, {"params": [scale], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1.0 - step / steps)
        some, ask = torch.randint(len(data.said), (ITEMS,)), torch.randint(data.asks.shape[1], (ITEMS,))
        asked = data.asks[some, ask]
        among = torch.cat((data.said[some], data.plain[some], others[torch.randint(len(others), (OTHERS,))]))
        seen, looked_at = functional.dropout(asked, DROPPED), functional.dropout(among, DROPPED)
        found = scale * (asked @ among.T) + TIMES * ((seen @ query) @ (looked_at @ said).T + looked_at @ bias)
        twice = (some[:, None] == some[None, :]) & ~torch.eye(ITEMS, dtype=torch.bool)
        found[:, :ITEMS] = found[:, :ITEMS].masked_fill(twice, -1e9)
        optimizer.zero_grad()
        functional.cross_entropy(found, torch.arange(ITEMS)).backward()
        optimizer.step()
    made = {"query": TIMES * query, "said": said, "bias": TIMES * bias, "scale": scale[None]}
    return {name: one.detach().numpy() for name, one in made.items()}


def judged(data: Data, others: Tensor, weights: dict[str, NDArray[np.float32]] | None) -> list[float]:
    """How often what bears on a request is among the first so many."""
    among, ranks = torch.cat((data.said, data.plain, others)).numpy(), []
    for place, asks in enumerate(data.asks.numpy()):
        for asked in asks:
            found = among @ (asked if weights is None else score(weights, asked))
            ranks.append(int((found > found[place]).sum()))
    return [round(float(np.mean(np.array(ranks) < first)), 3) for first in FIRST]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--rank", type=int, default=48)
    parser.add_argument("--steps", type=int, default=1_500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    encoder, draw = E5(given.weights), random.Random(given.seed)
    texts = [one.text[:CHARS] for one in labelled(None) if len(one.text) > 20]
    others = torch.from_numpy(encoder.embed(draw.sample(texts, 2 * MESSAGES)))
    learnt, held = others[:MESSAGES], others[MESSAGES:]
    by_writer = {path.stem: items(encoder, path) for path in sorted((HERE / "data" / "wishes").glob("*.jsonl"))}
    for writer, data in by_writer.items():
        rest = [one for name, one in by_writer.items() if name != writer]
        weights = trained(Data(*map(torch.cat, zip(*rest, strict=True))), learnt, given.rank, given.steps, given.seed)
        told = judged(data, held, weights)
        print(f"{writer}: among the first {FIRST}: {told}, by the cosine {judged(data, held, None)}", flush=True)
    all_ = Data(*map(torch.cat, zip(*by_writer.values(), strict=True)))
    weights = trained(all_, others, given.rank, given.steps, given.seed)
    write_tensors(TARGET, {name: one.astype(np.float16) for name, one in weights.items()}, {})
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
