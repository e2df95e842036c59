"""Fit the weights of `analysts/continuity.py`: whether a page goes on with what its thread was about.

    python reader/fit_continuity.py

Each line of `data/topics/*.jsonl` is a conversation whose exchanges are marked with what they are about. They are
stored as they are, with chains as they should be, and the signs of each page and the one before it are noted. Needs
Ember alone, with its weights. It prints what a fit on the other writers says of each writer's pages, and then the
weights. Some minutes, on one core.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from fit_newest import fitted

from embermem.analysts.continuity import Signs, signs
from embermem.memory import Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HERE = Path(__file__).parent
SHRUNK = 3e-3
"""The penalty on squares, for each page."""
LEAST = (0.6, 0.7, 0.75, 0.8, 0.85)


def noted(conversation: dict[str, Any], memory: Memory) -> Iterator[tuple[Signs, bool]]:
    """The signs of the pages of a conversation, each with whether it is of the matter of the one before."""
    owner = memory.of(conversation["id"], agent="Assistant")
    matters: dict[str, str] = {}
    found: list[tuple[Signs, bool]] = []

    def recorded(before: Any, summary: str, now: Any, _: object) -> bool:
        first, second = (matters[one.page.utterances[0].id] for one in (before, now))
        found.append((signs(before, summary, now), first == second))
        return bool(first == second)

    for one in conversation["exchanges"]:
        said = [("user", one["user"], conversation["speaker"]), ("assistant", one["assistant"], "Assistant")]
        messages = [{"role": r, "content": text, "name": who, "at": one["at"] + "+00:00"} for r, text, who in said]
        for name in owner.add_messages(messages, thread=one["at"][:10]).utterance_ids:
            matters[name] = one["matter"]
    with patch("embermem.analysts.extractive.continues", recorded):
        owner.settle()
    yield from found


def weights_of(x: Floats, y: NDArray[np.bool_]) -> Floats:
    """The base and the weights of a logistic regression."""
    return np.roll(fitted(x, y.astype(np.float64), SHRUNK * len(x)), 1)


def main() -> None:
    rows, same, writers = [], [], []
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "m.db", background=False) as memory:
        for path in sorted((HERE / "data" / "topics").glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                for found, is_same in noted(json.loads(line), memory):
                    rows.append([0.0 if sign is None else sign for sign in found])
                    same.append(is_same)
                    writers.append(path.stem)
    x, y, writer = np.array(rows), np.array(same), np.array(writers)
    for name, columns in (("with vectors", x), ("by words", x[:, :-1])):
        for one in sorted(set(writers)):
            of = writer == one
            weights = weights_of(columns[~of], y[~of])
            p = 1.0 / (1.0 + np.exp(-weights[0] - columns[of] @ weights[1:]))
            told = [
                (t, round(float((p[y[of]] >= t).mean()), 2), round(float((p[~y[of]] >= t).mean()), 2)) for t in LEAST
            ]
            print(f"{one}: of {of.sum()} pages joined from, rightly, wrongly: {told}")
        print(f"{name}:", ", ".join(f"{one:.2f}" for one in weights_of(columns, y)))


if __name__ == "__main__":
    main()
