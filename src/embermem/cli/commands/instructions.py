"""`instructions`: how this user wants the agent to behave."""

from __future__ import annotations

from typing import Annotated

import typer

from embermem.cli.commands.common import AsOfOption, JsonOption, owner_read, owner_written, text_of, time_of


def instructions(
    ctx: typer.Context,
    add: Annotated[str | None, typer.Option("--add", metavar="TEXT", help="Add one; `-` reads stdin.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="With --add: when it ends by itself.")] = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List this user's standing instructions, or add one. `retire` ends one."""
    from embermem.reports import render, show

    if until is not None and add is None:
        raise typer.BadParameter("--until needs --add")
    if add is not None and as_of is not None:
        raise typer.BadParameter("list the instructions of a time or add one, not both")
    ends, at = time_of(until), time_of(as_of)
    if add is not None:
        says = text_of(add)
        with owner_written(ctx) as owner:
            fact = owner.add_instruction(says, expires_at=ends)
        render.answer(as_json, fact, f"{fact.id}: {fact.text}")
        return
    with owner_read(ctx) as owner:
        show.instructions(owner, as_json, as_of=at)
