"""Whether the time of a key's check tells if its id is known. Keys that are wrong in several ways are checked in turns
against one store, so that the load of the machine is the same for all. Nothing goes over the network, which would hide
what there is: an attacker sees less."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

from embermem import Memory, api_keys
from embermem_bench.metrics import percentile

KEYS = 100
"""Keys in the store."""


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--calls", type=int, default=5000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "memory.db", embedder="hashed") as memory:
        made = [api_keys.make(f"key {number}", ["alice"], read_only=False, now=memory.now()) for number in range(KEYS)]
        for key, _ in made:
            memory.keys.add_key(key)
        key, text = made[KEYS // 2]
        secret = text.rpartition(f"{key.id}_")[2]
        wrong = {
            "unknown_id": f"{api_keys.PREFIX}{'0' * len(key.id)}_{secret}",
            "first_letter_wrong": f"{api_keys.PREFIX}{key.id}_{'-' if secret[0] != '-' else 'a'}{secret[1:]}",
            "last_letter_wrong": f"{api_keys.PREFIX}{key.id}_{secret[:-1]}{'-' if secret[-1] != '-' else 'a'}",
        }
        taken: dict[str, list[float]] = {name: [] for name in wrong}
        for _ in range(given.calls):
            for name, one in wrong.items():
                begun = time.perf_counter_ns()
                found = api_keys.verified(one, memory.keys)
                taken[name].append((time.perf_counter_ns() - begun) / 1000)
                if found is not None:
                    raise AssertionError(f"{name} was taken for a key that holds")
    us = {name: {"p50": _of(times, 0.5), "p90": _of(times, 0.9)} for name, times in taken.items()}
    print(json.dumps({"calls": given.calls, "load": round(os.getloadavg()[0], 1), "us": us}, indent=2))


def _of(times: list[float], share: float) -> float:
    return round(percentile(times, share) or 0.0, 1)


if __name__ == "__main__":
    main()
