"""The reader's network: four layers over the encoder's states of a message and of the one before, and linear heads.

Layers and heads are graphs (`layers.onnx`, `judge.onnx`, made by `scripts/build_graphs.py`). Each piece is
tagged for each group of attributes and each part of a statement: outside, begins, inside. Each stretch that is tagged
with a group is then judged as a whole. What a stretch is must be agreed on by both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.embedders.graphs import run, session
from embermem.reader.labels import ATTRIBUTES, CHANGES, GROUP_OF, GROUPS, JUDGED, PERSONS, STANCES, TAGS, TENSES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["NAME", "Judged", "Network", "Stretch", "softmax", "stretches"]

NAME = "reader-5"

# A piece is taken for a part of a stretch from this probability that it is not outside.
LEAST = 0.25
_OF_GROUP = {group: [i for i, name in enumerate(ATTRIBUTES) if GROUP_OF[name] == group] for group in GROUPS}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Pieces [first, last) of the rows that are tagged, and the mean probability of it."""

    tag: str
    first: int
    last: int
    probability: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A value: what both heads say of it. `confidence` is the geometric mean of what must hold for it to be a fact."""

    stretch: Stretch
    attribute: str
    person: str
    tense: str
    negated: bool
    change: str
    event: bool
    confidence: float


class Network:
    """Layers and heads; immutable once made."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], path: Path) -> None:
        """`arrays` are those of `reader.safetensors` (of `path`). Raises EmbedderError if they do not fit."""
        layers = {name: one for name, one in arrays.items() if name.startswith("layer.")}
        heads = {name: one.astype(np.float32) for name, one in arrays.items() if not name.startswith("layer.")}
        self._kinds = heads.pop("kinds")
        tag = {name: heads.pop(name) for name in ("tag.weight", "tag.bias")}
        self._layers = session("embermem.reader", "layers.onnx", {**layers, **tag}, path)
        self._judge = session("embermem.reader", "judge.onnx", heads, path)
        self._kept = layers, heads, tag

    def states(self, now: Floats, before: Floats) -> tuple[Floats, Floats]:
        """Of shared states of a message and of the one before (none: no row), which come first: the last states
        (t, 384) and the probabilities of the tags (t, tags, 3)."""
        rows = np.concatenate((before + self._kinds[0], now + self._kinds[1]))
        states, tags = run(self._layers, ["states", "tags"], {"rows": rows}, NAME)
        return states, softmax(tags.reshape(len(rows), len(TAGS), 3))

    def judged(self, states: Floats, stretches: Sequence[Stretch]) -> list[Judged]:
        """What the values among the stretches are; those that are of no group are left out."""
        values = [one for one in stretches if one.tag in GROUPS]
        if not values:
            return []
        shares = np.zeros((len(values), len(states)), dtype=np.float32)
        for row, one in zip(shares, values, strict=True):
            row[one.first : one.last] = 1.0 / (one.last - one.first)
        given = {
            "states": states,
            "shares": shares,
            "first": np.array([one.first for one in values]),
            "last": np.array([one.last - 1 for one in values]),
            "group": np.array([GROUPS.index(one.tag) for one in values]),
        }
        (told,) = run(self._judge, ["told"], given, NAME)
        parts = np.split(told, np.cumsum(list(JUDGED.values()))[:-1], axis=1)
        of_all = dict(zip(JUDGED, map(softmax, parts), strict=True))
        return [_judged(one, {name: rows[i] for name, rows in of_all.items()}) for i, one in enumerate(values)]


def stretches(tags: Floats, first: int, last: int) -> list[Stretch]:
    """The stretches among the rows [first, last) of a message, by the probabilities of its tags."""
    shifted = tags[first:last].copy()
    shifted[..., 0] -= 0.5 - LEAST
    best = shifted.argmax(axis=-1)
    return [
        Stretch(TAGS[tag], first + begin, first + end, float(1.0 - tags[first + begin : first + end, tag, 0].mean()))
        for tag in np.flatnonzero(best.any(axis=0)).tolist()
        for begin, end in _tagged(best[:, tag].tolist())
    ]


def _judged(stretch: Stretch, told: Mapping[str, Floats]) -> Judged:
    among = _OF_GROUP[stretch.tag]
    asserted = told["stance"][STANCES.index("assert")] + told["stance"][STANCES.index("answer")]
    person = int(told["whose"].argmax())
    agreed = stretch.probability * told["attr"][among].sum() * asserted * told["low"][0] * told["whose"][person]
    return Judged(
        stretch=stretch,
        attribute=ATTRIBUTES[max(among, key=lambda i: float(told["attr"][i]))],
        person=PERSONS[person],
        tense=TENSES[int(told["tense"].argmax())],
        negated=bool(told["neg"][1] > 0.5),
        change=CHANGES[int(told["change"].argmax())],
        event=bool(told["trig"][1] > 0.5),
        confidence=math.sqrt(float(agreed)),
    )


def _tagged(best: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Begin and end of the stretches of one tag: 0 outside, 1 begins, 2 inside."""
    place = 0
    while place < len(best):
        end = place + 1
        if best[place]:
            while end < len(best) and best[end] == 2:
                end += 1
            yield place, end
        place = end


def softmax(numbers: Floats) -> Floats:
    """Probabilities along the last axis."""
    powers = np.exp(numbers - numbers.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
