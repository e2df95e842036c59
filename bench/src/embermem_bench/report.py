"""The report of one or several runs, as Markdown and as one HTML file that needs nothing else.

All figures come from the runs' own files (results.py). No path of a machine is in it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from embermem.core.config import Settings
from embermem.core.errors import InputError
from embermem.prompts.data import one_line
from embermem_bench import results as figures
from embermem_bench.blocks import Block, Heading, Table, Text, as_html, as_markdown
from embermem_bench.categories import CATEGORIES
from embermem_bench.results import Header, Interval, Result, Results

__all__ = ["blocks", "brief", "how_made", "html_page", "markdown"]

TITLE: Final = "Memory systems side by side"
SEED: Final = 0
"""Of the bootstrap."""
CALLED_DIFFERENT: Final = (
    "rec@10",
    "thread_rec@10",
    "packed",
    "told",
    "thread_packed",
    "thread_told",
    "f1_locomo",
    "f1_squad",
    "bleu1",
)
"""Figures of which differences between systems are shown, and those of the judges."""

_NAME_CHARS = 120


def markdown(results: Results, *, baseline: str | None = None) -> str:
    """The report as Markdown. Raises InputError for a baseline that did not run."""
    return as_markdown(blocks(results, baseline=baseline))


def html_page(results: Results, *, baseline: str | None = None) -> str:
    """The report as one HTML file: no script, nothing from elsewhere. Raises as `markdown`."""
    return as_html(blocks(results, baseline=baseline), title=TITLE)


def blocks(results: Results, *, baseline: str | None = None) -> tuple[Block, ...]:
    """What the report says. `baseline` is the system that others are compared with; None: the first.

    Raises InputError for a baseline that did not run.
    """
    if baseline is not None and baseline not in results.systems:
        raise InputError(f"no system {baseline!r} in these runs; there are: {', '.join(results.systems)}")
    made: list[Block] = [Heading(level=1, text=TITLE), Text(text=_READ_SO)]
    for dataset in results.datasets:
        made += _of_dataset(results, dataset, baseline or results.systems[0])
    made += [Heading(level=2, text="How it was made"), *how_made(results)]
    return tuple(made)


# --------------------------------------------------------------------------------------------------------- what it says

_READ_SO = (
    "Means over questions; where the data set has headline categories, over these. In brackets: 95 % intervals, "
    "conversations drawn again (percentile bootstrap); with one conversation there is none. "
    "docs/research/bench.md says what each figure is."
)


def brief(results: Results) -> tuple[Block, ...]:
    """What was run, what was found, and how it was answered: for a terminal."""
    made: list[Block] = []
    for dataset in results.datasets:
        systems = [name for name in results.systems if results.of(system=name, dataset=dataset)]
        parts = [_coverage(results, dataset)]
        parts += [part(results, dataset, systems) for part in (_evidence, _answers, _judges)] if systems else []
        for block in (block for part in parts for block in part):
            made.append(replace(block, text=f"{dataset}: {block.text}") if isinstance(block, Heading) else block)
    return tuple(made)


def _of_dataset(results: Results, dataset: str, baseline: str) -> Iterator[Block]:
    systems = [name for name in results.systems if results.of(system=name, dataset=dataset)]
    yield Heading(level=2, text=dataset)
    yield from _coverage(results, dataset)
    if not systems:
        return
    yield from _evidence(results, dataset, systems)
    yield from _cost(results, dataset, systems)
    yield from _held(results, dataset, systems)
    yield from _categories(results, dataset, systems)
    yield from _answers(results, dataset, systems)
    yield from _abstention(results, dataset, systems)
    yield from _judges(results, dataset, systems)
    if baseline in systems and len(systems) > 1:
        yield from _differences(results, dataset, systems, baseline)


def _coverage(results: Results, dataset: str) -> Iterator[Block]:
    rows, ended = [], True
    for system in results.systems:
        learnt = results.learnt(system=system, dataset=dataset)
        asked = results.of(system=system, dataset=dataset)
        failed = sum(bool(one.failure) for one in learnt)
        talks, questions = _planned(results, system, dataset)
        ended = ended and (len(learnt), len(asked)) >= (talks, 0 if failed else questions)
        rows.append(
            (
                system,
                f"{len(learnt) - failed} of {talks}",
                str(failed),
                str(sum(one.pages for one in learnt if not one.failure)),
                str(sum(one.left_out for one in learnt if not one.failure)),
                f"{len(asked)} of {questions}",
                str(sum(r.headline for r in asked)),
                str(sum(bool(r.failure) for r in asked)),
            )
        )
    yield Heading(level=3, text="What was run")
    columns = (
        "system",
        "conversations",
        "not learnt",
        "pages",
        "left out",
        "questions",
        "in the headline",
        "unreadable replies",
    )
    yield Table(columns=columns, rows=tuple(rows))
    if not ended:
        yield Text(
            text="The run is not finished: the same command goes on with it. Means are over what was asked so far."
        )
    yield from _of_weak_models(results, dataset, any(row[4] != "0" for row in rows))
    if any(row[2] != "0" for row in rows):
        yield Text(
            text="A conversation is not learnt where the model's replies could not be read. Nothing was asked of it: "
            "that system's means are over fewer questions than the others'. Differences are over common ones."
        )


def _of_weak_models(results: Results, dataset: str, left_out: bool) -> Iterator[Block]:
    """What is the same for all systems where replies cannot be read, and where there is little to compare."""
    if left_out:
        yield Text(
            text="Left out are pages about which no reply could be read, also when they were shown alone, with one "
            "repair: they taught that system nothing by its model, and all systems went on without them. MemoryOS "
            "reads each page by rules before it asks a model, and keeps what these found. No system is given further "
            "tries."
        )
    header = results.headers[0]
    short = int(header.settings.get("short_term_pages", Settings().short_term_pages))
    lengths = {(one.conversation, one.seed): one.pages for one in results.learnt(dataset=dataset)}
    few = sum(pages <= 2 * short for pages in lengths.values())
    if header.model and few:
        yield Text(
            text=f"{few} of {len(lengths)} conversations have no more than {2 * short} pages: MemoryOS holds the "
            f"newest {short} as they were said and asks no model about them, so there is little to compare. Take "
            "longer ones."
        )


def _planned(results: Results, system: str, dataset: str) -> tuple[int, int]:
    """Conversations and questions that were to be run, over all seeds."""
    wanted = [
        (source, len(header.seeds))
        for header in results.headers
        if system in header.systems
        for source in header.data
        if source.name == dataset
    ]
    return sum(s.conversations * seeds for s, seeds in wanted), sum(s.questions * seeds for s, seeds in wanted)


def _evidence(results: Results, dataset: str, systems: Sequence[str]) -> Iterator[Block]:
    ranked = ["rec@1", "rec@5", "rec@10", "rec@20", "any@10", "all@10", "mrr", "packed", "told"]
    rows, threads = [], False
    for system in systems:
        asked = results.of(system=system, dataset=dataset, headline=True)
        found = figures.evidence(asked)
        prefix = "" if "mrr" in found else "thread_"
        if found[f"{prefix}mrr"] is None:
            continue
        threads = threads or bool(prefix)
        cost = figures.cost((), asked)
        counted = sum(f"{prefix}mrr" in r.values for r in asked)
        rows.append(
            (
                system,
                str(counted),
                *(_figure(found[prefix + name]) for name in ranked),
                _amount(cost.context_tokens_mean),
                _amount(cost.context_tokens_p50),
            )
        )
    if rows:
        yield Heading(level=3, text="Finding the evidence")
        columns = ("system", "n", *ranked, "context tokens, mean", "median")
        yield Table(columns=columns, rows=tuple(rows))
        yield Text(
            text="packed: the share of the evidence that stands in the context in its own words; told: the share that "
            "something in the context rests on, in its own words or as a fact, a thought or a gist. What a gist leaves "
            "out is not told: that only answers show."
        )
        if threads:
            yield Text(text="The evidence is threads: any turn of the thread counts, k still counts utterances.")


def _held(results: Results, dataset: str, systems: Sequence[str]) -> Iterator[Block]:
    """What the memories hold in the end, and how they were used; nothing for systems of which that is not known."""
    found = {
        system: figures.held([one for one in results.learnt(system=system, dataset=dataset) if not one.failure])
        for system in systems
    }
    names = tuple(dict.fromkeys(name for held in found.values() for name in held))
    if names:
        yield Heading(level=3, text="What is held in the end")
        rows = tuple((system, *(_amount(held.get(name)) for name in names)) for system, held in found.items() if held)
        yield Table(columns=("system", *names), rows=rows)


def _cost(results: Results, dataset: str, systems: Sequence[str]) -> Iterator[Block]:
    rows = []
    for system in systems:
        learnt = [one for one in results.learnt(system=system, dataset=dataset) if not one.failure]
        cost = figures.cost(learnt, results.of(system=system, dataset=dataset))
        rows.append(
            (
                system,
                _figure(cost.calls_a_page),
                _amount(cost.tokens_a_page),
                _amount(cost.ms_a_page),
                _figure(cost.calls_a_response),
                _amount(cost.tokens_a_response),
                _amount(cost.recall_ms_p50),
                _amount(cost.recall_ms_p95),
                _amount(cost.answer_ms_p50),
            )
        )
    yield Heading(level=3, text="What it costs")
    columns = (
        "system",
        "calls a page",
        "tokens a page",
        "ms a page",
        "calls a response",
        "tokens a response",
        "recall ms p50",
        "p95",
        "answer ms p50",
    )
    yield Table(columns=columns, rows=tuple(rows))
    yield Text(
        text="All questions. A response is recall and answer. Times only where every reply came from the model itself, "
        "none from the recording."
    )


def _categories(results: Results, dataset: str, systems: Sequence[str]) -> Iterator[Block]:
    asked = results.of(dataset=dataset)
    names = sorted({r.category for r in asked})
    if len(names) < 2:
        return
    locomo = any(source.locomo for header in results.headers for source in header.data if source.name == dataset)
    shown = _with_values(
        asked,
        [
            "rec@10",
            "thread_rec@10",
            "packed",
            "told",
            "thread_packed",
            "thread_told",
            "f1_locomo",
            "f1_squad",
            "f1_set",
            "bleu1",
        ],
    )
    shown += _with_values(asked, figures.judged(asked)) + _with_values(asked, ["abstained"])
    rows = []
    for category in names:
        label = CATEGORIES[category].label if locomo and category in CATEGORIES else category
        for system in systems:
            some = results.of(system=system, dataset=dataset, category=category)
            if some:
                found = figures.means(some, shown)
                rows.append((label, system, str(len(some)), *(_figure(found[name]) for name in shown)))
    yield Heading(level=3, text="By category")
    yield Table(columns=("category", "system", "n", *shown), rows=tuple(rows))


def _answers(results: Results, dataset: str, systems: Sequence[str]) -> Iterator[Block]:
    asked = results.of(dataset=dataset, headline=True)
    shown = _with_values(asked, figures.ANSWERS)
    if not shown:
        return
    rows = []
    for system in systems:
        some = results.of(system=system, dataset=dataset, headline=True)
        counted = sum(shown[0] in r.values for r in some)
        rows.append((system, str(counted), *(_ranged(figures.interval(some, name, SEED)) for name in shown)))
    yield Heading(level=3, text="Answers against gold answers")
    yield Table(columns=("system", "n", *shown), rows=tuple(rows))


def _abstention(results: Results, dataset: str, systems: Sequence[str]) -> Iterator[Block]:
    if not _with_values(results.of(dataset=dataset), ["abstained"]):
        return
    rows = []
    for system in systems:
        some = results.of(system=system, dataset=dataset)
        found = figures.abstention(some)
        none = sum(not r.answerable for r in some)
        rows.append(
            (
                system,
                str(none),
                _figure(found["right"]),
                _figure(found["right_locomo"]),
                str(len(some) - none),
                _figure(found["wrong"]),
            )
        )
    yield Heading(level=3, text="Saying that it is not known")
    columns = ("system", "unanswerable", "said so", "by LoCoMo's phrases", "answerable", "said so all the same")
    yield Table(columns=columns, rows=tuple(rows))


def _judges(results: Results, dataset: str, systems: Sequence[str]) -> Iterator[Block]:
    names = figures.judged(results.of(dataset=dataset))
    if not names:
        return
    rows, agreed = [], []
    for system in systems:
        some = results.of(system=system, dataset=dataset)
        unread = sum(not verdict.scores for r in some for verdict in r.verdicts)
        rows.append((system, *(_ranged(figures.interval(some, name, SEED)) for name in names), str(unread)))
        if {"strict.correct", "lenient.correct"} <= set(names):
            found = figures.agreement(some, "strict.correct", "lenient.correct")
            agreed.append((system, str(found.judged), _figure(found.share), _figure(found.kappa)))
    yield Heading(level=3, text="Judges")
    yield Table(columns=("system", *names, "unreadable"), rows=tuple(rows))
    if agreed:
        yield Text(text="How far the strict and the lenient judge agree:")
        yield Table(columns=("system", "judged by both", "the same", "Cohen's kappa"), rows=tuple(agreed))


def _differences(results: Results, dataset: str, systems: Sequence[str], baseline: str) -> Iterator[Block]:
    asked = results.of(dataset=dataset, headline=True)
    shown = _with_values(asked, [*CALLED_DIFFERENT, *figures.judged(asked)])
    base = results.of(system=baseline, dataset=dataset, headline=True)
    rows = []
    for system in systems:
        if system != baseline:
            some = results.of(system=system, dataset=dataset, headline=True)
            found = [figures.difference(some, base, name, SEED) for name in shown]
            rows.append((system, str(max((one.questions for one in found), default=0)), *map(_signed, found)))
    if shown and rows:
        yield Heading(level=3, text=f"Differences to {baseline}")
        yield Table(columns=("system", "n", *shown), rows=tuple(rows))
        yield Text(text="On the questions that both were asked. A star: the interval does not hold 0.")


_LIVE: Final = {
    "live": "Live: each question was asked when it came, and what it was given was counted as a visit.",
    "unvisited": "Live, without visits: each question was asked when it came, and nothing was counted.",
}


def how_made(results: Results) -> Iterator[Block]:
    """The data, the models and the settings of runs, and the command of each."""
    for header in results.headers:
        for source in header.data:
            yield Text(
                text=f"Data set {source.name}: {source.file}; conversations: {source.conversations}; "
                f"questions: {source.questions}; SHA-256 {source.sha256}"
            )
        model = f"Model: {header.model}, at temperature 0, every call recorded" if header.model else "No model"
        model += f". Judge: {header.judge_model}" if header.judge_model else ""
        seeds = ", ".join(map(str, header.seeds))
        yield Text(text=f"{model}. Embedder: {header.embedder}. Token counter: {header.counter}. Seeds: {seeds}.")
        if header.settings:
            changed = ", ".join(f"{name}={value}" for name, value in sorted(header.settings.items()))
            yield Text(text=f"Settings that are not the defaults: {changed}")
        if header.mode != "frozen":
            yield Text(text=_LIVE[header.mode])
        yield Text(text=_command(header), code=True)
    for made_by in dict.fromkeys(one.made_by for one in results.ingested if one.made_by):
        yield Text(text=f"Made by {made_by}")


def _command(header: Header) -> str:
    words = ["embermem", "bench", "run", *(source.file for source in header.data)]
    for option, values in (
        ("--system", header.systems),
        ("--seed", [] if header.seeds == (0,) else list(map(str, header.seeds))),
        ("--conversation", header.conversations),
        ("--limit", [] if header.limit is None else [str(header.limit)]),
        ("--budget", [] if header.budget is None else [str(header.budget)]),
        ("--judge", header.judges),
        ("--replies", [] if header.replies == "short" else [header.replies]),
        ("--model", [header.model] if header.model else []),
        ("--judge-model", [header.judge_model] if header.judge_model else []),
    ):
        for value in values:
            words += [option, value]
    words += [] if header.counter == "approx" else ["--counter", header.counter]
    words += {"frozen": [], "live": ["--live"], "unvisited": ["--live", "--no-visits"]}[header.mode]
    words += [] if header.model else ["--no-model"]
    return " ".join(shlex.quote(one_line(word, _NAME_CHARS)) for word in [*words, "--out", "RUN"])


def _with_values(asked: Sequence[Result], names: Sequence[str]) -> list[str]:
    there = {name for r in asked for name in r.scores}
    return [name for name in names if name in there]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _amount(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _ranged(found: Interval) -> str:
    if found.mean is None:
        return ""
    if found.low is None or found.high is None:
        return f"{found.mean:.3f}"
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _signed(found: Interval) -> str:
    if found.mean is None:
        return ""
    if found.low is None or found.high is None:
        return f"{found.mean:+.3f}"
    star = "*" if found.low > 0.0 or found.high < 0.0 else ""
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{star}"
