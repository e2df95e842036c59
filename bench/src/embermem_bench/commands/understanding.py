"""`embermem bench understanding`: what a memory understood of conversations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embermem.cli.commands.common import JsonOption, session_of
from embermem_bench.commands.common import progress_told, temporary_folder
from embermem_bench.understanding.rows import ROWS, definitions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from embermem_bench.understanding import message_sets
    from embermem_bench.understanding.context_sheet import Answered
    from embermem_bench.understanding.run import Report
    from embermem_bench.understanding.segment_sheet import Accepted
    from embermem_bench.understanding.sheet import Judged

HELP = f"""Measure what a memory understood, without a judge. See docs/research/understanding.md.

Each file's conversations are stored and settled, one owner each; questions with evidence are asked. Of a message set
(.jsonl: changes, near misses, statements, or messages with nothing to note), the items that are read right are counted.

{definitions()}

With --sample, facts are drawn at random and written as a sheet. Fill its column `right` with y or n and read it back
with --judged: the share of right facts, of all and of identity attributes. With --segments, segments are drawn in the
same way: fill the column `accept`. With --contexts, questions are drawn with their contexts of --tokens tokens; the
column `answers` says whether a context answers its question.
"""


def understanding(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="LoCoMo's format, the recall-set format, or message sets (.jsonl)."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N conversations, or items, of each file.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Write N facts of all files, drawn at random, to --out.")
    ] = None,
    segments: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Write N segments, drawn in the same way, to --out.")
    ] = None,
    contexts: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Write the contexts of N questions of all files to --out.")
    ] = None,
    tokens: Annotated[int, typer.Option(min=1, metavar="B", help="The budget of --contexts.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The sheet (CSV); a new file.")] = None,
    judged: Annotated[Path | None, typer.Option(metavar="FILE", help="Read a judged sheet; no other FILE.")] = None,
    as_json: JsonOption = False,
) -> None:
    """The command; `HELP` is its help, with the definition of each figure."""
    from embermem.reports import render
    from embermem_bench.understanding import context_sheet, message_sets, segment_sheet, sheet

    wanted = [one for one in (sample, segments, contexts) if one is not None]
    if len(wanted) > 1:
        raise typer.BadParameter("--sample, --segments and --contexts write one sheet each: name one of them")
    if bool(wanted) != (out is not None):
        raise typer.BadParameter("--sample, --segments or --contexts and --out go together: how many, and where")
    if judged is None and not files:
        raise typer.BadParameter("no FILE is given: name conversations to measure, or a sheet with --judged")
    if judged is not None:
        if files or wanted:
            raise typer.BadParameter("--judged only reads its sheet: leave out FILE, --sample, --segments, --contexts")
        return _show_judged(judged, as_json)
    if out is not None and out.exists():
        raise typer.BadParameter(f"{out} exists; name another file for the sheet")
    if wanted and (sets := [file for file in files or () if message_sets.is_one(file)]):
        raise typer.BadParameter(f"{sets[0]} is a message set; a sheet is drawn from conversations only")
    measured = _measured(files or [], limit, session_of(ctx).preset, None if contexts is None else tokens)
    reports = [one for one in measured if not isinstance(one, message_sets.Report)]
    of_sets = [one for one in measured if isinstance(one, message_sets.Report)]
    if as_json:
        found = [report.as_json() for report in measured]
        render.print_json(found[0] if len(found) == 1 else found)
    else:
        if reports:
            _show(reports)
        if of_sets:
            _show_sets(of_sets)
    if not all(one.reader for one in of_sets):
        render.note("the trained reader is not there, rules alone read the message sets: run `embermem model install`")
    if sample is not None and out is not None:
        rows = sheet.drawn([row for report in reports for row in report.facts], sample, seed)
        sheet.write(rows, out)
        render.note(f"facts written to {out}: {len(rows)}; fill the column `right` with y or n")
    if contexts is not None and out is not None:
        asked = sheet.drawn([row for report in reports for row in report.contexts], contexts, seed)
        sheet.write(asked, out, context_sheet.ContextRow)
        render.note(f"contexts written to {out}: {len(asked)}; fill the column `answers` with y or n")
    if segments is not None and out is not None:
        made = sheet.drawn([row for report in reports for row in report.segments], segments, seed)
        sheet.write(made, out, segment_sheet.SegmentRow)
        render.note(f"segments written to {out}: {len(made)}; fill the column `accept` with y or n")


def _measured(
    files: Sequence[Path], limit: int | None, preset: str | None, context_tokens: int | None
) -> list[Report | message_sets.Report]:
    """The report of each file; all are read before the first is measured."""
    from functools import partial

    from embermem_bench.datasets import subset
    from embermem_bench.understanding import message_sets
    from embermem_bench.understanding import run as runner
    from embermem_bench.understanding.gold import load_with_gold

    runs: list[Callable[..., Report | message_sets.Report]] = []
    for file in files:
        if message_sets.is_one(file):
            runs.append(partial(message_sets.run, file.stem, message_sets.load(file)[:limit]))
        else:
            dataset, gold = load_with_gold(file)
            part = subset(dataset, conversations=limit)
            runs.append(partial(runner.run, part, gold, context_tokens=context_tokens))
    reports = []
    for run in runs:
        with temporary_folder() as folder, progress_told() as told:
            reports.append(run(folder, preset=preset, told=told))
    return reports


def _show(reports: Sequence[Report]) -> None:
    from embermem.reports import render

    first = reports[0]
    render.table(
        f"understanding, preset {first.preset}, {first.embedder}",
        ("", *(render.cut(report.name, 24) for report in reports)),
        [(row.heading, *(report.figure(row.key) for report in reports)) for row in ROWS],
    )
    names = ("conversations", *first.counts)
    counted: list[dict[str, Any]] = [report.as_json() for report in reports]
    render.records("", [(name, " ".join(str(one[name]) for one in counted)) for name in names])


def _show_sets(reports: Sequence[message_sets.Report]) -> None:
    from embermem.reports import render

    keys = list(dict.fromkeys(key for report in reports for key in report.counts))
    rows = []
    for report in reports:
        languages = ", ".join(f"{lang} {some}/{of}" for lang, (some, of) in report.by_language.items())
        counts = map(report.counts.get, keys)
        rows.append((render.cut(report.name, 24), report.kind, report.items, *counts, languages))
    columns = ("", "kind", "items", *(key.replace("_", " ") for key in keys), "by language")
    render.table(f"message sets, preset {reports[0].preset}, {reports[0].embedder}", columns, rows)


def _show_judged(judged: Path, as_json: bool) -> None:
    """The shares of a judged sheet, whose columns say what was judged."""
    from dataclasses import asdict

    from embermem.reports import render
    from embermem_bench.understanding import context_sheet, segment_sheet, sheet

    rows: list[tuple[str, str, int, int]]
    found: Accepted | Answered | Judged
    if segment_sheet.is_one(judged):
        found = segment_sheet.judged(judged)
        title, rows = "segments accepted", [("all", "segments_accepted", found.accepted, found.judged)]
    elif context_sheet.is_one(judged):
        found = context_sheet.judged(judged)
        title, rows = "contexts that answer", [("all", "contexts_answer", found.answers, found.judged)]
    else:
        found = sheet.judged(judged)
        title, rows = (
            "facts right",
            [
                ("all", "facts_right", found.right, found.judged),
                ("identity", "identity_facts_right", found.identity_right, found.identity_judged),
            ],
        )
    shares = {key: right / of if of else None for _, key, right, of in rows}
    if as_json:
        render.print_json(asdict(found) | shares)
        return
    columns = ("", "yes", "judged", "share")
    render.table(f"{title}, by reading", columns, [(name, right, of, shares[key]) for name, key, right, of in rows])
    render.records("", [("not judged", found.not_judged)])
