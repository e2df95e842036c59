"""Recall's figures of another checkout and of this one, and what differs: recall_against.py CHECKOUT FILE...

Both run `embermem bench recall` with their own code, side by side. Prints a Markdown table with a row for each figure
that differs, and for those of the headline. Exit code 1 if one of them fell by 0.0005 or more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[2]
HEADLINE = ("rec@5", "rec@10", "mrr", "rec@600w", "thread_any@5", "thread_any@10", "thread_mrr", "thread_rec@600w")
LEAST = 0.0005
"""A difference that shows in three digits."""
NOT_COMPARED = ("_ms_", "ingest_", "bytes_", "_s")


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare recall's figures with those of another checkout.")
    parser.add_argument("checkout", type=Path, help="a checkout of another version")
    parser.add_argument("files", nargs="+", type=Path, help="data sets, as `embermem bench recall` reads them")
    parser.add_argument("--preset", default="default", help="`default` or `paper`")
    arguments = parser.parse_args()
    files = [str(file.resolve()) for file in arguments.files]
    running = [_started(root, files, arguments.preset) for root in (arguments.checkout.resolve(), HERE)]
    before, after = (_ended(process) for process in running)
    lines, fallen = ["| data | figure | before | after | difference |", "| --- | --- | --: | --: | --: |"], False
    for one, other in zip(before, after, strict=True):
        for name in (name for name in one if _compared(name, one[name]) and _compared(name, other.get(name))):
            difference = other[name] - one[name]
            if name in HEADLINE or abs(difference) >= LEAST:
                cells = [one["name"], name, f"{one[name]:.4f}", f"{other[name]:.4f}", f"{difference:+.4f}"]
                lines.append(f"| {' | '.join(cells)} |")
            fallen = fallen or (name in HEADLINE and difference <= -LEAST)
    print("\n".join(lines))
    return int(fallen)


def _started(root: Path, files: Sequence[str], preset: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "embermem", "bench", "recall", *files, "--preset", preset, "--json"],
        env=os.environ | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root / 'bench' / 'src'}"},
        stdout=subprocess.PIPE,
        text=True,
    )


def _ended(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    out, _ = process.communicate()
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, process.args))} ended with status {process.returncode}")  # type: ignore[arg-type]
    found = json.loads(out)
    return found if isinstance(found, list) else [found]


def _compared(name: str, value: object) -> bool:
    return isinstance(value, float) and not any(part in name for part in NOT_COMPARED)


if __name__ == "__main__":
    sys.exit(main())
