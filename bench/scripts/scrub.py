"""How long a scrub of an SQLite store takes beside VACUUM, on a copy: bench/scripts/scrub.py FILE."""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from embermem import Memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="a store that nobody writes meanwhile")
    file = parser.parse_args().file
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        shutil.copyfile(file, copy)
        with Memory(copy, background=False, reindex=True) as memory:
            first = seconds(memory.scrub)
            again = sorted(seconds(memory.scrub) for _ in range(5))[2]
        print(f"{copy.stat().st_size / 2**20:,.0f} MiB")
        print(f"the first scrub {first:.2f} s, a later one {again:.2f} s (median of 5)")
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            print(f"VACUUM {seconds(lambda: connection.execute('VACUUM')):.2f} s")


def seconds(call: object) -> float:
    """Of the wall clock, for one call."""
    assert callable(call)
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
