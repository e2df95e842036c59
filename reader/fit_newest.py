"""Fit the weights of `memoryos/recall/newest.py`: whether a newer statement takes the place of an older one.

    python reader/fit_newest.py

Each line of `data/newest/*.jsonl` is what one person said over months, and a query: `a` and `b` are phrases of two of
the messages; of kind `replaced` the second takes the place of the first, of kind `both` both hold, of kind `apart` the
second is alike and of another matter. Needs Ember alone, with its weights. It prints what a fit on the other writers
says of each writer's items, and then the weights. A minute, on one core.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from embermem.memory import Memory
from embermem.memoryos.recall import newest, retrieval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.index.query_context import View

    Floats = NDArray[np.float64]

HERE = Path(__file__).parent
ASKED_AFTER = timedelta(days=20)
SHRUNK, ROUNDS = 1.0, 30
LEAST = (0.3, 0.4, 0.5, 0.55, 0.6, 0.7)
KINDS = ("replaced", "both", "apart")


@dataclass(frozen=True, slots=True)
class Sample:
    """The signs of a pair of an item, and whether the newer takes the place of the older."""

    writer: str
    item: str
    kind: str
    signs: tuple[float, ...]
    replaced: bool


def samples() -> Iterator[Sample]:
    """The pairs of all items whose query asks for one matter as it is now."""
    asked: list[tuple[View, list[newest.Pair]]] = []

    def noted(view: View, rows: list[int], scores: list[float]) -> tuple[dict[int, int], dict[int, int]]:
        asked.append((view, list(newest.pairs(view, rows, scores))))
        return {}, {}

    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(Path(folder) / "items.db", background=False) as memory,
        patch.object(retrieval, "newer_of", noted),
    ):
        for path in sorted((HERE / "data" / "newest").glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                item = json.loads(line)
                name, said = f"{path.stem}/{item['id']}", item["messages"]
                owner = memory.of(name, timezone="UTC")
                for one in said:
                    owner.add(one["text"], at=_day(one["at"]))
                owner.settle()
                asked.clear()
                owner.recall(item["query"], at=_day(said[-1]["at"]) + ASKED_AFTER)
                older, newer = (next(one["text"] for one in said if item[key] in one["text"]) for key in "ab")
                for view, found in asked[-1:]:
                    for pair in found:
                        texts = view.snapshot.text(pair.older), view.snapshot.text(pair.newer)
                        replaced = item["kind"] == "replaced" and texts == (older, newer)
                        yield Sample(path.stem, name, item["kind"], pair.signs, replaced)


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(hour=12, tzinfo=UTC)


def fitted(signs: Floats, replaced: Floats, shrunk: float = SHRUNK) -> Floats:
    """The weights of a logistic regression with ridge penalty, and its base last (Newton's method)."""
    mean, spread = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    inputs = np.column_stack(((signs - mean) / spread, np.ones(len(signs))))
    penalty = np.diag([shrunk] * signs.shape[1] + [0.0])
    weights = np.zeros(inputs.shape[1])
    for _ in range(ROUNDS):
        told = 1.0 / (1.0 + np.exp(-inputs @ weights))
        slope = inputs.T @ (replaced - told) - penalty @ weights
        weights += np.linalg.solve((inputs * (told * (1.0 - told))[:, None]).T @ inputs + penalty, slope)
    own = weights[:-1] / spread
    return np.append(own, weights[-1] - own @ mean)


def main() -> None:
    data = list(samples())
    signs, replaced = np.array([one.signs for one in data]), np.array([float(one.replaced) for one in data])
    writers = np.array([one.writer for one in data])
    told = np.zeros(len(data))
    for writer in sorted(set(writers)):
        of = writers == writer
        weights = fitted(signs[~of], replaced[~of])
        told[of] = 1.0 / (1.0 + np.exp(-signs[of] @ weights[:-1] - weights[-1]))
    print("items: " + ", ".join(f"{len({one.item for one in data if one.kind == kind})} {kind}" for kind in KINDS))
    for least in LEAST:
        said = [one for one, probability in zip(data, told, strict=True) if probability >= least]
        wrong = [len({one.item for one in said if one.kind == kind and not one.replaced}) for kind in KINDS]
        right = len({one.item for one in said if one.replaced})
        print(
            f"from {least:.2f}: {right} replaced found; items with a wrong pair: {dict(zip(KINDS, wrong, strict=True))}"
        )
    print("weights:", np.round(fitted(signs, replaced), 2).tolist())


if __name__ == "__main__":
    main()
