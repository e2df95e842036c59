"""What a run of the bench found: one record a conversation learnt and one a question asked, and figures over them.

A run's folder holds `plan.json` (a Header), `ingest.jsonl` (an Ingest a line), `results.jsonl` (a Result a line) and
`calls-<seed>.jsonl` (every model call). Figures are made from these files alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from embermem.core.errors import InputError
from embermem_bench import metrics, statistics
from embermem_bench.evidence import KS, ranking_names
from embermem_bench.plan import Mode
from embermem_bench.scoring import LURED
from embermem_bench.scoring import NAMES as TOKEN_METRICS
from embermem_bench.statistics import Interval

Kind = TypeVar("Kind")

PLAN, INGEST, RESULTS = "plan.json", "ingest.jsonl", "results.jsonl"
"""The files of a run's folder."""

EVIDENCE: Final = (*ranking_names(""), "mrr", "packed", "told")
"""Figures of retrieval: share of the evidence in the first k, some of it, all of it; 1 / rank; share of it in the
context in its own words; share that something in the context rests on."""
THREAD_EVIDENCE: Final = (*ranking_names("thread_"), "thread_mrr", "thread_packed", "thread_told")
"""The same where evidence is threads, of which any turn counts."""
ANSWERS: Final = TOKEN_METRICS
"""Figures of answers that have a gold one."""
ABSTENTION: Final = ("abstained", "abstained_locomo")
"""1 where the answer says that it is not known: by our list of phrases, and by LoCoMo's two."""
CHOSEN: Final = (*(f"{name}_trap" for name in LURED), "f1_set_refusal", "bleu1_refusal")
"""Figures of answers that were chosen from two, where there is none: `scoring.score_choice`."""

GREATEST: Final = ("hottest", "strongest")
"""Of `Ingest.held`: those of which the greatest counts, not the sum."""
MEDIANS: Final = ("heat_p50",)
"""Those of which the mean over conversations counts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """Model calls, their tokens, and wall time. `ms` is None where a reply came from the recording: then nothing was
    measured."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float | None = None

    @property
    def tokens(self) -> int:
        """Of prompts and answers."""
        return self.prompt_tokens + self.completion_tokens

    @classmethod
    def total(cls, parts: Iterable[Spent]) -> Spent:
        """The sum of parts; without a time if one of them has none."""
        found = tuple(parts)
        times = [one.ms for one in found]
        return cls(
            calls=sum(one.calls for one in found),
            prompt_tokens=sum(one.prompt_tokens for one in found),
            completion_tokens=sum(one.completion_tokens for one in found),
            ms=None if None in times else round(sum(ms for ms in times if ms is not None), 3),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a judge says of an answer: `correct` (strict, lenient), or `accuracy`, `correctness`, `coherence` (gvd), in
    [0, 1]. No scores: its reply could not be read."""

    judge: str
    scores: Mapping[str, float]
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ingest:
    """One conversation told to one system. `failure` names the error if it could not be learnt: nothing was asked then.
    `left_out` pages taught nothing by the model, whose replies about them could not be read. `made_by` is the code that
    did it. `held`: what the memory holds in the end, and how it was used (`held.py`)."""

    system: str
    dataset: str
    conversation: str
    seed: int
    turns: int
    pages: int
    spent: Spent
    made_by: str = ""
    failure: str = ""
    left_out: int = 0
    held: Mapping[str, float] = field(default_factory=dict)

    @property
    def unit(self) -> tuple[str, str, str, int]:
        """What it is one of: system, data set, conversation, seed."""
        return self.system, self.dataset, self.conversation, self.seed


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One question asked of one system.

    `ranking` are the turns of the first hits, best first; `packed` those whose text stands in the context, `told`
    those that something in it rests on.
    `values` are its figures by their public names, those that there are. `headline`: whether it counts in the headline
    figures. `answer` is None without a model; `gold` None where the data have none. `failure` names the error of a
    model whose reply could not be read; the answer is then empty and counts as such.
    """

    system: str
    dataset: str
    conversation: str
    seed: int
    question: str
    category: str
    headline: bool
    answerable: bool
    gold: str | None
    evidence: tuple[str, ...]
    evidence_threads: tuple[str, ...]
    ranking: tuple[str, ...]
    packed: tuple[str, ...]
    told: tuple[str, ...]
    confidence: float
    context_tokens: int
    answer: str | None
    values: Mapping[str, float]
    verdicts: tuple[Verdict, ...]
    recall: Spent
    answering: Spent
    judging: Spent
    failure: str = ""

    @property
    def unit(self) -> tuple[str, str, str, int]:
        """What it is one of: system, data set, conversation, seed."""
        return self.system, self.dataset, self.conversation, self.seed

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """Unit and question: the same nowhere else."""
        return *self.unit, self.question

    @property
    def scores(self) -> Mapping[str, float]:
        """Its values, and what the judges gave, as `judge.score`."""
        judged = {f"{v.judge}.{name}": score for v in self.verdicts for name, score in v.scores.items()}
        return {**self.values, **judged}


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A data set: its name, its file's name without any folder, the SHA-256 of the file, and how much of it each seed
    asks. `locomo`: its categories are LoCoMo's."""

    name: str
    file: str
    sha256: str
    conversations: int
    questions: int
    locomo: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """What a run was asked for, as its folder keeps it. A folder is gone on with only if all of it is the same.

    `model` is "" without one; `judge_model` "" where the same one judges. `settings` are those that differ from the
    defaults. `mode`: when questions were asked.
    """

    data: tuple[Source, ...]
    systems: tuple[str, ...]
    seeds: tuple[int, ...]
    limit: int | None
    conversations: tuple[str, ...]
    budget: int | None
    judges: tuple[str, ...]
    model: str
    embedder: str
    counter: str
    settings: Mapping[str, str] = field(default_factory=dict)
    replies: str = "short"
    judge_model: str = ""
    mode: Mode = "frozen"


@dataclass(frozen=True, kw_only=True, slots=True)
class Results:
    """One or several runs, in the order in which they were given."""

    headers: tuple[Header, ...]
    ingested: tuple[Ingest, ...]
    results: tuple[Result, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """Their labels, as they were asked for."""
        return tuple(dict.fromkeys(name for header in self.headers for name in header.systems))

    @property
    def datasets(self) -> tuple[str, ...]:
        """Their names, as they were asked for."""
        return tuple(dict.fromkeys(source.name for header in self.headers for source in header.data))

    def of(
        self,
        *,
        system: str | None = None,
        dataset: str | None = None,
        category: str | None = None,
        headline: bool = False,
    ) -> tuple[Result, ...]:
        """Those of one system, data set, category; only those of the headline categories."""
        return tuple(
            r
            for r in self.results
            if system in (None, r.system)
            and dataset in (None, r.dataset)
            and category in (None, r.category)
            and (r.headline or not headline)
        )

    def learnt(self, *, system: str | None = None, dataset: str | None = None) -> tuple[Ingest, ...]:
        """The conversations told to one system, of one data set."""
        return tuple(i for i in self.ingested if system in (None, i.system) and dataset in (None, i.dataset))


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a system costs. Calls and tokens of the model, by page learnt and by question answered (recall and answer);
    milliseconds at the median and the 95th percentile. None where nothing was measured."""

    calls_a_page: float | None
    tokens_a_page: float | None
    ms_a_page: float | None
    calls_a_response: float | None
    tokens_a_response: float | None
    context_tokens_mean: float | None
    context_tokens_p50: float | None
    recall_ms_p50: float | None
    recall_ms_p95: float | None
    answer_ms_p50: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """How far two judges agree on the answers that both judged: the share, and Cohen's kappa."""

    judged: int
    share: float | None
    kappa: float | None


def load(*folders: str | Path) -> Results:
    """What stands in the folders of runs. An unfinished last line is passed over: its run was interrupted.

    Raises InputError for a folder without a run, a line that is none of ours (with its number), and where two folders
    hold the same question of the same system.
    """
    headers, ingested, asked = [], [], []
    for folder in map(Path, folders):
        headers.append(header(folder))
        ingested += list({one.unit: one for one in lines(folder / INGEST, Ingest)}.values())
        asked += list({one.key: one for one in lines(folder / RESULTS, Result)}.values())
    seen: set[tuple[str, str, str, int, str]] = set()
    for one in asked:
        if one.key in seen:
            raise InputError(f"two of the runs hold {one.system} on {one.dataset}, {one.question}: report them apart")
        seen.add(one.key)
    return Results(headers=tuple(headers), ingested=tuple(ingested), results=tuple(asked))


def header(folder: Path) -> Header:
    """What the run in a folder was asked for. Raises InputError if there is none."""
    try:
        return msgspec.json.decode((folder / PLAN).read_bytes(), type=Header)
    except OSError as error:
        raise InputError(f"{folder} holds no run of the bench: {PLAN}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{folder / PLAN} is no plan of a run: {error}") from error


def lines(file: Path, kind: type[Kind]) -> tuple[Kind, ...]:
    """The whole lines of a file, each as one record; none if there is no file. Raises InputError."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    decoder = msgspec.json.Decoder(kind)
    made: list[Kind] = []
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].split(b"\n")[:-1], 1):
        try:
            made.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{file}, line {number}: {error}") from error
    return tuple(made)


# ------------------------------------------------------------------------------------------------------------ figures


def means(results: Iterable[Result], names: Sequence[str]) -> Mapping[str, float | None]:
    """The mean of each figure, over the questions that have it; None if none has."""
    scores = [result.scores for result in results]
    return {name: metrics.mean([score[name] for score in scores if name in score]) for name in names}


def evidence(results: Sequence[Result]) -> Mapping[str, float | None]:
    """The figures of retrieval, by the names of `EVIDENCE`; of `THREAD_EVIDENCE` where evidence is threads only."""
    found = means(results, EVIDENCE)
    return found if found["mrr"] is not None else means(results, THREAD_EVIDENCE)


def answers(results: Sequence[Result]) -> Mapping[str, float | None]:
    """The figures of answers against gold ones, by the names of `ANSWERS`."""
    return means(results, ANSWERS)


def abstention(results: Sequence[Result]) -> Mapping[str, float | None]:
    """How often the answer says that it is not known: `right` where there is no answer, `wrong` where there is one.
    `right_locomo` counts by LoCoMo's two phrases."""
    none = [r for r in results if not r.answerable]
    some = [r for r in results if r.answerable]
    return {
        "right": means(none, ABSTENTION)["abstained"],
        "right_locomo": means(none, ABSTENTION)["abstained_locomo"],
        "wrong": means(some, ABSTENTION)["abstained"],
    }


def summary(results: Results) -> list[dict[str, Any]]:
    """The figures of each system on each data set, for JSON. Those of evidence and answers are of the headline."""
    return [
        {
            "dataset": dataset,
            "system": system,
            "questions": len(asked),
            "not_learnt": sum(bool(one.failure) for one in results.learnt(system=system, dataset=dataset)),
            "left_out": sum(one.left_out for one in results.learnt(system=system, dataset=dataset)),
            "evidence": dict(evidence(headline)),
            "answers": dict(answers(headline)),
            "judges": dict(means(headline, judged(headline))),
            "abstention": dict(abstention(asked)),
            "held": dict(held([i for i in results.learnt(system=system, dataset=dataset) if not i.failure])),
            "cost": asdict(cost([i for i in results.learnt(system=system, dataset=dataset) if not i.failure], asked)),
        }
        for dataset in results.datasets
        for system in results.systems
        if (asked := results.of(system=system, dataset=dataset))
        and (headline := results.of(system=system, dataset=dataset, headline=True)) is not None
    ]


def held(ingested: Sequence[Ingest]) -> Mapping[str, float]:
    """What the memories of these conversations hold: sums; of `GREATEST` the greatest, of `MEDIANS` the mean."""
    names = dict.fromkeys(name for one in ingested for name in one.held)
    found = {name: [one.held[name] for one in ingested if name in one.held] for name in names}
    return {
        name: max(some) if name in GREATEST else sum(some) / (len(some) if name in MEDIANS else 1)
        for name, some in found.items()
    }


def judged(results: Iterable[Result]) -> tuple[str, ...]:
    """The judges' scores that there are, as `judge.score`, in the order in which they were given."""
    return tuple(dict.fromkeys(f"{v.judge}.{name}" for r in results for v in r.verdicts for name in v.scores))


def interval(results: Iterable[Result], name: str, seed: int = 0) -> Interval:
    """A figure's mean and its interval, conversations drawn again (statistics.bootstrap)."""
    return statistics.bootstrap(
        {talk: list(values.values()) for talk, values in _by_conversation(results, name).items()}, seed
    )


def difference(first: Iterable[Result], second: Iterable[Result], name: str, seed: int = 0) -> Interval:
    """first − second on the questions that both have the figure of (statistics.paired_bootstrap)."""
    a, b = _by_conversation(first, name), _by_conversation(second, name)
    common = {talk: a[talk].keys() & b[talk].keys() for talk in a.keys() & b.keys()}
    ours, others = (
        {talk: {question: side[talk][question] for question in common[talk]} for talk in common} for side in (a, b)
    )
    return statistics.paired_bootstrap(ours, others, seed)


def agreement(results: Iterable[Result], one: str, other: str) -> Agreement:
    """How far two scores agree, each named `judge.score`, such as `strict.correct` and `lenient.correct`."""
    pairs = [(s[one], s[other]) for s in (r.scores for r in results) if one in s and other in s]
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    return Agreement(
        judged=len(pairs), share=statistics.agreement(first, second), kappa=statistics.kappa(first, second)
    )


def cost(ingested: Sequence[Ingest], results: Sequence[Result]) -> Cost:
    """What learning these conversations and answering these questions cost. Judges are not counted."""
    pages = sum(one.pages for one in ingested)
    timed = [(one.spent.ms, one.pages) for one in ingested if one.spent.ms is not None]
    calls = [r.recall.calls + r.answering.calls for r in results]
    tokens = [r.recall.tokens + r.answering.tokens for r in results]
    lengths = [float(r.context_tokens) for r in results]
    recalls = [r.recall.ms for r in results if r.recall.ms is not None]
    replies = [r.answering.ms for r in results if r.answering.ms is not None and r.answer is not None]
    return Cost(
        calls_a_page=_ratio(sum(one.spent.calls for one in ingested), pages),
        tokens_a_page=_ratio(sum(one.spent.tokens for one in ingested), pages),
        ms_a_page=_ratio(sum(ms for ms, _ in timed), sum(count for _, count in timed)),
        calls_a_response=metrics.mean(calls),
        tokens_a_response=metrics.mean(tokens),
        context_tokens_mean=metrics.mean(lengths),
        context_tokens_p50=metrics.percentile(lengths, 0.5),
        recall_ms_p50=metrics.percentile(recalls, 0.5),
        recall_ms_p95=metrics.percentile(recalls, 0.95),
        answer_ms_p50=metrics.percentile(replies, 0.5),
    )


def _by_conversation(results: Iterable[Result], name: str) -> dict[str, dict[str, float]]:
    """Conversation → question (of a seed) → value."""
    found: dict[str, dict[str, float]] = {}
    for result in results:
        value = result.scores.get(name)
        if value is not None:
            talk = f"{result.dataset}\x00{result.conversation}"
            found.setdefault(talk, {})[f"{result.seed}\x00{result.question}"] = value
    return found


def _ratio(amount: float, count: int) -> float | None:
    return amount / count if count else None


__all__ = [
    "ABSTENTION",
    "ANSWERS",
    "CHOSEN",
    "EVIDENCE",
    "KS",
    "THREAD_EVIDENCE",
    "Agreement",
    "Cost",
    "Header",
    "Ingest",
    "Interval",
    "Result",
    "Results",
    "Source",
    "Spent",
    "Verdict",
    "abstention",
    "agreement",
    "answers",
    "cost",
    "difference",
    "evidence",
    "held",
    "interval",
    "judged",
    "load",
    "means",
    "summary",
]
