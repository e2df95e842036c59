"""`why`, `diff`, `conflicts`, `learn`, `fade`, `expire`, `verify`: where memory comes from, how it changed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from embermem.cli.commands.common import (
    AsOfOption,
    JsonOption,
    KeyOption,
    owner_read,
    owner_written,
    session_of,
    time_of,
)
from embermem.core.errors import InputError, NotFound

_KeepOption = Annotated[bool, typer.Option("--dry-run", help="Print what would be archived; change nothing.")]


def why(
    ctx: typer.Context,
    item: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="The id of a fact, segment or chain, a trait, or a profile line such as user.home."
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Show why something is remembered: the words said, the changes that made it, and what it replaced."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        found = owner.why(item)
    render.answer(as_json, found, str(found))


def diff(
    ctx: typer.Context,
    earlier: Annotated[str, typer.Argument(metavar="T1", help="A time or day, in ISO 8601.")],
    later: Annotated[str | None, typer.Argument(metavar="T2", help="Default: now.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what changed between two times."""
    from embermem.reports import render

    first, last = time_of(earlier), time_of(later)
    with owner_read(ctx) as owner:
        found = owner.diff(first, last)
    render.answer(as_json, found, str(found))


def conflicts(
    ctx: typer.Context,
    both: Annotated[
        tuple[str, str] | None, typer.Option("--both", metavar="FACT FACT", help="Say that both facts may stay.")
    ] = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List facts that cannot both be true. `correct` or `retire` one of them, or keep both."""
    from embermem.reports import render

    at = time_of(as_of)
    with owner_read(ctx) as owner:
        if both is not None:
            owner.settle_conflict(*both)
        found = owner.conflicts(as_of=at)
    rows = (
        (one.older.id, render.cut(one.older.text, 80), one.newer.id, render.cut(one.newer.text, 80)) for one in found
    )
    render.listed(as_json, found, "in conflict", ("older", "says", "newer", "says"), rows)


def learn(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines, one fact per line; `-` reads stdin.")],
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add facts of your own: objects with text and, where known, subject, attribute, value, valid_from, expires_at."""
    from embermem.reports import render

    brought = _objects(file)
    with owner_written(ctx) as owner:
        found = owner.learn(brought, key=key)
    render.answer(as_json, found, "\n".join(f"{fact.id}: {fact.text}" for fact in found))


def fade(ctx: typer.Context, dry_run: _KeepOption = False, as_json: JsonOption = False) -> None:
    """Archive memories that were not used for long, by the forgetting curve."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        kept = owner.retention()
        done = owner.fade(dry_run=dry_run)
    if as_json:
        render.print_json({"faded": done, "retention": kept})
        return
    rows = [
        (one.item_id, render.cut(one.text, 60), f"{one.t:.1f}", f"{one.S:.1f}", f"{one.R:.3f}", one.reason)
        for one in sorted(kept, key=lambda one: one.R)
    ]
    render.table("retention", ("id", "memory", "days", "strength", "retained", "why"), rows)
    said = f"{len(done.facts)} facts, {len(done.segments)} segments"
    render.print_text(f"would leave: {said}" if dry_run else f"left for the archive: {said}")


def expire(
    ctx: typer.Context,
    at: Annotated[str, typer.Argument(metavar="TIME", help="When it expires; `never` removes the expiry.")],
    fact: Annotated[str | None, typer.Option(metavar="ID", help="A fact: it ends at that time.")] = None,
    page: Annotated[
        str | None, typer.Option(metavar="ID", help="A page: it is forgotten at that time, for good.")
    ] = None,
) -> None:
    """Set when a fact or a page expires."""
    from embermem.reports import render, show

    if (fact is None) == (page is None):
        raise typer.BadParameter("name one of --fact and --page")
    when = None if at == "never" else time_of(at)
    with owner_read(ctx) as owner:
        page_id = None if page is None else show.page_named(owner, page).id
        owner.expire(fact_id=fact, page_id=page_id, at=when)
    render.note("kept without an end" if when is None else f"kept until {render.when(when)}")


def verify(
    ctx: typer.Context,
    receipt: Annotated[str, typer.Argument(metavar="RECEIPT", help="The output of `forget --json`; `-` reads stdin.")],
    as_json: JsonOption = False,
) -> None:
    """Check that the content of a receipt of `forget` is gone. Exit code 1 if something of it is found."""
    from embermem.reports import render

    told, session = _read(receipt), session_of(ctx)
    with session.for_reading() as memory:  # of an owner who may be forgotten whole
        found = session.owner(memory).verify(told)
        try:
            session.known_owner(memory)
        except NotFound as error:  # also of an owner who was forgotten whole
            render.note(str(error), style="yellow")
    if as_json:
        render.print_json(found)
    elif found.ok:
        render.print_text("nothing of it is left in the store")
    else:
        for name in found.found:
            render.print_text(f"still there: {name}")
        if found.unchecked:
            render.print_text(found.unchecked)
        if not found.scrubbed:
            render.print_text("its bytes may still lie in the file: scrub pending")
    if not as_json:
        for backup in found.backups:
            render.note(f"a copy still holds it: {backup}", style="yellow")
    if not found.ok:
        raise typer.Exit(1)


def _read(name: str) -> str:
    try:
        return (sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()).decode("utf-8-sig")
    except UnicodeError as error:
        raise InputError(f"{'stdin' if name == '-' else name} is not UTF-8") from error
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error


def _objects(name: str) -> list[Any]:
    """The objects of JSON lines; empty lines are passed over. Raises InputError with the line."""
    made = []
    for number, line in enumerate(_read(name).splitlines(), 1):
        if line.strip():
            try:
                made.append(json.loads(line))
            except ValueError as error:
                raise InputError(f"line {number} of {name} is not JSON: {error}") from error
    return made
