"""A comparison run on data, and what it found: a row for each variant, all figures from the run's own files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from embermem.core.errors import InputError
from embermem_bench import ProgressFn, figures, results, running
from embermem_bench.categories import CATEGORIES
from embermem_bench.plan import Plan, Replies
from embermem_bench.results import Header, Interval, Results
from embermem_bench.studies.comparisons import Comparison, Variant
from embermem_bench.studies.writing import Column, Written, document, made_of, place, write

if TYPE_CHECKING:
    from embermem.protocols import LanguageModel

__all__ = ["ANSWERED", "MEASURED", "Row", "compare", "rows"]

MEASURED: Final = ("rec@10", "rec@20", "mrr", "packed", "told")
"""Figures of evidence in the table; by thread where the evidence is threads."""
JUDGED: Final = ("gvd.accuracy", "gvd.correctness", "gvd.coherence", "strict.correct", "lenient.correct")
ANSWERED: Final = ("f1_locomo", "f1_squad", "f1_set", "bleu1", *JUDGED)
"""Figures of answers in the table, where there are any."""
MEASURES: Final = ("f1_locomo", *JUDGED, "packed")
"""What is drawn, unless another is named: the first of these that there is. F1 of answers, what a judge says, or
evidence in the context."""
ALL: Final = "all"
_THREADS: Final = "thread_"
"""Before the name of a figure whose evidence is threads: it stands for the figure where there is no other."""

_SPENT: Final = ("calls_a_page", "tokens_a_page", "calls_a_response", "tokens_a_response", "failed")
_COLUMNS: Final = (
    Column(key="questions", name="n"),
    *(Column(key=name, name=name) for name in (*MEASURED, *ANSWERED)),
    Column(key="context_tokens", name="context tokens"),
    Column(key="recall_ms_p50", name="recall ms p50"),
    Column(key="calls_a_page", name="calls a page"),
    Column(key="tokens_a_page", name="tokens a page"),
    Column(key="calls_a_response", name="calls a response"),
    Column(key="tokens_a_response", name="tokens a response"),
    Column(key="failed", name="conversations not learnt"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One variant: figures over the headline categories, the measure by category (`all` first), and how far the measure
    is from the first variant of its series, question by question (conversations drawn again; None for the first)."""

    variant: Variant
    figures: Mapping[str, float | None]
    by_category: Mapping[str, float | None]
    apart: Interval | None

    def as_json(self) -> dict[str, Any]:
        """Flat, but for the parts."""
        apart = self.apart
        return {
            "label": self.variant.label,
            "system": self.variant.spec.label,
            "series": self.variant.series,
            "k": self.variant.x,
            **self.figures,
            "by_category": dict(self.by_category),
            "apart": None
            if apart is None
            else {"mean": _share(apart.mean), "low": _share(apart.low), "high": _share(apart.high)},
        }


def compare(
    study: Comparison,
    data: Sequence[Path],
    out: Path,
    *,
    model: LanguageModel | None = None,
    measure: str | None = None,
    seeds: Sequence[int] = (0,),
    limit: int | None = None,
    conversations: Sequence[str] = (),
    budget: int | None = None,
    judges: Sequence[str] = (),
    judge: LanguageModel | None = None,
    replies: Replies = "short",
    command: str = "",
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> Written:
    """Runs the variants that are not yet run in `out`, and writes the study's files there.

    The run itself stands in `out/NAME-run`: it goes on where it was interrupted. `command` is told as what made it.
    Raises ConfigError for what cannot be run or drawn, InputError for data or a measure that give no figure.
    """
    figures.check()
    folder = place(out / f"{study.name}-run")
    plan = Plan(
        data=tuple(data),
        systems=tuple(variant.spec for variant in study.variants),
        seeds=tuple(seeds),
        limit=limit,
        conversations=tuple(conversations),
        budget=budget,
        judges=tuple(judges),
        replies=replies,
    )
    running.run(plan, folder, model=model, judge=judge, told=told, **settings)
    found = results.load(folder)
    known = {name for result in found.results for name in result.scores}
    measure = measure or next((name for name in MEASURES if name in known), MEASURES[-1])
    table = rows(study, found, measure)
    return _written(study, found.headers[0], table, measure, out, command)


def rows(study: Comparison, found: Results, measure: str) -> tuple[Row, ...]:
    """A row for each variant. Raises InputError if no question has the measure."""
    known = {name for result in found.results for name in result.scores}
    if not known & {measure, _THREADS + measure}:
        names = ", ".join(sorted({name.removeprefix(_THREADS) for name in known}))
        missing = "" if names else "none. Data with neither evidence nor gold answers, as GVD, need a model and a judge"
        raise InputError(f"no question has the measure {measure!r}; there are: {names or missing}")
    prefix = "" if "mrr" in known else _THREADS
    keys = {name: name if name in known else prefix + name for name in (*MEASURED, *ANSWERED, measure)}
    first: dict[str, Variant] = {}
    for variant in study.variants:
        first.setdefault(variant.series, variant)
    return tuple(_row(variant, first[variant.series], found, measure, keys) for variant in study.variants)


def _row(variant: Variant, first: Variant, found: Results, measure: str, keys: Mapping[str, str]) -> Row:
    label, key = variant.spec.label, keys[measure]
    counted = found.of(system=label, headline=True)
    means = results.means(counted, list(keys.values()))
    learnt = found.learnt(system=label)
    cost = results.cost(learnt, counted)
    parts = {name: [r for r in counted if r.category == name] for name in sorted({r.category for r in counted})}
    return Row(
        variant=variant,
        figures={
            "questions": len(counted),
            **{name: _share(means[keys[name]]) for name in keys},
            "context_tokens": _rounded(cost.context_tokens_mean, 1),
            "recall_ms_p50": _rounded(cost.recall_ms_p50, 1),
            "calls_a_page": _rounded(cost.calls_a_page, 2),
            "tokens_a_page": _rounded(cost.tokens_a_page, 1),
            "calls_a_response": _rounded(cost.calls_a_response, 2),
            "tokens_a_response": _rounded(cost.tokens_a_response, 1),
            "failed": sum(bool(one.failure) for one in learnt),
        },
        by_category={ALL: _share(means[key])}
        | {_named(name): _share(results.means(some, [key])[key]) for name, some in parts.items()},
        apart=None
        if variant is first
        else results.difference(counted, found.of(system=first.spec.label, headline=True), key),
    )


def _named(category: str) -> str:
    known = CATEGORIES.get(category)
    return category if known is None else f"{known.number} {known.name}"


# --------------------------------------------------------------------------------------------------------- its files


def _written(study: Comparison, header: Header, table: Sequence[Row], measure: str, out: Path, command: str) -> Written:
    stem = out / study.name
    shown = tuple(column for column in _COLUMNS if _says_something(column, table))
    if measure not in {column.key for column in _COLUMNS}:
        shown = (*shown, Column(key=measure, name=measure))
    parts = list(dict.fromkeys(name for row in table for name in row.by_category))
    content = {
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "measure": measure,
        "made": made_of(header),
        "rows": [row.as_json() for row in table],
    }
    text = document(
        title=study.title,
        figure=stem.name,
        lead=(f"After {study.source}. Drawn: {measure}.", *study.notes),
        tables=(
            (
                "Figures",
                ("", *(column.name for column in shown)),
                [(row.variant.label, *(row.figures.get(column.key) for column in shown)) for row in table],
            ),
            (
                f"{measure} by category, and against the first (95 % interval over conversations)",
                ("", *parts, "difference", "low", "high"),
                [(row.variant.label, *(row.by_category.get(part) for part in parts), *_apart(row)) for row in table],
            ),
        ),
        made=made_of(header),
        command=command,
    )
    drawn = _draw(study, table, measure, stem)
    return write(stem, content, text, drawn)


def _says_something(column: Column, table: Sequence[Row]) -> bool:
    """Whether any row has the figure; of what is spent, and of failures, any but 0."""
    values = [row.figures.get(column.key) for row in table]
    return any(values) if column.key in _SPENT else any(value is not None for value in values)


def _apart(row: Row) -> tuple[float | None, float | None, float | None]:
    apart = row.as_json()["apart"]
    return (None, None, None) if apart is None else (apart["mean"], apart["low"], apart["high"])


def _draw(study: Comparison, table: Sequence[Row], measure: str, stem: Path) -> tuple[Path, Path]:
    if study.drawn == "lines":
        series: dict[str, list[tuple[float, float | None]]] = {}
        for row in table:
            series.setdefault(row.variant.series, []).append((float(row.variant.x or 0), row.figures[measure]))
        return figures.lines(stem, title=study.title, x_label="k", label=measure, series=series)
    parts = list(dict.fromkeys(name for row in table for name in row.by_category))
    groups = {part: {row.variant.label: row.by_category.get(part) for row in table} for part in parts}
    return figures.bars(stem, title=study.title, label=measure, series=groups)


def _share(value: float | None) -> float | None:
    return _rounded(value, 4)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
