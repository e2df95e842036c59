"""`embermem document`: files and texts that nobody said in a talk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from embermem.cli.commands.common import JsonOption, owner_read, owner_written, text_of, time_of

app = typer.Typer(no_args_is_help=True, help="Documents: add, list, show and forget them.")

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="The document's id, as in `document list`.")]


@app.command()
def add(
    ctx: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Files; `-` reads a text from stdin.")],
    title: Annotated[str | None, typer.Option(help="Its title; for one file.")] = None,
    source: Annotated[str | None, typer.Option(help="What tells it from others (default: the path); one file.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was written.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Store files in passages, or replace what changed of them since they were added."""
    from embermem.reports import render

    if len(files) > 1 and (title is not None or source is not None):
        raise typer.BadParameter("--title and --source are for one file")
    written = time_of(at)
    with owner_written(ctx) as owner:
        done = [
            owner.add_document(text_of(one) if one == "-" else Path(one), title=title, source=source, at=written)
            for one in files
        ]
    rows = ((one.id, render.cut(one.title, 40), one.added, one.kept, one.removed) for one in done)
    render.listed(as_json, done, "documents", ("id", "title", "added", "kept", "removed"), rows)


@app.command("list")
def list_(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List all documents."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        found = owner.documents()
    rows = ((one.id, render.cut(one.title, 40), render.cut(one.source, 60), one.passages) for one in found)
    render.listed(as_json, found, "documents", ("id", "title", "source", "passages"), rows)


@app.command()
def show(ctx: typer.Context, document_id: DocumentId, as_json: JsonOption = False) -> None:
    """Show the passages of a document."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        found = owner.passages(document_id)
    rows = ((one.seq, "" if one.passage is None else one.passage.place, render.cut(one.text, 100)) for one in found)
    render.listed(as_json, found, "passages", ("", "place", "text"), rows)


@app.command()
def forget(
    ctx: typer.Context,
    document_id: DocumentId,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove a document and its passages, for good. It may be added again."""
    from embermem.reports import render

    with owner_written(ctx) as owner:
        gone = owner.forget_document(document_id, dry_run=dry_run)
    said = "would be removed" if dry_run else "removed"
    render.answer(as_json, gone, f"{len(gone.pages)} passages {said}")
