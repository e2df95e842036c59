"""`get`, `items`, `edits`, `update`: any item by its id, and lists of items."""

from __future__ import annotations

from typing import Annotated

import typer

from embermem.cli.commands.common import (
    JsonOption,
    KeyOption,
    MetadataOption,
    ScopeOption,
    labels_of,
    owner_read,
    scope_of,
    text_of,
    time_of,
)

_IdArgument = Annotated[str, typer.Argument(metavar="ID", help="A page, utterance, fact, segment, chain or document.")]


def get(ctx: typer.Context, item_id: _IdArgument, as_json: JsonOption = False) -> None:
    """Print one item by its id."""
    from embermem.core.record import plain_values
    from embermem.reports import render

    with owner_read(ctx) as owner:
        found = owner.get(item_id)
    if as_json:
        render.print_json(found)
        return
    render.records(item_id, plain_values(found).items())


def items(
    ctx: typer.Context,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="page, utterance, fact, segment, chain or document.")],
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="At most so many.")] = 50,
    after: Annotated[str | None, typer.Option(metavar="ID", help="Begin after this item.")] = None,
    oldest: Annotated[bool, typer.Option("--oldest", help="The oldest first.")] = False,
    scope: ScopeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the items of one kind, the newest first."""
    from embermem.core.types import Document, Page
    from embermem.reports import render

    seen = scope_of(scope)
    with owner_read(ctx) as owner:
        found = owner.items(kind, limit=limit, after=after, order="oldest" if oldest else "newest", scope=seen)
    rows = []
    for one in found:
        match one:
            case Page():
                says = one.query or one.response
            case Document():
                says = one.title
            case _:
                says = getattr(one, "text", "") or getattr(one, "summary", "")
        rows.append((one.id, render.cut(says, 90)))
    render.listed(as_json, found, f"{kind}s", ("id", "says"), rows)


def edits(
    ctx: typer.Context,
    item_id: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A page, fact, segment or chain, a trait, or a profile line such as user.home."
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Print what changes did to an item: each field from what to what, when and why."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        found = owner.edits(item_id)
    rows = (
        (
            one.change_no,
            render.when(one.recorded_at),
            one.cause,
            one.field,
            render.cut(str(one.before)),
            render.cut(str(one.after)),
        )
        for one in found
    )
    render.listed(as_json, found, f"edits of {item_id}", ("change", "when", "why", "field", "from", "to"), rows)


def update(
    ctx: typer.Context,
    item_id: Annotated[str, typer.Argument(metavar="ID", help="A fact; or a page, of which --expires-at applies.")],
    text: Annotated[str | None, typer.Argument(help="The fact in other words; `-` reads stdin.")] = None,
    value: Annotated[str | None, typer.Option(help="Its value, such as `Lyon`; default: the text.")] = None,
    pinned: Annotated[bool | None, typer.Option("--pin/--unpin", help="Exempt it from the cap, or no longer.")] = None,
    expires_at: Annotated[str | None, typer.Option(metavar="TIME", help="When it ends.")] = None,
    metadata: MetadataOption = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a fact, or when a page ends. With a text or labels, a new fact takes the place of the old one."""
    from embermem.reports import render

    says, ends = None if text is None else text_of(text), time_of(expires_at)
    labels = None if metadata is None else labels_of(metadata)
    with owner_read(ctx) as owner:
        made = owner.update(
            item_id, says, value=value, pinned=pinned, expires_at=ends, metadata=labels or None, key=key
        )
    render.answer(as_json, made, made.id)
