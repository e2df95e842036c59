"""Install the wheel in an empty environment of every Python that is found here, and run it there.

    python scripts/try_wheel.py [--locked] [--others] [--python PATH ...]

For each Python: how long `pip install` takes, how large the environment is, and whether `embermem --version`,
`embermem demo` and `embermem doctor` end well. Exit code 1 if any of it fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOO_LONG_S = 600


def main() -> int:
    """Try the wheel; the exit code."""
    parser = argparse.ArgumentParser(description="Install and run the wheel with every Python that is found.")
    parser.add_argument("--python", action="append", metavar="PATH", help="only this Python; repeatable")
    parser.add_argument("--locked", action="store_true", help="install the locked packages (locks/run.txt)")
    parser.add_argument("--others", action="store_true", help="leave out the Python that runs this")
    parser.add_argument("--wheel", type=Path, help="this wheel, in place of one that is built")
    asked = parser.parse_args()
    known = versions()
    found = pythons(asked.python or candidates(known), known)
    if asked.others:
        found.pop(".".join(map(str, sys.version_info[:2])), None)
    missing = [one for one in known if one not in found and not asked.others]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="embermem-wheels-") as folder:
        wheel = asked.wheel or built(Path(folder))
        print("python    install s      MB  result", flush=True)
        for version, python in found.items():
            seconds, megabytes, wrong = tried(python, wheel.resolve(), Path(folder) / version, locked=asked.locked)
            failed += bool(wrong)
            print(f"{version:<8}{seconds:>11.1f}{megabytes:>8.0f}  {wrong or 'works'}", flush=True)
    if missing and not asked.python:
        print(f"not found here: {', '.join(missing)}")
    return 1 if failed else 0


def versions() -> list[str]:
    """The versions of Python that pyproject.toml names."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def candidates(known: Sequence[str]) -> Iterator[str]:
    """Programs that may be such a Python: on the path, and those of pyenv."""
    yield sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for version in known:
        for found in (shutil.which(f"python{version}"), *pyenv.glob(f"versions/{version}.*/bin/python{version}")):
            if found is not None:
                yield str(found)


def pythons(programs: Sequence[str] | Iterator[str], known: Sequence[str]) -> dict[str, str]:
    """The first working Python of each version, the oldest version first."""
    found: dict[str, str] = {}
    for program in programs:
        done = ended([program, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"])
        version = done.stdout.strip()
        if done.returncode == 0 and version in known:
            found.setdefault(version, program)
    return dict(sorted(found.items(), key=lambda one: known.index(one[0])))


def built(folder: Path) -> Path:
    """The wheel of this tree. Raises SystemExit if it cannot be built."""
    done = ended([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return next(folder.glob("*.whl"))


def tried(python: str, wheel: Path, folder: Path, *, locked: bool) -> tuple[float, float, str]:
    """The seconds of the installation, the size of the environment in megabytes, and what went wrong, if anything."""
    made = ended([python, "-m", "venv", str(folder)])
    if made.returncode != 0:
        return 0.0, 0.0, f"no environment: {last(made)}"
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    packages = ["--no-deps", "--require-hashes", "-r", str(ROOT / "locks" / "run.txt")]
    steps = [[*pip, *packages], [*pip, "--no-deps", str(wheel)]] if locked else [[*pip, str(wheel)]]
    began = time.perf_counter()
    done = [ended(step) for step in steps]
    seconds = time.perf_counter() - began
    megabytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    store = ["--store", str(folder / "memory.db")]
    for word in ("--version", "demo", "doctor"):
        if all(one.returncode == 0 for one in done):
            done.append(ended([str(programs / "embermem"), *store, word], cwd=folder))
    wrong = next((one for one in done if one.returncode != 0), None)
    return seconds, megabytes, "" if wrong is None else f"{' '.join(map(str, wrong.args))}: {last(wrong)}"


def ended(command: Sequence[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program that has ended. None of our settings reach it."""
    kept = {name: one for name, one in os.environ.items() if not name.startswith(("EMBERMEM_", "PYTHON"))}
    environment = {**kept, "PYTHONUTF8": "1", "NO_COLOR": "1"}
    try:
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=TOO_LONG_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def last(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of what a program said."""
    return ((done.stderr.strip() or done.stdout.strip()).splitlines() or [f"exit code {done.returncode}"])[-1]


if __name__ == "__main__":
    sys.exit(main())
