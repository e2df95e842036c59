"""The tables and figures of the papers, laid out as they are there: published figures in one row, ours in the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from embermem_bench.blocks import Block, Table, Text
from embermem_bench.categories import CATEGORIES
from embermem_bench.papers import measured, published
from embermem_bench.papers.experiments import DEFAULT, PARTS
from embermem_bench.papers.measured import Runs
from embermem_bench.papers.published import COMPANION, FIVE, FOUR, OURS, Published, Row, locomo_columns

__all__ = ["PaperTable", "tables"]

HERE: Final = "here"
IMPROVEMENT: Final = "Improvement (%)"
APPENDIX: Final = (
    {"rouge2": "rouge2", "rougeL": "rougeL"},
    {"meteor_es": "meteor_es", "similarity": "similarity"},
)
"""The two tables of A-MEM's appendix B.2: the columns of each, and the figures that they are."""
_TITLES: Final = {"f1": "F1", "bleu1": "BLEU-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"} | {
    "meteor_es": "METEOR",
    "similarity": "similarity",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperTable:
    """One table or figure of a paper, as a part of the page. `part`: the run that it is made of."""

    name: str
    title: str
    part: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A figure of a row: its key, its heading, and its decimals."""

    key: str
    name: str
    digits: int = 2


def tables(runs: Runs) -> tuple[PaperTable, ...]:
    """All of them. Where a part was not run, the published figures stand alone."""
    return (
        _made("memoryos-table-1", "MemoryOS, Table 1: GVD", "gvd", _companion(runs)),
        _made("memoryos-table-2", "MemoryOS, Table 2: LoCoMo", "locomo", _locomo(runs)),
        _made("memoryos-table-3", "MemoryOS, Table 3: efficiency on LoCoMo", "locomo", _efficiency(runs)),
        _made("memoryos-figure-2-locomo", "MemoryOS, Figure 2: ablation on LoCoMo", "ablation", _ablation(runs)),
        _made(
            "memoryos-figure-2-gvd", "MemoryOS, Figure 2: ablation on GVD", "gvd-ablation", _companion_ablation(runs)
        ),
        _made("memoryos-figure-3", "MemoryOS, Figure 3: k on LoCoMo", "k", _sweep(runs, "k", FOUR)),
        _made("amem-table-1", "A-MEM, Table 1: LoCoMo", "locomo", _amem(runs)),
        _made("amem-appendix", "A-MEM, appendix B.2: further metrics on LoCoMo", "locomo", _appendix(runs)),
        _made("amem-table-2", "A-MEM, Table 2: ablation", "amem-ablation", _amem_ablation(runs)),
        _made("amem-figure-3", "A-MEM, Figure 3: k by category", "amem-k", _sweep(runs, "amem-k", FIVE)),
    )


def _made(name: str, title: str, part: str, blocks: Iterator[Block]) -> PaperTable:
    return PaperTable(name=name, title=title, part=part, blocks=tuple(blocks))


# ------------------------------------------------------------------------------------------------------------ MemoryOS


def _companion(runs: Runs) -> Iterator[Block]:
    rows = measured.companion(runs["gvd"], PARTS["gvd"]) if "gvd" in runs else {}
    improved = measured.improved(rows, OURS, COMPANION)
    methods = ("TiM", "MemoryBank", "MemGPT", "A-Mem", OURS, DEFAULT)
    yield _beside(_COMPANION_COLUMNS, methods, published.MEMORYOS_1, rows, improved)
    yield Text(
        text="Acc.: whether the recalled context holds what the question is about. Scores of a judge, in per cent."
    )


def _locomo(runs: Runs) -> Iterator[Block]:
    part = PARTS["locomo"]
    compared = ("TiM", "MemoryBank", "MemGPT", "A-Mem", OURS)
    found = measured.locomo(runs["locomo"], part) if "locomo" in runs else {}
    rows = measured.ranked({m: found[m] for m in (*compared, DEFAULT) if m in found}, compared, FOUR)
    columns = (*_columns(FOUR), Column(key="rank f1", name="Avg. Rank (F1)", digits=1))
    columns += (Column(key="rank bleu1", name="Avg. Rank (BLEU-1)", digits=1), *_MACRO)
    methods = (*compared[:3], published.CITED, *compared[3:], DEFAULT)
    improved = measured.improved(rows, OURS, locomo_columns(FOUR))
    yield _beside(columns, methods, _with_ranks(published.MEMORYOS_2), rows, improved)
    yield Text(
        text="Macro averages are over the four categories, each counted alike; those of published rows are made of the "
        "figures that are printed. Ranks are among the measured systems of the paper, for F1 and BLEU-1. Improvement "
        "is over the best measured system of each column."
    )
    if "locomo" in runs:
        yield from _by_locomos_own(runs)


def _by_locomos_own(runs: Runs) -> Iterator[Block]:
    metrics = {"f1_locomo": "f1_locomo", "f1_squad": "f1_squad"}
    rows = measured.locomo(runs["locomo"], PARTS["locomo"], metrics)
    columns = [Column(key=f"{c} {m}", name=f"{_category(c)} {m}") for c in FOUR for m in metrics]
    columns += [Column(key=f"macro {m}", name=f"macro {m}") for m in metrics]
    yield Text(text="The same answers by LoCoMo's own F1, with stems, and by SQuAD's; no paper prints these:")
    yield _table(("method",), columns, [((name,), row) for name, row in rows.items()])


def _efficiency(runs: Runs) -> Iterator[Block]:
    rows = measured.efficiency(runs["locomo"], PARTS["locomo"]) if "locomo" in runs else {}
    columns = (
        Column(key="tokens", name="Tokens", digits=0),
        Column(key="calls", name="Avg. Calls", digits=1),
        Column(key="f1", name="Avg. F1"),
        Column(key="calls a page", name="calls a page"),
        Column(key="calls a response", name="calls a response"),
        Column(key="tokens a page", name="tokens a page", digits=0),
        Column(key="tokens a response", name="tokens a response", digits=0),
    )
    methods = ("MemoryBank", "TiM", "MemGPT", "A-Mem", OURS, DEFAULT)
    yield _beside(columns, methods, published.MEMORYOS_3, rows)
    yield Text(
        text="Here: Tokens are those of the recalled context; Avg. Calls those of a page that is learnt and of a "
        "response, recall and answer, together; Avg. F1 is the macro average over four categories. The paper's Avg. F1 "
        "is no macro average of its Table 2. Tokens a response are of whole prompts and answers."
    )


def _ablation(runs: Runs) -> Iterator[Block]:
    yield Text(text=_DRAWN)
    if "ablation" in runs:
        rows = measured.locomo(runs["ablation"], PARTS["ablation"])
        tokens = Column(key="tokens", name="context tokens", digits=0)
        yield _table(("variant",), (*_columns(FOUR), *_MACRO, tokens), [((n,), row) for n, row in rows.items()])


def _companion_ablation(runs: Runs) -> Iterator[Block]:
    yield Text(text=_DRAWN)
    if "gvd-ablation" in runs:
        rows = measured.companion(runs["gvd-ablation"], PARTS["gvd-ablation"])
        yield _table(("variant",), _COMPANION_COLUMNS, [((n,), row) for n, row in rows.items()])


def _sweep(runs: Runs, part: str, categories: Sequence[str]) -> Iterator[Block]:
    yield Text(text=_DRAWN)
    if part in runs:
        rows = measured.locomo(runs[part], PARTS[part])
        tokens = Column(key="tokens", name="context tokens", digits=0)
        found = [((str(entry.k),), rows[entry.method]) for entry in measured.entries(runs[part], PARTS[part])]
        yield _table(("k",), (*_columns(categories), *_MACRO, tokens), found)


# --------------------------------------------------------------------------------------------------------------- A-MEM


def _amem(runs: Runs) -> Iterator[Block]:
    compared = ("LoCoMo", "ReadAgent", "MemoryBank", "MemGPT", "A-Mem")
    found = measured.locomo(runs["locomo"], PARTS["locomo"]) if "locomo" in runs else {}
    rows = measured.ranked({m: found[m] for m in (*compared, OURS, DEFAULT) if m in found}, compared, FIVE)
    columns = (
        *_columns(FIVE),
        Column(key="rank f1", name="Ranking (F1)", digits=1),
        Column(key="rank bleu1", name="Ranking (BLEU-1)", digits=1),
        Column(key="tokens", name="Token length", digits=0),
        Column(key="refused", name="said that it is not mentioned"),
    )
    printed = Published(
        source=published.AMEM_1.source,
        rows={model: measured.ranked(rows_of, compared, FIVE) for model, rows_of in published.AMEM_1.rows.items()},
    )
    yield _beside(columns, (*compared, OURS, DEFAULT), printed, rows)
    yield Text(
        text="LoCoMo is its baseline without a memory, full context here. Adversarial is here against the false "
        "answer, as in the published evaluation: whoever falls for it scores high. The last column is the share of "
        "right refusals. Rankings count a higher figure as better in all five categories; those of published rows are "
        "made of the figures that are printed, by the same rule as ours. MemoryOS is in none of them."
    )


def _appendix(runs: Runs) -> Iterator[Block]:
    yield Text(
        text="The figures of appendix B.2 are not in the copy of the paper that we have: there is nothing beside."
    )
    if "locomo" in runs:
        for metrics in APPENDIX:
            rows = measured.locomo(runs["locomo"], PARTS["locomo"], metrics)
            columns = [Column(key=f"{c} {m}", name=f"{_category(c)} {_TITLES[m]}") for c in FIVE for m in metrics]
            yield _table(("method",), columns, [((name,), row) for name, row in rows.items()])
        yield Text(
            text="METEOR without synonyms. Similarity is the cosine of the run's own embedder: it is SBERT's only if "
            "that is all-MiniLM-L6-v2."
        )


def _amem_ablation(runs: Runs) -> Iterator[Block]:
    part = PARTS["amem-ablation"]
    rows = measured.locomo(runs[part.name], part) if part.name in runs else {}
    names = {"A-MEM": "A-Mem", "w/o ME & LG": "w/o LG & ME"}
    rows = {names.get(name, name): row for name, row in rows.items()}
    methods = ("w/o LG & ME", "w/o ME", "w/o LG", "A-Mem")
    tokens = Column(key="tokens", name="context tokens", digits=0)
    yield _beside((*_columns(FIVE), tokens), methods, published.AMEM_2, rows)
    yield Text(text="The paper has no row without link generation alone.")


# ---------------------------------------------------------------------------------------------------------- the layout

_DRAWN: Final = "The paper prints this as a drawing, without numbers: there is no published figure to stand beside."
_COMPANION_COLUMNS: Final = tuple(
    Column(key=key, name=name, digits=1) for key, name in zip(COMPANION, ("Acc.", "Corr.", "Cohe."), strict=True)
)
_MACRO: Final = (Column(key="macro f1", name="macro F1"), Column(key="macro bleu1", name="macro BLEU-1"))


def _category(number: str) -> str:
    """As the papers name it, with the number of the data."""
    return f"{number} {CATEGORIES[number].paper_name.replace('-', ' ').title()}"


def _columns(categories: Sequence[str]) -> tuple[Column, ...]:
    return tuple(
        Column(key=f"{c} {m}", name=f"{_category(c)} {_TITLES[m]}") for c in categories for m in ("f1", "bleu1")
    )


def _with_ranks(table: Published) -> Published:
    """The printed ranks as columns, and macro averages of the printed figures."""
    rows: dict[str, dict[str, Row]] = {}
    for model, rows_of in table.rows.items():
        rows[model] = {}
        for method, row in rows_of.items():
            ranks = table.ranks[model].get(method)
            more = {} if ranks is None else {"rank f1": ranks[0], "rank bleu1": ranks[1]}
            means = {f"macro {m}": sum(row[f"{c} {m}"] for c in FOUR) / len(FOUR) for m in measured.METRICS}
            rows[model][method] = {**row, **more, **means}
    return Published(source=table.source, rows=rows, improvement=table.improvement)


def _beside(
    columns: Sequence[Column],
    methods: Sequence[str],
    printed: Published,
    ours: Mapping[str, Row],
    improved: Row | None = None,
) -> Table:
    """For each method a row for each model of the paper, then ours."""
    rows: list[tuple[tuple[str, str], Row]] = []
    for method in methods:
        rows += [((method, f"paper, {model}"), of[method]) for model, of in printed.rows.items() if method in of]
        if method in ours:
            rows.append(((method, HERE), ours[method]))
    rows += [((IMPROVEMENT, f"paper, {model}"), row) for model, row in printed.improvement.items()]
    if improved:
        rows.append(((IMPROVEMENT, HERE), improved))
    return _table(("method", "figures of"), columns, rows)


def _table(names: tuple[str, ...], columns: Sequence[Column], rows: Sequence[tuple[tuple[str, ...], Row]]) -> Table:
    """Columns of which no row has a figure are left out."""
    shown = [column for column in columns if any(column.key in row for _, row in rows)]
    return Table(
        columns=(*names, *(column.name for column in shown)),
        rows=tuple((*name, *(_cell(row.get(column.key), column.digits) for column in shown)) for name, row in rows),
    )


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
