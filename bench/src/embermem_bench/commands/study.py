"""`embermem bench study`: the papers' studies done again. `embermem bench cost`: calls and tokens for each response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from embermem.cli.commands.common import JsonOption, session_of
from embermem_bench.commands.common import JudgeModelOption, judge_of, progress_told

if TYPE_CHECKING:
    from embermem.protocols import LanguageModel
    from embermem_bench.plan import Replies
    from embermem_bench.studies import Written

PARTS = ("remember", "recall", "answer")


class Study(StrEnum):
    """The studies: docs/research/studies.md."""

    ABLATION = "ablation"
    AMEM_ABLATION = "amem-ablation"
    K_SWEEP = "k-sweep"
    MEMORY_MAP = "memory-map"
    PRESETS = "presets"


def study(
    ctx: typer.Context,
    name: Annotated[Study, typer.Argument(metavar="NAME", help=", ".join(Study))],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Data in any format that `bench run` reads.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the table, the numbers and the figure.")],
    measure: Annotated[
        str | None, typer.Option(help="The measure to draw: `packed`, `rec@10`, with a model `f1_locomo`, …")
    ] = None,
    preset: Annotated[
        str | None, typer.Option("--preset", help="Preset of MemoryOS, for ablation and memory-map.")
    ] = None,
    system: Annotated[
        list[str] | None, typer.Option("--system", metavar="NAME", help="For k-sweep. Repeatable.")
    ] = None,
    k: Annotated[list[int] | None, typer.Option("--k", min=1, help="For k-sweep. Repeatable.")] = None,
    seed: Annotated[list[int] | None, typer.Option("--seed", help="Default: 0. Repeatable.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Most questions per conversation.")] = None,
    conversation: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this conversation. Repeatable.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Most tokens of a context; default: each system's own.")
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", metavar="NAME", help="`strict`, `lenient` or `gvd`. Repeatable.")
    ] = None,
    judge_model: JudgeModelOption = None,
    replies: Annotated[
        str, typer.Option("--replies", metavar="NAME", help="`short`, `choice` or `chat`: how questions are answered.")
    ] = "short",
    no_model: Annotated[bool, typer.Option("--no-model", help="Use no model, even if the settings name one.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Repeat a study of the papers; write its table, numbers and figure. Rules: docs/research/studies.md."""
    from embermem_bench import studies

    chosen, talks = preset or session_of(ctx).preset or "default", tuple(conversation or ())
    options: dict[str, Sequence[object] | None] = {"preset": [chosen], "measure": [measure], "system": system, "k": k}
    options |= {
        "judge": judge,
        "replies": [replies] if replies != "short" else None,
        "judge-model": [judge_model and judge_model.partition("@http")[0]],
    }
    options |= {"seed": seed, "limit": [limit], "conversation": conversation, "budget": [budget]}
    command = _command(["embermem bench study", name, *(file.name for file in files)], options)
    with progress_told() as told:
        if name is Study.MEMORY_MAP:
            if len(files) > 1 or len(talks) > 1:
                raise typer.BadParameter("memory-map draws one conversation of one file")
            written = studies.draw_map(
                files[0],
                out,
                conversation=talks[0] if talks else None,
                model=_model(no_model),
                preset=chosen,
                command=command,
                told=told,
            )
        else:
            written = studies.compare(
                studies.comparison(name, preset=chosen, systems=tuple(system or ()), ks=tuple(k or ())),
                files,
                out,
                model=_model(no_model),
                measure=measure,
                seeds=tuple(seed or (0,)),
                limit=limit,
                conversations=talks,
                budget=budget,
                judges=tuple(judge or ()),
                judge=None if judge_model is None or no_model else judge_of(judge_model),
                replies=cast("Replies", replies),
                command=command,
                told=told,
            )
    _show(written, as_json)


def cost(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Data in any format that `bench run` reads.")],
    pages: Annotated[int, typer.Option(min=1, help="Number of pages, from the start of the conversation.")] = 100,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Default: the first conversation.")] = None,
    system: Annotated[
        list[str] | None,
        typer.Option("--system", metavar="NAME", help="`amem`, `memoryos:preset=paper`, …; default: all."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count model calls and tokens per response, with a scripted model on loopback. Rules: docs/research/studies.md."""
    from embermem.reports import render
    from embermem_bench import cost as runner
    from embermem_bench.datasets import load
    from embermem_bench.plan import SystemSpec

    talk = runner.chosen(load(file).conversations, conversation)
    lived = runner.pages_of(talk)[:pages]
    rows: list[dict[str, Any]] = []
    with progress_told() as told:
        for spec in map(SystemSpec.parse, system or runner.SYSTEMS):
            for way in runner.ways_of(spec.name):
                row = runner.costs(lived, spec.name, spec.options, way, label=spec.label, told=told)
                rows.append(row.as_json())
    if as_json:
        render.print_json({"conversation": talk.id, "file": file.name, "rows": rows})
        return
    columns = ["system", "understood", "calls", "tokens", "context", *PARTS, "paper"]
    render.table(f"{talk.id}: per response", columns, [_cells(row) for row in rows])
    render.note("each pair is calls, tokens; tokens as the scripted server counts them; the paper's are Table 3's")


def _cells(row: Mapping[str, Any]) -> Sequence[object]:
    published = row["published"]
    return (
        row["system"],
        row["way"],
        *(_number(row[name]) for name in ("calls", "tokens", "context_tokens")),
        *(f"{_number(row[part]['calls'])}, {_number(row[part]['tokens'])}" for part in PARTS),
        "" if published is None else f"{_number(published['calls'])}, {_number(published['tokens'])}",
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,}"


def _command(words: Sequence[str], options: Mapping[str, Sequence[object] | None]) -> str:
    """A command without any path, and with what was given."""
    given = [f"--{key} {value}" for key, values in options.items() for value in values or () if value is not None]
    return " ".join([*words, *given])


def _show(written: Written, as_json: bool) -> None:
    from embermem.reports import render

    if as_json:
        render.print_json(written.content)
        return
    render.print_text(written.text)
    for path in (written.table, written.numbers, *written.figures):
        render.note(f"written: {path}")


def _model(no_model: bool) -> LanguageModel | None:
    from embermem import bootstrap
    from embermem.core import config

    return None if no_model else bootstrap.make_model(None, config.load())
