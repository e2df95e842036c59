"""What a recall costs under a scope, as a ratio to one without: bench/scripts/scopes.sh [--utterances 10000]

Processor time of one process, medians. Each query is asked four times in a row: once untimed, without a scope, under a
scope that was never asked for (cold), and under the same again (warm). Then after an add, which makes every snapshot
anew: without a scope, and under one. The store holds synthetic talk; `--store` names an empty
database instead of a file.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from embermem import Memory, OwnerMemory, Scope
from embermem_bench.synthetic import exchanges, queries

BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
A_THREAD = 100
"""Utterances of one thread."""


def main() -> int:
    """Measure, and print one line a scope."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utterances", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=25)
    parser.add_argument("--embedder", default="hashed")
    parser.add_argument("--store", help="the URL of an empty database")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(options.store or Path(folder) / "scopes.db", embedder=options.embedder, background=False) as memory,
    ):
        alice = memory.of("alice")
        fill(alice, options.utterances)
        for name, scope_of in SCOPES.items():
            measure(name, alice, scope_of, options)
    return 0


def fill(alice: OwnerMemory, utterances: int) -> None:
    """Talk whose messages each have a number of their own, and one of a hundred tickets."""
    number = 0
    for page, told in enumerate(islice(exchanges(3), utterances // 2)):
        given: list[dict[str, Any]] = []
        for role, text in (("user", told.query), ("assistant", told.response)):
            labels = {"number": number, "ticket": f"T-{number % 100}", "odd": number % 2 == 1}
            given.append({"role": role, "content": text, "metadata": labels})
            number += 1
        at = BEGAN + timedelta(minutes=5 * page)
        alice.add_messages(given, thread=f"t{number // A_THREAD}", at=at)
        if page % 500 == 499:
            alice.settle()
    alice.settle()


def _but(name: str) -> Callable[[int], Scope]:
    return lambda n: Scope(metadata={"$not": {name: f"T-{n % 100}"}})


SCOPES: dict[str, Callable[[int], Scope]] = {
    "1 % by metadata": lambda n: Scope(metadata={"ticket": f"T-{n % 100}"}),
    "1 % by a range of numbers": lambda n: Scope(metadata={"number": {"$gte": 100 * n, "$lt": 100 * n + 100}}),
    "1 % by threads": lambda n: Scope(threads=[f"t{n}"]),
    "1 % by time": lambda n: Scope(
        since=BEGAN + timedelta(minutes=250 * n), until=BEGAN + timedelta(minutes=250 * (n + 1))
    ),
    "50 % by metadata": lambda n: Scope(metadata={"odd": True, "number": {"$ne": 2 * n + 1}}),
    "99 % by metadata": _but("ticket"),
    "before the last two": lambda n: Scope(before_seq=9_999 + 2 * n),
    "90 %, before a seq": lambda n: Scope(before_seq=9_000 - n),
}
"""By name, the scope of a number: others for other numbers."""


def measure(name: str, alice: OwnerMemory, scope_of: Callable[[int], Scope], options: argparse.Namespace) -> None:
    """Print what a recall costs without a scope, and the ratios under one."""
    asked = _queries()
    whole, cold, warm = list[float](), list[float](), list[float]()
    for n in range(options.queries):
        ask = partial(alice.recall, next(asked))
        ask()
        whole.append(_ms(ask))
        for found in (cold, warm):
            found.append(_ms(partial(ask, scope=scope_of(n))))
    whole_after, after = list[float](), list[float]()
    for n in range(options.queries):
        ask = partial(alice.recall, next(asked))
        ask()
        for found, scope in ((whole_after, None), (after, scope_of(n))):
            alice.add(f"Nothing new on day {n} of {name}.", thread="other", at=BEGAN)
            found.append(_ms(partial(ask, scope=scope)))
    base, base_after = statistics.median(whole), statistics.median(whole_after)
    print(
        f"{name:28s} without {base:6.2f} ms; cold × {statistics.median(cold) / base:.2f}, "
        f"warm × {statistics.median(warm) / base:.2f}; after an add without {base_after:6.2f} ms, "
        f"with × {statistics.median(after) / base_after:.2f}",
        flush=True,
    )


def _queries() -> Iterator[str]:
    seed = 0
    while True:
        seed += 1
        yield from queries(seed, 100)


def _ms(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return 1000 * (time.process_time() - began)


if __name__ == "__main__":
    raise SystemExit(main())
