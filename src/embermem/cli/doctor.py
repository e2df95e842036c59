"""`embermem doctor`: what the memory says of itself, and what the machine offers."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from embermem.cli.session import Session
from embermem.core.errors import EmberError
from embermem.embedders.weights import find_weights

if TYPE_CHECKING:
    from embermem.memory import Memory

LOW_DISK_BYTES = 200 * 2**20
"""Less room than this is a warning."""
NO_DISK_BYTES = 10 * 2**20
"""Less room than this is an error: SQLite soon cannot write."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing looked at. `level` is ok, warning, error, or mended."""

    level: str
    what: str
    advice: str = ""


def look(session: Session, *, deep: bool = False, repair: bool = False) -> list[Check]:
    """Every check; no store is made, and nothing is written but by `repair`. `deep` derives all again to compare."""
    return [*_environment(), *_place(session), *_memory(session, deep, repair)]


def _environment() -> list[Check]:
    checks = [Check(level="ok", what=f"Python {platform.python_version()} at {sys.executable}")]
    weights = find_weights()
    if weights is None:
        checks.append(
            Check(
                level="warning",
                what="the weights of all-MiniLM-L6-v2 are not installed: the hashed embedder serves",
                advice="run `embermem model install` to find more by meaning",
            )
        )
    else:
        checks.append(Check(level="ok", what=f"weights of all-MiniLM-L6-v2 at {weights}"))
    return checks


def _place(session: Session) -> list[Check]:
    path = session.path
    if path is None:
        return []
    folder = _nearest(path.absolute().parent)
    checks = []
    if path.exists() and not os.access(path, os.W_OK):
        checks.append(Check(level="error", what=f"{path} may not be written", advice="change its permissions"))
    if not os.access(folder, os.W_OK | os.X_OK):
        checks.append(Check(level="error", what=f"the folder {folder} may not be written", advice="choose --store"))
    else:
        checks.append(Check(level="ok", what=f"the folder {folder} may be written"))
    free = shutil.disk_usage(folder).free
    level = "error" if free < NO_DISK_BYTES else "warning" if free < LOW_DISK_BYTES else "ok"
    advice = "" if level == "ok" else "make room: a write that finds none is refused"
    checks.append(Check(level=level, what=f"{free / 2**20:,.0f} MB free on its disk", advice=advice))
    return checks


def _memory(session: Session, deep: bool, repair: bool) -> list[Check]:
    if not session.exists:
        return [Check(level="ok", what=f"no store yet at {session.path}", advice="`embermem add` makes one")]
    try:
        with session.for_reading() as memory:
            embedder = _embedder(memory)
            mended = [finding for finding in memory.repair() if finding.level == "mended"] if repair else []
            found = (*mended, *memory.check(deep=deep or repair))
            return [embedder, *(Check(level=f.level, what=f.what, advice=f.advice) for f in found)]
    except EmberError as error:
        return [Check(level="error", what=str(error))]


def _embedder(memory: Memory) -> Check:
    stats = memory.stats()
    what = f"embedder in use: {memory.embedder_name}"
    if memory.better_embedder() is not None:
        advice = "run `embermem settle`, or any worker or program on this store: it embeds all of it again"
        return Check(level="warning", what=f"{what}, chosen without the weights that are here now", advice=advice)
    if stats.without_vector:
        what += f"; {stats.without_vector} messages wait for it, found by words until then"
    return Check(level="ok", what=what)


def _nearest(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder
