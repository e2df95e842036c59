"""What one page and one recall cost, measured; and what an owner costs in a month, by a formula and stated prices."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from embermem_bench import places
from embermem_bench.owners.load import Load, hit_rate, popularity, recalls, shared_out
from embermem_bench.owners.rows import AGENT, cpu_of, opened
from embermem_bench.places import Place
from embermem_bench.synthetic import exchanges, queries

__all__ = ["Cost", "Memories", "Prices", "Units", "cost_of", "memories", "real_hit_rate", "units"]

DAYS, THOUSAND = 30, 1000
_QUESTIONS = 12
_TURNS = (1, 32)
"""Pages of a turn, of which the cost of a turn and of a page are worked out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Units:
    """Measured: processor seconds of the process (`server_page_s`: of PostgreSQL) for adding and understanding a page,
    for a worker's turn without its pages, and for a recall that finds its owner in memory or not; bytes of a page on
    disk and in memory."""

    engine: str
    embedder: str
    pages: int
    page_s: float
    server_page_s: float
    turn_s: float
    warm_s: float
    cold_s: float
    disk_bytes: int
    resident_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Assumptions, in any currency: list prices of large clouds are near these in dollars. Machines are busy for the
    share `busy` of what is paid; a page is on disk `copies` times, and kept for `kept_days`."""

    vcpu_hour: float = 0.04
    disk_gb_month: float = 0.10
    memory_gb_month: float = 3.0
    busy: float = 0.5
    copies: int = 2
    kept_days: float = 365.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Of a thousand owners in a month, with the share of recalls that find their owner in memory and the share of the
    owners that memory holds; and machines for all: vCPUs, terabytes on disk, gigabytes in memory."""

    hit_rate: float
    resident_share: float
    cpu: float
    disk: float
    memory: float
    total: float
    vcpus: float
    disk_tb: float
    memory_gb: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Memories:
    """The share of recalls that find their owner in memory, by the share of the owners that memory holds. `hit_rate`
    where owners ask in sittings, of one process or where a user's questions always go to the same of `servers`;
    `any_server` where each goes to any of them, which have a part of the memory each; `by_chance` of one process where
    nobody asks twice in a row."""

    resident_share: float
    hit_rate: float
    any_server: float
    by_chance: float
    servers: int


def units(place: Place, embedder: str, pages: int, seed: int = 0) -> Units:
    """Measure on a new store of one place: an owner of so many pages, and others of a few."""
    talk, asked = exchanges(seed), iter(queries(seed, 10 * _QUESTIONS))
    with opened(place, embedder=embedder) as memory:
        warm = memory.of("warm", agent=AGENT)
        warm.add(next(talk).query, "Yes.")
        warm.settle()
    size = places.size(place)  # closed: a file has no log beside it then
    with opened(place, embedder=embedder) as memory, cpu_of(place) as seconds:
        memory.embed(["the first call loads the model"])
        memory.of("warm", agent=AGENT).search(next(asked))
        before = memory.resident_bytes
        mine = memory.of("alice", agent=AGENT)
        began, all_began = time.process_time(), seconds()
        for one in islice(talk, pages):
            mine.add(one.query, one.response)
        mine.settle()
        page_s, all_s = ((now - then) / pages for now, then in ((time.process_time(), began), (seconds(), all_began)))
        mine.search(next(asked))
        resident = (memory.resident_bytes - before) // pages
        mine.recall(next(asked))
        warm_s = _each(lambda: mine.recall(next(asked)))
        name = memory.embedder_name
    disk = (places.size(place) - size) // pages
    with opened(place, embedder=embedder, resident_bytes=0) as memory:
        mine = memory.of("alice", agent=AGENT)
        mine.recall(next(asked))
        cold_s = _each(lambda: (memory.of("warm", agent=AGENT).search("lake"), mine.recall(next(asked))))
    return Units(
        engine=place.engine,
        embedder=name,
        pages=pages,
        page_s=round(page_s, 5),
        server_page_s=round(max(0.0, all_s - page_s), 5),
        turn_s=round(_turn_s(place, embedder), 5),
        warm_s=round(warm_s, 5),
        cold_s=round(cold_s, 5),
        disk_bytes=disk,
        resident_bytes=resident,
    )


def _turn_s(place: Place, embedder: str) -> float:
    """Processor seconds of a worker's turn beyond its pages: from turns of one page, and of many."""
    took = []
    source = exchanges(1)
    for pages in _TURNS:
        with opened(place, embedder=embedder, batch_wait_s=0.0, short_term_pages=1, slice_pages=64) as memory:
            for n in range(8):
                owner = memory.of(f"turn {pages} {n}", agent=AGENT)
                for one in islice(source, pages):
                    owner.add(one.query, one.response)
            memory.embed(["the first call loads the model"])
            began = time.process_time()
            memory.work()
            took.append((time.process_time() - began) / 8)
    (few, least), (many, most) = zip(_TURNS, took, strict=True)
    return max(0.0, least - (most - least) / (many - few) * few)


def memories(load: Load, shares: tuple[float, ...], servers: int, asks: int) -> list[Memories]:
    """Simulated: all owners take the same memory. Half of the questions fill it."""
    shares_of = popularity(load)
    asked = recalls(load, shares_of, asks, sittings=True)
    by_chance = recalls(load, shares_of, asks, sittings=False)
    found = []
    for share in shares:
        held = share * load.owners
        each = shared_out(asked, servers, load.seed)
        parts = [hit_rate(part, held / servers, 1, after=len(part) // 2) for part in each]
        found.append(
            Memories(
                resident_share=share,
                hit_rate=round(hit_rate(asked, held, 1, after=len(asked) // 2), 4),
                any_server=round(sum(parts) / len(parts), 4),
                by_chance=round(hit_rate(by_chance, held, 1, after=asks // 2), 4),
                servers=servers,
            )
        )
    return found


def real_hit_rate(
    place: Place, owners: int, asks: int, share: float, told: Callable[[str], None]
) -> tuple[float, float]:
    """The share of recalls whose owner is in memory: as the real working set of a process has it, and as simulated with
    the bytes that each owner was measured to take."""
    load = Load(owners=owners, zipf=1.0, most=float(owners))
    talk = exchanges(2)
    with opened(place) as memory:
        for n in range(owners):
            told(f"memory: {n} of {owners} small owners")
            one = next(talk)
            memory.of(f"small {n}", agent=AGENT).add(one.query, one.response)
        sizes: dict[int, int] = {}
        for n in range(owners):
            before = memory.resident_bytes
            memory.of(f"small {n}", agent=AGENT).search("lake")
            sizes[n] = memory.resident_bytes - before
    asked = recalls(load, popularity(load), asks, sittings=False)
    limit, hits = share * sum(sizes.values()), 0
    with opened(place, resident_bytes=int(limit)) as memory:
        for n, number in enumerate(asked.tolist()):
            told(f"memory: {n} of {asks} recalls")
            handle = memory.of(f"small {number}", agent=AGENT)
            hits += n >= asks // 2 and memory.is_resident(handle.owner)
            handle.search("lake")
    return round(hits / (asks - asks // 2), 4), round(hit_rate(asked, limit, sizes, after=asks // 2), 4)


def cost_of(load: Load, units: Units, memory: Memories, prices: Prices) -> Cost:
    """The month of a thousand owners: processor seconds, pages kept and the part of them in memory, at these prices."""
    hit = memory.hit_rate
    recall_s = hit * units.warm_s + (1 - hit) * units.cold_s
    day_s = load.pages_a_day * (units.page_s + units.server_page_s) + load.recalls_a_day * recall_s
    kept = load.pages_a_day * prices.kept_days
    disk_gb, memory_gb = kept * units.disk_bytes * prices.copies / 1e9, kept * units.resident_bytes / 1e9
    cpu = THOUSAND * DAYS * day_s / 3600 / prices.busy * prices.vcpu_hour
    disk = THOUSAND * disk_gb * prices.disk_gb_month
    held = THOUSAND * memory.resident_share * memory_gb * prices.memory_gb_month
    return Cost(
        hit_rate=hit,
        resident_share=memory.resident_share,
        cpu=round(cpu, 2),
        disk=round(disk, 2),
        memory=round(held, 2),
        total=round(cpu + disk + held, 2),
        vcpus=round(load.owners * day_s / 86_400 / prices.busy, 1),
        disk_tb=round(load.owners * disk_gb / 1e3, 2),
        memory_gb=round(load.owners * memory.resident_share * memory_gb, 1),
    )


def _each(ask: Callable[[], object]) -> float:
    began = time.process_time()
    for _ in range(_QUESTIONS):
        ask()
    return (time.process_time() - began) / _QUESTIONS
