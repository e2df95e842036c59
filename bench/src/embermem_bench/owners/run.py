"""`embermem bench owners`: a million rows that are asked, and the peak of a day that is simulated."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from embermem.core.config import Settings
from embermem.core.errors import ConfigError
from embermem_bench import places
from embermem_bench.owners.load import Load, Queue, Waits, arrivals, popularity, served
from embermem_bench.owners.rows import DuePoint, Filled, Timed, connections, due_points, filled, questions
from embermem_bench.owners.unit import Cost, Memories, Prices, Units, cost_of, memories, real_hit_rate, units
from embermem_bench.places import Place

__all__ = ["PARTS", "Connections", "OwnersReport", "Plan", "Real", "Workers", "run"]

PARTS = ("rows", "memory", "workers")
"""What may be measured alone: rows that are asked; the working set; turns of workers with what an owner costs."""
_WEBHOOKS_AND_LEASES = 2
"""Threads of a worker beside those that work: one delivers webhooks, one renews leases."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What is measured and simulated. `whole` owners have all their rows, the others the owner's row alone; `due` are
    shares of the owners, `turns` are claimed and released at each. `real_owners` test the simulated memory, with
    `real_asks` recalls. `unit_pages` measure what a page costs. `servers` and `workers` are processes for which
    connections are counted; `noisy_pages` are brought at once by one owner while workers are simulated."""

    parts: tuple[str, ...] = PARTS
    load: Load = field(default_factory=Load)
    whole: int = 5000
    due: tuple[float, ...] = (0.001, 0.01, 0.1)
    turns: int = 1000
    real_owners: int = 2000
    real_asks: int = 4000
    resident_shares: tuple[float, ...] = (0.01, 0.05, 0.1, 0.25)
    asks: int = 1_000_000
    unit_pages: int = 100
    embedder: str = "hashed"
    servers: int = 4
    workers: int = 4
    noisy_pages: int = 20_000
    prices: Prices = field(default_factory=Prices)

    def __post_init__(self) -> None:
        if unknown := set(self.parts) - set(PARTS):
            raise ConfigError(f"no part {', '.join(sorted(unknown))}; one of: {', '.join(PARTS)}")
        if not 0 < self.whole < self.load.owners:
            raise ConfigError("--whole is at least one, and less than the owners")


@dataclass(frozen=True, kw_only=True, slots=True)
class Connections:
    """Connections to a PostgreSQL server: measured of one process with these threads, and of all processes together."""

    process: str
    threads: int
    each: int
    processes: int
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Real:
    """The share of recalls whose owner is in memory: measured on the real working set of a process, and simulated."""

    owners: int
    asks: int
    resident_share: float
    measured: float
    simulated: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Workers:
    """How long owners wait for a worker at the peak of the day; with one owner who brings many pages at once, in slices
    and without."""

    processes: int
    noisy_pages: int
    slice_pages: int
    waits: Waits


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnersReport:
    """All figures. Figures of parts that were not asked for are absent."""

    cores: int
    load: Load
    prices: Prices
    filled: tuple[Filled, ...]
    due: dict[str, tuple[DuePoint, ...]]
    questions: dict[str, tuple[Timed, ...]]
    connections: tuple[Connections, ...]
    real: Real | None
    memories: tuple[Memories, ...]
    units: Units | None
    workers: tuple[Workers, ...]
    costs: tuple[Cost, ...]
    seconds: float


def run(
    folder: Path,
    plan: Plan,
    *,
    url: str | None = None,
    embedded: bool = False,
    told: Callable[[str], None] = lambda what: None,
) -> OwnersReport:
    """Measure as planned, in a folder, and on a PostgreSQL if there is one: on `url`, or with `embedded` on one that is
    started here. Where there is one, the rows are made there, else in a file. Raises StoreError, ConfigError."""
    began = time.monotonic()
    report: dict[str, object] = {}
    with ExitStack() as stack:
        where = stack.enter_context(places.embedded()) if embedded else url
        if "rows" in plan.parts:
            with _place(folder, "rows", where) as place:
                made = filled(place, plan.load.owners, plan.whole, told)
                asked = tuple(questions(place, told))
                due = tuple(due_points(place, plan.due, plan.turns, told))
                report = {
                    "filled": (made,),
                    "questions": {place.engine: asked},
                    "due": {place.engine: due},
                    "connections": tuple(_connections(place, plan)),
                }
        real: Real | None = None
        held = tuple(memories(plan.load, plan.resident_shares, plan.servers, plan.asks)) if _costs(plan) else ()
        if "memory" in plan.parts:
            share = 0.1
            with _place(folder, "memory", None) as place:
                found = real_hit_rate(place, plan.real_owners, plan.real_asks, share, told)
            measured, simulated = found
            real = Real(
                owners=plan.real_owners,
                asks=plan.real_asks,
                resident_share=share,
                measured=measured,
                simulated=simulated,
            )
        unit: Units | None = None
        waits: tuple[Workers, ...] = ()
        if "workers" in plan.parts:
            told(f"units: {plan.embedder}")
            with _place(folder, "units", where) as place:
                unit = units(place, plan.embedder, plan.unit_pages)
            waits = tuple(_workers(plan, unit, told))
    return OwnersReport(
        cores=os.cpu_count() or 1,
        load=plan.load,
        prices=plan.prices,
        filled=report.get("filled", ()),  # type: ignore[arg-type]
        due=report.get("due", {}),  # type: ignore[arg-type]
        questions=report.get("questions", {}),  # type: ignore[arg-type]
        connections=report.get("connections", ()),  # type: ignore[arg-type]
        real=real,
        memories=held,
        units=unit,
        workers=waits,
        costs=() if unit is None else tuple(cost_of(plan.load, unit, one, plan.prices) for one in held),
        seconds=round(time.monotonic() - began, 1),
    )


def _costs(plan: Plan) -> bool:
    return "memory" in plan.parts or "workers" in plan.parts


@contextmanager
def _place(folder: Path, name: str, url: str | None) -> Iterator[Place]:
    """A new database on the server, or else a new file."""
    if url is not None:
        with places.database(url) as place:
            yield place
        return
    own = folder / name
    own.mkdir()
    yield places.file(own)


def _connections(place: Place, plan: Plan) -> Iterator[Connections]:
    """Of one server and of one worker, measured by as many threads as each has."""
    settings = Settings()
    kinds = {
        "server": (settings.http_threads, plan.servers),
        "worker": (settings.worker_threads + _WEBHOOKS_AND_LEASES, plan.workers),
    }
    for process, (threads, processes) in kinds.items():
        each = connections(place, threads)
        yield Connections(process=process, threads=threads, each=each, processes=processes, total=each * processes)


def _workers(plan: Plan, unit: Units, told: Callable[[str], None]) -> Iterator[Workers]:
    """The fewest workers that are enough at the peak, half as many again, and twice as many; then the noisy owner."""
    at, whose = arrivals(plan.load, popularity(plan.load))
    queue = Queue(workers=1, turn_s=unit.turn_s, page_s=unit.page_s, slice_pages=Settings().slice_pages)
    needed = len(at) * (unit.page_s + unit.turn_s) / (plan.load.hours * 3600)
    least = max(1, math.ceil(needed))
    slices = Settings().slice_pages
    runs = [(count, 0, slices) for count in dict.fromkeys((least, math.ceil(1.5 * least), 2 * least))]
    runs += [(2 * least, plan.noisy_pages, slices), (2 * least, plan.noisy_pages, 0)]
    for count, noisy, slice_pages in runs:
        told(f"workers: {count}, a noisy owner with {noisy} pages, slices of {slice_pages}")
        one = Queue(workers=count, turn_s=queue.turn_s, page_s=queue.page_s, slice_pages=slice_pages)
        waits = served(at, whose, one, noisy_pages=noisy)
        yield Workers(processes=count, noisy_pages=noisy, slice_pages=slice_pages, waits=waits)
