"""`backup` and `restore`: a store in a second place, and back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption, say, session_of, time_of
from embermem.core.errors import InputError

if TYPE_CHECKING:
    from embermem.cli.session import Session
    from embermem.core.types import Copied

MEGABYTE = 2**20


def backup(
    ctx: typer.Context,
    target: Annotated[
        Path | None, typer.Argument(metavar="TARGET", help="A new file, or a folder of backups.", show_default=False)
    ] = None,
    incremental: Annotated[
        bool, typer.Option("--incremental", help="In a folder: write only what its backups do not have yet.")
    ] = False,
    keep: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="In a folder: remove older backups but for the newest N.")
    ] = None,
    drop_forgotten: Annotated[
        bool,
        typer.Option("--drop-forgotten", help="In a folder: remove those that may hold what was forgotten since."),
    ] = False,
    as_file: Annotated[
        bool, typer.Option("--as-file", help="Of a PostgreSQL store: copy it owner by owner to an SQLite file.")
    ] = False,
    known: Annotated[
        bool, typer.Option("--list", help="List the backups and copies of the store, and what they still hold.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Back the whole store up while it is in use, and check the backup. It never overwrites anything."""
    from embermem import bootstrap
    from embermem.core import config
    from embermem.reports import render

    session = session_of(ctx)
    if known:
        _list(session, as_json)
        return
    if target is None:
        raise typer.BadParameter("TARGET is missing: a new file, or a folder of backups")
    settings = config.load(session.preset)
    place = session.path or session.store
    if bootstrap.in_memory(place):
        raise InputError(f"{place} lives only as long as one command: there is nothing to back up")
    if not as_file and bootstrap.on_a_server(place):
        _server(bootstrap.own_backup(place, target, settings), as_json)
        raise typer.Exit(1)
    with _progress() as told:
        made = bootstrap.back_up_store(
            place,
            target.expanduser(),
            settings,
            bootstrap.wall_clock(),
            told,
            incremental=incremental,
            keep=keep,
            drop_forgotten=drop_forgotten,
            as_file=as_file,
        )
    what = f"pages that differ from {made.after}" if made.after else "the whole store"
    text = (
        f"{made.place}: {what}, {made.bytes / MEGABYTE:,.1f} MB; {made.owners:,} users, {made.utterances:,} messages, "
        f"{made.changes:,} changes; checked"
    )
    render.answer(as_json, made.to_dict(), text, "".join(f"removed {one}\n" for one in made.dropped).rstrip())


def restore(
    ctx: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="A backup, or a folder: its newest one.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The file of the store that is made.")],
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only what was known at this time (ISO 8601, or a day).")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Move a store that is there to TARGET.replaced-N first.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Run `doctor --deep` on the store that was made.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check a backup and make a store of it. Nothing is overwritten: --replace renames the store that is there."""
    from embermem import bootstrap
    from embermem.cli import doctor
    from embermem.cli.session import Session
    from embermem.core import config
    from embermem.reports import render

    session = session_of(ctx)
    target = target.expanduser()
    with _progress() as told:
        made = bootstrap.restore_store(
            source.expanduser(),
            target,
            config.load(session.preset),
            bootstrap.wall_clock(),
            told,
            at=_instant(at),
            replace=replace,
        )
    restored = Session(store=str(target), user=session.user, agent=session.agent, preset=session.preset)
    found = doctor.look(restored, deep=True) if check else []
    failed = [one for one in found if one.level == "error"]
    if as_json:
        render.print_json({**made.to_dict(), "findings": [one.to_dict() for one in found]})
    else:
        known = "" if made.known_at is None else f", as it was known at {made.known_at.isoformat(timespec='seconds')}"
        count = f"{made.owners:,} users, {made.utterances:,} messages, {made.changes:,} changes"
        render.print_text(f"{made.place}: {count}{known}")
        if made.replaced:
            render.note(f"the store that was there: {made.replaced}")
        if made.forgotten_later:
            render.note(f"{made.forgotten_later} later forgettings: what they removed is not in it either")
        for one in found:
            render.note(f"{one.level}: {one.what}" + (f"; {one.advice}" if one.advice else ""))
    if failed:
        raise typer.Exit(1)


def _list(session: Session, as_json: bool) -> None:
    from embermem.reports import render

    with session.for_reading() as memory:
        copies = memory.copies(look=True)
    rows = [_row(one) for one in copies]
    columns = ("place", "read", "size", "messages", "changes", "state")
    render.listed(as_json, [one.to_dict() for one in copies], "backups and copies", columns, rows)


def _row(one: Copied) -> tuple[object, ...]:
    when = one.backup_at or one.at
    size = "" if one.bytes is None else f"{one.bytes / MEGABYTE:,.1f} MB"
    if one.bytes is None:
        state = "gone"
    elif one.holds_forgotten:
        state = "may hold what was forgotten since"
    else:
        state = "holds nothing that was forgotten since"
    if one.increment:
        state += "; rests on the backups before it"
    counts = ("" if count is None else f"{count:,}" for count in (one.utterances, one.changes))
    return (one.place, "" if when is None else when.isoformat(timespec="seconds"), size, *counts, state)


def _server(commands: tuple[str, ...], as_json: bool) -> None:
    """What to run for a store on a server."""
    from embermem.reports import render

    titles = ("the database, in one state", "restore it", "the whole server", "its log, for any point in time")
    if as_json:
        render.print_json({"commands": list(commands)})
    else:
        for title, command in zip(titles, commands, strict=True):
            render.print_text(f"# {title}\n{command}")
    say("nothing was backed up: a server is backed up by its own programs; --as-file makes an SQLite file of the store")


def _instant(text: str | None) -> datetime | None:
    """A time with a zone; without one, it is UTC."""
    at = time_of(text)
    return at if at is None or at.tzinfo is not None else at.replace(tzinfo=UTC)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr, where that is a terminal."""
    from embermem.reports import render

    if not sys.stderr.isatty():
        yield lambda step, done, of: None
        return
    with render.progress("") as bar:
        task = bar.add_task("copying", total=None)
        yield lambda step, done, of: bar.update(task, description=step, completed=done, total=of or None)
