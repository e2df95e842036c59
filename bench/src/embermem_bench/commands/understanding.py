"""`embermem bench understanding`: what a memory understood of conversations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embermem.cli.commands.common import JsonOption, session_of
from embermem_bench.commands.common import progress_told, temporary_folder
from embermem_bench.understanding.rows import ROWS, definitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from embermem_bench.understanding.context_sheet import Answered
    from embermem_bench.understanding.run import Report
    from embermem_bench.understanding.segment_sheet import Accepted
    from embermem_bench.understanding.sheet import Judged

HELP = f"""Measure what a memory understood, without a judge. See docs/research/understanding.md.

Each file's conversations are stored and settled, one owner each; questions with evidence are asked.

{definitions()}

With --sample, facts are drawn at random and written as a sheet. Fill its column `right` with y or n and read it back
with --judged: the share of right facts, of all and of identity attributes. With --segments, segments are drawn in the
same way: fill the column `accept`. With --contexts, questions are drawn with their contexts of --tokens tokens; the
column `answers` says whether a context answers its question.
"""


def understanding(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="LoCoMo's format or the recall-set format.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N conversations of each file.")
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
    from embermem_bench.understanding import context_sheet, segment_sheet, sheet

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
        if segment_sheet.is_one(judged):
            _show_accepted(segment_sheet.judged(judged), as_json)
        elif context_sheet.is_one(judged):
            _show_answered(context_sheet.judged(judged), as_json)
        else:
            _show_judged(sheet.judged(judged), as_json)
        return
    if out is not None and out.exists():
        raise typer.BadParameter(f"{out} exists; name another file for the sheet")
    reports = _measured(files or [], limit, session_of(ctx).preset, None if contexts is None else tokens)
    if as_json:
        found = [report.as_json() for report in reports]
        render.print_json(found[0] if len(found) == 1 else found)
    else:
        _show(reports)
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


def _measured(files: Sequence[Path], limit: int | None, preset: str | None, context_tokens: int | None) -> list[Report]:
    from embermem_bench.datasets import subset
    from embermem_bench.understanding import run as runner
    from embermem_bench.understanding.gold import load_with_gold

    loaded = [load_with_gold(file) for file in files]
    reports = []
    for dataset, gold in loaded:
        with temporary_folder() as folder, progress_told() as told:
            part = subset(dataset, conversations=limit)
            reports.append(runner.run(part, gold, folder, preset=preset, context_tokens=context_tokens, told=told))
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


def _show_answered(found: Answered, as_json: bool) -> None:
    from dataclasses import asdict

    from embermem.reports import render

    share = found.answers / found.judged if found.judged else None
    if as_json:
        render.print_json(asdict(found) | {"contexts_answer": share})
        return
    render.table(
        "contexts that answer, by reading", ("answer", "judged", "share"), [(found.answers, found.judged, share)]
    )
    render.records("", [("not judged", found.not_judged)])


def _show_judged(found: Judged, as_json: bool) -> None:
    from dataclasses import asdict

    from embermem.reports import render

    share = found.right / found.judged if found.judged else None
    of_identity = found.identity_right / found.identity_judged if found.identity_judged else None
    if as_json:
        render.print_json(asdict(found) | {"facts_right": share, "identity_facts_right": of_identity})
        return
    render.table(
        "facts right, by reading",
        ("", "right", "judged", "share"),
        [
            ("all", found.right, found.judged, share),
            ("identity", found.identity_right, found.identity_judged, of_identity),
        ],
    )
    render.records("", [("not judged", found.not_judged)])


def _show_accepted(found: Accepted, as_json: bool) -> None:
    from dataclasses import asdict

    from embermem.reports import render

    share = found.accepted / found.judged if found.judged else None
    if as_json:
        render.print_json(asdict(found) | {"segments_accepted": share})
        return
    render.table(
        "segments accepted, by reading", ("accepted", "judged", "share"), [(found.accepted, found.judged, share)]
    )
    render.records("", [("not judged", found.not_judged)])
