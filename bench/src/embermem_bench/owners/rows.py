"""A store with many owners: rows that the database copies, and what each question about all of them takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Engine, event, inspect, literal_column, text, update
from sqlalchemy.sql.elements import TextClause

from embermem import bootstrap
from embermem.core import config
from embermem.http.metrics import Metrics
from embermem.memory import Memory
from embermem.store import schema
from embermem.store.engines.owner_alias import KEYS, IdOf
from embermem_bench import places
from embermem_bench.metrics import percentile
from embermem_bench.places import Place
from embermem_bench.synthetic import exchanges

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem.store.sql import SqlStore

__all__ = [
    "AGENT",
    "DuePoint",
    "Filled",
    "Timed",
    "connections",
    "cpu_of",
    "due_points",
    "filled",
    "opened",
    "questions",
]

AGENT = "bench"
CHUNK = 200
"""Owners made in one transaction with all their rows."""
PAGES = 8
"""Pages of the owner whose rows are copied: one more than short-term memory holds."""
DUE_AT_ONCE = 64
"""Owners that a worker reads of those that are due (`memoryos.system`)."""
ASKED, LONGEST_S = 5, 10.0
"""So many times a question is asked, and no more after so many seconds."""
_TICKS, _NANO = 100, 1e9
"""Units of the processor time that Linux tells: of ended children, and of a process."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """What was made: owners, those of them with all their rows, the seconds that took, and bytes on disk."""

    engine: str
    owners: int
    whole: int
    seconds: float
    bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Timed:
    """A question about all owners: median milliseconds of some askings, by the clock and of processors (this process's
    and PostgreSQL's), and what it gave."""

    what: str
    ms: float
    cpu_ms: float
    asked: int
    gave: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DuePoint:
    """Looking for due work where so many owners are due: median milliseconds for 64 of them, by the clock and of
    processors; whether the plan uses the index of what is due; of processors to claim and release one, and to look
    again after all these turns."""

    due: int
    ms: float
    cpu_ms: float
    by_index: bool
    turns: int
    turn_cpu_ms: float
    cpu_ms_after: float


def opened(place: Place, **settings: Any) -> Memory:
    """The place's memory, without a background thread and a model."""
    return Memory(place.where, background=False, model="", **{"embedder": "hashed", **settings})


def filled(place: Place, owners: int, whole: int, told: Callable[[str], None]) -> Filled:
    """Make owners at rest: one as always, and copies of its row; of `whole` owners all rows are copied."""
    began = time.perf_counter()
    with opened(place) as memory:
        first = memory.of("owner 0", agent=AGENT)
        for one, _ in zip(exchanges(0), range(PAGES), strict=False):
            first.add(one.query, one.response)
        first.settle()
        template = first.owner
        names = [memory.of(f"owner {n}", agent=AGENT).owner for n in range(1, whole + 1)]
    with place.connect().begin() as c:
        c.execute(text("UPDATE owner SET due_at = NULL"))
    _copied(place, template, names, told)
    told(f"owners: {place.engine}, {owners} rows")
    with place.connect().begin() as c:
        for statement in _rows(place, c, template):
            c.execute(statement, {"first": whole + 1, "last": owners - 1})
    places.analyse(place)
    seconds = round(time.perf_counter() - began, 1)
    return Filled(engine=place.engine, owners=owners, whole=whole + 1, seconds=seconds, bytes=places.size(place))


def _copied(place: Place, of: Owner, owners: Sequence[Owner], told: Callable[[str], None]) -> None:
    """All rows of one owner as those of others."""
    with places.Copies(place, of, places.copying(place)) as copies:
        for first in range(0, len(owners), CHUNK):
            copies.add(owners[first : first + CHUNK])
            told(f"owners: {place.engine}, {first} of {len(owners)} with all rows")


def _rows(place: Place, c: Connection, template: Owner) -> tuple[TextClause, ...]:
    """The statements that make owners with the template's row and no other; ids are spread as hashes are."""
    sqlite = place.engine == places.SQLITE
    first, last = (f"CAST(:{name} AS BIGINT)" for name in ("first", "last"))
    numbers = f"WITH RECURSIVE numbers(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})"
    here = f"{first} <= {last}"
    made = {
        "owner_id": f"(SELECT max(no) FROM {KEYS}) - {last} + n" if sqlite else "md5('owner ' || n)",
        "user": "'owner ' || n",
    }
    columns = [str(one["name"]) for one in inspect(c).get_columns("owner")]
    values = ", ".join(made.get(name, f't."{name}"') for name in columns)
    rows = places.of_template(
        f"{numbers} INSERT INTO owner ({', '.join(map(_quoted, columns))}) "
        f"SELECT {values} FROM owner t CROSS JOIN numbers WHERE t.owner_id = :template AND {here}",
        template,
    )
    if not sqlite:
        return (rows,)
    ids = f"{numbers} INSERT INTO {KEYS} (id) SELECT lower(hex(randomblob(16))) FROM numbers WHERE {here}"
    return (text(ids), rows)  # the numbers of these ids are the last ones, in turn


def _quoted(name: str) -> str:
    return f'"{name}"'


def due_points(place: Place, shares: Sequence[float], turns: int, told: Callable[[str], None]) -> list[DuePoint]:
    """The scan for due work with these shares of the owners due, from the least on."""
    points = []
    with _store(place) as (store, memory), cpu_of(place) as seconds:

        def look() -> object:
            return store.due(memory.now(), DUE_AT_ONCE, lease_s=60.0)

        for share in sorted(shares):
            told(f"due: {place.engine}, {share:.1%}")
            _make_due(place, share)
            now = memory.now()
            due = len(store.due(now, 10**9, lease_s=memory.settings.lease_s)) if share < 0.02 else _due_count(place)
            before = _timed(look, seconds, 9)
            with _heard() as statements:
                look()
            plan = store.explain(*statements[-1])
            began, done = seconds(), 0
            while done < turns:
                waiting = store.due(memory.now(), DUE_AT_ONCE, lease_s=60.0)
                if not waiting:
                    break
                for owner in waiting:
                    lease = store.claim(owner.id, "bench", memory.now(), 60.0)
                    if lease is not None:
                        store.release(lease, due_at=None, error=None)
                        done += 1
            turn_ms = (seconds() - began) * 1e3 / max(1, done)
            after = _timed(look, seconds, 9)
            points.append(
                DuePoint(
                    due=due,
                    ms=before[0],
                    cpu_ms=before[1],
                    by_index="ix_owner_due" in plan,
                    turns=done,
                    turn_cpu_ms=round(turn_ms, 2),
                    cpu_ms_after=after[1],
                )
            )
    return points


def questions(place: Place, told: Callable[[str], None]) -> list[Timed]:
    """What those ask who watch a store or run it."""
    found: list[Timed] = []
    with opened(place) as memory, cpu_of(place) as seconds:
        metrics = Metrics(memory)
        asked: dict[str, Callable[[], object]] = {
            "stats()": memory.stats,
            "stats(estimated=True)": lambda: memory.stats(estimated=True),
            "/metrics, first scrape": lambda: Metrics(memory).text(),
            "/metrics, scraped again": metrics.text,
            "work_state()": memory.work_state,
            "census(30)": lambda: memory.census(30),
            "find_owners(), recent": memory.find_owners,
            "find_owners(), name": lambda: memory.find_owners(order="name"),
            "find_owners(), size": lambda: memory.find_owners(order="size"),
            "find_owners(), trouble": lambda: memory.find_owners(order="trouble"),
            "find_owners('owner 77777')": lambda: memory.find_owners("owner 77777"),
            "owners()": lambda: len(memory.owners()),
            "idle_s()": memory.idle_s,
        }
        metrics.text()
        for what, ask in asked.items():
            told(f"questions: {place.engine}, {what}")
            gave = _told(ask())  # which reads what it needs from the disk, and compiles its statements
            times: list[tuple[float, float]] = []
            until = time.monotonic() + LONGEST_S
            while not times or (len(times) < ASKED and time.monotonic() < until):
                times.append(_timed(ask, seconds, 1))
            ms, cpu_ms = (_median(column) for column in zip(*times, strict=True))
            found.append(Timed(what=what, ms=ms, cpu_ms=cpu_ms, asked=len(times), gave=gave))
    return found


def connections(place: Place, threads: int) -> int:
    """How many connections one process holds after so many of its threads have recalled at once; 0 for a file."""
    from concurrent.futures import ThreadPoolExecutor

    if place.engine != places.POSTGRESQL:
        return 0
    with opened(place) as memory, ThreadPoolExecutor(threads) as pool:
        for _ in range(3):
            asked = [pool.submit(memory.of(f"owner {n}", agent=AGENT).search, "lake") for n in range(4 * threads)]
            for one in asked:
                one.result()
        with place.connect().connect() as c:
            here = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            return int(c.execute(text(here)).scalar_one())


@contextmanager
def _store(place: Place) -> Iterator[tuple[SqlStore, Memory]]:
    """The store's own methods, which a worker calls, beside a memory for its clock."""
    with opened(place) as memory:
        store = bootstrap.open_store(place.where, config.load(), read_only=False)
        try:
            yield store, memory
        finally:
            store.close()


@contextmanager
def _heard() -> Iterator[list[tuple[str, Any]]]:
    """The statements that are sent within the block, as the driver takes them."""
    found: list[tuple[str, Any]] = []

    def note(c: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        if "due_at" in statement:
            found.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def _make_due(place: Place, share: float) -> None:
    """Let this share of the owners be due, for up to an hour. Ids are hashes: their beginnings are spread evenly."""
    upto = f"{int(share * 0xFFFFFFFF):08x}"
    hour, now = int(timedelta(hours=1).total_seconds()), int(time.time() * 1e6)
    ago = f"abs(random()) % {hour * 1_000_000}" if place.engine == places.SQLITE else f"floor(random() * {hour} * 1e6)"
    due: ColumnElement[int] = literal_column(f"{now} - CAST({ago} AS BIGINT)")
    with place.connect().begin() as c:
        c.execute(update(schema.owner).where(IdOf(schema.owner.c.owner_id) < upto).values(due_at=due))
    places.analyse(place)


def _due_count(place: Place) -> int:
    with place.connect().connect() as c:
        return int(c.execute(text("SELECT count(*) FROM owner WHERE due_at IS NOT NULL")).scalar_one())


def _timed(ask: Callable[[], object], seconds: Callable[[], float], times: int) -> tuple[float, float]:
    """Median milliseconds by the clock, and the mean of processors."""
    taken, begun = [], seconds()
    for _ in range(times):
        began = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - began) * 1e3)
    return _median(taken), round((seconds() - begun) * 1e3 / times, 2)


@contextmanager
def cpu_of(place: Place) -> Iterator[Callable[[], float]]:
    """Tells the processor seconds that this process has taken, and PostgreSQL's for this database, where it runs on
    this machine: its connections, and the children that it started and that have ended."""
    if place.engine != places.POSTGRESQL or not Path("/proc/self/schedstat").exists():
        yield time.process_time
        return
    beside = place.connect()
    others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with beside.connect() as c:

        def seconds() -> float:
            taken, pids = time.process_time(), [int(row[0]) for row in c.execute(text(others))]
            parents = set()
            for pid in pids:
                with suppress(OSError):
                    taken += int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / _NANO
                    parents.add(_stat(pid)[1])
            for parent in parents:
                with suppress(OSError):
                    taken += sum(map(int, _stat(parent)[13:15])) / _TICKS
            return taken

        yield seconds
    beside.dispose()


def _stat(pid: int | str) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent, …; 13 and 14 are of children that have ended."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def _median(values: Sequence[float]) -> float:
    return round(percentile(values, 0.5) or 0.0, 2)


def _told(answer: object) -> str:
    if isinstance(answer, bytes):
        return f"{len(answer)} bytes"
    if isinstance(answer, tuple):
        return f"{len(answer)} owners"
    with suppress(AttributeError):
        return f"{answer.owners} owners"  # type: ignore[attr-defined]
    return str(answer) if isinstance(answer, int | float) else type(answer).__name__
