"""`people set-user`, `merge`, `split`: who is who in one user's memory. `show people` lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption, owner_read

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory

app = typer.Typer(no_args_is_help=True, help="Say who is who in this user's memory; `show people` lists everybody.")

OneArgument = Annotated[str, typer.Argument(metavar="ONE", help="A name or kin word, as in `show people`.")]
OtherArgument = Annotated[str, typer.Argument(metavar="OTHER", help="The other name.")]


@app.command("set-user")
def set_user(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The speaker's name, as in `show people`.")],
    as_json: JsonOption = False,
) -> None:
    """Set which speaker is the user; prints the number of the change, which `undo` takes."""
    _ruled(ctx, lambda owner: owner.set_user(name), as_json)


@app.command()
def merge(ctx: typer.Context, one: OneArgument, other: OtherArgument, as_json: JsonOption = False) -> None:
    """Make two names one person's; prints the number of the change, which `undo` takes."""
    _ruled(ctx, lambda owner: owner.merge_people(one, other), as_json)


@app.command()
def split(ctx: typer.Context, one: OneArgument, other: OtherArgument, as_json: JsonOption = False) -> None:
    """Make two names different people's; prints the number of the change, which `undo` takes."""
    _ruled(ctx, lambda owner: owner.split_people(one, other), as_json)


def _ruled(ctx: typer.Context, rule: Callable[[OwnerMemory], int], as_json: bool) -> None:
    from embermem.reports import render

    with owner_read(ctx) as owner:
        change, found = rule(owner), owner.people()
    render.answer(as_json, {"change": change, "people": found}, str(change))
