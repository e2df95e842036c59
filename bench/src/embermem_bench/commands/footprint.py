"""`embermem bench footprint`: bytes and milliseconds of this version, and of another beside it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption
from embermem_bench.commands.common import temporary_folder

if TYPE_CHECKING:
    from embermem.core.config import Settings
    from embermem_bench.footprint import FootprintReport


def footprint(
    against: Annotated[
        str | None,
        typer.Option(
            metavar="CHECKOUT|PYTHONPATH",
            help="Another version, measured in turn with this one: a checkout, or folders as PYTHONPATH names them.",
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(help="Only this part: bytes, wake, adds, settle, cli or past. Repeatable."),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]FILE", help="A data set to store beside generated conversation. Repeatable."),
    ] = None,
    corpus_utterances: Annotated[int, typer.Option(min=2, help="Utterances of each corpus.")] = 1000,
    utterances: Annotated[
        str, typer.Option(metavar="N,N,...", help="Sizes of one owner's memory, in utterances.")
    ] = "1000,10000,100000",
    settled: Annotated[
        int, typer.Option(min=0, help="Utterances of each of them that are settled; the others are embedded only.")
    ] = 4000,
    folder: Annotated[
        Path | None, typer.Option(help="Keep the filled stores here, and use those that are here.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Also use stores that another state of the same checkout filled.")
    ] = False,
    fill_seconds: Annotated[float, typer.Option(min=0.0, help="Most time to fill each store.")] = 240.0,
    rounds: Annotated[int, typer.Option(min=1, help="Processes for each timed figure.")] = 2,
    seconds: Annotated[float, typer.Option(min=0.1, help="Duration of warm reads in each process.")] = 4.0,
    processes: Annotated[
        str, typer.Option(metavar="N,N,...", help="Numbers of concurrent processes that add.")
    ] = "1,2,4,8",
    add_seconds: Annotated[float, typer.Option(min=0.1, help="Duration of each round of adds.")] = 2.0,
    settle_seconds: Annotated[
        float, typer.Option(min=0.1, help="Duration of settling, for each embedder and version.")
    ] = 8.0,
    embedder: Annotated[str | None, typer.Option(help="`hashed` or `e5`; default: what a new store gets.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Everything once, small and short: a test of the command.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the generated conversation.")] = 0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure bytes on disk and in memory, waking, recall, adding, settling. See docs/research/footprint.md."""
    from embermem.core import config
    from embermem.reports import render
    from embermem_bench import footprint as runner
    from embermem_bench.commands.main import sizes_of, words_of_the_model

    own = {
        "corpus_utterances": corpus_utterances,
        "sizes": sizes_of(utterances, "--utterances"),
        "settled": settled,
        "fill_seconds": fill_seconds,
        "rounds": rounds,
        "seconds": seconds,
        "processes": sizes_of(processes, "--processes"),
        "add_seconds": add_seconds,
        "settle_seconds": settle_seconds,
    }
    plan = runner.Plan(
        parts=tuple(part) if part else runner.PARTS,
        corpora=dict(map(_corpus, corpus or ())),
        embedder=embedder or _best(config.load()),
        keep=keep,
        seed=seed,
        **(runner.QUICK if quick else own),
    )
    other = None if against is None else runner.version_of(runner.BEFORE, against)
    with ExitStack() as stack:
        bar = stack.enter_context(render.progress())
        if folder is None:
            folder = stack.enter_context(temporary_folder())
        folder.mkdir(parents=True, exist_ok=True)
        task = bar.add_task("starting", total=None)
        report = runner.run(
            folder.resolve(),
            plan,
            against=other,
            vocabulary=words_of_the_model(),
            told=lambda what: bar.update(task, description=what),
        )
    if as_json:
        render.print_json(report.as_json())
    elif markdown:
        render.print_text(runner.markdown(report))
    else:
        _show(report)
    if report.failed:
        raise typer.Exit(1)


def _corpus(named: str) -> tuple[str, Path]:
    name, found, file = named.partition("=")
    return (name, Path(file)) if found else (Path(named).stem, Path(named))


def _best(settings: Settings) -> str:
    from embermem.cli import embedder

    return embedder.wanted(None, settings)


def _show(report: FootprintReport) -> None:
    from embermem.reports import render

    labels = list(report.versions)
    for group in dict.fromkeys(figure.group for figure in report.figures):
        render.table(
            group,
            ("", "", *labels, "×", "× processor"),
            [
                (one.name, one.unit, *(one.values.get(label) for label in labels), one.ratio, one.cpu_ratio)
                for one in report.figures
                if one.group == group
            ],
        )
    versions = [(label, commit) for label, commit in report.versions.items()]
    render.records("", [*versions, ("machine", report.machine), ("seconds", report.seconds)])
    for note in report.notes:
        render.note(note)
