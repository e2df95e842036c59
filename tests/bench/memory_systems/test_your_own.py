"""The system of docs/research/systems/your-own.md, as printed there: ten lines that run beside the nine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from embermem.core.errors import ConfigError
from embermem_bench.systems import SYSTEMS, open_system
from memory_systems.test_contract import told

PAGE = Path(__file__).parents[3] / "docs" / "research" / "systems" / "your-own.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the file, from which Python imports."""
    found = re.search(r"^```python file=last_pages\.py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    (tmp_path / "last_pages.py").write_text(found[1], encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_ten_lines_keep_the_last_pages(folder: Path) -> None:
    lines = (folder / "last_pages.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) <= 10

    with open_system("last_pages:LastPages", folder / "memory.db", embedder="hashed") as memory:
        alice = told(memory.of("alice"))
        assert alice.settle() == 6
        context = alice.recall("What happened?")
        assert [hit.utterance.seq for hit in context.hits] == [11, 12, 9, 10, 7, 8]
        assert "rye bread" in context.text
        assert "heron" not in context.text
        assert alice.recall("What happened?", budget=20).tokens <= 20
        assert memory.of("bob").recall("What happened?").hits == ()


def test_what_is_no_system_is_refused(folder: Path) -> None:
    (folder / "other.py").write_text("class Thing: ...\n", encoding="utf-8")
    for name, said in (("other:Thing", "RecordedSystem"), ("other:None", "imported"), ("nowhere:X", "imported")):
        with pytest.raises(ConfigError, match=said):
            open_system(name, folder / f"{name.replace(':', '-')}.db", embedder="hashed")
    assert "last_pages" not in SYSTEMS
