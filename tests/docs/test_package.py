"""What is built and locked is whole."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import embermem
import embermem_bench

ROOT = Path(__file__).parents[2]
LOCKS = tuple(sorted((ROOT / "locks").glob("*.txt")))


def wheel_of(project: Path, folder: Path) -> Path:
    """The wheel of a project, built without a network."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=project,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return next(folder.glob("*.whl"))


def held_by(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as file:
        return {name for name in file.namelist() if ".dist-info/" not in name}


def files_of(package: Path) -> set[str]:
    there = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(package.parent).as_posix() for path in there}


def test_each_wheel_holds_every_file_of_its_package_and_nothing_of_the_other(tmp_path: Path) -> None:
    assert held_by(wheel_of(ROOT, tmp_path / "ember")) == files_of(ROOT / "src" / "embermem")
    assert held_by(wheel_of(ROOT / "bench", tmp_path / "bench")) == files_of(ROOT / "bench" / "src" / "embermem_bench")


def test_the_bench_is_of_the_version_of_ember_and_names_it() -> None:
    assert embermem_bench.__version__ == embermem.__version__
    project = tomllib.loads((ROOT / "bench" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"embermem=={embermem.__version__}" in project["dependencies"]


def test_locks_pin_by_hash_name_no_address_and_agree() -> None:
    for lock in LOCKS:
        text = lock.read_text(encoding="utf-8")
        assert "://" not in text
        pins = [block for block in re.split(r"\n(?=\S)", text) if "==" in block]
        assert pins
        assert all("--hash=sha256:" in block for block in pins)

    def pinned(name: str) -> set[str]:
        text = (ROOT / "locks" / name).read_text(encoding="utf-8")
        return set(re.findall(r"^\S+==[^\\\n]+", text, re.MULTILINE))

    assert pinned("run.txt") | pinned("build.txt") <= pinned("dev.txt")
