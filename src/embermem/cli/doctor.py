"""`embermem doctor`: checks of the store and of the machine."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from embermem.cli.session import Session
from embermem.core.errors import EmberError
from embermem.embedders.weights import damage_of, find_weights
from embermem.protocols import Finding
from embermem.reports import outdated

if TYPE_CHECKING:
    from embermem.memory import Memory

LOW_DISK_BYTES = 200 * 2**20
"""Less free space than this is a warning."""
NO_DISK_BYTES = 10 * 2**20
"""Less free space than this is an error: SQLite will soon be unable to write."""

_NAMED = 5
"""Files that one line names."""


def look(session: Session, *, deep: bool = False, repair: bool = False) -> list[Finding]:
    """Run every check. No store is created, and only `repair` writes. `deep` derives all memory again to compare."""
    return [*_environment(), *_place(session), *_memory(session, deep, repair)]


def _environment() -> list[Finding]:
    checks = [Finding(level="ok", what=f"Python {platform.python_version()} at {sys.executable}")]
    weights = find_weights()
    if weights is None:
        what = "the weights of multilingual-e5-small are not installed; the hashed embedder is used"
        checks.append(
            Finding(level="warning", what=what, advice="run `embermem model install` to improve search by meaning")
        )
    elif (damage := damage_of(weights)) is not None:
        what = f"the weights at {weights} cannot be used: {damage}"
        checks.append(Finding(level="error", what=what, advice="run `embermem model install`"))
    else:
        checks.append(Finding(level="ok", what=f"weights of multilingual-e5-small at {weights}"))
    return checks


def _place(session: Session) -> list[Finding]:
    path = session.path
    if path is None:
        return []
    folder = _nearest(path.absolute().parent)
    checks = []
    if path.exists() and not os.access(path, os.W_OK):
        checks.append(Finding(level="error", what=f"{path} is not writable", advice="change its permissions"))
    if not os.access(folder, os.W_OK | os.X_OK):
        checks.append(
            Finding(
                level="error",
                what=f"the folder {folder} is not writable",
                advice="change its permissions, or choose another place with --store",
            )
        )
    else:
        checks.append(Finding(level="ok", what=f"the folder {folder} is writable"))
    free = shutil.disk_usage(folder).free
    level = "error" if free < NO_DISK_BYTES else "warning" if free < LOW_DISK_BYTES else "ok"
    advice = "" if level == "ok" else "free some space; without it, writes are refused"
    checks.append(Finding(level=level, what=f"{free / 2**20:,.0f} MB free on its disk", advice=advice))
    return checks


def _memory(session: Session, deep: bool, repair: bool) -> list[Finding]:
    if not session.exists:
        return [
            Finding(
                level="ok",
                what=f"there is no store yet at {session.path or session.store}",
                advice="`embermem add` creates one",
            )
        ]
    try:
        with session.for_reading() as memory:
            embedder = _embedder(memory)
            mended = [finding for finding in memory.repair() if finding.level == "mended"] if repair else []
            found = (*mended, *memory.check(deep=deep or repair))
            return [embedder, *_outdated(memory), *_settings(memory), *_webhooks(memory), *_backups(memory), *found]
    except EmberError as error:
        return [Finding(level="error", what=str(error))]


def _settings(memory: Memory) -> list[Finding]:
    """What the environment and the settings file give."""
    given = [one for one in memory.settings_in_use() if one.origin.startswith(("environment", "file"))]
    told = ", ".join(f"{one.name} = {one.value} ({one.origin})" for one in given)
    return [Finding(level="ok", what=f"settings given: {told}")] if given else []


def _webhooks(memory: Memory) -> list[Finding]:
    stats = memory.stats()
    if not stats.webhooks_stopped:
        return []
    what = f"{stats.webhooks_stopped} of {stats.webhooks} webhooks are stopped: their last attempt failed"
    return [Finding(level="warning", what=what, advice="see `embermem webhooks list`; `webhooks replay` starts one")]


def _backups(memory: Memory) -> list[Finding]:
    """The backups and copies that are there, and whether they hold what was forgotten since."""
    there = [one for one in memory.copies(look=True) if one.bytes is not None]
    if not there:
        return []
    made = max((one.backup_at for one in there if one.backup_at is not None), default=None)
    newest = "" if made is None else f"; the newest backup is of {made.isoformat(timespec='seconds')}"
    found = [Finding(level="ok", what=f"{len(there)} backups and copies are known{newest}")]
    if holding := [one.place for one in there if one.holds_forgotten]:
        what = f"{len(holding)} of them may hold what was forgotten since: {', '.join(holding[:_NAMED])}"
        advice = "make a new one, then delete these (`embermem backup --list`)"
        found.append(Finding(level="warning", what=what, advice=advice))
    return found


def _embedder(memory: Memory) -> Finding:
    stats = memory.stats()
    what = f"embedder in use: {memory.embedder_name}"
    if memory.better_embedder() is not None:
        advice = "run `embermem settle`, or a worker or program on this store, to embed it again"
        return Finding(
            level="warning",
            what=f"{what}; it was chosen before the weights of a better one were installed",
            advice=advice,
        )
    if stats.without_vector:
        what += f"; {stats.without_vector} messages have no vector yet and are found by words"
    return Finding(level="ok", what=what)


def _outdated(memory: Memory) -> list[Finding]:
    """What was read without the trained reader in use."""
    found = outdated.sentence(memory.outdated().values())
    what, _, advice = found.partition(": ")
    return [Finding(level="warning", what=what, advice=advice)] if found else []


def _nearest(folder: Path) -> Path:
    """The folder itself, or its nearest existing parent."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder
