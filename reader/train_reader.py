"""Train the reader's layers and heads on labelled messages; `make train` runs it.

    python reader/train_reader.py MODEL TUNED.npz READER.pt [--talk FOLDER] [--held-out w6,w9,w10,w24,w25] …

MODEL is the published file of the encoder, TUNED.npz its tuned layers (`encoder/mix.py`), or the file that ships: the
reader shares the encoder's lower layers, whose states are run once and kept, and begins with a copy of the upper ones,
or with the weights of an earlier training (`--begin`), which may be those that ship.

Each piece of a message is tagged for each group of attributes: outside, begins, inside. Stretches are judged as a
whole: those that are labelled, some that are not, and some that the tags say wrongly so far, which are no value of
their group. The loss is the sum of the cross entropies. What is written is the mean of the weights over the last steps.

A network of this size learns this much data by heart in a few passes. Against that, each pass takes a message as one of
two variants (with its speaker's name or without; with its own values or with others in their places, `replaced.py`),
some of its rows are blanked, it sometimes stands without the message before, and units are dropped in all layers.

One process a core, one thread each. The result depends on the data, the seed and the number of processes alone, up to
the rounding of sums. On two cores a pass takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from export import layers_of
from heads import Reader, Stretch, weights_of
from labelled import TALK, Claim, Labelled, Span, labelled, requests
from network import Layer, Layers, Network
from replaced import replaced
from torch import Tensor, distributed, multiprocessing
from torch.nn import functional

from embermem.embedders.convert import HIDDEN, Published
from embermem.embedders.unigram import Unigram, Word
from embermem.reader.labels import ATTRIBUTES, CHANGES, GROUP_OF, GROUPS, PERSONS, STANCES, TAGS, TENSES
from embermem.reader.network import LEAST
from embermem.reader.trained import BEFORE

SHARED = 8
# Pieces of a message that are read in training; characters at the end of the one before.
MOST, TAIL = 128, 400
# Texts that are run together where nothing is trained.
AT_ONCE = 64
# Texts whose states the processes hand to one another at once.
GATHERED = 8192
# Groups whose values are clauses, on the ends of which two labellers seldom agree, count less.
CLAUSES, OF_CLAUSES = frozenset(("does", "plans", "wants", "did", "task", "other", "prefers")), 0.6
# Weights of the tags outside, begins, inside; of the judgements beside the attribute.
OF_TAGS = (1.0, 3.0, 2.0)
OF_JUDGED = {"whose": 0.5, "stance": 0.7, "tense": 0.4, "neg": 0.3, "change": 0.7, "low": 0.4, "trig": 0.2}
# What the judgements count beside the tags.
JUDGEMENTS = 0.3
WARM_UP = 0.06
# Of a message's rows the share that is blanked, and how often the message before is left out.
BLANKED, ALONE = 0.1, 0.25
# Units dropped in the layers beside those of the last states.
DROPPED_WITHIN = 0.1
# The mean of the weights changes by this share of the difference a step.
MEAN = 0.002
# What stands for a tag that is not labelled.
UNKNOWN = -100
NOBODY = frozenset(("", "user", "a", "b"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """How it is trained."""

    passes: int
    rate: float
    rate_of_heads: float
    messages: int
    dropped: float
    seed: int
    begin: Path | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """A message as the network gets it: shared states (t, 384), how many are of the message before, which rows are
    pieces of the message, the labels by rows, and the group that alone is labelled, where not all are."""

    rows: Tensor
    ahead: int
    first: int
    last: int
    values: tuple[tuple[int, int, int, Claim], ...]
    parts: tuple[tuple[int, int, int], ...]
    only: int | None

    def varied(self, draw: random.Random, noise: torch.Generator) -> Read:
        """The same with some rows blanked, and sometimes without the message before."""
        ahead = self.ahead if draw.random() < ALONE else 0
        rows = self.rows[ahead:]
        rows = rows * (torch.rand(len(rows), 1, generator=noise) >= BLANKED)
        return replace(
            self,
            rows=rows,
            ahead=self.ahead - ahead,
            first=self.first - ahead,
            last=self.last - ahead,
            values=tuple((first - ahead, last - ahead, tag, claim) for first, last, tag, claim in self.values),
            parts=tuple((first - ahead, last - ahead, tag) for first, last, tag in self.parts),
        )

    def target(self) -> Tensor:
        """(t, tags): 0 outside, 1 begins, 2 inside; of two labels of a group the shorter one stands. `UNKNOWN` where
        that is not labelled."""
        found = torch.zeros(len(self.rows), len(TAGS), dtype=torch.long)
        both = [*((first, last, tag) for first, last, tag, _ in self.values), *self.parts]
        for first, last, tag in sorted(both, key=lambda one: one[0] - one[1]):
            found[first:last, tag] = 2
            found[first, tag] = 1
        if self.only is not None:
            found[:, [tag for tag in range(len(TAGS)) if tag != self.only]] = UNKNOWN
        return found


class Shared:
    """Runs texts through the layers that are shared."""

    def __init__(self, model: Path, tuned: Path) -> None:
        published = Published(model)
        self._known: dict[tuple[str, str, int], Tensor] = {}
        self._tokenizer = Unigram(published.tables(), published.unknown)
        self._begin, self._end, self._pad = published.begin, published.end, published.pad
        self.network = Network(published, 12 - SHARED)
        for number, weights in layers_of(tuned).items():
            layer = (*self.network.below, *self.network.above)[number]
            layer.load_state_dict({name: torch.from_numpy(one) for name, one in weights.items()})

    def messages(self, data: Sequence[Labelled], draw: random.Random, rank: int, processes: int) -> list[Read]:
        """The messages, each half of the time behind its speaker's name. Processes share the work."""
        texts = [(self._named(one.speaker, draw), one.text, MOST) for one in data]
        texts += [
            (self._named(one.before[0], draw), one.before[1][-TAIL:], -BEFORE) if one.before else ("", "", 1)
            for one in data
        ]
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for begin in range(0, len(new), GATHERED):
            of_all: list[list[Tensor]] = [[]] * processes
            some = new[begin : begin + GATHERED]
            distributed.all_gather_object(of_all, self._states(some[rank::processes]))
            for first, found in enumerate(of_all):
                self._known |= zip(some[first::processes], found, strict=True)
        before = map(self._known.__getitem__, texts[len(data) :])
        made = (
            self._message(one, text, self._known[text], rows)
            for one, text, rows in zip(data, texts, before, strict=False)
        )
        return [one for one in made if one.last > one.first]

    @staticmethod
    def _named(speaker: str, draw: random.Random) -> str:
        return speaker if speaker.lower() not in NOBODY and draw.random() < 0.5 else ""

    def _pieces(self, name: str, text: str, most: int) -> tuple[list[int], list[Word]]:
        """The ids of what stands before the text, and the words of the text."""
        ahead = self._tokenizer.words(f"passage: {name}: " if name else "passage: ", MOST)
        return [self._begin, *(id_ for word in ahead for id_ in word.ids)], self._tokenizer.words(text, most)

    def _states(self, texts: Sequence[tuple[str, str, int]]) -> list[Tensor]:
        """The rows of each text's first pieces, or of its last ones if their number is negative."""
        ids, kept = [], []
        for name, text, most in texts:
            ahead, words = self._pieces(name, text, max(most, MOST))
            own = [id_ for word in words for id_ in word.ids][: max(most, MOST)]
            ids.append([*ahead, *own, self._end])
            first = 0 if most > 0 else max(0, len(ids[-1]) + most)
            kept.append(slice(first, None))
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        found: list[Tensor] = [torch.empty(0)] * len(ids)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            for begin in range(0, len(order), AT_ONCE):
                some = order[begin : begin + AT_ONCE]
                padded = torch.full((len(some), max(len(ids[i]) for i in some)), self._pad)
                real = torch.zeros(padded.shape, dtype=torch.bool)
                for row, i in enumerate(some):
                    padded[row, : len(ids[i])], real[row, : len(ids[i])] = torch.tensor(ids[i]), True
                rows = self.network.below.run(self.network.embedded(padded), real)
                for row, i in enumerate(some):
                    found[i] = rows[row, : len(ids[i])][kept[i]].half().clone()
        return found

    def _message(self, one: Labelled, text: tuple[str, str, int], now: Tensor, before: Tensor) -> Read:
        ahead, words = self._pieces(*text)
        places = self._tokenizer.places(one.text, words)[:MOST]
        rows = torch.cat((before, now)) if one.before else now
        first = len(rows) - len(now) + len(ahead)

        def pieces(span: Span | None) -> tuple[int, int] | None:
            if span is None:
                return None
            inside = [i for i, (start, end) in enumerate(places) if start < span[1] and end > span[0]]
            return (first + inside[0], first + inside[-1] + 1) if inside else None

        values = [
            (*found, GROUPS.index(GROUP_OF[claim.attribute]), claim)
            for claim in one.claims
            if (found := pieces(claim.value)) is not None
        ]
        parts = [
            (*found, TAGS.index(tag))
            for claim in one.claims
            for tag, span in (("who", claim.who), ("time", claim.time), ("rel", claim.relation))
            if (found := pieces(span)) is not None
        ]
        return Read(
            rows=rows,
            ahead=len(rows) - len(now),
            first=first,
            last=first + len(places),
            values=tuple(values),
            parts=tuple(dict.fromkeys(parts)),
            only=GROUPS.index(GROUP_OF[one.only]) if one.only else None,
        )


def judgements(claim: Claim) -> dict[str, int]:
    """The right answers for a labelled value."""

    def of(names: Sequence[str]) -> int:
        return next((place for place, name in enumerate(names) if name in claim.flags), 0)

    return {
        "attr": ATTRIBUTES.index(claim.attribute),
        "whose": PERSONS.index(claim.person),
        "stance": of(STANCES),
        "tense": of(TENSES),
        "neg": int("not" in claim.flags),
        "change": of(CHANGES),
        "low": int("low" in claim.flags),
        "trig": int(claim.event),
    }


def loss(reader: Reader, batch: Sequence[Read], draw: random.Random) -> Tensor:
    """Of a batch: by tags, and by judgements."""
    longest = max(len(one.rows) for one in batch)
    rows, kinds = torch.zeros(len(batch), longest, HIDDEN), torch.zeros(len(batch), longest, dtype=torch.long)
    real = torch.zeros(len(batch), longest, dtype=torch.bool)
    target = torch.full((len(batch), longest, len(TAGS)), UNKNOWN)
    for row, one in enumerate(batch):
        rows[row, : len(one.rows)], real[row, : len(one.rows)] = one.rows.float(), True
        kinds[row, one.ahead : len(one.rows)] = 1
        target[row, one.first : one.last] = one.target()[one.first : one.last]
    with torch.autocast("cpu", torch.bfloat16):
        states = reader.states(rows, kinds, real)
    tags = reader.tags(states.float())
    weights = torch.tensor([OF_CLAUSES if tag in CLAUSES else 1.0 for tag in TAGS])
    each = functional.cross_entropy(
        tags.permute(0, 3, 1, 2), target, weight=torch.tensor(OF_TAGS), ignore_index=UNKNOWN, reduction="none"
    )
    by_tags = (each * weights).sum() / (target != UNKNOWN).any(-1).sum().clamp(min=1)
    stretches, right = _stretches(batch, tags.detach(), draw)
    if not stretches:
        return by_tags
    told = reader.judged(states.float(), real, stretches)
    nothing = len(ATTRIBUTES)
    judged = functional.cross_entropy(told["attr"], torch.tensor([one["attr"] if one else nothing for one in right]))
    known = [(place, one) for place, one in enumerate(right) if one is not None]
    if known:
        places = [place for place, _ in known]
        for name, weight in OF_JUDGED.items():
            answers = torch.tensor([one[name] for _, one in known])
            judged = judged + weight * functional.cross_entropy(told[name][places], answers)
    return by_tags + JUDGEMENTS * judged


def _stretches(
    batch: Sequence[Read], tags: Tensor, draw: random.Random
) -> tuple[list[Stretch], list[dict[str, int] | None]]:
    """The stretches that are judged, and what is right of them; None: no value of that group."""
    stretches: list[Stretch] = []
    right: list[dict[str, int] | None] = []
    likely = tags.softmax(-1)
    likely[..., 0] -= 0.5 - LEAST
    best = likely.argmax(-1)
    for row, one in enumerate(batch):
        for first, last, group, claim in one.values:
            stretches.append((row, first, last, group))
            right.append(judgements(claim))
        wrong = [(first, last, draw.randrange(len(GROUPS))) for first, last, *_ in one.values if draw.random() < 0.5]
        if (not one.values or draw.random() < 0.3) and one.last - one.first > 1:
            first = draw.randrange(one.first, one.last)
            wrong.append((first, min(one.last, first + draw.randint(1, 5)), draw.randrange(len(GROUPS))))
        said = list(_tagged(best[row, one.first : one.last], one.first))
        wrong += draw.sample(said, min(3, len(said)))
        for first, last, group in wrong:
            if one.only not in (None, group):
                continue
            if not any(group == other and first < end and begin < last for begin, end, other, _ in one.values):
                stretches.append((row, first, last, group))
                right.append(None)
    return stretches, right


def _tagged(best: Tensor, ahead: int) -> Iterator[tuple[int, int, int]]:
    """The stretches that are tagged with a group."""
    for group in best[:, : len(GROUPS)].any(0).nonzero().flatten().tolist():
        tags = best[:, group].tolist()
        place = 0
        while place < len(tags):
            end = place + 1
            if tags[place]:
                while end < len(tags) and tags[end] == 2:
                    end += 1
                yield ahead + place, ahead + end, group
            place = end


def batches(data: Sequence[Read], plan: Plan, turn: int) -> list[list[int]]:
    """One pass; messages of about one length stand together."""
    draw = random.Random(f"{plan.seed}/{turn}")
    order = draw.sample(range(len(data)), len(data))
    found = []
    for begin in range(0, len(order), 8 * plan.messages):
        some = sorted(order[begin : begin + 8 * plan.messages], key=lambda i: len(data[i].rows))
        found += [some[first : first + plan.messages] for first in range(0, len(some), plan.messages)]
    draw.shuffle(found)
    return found


def train(
    rank: int, processes: int, meeting: str, model: Path, tuned: Path, target: Path, data: list[Labelled], plan: Plan
) -> None:
    """What each process does; the first tells how it goes, and writes the weights."""
    torch.set_num_threads(1)
    torch.manual_seed(plan.seed)
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=processes)
    variants, above = _variants(Shared(model, tuned), data, random.Random(plan.seed), rank, processes)
    messages = variants[0]
    draw, noise = random.Random(f"{plan.seed}/{rank}"), torch.Generator().manual_seed(plan.seed + rank)
    reader = Reader(above, plan.dropped)
    for layer in reader.above.modules():
        if isinstance(layer, Layer):
            layer.dropout.p = DROPPED_WITHIN
    if plan.begin is not None:
        reader.load_state_dict(weights_of(plan.begin))
    layers = list(reader.above.parameters())
    heads = [one for name, one in reader.named_parameters() if not name.startswith("above.")]
    parameters = [*layers, *heads]
    groups = [{"params": layers, "highest": plan.rate}, {"params": heads, "highest": plan.rate_of_heads}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    mean = [one.detach().clone() for one in parameters]
    steps = [batch for turn in range(plan.passes) for batch in batches(messages, plan, turn)]
    began, total = time.monotonic(), 0.0
    for step, batch in enumerate(steps):
        share = (step + 1) / len(steps)
        for group in optimizer.param_groups:
            group["lr"] = group["highest"] * min(share / WARM_UP, max(0.02, 1.0 - share))
        chosen = batch[rank::processes] or batch[:1]
        mine = [variants[draw.randrange(2)][i].varied(draw, noise) for i in chosen]
        optimizer.zero_grad()
        found = loss(reader, mine, random.Random(f"{plan.seed}/{step}/{rank}"))
        found.backward()
        gradients = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
        distributed.all_reduce(gradients)
        for one, gradient in zip(parameters, gradients.split([p.numel() for p in parameters]), strict=True):
            one.grad = gradient.view_as(one) / processes
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        with torch.no_grad():
            for known, one in zip(mean, parameters, strict=True):
                known.lerp_(one, max(MEAN, 1.0 / (step + 1)))
        total += found.item()
        if rank == 0 and (step + 1) % 50 == 0:
            spent = time.monotonic() - began
            print(f"{step + 1} of {len(steps)} steps, loss {total / 50:.3f}, {spent:.0f} s", flush=True)
            total = 0.0
    if rank == 0:
        with torch.no_grad():
            for known, one in zip(mean, parameters, strict=True):
                one.copy_(known)
        torch.save(reader.state_dict(), target)
        print(f"{target}: trained on {len(messages):,} messages")


def _variants(
    shared: Shared, data: list[Labelled], draw: random.Random, rank: int, processes: int
) -> tuple[list[list[Read]], Layers]:
    """The messages as they are and with other values, in one order; and the layers to be trained."""
    found = [shared.messages(some, draw, rank, processes) for some in (data, replaced(data, draw))]
    return found, shared.network.above


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("tuned", type=Path)
    parser.add_argument("reader", type=Path)
    parser.add_argument("--talk", type=Path, help="the folder with talk of other sources")
    parser.add_argument("--passes", type=int, default=9)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--rate-of-heads", type=float, default=2e-3)
    parser.add_argument("--messages", type=int, default=48, help="in a batch")
    parser.add_argument("--dropped", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--begin", type=Path, help="what an earlier training left, or what ships, to go on from")
    parser.add_argument("--held-out", default="w6,w9,w10,w24,w25", help="writers whose people are not trained on")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--messages-of-all", type=int, help="how many are drawn of those with all labels; without, all")
    parser.add_argument("--requests", type=int, default=1, help="how often a pass takes each message of data/requests")
    given = parser.parse_args()
    held_out = set(given.held_out.split(","))
    data = [one for one in labelled(given.talk) if one.writer not in held_out]
    if given.messages_of_all is not None:
        data = random.Random(given.seed).sample(data, given.messages_of_all)
    data += [one for one in requests() if one.writer not in held_out] * given.requests
    of_talk = sum(one.writer == TALK for one in data)
    labels = sum(len(one.claims) for one in data)
    print(f"{len(data):,} messages, {of_talk:,} of them talk; {labels:,} labels", flush=True)
    plan = Plan(
        passes=given.passes,
        rate=given.rate,
        rate_of_heads=given.rate_of_heads,
        messages=given.messages,
        dropped=given.dropped,
        seed=given.seed,
        begin=given.begin,
    )
    with tempfile.TemporaryDirectory() as folder:
        rest = (given.processes, f"{folder}/meeting", given.model, given.tuned, given.reader, data, plan)
        multiprocessing.spawn(train, rest, nprocs=given.processes)


if __name__ == "__main__":
    main()
