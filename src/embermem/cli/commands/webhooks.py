"""`embermem webhooks`: addresses to which what is new in one memory is sent. `embermem get`: any item by its id."""

from __future__ import annotations

from typing import Annotated

import typer

from embermem.cli.commands.common import JsonOption, owner_read, owner_written

app = typer.Typer(no_args_is_help=True, help="Addresses to which what is new in this memory is sent.")

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The webhook's id, as in `webhooks list`.")]
SinceOption = Annotated[
    str | None, typer.Option(metavar="SEQ.REVISION", help="Begin after this position, the id of an event.")
]


@app.command()
def add(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(help="The address, https://…")],
    event: Annotated[
        list[str] | None, typer.Option(help="`page` or a cause of changes; repeatable; default: all.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Send what was said and decided too.")] = False,
    since: SinceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Register a webhook and print its secret. It is shown only once."""
    from embermem.reports import render

    with owner_written(ctx) as owner:
        made = owner.add_webhook(url, events=event or (), text=text, since=since)
    once = f"webhook {made.id}: its secret is shown this once; `embermem webhooks remove {made.id}` ends it"
    render.answer(as_json, made, made.secret, once)


@app.command("list")
def list_(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the webhooks, with what failed last."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        found = owner.webhooks()
    rows = (
        (one.id, render.cut(one.url, 60), one.state.value, one.position, str(one.attempts), one.error) for one in found
    )
    render.listed(as_json, found, "webhooks", ("id", "url", "state", "told to", "attempts", "error"), rows)


@app.command()
def remove(ctx: typer.Context, webhook_id: IdArgument, as_json: JsonOption = False) -> None:
    """Remove a webhook."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        owner.remove_webhook(webhook_id)
        left = owner.webhooks()
    render.answer(as_json, {"webhooks": left}, webhook_id, "removed")


@app.command()
def replay(ctx: typer.Context, webhook_id: IdArgument, since: SinceOption = None, as_json: JsonOption = False) -> None:
    """Send again what came after a position, or what was not delivered yet."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        found = owner.replay_webhook(webhook_id, since)
    render.answer(as_json, found, webhook_id, f"sends what came after {found.position}")
