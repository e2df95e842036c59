"""`embermem bench past`: what a look back costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption, session_of
from embermem_bench.commands.common import progress_told, temporary_folder

if TYPE_CHECKING:
    from embermem_bench.past import PastReport


def past(
    ctx: typer.Context,
    pages: Annotated[int, typer.Option(min=100, help="Pages of the memory.")] = 5000,
    samples: Annotated[int, typer.Option(min=1, help="Number of timed recalls for each kind of read.")] = 40,
    seed: Annotated[int, typer.Option(help="Seed of the generated conversation and of the times.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare past reads with current ones; time undo, why and forget. See docs/research/bench.md."""
    from embermem.reports import render
    from embermem_bench import past as runner

    with temporary_folder() as folder, progress_told() as told:
        report = runner.run(folder, pages=pages, samples=samples, seed=seed, preset=session_of(ctx).preset, told=told)
    if as_json:
        render.print_json(report)
    else:
        _show(report)


def _show(report: PastReport) -> None:
    from embermem.reports import render

    render.table(
        f"a look back, {report.pages} pages, preset {report.preset}, ms p50",
        ("", "now", "as of", "×", "again", "×", "valid at", "×"),
        [
            (
                read.name,
                read.now_ms,
                read.as_of_ms,
                read.as_of_ratio,
                read.again_ms,
                read.again_ratio,
                read.valid_at_ms,
                read.valid_at_ratio,
            )
            for read in report.reads
        ],
    )
    render.records(
        "",
        [
            ("first as of, ms", report.first_as_of_ms),
            ("why, ms p50", report.why_ms),
            ("undo, ms p50", report.undo_ms),
            ("forget a page, ms p50", report.forget_ms),
            ("scrub, ms p50", report.scrub_ms),
            ("file, bytes a page", report.bytes_a_page),
            *((f"{name}, bytes a page", size) for name, size in report.table_bytes_a_page.items()),
            ("in memory, bytes", report.resident_bytes[0]),
            ("with the past, bytes", report.resident_bytes[1]),
            ("changes", report.changes),
            ("facts", report.facts),
            ("past facts", report.past_facts),
        ],
    )
