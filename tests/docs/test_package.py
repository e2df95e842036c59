"""What is built and locked is whole."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = tuple(sorted((ROOT / "locks").glob("*.txt")))


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = set(wheel.namelist())
    source = ROOT / "src"
    there = (path for path in (source / "embermem").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert {path.relative_to(source).as_posix() for path in there} <= held


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_pins_by_hash_and_names_no_address(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    pins = [block for block in re.split(r"\n(?=\S)", text) if "==" in block]
    assert pins
    assert all("--hash=sha256:" in block for block in pins)


def test_what_the_development_lock_shares_with_the_others_has_one_version() -> None:
    def pins(name: str) -> set[str]:
        text = (ROOT / "locks" / name).read_text(encoding="utf-8")
        return set(re.findall(r"^\S+==[^\\\n]+", text, re.MULTILINE))

    assert pins("run.txt") | pins("build.txt") <= pins("dev.txt")
