"""The page: every table and figure of the papers with ours beside it, as Markdown, as HTML, and its numbers as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from embermem_bench import report, results, workspace
from embermem_bench.blocks import Block, Heading, Table, Text, as_html, as_markdown
from embermem_bench.categories import CATEGORIES
from embermem_bench.papers.experiments import PARTS, Part
from embermem_bench.papers.measured import Runs, entries
from embermem_bench.papers.tables import PaperTable, tables
from embermem_bench.results import Results

__all__ = ["PAGE", "RUNS", "write"]

PAGE: Final = "paper"
"""The page's files: paper.md, paper.html, paper.json."""
RUNS: Final = "runs"
"""The folder of the parts' runs, each with its own report beside it."""
TITLE: Final = "The papers' tables, measured again"
SCRIPTED: Final = (
    "Scripted model: the figures of the rows `here` are those of answers by rule. They show that everything runs and "
    "how the table looks, and say nothing of any system or model."
)

_LEAD: Final = (
    "Each table is laid out as in its paper. Rows of a paper are as printed, per cent; rows `here` are of this run, by "
    "the same metrics: F1 of sets of words, and BLEU-1. Columns name LoCoMo's categories by the number in the data and "
    "the name in the papers' tables: 1 is multi-hop, 2 temporal, 3 open-domain and 4 single-hop by the data's own "
    "evidence. Another model, embedder and prompts than a paper's: docs/research/results.md says what is comparable."
)


def write(out: Path, reasons: Mapping[str, str], *, scripted: bool) -> tuple[Path, ...]:
    """Writes the page of what the parts in `out` have found, and each part's report. Its files.

    `reasons` say of parts that are not run why; `scripted`, that the model was the scripted one.
    """
    runs = {name: results.load(out / RUNS / name) for name in PARTS if (out / RUNS / name / results.PLAN).is_file()}
    made = tables(runs)
    page = tuple(_page(made, runs, reasons, scripted))
    files = {
        out / f"{PAGE}.md": as_markdown(page).encode(),
        out / f"{PAGE}.html": as_html(page, title=TITLE).encode(),
        out / f"{PAGE}.json": msgspec.json.format(msgspec.json.encode(_numbers(made, runs, reasons, scripted))),
    }
    for name, run in runs.items():
        files[out / RUNS / name / "report.md"] = report.markdown(run).encode()
        files[out / RUNS / name / "report.html"] = report.html_page(run).encode()
    for file, content in files.items():
        workspace.write_whole(file, content)
    return tuple(files)


def _page(made: Sequence[PaperTable], runs: Runs, reasons: Mapping[str, str], scripted: bool) -> Iterator[Block]:
    yield Heading(level=1, text=TITLE)
    if scripted:
        yield Text(text=SCRIPTED)
    yield Text(text=_LEAD)
    for table in made:
        yield Heading(level=2, text=table.title)
        if scripted and table.part in runs:
            yield Text(text=SCRIPTED)
        yield from table.blocks
        yield Text(text=_state(table.part, runs, reasons))
    yield Heading(level=2, text="How it was made")
    for name, run in runs.items():
        yield Heading(level=3, text=f"{name}: {PARTS[name].made}")
        yield from report.how_made(run)


def _state(name: str, runs: Runs, reasons: Mapping[str, str]) -> str:
    """What the rows `here` rest on, and what is missing."""
    if name not in runs:
        return f"Missing: the part `{name}` was not run; {reasons.get(name, 'it was not asked for')}."
    run, part = runs[name], PARTS[name]
    said = [f"Questions: {_counted(run, part)}."]
    for entry in entries(run, part):
        label = entry.spec.label
        failed = sum(bool(one.failure) for one in run.learnt(system=label))
        if _unfinished(run, label, failed):
            said.append(
                f"Not finished: {entry.method}, {len(run.of(system=label))} questions; the same command goes on."
            )
        elif failed:
            said.append(f"{entry.method} could not learn {failed} of the conversations, and was not asked about these.")
    left_out = [entry.method for entry in part.entries if entry not in entries(run, part)]
    return " ".join([*said, *([f"Left out: {', '.join(left_out)}."] if left_out else [])])


def _unfinished(run: Results, label: str, failed: int) -> bool:
    """Whether conversations of a system are still to be learnt, or questions to be asked."""
    planned = [(source, len(header.seeds)) for header in run.headers for source in header.data]
    if len(run.learnt(system=label)) < sum(source.conversations * seeds for source, seeds in planned):
        return True
    asked = len(run.of(system=label))
    return not failed and asked < sum(source.questions * seeds for source, seeds in planned)


def _counted(run: Results, part: Part) -> str:
    """How many of each category the system was asked that was asked most."""
    asked = max((run.of(system=entry.spec.label) for entry in entries(run, part)), key=len)
    names = sorted({one.category for one in asked})
    if part.data == "gvd":
        return str(len(asked))
    named = [
        (CATEGORIES[name].paper_name if name in CATEGORIES else name, sum(r.category == name for r in asked))
        for name in names
    ]
    return ", ".join(f"{count} {name}" for name, count in named) or "none"


def _numbers(made: Sequence[PaperTable], runs: Runs, reasons: Mapping[str, str], scripted: bool) -> Mapping[str, Any]:
    return {
        "scripted": scripted,
        "tables": [
            {
                "name": table.name,
                "title": table.title,
                "part": table.part,
                "state": _state(table.part, runs, reasons),
                "tables": [
                    {"columns": block.columns, "rows": block.rows} for block in table.blocks if isinstance(block, Table)
                ],
                "notes": [block.text for block in table.blocks if isinstance(block, Text)],
            }
            for table in made
        ],
    }
