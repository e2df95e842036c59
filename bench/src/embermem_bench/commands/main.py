"""`embermem bench`: benchmarks, printed as tables or as JSON."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from embermem.cli.commands.common import JsonOption, session_of
from embermem_bench.commands import paper, run, study
from embermem_bench.commands.calibration import calibration
from embermem_bench.commands.common import PresetOption, bare_embedder, progress_told, temporary_folder
from embermem_bench.commands.contexts import contexts
from embermem_bench.commands.footprint import footprint
from embermem_bench.commands.owners import owners
from embermem_bench.commands.past import past
from embermem_bench.commands.scale import scale
from embermem_bench.commands.understanding import HELP, understanding
from embermem_bench.commands.year import year

app = typer.Typer(no_args_is_help=True, help="Measure recall and speed.", rich_markup_mode=None)
for command in (run.run, run.report, paper.paper, study.study, study.cost):
    app.command()(command)


class AnalystOption(StrEnum):
    """The analyst that processes the stored messages."""

    EXTRACTIVE = "extractive"
    RECORDED = "recorded"
    BOTH = "both"


@app.command()
def recall(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="LoCoMo's format or the recall-set format.")],
    preset: PresetOption = None,
    analyst: Annotated[
        AnalystOption,
        typer.Option(help="`recorded`: a model's notes, if the file has them. `both`: both analysts."),
    ] = AnalystOption.EXTRACTIVE,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Ask only the first N questions.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how much of the evidence is found, and how fast. Rules: docs/research/bench.md."""
    from embermem.reports import render
    from embermem_bench import datasets
    from embermem_bench import recall as runner

    sets = [datasets.load(file) for file in files]
    both = analyst is AnalystOption.BOTH
    analysts = (AnalystOption.EXTRACTIVE, AnalystOption.RECORDED) if both else (analyst,)
    reports: list[dict[str, Any]] = []
    for dataset in sets:
        for reader in analysts:
            with temporary_folder() as folder, progress_told() as told:
                chosen = preset or session_of(ctx).preset
                report = runner.run(dataset, folder, preset=chosen, analyst=reader, limit=limit, told=told)
            reports.append(report.as_json())
        if not as_json and both:
            _show_both(*reports[-2:])
        elif not as_json:
            _show_recall(reports[-1])
    if as_json:
        render.print_json(reports[0] if len(reports) == 1 else reports)


@app.command()
def speed(
    ctx: typer.Context,
    pages: Annotated[str, typer.Option(metavar="N,N,...", help="Sizes of the store, in pages.")] = "50,500,5000",
    seconds: Annotated[float, typer.Option(min=1.0, help="Stop filling after this time.")] = 240.0,
    seed: Annotated[int, typer.Option(help="Seed of the generated conversation.")] = 0,
    preset: PresetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure add and search as the store grows, and ingestion relative to the embedder alone."""
    from embermem.core import config
    from embermem.reports import render
    from embermem_bench import speed as runner

    sizes = sizes_of(pages, "--pages")
    with temporary_folder() as folder, progress_told() as told:
        chosen = preset or session_of(ctx).preset
        report = runner.run(
            folder,
            bare_embedder(config.load(chosen)),
            sizes=sizes,
            seconds=seconds,
            seed=seed,
            preset=chosen,
            told=told,
        )
    if as_json:
        render.print_json(report)
        return
    columns = ("pages", "add ms p50", "add ms p95", "query ms p50", "search ms p50", "search ms p95")
    rows = [
        (p.pages, p.add_ms_p50, p.add_ms_p95, p.query_ms_p50, p.search_ms_p50, p.search_ms_p95) for p in report.points
    ]
    render.table(f"speed, {report.embedder}, preset {report.preset}", columns, rows)
    render.records(
        "ingest",
        [
            ("texts/s", report.ingest_texts_per_s),
            ("embedder alone", report.embedder_texts_per_s),
            ("ratio", report.ratio),
            ("pages/s", report.ingest_pages_per_s),
            ("complete", report.complete),
        ],
    )


@app.command()
def search(
    ctx: typer.Context,
    utterances: Annotated[
        str, typer.Option(metavar="N,N,...", help="Sizes of the owner's memory, in utterances.")
    ] = "1000,10000,100000",
    seconds: Annotated[float, typer.Option(min=1.0, help="Stop filling after this time.")] = 600.0,
    seed: Annotated[int, typer.Option(help="Seed of the generated conversation.")] = 0,
    long: Annotated[bool, typer.Option("--long", help="Answers of the assistant have 150 to 400 words.")] = False,
    answer_words: Annotated[
        int | None, typer.Option(min=1, help="Answers of the assistant have about so many words; default: 20 to 60.")
    ] = None,
    preset: PresetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure searches as one owner's memory grows: time, memory, disk, and the first search of a process."""
    from embermem.core import config
    from embermem.reports import render
    from embermem_bench import search as runner

    sizes = sizes_of(utterances, "--utterances")
    words = runner.LONG_ANSWER_WORDS if long else runner.WORDS
    with temporary_folder() as folder, progress_told() as told:
        chosen = preset or session_of(ctx).preset
        bare = bare_embedder(config.load(chosen))
        report = runner.run(
            folder,
            bare,
            sizes=sizes,
            seconds=seconds,
            seed=seed,
            answer_words=words if answer_words is None else (answer_words, answer_words),
            vocabulary=words_of_the_model(),
            preset=chosen,
            told=told,
        )
    if as_json:
        render.print_json(report)
        return
    columns = ("utterances", "search ms p50", "p95", "recall ms p50", "embed ms p50", "first ms", "RSS bytes each")
    rows = [
        (
            p.utterances,
            p.search_ms_p50,
            p.search_ms_p95,
            p.recall_ms_p50,
            p.embed_ms_p50,
            p.cold_ms,
            p.rss_bytes_per_utterance,
        )
        for p in report.points
    ]
    render.table(f"search, {report.embedder}, preset {report.preset}", columns, rows)
    render.records("", [("utterances filled/s", report.fill_utterances_per_s), ("complete", report.complete)])


@app.command()
def embed(
    seconds: Annotated[float, typer.Option(min=0.1, help="Duration of the measurement.")] = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Measure texts per second of the embedder, singly and in batches."""
    from embermem.core import config
    from embermem.reports import render
    from embermem_bench import speed as runner

    settings = config.load()
    report = runner.embed(bare_embedder(settings), batch=settings.embed_batch, seconds=seconds)
    if as_json:
        render.print_json(report)
        return
    render.records(
        report.embedder,
        [
            ("single, ms p50", report.single_ms_p50),
            ("single, texts/s", report.single_texts_per_s),
            ("batch of", report.batch),
            ("batch, texts/s", report.batch_texts_per_s),
        ],
    )


@app.command()
def load(
    clients: Annotated[int, typer.Option(min=1, max=500, help="Number of concurrent clients.")] = 50,
    seconds: Annotated[float, typer.Option(min=1.0, max=3600.0, help="Duration of the load.")] = 60.0,
    kills: Annotated[int, typer.Option(min=0, help="How often to kill the server during the load.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the messages.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure one server with many clients on loopback: latencies, its memory, and lost messages, if any."""
    from embermem.reports import render
    from embermem_bench import load as runner

    with temporary_folder() as folder, progress_told() as told:
        report = runner.run(folder, clients=clients, seconds=seconds, kills=kills, seed=seed, told=told)
    if as_json:
        render.print_json(report)
        return
    render.table(
        f"load, {report.clients} clients, {report.seconds:g} s, {report.embedder}",
        ("", "done", "ms p50", "ms p95"),
        [
            ("add", report.adds, report.add_ms_p50, report.add_ms_p95),
            ("context", report.recalls, report.recall_ms_p50, report.recall_ms_p95),
        ],
    )
    render.records(
        "server",
        [
            ("refused", ", ".join(f"{n} × {status}" for status, n in report.refused.items()) or "none"),
            ("broken by kills", report.broken),
            ("kills", report.kills),
            ("acknowledged and lost", report.lost),
            ("stored twice", report.doubled),
            ("MB at the quarters", " ".join(f"{mb:g}" for mb in report.rss_mb)),
        ],
    )


app.command()(calibration)
app.command()(scale)
app.command()(owners)
app.command()(past)
app.command()(footprint)
app.command()(year)
app.command(help=HELP)(understanding)
app.command()(contexts)


def _show_recall(report: dict[str, Any]) -> None:
    from embermem.reports import render

    threads = "thread_mrr" in report
    quoted = [name for name in report if name.startswith("quoted@")]
    sets = [] if quoted else ["any@10", "all@10"]  # sixteen columns are too wide for a terminal
    names = ["rec@1", "rec@5", "rec@10", "rec@20", *sets, "mrr", "rec@300w", "rec@600w", "rec@1200w"]
    columns = ["questions", *(f"thread_{name}" if threads else name for name in names), *quoted, "confidence"]
    headings = ["evidence: threads" if threads else "evidence: utterances", "n", *names, *quoted, "confidence"]
    parts = [("all", report)]
    parts += [(f"category {name}", part) for name, part in report["by_category"].items()]
    parts += list(report["by_conversation"].items())
    rows = [[render.cut(name, 24), *(part.get(column) for column in columns)] for name, part in parts]
    title = f"{report['name']}, preset {report['preset']}, {report['embedder']}, {report['analyst']} analyst"
    render.table(title, headings, rows)
    names = [
        "confidence_auc",
        "skipped",
        "pages",
        "utterances",
        "facts",
        "ingest_pages_per_s",
        "query_ms_p50",
        "query_ms_p95",
    ]
    names += ["search_ms_p50", "search_ms_p95", "bytes_per_page", "cut_contexts"]
    render.records("", [(name, report[name]) for name in names])


def _show_both(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Each part's figures by both analysts in two rows, one under the other."""
    from embermem.reports import render

    prefix = "thread_" if "thread_mrr" in one else ""
    names = ["rec@5", "rec@10", "mrr", "rec@600w", "told@600w"]
    parts = [("all", one, other)]
    parts += [(f"category {key}", part, other["by_category"][key]) for key, part in one["by_category"].items()]
    parts += [(key, part, other["by_conversation"][key]) for key, part in one["by_conversation"].items()]
    rows = [
        [render.cut(what, 24), analyst, *(part.get(column) for column in ["questions", *(prefix + n for n in names)])]
        for what, *both in parts
        for analyst, part in zip((one["analyst"], other["analyst"]), both, strict=True)
    ]
    render.table(f"{one['name']}, preset {one['preset']}, {one['embedder']}", ["part", "analyst", "n", *names], rows)
    render.records("facts", [(report["analyst"], report["facts"]) for report in (one, other)])


def words_of_the_model() -> tuple[str, ...]:
    """The whole words of e5's vocabulary, roughly by frequency; none if its weights are not installed."""
    from embermem import languages
    from embermem.embedders.tensors import read_tensors
    from embermem.embedders.unigram import SPACE
    from embermem.embedders.weights import find_weights

    file = find_weights()
    if file is None:
        return ()
    arrays, _ = read_tensors(file)
    joined, ends = arrays["pieces"].tobytes(), arrays["offsets"].tolist()
    pieces = [joined[begin:end].decode() for begin, end in pairwise(ends)]
    words = [piece.removeprefix(SPACE) for piece in pieces if piece.startswith(SPACE)]
    return tuple(
        w for w in words if w.isascii() and w.isalpha() and len(w) > 2 and w not in languages.default().stop_words
    )


def sizes_of(text: str, option: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{option} {text!r}: expected whole numbers with commas, such as 50,500") from error
    if min(sizes) < 1:
        raise typer.BadParameter(f"{option} {text!r}: a store has at least one")
    return sizes
