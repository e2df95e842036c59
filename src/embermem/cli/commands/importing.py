"""`import`: owners that `export` wrote, and what other programs keep of conversations."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from embermem.cli.commands.adding import end_waiting, settled
from embermem.cli.commands.common import JsonOption, say, session_of, with_bar
from embermem.cli.session import Session
from embermem.core.errors import InputError, NotFound

if TYPE_CHECKING:
    from embermem.memory import Memory, OwnerMemory
    from embermem.transfer.importing import Imported
    from embermem.transfer.imports import BroughtIn, Look

NOT_ALL = 5
"""Exit code: what could be read is stored, and something could not."""
SHOWN = 50
"""Threads, and problems, that are printed; `--json` has all."""
_EMBER = "ember"


def import_files(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="PATH", help="A file, a folder or a ZIP archive; `-` reads stdin.")],
    form: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="The format, if it is not found by itself.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Store nothing; print what would come in.")] = False,
    me: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the user is called in a talk of several.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="WHAT=COLUMN", help="Which column of a table is what; repeatable."),
    ] = None,
    dates: Annotated[
        str | None, typer.Option(metavar="ORDER", help="The order of dates in numbers: dmy, mdy or ymd.")
    ] = None,
    branches: Annotated[
        bool, typer.Option("--branches", help="Import replaced answers too, as threads of their own.")
    ] = False,
    thread: Annotated[str, typer.Option(help="The thread of messages without one.")] = "main",
    sample: Annotated[
        str | None, typer.Option(metavar="ID", help="Only the user of this name in the file, for --user.")
    ] = None,
    settle: Annotated[bool, typer.Option("--settle/--no-settle", help="Process what was stored now.")] = True,
    leave_out: Annotated[
        bool,
        typer.Option(
            "--leave-out",
            help="Of an export: skip users who have another memory here or were forgotten, and print them.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Import what `export` wrote (each user completely, or not at all), or the conversations and facts of another
    program. Run it again to continue after an interruption; nothing is stored twice.

    Exit code 5: what could be read is stored, and what could not is listed with its place.
    """
    from embermem.core import config
    from embermem.transfer.imports import look

    session = session_of(ctx)
    if form == _EMBER or (form is None and _is_ember(file)):
        if dry_run:
            raise InputError("an export of Ember has no dry run: each user comes in completely, or not at all")
        _import_owners(session, file, leave_out, as_json)
        return
    options = _options(me, columns, dates, branches, config.load(session.preset).max_text_chars)
    with (
        _path(file) as path,
        look(
            path,
            options,
            form=form,
            thread=thread,
            names=(session.user,),
            where="stdin" if file == "-" else file,
        ) as found,
    ):
        if dry_run:
            _show_look(found, as_json)
            raise typer.Exit(NOT_ALL if found.problems else 0)
        found.check()
        with session.for_writing() as memory:
            done = [_bring_in(owner, found, user, settle) for user, owner in _owners(memory, session, found, sample)]
    done = _of_each_owner(done)
    _show_done(found, done, as_json)
    if found.problems or any(one["problems"] for one in done):
        raise typer.Exit(NOT_ALL)
    end_waiting([wait for one in done for wait in one["waiting"]])


def _options(me: str | None, columns: list[str] | None, dates: str | None, branches: bool, longest: int) -> Any:
    from embermem.transfer.formats import Options
    from embermem.transfer.formats.dates import ORDERS

    if dates is not None and dates not in ORDERS:
        raise typer.BadParameter(f"--dates {dates!r}; allowed: {', '.join(ORDERS)}")
    told: dict[str, str] = {}
    for one in columns or ():
        what, sign, column = one.partition("=")
        if not sign or not what or not column:
            raise typer.BadParameter(f"--map {one!r} is not WHAT=COLUMN, such as text=body")
        told[what] = column
    return Options(me=me, columns=told, dates=dates, branches=branches, longest=longest)


def _owners(memory: Memory, session: Session, found: Look, sample: str | None) -> list[tuple[str, OwnerMemory]]:
    """Whose memory each user of the file goes into: of one user into that of --user, of several into their own."""
    named = [one.user for one in found.users if one.user]
    if sample is not None:
        if sample not in named:
            raise NotFound(f"there is no user {sample!r} in the file; found: {', '.join(named) or 'none is named'}")
        return [(sample, session.owner(memory))]
    if len(named) < 2:
        return [(one.user, session.owner(memory)) for one in found.users]
    return [
        (one.user, memory.of(one.user, session.agent) if one.user else session.owner(memory)) for one in found.users
    ]


def _bring_in(owner: OwnerMemory, found: Look, user: str, settle: bool) -> dict[str, Any]:
    from embermem.transfer.imports import bring_in

    before = owner.stats().utterances
    try:
        done: BroughtIn = with_bar("storing", "things", lambda told: bring_in(owner, found, user, told=told))
    except KeyboardInterrupt:
        say("what was stored is kept; run the same command again, and it goes on there")
        raise
    new = owner.stats().utterances - before
    return {
        "user": owner.owner.user,
        "agent": owner.owner.agent,
        "messages": done.messages,
        "facts": done.facts,
        "documents": done.documents,
        "new": new,
        "problems": done.problems,
        "placed": settled(owner) if settle else 0,
        "waiting": owner.stats().waiting if settle else (),
    }


def _of_each_owner(done: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One report for each memory, also where a file says of some of it only whose it is."""
    made: dict[tuple[str, str], dict[str, Any]] = {}
    for one in done:
        before = made.get((one["user"], one["agent"]))
        if before is None:
            made[one["user"], one["agent"]] = one
        else:
            counts = {name: before[name] + one[name] for name in one if name not in ("user", "agent", "waiting")}
            before.update(counts, waiting=one["waiting"])
    return list(made.values())


def _show_look(found: Look, as_json: bool) -> None:
    from embermem.reports import render

    if as_json:
        render.print_json(found.told())
        return
    threads = [(user.user, one) for user in found.users for one in user.threads]
    rows = [
        (
            render.cut(" ".join(filter(None, [user, one.thread, f"({one.title})" if one.title else ""])), 60),
            one.messages,
            render.when(one.since),
            render.when(one.until),
            render.cut(", ".join(one.speakers), 60),
        )
        for user, one in threads[:SHOWN]
    ]
    if rows:
        render.table(f"{found.where}: {found.title}", ("thread", "messages", "from", "to", "speakers"), rows)
    if len(threads) > SHOWN:
        render.print_text(f"and {len(threads) - SHOWN} more threads")
    total = [sum(getattr(one, name) for one in found.users) for name in ("messages", "facts", "documents")]
    render.print_text(f"{found.title}: {total[0]} messages, {total[1]} facts, {total[2]} documents would come in")
    if undated := sum(one.undated for _, one in threads):
        render.print_text(f"{undated} messages have no time: they would count as said now")
    if found.needs_me:
        render.print_text(f"several people speak; name the user with --me: {', '.join(found.speakers[:10])}")
    _show_problems(found, [])


def _show_done(found: Look, done: list[dict[str, Any]], as_json: bool) -> None:
    from embermem.reports import render

    if as_json:
        told = {"file": found.where, "format": found.format, "owners": done, "problems": found.problems}
        render.print_json({**told, "more_problems": found.more_problems, "left_out": found.left_out})
        return
    for one in done:
        render.print_text(
            f"{one['user']} / {one['agent']}: {one['messages']} messages, {one['facts']} facts, {one['documents']} "
            f"documents of {found.title}; {one['new']} messages and passages are new, {one['placed']} pages settled"
        )
    _show_problems(found, [problem for one in done for problem in one["problems"]])


def _show_problems(found: Look, refused: list[Any]) -> None:
    from embermem.reports import render

    for what, count in found.left_out.items():
        render.note(f"left out by rule: {count} {what}")
    problems = [*found.problems, *refused]
    for one in problems[:SHOWN]:
        render.note(f"not imported: {found.where}, {one}", style="yellow")
    if (more := len(problems) + found.more_problems - SHOWN) > 0:
        render.note(f"and {more} more; --json lists them", style="yellow")


def _is_ember(file: str) -> bool:
    """Whether a file begins as `export` writes it."""
    if file == "-":
        stdin: Any = sys.stdin.buffer
        if hasattr(stdin, "peek"):
            first = stdin.peek(4096)
        else:
            first = stdin.read(4096)
            stdin.seek(-len(first), os.SEEK_CUR)
    else:
        path = Path(file).expanduser()
        if not path.is_file():
            return False
        with path.open("rb") as opened:
            first = opened.read(4096)
    try:
        told = json.loads(first.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("kind") == "export"


@contextmanager
def _path(file: str) -> Iterator[Path]:
    """The path, or that of a temporary file that has what came from stdin."""
    if file != "-":
        yield Path(file).expanduser()
        return
    with tempfile.NamedTemporaryFile(prefix="embermem-import-") as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        kept.flush()
        yield Path(kept.name)


# ------------------------------------------------------------------------------------------------------ Ember's own


def _import_owners(session: Session, file: str, leave_out: bool, as_json: bool) -> None:
    from embermem import bootstrap
    from embermem.core import config
    from embermem.reports import render
    from embermem.transfer.importing import import_owners as read

    settings = config.load(session.preset)
    with _input(file) as lines:
        session.for_writing().close()  # which makes the store, and checks it
        with closing(bootstrap.open_store(session.path or session.store, settings)) as store:
            embedder = bootstrap.choose_embedder(store, settings)
            users = 0
            with render.progress() as bar:
                task = bar.add_task("importing", total=None if file == "-" else os.fstat(lines.fileno()).st_size)

                def told(owners: int, size: int) -> None:
                    nonlocal users
                    users = owners
                    bar.update(task, completed=size, description=f"importing, {owners:,} users done")

                try:
                    done = read(store, lines, embedder, bootstrap.wall_clock, leave_out=leave_out, told=told)
                except KeyboardInterrupt:
                    say(
                        f"{users} users are stored completely, and nothing of the next one; run the same command "
                        "again, and it goes on there"
                    )
                    raise
    if as_json:
        render.print_json(done)
        return
    _show_imported(done)


def _show_imported(done: Imported) -> None:
    from embermem.reports import render

    for owner in done.here_already:
        render.note(f"already here, with everything that the file has of them: {owner.user} / {owner.agent}")
    for owner in done.left_out:
        render.note(
            f"left out, because there is another memory of them here, or it was forgotten: {owner.user} / {owner.agent}"
        )
    render.print_text(f"{len(done.owners)} users, {done.utterances} messages, {done.changes} changes")
    if done.without_vector:
        render.note(
            f"{done.without_vector} messages have no vector yet: `embermem worker --once` makes them; recall goes by "
            "words until then"
        )
    if done.other_key:
        render.note(
            "what was forgotten where this comes from may be learnt again: its key of forgotten values is not here",
            style="yellow",
        )


def _input(file: str) -> IO[bytes]:
    return sys.stdin.buffer if file == "-" else open(Path(file).expanduser(), "rb")
