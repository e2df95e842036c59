"""What the commands share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embermem.core.config import Settings
    from embermem.protocols import Embedder


def bare_embedder(settings: Settings) -> Embedder:
    """The embedder that a new store would have, on its own."""
    from embermem import bootstrap

    return bootstrap.make_embedder(bootstrap.embedder_setting(settings), settings)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A temporary folder for a benchmark's stores, deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="embermem-bench-") as folder:
        yield Path(folder)


@contextmanager
def progress_told() -> Iterator[Any]:
    """A progress bar on stderr, one task for each phase."""
    from embermem.reports import render

    with render.progress("steps") as bar:
        task = bar.add_task("starting", total=None)
        current = ""

        def told(what: str, done: int, total: int) -> None:
            nonlocal current
            if what != current:
                bar.reset(task, description=render.cut(what, 50), total=total)
                current = what
            bar.update(task, completed=done, total=total)

        yield told
