"""`embermem bench contexts`: what contexts hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from embermem.cli.commands.common import JsonOption, session_of
from embermem_bench.commands.common import progress_told, temporary_folder


def contexts(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Conversations with questions, item sets (.jsonl), or notes."),
    ],
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N conversations, or items, of each file.")
    ] = None,
    lives: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Conversations of the memory that unneeded messages are asked of. Repeatable."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure what contexts hold beside plain lines, what is outdated in them, and what is told unasked. Rules:
    docs/research/contexts.md."""
    from embermem.reports import render
    from embermem_bench import contexts as runner
    from embermem_bench import datasets

    preset = session_of(ctx).preset
    known = [datasets.load(file) for file in lives or ()]
    reports = []
    for file in files:
        with temporary_folder() as folder, progress_told() as told:
            if runner.is_item_set(file):
                report = runner.run_items(file, folder, lives=known, preset=preset, limit=limit, told=told)
            elif runner.is_notes(file):
                report = runner.run_notes(file, folder, preset=preset, limit=limit, told=told)
            else:
                report = runner.run(datasets.load(file), folder, preset=preset, limit=limit, told=told)
        reports.append(report)
    if as_json:
        found = [report.as_json() for report in reports]
        render.print_json(found[0] if len(found) == 1 else found)
        return
    for report in reports:
        title = f"{report.name}, preset {report.preset}, {report.embedder}"
        if report.counts is not None:
            render.records(title, list(report.counts.items()))
            continue
        rows = report.as_json()["budgets"]
        columns = ("budget", *next(iter(rows.values())))
        render.table(title, columns, [(budget, *row.values()) for budget, row in rows.items()])
