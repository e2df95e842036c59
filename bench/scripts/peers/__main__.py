"""Ember beside other memories: the same data, the same vectors, one process a system. Rules: docs/research/peers.md.

Prints Markdown tables, or JSON. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from isolation import environment
from measure import headline
from packages import tell, version_of
from systems import GROUPS, SYSTEMS, Kind, spoken

from embermem.core.errors import InputError
from embermem.embedders.e5 import E5
from embermem.embedders.weights import find_weights
from embermem_bench import metrics
from embermem_bench.datasets import Dataset, load

HERE = Path(__file__).resolve().parent
SINGLY = 100
"""Questions embedded one by one, to say what embedding costs."""
TITLES = {
    "rec@5": "rec@5",
    "rec@10": "rec@10",
    "mrr": "MRR",
    "thread_any@5": "thread any@5",
    "thread_any@10": "thread any@10",
    "thread_mrr": "thread MRR",
}
COSTS = ("ms p50", "ms p95", "items/s", "disk B", "RAM MB")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A data set as named on the command line."""

    name: str
    path: Path
    dataset: Dataset


def main() -> int:
    arguments = _arguments()
    reports = []
    for source in arguments.data:
        with tempfile.TemporaryDirectory(prefix="ember-peers-") as folder:
            reports.append(_report(source, arguments.only, Path(folder)))
    if arguments.json:
        print(json.dumps({"data": reports, "made_with": _made_with(arguments.only)}, indent=2))
    else:
        print("\n\n".join([*map(_table, reports), _conditions(reports, arguments.only)]))
    return int(any("failed" in system for report in reports for system in report["systems"].values()))


def _report(source: Source, names: Sequence[str], folder: Path) -> dict[str, Any]:
    tell(f"{source.name}: embedding")
    embed_ms = _embed(source.dataset, [SYSTEMS[name] for name in names], folder)
    systems = {}
    for name in names:
        tell(f"{source.name}: {SYSTEMS[name].title}")
        systems[name] = _measured(name, source.path, folder)
    return {
        "name": source.name,
        "conversations": len(source.dataset.conversations),
        "utterances": sum(1 for talk in source.dataset.conversations for _ in talk.turns()),
        "questions": sum(1 for talk in source.dataset.conversations for _ in headline(source.dataset, talk)),
        "embed_ms_p50": embed_ms,
        "systems": systems,
    }


def _embed(dataset: Dataset, kinds: Sequence[Kind], folder: Path) -> float | None:
    """Keeps the vector of every text that a system will ask for. How many ms one question takes alone (median)."""
    turns = [turn for talk in dataset.conversations for _, turn in talk.turns()]
    asked = [question.text for talk in dataset.conversations for question in headline(dataset, talk)]
    texts = list(asked)
    texts += [spoken(turn) for turn in turns] if any(kind.embeds_speaker for kind in kinds) else []
    texts += [turn.text for turn in turns] if any(not kind.embeds_speaker for kind in kinds) else []
    texts = list(dict.fromkeys(text.strip() for text in texts))
    embedder = E5()
    (folder / "texts.json").write_text(json.dumps(texts))
    np.save(folder / "vectors.npy", embedder.embed(texts))
    taken = []
    for text in asked[:SINGLY]:
        began = time.perf_counter()
        embedder.embed([text])
        taken.append(1000 * (time.perf_counter() - began))
    return metrics.percentile(taken, 0.5)


def _measured(name: str, data: Path, folder: Path) -> dict[str, Any]:
    """The figures of one system; or that it is not installed; or that it failed, and how it ended."""
    if version_of(SYSTEMS[name].distribution) is None:
        return {"missing": SYSTEMS[name].distribution}
    home = folder / f"{name}-home"
    home.mkdir()
    log = folder / f"{name}.log"
    with log.open("w") as out:
        done = subprocess.run(
            [sys.executable, str(HERE / "measure.py"), name, str(data), str(folder)],
            cwd=home,
            env=environment(home),
            stdout=out,
            stderr=out,
        )
    if done.returncode != 0:
        lines = log.read_text(errors="replace").splitlines() or [f"it ended with status {done.returncode}"]
        tell("\n".join(lines[-20:]))
        return {"failed": lines[-1]}
    figures: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    if SYSTEMS[name].on_disk:  # its process has ended: everything is written
        figures["disk_bytes"] = sum(file.stat().st_size for file in (folder / name).rglob("*") if file.is_file())
    return figures


# ------------------------------------------------------------------------------------------------------ what is shown


def _table(report: dict[str, Any]) -> str:
    measured = [system for system in report["systems"].values() if "questions" in system]
    scores = [name for name in TITLES if any(name in system for system in measured)]
    counts = f"{report['conversations']} conversations, {report['utterances']} utterances"
    lines = [f"**{report['name']}**: {counts}, {report['questions']} questions", ""]
    lines += [_row(["system", *(TITLES[name] for name in scores), *COSTS]), _row(["---", *["--:"] * (len(scores) + 5)])]
    for name, system in report["systems"].items():
        shown = [*(_percent(system, score) for score in scores), *_costs(system)]
        if "missing" in system:
            shown = ["not installed", *[""] * (len(shown) - 1)]
        if "failed" in system:
            shown = ["failed", *[""] * (len(shown) - 1)]
        lines.append(_row([SYSTEMS[name].title, *shown]))
    return "\n".join(lines)


def _percent(system: dict[str, Any], score: str) -> str:
    value = system.get(score)
    if value is None:
        return "–"
    return f"{value:.3f}".removeprefix("0") if score.endswith("mrr") else f"{100 * value:.1f}"


def _costs(system: dict[str, Any]) -> list[str]:
    if "questions" not in system:
        return ["–"] * len(COSTS)
    disk, grown = system.get("disk_bytes"), system["rss_grown"]
    return [
        f"{system['search_ms_p50']:.2f}" if system["questions"] else "–",
        f"{system['search_ms_p95']:.2f}" if system["questions"] else "–",
        f"{system['ingest_items_per_s']:.0f}",
        "–" if disk is None else f"{disk / system['utterances']:.0f}",
        "–" if grown is None else f"{grown / 1e6:.0f}",
    ]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _conditions(reports: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    embed = ", ".join(f"{r['embed_ms_p50']:.1f} ms ({r['name']})" for r in reports if r["embed_ms_p50"] is not None)
    made = ", ".join(f"{name} {number}" for name, number in _made_with(names).items())
    return f"Embedding one question, the same for all and not in the table: {embed}.\nMade with {made}."


def _made_with(names: Sequence[str]) -> dict[str, str]:
    packages = ["embermem", "numpy", "onnxruntime", *(SYSTEMS[name].distribution for name in names)]
    found = {name: number for name in packages if (number := version_of(name)) is not None}
    if (commit := _commit()) is not None:
        found["embermem"] += f" (commit {commit})"
    return {"Python": platform.python_version()} | found


def _commit() -> str | None:
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=HERE, capture_output=True, text=True
        )
    except OSError:
        return None
    return done.stdout.strip() or None


# -------------------------------------------------------------------------------------------------- the command line


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/scripts/peers.sh",
        description="Compare Ember with other memories on the same data and vectors. Rules: docs/research/peers.md.",
    )
    parser.add_argument(
        "data",
        nargs="+",
        type=_source,
        metavar="[NAME=]FILE",
        help="LoCoMo's format or the recall-set format of docs/research/bench.md; NAME is for the table",
    )
    parser.add_argument(
        "--only",
        type=_names,
        default=tuple(SYSTEMS),
        metavar="SYSTEM,...",
        help=f"these systems: {', '.join([*SYSTEMS, *GROUPS])} (default: all)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    arguments = parser.parse_args()
    if find_weights() is None:
        parser.error("the weights of e5 are not installed; run `embermem model install`")
    return arguments


def _source(text: str) -> Source:
    name, found, path = text.partition("=")
    if not found or Path(text).exists():
        name, path = "", text
    try:
        dataset = load(path)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return Source(name=name or dataset.name, path=Path(path).resolve(), dataset=dataset)


def _names(text: str) -> tuple[str, ...]:
    asked = [part.strip() for part in text.split(",") if part.strip()]
    known = {name: (name,) for name in SYSTEMS} | dict(GROUPS)
    if strange := [name for name in asked if name not in known] or ([text] if not asked else []):
        raise argparse.ArgumentTypeError(f"unknown system {strange[0]!r}; known: {', '.join(known)}")
    chosen = {name for part in asked for name in known[part]}
    return tuple(name for name in SYSTEMS if name in chosen)


if __name__ == "__main__":
    sys.exit(main())
