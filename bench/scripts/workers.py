"""Pages a second that one process of `embermem worker` understands, by threads: bench/scripts/workers.sh [--owners 40]

On an SQLite file and on a PostgreSQL that it starts itself; without a model, and with a scripted one on loopback that
takes its time over each answer. Each figure has a store of its own: owners of 16 pages each, the hashed embedder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from embermem import Memory
from embermem.cli import worker
from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from embermem_bench import places, synthetic

PAGES = 16
THREADS = (1, 2, 4, 8)


def main() -> int:
    """Measure, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--owners", type=int, default=40)
    parser.add_argument("--wait", type=float, default=0.5, help="seconds that the model takes for an answer")
    options = parser.parse_args()
    print(f"{options.owners} owners of {PAGES} pages; pages a second by threads {', '.join(map(str, THREADS))}")
    with places.embedded() as server:
        for engine in ("SQLite", "PostgreSQL"):
            for wait in (0.0, options.wait):
                row = [f"{measured(engine, server, wait, n, options.owners):7.0f}" for n in THREADS]
                print(
                    f"{engine:12}{f'a model that takes {wait:g} s' if wait else 'no model':28}{''.join(row)}",
                    flush=True,
                )
    return 0


def measured(engine: str, server: str, wait: float, threads: int, owners: int) -> float:
    """Pages placed a second by so many threads of one process."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place = folder / "memory.db" if engine == "SQLite" else stack.enter_context(places.database(server)).where
        settings: dict[str, Any] = {"embedder": "hashed", "background": False, "short_term_pages": 1}
        settings |= {"batch_wait_s": 0.0, "forgotten_key_file": str(folder / "key"), "model_concurrency": threads}
        with Memory(place, **settings) as memory:
            for number in range(owners):
                owner = memory.of(f"owner {number}")
                for said in islice(synthetic.exchanges(number), PAGES + 1):
                    owner.add(said.query, said.response)
        if wait:
            model = stack.enter_context(ModelServer(patient(wait)))
            settings |= {"model": "scripted", "model_url": model.url, "model_key": "none"}
        memory = stack.enter_context(Memory(place, **settings))
        began = time.perf_counter()
        stop = stack.enter_context(worker.stopping())
        placed = worker.run(memory, stop, threads=threads, once=True, told=lambda _: None)
        return placed / (time.perf_counter() - began)


def patient(wait: float) -> Any:
    """A model's answers, each after so many seconds."""

    def answered(request: Mapping[str, Any]) -> dict[str, Any]:
        time.sleep(wait)
        return answer(request)

    return answered


if __name__ == "__main__":
    raise SystemExit(main())
