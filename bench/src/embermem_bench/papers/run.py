"""`embermem bench paper`: all experiments of the papers, part by part, and the page that they make.

Each part is a run of `bench run` in `runs/`, so that what is done is not done again after any interruption. Parts on
the same data share the recordings of model calls in `calls/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from embermem.core.errors import ConfigError
from embermem_bench import ProgressFn, datasets, running, workspace
from embermem_bench.datasets import Dataset
from embermem_bench.papers import page
from embermem_bench.papers.experiments import Data, Part, chosen, data_of
from embermem_bench.plan import Plan
from embermem_bench.tracing import Price, Purse

if TYPE_CHECKING:
    from embermem.protocols import LanguageModel
    from embermem_bench.running import Left

__all__ = ["Experiments", "paid", "run"]

_NAMES: Final = {"locomo": "LoCoMo", "gvd": "GVD"}
CALLS: Final = "calls"
"""The folder of the recordings, one for each kind of data."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Experiments:
    """What is asked for: the data, the parts, and how much of each. `sets` are the data sets of the files in `data`."""

    data: tuple[Path, ...]
    sets: tuple[Dataset, ...]
    parts: tuple[Part, ...]
    seeds: tuple[int, ...] = (0,)
    limit: int | None = None
    conversations: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        data: Sequence[Path],
        parts: Sequence[str] = (),
        *,
        seeds: Sequence[int] = (0,),
        limit: int | None = None,
        conversations: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> Experiments:
        """Reads the data. `without`: systems that are left out. Raises InputError, ConfigError."""
        sets = tuple(datasets.load(path) for path in data)
        there = {talk.id for dataset in sets for talk in dataset.conversations}
        if missing := sorted(set(conversations) - there):
            raise ConfigError(f"no conversation {missing[0]!r}; there are: {', '.join(sorted(there))}")
        return cls(
            data=tuple(data),
            sets=sets,
            parts=chosen(parts, without),
            seeds=tuple(seeds),
            limit=limit,
            conversations=tuple(conversations),
        )

    def plans(self) -> Iterator[tuple[Part, Plan]]:
        """The parts for which there are data, as runs. Raises ConfigError."""
        for part in self.parts:
            paths, wanted = self.of_kind(part.data)
            if paths and part.entries:
                yield (
                    part,
                    Plan(
                        data=paths,
                        systems=part.systems,
                        seeds=self.seeds,
                        limit=self.limit,
                        conversations=wanted,
                        judges=part.judges,
                        replies=part.replies,
                    ),
                )

    def of_kind(self, kind: Data) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        """The files of one kind, and the conversations of them that are wanted; no file if none of these is in it."""
        pairs = [
            (path, dataset)
            for path, dataset in zip(self.data, self.sets, strict=True)
            if data_of(dataset, path.name) == kind
        ]
        there = {talk.id for _, dataset in pairs for talk in dataset.conversations}
        wanted = tuple(name for name in self.conversations if name in there)
        return () if self.conversations and not wanted else tuple(path for path, _ in pairs), wanted

    def reasons(self) -> Mapping[str, str]:
        """Why parts are not run, where it is not that they were not asked for."""
        return {
            part.name: "its systems are left out" if not part.entries else f"no {_NAMES[part.data]} data were given"
            for part in self.parts
            if not part.entries or not self.of_kind(part.data)[0]
        }


def run(
    wanted: Experiments,
    out: Path,
    *,
    model: LanguageModel,
    judge: LanguageModel | None = None,
    money: float | None = None,
    prices: tuple[Price, Price] = (Price(), Price()),
    scripted: bool = False,
    told: ProgressFn = lambda what, done, total: None,
    left: Callable[[Left], None] = lambda left: None,
    **settings: Any,
) -> tuple[Path, ...]:
    """Runs what is not yet run in `out` and writes the page, after each part and however it ends. The page's files.

    `money` is the most that all runs in `out` may cost together, at the prices of the model and of the judge: beyond
    it BudgetSpent ends the run. `scripted` is said on every table. Raises as `running.run`.
    """
    files: tuple[Path, ...] = ()
    with workspace.held(out):
        for kind in ("locomo", "gvd"):
            (out / CALLS / kind).mkdir(parents=True, exist_ok=True)
        purse = Purse(money=money, paid=paid(out, prices))
        for part, plan in wanted.plans():

            def told_of(what: str, done: int, total: int, name: str = part.name) -> None:
                told(f"{name}: {what}", done, total)

            try:
                running.run(
                    plan,
                    out / page.RUNS / part.name,
                    model=model,
                    judge=judge,
                    purse=purse,
                    prices=prices,
                    recordings=out / CALLS / part.data,
                    told=told_of,
                    left=left,
                    **settings,
                )
            finally:
                files = page.write(out, wanted.reasons(), scripted=scripted)
    return files


class _Reply(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int


class _Call(msgspec.Struct):
    reply: _Reply


def paid(out: Path, prices: tuple[Price, Price]) -> float:
    """What the calls that are recorded in `out` cost, at the prices of the model and of the judge."""
    decoder, total = msgspec.json.Decoder(_Call), 0.0
    for name, price in zip(("calls", "judged"), prices, strict=True):
        for file in sorted((out / CALLS).glob(f"*/{name}-*.jsonl")):
            with file.open("rb") as lines:
                for line in lines:
                    if line.endswith(b"}}\n"):
                        reply = decoder.decode(line).reply
                        total += price.of(reply.prompt_tokens, reply.completion_tokens)
    return total
