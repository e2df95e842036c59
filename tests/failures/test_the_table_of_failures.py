"""docs/concepts/failures.md names tests that exist, and every fault of the scripted server has a row."""

from __future__ import annotations

import re
from pathlib import Path

from embermem.testing.faults import KINDS
from unwell import UNWELL

TESTS = Path(__file__).parents[1]
TABLE = (TESTS.parent / "docs" / "concepts" / "failures.md").read_text(encoding="utf-8")


def test_every_test_that_the_table_names_exists() -> None:
    written = {
        name
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    named = re.findall(r"`(test_\w+)", TABLE)
    assert len(named) > 10
    assert [name for name in named if name not in written] == []


def test_every_fault_has_a_row() -> None:
    rows = set(re.findall(r"\[([a-z_0-9]+)\]`", TABLE))
    assert rows == set(UNWELL) == set(KINDS)
