"""`embermem bench run`: systems × data sets × seeds, every model call recorded, resumable after any interruption.

A unit is one conversation told to one system with one seed. Its store stands under `work/` until its questions are
done. That it was learnt is a line of `ingest.jsonl`, written when it is settled; without that line it begins again from
an empty store, and its model calls come from the recording. Each question is one line of `results.jsonl`. So a run that
was killed anywhere goes on where it was, and finds what it would have found. A unit that is lived through (`live.py`)
begins again until it is done; only then its lines are written. The rules stand in docs/research/bench.md.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import embermem
from embermem import bootstrap
from embermem.core import config
from embermem.core.config import Settings
from embermem.core.errors import ConfigError, InputError
from embermem.index.tokens import counter
from embermem_bench import ProgressFn, datasets, results, workspace
from embermem_bench.datasets import Conversation, Dataset, gvd
from embermem_bench.live import Living
from embermem_bench.plan import JUDGES, Plan, SystemSpec
from embermem_bench.results import Header, Ingest, Result, Source
from embermem_bench.tracing import Asked, Price, Purse, Trace
from embermem_bench.unit import COUNTER, STORE, Clock, Terms, Unit, Working, opened

if TYPE_CHECKING:
    from embermem.protocols import LanguageModel

__all__ = ["JUDGES", "Estimate", "Left", "Plan", "SystemSpec", "calls_file", "estimate", "run"]

WORK = "work"

_LIMITS = ("calls_per_day", "tokens_per_day", "owner_calls_per_day", "owner_tokens_per_day")
_OF_NO_FIGURE = frozenset(
    "preset embedder embedder_url embedder_key token_counter background pause_s poll_s lease_s busy_timeout_s "
    "resident_bytes trace_text model model_url model_key model_timeout_s model_retries model_retry_max_s "
    "model_breaker_failures model_breaker_s model_cache".split()
)
"""Settings that change no figure, or stand in the header by themselves."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """What a run still needs, by the average of what is done: seconds, model calls and their tokens. Replies that the
    recording holds are counted as well."""

    seconds: float
    calls: int
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """The size of a run before it begins. `text_tokens` is what was said, by the run's counter, once; `answer_calls`
    and `judge_calls` are those of the bench. What systems ask themselves is known after their first conversation."""

    units: int
    conversations: int
    turns: int
    text_tokens: int
    questions: int
    answer_calls: int
    judge_calls: int


def run(
    plan: Plan,
    folder: Path,
    *,
    model: LanguageModel | None = None,
    judge: LanguageModel | None = None,
    replay: bool = False,
    most_calls: int | None = None,
    purse: Purse | None = None,
    prices: tuple[Price, Price] = (Price(), Price()),
    recordings: Path | None = None,
    told: ProgressFn = lambda what, done, total: None,
    left: Callable[[Left], None] = lambda left: None,
    **settings: Any,
) -> None:
    """Does what is planned and not yet done in `folder`; `results.load` reads what it found.

    Without a model only retrieval is measured. `judge` is the model of the judges; None: the same one. `replay`: nobody
    is asked, all replies come from the folder's recording. At most `most_calls` are made, or what `purse` allows, at
    the prices of the model and of the judge; then BudgetSpent ends the run, and the next one goes on. `left` is told
    what is left after each unit. `recordings` is the folder of all model calls, by default the run's. `settings` are
    those of open_system.

    Raises ConfigError for a plan that cannot be run and for a folder of another plan, FolderBusy, InputError for data
    that cannot be read, and what ended the run: ModelError, ModelWait, EmbedderError, StoreError.
    """
    settings = {"token_counter": COUNTER, "background": False, **settings}
    loaded = config.load("default", **settings)
    if limits := [name for name in _LIMITS if getattr(loaded, name) is not None]:
        raise ConfigError(f"{limits[0]} is set: a run has days of its own. Unset it, and name the most calls instead")
    sets = _loaded(plan)
    settings["embedder"] = bootstrap.embedder_setting(loaded)
    embedder = bootstrap.make_embedder(settings["embedder"], loaded)
    terms = Terms(
        embedder=embedder,
        settings=settings,
        loaded=loaded,
        budget=plan.budget,
        judges=plan.judges,
        replies=plan.replies,
        made_by=_made_by(),
    )
    with workspace.held(folder):
        purse = purse or Purse(calls=most_calls)
        judge = judge if plan.judges else None
        asked, judging = (
            None if one is None or replay else Asked(one, purse, price)
            for one, price in zip((model, judge), prices, strict=True)
        )
        calls = recordings or folder
        name = _recorded_name(calls, plan, model) if replay else "" if model is None else model.name
        judge_name = _recorded_judge(calls, plan, judge) if replay else "" if judge is None else judge.name
        header = _header(plan, sets, (name, judge_name), embedder.name, loaded)
        _begin(folder, header)
        models = _Models(calls=calls, asked=asked, name=name, judging=judging, judge_name=judge_name)
        _Run(plan, folder, sets, models, terms, told, left).work()


def calls_file(folder: Path, seed: int) -> Path:
    """The recording of a seed's model calls."""
    return folder / f"calls-{seed}.jsonl"


def judged_file(folder: Path, seed: int) -> Path:
    """The recording of a seed's calls of a model that judges alone."""
    return folder / f"judged-{seed}.jsonl"


def estimate(plan: Plan) -> Estimate:
    """The size of a run, before anything is asked. Raises as `run`."""
    count = counter(COUNTER).count
    sets = _loaded(plan)
    talks = [talk for dataset in sets for talk in dataset.conversations]
    questions = [q for s in plan.seeds for dataset in sets for talk in _drawn(dataset, plan, s) for q in talk.questions]
    judged = sum(
        (judge == "gvd") == (question.answer is None)
        for judge in plan.judges
        for question in questions
        if question.answerable
    )
    return Estimate(
        units=len(talks) * len(plan.systems) * len(plan.seeds),
        conversations=len(talks),
        turns=sum(1 for talk in talks for _ in talk.turns()),
        text_tokens=sum(count(turn.text) for talk in talks for _, turn in talk.turns()),
        questions=len(questions),
        answer_calls=len(questions) * len(plan.systems),
        judge_calls=judged * len(plan.systems),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Models:
    """The model of a run and that of its judges, to be asked or by their recordings in `calls` alone; a name is ""
    without one."""

    calls: Path
    asked: Asked | None
    name: str
    judging: Asked | None
    judge_name: str

    def traces(self, seed: int) -> tuple[Trace, Trace]:
        """Of a seed: for systems and answers, and for judges. One, if the same model judges."""
        trace = Trace(self.asked, calls_file(self.calls, seed) if self.name else None, name=self.name or None)
        if not self.judge_name:
            return trace, trace
        return trace, Trace(self.judging, judged_file(self.calls, seed), name=self.judge_name)


class _Run:
    """The work of one process in a folder that it holds."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        sets: Sequence[Dataset],
        models: _Models,
        terms: Terms,
        told: ProgressFn,
        left: Callable[[Left], None],
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._sets = sets
        self._models = models
        self._terms = terms
        self._told = told
        self._left = left
        self._learnt: dict[tuple[str, str, str, int], Ingest] = {}
        self._done: dict[tuple[str, str, str, int], list[Result]] = {}

    def work(self) -> None:
        """All units that are not done, in order: every system has a conversation before the next one comes."""
        with ExitStack() as stack:
            self._ingest = stack.enter_context(workspace.Lines(self._folder / results.INGEST))
            self._results = stack.enter_context(workspace.Lines(self._folder / results.RESULTS))
            for one in results.lines(self._folder / results.INGEST, Ingest):
                self._learnt.setdefault(one.unit, one)
            for result in results.lines(self._folder / results.RESULTS, Result):
                self._done.setdefault(result.unit, []).append(result)
            units = list(self._units())
            todo = [unit for unit in units if not self._is_done(unit)]
            if todo:
                self._check_systems()
            traces: tuple[int, tuple[Trace, Trace]] | None = None
            for number, unit in enumerate(todo):
                if traces is None or traces[0] != unit.seed:
                    traces = unit.seed, self._models.traces(unit.seed)
                self._one(unit, traces[1], f"({len(units) - len(todo) + number + 1}/{len(units)})")
                self._left(self._estimated(todo[number + 1 :]))
            shutil.rmtree(self._folder / WORK, ignore_errors=True)

    def _units(self) -> Iterator[Unit]:
        for seed in self._plan.seeds:
            for dataset in self._sets:
                for talk in _drawn(dataset, self._plan, seed):
                    for system in self._plan.systems:
                        yield Unit(system=system, dataset=dataset, conversation=talk, seed=seed)

    def _is_done(self, unit: Unit) -> bool:
        learnt = self._learnt.get(unit.key)
        return learnt is not None and (bool(learnt.failure) or not self._open_questions(unit))

    def _open_questions(self, unit: Unit) -> list[datasets.Question]:
        asked = {result.question for result in self._done.get(unit.key, ())}
        return [question for question in unit.conversation.questions if question.id not in asked]

    def _check_systems(self) -> None:
        """Each system opened once, so that a wrong name or option is told before anything is done."""
        for spec in self._plan.systems:
            with _emptied(self._folder / WORK / "check") as folder:
                opened(spec, folder / STORE, Trace(None, None), self._terms, Clock()).close()

    def _one(self, unit: Unit, traces: tuple[Trace, Trace], number: str) -> None:
        what = f"{unit.system.label}, {unit.conversation.id} {number}"
        place = self._folder / WORK / hashlib.blake2b(msgspec.json.encode(unit.key), digest_size=8).hexdigest()
        if self._plan.mode != "frozen":
            self._live(unit, traces, place, what)
            return
        learnt, settled = self._learnt.get(unit.key), place / "settled"
        fresh = learnt is None or not settled.is_file()  # its store may be gone though it was learnt once
        if fresh:
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
        working = Working(unit, place, *traces, self._terms)
        try:
            if fresh:
                made = working.learn(lambda done, total: self._told(f"{what}: settling", done, total))
                settled.touch()
                if learnt is None:
                    learnt = self._learnt[unit.key] = made
                    self._ingest.add(made)
            todo = [] if learnt is not None and learnt.failure else self._open_questions(unit)
            total = len(unit.conversation.questions)
            for n, question in enumerate(todo, total - len(todo) + 1):
                self._told(f"{what}: asking", n, total)
                result = working.ask(question)
                self._results.add(result)
                self._done.setdefault(unit.key, []).append(result)
        finally:
            working.close()
        shutil.rmtree(place, ignore_errors=True)

    def _live(self, unit: Unit, traces: tuple[Trace, Trace], place: Path, what: str) -> None:
        with _emptied(place) as folder:
            living = Living(unit, folder, *traces, self._terms, visits=self._plan.mode == "live")
            try:
                learnt, asked = living.live(lambda done, total: self._told(f"{what}: living", done, total))
            finally:
                living.close()
            kept = {result.question for result in self._done.get(unit.key, ())}
            for result in asked:
                if result.question not in kept:
                    self._results.add(result)
                    self._done.setdefault(unit.key, []).append(result)
            self._learnt[unit.key] = learnt
            self._ingest.add(learnt)

    def _estimated(self, todo: Sequence[Unit]) -> Left:
        """What these units will need: each system by its own averages, one that did nothing yet by all others'."""
        paces = {spec.label: self._pace(spec.label) for spec in self._plan.systems}
        overall = self._pace(None)
        needs = [0.0, 0.0, 0.0]
        for unit in todo:
            own = paces[unit.system.label]
            turns = sum(1 for _ in unit.conversation.turns())
            for n in range(3):
                a_turn, a_question = (
                    mine if mine is not None else other for mine, other in zip(own[n], overall[n], strict=True)
                )
                needs[n] += turns * (a_turn or 0.0) + len(unit.conversation.questions) * (a_question or 0.0)
        return Left(seconds=needs[0] / 1000, calls=round(needs[1]), tokens=round(needs[2]))

    def _pace(self, system: str | None) -> tuple[tuple[float | None, float | None], ...]:
        """Milliseconds, calls and tokens: each a turn learnt, and a question asked."""
        learnt = [one for one in self._learnt.values() if system in (None, one.system)]
        asked = [r for some in self._done.values() for r in some if system in (None, r.system)]
        spent = [(r.recall, r.answering, r.judging) for r in asked]
        timed = [one for one in learnt if one.spent.ms is not None]
        times = [sum(s.ms for s in some if s.ms is not None) for some in spent if all(s.ms is not None for s in some)]
        turns = sum(one.turns for one in learnt)
        return (
            (
                _ratio(sum(one.spent.ms or 0.0 for one in timed), sum(one.turns for one in timed)),
                _ratio(sum(times), len(times)),
            ),
            (
                _ratio(sum(o.spent.calls for o in learnt), turns),
                _ratio(sum(s.calls for t in spent for s in t), len(spent)),
            ),
            (
                _ratio(sum(o.spent.tokens for o in learnt), turns),
                _ratio(sum(s.tokens for t in spent for s in t), len(spent)),
            ),
        )


# ----------------------------------------------------------------------------------------------------------- the plan


def _loaded(plan: Plan) -> tuple[Dataset, ...]:
    """The data sets, with the conversations that are asked for. Raises InputError, ConfigError."""
    sets = [datasets.load(path) for path in plan.data]
    if len({dataset.name for dataset in sets}) < len(sets):
        raise ConfigError("two of the data sets have the same name: run them apart")
    there = {talk.id for dataset in sets for talk in dataset.conversations}
    if missing := [name for name in plan.conversations if name not in there]:
        raise ConfigError(f"no conversation {missing[0]!r}; there are: {', '.join(sorted(there))}")
    wanted = set(plan.conversations) or there
    return tuple(replace(s, conversations=tuple(t for t in s.conversations if t.id in wanted)) for s in sets)


def _drawn(dataset: Dataset, plan: Plan, seed: int) -> tuple[Conversation, ...]:
    """The conversations with the questions that the seed draws."""
    return datasets.subset(dataset, questions=plan.limit, seed=seed).conversations


def _header(plan: Plan, sets: Sequence[Dataset], models: tuple[str, str], embedder: str, loaded: Settings) -> Header:
    sources = tuple(
        Source(
            name=dataset.name,
            file=gvd.bank_of(path).name,
            sha256=_sha256(path),
            conversations=len(dataset.conversations),
            questions=sum(len(talk.questions) for talk in _drawn(dataset, plan, plan.seeds[0])),
            locomo=dataset.headline == datasets.LOCOMO_HEADLINE,
        )
        for path, dataset in zip(plan.data, sets, strict=True)
    )
    return Header(
        data=sources,
        systems=tuple(spec.label for spec in plan.systems),
        seeds=plan.seeds,
        limit=plan.limit,
        conversations=plan.conversations,
        budget=plan.budget,
        judges=plan.judges,
        model=models[0],
        embedder=embedder,
        counter=loaded.token_counter,
        settings=_changed(loaded),
        replies=plan.replies,
        judge_model=models[1],
        mode=plan.mode,
    )


def _begin(folder: Path, header: Header) -> None:
    """Writes the plan of a new run; of one that is there, refuses another."""
    if (folder / results.PLAN).exists():
        kept = results.header(folder)
        if kept != header:
            names = [f.name for f in fields(Header) if getattr(kept, f.name) != getattr(header, f.name)]
            raise ConfigError(
                f"{folder} holds a run of another plan ({', '.join(names)} differ); name another folder, or go on with "
                f"the plan in its {results.PLAN}"
            )
        return
    others = sorted(p.name for p in folder.iterdir() if not p.name.startswith((workspace.LOCK, "calls-", "judged-")))
    if [name for name in others if not name.endswith(".part")]:
        raise ConfigError(f"{folder} holds other things ({others[0]}) and no run of the bench; name another folder")
    workspace.write_whole(folder / results.PLAN, msgspec.json.format(msgspec.json.encode(header), indent=2) + b"\n")


def _recorded_name(folder: Path, plan: Plan, model: LanguageModel | None) -> str:
    """The model whose calls the folder holds. Raises InputError if a seed has no recording."""
    for seed in plan.seeds:
        if not calls_file(folder, seed).is_file():
            raise InputError(f"{calls_file(folder, seed)} is missing: there is nothing to replay")
    name = None if model is None else model.name
    if name is None and (folder / results.PLAN).exists():
        name = results.header(folder).model or None
    return bootstrap.recorded(None, calls_file(folder, plan.seeds[0]), name=name).name


def _recorded_judge(folder: Path, plan: Plan, judge: LanguageModel | None) -> str:
    """The model whose calls as a judge alone the folder holds; "" if the run's own model judged."""
    if not plan.judges or not any(judged_file(folder, seed).is_file() for seed in plan.seeds):
        return ""
    name = None if judge is None else judge.name
    if name is None and (folder / results.PLAN).exists():
        name = results.header(folder).judge_model or None
    return bootstrap.recorded(None, judged_file(folder, plan.seeds[0]), name=name).name


def _sha256(path: Path) -> str:
    """Of the file; of GVD's two, of both, the questions last."""
    bank = gvd.bank_of(path)
    digest = hashlib.sha256(bank.read_bytes())
    asked = bank.with_name(f"{bank.name.replace('memory_bank', 'probing_questions', 1)}l")
    if asked.name.startswith("probing_questions") and asked.is_file():
        digest.update(asked.read_bytes())
    return digest.hexdigest()


def _changed(loaded: Settings) -> Mapping[str, str]:
    """The settings that may move a figure and are not the defaults. None of them is a secret or a path."""
    plain = Settings()
    return {
        f.name: str(getattr(loaded, f.name))
        for f in fields(Settings)
        if f.name not in _OF_NO_FIGURE
        and not f.name.startswith(("http_", "proxy_"))
        and getattr(loaded, f.name) != getattr(plain, f.name)
    }


def _made_by() -> str:
    """The version, and the commit where this code stands in a repository of its own."""
    here = Path(__file__)

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(here.parent), *arguments], capture_output=True, text=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    version = f"embermem {embermem.__version__}, Python {platform.python_version()}"
    if git("ls-files", "--error-unmatch", here.name) is None:  # the repository around it is somebody else's
        return version
    commit = git("describe", "--always", "--dirty=+changes", "--exclude=*", "--abbrev=12")
    return f"{version}, commit {commit}" if commit else version


@contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _ratio(amount: float, count: int) -> float | None:
    return amount / count if count else None
