"""Ember beside other stores: adding, searching, bytes and a cold start. Rules: docs/research/footprint.md.

One run, one process a measurement, drawn vectors, so that embedding costs every store the same and next to nothing.
Prints Markdown tables, or JSON. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from isolation import environment
from packages import tell, version_of

from embermem_bench import metrics
from embermem_bench.search import made_up_words
from embermem_bench.synthetic import questions, talk

WORKER = Path(__file__).resolve().with_name("store_worker.py")
QUESTIONS, WORDS, COLD_RUNS = 60, (20, 20), 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A store by name: its title, its package, its settings, whether it keeps anything, and how durable an add is.
    `extensions`: it needs a Python whose SQLite loads extensions."""

    title: str
    distribution: str
    store: str
    durability: str
    on_disk: bool = True
    extensions: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


KINDS: Mapping[str, Kind] = {
    "ember": Kind(
        title="Ember",
        distribution="embermem",
        store="ember",
        durability="SQLite, WAL, synchronous = FULL: synced before `add` returns",
    ),
    "chroma": Kind(
        title="Chroma, PersistentClient",
        distribution="chromadb",
        store="chroma",
        durability="SQLite for items and vectors, the index of vectors written every 1,000 items",
    ),
    "mem0": Kind(
        title="mem0, infer=False",
        distribution="mem0ai",
        store="mem0",
        durability="Qdrant's local mode and a history, each SQLite with its defaults (synced at each commit)",
    ),
    "langgraph": Kind(
        title="LangGraph InMemoryStore",
        distribution="langgraph",
        store="langgraph",
        durability="none: memory only",
        on_disk=False,
    ),
    "langgraph-sqlite": Kind(
        title="LangGraph SqliteStore",
        distribution="langgraph-checkpoint-sqlite",
        store="langgraph-sqlite",
        durability="SQLite with its defaults (a rollback journal, synced at each `put`), sqlite-vec",
        extensions=True,
    ),
}
HEADS = (
    "store",
    "items",
    "add one, ms p50",
    "processor",
    "add many, items/s",
    "by processor time",
    "search, ms p50",
    "p95",
    "processor p50",
    "bytes an item",
    "cold start, ms",
    "processor",
)


def main() -> int:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="ember-peers-", dir=arguments.folder) as folder:
        rows = [
            _measured(name, size, arguments.seconds, Path(folder))
            for size in arguments.items
            for name in arguments.only
        ]
    if arguments.json:
        print(json.dumps({"rows": rows, "made_with": _made_with(arguments.only)}, indent=2))
    else:
        print(_table(rows, arguments.only))
    return int(any("failed" in row for row in rows))


def _measured(name: str, size: int, seconds: float, folder: Path) -> dict[str, Any]:
    """The figures of one store; or what is missing for it; or how it failed."""
    kind, row = KINDS[name], {"name": name, "items": size}
    if version_of(kind.distribution) is None:
        return row | {"missing": "not installed"}
    if kind.extensions and not hasattr(sqlite3.Connection, "enable_load_extension"):
        return row | {"missing": "this Python's SQLite loads no extensions"}
    tell(f"{kind.title}, {size} items")
    home, place = folder / f"{name}-{size}-home", folder / f"{name}-{size}"
    home.mkdir()
    place.mkdir()
    items = folder / f"items-{size}.json"
    if not items.exists():
        items.write_text(json.dumps(_items(size)), encoding="utf-8")
    asked = questions(1, made_up_words(), QUESTIONS + 1)
    task = {"store": kind.store, "folder": str(place), "settings": dict(kind.settings), "asked": asked}
    try:
        found = _asked(home, task | {"task": "fill", "items": str(items), "seconds": seconds})[0]
        if kind.on_disk:
            found["disk_bytes"] = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
            found["cold"] = [_asked(home, task | {"task": "cold"})[1:] for _ in range(COLD_RUNS)]
    except RuntimeError as error:
        tell(str(error))
        return row | {"failed": str(error).splitlines()[-1]}
    return row | found


def _items(size: int) -> list[tuple[str, str]]:
    """Generated talk, no text twice."""
    said = islice(talk(0, made_up_words(), words=WORDS, answer_words=WORDS), size // 2 + 1)
    texts = [text for one in said for text in (one.query, one.response)]
    return [(f"item-{number}", text) for number, text in enumerate(texts[:size])]


def _asked(home: Path, task: Mapping[str, Any]) -> tuple[dict[str, Any], float, float]:
    """What a process found; wall milliseconds until it said so, and processor milliseconds of all its life.

    Raises RuntimeError.
    """
    with tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=home,
            env=environment(home),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin, process.stdout:
            process.stdin.write(json.dumps(task) + "\n")
            process.stdin.flush()
            line = next((line for line in process.stdout if line.startswith("{")), "")
            wall = 1000 * (time.perf_counter() - began)
            process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0 or not line:
            errors.seek(0)
            raise RuntimeError(errors.read()[-3000:].strip() or f"it ended with status {process.returncode}")
    found: dict[str, Any] = json.loads(line)
    return found, wall, 1000 * (used.ru_utime + used.ru_stime)


# ------------------------------------------------------------------------------------------------------ what is shown


def _table(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    lines = [_row(HEADS), _row(["---", *["--:"] * (len(HEADS) - 1)])]
    for row in rows:
        title = KINDS[row["name"]].title
        if "add" not in row:
            lines.append(_row([title, f"{row['items']:,}", row.get("missing", "failed")] + [""] * 9))
            continue
        cold = row.get("cold")
        lines.append(
            _row(
                [
                    title,
                    f"{row['items']:,}",
                    _ms(row["add"], 0, 0.5),
                    _ms(row["add"], 1, 0.5),
                    f"{row['items_per_s']:,.0f}",
                    f"{row['items_per_cpu_s']:,.0f}",
                    _ms(row["search"], 0, 0.5),
                    _ms(row["search"], 0, 0.95),
                    _ms(row["search"], 1, 0.5),
                    f"{row['disk_bytes'] / row['items']:,.0f}" if "disk_bytes" in row else "–",
                    _ms(cold, 0, 0.0) if cold else "–",
                    _ms(cold, 1, 0.0) if cold else "–",
                ]
            )
        )
    lines += ["", "| store | an add is kept by |", "| --- | --- |"]
    lines += [_row([KINDS[name].title, KINDS[name].durability]) for name in names]
    made = ", ".join(f"{name} {number}" for name, number in _made_with(names).items())
    return "\n".join([*lines, "", f"Made with {made}."])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ms(taken: Sequence[Sequence[float]], place: int, share: float) -> str:
    value = metrics.percentile([one[place] for one in taken], share) or 0.0
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _made_with(names: Sequence[str]) -> dict[str, str]:
    packages = dict.fromkeys(["embermem", "numpy", *(KINDS[name].distribution for name in names)])
    return {"Python": platform.python_version()} | {
        name: number for name in packages if (number := version_of(name)) is not None
    }


# -------------------------------------------------------------------------------------------------- the command line


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/scripts/peers.sh --footprint",
        description="Compare Ember with other stores: adding, searching, bytes. Rules: docs/research/footprint.md.",
    )
    parser.add_argument("--items", type=_sizes, default=(2000, 10_000), metavar="N,N,...", help="items stored")
    parser.add_argument("--seconds", type=float, default=60.0, help="most time to add many, for each store and size")
    parser.add_argument("--folder", type=Path, help="where the stores are made; default: the system's temporary folder")
    parser.add_argument(
        "--only",
        type=_names,
        default=tuple(KINDS),
        metavar="STORE,...",
        help=f"these stores: {', '.join(KINDS)} (default: all)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser.parse_args()


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 100:
        raise argparse.ArgumentTypeError(f"{text!r}: expected numbers of 100 and more, such as 2000,10000")
    return sizes


def _names(text: str) -> tuple[str, ...]:
    asked = [part.strip() for part in text.split(",") if part.strip()]
    if strange := [name for name in asked if name not in KINDS] or ([text] if not asked else []):
        raise argparse.ArgumentTypeError(f"unknown store {strange[0]!r}; known: {', '.join(KINDS)}")
    return tuple(name for name in KINDS if name in asked)


if __name__ == "__main__":
    sys.exit(main())
