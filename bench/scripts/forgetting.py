"""What forgetting costs, by the clock and on the processor: bench/scripts/forgetting.sh [--pages 5000] [--store FILE]

One page at a time of an owner of many, in a process that has the store open; before the scrub of the file, and the
scrub. Then the same where a model wrote one of the changes, and all pages of a month at once. The store is made of
synthetic talk, with the hashed embedder (some minutes), or is a copy of the one that is named.
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from embermem import Memory, OwnerMemory
from embermem_bench.synthetic import exchanges

USER = "alice"
FORGOTTEN = 24
"""Pages that are forgotten, one after another, spread over the whole; the first two only warm up."""
BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
PLAIN = ("I like {}.", "I live in {}.", "My sister Ana works in {}.", "I am learning {}.")
WORDS = ("figs", "Lyon", "Oslo", "Perl", "chess", "tennis", "Kiel", "Basel", "rowing", "cheese", "jazz")


def main() -> int:
    """Measure, and print one line a case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--store", type=Path, help="a store of the hashed embedder and a user alice; it is copied")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole = options.store or made(Path(folder) / "whole.db", options.pages)
        for name, modelled in (("no model", False), ("a model wrote too", True)):
            with opened(whole, Path(folder) / f"{name}.db", modelled=modelled) as memory:
                one_by_one(name, memory)
        with opened(whole, Path(folder) / "month.db", modelled=False) as memory:
            alice = memory.of(USER)
            said = [page.said_at for page in alice.pages()]
            began, pages = time.perf_counter(), alice.forget(before=said[0] + timedelta(days=31)).pages
            print(f"{len(pages)} of {len(said)} pages at once: {time.perf_counter() - began:.1f} s", flush=True)
            print(f"rebuild differs in nothing: {memory.rebuild()[0].same}")
    return 0


def made(place: Path, pages: int) -> Path:
    """A store of so many pages."""
    chance = random.Random(2)
    with Memory(place, embedder="hashed", background=False) as memory:
        alice = memory.of(USER)
        for n, told in enumerate(islice(exchanges(3), pages)):
            plain = chance.choice(PLAIN).format(f"{chance.choice(WORDS)}{n // 40}")
            query = f"{told.query} {plain}" if n % 3 == 0 else told.query
            alice.add(query, told.response, at=BEGAN + timedelta(hours=n), thread=f"t{n // 20}")
            if n % 500 == 499:
                alice.settle()
        alice.settle()
    return place


def opened(whole: Path, place: Path, *, modelled: bool) -> Memory:
    """A copy of the store, open and warm; `modelled`: as if a model had written its last batch."""
    shutil.copy(whole, place)
    if modelled:
        with closing(sqlite3.connect(place)) as file, file:
            file.execute("UPDATE change SET analyst = 'some-model' WHERE no = (SELECT max(no) FROM change)")
            file.execute("UPDATE change SET cause = 'promotion' WHERE no = (SELECT max(no) FROM change)")
    return Memory(place, embedder="hashed", background=False)


def one_by_one(name: str, memory: Memory) -> None:
    alice = memory.of(USER)
    ids = [page.id for page in alice.pages()]
    gc.collect()
    gc.freeze()
    chosen = ids[5 :: max(1, len(ids) // FORGOTTEN)]
    spent, busy, scrubs = measured(memory, alice, chosen)
    print(
        f"{name}: {len(ids)} pages, one forgotten: median {1000 * statistics.median(spent[2:]):.0f} ms before the scrub"
        f" ({1000 * statistics.median(busy[2:]):.0f} ms of processor), at most {1000 * max(spent[2:]):.0f} ms;"
        f" scrub {1000 * statistics.median(scrubs[2:]):.0f} ms",
        flush=True,
    )


def measured(memory: Memory, alice: OwnerMemory, ids: Sequence[str]) -> tuple[list[float], list[float], list[float]]:
    """Seconds before the scrub, on the clock and on the processor, and those of the scrub."""
    spent, busy, scrubs = [], [], []
    for page in ids:
        clock, processor = time.perf_counter(), time.process_time()
        alice.forget(page=page)
        took, worked = time.perf_counter() - clock, time.process_time() - processor
        again = timed(memory.scrub)  # there is nothing left to do but to ask: what the first took is a little more
        spent.append(took - again)
        busy.append(worked)
        scrubs.append(again)
    return spent, busy, scrubs


def timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    raise SystemExit(main())
