"""`embermem keys`: who may use the service, and what of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embermem.cli.commands.common import JsonOption, session_of

if TYPE_CHECKING:
    from embermem.protocols import ApiKey

app = typer.Typer(no_args_is_help=True, help="Keys of the server: create, list and revoke them.")


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is for, such as `phone`.")],
    owner: Annotated[
        list[str] | None,
        typer.Option(metavar="USER[/AGENT]", help="The owners it grants access to; repeatable; `*` for all."),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option(metavar="SPACE[:RIGHT]", help="A space and read, write or grant (default: read); repeatable."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Grant read access only.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Create a key and print it. It is shown only once."""
    from embermem import api_keys
    from embermem.reports import render

    key, text = api_keys.make(name, owner or (), spaces=space or (), read_only=read_only, now=datetime.now(UTC))
    with session_of(ctx).for_writing() as memory:
        memory.keys.add_key(key)
    once = f"key {key.id} is shown this once; `embermem keys revoke {key.id}` ends it"
    render.answer(as_json, {**_shown(key), "key": text}, text, once)


@app.command("list")
def list_(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List all keys without their secrets."""
    from embermem.reports import render

    with session_of(ctx).for_reading() as memory:
        shown = [_shown(key) for key in memory.keys.all_keys()]
    rows = (
        (
            one["id"],
            render.cut(one["name"], 40),
            render.cut(", ".join((*one["owners"], *(f"space {name}" for name in one["spaces"]))), 60),
            "read" if one["read_only"] else "read, write",
            one["created_at"],
            "revoked" if one["revoked_at"] else "",
        )
        for one in shown
    )
    render.listed(as_json, shown, "keys", ("id", "name", "owners", "may", "made", ""), rows)


@app.command()
def revoke(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as in `keys list`.")],
    as_json: JsonOption = False,
) -> None:
    """Revoke a key: every server on this store refuses it from now on."""
    from embermem.reports import render

    with session_of(ctx).for_reading() as memory:
        key = memory.keys.revoke_key(key_id, datetime.now(UTC))
    render.answer(as_json, _shown(key), key.id, f"{key.name} is revoked")


def _shown(key: ApiKey) -> dict[str, Any]:
    from embermem.api_keys import shown

    return {
        "id": key.id,
        "name": key.name,
        "owners": [shown(grant) for grant in key.of_users],
        "spaces": [shown(grant) for grant in key.grants if grant.space is not None],
        "read_only": key.read_only,
        "created_at": key.created_at,
        "revoked_at": key.revoked_at,
    }
