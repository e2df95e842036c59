"""What programs test themselves with: the clock, the assertions, the fixtures, and the example of the guide."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError
from embermem.testing import FrozenClock, assert_knows, assert_not_recalled, assert_recalls

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "testing.md"
BLOCK = re.compile(r"^```python no-run (?P<file>\w+\.py)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def alice(clock: FrozenClock) -> OwnerMemory:
    """Somebody who said a little."""
    mine = Memory(":memory:", embedder="hashed", background=False, clock=clock).of("alice")
    mine.add("I live in Lyon.", "Since when?")
    return mine


@pytest.fixture
def clock() -> FrozenClock:
    """One that says a known time."""
    return FrozenClock("2026-05-02T10:00:00+02:00")


def test_the_clock_stands_still_until_it_is_told_to_go_and_refuses_what_is_no_time(
    clock: FrozenClock, alice: OwnerMemory
) -> None:
    calls: list[tuple[Callable[[Any], object], str]] = [
        (lambda clock: FrozenClock("soon"), "now = 'soon' is not a time"),
        (lambda clock: type(clock)(3), "now is int"),
        (lambda clock: clock.set(None), "now is NoneType"),
        (lambda clock: clock.advance(days="1"), "cannot be advanced by this"),
        (lambda clock: clock.advance(days=float("nan")), "cannot be advanced by this"),
        (lambda clock: clock.advance(weeks=10**9), "cannot be advanced by this"),
        (lambda clock: clock.advance(days=-1), "time does not go back"),
    ]
    for call, told in calls:
        with pytest.raises(InputError, match=told):
            call(clock)

    assert clock() == clock.now == datetime(2026, 5, 2, 8, tzinfo=UTC)
    assert alice.pages()[0].said_at == clock.now
    assert clock.advance(days=1, hours=2) == clock.now == datetime(2026, 5, 3, 10, tzinfo=UTC)
    assert clock.set(date(2026, 1, 1)) == datetime(2026, 1, 1, tzinfo=UTC)
    assert FrozenClock("2026-05-02").now.utcoffset() == timedelta()
    assert repr(clock) == "FrozenClock('2026-01-01T00:00:00+00:00')"


def test_an_assertion_hands_on_what_it_looked_at_or_says_what_is_there(alice: OwnerMemory) -> None:
    assert assert_recalls(alice, "Where do I live?", "i live\n in lyon", budget=100).tokens <= 100
    assert not assert_not_recalled(alice, "Where do I live?", "Paris").partial
    alice.settle()
    assert assert_knows(alice, "lives in LYON", person="alice").value == "Lyon"

    checks: list[tuple[Callable[[OwnerMemory], object], str]] = [
        (
            lambda alice: assert_recalls(alice, "Where?", "Lyon", "Paris"),
            "does not recall 'Paris'; it recalls:\n.*Lyon",
        ),
        (lambda alice: assert_not_recalled(alice, "Where?", "lyon"), "'Where\\?' recalls 'lyon':\n"),
        (lambda alice: assert_knows(alice, "Paris"), "no fact says 'Paris'; known is:\nalice lives in Lyon"),
    ]
    for check, seen in checks:
        alice.settle()
        with pytest.raises(AssertionError, match=re.compile(seen, re.DOTALL)):
            check(alice)

    for call in (assert_recalls, assert_not_recalled):
        with pytest.raises(InputError, match="give the texts that are looked for"):
            call(alice, "Where?")
        with pytest.raises(InputError, match="give the texts that are looked for"):
            call(alice, "Where?", " ")
    with pytest.raises(InputError, match="give the texts that are looked for"):
        assert_knows(alice, "")


@pytest.mark.proof
def test_the_tests_of_the_guide_pass_and_write_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {found["file"]: found["body"] for found in BLOCK.finditer(GUIDE.read_text(encoding="utf-8"))}
    assert files.keys() == {"conftest.py", "agent.py", "test_agent.py", "test_model.py"}
    for name, body in files.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    (tmp_path / "embermem.toml").write_text('model = "no-such"\n', encoding="utf-8")
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "no-such")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "3 passed" in done.stdout, done.stdout
    (tmp_path / "embermem.toml").unlink()
    assert {file.name for file in tmp_path.iterdir()} == files.keys()


def test_the_helpers_import_nothing_heavy() -> None:
    heavy = (
        "import sys, embermem.testing; print(sorted({'pytest', 'numpy', 'sqlalchemy', 'asyncio'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "[]"
