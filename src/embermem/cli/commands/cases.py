"""`embermem cases`: queries whose recall was wrong, listed, dropped, and exported as a test."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from embermem.cli.commands.common import JsonOption, owner_read, owner_written, say, session_of
from embermem.cli.commands.moving import output

app = typer.Typer(no_args_is_help=True, help="Queries whose recall was wrong, kept to be asked again.")

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The case's id, as in `cases list`.")]
IdsOption = Annotated[list[str] | None, typer.Option(metavar="ID", help="An utterance's id; repeatable.")]


@app.command("list")
def list_(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the cases, oldest first."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        found = owner.cases()
    rows = (
        (one.id, render.cut(one.query, 60), str(len(one.expected)), str(len(one.unwanted)), render.cut(one.note, 60))
        for one in found
    )
    render.listed(as_json, found, "cases", ("id", "query", "expected", "unwanted", "note"), rows)


@app.command()
def add(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="The query whose recall was wrong.")],
    expected: IdsOption = None,
    unwanted: IdsOption = None,
    note: Annotated[str, typer.Option(help="Your own words.")] = "",
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was asked; default: now.")] = None,
    budget: Annotated[int | None, typer.Option(min=1, help="The budget that it was asked with.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a query as a case: its context should rest on the expected utterances, and on no unwanted one."""
    from embermem.reports import render

    with owner_written(ctx) as owner:
        made = owner.add_case(query, expected=expected or (), unwanted=unwanted or (), note=note, at=at, budget=budget)
    render.answer(as_json, made, f"{made.id}: {made.query}")


@app.command()
def drop(ctx: typer.Context, case_id: IdArgument, as_json: JsonOption = False) -> None:
    """Drop a case. `undo` brings it back."""
    from embermem.reports import render

    with owner_read(ctx) as owner:
        gone = owner.drop_case(case_id)
    render.answer(as_json, gone, gone.id, "dropped")


@app.command()
def export(
    ctx: typer.Context,
    out: Annotated[str, typer.Option("--out", metavar="OUT.json", help="A new file; `-` writes to stdout.")] = "-",
) -> None:
    """Write the cases, with what was said, as a recall set: `embermem bench recall` asks them."""
    from embermem.transfer.cases import recall_set

    with owner_read(ctx) as owner:
        made = recall_set(owner)
    session = session_of(ctx)
    with output(out, session.path or session.store) as file:
        file.write(json.dumps(made, ensure_ascii=False, indent=1).encode() + b"\n")
    (conversation,) = made["conversations"]
    say(f"{len(conversation['questions'])} cases; whoever reads the file reads the conversations")
