"""`embermem bench scale`: many processes and many owners, on SQLite and on PostgreSQL; what each owner costs.

Four parts, each bounded in time: durable adds by one to eight processes; pages understood per second; what owners take
on disk; and recall among so many owners that a few of a hundred fit in memory. Results: docs/research/scale.md.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import accumulate, cycle, islice, product
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem import bootstrap
from embermem.core.errors import ConfigError, StoreBusy, StoreError
from embermem_bench import places
from embermem_bench.metrics import percentile
from embermem_bench.places import Place, TableSize
from embermem_bench.synthetic import Exchange, exchanges, queries

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem.memory import Memory, OwnerMemory

PARTS = ("adds", "understanding", "recall")
"""What may be measured alone. Size comes with recall."""
AGENT = "bench"
HASHED = "hashed"
OWNERS_EACH = 10
"""Owners to whom a process adds in turn, where it has owners of its own."""
START_S = 60.0
"""A process that does not stand ready after so long has failed."""
SETTLED_PAGES = 50
"""Pages added and understood at once: a day or two of talk."""
COPIES = 50
"""Owners made in one transaction."""
FILLERS = 2
"""Connections that make owners at once; SQLite has one."""
FILE_OWNERS = 50
"""Owners whose size is measured in an SQLite file: each of them is as large as every other."""
DISK_SHARE = 0.4
"""Of the free disk, what may be filled: the server's log comes on top."""
QUESTIONS = 5000
"""Questions that are asked before the first is asked again: more than the query cache holds."""
EMBED_SAMPLES = 20
"""Questions on which embedding is timed alone."""
ZIPF = 1.0
"""The owner of rank r is asked in proportion to r to the power of minus this."""

ProgressFn = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What is measured, and how long.

    `add_seconds` for each round of adds, `understand_seconds` for each embedder on each engine, `fill_seconds` for
    making owners, `ask_seconds` for each way of choosing whom to ask. Of `owners` with `pages` pages each, as many are
    made as the time and `fill_bytes` allow; `resident_share` of them fit in memory. `embedder` is theirs: its setting.
    """

    parts: tuple[str, ...] = PARTS
    processes: tuple[int, ...] = (1, 2, 4, 8)
    add_seconds: float = 5.0
    embedders: tuple[str, ...] = (HASHED,)
    understand_seconds: float = 15.0
    embedder: str = HASHED
    owners: int = 10_000
    pages: int = 200
    fill_seconds: float = 320.0
    fill_bytes: int = 25 * 2**30
    resident_share: float = 0.05
    ask_seconds: float = 30.0
    seed: int = 0

    def __post_init__(self) -> None:
        if unknown := set(self.parts) - set(PARTS):
            raise ConfigError(f"no part {', '.join(sorted(unknown))}; one of: {', '.join(PARTS)}")
        if min((self.owners, self.pages, *self.processes)) < 1:
            raise ConfigError("owners, pages and processes are at least one")


@dataclass(frozen=True, kw_only=True, slots=True)
class AddPoint:
    """Adds that were acknowledged. `spread`: each process adds to owners of its own, else all to one. `refused`: the
    store was busy for longer than is waited. `lost`: acknowledged, and not counted afterwards. `sync_ms`: what the disk
    took to keep a block just before, for good: no durable add is quicker."""

    engine: str
    processes: int
    spread: bool
    adds: int
    adds_per_s: float
    ms_p50: float | None
    ms_p95: float | None
    refused: int
    lost: int
    sync_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class UnderstandPoint:
    """Pages embedded, read by the extractive analyst and placed, by one process. `pages_per_cpu_s` counts the seconds
    that all threads of the process worked; a server's own work is not in it."""

    engine: str
    embedder: str
    pages: int
    pages_per_s: float
    pages_per_cpu_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class SizePoint:
    """What owners of so many pages take on disk. `chars_per_page`: of what was said. `complete`: as many were made as
    were asked for. `tables`: those that take a hundredth and more, where the engine tells."""

    engine: str
    embedder: str
    owners: int
    pages_each: int
    chars_per_page: int
    bytes_each: int
    fill_s: float
    complete: bool
    tables: tuple[TableSize, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallPoint:
    """Recalls of new questions, the question's vector among what they cost. Cold: the owner was not in memory.

    `choice`: `uniform` takes owners at random, each once, and asks each a second time at once, which is warm; `zipf`
    takes them by Zipf's law, after the most asked were taken into memory.
    """

    engine: str
    embedder: str
    owners: int
    choice: str
    cold: int
    cold_ms_p50: float | None
    cold_ms_p95: float | None
    warm: int
    warm_ms_p50: float | None
    warm_ms_p95: float | None
    embed_ms_p50: float | None
    resident_bytes_each: int
    resident_limit: int
    resident_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleReport:
    """`server`: the settings of PostgreSQL that decide what a figure is worth. `seconds`: of the whole run."""

    cores: int
    server: Mapping[str, str]
    seed: int
    adds: tuple[AddPoint, ...]
    understanding: tuple[UnderstandPoint, ...]
    sizes: tuple[SizePoint, ...]
    recall: tuple[RecallPoint, ...]
    seconds: float


def run(
    folder: Path, plan: Plan, *, url: str | None = None, embedded: bool = False, told: ProgressFn = lambda what: None
) -> ScaleReport:
    """Measure in a new file in `folder` and, if a server is named or `embedded` starts one, in new databases there.

    What is made is taken away, but for the files in `folder`. Raises ConfigError, StoreError.
    """
    if url is not None and not bootstrap.on_a_server(url):
        raise ConfigError("the bench needs a server's URL, such as postgresql://USER:PASSWORD@HOST:5432/DATABASE")
    began = time.monotonic()
    bench = _Bench(folder=folder, plan=plan, told=told)
    with ExitStack() as stack:
        if embedded:
            told("starting PostgreSQL")
            url = stack.enter_context(places.embedded())
            bench.disk = folder
        bench.url = url
        server: Mapping[str, str] = {}
        if url is not None:
            with places.database(url) as place:
                server = places.server_settings(place)
        for part in plan.parts:
            {"adds": bench.add, "understanding": bench.understand, "recall": bench.recall}[part]()
    return ScaleReport(
        cores=os.cpu_count() or 1,
        server=server,
        seed=plan.seed,
        adds=tuple(bench.adds),
        understanding=tuple(bench.understood),
        sizes=tuple(bench.sizes),
        recall=tuple(bench.recalls),
        seconds=round(time.monotonic() - began, 1),
    )


@dataclass(kw_only=True, slots=True)
class _Bench:
    """The parts, and what they found. `disk` is a folder on the server's disk, if that is here."""

    folder: Path
    plan: Plan
    told: ProgressFn
    url: str | None = None
    disk: Path | None = None
    adds: list[AddPoint] = field(default_factory=list)
    understood: list[UnderstandPoint] = field(default_factory=list)
    sizes: list[SizePoint] = field(default_factory=list)
    recalls: list[RecallPoint] = field(default_factory=list)

    def add(self) -> None:
        """Each number of processes, with owners of their own and all on one."""
        for place in self._places("adds"):
            with _opened(place, HASHED):
                pass  # the store is made before many want to make it
            with _Crew(place, max(self.plan.processes), self.plan.seed) as crew:
                for spread, processes in product((True, False), self.plan.processes):
                    self.told(f"adds: {place.engine}, {processes} processes, {'own owners' if spread else 'one owner'}")
                    sync_ms = places.sync_ms(self.folder)
                    self.adds.append(_adds(crew, place, processes, spread, self.plan, sync_ms))

    def understand(self) -> None:
        """Each embedder."""
        for embedder in self.plan.embedders:
            for place in self._places(f"understanding-{embedder}"):
                self.told(f"understanding: {place.engine}, {embedder}")
                self.understood.append(_understanding(place, embedder, self.plan))

    def recall(self) -> None:
        """Size on each engine, and recall on PostgreSQL, or on SQLite if there is no other."""
        for place in self._places("recall"):
            asked = place.engine == places.POSTGRESQL or self.url is None
            wanted = self.plan.owners if asked else min(self.plan.owners, FILE_OWNERS)
            owners, size = _filled(place, wanted, self.plan, self.told)
            self.sizes.append(size)
            if asked:
                self.recalls.extend(_recalls(place, owners, self.plan, self.told))

    def _places(self, name: str) -> Iterator[Place]:
        """A new store on each engine. A file is deleted when the next one is made."""
        folder = self.folder / name
        folder.mkdir()
        yield places.file(folder)
        shutil.rmtree(folder)
        if self.url is not None:
            with places.database(self.url, self.disk) as place:
                yield place


# ------------------------------------------------------------------------------------------------------ durable adds


@dataclass(frozen=True, kw_only=True, slots=True)
class _Added:
    """What one process saw: the milliseconds of each add that was acknowledged, and how long it added in all."""

    ms: tuple[float, ...]
    seconds: float
    refused: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    """What one process shall do: add to these users in turn, for so long."""

    users: tuple[str, ...]
    seconds: float


def _adds(crew: _Crew, place: Place, processes: int, spread: bool, plan: Plan, sync_ms: float) -> AddPoint:
    each = range(OWNERS_EACH)
    tasks = [
        _Task(
            users=tuple(f"{processes}-{number}-{n}" for n in each) if spread else (f"{processes}-all",),
            seconds=plan.add_seconds,
        )
        for number in range(processes)
    ]
    with _opened(place, HASHED) as memory:
        before = memory.stats().pages
        found = crew.add(tasks)
        stored = memory.stats().pages - before - processes  # each began with one that is not timed
    ms = [one for added in found for one in added.ms]
    return AddPoint(
        engine=place.engine,
        processes=processes,
        spread=spread,
        adds=len(ms),
        adds_per_s=round(len(ms) / max(added.seconds for added in found), 1),
        ms_p50=_of(ms, 0.5),
        ms_p95=_of(ms, 0.95),
        refused=sum(added.refused for added in found),
        lost=len(ms) - stored,
        sync_ms=sync_ms,
    )


class _Crew:
    """Processes that stand ready to add to one store."""

    def __init__(self, place: Place, size: int, seed: int) -> None:
        context = get_context("spawn")
        self._members = []
        for number in range(size):
            mine, theirs = context.Pipe()
            process = context.Process(target=_add, args=(place, number, seed + number, theirs), daemon=True)
            process.start()
            theirs.close()
            self._members.append((process, mine))

    def __enter__(self) -> _Crew:
        return self

    def __exit__(self, *error: object) -> None:
        for process, mine in self._members:
            mine.close()  # which ends the process
            process.join(START_S)
            process.kill()

    def add(self, tasks: Sequence[_Task]) -> list[_Added]:
        """One process for each task; they begin together. Raises StoreError if one of them failed."""
        busy = [mine for (_, mine), _ in zip(self._members, tasks, strict=False)]
        try:
            for mine, task in zip(busy, tasks, strict=True):
                mine.send(task)
            for mine in busy:
                if not mine.poll(START_S):
                    raise StoreError(f"a process did not stand ready after {START_S:g} s")
                mine.recv()
            for mine in busy:
                mine.send(None)
            return [mine.recv() for mine in busy]
        except (EOFError, OSError) as error:
            raise StoreError("a process that added pages failed; what it said stands above") from error


def _add(place: Place, number: int, seed: int, asked: Connection[Any, Any]) -> None:
    """One process: for each task it adds an exchange after another, without a pause, until the time is over."""
    talk, thread = exchanges(seed), f"process {number}"
    with _opened(place, HASHED) as memory, suppress(EOFError):
        while True:
            task: _Task = asked.recv()
            owners = [memory.of(user, agent=AGENT) for user in task.users]
            _added(owners[0], next(talk), thread)
            asked.send(None)
            asked.recv()
            asked.send(_timed_adds(owners, talk, thread, task.seconds))


def _timed_adds(owners: Sequence[OwnerMemory], talk: Iterator[Exchange], thread: str, seconds: float) -> _Added:
    ms, refused = [], 0
    began = time.perf_counter()
    for owner in cycle(owners):
        asked = time.perf_counter()
        if asked - began >= seconds:
            break
        try:
            _added(owner, next(talk), thread)
        except StoreBusy:
            refused += 1
        else:
            ms.append((time.perf_counter() - asked) * 1e3)
    return _Added(ms=tuple(ms), seconds=time.perf_counter() - began, refused=refused)


def _added(owner: OwnerMemory, one: Exchange, thread: str) -> None:
    owner.add(one.query, one.response, thread=thread)


# ----------------------------------------------------------------------------------------------------- understanding


def _understanding(place: Place, embedder: str, plan: Plan) -> UnderstandPoint:
    talk, pages, wall, cpu = exchanges(plan.seed), 0, 0.0, 0.0
    until = time.monotonic() + plan.understand_seconds
    with _opened(place, embedder) as memory:
        memory.embed(["the first call loads the model"])
        while not pages or time.monotonic() < until:
            owner = memory.of(f"understood {pages // plan.pages}", agent=AGENT)
            owner.add_messages(_messages(islice(talk, SETTLED_PAGES)))
            began, worked = time.perf_counter(), time.process_time()
            owner.settle()
            wall, cpu = wall + time.perf_counter() - began, cpu + time.process_time() - worked
            pages += SETTLED_PAGES
        name = memory.embedder_name
    return UnderstandPoint(
        engine=place.engine,
        embedder=name,
        pages=pages,
        pages_per_s=round(pages / wall, 1),
        pages_per_cpu_s=round(pages / cpu, 1),
    )


# ------------------------------------------------------------------------------------------------------- many owners


def _filled(place: Place, wanted: int, plan: Plan, told: ProgressFn) -> tuple[list[Owner], SizePoint]:
    """Make one owner as always, and the others as copies of its rows. Those that are there, and what they take."""
    told(f"owners: {place.engine}, {plan.embedder}, the first")
    began, talk = time.monotonic(), list(islice(exchanges(plan.seed), plan.pages))
    with _opened(place, plan.embedder) as memory:
        first = memory.of("owner 0", agent=AGENT)
        for start in range(0, plan.pages, SETTLED_PAGES):
            first.add_messages(_messages(talk[start : start + SETTLED_PAGES]))
            first.settle()
        others = [memory.of(f"owner {n}", agent=AGENT).owner for n in range(1, wanted)]
        name = memory.embedder_name
    places.rest(place)
    owners = [first.owner, *_copied(place, first.owner, others, plan, told)]
    tables = places.table_sizes(place)
    return owners, SizePoint(
        engine=place.engine,
        embedder=name,
        owners=len(owners),
        pages_each=plan.pages,
        chars_per_page=sum(len(one.query) + len(one.response) for one in talk) // plan.pages,
        bytes_each=places.size(place) // len(owners),
        fill_s=round(time.monotonic() - began, 1),
        complete=len(owners) == wanted,
        tables=tuple(one for one in tables if (one.rows + one.indexes) * 100 > sum(t.rows + t.indexes for t in tables)),
    )


def _copied(place: Place, template: Owner, others: Sequence[Owner], plan: Plan, told: ProgressFn) -> list[Owner]:
    """As many of the others as the time, the disk and the plan allow; those that were made."""
    until, before = time.monotonic() + plan.fill_seconds, places.size(place)
    statements = places.copying(place)
    left = deque(others[start : start + COPIES] for start in range(0, len(others), COPIES))

    def fill() -> list[Owner]:
        done: list[Owner] = []
        with places.Copies(place, template, statements) as copies, suppress(IndexError):
            while time.monotonic() < until:
                chunk = left.popleft()
                copies.add(chunk)
                done += chunk
                told(f"owners: {place.engine}, {len(others) - sum(map(len, list(left)))} of {len(others)}")
        return done

    if not left:
        return []
    made = left.popleft()
    with places.Copies(place, template, statements) as copies:
        copies.add(made)
    each = max(1, (places.size(place) - before) // len(made))
    fits = max(0, _room(place, plan) // each - len(made))
    left = deque(list(left)[: fits // COPIES])
    with ThreadPoolExecutor(1 if place.engine == places.SQLITE else FILLERS) as pool:
        try:
            filling = [pool.submit(fill) for _ in range(FILLERS)]
            made = [*made, *(owner for one in filling for owner in one.result())]
        finally:
            left.clear()  # whoever fills stops after the owners in hand
    places.analyse(place)
    return made


def _room(place: Place, plan: Plan) -> int:
    """Bytes that may be filled: as planned, and no more than a share of the disk, where that is here."""
    if place.folder is None:
        return plan.fill_bytes
    return min(plan.fill_bytes, int(shutil.disk_usage(place.folder).free * DISK_SHARE))


# ------------------------------------------------------------------------------------------------------------- recall


def _recalls(place: Place, owners: Sequence[Owner], plan: Plan, told: ProgressFn) -> list[RecallPoint]:
    with _opened(place, plan.embedder) as memory:
        memory.of(owners[0].user, agent=AGENT).search("How large is one?")
        each = memory.resident_bytes
    limit = max(each, int(each * len(owners) * plan.resident_share))
    asked = cycle(queries(plan.seed, QUESTIONS))
    order = random.Random(plan.seed).sample(list(owners), len(owners))
    with _opened(place, plan.embedder, resident_bytes=limit) as memory:
        nobody = memory.of("nobody", agent=AGENT)
        nobody.search(next(asked))  # loads the model and the modules
        embed_ms = [_timed(nobody.search, next(asked)) for _ in range(EMBED_SAMPLES)]
        points = []
        for choice, ask in (("uniform", _ask_each), ("zipf", _ask_by_rank)):
            told(f"recall: {place.engine}, {len(owners)} owners, {choice}")
            seen = ask(memory, order, asked, plan)
            points.append(
                RecallPoint(
                    engine=place.engine,
                    embedder=memory.embedder_name,
                    owners=len(owners),
                    choice=choice,
                    cold=len(seen.cold),
                    cold_ms_p50=_of(seen.cold, 0.5),
                    cold_ms_p95=_of(seen.cold, 0.95),
                    warm=len(seen.warm),
                    warm_ms_p50=_of(seen.warm, 0.5),
                    warm_ms_p95=_of(seen.warm, 0.95),
                    embed_ms_p50=_of(embed_ms, 0.5),
                    resident_bytes_each=each,
                    resident_limit=limit,
                    resident_bytes=memory.resident_bytes,
                )
            )
    return points


@dataclass(kw_only=True, slots=True)
class _Seen:
    """Milliseconds of recalls."""

    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)


def _ask_each(memory: Memory, order: Sequence[Owner], asked: Iterator[str], plan: Plan) -> _Seen:
    """Each owner twice, as long as the time lasts."""
    seen, until = _Seen(), time.monotonic() + plan.ask_seconds
    for owner in order:
        handle = memory.of(owner.user, agent=owner.agent)
        seen.cold.append(_timed(handle.recall, next(asked)))
        seen.warm.append(_timed(handle.recall, next(asked)))
        if time.monotonic() > until:
            break
    return seen


def _ask_by_rank(memory: Memory, order: Sequence[Owner], asked: Iterator[str], plan: Plan) -> _Seen:
    """The most asked are taken into memory first, for twice as long as all are asked then."""
    seen, until = _Seen(), time.monotonic() + 2 * plan.ask_seconds
    for owner in order[: max(1, int(len(order) * plan.resident_share))]:
        memory.of(owner.user, agent=owner.agent).search(next(asked))
        if time.monotonic() > until:
            break
    shares = list(accumulate(rank**-ZIPF for rank in range(1, len(order) + 1)))
    draw, until = random.Random(plan.seed), time.monotonic() + plan.ask_seconds
    while time.monotonic() < until:
        (owner,) = draw.choices(order, cum_weights=shares)
        handle = memory.of(owner.user, agent=owner.agent)
        warm = memory.is_resident(owner)
        (seen.warm if warm else seen.cold).append(_timed(handle.recall, next(asked)))
    return seen


def _opened(place: Place, embedder: str, **settings: Any) -> Memory:
    from embermem.memory import Memory

    return Memory(place.where, background=False, model="", embedder=embedder, **settings)


def _messages(talk: Iterable[Exchange]) -> list[dict[str, object]]:
    said = ((("user", one.query), ("assistant", one.response)) for one in talk)
    return [{"role": role, "content": text} for pair in said for role, text in pair]


def _timed(call: Callable[[str], object], text: str) -> float:
    began = time.perf_counter()
    call(text)
    return (time.perf_counter() - began) * 1e3


def _of(values: Sequence[float], share: float) -> float | None:
    found = percentile(values, share)
    return None if found is None else round(found, 2)
