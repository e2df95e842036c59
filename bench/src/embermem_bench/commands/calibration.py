"""`embermem bench calibration`: whether relevance and confidence are probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embermem.cli.commands.common import JsonOption, session_of
from embermem_bench.commands.common import PresetOption, progress_told, temporary_folder

if TYPE_CHECKING:
    from embermem_bench.calibration import Report


def calibration(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="LoCoMo's format or the recall-set format.")],
    last: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the last N conversations: those not fitted on.")
    ] = None,
    unrelated: Annotated[
        int, typer.Option(min=0, metavar="N", help="Questions of other conversations that are put to each.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Seed of their draw.")] = 0,
    figure: Annotated[
        Path | None, typer.Option(metavar="STEM", help="Draw the reliability curves into STEM.svg and STEM.png.")
    ] = None,
    preset: PresetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure whether relevance and confidence are the probabilities that they are said to be."""
    from embermem.reports import render
    from embermem_bench import calibration as runner
    from embermem_bench import figures
    from embermem_bench.datasets import load

    if figure is not None:
        figures.check()
    dataset = load(file)
    with temporary_folder() as folder, progress_told() as told:
        chosen = preset or session_of(ctx).preset
        report = runner.run(dataset, folder, preset=chosen, last=last, unrelated=unrelated, seed=seed, told=told)
    if figure is not None:
        curves = runner.curves(report)
        title = f"Reliability, {report.name}"
        figures.lines(figure, title=title, x_label="probability said", label="share that is true", series=curves)
    if as_json:
        render.print_json(report.as_json())
    else:
        _show(report)


def _show(report: Report) -> None:
    from embermem.reports import render

    found = report.as_json()
    kinds = [(kind, one["questions"], one["confidence"], one["holds"]) for kind, one in found["kinds"].items()]
    title = f"{report.name}, preset {report.preset}, {report.embedder}"
    render.table(f"{title}: questions", ("kind", "n", "confidence", "context holds the answer"), kinds)
    for what in ("confidence", "relevance"):
        for which, figures in found[what].items():
            columns = ("n", "mean", "true")
            render.table(f"{what}, {which} questions: ten bins of equal size", columns, figures["reliability"])
            render.records("", [(name, value) for name, value in figures.items() if name != "reliability"])
