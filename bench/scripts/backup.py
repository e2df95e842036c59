"""What a backup of a large store costs, and its writers meanwhile: bench/scripts/backup.sh [--pages 100000]

One life of synthetic talk is settled with the hashed embedder, and its rows are copied under other owners' ids until
the store has so many pages. Processes add pages all the time: first alone, then beside each way to copy the file, then
beside `backup`. The backup is restored; then 1 % new pages are added and settled, and an incremental backup is made. It
is restored too, and checked by `doctor --deep`, which takes minutes. It needs four times the disk space of the store.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from embermem import Memory
from embermem.bootstrap import restore_store, wall_clock
from embermem.core.config import load
from embermem.core.ids import owner_id
from embermem_bench.synthetic import exchanges

LIFE = 200
"""Pages of one owner."""
WRITERS = 2
PAUSE_S = 0.01
"""Between two adds of one writer."""
MB = 2**20


def main() -> int:
    """Measure, and print one line a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where the store is made; default: the folder for temporary files")
    parser.add_argument("--alone", type=float, default=10.0, help="seconds that the writers write alone")
    parser.add_argument("--ways", action="store_true", help="also copy the file in the other ways that SQLite has")
    parser.add_argument("--no-check", action="store_true", help="leave doctor --deep of the restored store out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        store, owners = made(folder, options.pages), options.pages // LIFE
        print(f"{options.pages:,} pages of {owners} owners, {store.stat().st_size / MB:,.0f} MB", flush=True)
        beside("nothing else", store, lambda: time.sleep(options.alone))
        for way in (pages, vacuum, stepped) if options.ways else ():
            beside(f"{way.__doc__}", store, lambda way=way: way(store, folder / "copy.db"))  # type: ignore[misc]
        with Memory(store, embedder="hashed", background=False) as memory:
            target = folder / "backups"
            beside("backup", store, lambda: told(memory.backup(target, incremental=True)))
            restored(target, folder / "restored.db")
            for owner in range(0, owners, 10):
                for said in islice(exchanges(5), LIFE // 10):
                    memory.of(user(owner)).add(said.query, said.response, thread="new")
                memory.of(user(owner)).settle()
            print(f"{len(range(0, owners, 10)) * (LIFE // 10):,} new pages, settled", flush=True)
            beside("backup --incremental", store, lambda: told(memory.backup(target, incremental=True)))
        restored(target, folder / "again.db")
        if not options.no_check:
            checked(folder / "again.db")
    return 0


def told(made: Any) -> None:
    print(f"  {Path(made.place).name}: {made.bytes / MB:,.1f} MB of {made.store_bytes / MB:,.0f} MB", flush=True)


def restored(backup: Path, target: Path) -> None:
    """Restore a backup."""
    began, busy = time.perf_counter(), time.process_time()
    made = restore_store(backup, target, load(), wall_clock(), lambda *step: None)
    wall, processor = time.perf_counter() - began, time.process_time() - busy
    print(f"restore: {wall:.1f} s (processor {processor:.1f} s), {made.utterances:,} messages", flush=True)


def checked(store: Path) -> None:
    """What `doctor --deep` says of a store."""
    began, busy = time.perf_counter(), time.process_time()
    with Memory(store, embedder="hashed", background=False) as memory:
        wrong = [one.what for one in memory.check(deep=True) if one.level == "error"]
    wall, processor = time.perf_counter() - began, time.process_time() - busy
    print(f"doctor --deep: {len(wrong)} errors {wrong[:3]}, {wall:.0f} s (processor {processor:.0f} s)", flush=True)


# -------------------------------------------------------------------------------------------------------------- writers


@dataclass(frozen=True, kw_only=True, slots=True)
class Wrote:
    """What one writer saw, in seconds."""

    adds: int
    longest: float
    p99: float


def beside(name: str, store: Path, work: Callable[[], object]) -> None:
    """Do something while others write; what it took, and how long they waited."""
    stopping = multiprocessing.Event()
    results: multiprocessing.Queue[Any] = multiprocessing.Queue()
    writers = [multiprocessing.Process(target=write, args=(store, n, stopping, results)) for n in range(WRITERS)]
    for one in writers:
        one.start()
    for _ in writers:
        results.get()  # it has begun
    wal = Path(f"{store}-wal")
    before, began, busy = wal.stat().st_size, time.perf_counter(), time.process_time()
    work()
    wall, processor, after = time.perf_counter() - began, time.process_time() - busy, wal.stat().st_size
    stopping.set()
    wrote = [results.get() for _ in writers]
    for one in writers:
        one.join()
    adds, longest, p99 = (
        f(getattr(one, key) for one in wrote) for f, key in ((sum, "adds"), (max, "longest"), (max, "p99"))
    )
    print(
        f"{name}: {wall:.1f} s (processor {processor:.1f} s); {adds / wall:.0f} adds/s, "
        f"longest {longest * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms; WAL {before / MB:.0f} → {after / MB:.0f} MB",
        flush=True,
    )


def write(store: Path, number: int, stopping: Any, results: Any) -> None:
    """Add pages until told to stop."""
    waits = []
    with Memory(store, embedder="hashed", background=False) as memory:
        mine = memory.of(f"writer{number}")
        mine.add("Hello", "Hi")
        results.put(None)
        while not stopping.is_set():
            began = time.perf_counter()
            mine.add("I saw a heron by the lake, and the train was late again.", "Was it the grey one?")
            waits.append(time.perf_counter() - began)
            time.sleep(PAUSE_S)
    waits.sort()
    results.put(Wrote(adds=len(waits), longest=waits[-1], p99=waits[int(len(waits) * 0.99)]))


# ---------------------------------------------------------------------------------------------- ways to copy the file


def pages(store: Path, target: Path) -> None:
    """SQLite's backup within one read transaction"""

    def copied(source: sqlite3.Connection, to: sqlite3.Connection) -> None:
        source.execute("BEGIN")
        _count(source)
        source.backup(to, pages=1024)

    _copied(store, target, copied)


def stepped(store: Path, target: Path) -> None:
    """SQLite's backup in steps of 1,024 pages, each a transaction, ended after 30 s"""
    end = time.monotonic() + 30.0

    def goes_on(status: int, left: int, total: int) -> None:
        if time.monotonic() > end:
            raise TimeoutError

    try:
        _copied(store, target, lambda source, to: source.backup(to, pages=1024, progress=goes_on, sleep=0.0))
    except TimeoutError:
        print("  not finished", flush=True)


def vacuum(store: Path, target: Path) -> None:
    """VACUUM INTO"""
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(store, isolation_level=None)) as source:
        source.execute("VACUUM INTO ?", (str(target),))


def _copied(store: Path, target: Path, copy: Callable[[sqlite3.Connection, sqlite3.Connection], object]) -> None:
    target.unlink(missing_ok=True)
    opened = (sqlite3.connect(one, isolation_level=None) for one in (store, target))
    with closing(next(opened)) as source, closing(next(opened)) as to:
        for pragma in ("journal_mode=OFF", "synchronous=OFF"):
            to.execute(f"PRAGMA {pragma}").fetchall()
        copy(source, to)


def _count(source: sqlite3.Connection) -> int:
    return int(source.execute("SELECT count(*) FROM owner").fetchone()[0])


# ------------------------------------------------------------------------------------------------------------ the store


def user(number: int) -> str:
    return f"user{number}"


def made(folder: Path, count: int) -> Path:
    """A store of so many pages: the rows of one owner, again and again, each time under another owner's number."""
    store, one = folder / "store.db", folder / "one.db"
    with Memory(one, embedder="hashed", background=False) as memory:
        alice = memory.of(user(0))
        for n, said in enumerate(islice(exchanges(3), LIFE)):
            alice.add(said.query, said.response, thread=f"t{n // 20}")
        alice.settle()
    with Memory(store, embedder="hashed", background=False):
        pass
    with closing(sqlite3.connect(store, isolation_level=None)) as c:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-200000"):
            c.execute(f"PRAGMA {pragma}").fetchall()
        c.execute("ATTACH ? AS one", (str(one),))
        indexes = c.execute(
            "SELECT name, sql FROM main.sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchall()
        for name, _ in indexes:
            c.execute(f'DROP INDEX "{name}"')
        c.execute("BEGIN")
        names = [user(n) for n in range(count // LIFE)]
        c.executemany("INSERT INTO main.owner_key (id) VALUES (?)", [(owner_id(one, "default"),) for one in names])
        c.execute("CREATE TEMP TABLE of AS SELECT no, id FROM main.owner_key")
        c.execute("CREATE TEMP TABLE named (id PRIMARY KEY, name)")
        c.executemany("INSERT INTO named VALUES (?, ?)", [(owner_id(one, "default"), one) for one in names])
        for (table,) in c.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[1] for row in c.execute(f'PRAGMA main.table_info("{table}")')]
            if "owner_id" not in columns:
                continue
            values = [_value(table, column) for column in columns]
            into = ", ".join(f'"{column}"' for column in columns)
            c.execute(
                f'INSERT INTO main."{table}" ({into}) SELECT {", ".join(values)} FROM of '
                f'JOIN named ON named.id = of.id CROSS JOIN one."{table}" t ORDER BY of.no'
            )
        c.execute("COMMIT")
        for _, sql in indexes:
            c.execute(sql)
    one.unlink()
    return store


def _value(table: str, column: str) -> str:
    if column == "owner_id":
        return "of.no"
    return "named.name" if (table, column) == ("owner", "user") else f't."{column}"'


if __name__ == "__main__":
    raise SystemExit(main())
