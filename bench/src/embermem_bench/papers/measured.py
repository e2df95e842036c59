"""What our runs found, as rows of the papers' tables: figures in per cent, by the papers' metrics.

F1 is `f1_set` and BLEU-1 `bleu1`, as the published evaluations have them. LoCoMo's category 5 is scored against the
false answer of its data (`scoring.score_choice`), as these do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from embermem_bench import results
from embermem_bench.categories import ADVERSARIAL
from embermem_bench.papers.experiments import DEFAULT, Entry, Part
from embermem_bench.papers.published import COMPANION, FIVE, FOUR, Row
from embermem_bench.papers.standings import average_ranks, improvement, macro
from embermem_bench.results import Results

Runs = Mapping[str, Results]
"""The runs that there are, by the names of their parts."""

METRICS: Final = {"f1": "f1_set", "bleu1": "bleu1"}
"""The papers' metrics, and the figures that they are."""


def entries(run: Results, part: Part) -> tuple[Entry, ...]:
    """The rows of a part whose systems are in the run."""
    return tuple(entry for entry in part.entries if entry.spec.label in run.systems)


def locomo(run: Results, part: Part, metrics: Mapping[str, str] = METRICS) -> dict[str, Row]:
    """Method → `<category> <metric>`, `macro <metric>` over the four categories with answers, and `tokens`, the mean
    length of its contexts. A figure that was not measured is missing."""
    return {entry.method: dict(_locomo(run, entry.spec.label, metrics)) for entry in entries(run, part)}


def _locomo(run: Results, label: str, metrics: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    asked = run.of(system=label)
    found: dict[str, float] = {}
    for category in FIVE:
        end = "_trap" if category == ADVERSARIAL else ""
        means = results.means([r for r in asked if r.category == category], [f"{m}{end}" for m in metrics.values()])
        for metric, name in metrics.items():
            if (value := means[f"{name}{end}"]) is not None:
                found[f"{category} {metric}"] = 100.0 * value
    for metric in metrics:
        if (mean := macro(found.get(f"{category} {metric}") for category in FOUR)) is not None:
            found[f"macro {metric}"] = mean
    yield from found.items()
    if asked:
        yield "tokens", sum(r.context_tokens for r in asked) / len(asked)
    refused = results.abstention(asked)["right"]
    if refused is not None:
        yield "refused", 100.0 * refused


def companion(run: Results, part: Part) -> dict[str, Row]:
    """Method → accuracy, correctness and coherence of the judge `gvd`."""
    made: dict[str, Row] = {}
    for entry in entries(run, part):
        means = results.means(run.of(system=entry.spec.label), [f"gvd.{name}" for name in COMPANION])
        made[entry.method] = {n: 100.0 * v for n in COMPANION if (v := means[f"gvd.{n}"]) is not None}
    return made


def efficiency(run: Results, part: Part) -> dict[str, Row]:
    """Method → `tokens` of a context, `calls` of a page that is learnt and a response together, `f1` as the macro
    average; and their parts: calls and tokens, of a page, of a response."""
    made: dict[str, Row] = {}
    rows = locomo(run, part)
    for entry in entries(run, part):
        label = entry.spec.label
        cost = results.cost([one for one in run.learnt(system=label) if not one.failure], run.of(system=label))
        found = {
            "tokens": cost.context_tokens_mean,
            "calls": None
            if cost.calls_a_page is None or cost.calls_a_response is None
            else cost.calls_a_page + cost.calls_a_response,
            "f1": rows[entry.method].get("macro f1"),
            "calls a page": cost.calls_a_page,
            "calls a response": cost.calls_a_response,
            "tokens a page": cost.tokens_a_page,
            "tokens a response": cost.tokens_a_response,
        }
        made[entry.method] = {name: value for name, value in found.items() if value is not None}
    return made


def ranked(rows: Mapping[str, Row], methods: Sequence[str], categories: Sequence[str]) -> Mapping[str, Row]:
    """The rows, with `rank f1` and `rank bleu1` of these methods among each other over the categories."""
    made: dict[str, dict[str, float]] = {name: dict(row) for name, row in rows.items()}
    for metric in METRICS:
        compared = {
            name: [rows[name].get(f"{category} {metric}") for category in categories]
            for name in methods
            if name in rows
        }
        for name, rank in average_ranks(compared).items():
            if rank is not None:
                made[name][f"rank {metric}"] = rank
    return made


def improved(rows: Mapping[str, Row], ours: str, columns: Sequence[str]) -> Row:
    """What `ours` is better than the best of the other rows, in per cent, for each column."""
    others = [row for name, row in rows.items() if name not in (ours, DEFAULT)]
    found = {c: improvement(rows.get(ours, {}).get(c), (row.get(c) for row in others)) for c in columns}
    return {column: value for column, value in found.items() if value is not None}
