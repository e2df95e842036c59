"""`embermem bench year`: a year of talk, and what a memory knows of its past."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from embermem.cli.commands.common import JsonOption, session_of
from embermem_bench.commands.common import progress_told, temporary_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from embermem_bench.year import Report

_SHOWN = 300
"""Characters of what is wrong that are shown."""


def year(
    ctx: typer.Context,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="A language model that analyses the pages; all questions are then asked. Default: none."
        ),
    ] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", help="The embedder; overrides the setting.")] = None,
    budget: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most tokens of each recall.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Add a year of conversation to a new store, and ask what was known and true when. See docs/research/bench.md.

    Exit code 1 if anything is wrong.
    """
    from embermem.reports import render
    from embermem_bench import year as runner

    settings: dict[str, Any] = {"preset": session_of(ctx).preset}
    if embedder is not None:
        settings["embedder"] = embedder
    with temporary_folder() as folder, progress_told() as told:
        report = runner.run(folder, model=model, budget=budget, told=told, **settings)
    if as_json:
        render.print_json(report.as_json())
    else:
        _show(report)
    if not report.good:
        raise typer.Exit(1)


def _show(report: Report) -> None:
    from embermem.reports import render

    told = report.as_json()
    title = f"a year, read by {report.analyst}, {report.embedder}: {told['right']} of {told['questions']} right"
    for name in ("by_kind", "by_read", "by_month"):
        render.table(title, (name.removeprefix("by_"), "right", "questions"), _rows(told[name]))
        title = ""
    names = ("pages", "talks", "changes", "facts", "past_facts", "left_out", "ms_p50", "moments")
    render.records("", [(name, told[name]) for name in names])
    for name in ("left_in_files", "moments_unlike", "unsound"):
        for line in told[name]:
            render.print_text(f"{name}: {line[:_SHOWN]}")
    for one in report.failed:
        asked = one.question
        render.print_text(f"\n{asked.id} {asked.question} ({asked.read}, {asked.month}): {'; '.join(one.wrong)}")
        render.print_text("  " + "\n  ".join(one.answer)[:_SHOWN])


def _rows(groups: Mapping[str, Mapping[str, int]]) -> list[tuple[str, int, int]]:
    return [(name, one["right"], one["questions"]) for name, one in groups.items()]
