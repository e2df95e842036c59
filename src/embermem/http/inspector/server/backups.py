"""The copies of the store that are known, what they still hold, and how to make one."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.http.inspector.place import OperatorContext, PageRoute

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/operations/backups")
def shown(here: OperatorContext, look: bool = False) -> HTMLResponse:
    """The copies; with `look`, each is opened to see whether it holds what was forgotten since."""
    memory = here.memory
    stats = memory.stats()
    place = stats.path
    file = Path(place).absolute() if "://" not in place and place != ":memory:" else None
    return here.page(
        "operations_backups.html",
        title="Backups",
        stats=stats,
        place=str(file or place),
        file=file,
        key=memory.leaving(limit=1),
        free=shutil.disk_usage(file.parent).free if file is not None and file.parent.is_dir() else None,
        copies=memory.copies(look=look),
        looked=look,
        commands=_commands(str(file or place), f"{memory.now():%Y-%m-%d}"),
    )


def _commands(place: str, day: str) -> list[tuple[str, str]]:
    """What each command gives, and the command, with the real place of this store."""
    here = shlex.quote(place)
    name = f"{Path(place).stem}-{day}.db" if "://" not in place else f"ember-{day}.db"
    beside = shlex.quote(str(Path(place).parent / name) if "://" not in place else name)
    folder = shlex.quote(str(Path(place).parent / f"{Path(place).stem}-backups") if "://" not in place else "backups")
    return [
        (
            "A checked backup in a folder, which holds only what is new since the last one; the store may be in use"
            if "://" not in place
            else "What to run: a server is backed up by its own programs",
            f"embermem --store {here} backup {folder} --incremental",
        ),
        (
            "The whole store in a new file, compared row by row; the store may be in use",
            f"embermem copy {here} {beside}",
        ),
        (
            "All users as JSON lines, which any store can take in",
            f"embermem --store {here} export everyone-{day}.jsonl",
        ),
        ("Whether a copy is sound", f"embermem --store {beside} doctor --deep"),
    ]
