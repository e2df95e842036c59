"""`embermem bench run` and `embermem bench report`: memory systems side by side, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from embermem.cli.commands.common import JsonOption, say, session_of
from embermem.core.errors import ConfigError
from embermem_bench.commands.common import JudgeModelOption, judge_of, model_of, run_told

if TYPE_CHECKING:
    from embermem_bench.plan import Replies
    from embermem_bench.results import Results
    from embermem_bench.running import Plan, SystemSpec

REPORT = "report"


def run(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="DATA...", help="Files of docs/research/datasets.md.")],
    systems: Annotated[
        list[str],
        typer.Option(
            "--system", metavar="NAME", help="Such as `amem`, `amem:recall_k=20`, `module:Class`. Repeatable."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the run; an existing run is continued.")],
    seeds: Annotated[
        list[int] | None,
        typer.Option(
            "--seed", metavar="N", help="Seed of drawn questions and of the model's replies; default: 0. Repeatable."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most questions per conversation.")] = None,
    conversations: Annotated[
        list[str] | None, typer.Option("--conversation", metavar="ID", help="Only this conversation. Repeatable.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Most tokens of a context; default: each system's own.")
    ] = None,
    counter: Annotated[
        str | None, typer.Option("--counter", metavar="NAME", help="`approx` (the default) or `words`.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Ask each question when it comes, and count the visit.")] = False,
    no_visits: Annotated[
        bool, typer.Option("--no-visits", help="With --live: count no visit, to see what visits change.")
    ] = False,
    judges: Annotated[
        list[str] | None, typer.Option("--judge", metavar="NAME", help="`strict`, `lenient` or `gvd`. Repeatable.")
    ] = None,
    replies: Annotated[
        str, typer.Option("--replies", metavar="NAME", help="`short`, `choice` or `chat`: how questions are answered.")
    ] = "short",
    judge_model: JudgeModelOption = None,
    model: Annotated[str | None, typer.Option("--model", help="The language model; overrides the setting.")] = None,
    no_model: Annotated[bool, typer.Option("--no-model", help="Measure retrieval only, without a model.")] = False,
    replay: Annotated[bool, typer.Option("--replay", help="Read all replies from the folder; call no model.")] = False,
    most_calls: Annotated[
        int | None,
        typer.Option("--max-calls", min=1, metavar="N", help="Stop after N calls; the same command continues the run."),
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only print the size of the run.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare systems over data sets and seeds: evidence, answers, judges, cost. Rules: docs/research/bench.md.

    Run the same command again to go on after an interruption.
    """
    from embermem.reports import render
    from embermem_bench import results, running

    plan = running.Plan(
        data=tuple(files),
        systems=tuple(_system(text, session_of(ctx).preset) for text in systems),
        seeds=tuple(seeds or (0,)),
        limit=limit,
        conversations=tuple(conversations or ()),
        budget=budget,
        judges=tuple(judges or ()),
        replies=cast("Replies", replies),
        mode="frozen" if not live else "unvisited" if no_visits else "live",
    )
    if no_visits and not live:
        raise ConfigError("--no-visits needs --live: otherwise no visit is counted anyway")
    if estimate:
        _show_estimate(plan, as_json)
        return
    asked = None if replay or no_model else model_of(model)
    if asked is None and not replay:
        if judges:
            raise ConfigError("judges need a model: name one with --model or EMBERMEM_MODEL")
        if not as_json:
            say("no model: retrieval alone is measured")
    counted: dict[str, Any] = {} if counter is None else {"token_counter": counter}
    with run_told() as (told, left):
        running.run(
            plan,
            out,
            model=asked,
            judge=None if asked is None or judge_model is None else judge_of(judge_model),
            replay=replay,
            most_calls=most_calls,
            told=told,
            left=left,
            **counted,
        )
    found = results.load(out)
    if as_json:
        render.print_json(results.summary(found))
    else:
        _show(found)
        say(f"all of it: embermem bench report {out}")


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of `embermem bench run`.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of report.md and report.html; default: the first run."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="NAME", help="The system that the others are compared with.")
    ] = None,
    to_stdout: Annotated[bool, typer.Option("--stdout", help="Print the Markdown; write no file.")] = False,
) -> None:
    """Write the report of runs, as Markdown and as one self-contained HTML file."""
    from embermem.reports import render
    from embermem_bench import report as reporting
    from embermem_bench import results

    found = results.load(*runs)
    text = reporting.markdown(found, baseline=baseline)
    if to_stdout:
        render.print_text(text.rstrip("\n"))
        return
    folder = out or runs[0]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{REPORT}.md").write_text(text, encoding="utf-8")
    (folder / f"{REPORT}.html").write_text(reporting.html_page(found, baseline=baseline), encoding="utf-8")
    say(f"written: {folder / REPORT}.md, {folder / REPORT}.html")


def _system(text: str, preset: str | None) -> SystemSpec:
    """The system; the global option --preset is MemoryOS's, where none is named."""
    from embermem_bench.running import SystemSpec

    spec = SystemSpec.parse(text)
    if spec.name == "memoryos" and preset is not None and "preset" not in spec.options:
        return SystemSpec(name=spec.name, options={**spec.options, "preset": preset})
    return spec


def _show_estimate(plan: Plan, as_json: bool) -> None:
    from embermem.reports import render
    from embermem_bench import running

    found = running.estimate(plan)
    if as_json:
        render.print_json(found)
        return
    render.records(
        "the run",
        [
            ("conversations", found.conversations),
            ("turns", found.turns),
            ("tokens said", found.text_tokens),
            ("questions", found.questions),
            ("units", found.units),
            ("calls to answer", found.answer_calls),
            ("calls to judge", found.judge_calls),
        ],
    )
    say("what systems ask themselves is known after their first conversation: the run then says what is left")


def _show(found: Results) -> None:
    from embermem.reports import render
    from embermem_bench.blocks import Heading, Table
    from embermem_bench.report import brief

    title = ""
    for block in brief(found):
        if isinstance(block, Heading):
            title = block.text
        elif isinstance(block, Table):
            render.table(title, block.columns, block.rows)
