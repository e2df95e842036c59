"""`embermem space`: shared spaces, and to whom they are granted. `--space NAME` before a command works on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption, session_of

if TYPE_CHECKING:
    from embermem.core.types import Share

app = typer.Typer(no_args_is_help=True, help="Shared spaces: list them, grant and revoke them.")

SpaceArgument = Annotated[str, typer.Argument(metavar="SPACE", help="The space's name.")]
UserArgument = Annotated[str | None, typer.Argument(metavar="[USER]", help="The user; not with --everybody.")]
AgentOption = Annotated[str | None, typer.Option("--with", metavar="AGENT", help="Only with this agent.")]
EverybodyOption = Annotated[bool, typer.Option("--everybody", help="Everybody, in place of a user.")]


@app.command("list")
def list_(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List all spaces, with how many messages and grants each has."""
    from embermem.reports import render

    with session_of(ctx).for_reading() as memory:
        found = [
            {"space": name, "messages": memory.space(name).stats().utterances, "grants": len(memory.grants(name))}
            for name in memory.spaces()
        ]
    rows = ((one["space"], one["messages"], one["grants"]) for one in found)
    render.listed(as_json, found, "spaces", ("space", "messages", "grants"), rows)


@app.command()
def grant(
    ctx: typer.Context,
    space: SpaceArgument,
    user: UserArgument = None,
    agent: AgentOption = None,
    everybody: EverybodyOption = False,
    write: Annotated[bool, typer.Option("--write", help="Also let them add to it, correct and forget.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Let a user read a space."""
    with session_of(ctx).for_writing() as memory:
        made = memory.grant(space, user=_named(user, everybody=everybody), agent=agent, write=write)
    _show([made], as_json)


@app.command()
def revoke(
    ctx: typer.Context,
    space: SpaceArgument,
    user: UserArgument = None,
    agent: AgentOption = None,
    everybody: EverybodyOption = False,
    as_json: JsonOption = False,
) -> None:
    """End a user's grants of a space; every process refuses them from now on."""
    with session_of(ctx).for_reading() as memory:
        ended = memory.revoke(space, user=_named(user, everybody=everybody), agent=agent)
    _show(ended, as_json)


@app.command()
def grants(
    ctx: typer.Context,
    space: SpaceArgument,
    past: Annotated[bool, typer.Option("--past", help="Also what was revoked.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List to whom a space is granted."""
    with session_of(ctx).for_reading() as memory:
        found = memory.grants(space, past=past)
    _show(found, as_json)


def _named(user: str | None, *, everybody: bool) -> str | None:
    if (user is None) is not everybody:
        raise typer.BadParameter("give a USER or --everybody")
    return user


def _show(shares: Sequence[Share], as_json: bool) -> None:
    from embermem.reports import render

    rows = (
        (
            "everybody" if one.user is None else render.cut(one.user, 40),
            "any" if one.agent is None else render.cut(one.agent, 40),
            "read, write" if one.write else "read",
            one.granted_at,
            one.revoked_at or "",
        )
        for one in shares
    )
    render.listed(as_json, shares, "grants", ("user", "agent", "may", "granted", "revoked"), rows)
