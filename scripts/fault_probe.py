"""What `scripts/faults.py` puts into a copy of the tree: it notes which test runs which place, and how tests end.

It is a plugin of pytest, and the module that a probe in the product's code imports, also in processes that a test
starts. What it notes goes into a file beside it, one line of JSON each.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(os.environ.get("FAULT_PROBE") or Path(__file__).parent)
LOG = _FOLDER / "fault_probe.log"
CHOSEN = _FOLDER / "fault_probe.json"
"""The tests that are to run, in this order; without it, all that are collected."""
_noted: set[tuple[str, str]] = set()


def reached(fault: str) -> None:
    """The test in hand runs the place of a fault."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if test and (fault, test) not in _noted:
        _noted.add((fault, test))
        _note("reached", fault, test)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Keep the chosen tests."""
    if CHOSEN.exists():
        order = {test: place for place, test in enumerate(json.loads(CHOSEN.read_text()))}
        items[:] = sorted((one for one in items if one.nodeid in order), key=lambda one: order[one.nodeid])


def pytest_runtest_logreport(report: Any) -> None:
    """How a test, or its setup or teardown, ended."""
    if not hasattr(report, "node"):  # what a worker of pytest-xdist ended is noted by that worker
        _note("ended", report.nodeid, report.outcome, report.duration)


def _note(*fields: object) -> None:
    """Write a line. The file is opened once in a process: a test may give up the rights to do so."""
    os.write(_log(), (json.dumps(fields) + "\n").encode())


@cache
def _log() -> int:
    return os.open(LOG, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o666)


def pytest_configure() -> None:
    """Open the file before any test."""
    _log()
