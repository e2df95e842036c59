"""Many lives, one after the other, each in a folder and a process of its own."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from attack import conduct
from attack.apart import apart
from attack.engines import Engine
from attack.outcome import Outcome
from attack.plan import Plan
from embermem import Memory
from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer

_LIFE_S = 600.0
_NUMBERS = count()
_IMPORTED = (
    *("embermem.memoryos.rebuild", "embermem.store.admin.copying", "embermem.store.migrations"),
    "embermem.memoryos.history.diff",
    *("embermem.llms.openai_chat", "openai", "openai.resources.chat", "psycopg", "pgvector.psycopg"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lives:
    """Where lives are lived."""

    engine: Engine
    folder: Path
    model_url: str

    def live(self, plan: Plan) -> Outcome:
        """One life, from nothing; nothing is left of it."""
        folder = self.folder / f"life-{next(_NUMBERS)}"
        folder.mkdir()
        try:
            return apart(
                lambda: conduct.lived(plan, self.engine, folder, self.model_url), _LIFE_S, what="a life", group=True
            )
        finally:
            if (store := folder / "store").is_mount():  # it was ended before it could do so itself
                subprocess.run(["umount", "--lazy", str(store)], check=False)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def lives(engine: Engine, folder: Path | None = None) -> Iterator[Lives]:
    """Everything that lives need: a folder, a model, and all that is imported, for processes that are forked."""
    with tempfile.TemporaryDirectory(prefix="embermem-attack-", dir=folder) as own:
        room = Path(own)
        with _model() as url:
            _warm(room)
            yield Lives(engine=engine, folder=room, model_url=url)


def _warm(folder: Path) -> None:
    """Import what a life imports, once: a process that is forked then begins within milliseconds."""
    for name in _IMPORTED:
        importlib.import_module(name)
    with Memory(folder / "warm.db", embedder="hashed", background=False) as memory:
        mine = memory.of("warm")
        for number in range(12):
            mine.add(f"I live in Lyon. 我喜欢茶。 It is day {number}.", "I see.", thread=f"t{number % 2}")
        mine.settle()
        mine.recall("Where do I live?")
        mine.forget(page=mine.pages()[0].id)
        memory.check(deep=True)
        memory.rebuild()


@contextmanager
def _model() -> Iterator[str]:
    """A scripted model in a process of its own, so that this one, which forks, has no threads."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            server = ModelServer(answer)
            with server:
                os.write(writing, server.url.encode())
                os.close(writing)
                signal.pause()
        finally:
            os._exit(0)
    os.close(writing)
    try:
        with open(reading, "rb") as file:
            yield file.read().decode()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
