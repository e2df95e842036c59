"""An interrupt at any moment, of the keyboard or of a caller's time-out, leaves the store to the others.

`EMBER_INTERRUPTS=20000 pytest tests/store/engines/test_interrupts.py` interrupts as often; `EMBER_SEED` begins
elsewhere.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from embermem.bootstrap import on_a_server
from proofs import bounded
from scripted import SMALL, Place
from soundness import assert_sound

INTERRUPTS = int(os.environ.get("EMBER_INTERRUPTS", bounded(20, proofs=40)))
SEED = int(os.environ.get("EMBER_SEED", "1"))
TESTS = Path(__file__).parents[2]
STEP = max(1, 60_000 // INTERRUPTS) | 1
"""Lines of Python from one interrupt of an operation to the next."""

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")


@pytest.mark.parametrize("step", [pytest.param(0, marks=pytest.mark.proof), STEP], ids=["by a timer", "line by line"])
@pytest.mark.engines
def test_an_interrupt_at_any_moment_leaves_no_lock_and_loses_nothing(place: Place, step: int) -> None:
    store = place()
    with Memory(store, **SMALL) as memory:
        memory.of("bob").add("Hello")
    told = interrupted(store, step)
    assert told["raised"] > INTERRUPTS // 4
    assert (told["locked"], told["foreign"]) == (0, [])
    with Memory(store, **SMALL) as memory:
        stored = Counter(page.query for page in memory.of("ann").pages())
        assert [finding for finding in memory.check(deep=True) if finding.level == "error"] == []
    assert set(stored.values()) <= {1}
    assert set(told["kept"]) <= set(stored)
    assert not set(told["gone"]) & set(stored)
    assert set(stored) <= {*told["kept"], *told["perhaps"]}
    assert_sound(store)


def interrupted(store: str | Path, step: int) -> dict[str, Any]:
    """What a process tells that is interrupted so often. Whenever it was, this process writes at once."""
    command = [sys.executable, str(TESTS / "interrupted.py"), str(store), str(SEED), str(INTERRUPTS), str(step)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if line.strip() != "write?":
                    return dict(json.loads(line))
                process.stdin.write("yes\n" if can_write(store) else "no\n")
                process.stdin.flush()
        finally:
            process.kill()
    raise AssertionError("it died")


def can_write(store: str | Path) -> bool:
    """Whether another process may write of anybody now."""
    if on_a_server(store):
        import psycopg

        with psycopg.connect(str(store)) as server:
            server.execute("SET lock_timeout = '1s'")
            owners = server.execute("SELECT owner_id FROM owner").fetchall()
            try:
                for owner in owners:  # Citus locks rows of one owner at a time
                    server.execute("SELECT 1 FROM owner WHERE owner_id = %s FOR UPDATE", owner)
            except psycopg.errors.LockNotAvailable:
                return False
        return True
    with closing(sqlite3.connect(store, timeout=0.2, isolation_level=None)) as file:
        try:
            file.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
    return True
