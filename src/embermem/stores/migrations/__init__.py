"""Making the schema, and bringing an older one up to date (Alembic, imported only when it is needed)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine, inspect, text

from embermem.errors import SchemaMismatch, StoreCorrupt
from embermem.stores import schema
from embermem.stores.sqlite import APPLICATION_ID

HEAD = "0001"
"""The newest revision in versions/; a test holds this and `schema.metadata` equal to what the migrations make."""
VERSION_TABLE = "ember_version"


def prepare(engine: Engine, path: Path) -> None:
    """Make the schema in an empty file, or migrate an older one after a backup beside it (`FILE.before-REVISION`).

    Raises StoreCorrupt for somebody else's database, SchemaMismatch for one of a newer Ember.
    """
    found = _version(engine, path)
    if found == HEAD:
        return
    if found is None:
        _create(engine)
        return
    known = sorted(file.stem.split("_")[0] for file in (Path(__file__).parent / "versions").glob("[0-9]*.py"))
    if found not in known:
        raise SchemaMismatch(
            f"{path} was made by a newer Ember (schema {found}, this one knows {HEAD}): upgrade embermem"
        )
    backup = path.with_name(f"{path.name}.before-{HEAD}")
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(backup)) as copy:
        old.backup(copy)
    upgrade(engine)


def _version(engine: Engine, path: Path) -> str | None:
    with engine.connect() as connection:
        tables = set(inspect(connection).get_table_names())
        if VERSION_TABLE in tables:
            return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one())
    if tables:
        raise StoreCorrupt(f"{path} is a database, but not one of Ember; choose another file")
    return None


def _create(engine: Engine) -> None:
    with engine.connect().execution_options(ember_writes=True) as connection, connection.begin():
        if VERSION_TABLE in inspect(connection).get_table_names():
            return  # another process was first
        schema.metadata.create_all(connection)
        connection.execute(text(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES (:head)"), {"head": HEAD})
        connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")


def upgrade(engine: Engine, to: str = "head") -> None:
    """Run the migrations that are missing, in one transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    with engine.connect().execution_options(ember_writes=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, to)
