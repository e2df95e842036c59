"""One unit of a run: one conversation told to one system, then its questions.

The conversation goes into a store of its own, a thread at a time, and is settled. Each question is recalled, answered
from what was recalled alone, and judged. `visit` is never called: no question changes what the next one finds. Where
questions are asked when they come, it is: `live.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem import bootstrap
from embermem.core.errors import ModelReplyError, ModelTooLong
from embermem.core.types import WaitsFor
from embermem_bench import asking, metrics, scoring
from embermem_bench.abstention import abstains, abstains_locomo
from embermem_bench.asking import SCORES, NoLedger
from embermem_bench.datasets import LOCOMO_HEADLINE, Conversation, Dataset, Question
from embermem_bench.evidence import ranking_values
from embermem_bench.held import held
from embermem_bench.load_conversation import Stored, messages_of
from embermem_bench.plan import Replies, SystemSpec
from embermem_bench.recall import packed_within
from embermem_bench.results import ABSTENTION, Ingest, Result, Spent, Verdict
from embermem_bench.systems import OwnerSystem, SystemMemory, open_system
from embermem_bench.systems.recorded import RecordedSystem
from embermem_bench.tracing import Trace

if TYPE_CHECKING:
    from embermem.core.config import Settings
    from embermem.core.types import Context, Utterance, UtteranceId
    from embermem.protocols import Asker, Embedder

AGENT = "bench"
WORDS = "words"
COUNTER = "approx"
"""Counts budgets and contexts: it estimates the tokens that a prompt costs, which is what papers report, and it counts
Chinese, where `words` sees one word a sentence."""
STORE = "memory.db"

_READ_AT_ONCE = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """One conversation of a data set, for one system and seed."""

    system: SystemSpec
    dataset: Dataset
    conversation: Conversation
    seed: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        """As `Result.unit`."""
        return self.system.label, self.dataset.name, self.conversation.id, self.seed


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What all units of a run share. `settings` are those of open_system; `loaded` the same, whole."""

    embedder: Embedder
    settings: Mapping[str, Any]
    loaded: Settings
    budget: int | None
    judges: tuple[str, ...]
    replies: Replies
    made_by: str


@dataclass(slots=True)
class Clock:
    """Stands at the time of the last turn that was told, so that nothing depends on when a run is made."""

    now: datetime = field(default=datetime(1970, 1, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def tell(self, at: datetime) -> None:
        """Goes on to a time, never back."""
        self.now = max(self.now, at.astimezone(UTC))


class Working:
    """A unit at work, in a folder of its own. Close it in the end."""

    def __init__(self, unit: Unit, folder: Path, trace: Trace, judge: Trace, terms: Terms) -> None:
        """Opens the store, or makes it. `judge` judges; it may be `trace`. Raises ConfigError, StoreError."""
        self.unit = unit
        self._trace = trace
        self._judge = judge
        self._terms = terms
        self._clock = Clock()
        self._memory = opened(unit.system, folder / STORE, trace, terms, self._clock)
        self._owner = self._memory.of(unit.conversation.id, agent=AGENT)
        self._asker, self._judging = (
            bootstrap.make_asker(one.model, NoLedger(), terms.loaded, bootstrap.wall_clock) for one in (trace, judge)
        )
        self._stored: Stored | None = None

    def close(self) -> None:
        """Close the store."""
        self._memory.close()

    # ------------------------------------------------------------------------------------------------------- learning

    def learn(self, told: Callable[[int, int], None]) -> Ingest:
        """Tell the conversation to the empty store, and settle. `told` hears (done, total) of the settling.

        A page about which no reply could be read, also alone, is left out by every system, and counted: MemoryOS keeps
        what its rules found there. Systems that cannot leave out fail, which is noted. Raises ModelError and ModelWait
        where the model cannot be reached or asked, EmbedderError, StoreError: nothing is to be measured then.
        """
        failure, left_out, measured = "", 0, [Spent()]
        try:
            with self._trace.measured() as measured:
                for thread, messages in messages_of(self.unit.conversation):
                    self._clock.tell(max(turn.at for turn in thread.turns))
                    self._owner.add_messages(messages, thread=thread.id)
                left_out = self._settle(told)
        except (ModelReplyError, ModelTooLong) as error:
            failure = type(error).__name__
        return self._ingest(measured[0], failure, left_out)

    def _ingest(self, spent: Spent, failure: str, left_out: int) -> Ingest:
        system, dataset, conversation, seed = self.unit.key
        utterances = self._utterances()
        return Ingest(
            system=system,
            dataset=dataset,
            conversation=conversation,
            seed=seed,
            turns=len(utterances),
            pages=len({u.page_id for u in utterances}),
            spent=spent,
            made_by=self._terms.made_by,
            failure=failure,
            left_out=left_out,
            held=held(self._memory, self._owner.owner, self._clock.now),
        )

    def _settle(self, told: Callable[[int, int], None]) -> int:
        """Settle, once: no system is given further tries. The number of pages left out."""
        system, owner = self._memory.system, self._owner.owner
        if isinstance(system, RecordedSystem):
            left_out = system.settle_leaving_out(owner, told)
        else:
            self._owner.settle(told)
            stats = self._memory.store.owner_stats(owner.id, self._terms.loaded.short_term_pages)
            left_out = sum(one.pages for one in stats.waiting if one.waits_for is not WaitsFor.ANALYSIS)
        self._trace.check()
        return left_out

    def _utterances(self) -> list[Utterance]:
        found: list[Utterance] = []
        read = self._memory.store.utterances
        while some := read(self._owner.owner.id, found[-1].seq if found else 0, _READ_AT_ONCE):
            found += some
        return found

    # --------------------------------------------------------------------------------------------------------- asking

    def ask(self, question: Question) -> Result:
        """Recall, answer and judge one question. Raises as `learn`."""
        stored = self._where()
        failure = ""
        context: Context | None = None
        recall = answering = judging = Spent()
        answer: str | None = None
        verdicts: tuple[Verdict, ...] = ()
        try:
            with self._trace.measured() as measured:
                context = self.recalled(self._owner, question, stored)
        except ModelReplyError as error:
            failure = f"recall: {type(error).__name__}"
        recall = measured[0]
        if self._asker is not None:
            answer = ""
            if context is not None:
                try:
                    with self._trace.measured() as measured:
                        asked_at = stored.asked_at(question)
                        owner, replies, seed = self._owner.owner, self._terms.replies, self.unit.seed
                        answer = asking.answer(self._asker, owner, replies, context.text, question, asked_at, seed)
                except ModelReplyError as error:
                    failure = f"answer: {type(error).__name__}"
                answering = measured[0]
        if answer is not None and self._judging is not None:
            with self._judge.measured() as measured:
                verdicts = self._judged(self._judging, question, "" if context is None else context.text, answer)
            judging = measured[0]
        return self._result(
            question,
            stored,
            context,
            answer,
            verdicts,
            {"recall": recall, "answering": answering, "judging": judging},
            failure,
        )

    def _where(self) -> Stored:
        """Where each turn went: the n-th turn is the owner's n-th utterance."""
        if self._stored is None:
            conversation = self.unit.conversation
            turns = [turn for _, turn in conversation.turns()]
            pairs = list(zip(self._utterances(), turns, strict=False))
            turn_of = {utterance.id: turn.id for utterance, turn in pairs}
            seq_of = {turn.id: utterance.seq for utterance, turn in pairs}
            self._stored = Stored.of(conversation, turn_of, seq_of)
            for turn in turns:
                self._clock.tell(turn.at)
        return self._stored

    def recalled(self, owner: OwnerSystem, question: Question, stored: Stored) -> Context:
        """The context that a question is answered from. Raises InputError, ModelError, EmbedderError, StoreError."""
        return owner.recall(
            question.text,
            at=stored.asked_at(question),
            budget=self._terms.budget,
            thread=question.thread,
            scope=stored.scope(question),
        )

    def _judged(self, asker: Asker, question: Question, memory: str, answer: str) -> tuple[Verdict, ...]:
        """By each judge that has something to judge by: a gold answer, or for `gvd` all that was said, and `memory`.
        A question that has no answer is not judged: whether the answer says so is counted without a model. Nobody is
        asked of an empty answer."""
        if not question.answerable:
            return ()
        owner, made = self._owner.owner, []
        for name in self._terms.judges:
            if (name == "gvd") != (question.answer is None):
                continue
            if not answer:
                made.append(Verdict(judge=name, scores=dict.fromkeys(SCORES[name], 0.0), reason="no answer"))
                continue
            try:
                if question.answer is None:
                    history = asking.history_of(self.unit.conversation)
                    made.append(asking.judge_companion(asker, owner, history, memory, question.text, answer))
                else:
                    made.append(asking.judge(asker, owner, name, question.text, question.answer, answer))
            except ModelReplyError:
                made.append(Verdict(judge=name, scores={}))
        return tuple(made)

    def _result(
        self,
        question: Question,
        stored: Stored,
        context: Context | None,
        answer: str | None,
        verdicts: tuple[Verdict, ...],
        spent: Mapping[str, Spent],
        failure: str,
    ) -> Result:
        hits = () if context is None else context.hits
        packed, rests_on = ((), ()) if context is None else self._within_budget(context)
        ranking, present, told = (
            tuple(dict.fromkeys(stored.turn_of[utterance_id] for utterance_id in ids))
            for ids in ([hit.utterance.id for hit in hits], packed, rests_on)
        )
        values = evidence_values(question, ranking, present, told, stored.thread_of)
        if answer is not None:
            values |= answer_values(self.unit.dataset, question, answer, self._terms.embedder)
            if self._terms.replies == "choice" and not failure:
                values |= choice_values(question, answer, self._terms.embedder)
            values |= dict.fromkeys(ABSTENTION, 0.0) if failure else {}  # what is missing says nothing
        dataset = self.unit.dataset
        system, name, conversation, seed = self.unit.key
        return Result(
            system=system,
            dataset=name,
            conversation=conversation,
            seed=seed,
            question=question.id,
            category=question.category,
            headline=dataset.headline is None or question.category in dataset.headline,
            answerable=question.answerable,
            gold=question.answer,
            evidence=tuple(sorted(question.evidence)),
            evidence_threads=tuple(sorted(question.evidence_threads)),
            ranking=ranking,
            packed=present,
            told=told,
            confidence=0.0 if context is None else context.confidence,
            context_tokens=0 if context is None else context.tokens,
            answer=answer,
            values=values,
            verdicts=verdicts,
            failure=failure,
            **spent,
        )

    def _within_budget(self, context: Context) -> tuple[Sequence[UtteranceId], Sequence[UtteranceId]]:
        """What stands in the context, and what that rests on. A context of words that keeps to no budget is cut there,
        as in `bench recall`."""
        packed, budget = [hit.utterance.id for hit in context.packed], self._terms.budget
        if budget is None or context.counter != WORDS or context.tokens <= budget:
            return packed, context.rests_on
        found = packed_within(context, budget)
        resting = found.present | found.behind_facts
        return [u for u in packed if u in found.present], [u for u in context.rests_on if u in resting]


def opened(spec: SystemSpec, place: Path, trace: Trace, terms: Terms, clock: Callable[[], datetime]) -> SystemMemory:
    """A system on a store of the bench. Without a model none is asked, whatever the environment names."""
    return open_system(spec.name, place, options=spec.options, model=trace.model or "", clock=clock, **terms.settings)


def evidence_values(
    question: Question,
    ranking: Sequence[str],
    packed: Sequence[str],
    told: Sequence[str],
    thread_of: Mapping[str, str],
) -> dict[str, float]:
    """The figures of retrieval that a question's evidence allows."""
    values: dict[str, float] = {}
    in_context = {"packed": packed, "told": told}
    if question.evidence:
        values |= ranking_values("", ranking, question.evidence)
        values |= {name: metrics.recall_packed(some, question.evidence) for name, some in in_context.items()}
    if question.evidence_threads:
        values |= ranking_values("thread_", metrics.threads_of(ranking, thread_of), question.evidence_threads)
        for name, some in in_context.items():
            threads = metrics.threads_of(some, thread_of)
            values[f"thread_{name}"] = metrics.recall_packed(threads, question.evidence_threads)
    return values


def answer_values(dataset: Dataset, question: Question, answer: str, embedder: Embedder) -> dict[str, float]:
    """The figures of an answer: against the gold one, and whether it says that it is not known."""
    values = {"abstained": float(abstains(answer)), "abstained_locomo": float(abstains_locomo(answer))}
    gold = question.answer
    if gold is not None and question.answerable:
        category = question.category if dataset.headline == LOCOMO_HEADLINE else ""  # other data have other categories
        of_answer, of_gold = embedder.embed([answer, gold])
        values |= scoring.score(answer, gold, category, answer_vector=of_answer, gold_vector=of_gold)
    return values


def choice_values(question: Question, answer: str, embedder: Embedder) -> dict[str, float]:
    """The figures of an answer that was a choice between what the question lures to and that it is not mentioned; none
    for other questions."""
    trap = question.trap
    if trap is None or not asking.is_choice(question):
        return {}
    of_answer, of_trap = embedder.embed([answer, trap])
    return dict(scoring.score_choice(answer, trap, answer_vector=of_answer, trap_vector=of_trap))
