"""Measure what `export.py` needs of the encoder's layers in float32 on our own texts. Needs numpy only.

    python encoder/calibrate.py MODEL CALIBRATED [TUNED] [--passages 3000] [--queries 1000]

MODEL and TUNED as for `export.py`; CALIBRATED is written. Passages are messages of `data/people`, queries are those of
`data/queries`, drawn evenly over the files. Measured are the largest input of each channel of each dense layer; the
mean vector of passages and of queries; the mean of the passages' token states, and the 128 directions along which these
states, about their mean and with norm 1, vary most.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from export import layers_of
from float_layers import layer, normed
from histories import DATA, life

from embermem.embedders.convert import LAYERS, Published, unpacked
from embermem.embedders.unigram import Unigram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

TOKEN_DIM = 128
# Pieces of a text that are read.
MOST = 254


class Encoder:
    """The published encoder with the tuned layers in place of its own, in float32."""

    def __init__(self, model: Published, tuned: Mapping[int, Mapping[str, Floats]]) -> None:
        self._tokenizer = Unigram(model.tables(), model.unknown)
        self._begin, self._end = model.begin, model.end
        self._table, self._positions, self._norm = model.blocks("emb.word", 384), model.positions(), model.norm()
        self._layers = [tuned.get(number) or model.layer(number) for number in range(LAYERS)]
        self.maxima: dict[str, Floats] = {}

    def states(self, text: str) -> Floats:
        """The last hidden states of a text with its prefix (t, 384). What each dense layer is given enters `maxima`."""
        ids = [id_ for word in self._tokenizer.words(text, MOST) for id_ in word.ids][:MOST]
        row = np.array([self._begin, *ids, self._end])
        rows = normed(unpacked(self._table[row]) + self._positions[: len(row)], *self._norm)
        for number, weights in enumerate(self._layers):
            rows = layer(rows, weights, partial(self._see, number))
        return rows

    def _see(self, number: int, name: str, inputs: Floats) -> None:
        largest, key = np.abs(inputs).max(axis=0), f"maxima.{number}.{name}"
        self.maxima[key] = np.maximum(self.maxima.get(key, largest), largest)


def drawn(groups: Sequence[Sequence[str]], count: int) -> list[str]:
    """So many texts, evenly of the groups."""
    draw = random.Random(1)
    each = -(-count // len(groups))
    texts = [text for group in groups for text in draw.sample(group, min(each, len(group)))]
    draw.shuffle(texts)
    return texts[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("calibrated", type=Path)
    parser.add_argument("tuned", type=Path, nargs="?")
    parser.add_argument("--passages", type=int, default=3000)
    parser.add_argument("--queries", type=int, default=1000)
    given = parser.parse_args()
    encoder = Encoder(Published(given.model), layers_of(given.tuned))
    people = [[said.text for said in life(path)] for path in sorted(DATA.glob("people/*/*.txt"))]
    asked = [
        [json.loads(line)["query"] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        for path in sorted(DATA.glob("queries/*/*.jsonl"))
    ]
    passages = [encoder.states(f"passage: {text}") for text in drawn(people, given.passages)]
    queries = [encoder.states(f"query: {text}") for text in drawn(asked, given.queries)]
    tokens = np.concatenate([states[3:-1] for states in passages])  # <s>, "passage" and ":" come before a text
    mean = tokens.mean(axis=0)
    centred = tokens - mean
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    _, directions = np.linalg.eigh(centred.T @ centred)
    np.savez(
        given.calibrated,
        allow_pickle=False,
        **encoder.maxima,
        **{
            "mean.passage": np.mean([states.mean(axis=0) for states in passages], axis=0),
            "mean.query": np.mean([states.mean(axis=0) for states in queries], axis=0),
            "mean.tokens": mean,
            "rotation": np.ascontiguousarray(directions[:, ::-1][:, :TOKEN_DIM]),
        },
    )
    print(f"{given.calibrated}: {len(passages)} passages, {len(queries)} queries, {len(tokens):,} tokens")


if __name__ == "__main__":
    main()
