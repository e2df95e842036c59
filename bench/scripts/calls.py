"""What calls cost on the processor: bench/scripts/calls.sh [--pages 500] [--runs 5] [--against SRC]

User and system time, which a busy machine blurs less than the clock: one `add`; settling 50 new pages of an owner of
few and of one of `--pages`; reads of the past beside those of now; and whole processes of the command line from cold,
with the embedder that is installed. With `--against`, the `src` of another version of Ember, each round is measured
with both, one after the other, and the ratio of the medians is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

USER = "alice"
BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
ADDS, NEW, READS = 200, 50, 5
QUESTION = "what did I say of the garden?"


def main() -> int:
    """Measure, and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--against", type=Path, help="the src folder of the version to compare with")
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within is not None:
        print(json.dumps(inside(options.within, options.pages)))
        return 0
    versions: dict[str, Path | None] = {"here": None}
    if options.against is not None:
        versions = {"against": options.against, "here": None}
    found: dict[str, dict[str, list[float]]] = {name: {} for name in versions}
    for _ in range(options.runs):
        for name, source in versions.items():
            for what, ms in once(source, options.pages).items():
                found[name].setdefault(what, []).append(ms)
    for what, here in found["here"].items():
        line = f"{what}: {statistics.median(here):.2f} ms"
        if "against" in found and what in found["against"]:
            before = statistics.median(found["against"][what])
            line += f" (before {before:.2f} ms, ratio {statistics.median(here) / before:.2f})"
        print(line, flush=True)
    return 0


def once(source: Path | None, pages: int) -> Mapping[str, float]:
    """Every figure of one version, in processes of its own."""
    env = dict(os.environ)
    if source is not None:
        env["PYTHONPATH"] = os.pathsep.join([str(source), env.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--within", folder, "--pages", str(pages)]
        done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE)
        figures: dict[str, float] = json.loads(done.stdout)
        store = str(Path(folder) / "cold.db")
        cold = [sys.executable, "-m", "embermem", "--store", store, "--user", USER]
        for n in range(5):
            of_process([*cold, "add", f"I planted {n} roses in the garden."], env)
        for name, words in (
            ("embermem --version", ["--version"]),
            ("embermem --help", ["--help"]),
            ("embermem stats", ["stats"]),
            ("embermem add", ["add", "I watered the roses."]),
            ("embermem recall", ["recall", QUESTION]),
        ):
            figures[f"{name}, from cold"] = of_process([*cold, *words], env)
    return figures


def of_process(command: list[str], env: Mapping[str, str]) -> float:
    """Milliseconds of processor time of a whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=dict(env), check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def inside(folder: Path, pages: int) -> Mapping[str, float]:
    """The figures of calls within one process."""
    from embermem import Memory
    from embermem_bench.synthetic import exchanges

    talk = iter(islice(exchanges(3), pages + 3 * NEW))
    figures: dict[str, float] = {}
    with Memory(folder / "calls.db", embedder="hashed", background=False) as memory:
        few, many, adds = memory.of("few"), memory.of(USER), memory.of("adds")
        adds.add("Good morning.", "Good morning!")
        figures["one add"] = timed(lambda: [adds.add("I went to the park.", "How was it?") for _ in range(ADDS)]) / ADDS
        for n, told in enumerate(islice(talk, pages)):
            many.add(told.query, told.response, at=BEGAN + timedelta(hours=n), thread=f"t{n // 20}")
        many.settle()
        for name, owner in (("few", few), (f"{pages}", many)):
            for n, told in enumerate(islice(talk, NEW)):
                owner.add(told.query, told.response, at=BEGAN + timedelta(days=999, hours=n), thread="new")
            figures[f"settling {NEW} new pages of an owner of {name}"] = timed(owner.settle)
        then, page = datetime.now(UTC), many.pages(limit=1)[0].id
        reads: Mapping[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "page": (lambda: many.page(page), lambda: many.page(page, as_of=then)),
            "pages": (lambda: many.pages(limit=50), lambda: many.pages(limit=50, as_of=then)),
            "facts": (many.facts, lambda: many.facts(as_of=then)),
            "recall": (lambda: many.recall(QUESTION), lambda: many.recall(QUESTION, as_of=then)),
        }
        for name, calls in reads.items():
            for when, call in zip(("now", "as of a time"), calls, strict=True):
                call()
                figures[f"{name}, {when}"] = min(timed(call) for _ in range(READS))
    return figures


def timed(call: Callable[[], object]) -> float:
    """Milliseconds on the processor."""
    began = time.process_time()
    call()
    return 1000 * (time.process_time() - began)


if __name__ == "__main__":
    raise SystemExit(main())
