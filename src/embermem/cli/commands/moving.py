"""`copy`, `export`, `migrate`, `schema`: stores and owners from one place to another."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import (
    InThreadOption,
    JsonOption,
    ScopeOption,
    SinceOption,
    SpeakerOption,
    UntilOption,
    WhereOption,
    given,
    say,
    scope_of,
    session_of,
    with_bar,
)
from embermem.cli.session import no_memory_of
from embermem.core.errors import InputError, NotFound

if TYPE_CHECKING:
    from embermem.core.types import Owner, Scope, UtteranceId
    from embermem.memory import Memory
    from embermem.store.admin.copying import Copied


def copy(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SRC", help="A store's file or postgresql:// URL.")],
    target: Annotated[str, typer.Argument(metavar="DST", help="A new file, or an empty database.")],
    as_json: JsonOption = False,
) -> None:
    """Copy a whole store between any engines. Run it again to continue after an interruption."""
    from embermem import bootstrap
    from embermem.core import config
    from embermem.reports import render

    settings = config.load(session_of(ctx).preset)
    with render.progress("users") as bar:
        task = bar.add_task("copying", total=None)
        done = bootstrap.copy_store(
            _place(source),
            _place(target),
            settings,
            bootstrap.wall_clock(),
            lambda at: bar.update(
                task, description=f"{at.step}, {at.rows:,} rows", completed=at.owners, total=at.total
            ),
        )
    if as_json:
        render.print_json(_told(done))
        return
    if done.went_on:
        render.note("an earlier run had begun; it went on there")
    if done.again:
        render.note(f"{done.again} users were written meanwhile, and copied again")
    rows = [(name, one.rows, one.sha[:16]) for name, one in done.tables.items()]
    render.table(f"{done.source} → {done.target}", ("table", "rows", "sum"), rows)
    render.print_text(f"{done.owners} users, {done.rows} rows: the same on both sides")


def export(
    ctx: typer.Context,
    out: Annotated[str, typer.Argument(metavar="OUT.jsonl", help="A new file; `-` writes to stdout.")],
    user: Annotated[str | None, typer.Option(help="Only this user.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only this agent's memories.")] = None,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Include vectors; otherwise they are made again on import.")
    ] = False,
    scope: ScopeOption = None,
    in_thread: InThreadOption = None,
    where: WhereOption = None,
    speaker: SpeakerOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
) -> None:
    """Write owners as JSON lines: the selected ones, or all if neither user nor agent is given. With a scope, what was
    said and written in it, and nothing that was derived: `import` derives it again."""
    from embermem import bootstrap
    from embermem.core import config
    from embermem.transfer.export import export as write

    session = session_of(ctx)
    limits = scope_of(scope, threads=in_thread, where=where, speakers=speaker, since=since, until=until)
    if limits is not None and vectors:
        raise InputError("--vectors is not written under a scope; leave it out, and import makes them again")
    user, agent = user or given(ctx, "user"), agent or given(ctx, "agent")
    settings = config.load(session.preset)
    if not session.exists:
        raise NotFound(f"there is no store at {session.path or session.store}")
    with closing(bootstrap.open_store(session.path or session.store, settings, read_only=True)) as store:
        owners = [one for one in store.owners() if user in (None, one.user) and agent in (None, one.agent)]
        if session.space is not None:
            owners = [one for one in owners if one.space == session.space]
        if not owners:
            named = f"{user or ''}/{agent or ''}" if session.space is None else f"space {session.space}"
            raise no_memory_of(named, store.owners())
        with output(out, session.path or session.store) as file, ExitStack() as opened:
            now, seen = bootstrap.wall_clock(), None
            if limits is not None:
                seen = partial(_seen, opened.enter_context(session.for_reading(read_only=True)), limits)
            done = with_bar(
                "exporting",
                "users",
                lambda told: write(store, owners, file, vectors=vectors, now=now, told=told, seen=seen),
            )
    say(f"{done.owners} users, {done.utterances} messages, {done.changes} changes, {done.vectors} vectors")
    say("whoever reads the file reads the conversations")


def migrate(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """Update the schema of an older store; a file is copied first."""
    from embermem import bootstrap
    from embermem.core import config
    from embermem.reports import render

    session = session_of(ctx)
    before, after = bootstrap.migrate_store(session.path or session.store, config.load(session.preset))
    backup = None if session.path is None else Path(f"{session.path}.before-{after}")
    kept = backup is not None and before != after and backup.exists()
    if as_json:
        render.print_json({"before": before, "after": after, "backup": str(backup) if kept else None})
    elif before == after:
        render.print_text(f"schema {after}: up to date")
    else:
        render.print_text(f"schema {before} → {after}")
        if kept:
            render.note(f"the store as it was: {backup}")


def schema(
    engine: Annotated[str, typer.Option(help="sqlite, postgresql or citus.")] = "postgresql",
    halfvec: Annotated[
        bool, typer.Option("--pgvector/--no-pgvector", help="Store vectors as `halfvec`, or as bytes.")
    ] = True,
) -> None:
    """Print the SQL that creates an empty store's tables. Does not open a store."""
    from embermem.reports import render
    from embermem.store.engines.ddl import ENGINES, ddl

    if engine not in ENGINES:
        raise typer.BadParameter(f"--engine {engine!r}; allowed: {', '.join(ENGINES)}")
    for statement in ddl(engine, halfvec=halfvec):
        render.print_text(f"{statement};")


def _place(given: str) -> str | Path:
    return given if "://" in given else Path(given).expanduser()


def _told(done: Copied) -> dict[str, object]:
    return {
        "source": done.source,
        "target": done.target,
        "users": done.owners,
        "rows": done.rows,
        "again": done.again,
        "went_on": done.went_on,
        "tables": {name: {"rows": one.rows, "sum": one.sha} for name, one in done.tables.items()},
    }


def _seen(memory: Memory, scope: Scope, owner: Owner) -> frozenset[UtteranceId]:
    """The utterances of an owner that are in scope."""
    mine = memory.of(owner.user, owner.agent) if owner.space is None else memory.space(owner.space)
    return frozenset(one.id for one in mine.utterances(scope=scope))


@contextmanager
def output(out: str, store: str | Path) -> Iterator[IO[bytes]]:
    """A new file that only its maker may read; or stdout. It has a name only when it is whole, so that a killed run
    leaves nothing; where the system has no files without a name, the store remembers `NAME.part`."""
    from embermem import bootstrap
    from embermem.core import config
    from embermem.store.admin.backup_files import Part, disk_told, locked

    if out == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(out).expanduser()
    if path.exists():
        raise InputError(f"{path} already exists; choose another name")
    with disk_told(path):
        try:
            nameless = os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o600)
        except (AttributeError, OSError):  # this system, or its file system, has none
            with locked(path), Part(path) as part:
                bootstrap.remember_begun(store, part.file, config.load())
                with part.file.open("wb") as file:
                    yield file
                part.keep()
            return
        with open(nameless, "r+b") as file:
            yield file
            file.flush()
            os.fsync(nameless)
            here = os.open(path.parent, os.O_RDONLY)
            try:  # with a folder given, the link is followed
                os.link(f"/proc/self/fd/{nameless}", path.absolute(), src_dir_fd=here)
            except FileExistsError as error:
                raise InputError(f"{path} already exists; choose another name") from error
            finally:
                os.close(here)
