"""Live replay: a conversation is told turn by turn, and each question is asked when it comes: recall, visit, go on.

So heat, retention and strengthening work as they do in a service, where a run that asks at the end never touches them.
Which question comes when, when pages are understood, and what is counted: docs/research/bench.md, Live. Nothing
depends on the wall clock, so that a unit that was killed begins again and finds the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from embermem.core.errors import EmberError, ModelReplyError, ModelTooLong
from embermem.core.types import UtteranceId
from embermem.memoryos.system import MemoryOS
from embermem_bench.datasets import Conversation, Question, Thread, Turn
from embermem_bench.load_conversation import Stored, message
from embermem_bench.results import Ingest, Result, Spent
from embermem_bench.tracing import Trace
from embermem_bench.unit import Terms, Unit, Working

if TYPE_CHECKING:
    from embermem.core.types import Context
    from embermem_bench.systems import OwnerSystem

_STILL_DUE = timedelta(seconds=1)
"""Until a worker looks again at an owner who is due though work has just been done."""
_IN_VAIN = 3
"""So many looks that changed nothing, and the clock goes on to the next turn."""


def places(conversation: Conversation) -> Mapping[int, tuple[Question, ...]]:
    """Before which turn each question is asked, by the turn's number from 0; the number of turns: at the end.

    A question that is a turn of the conversation (`after_turn`): before that turn. One with a time of its own: before
    the first turn that is said later. Any other: before the first turn of the thread after the one in which the last
    turn of its evidence is said. One without evidence, and one whose evidence the last thread completes: at the end.
    """
    turns = list(conversation.turns())
    number = {turn.id: n for n, (_, turn) in enumerate(turns)}
    thread_of = {turn.id: thread.id for thread, turn in turns}
    after: dict[str, int] = {}
    for n, (thread, _) in enumerate(turns, 1):
        after[thread.id] = n
    found: dict[int, list[Question]] = {}
    for question in conversation.questions:
        if question.after_turn is not None:
            place = number[question.after_turn]
        elif question.at is not None:
            place = next((n for n, (_, turn) in enumerate(turns) if turn.at > question.at), len(turns))
        else:
            threads = {thread_of[turn] for turn in question.evidence if turn in thread_of} | question.evidence_threads
            place = max((after[thread] for thread in threads if thread in after), default=len(turns))
        found.setdefault(place, []).append(question)
    return {place: tuple(some) for place, some in sorted(found.items())}


class Living(Working):
    """A unit that is lived through. `visits`: whether what a question was given is counted."""

    def __init__(self, unit: Unit, folder: Path, trace: Trace, judge: Trace, terms: Terms, *, visits: bool) -> None:
        """As `Working`, on an empty folder."""
        super().__init__(unit, folder, trace, judge, terms)
        self._visits = visits
        turns = list(unit.conversation.turns())
        self._seq_of = {turn.id: n for n, (_, turn) in enumerate(turns, 1)}
        self._thread_of = {turn.id: thread.id for thread, turn in turns}
        self._at_of = {turn.id: turn.at for _, turn in turns}
        self._turn_of: dict[UtteranceId, str] = {}
        self._context: Context | None = None
        self._spent: list[Spent] = []
        self._left_out = 0

    def live(self, told: Callable[[int, int], None]) -> tuple[Ingest, tuple[Result, ...]]:
        """Tell the conversation, and ask each question in its place. `told` hears (done, total) in turns.

        Raises as `learn`. Of a conversation that could not be learnt no question counts.
        """
        asked: list[Result] = []
        failure = ""
        try:
            for result in self._lived(told):
                asked.append(result)
        except (ModelReplyError, ModelTooLong) as error:
            failure, asked = type(error).__name__, []
        return self._ingest(Spent.total(self._spent), failure, self._left_out), tuple(asked)

    def _lived(self, told: Callable[[int, int], None]) -> Iterator[Result]:
        turns = list(self.unit.conversation.turns())
        questions = places(self.unit.conversation)
        for n, (thread, turn) in enumerate(turns):
            yield from self._asked(questions.get(n, ()), turn.at)
            with self._learning():
                if turn.at > self._clock.now:  # what is said at one time is one burst
                    self._until(turn.at)
                self._say(thread, turn)
                if n + 1 == len(turns) or turns[n + 1][0].id != thread.id:
                    self._end_session()
            told(n + 1, len(turns))
        self._whole()
        yield from self._asked(questions.get(len(turns), ()), None)
        self._whole()

    def _asked(self, questions: Sequence[Question], before: datetime | None) -> Iterator[Result]:
        """Each question at its own time, or when the turn is about to be said before which it is asked."""
        for question in questions:
            at = [one for one in (question.at, before) if one is not None]
            with self._learning():
                if at:
                    self._until(min(at))
            self._context = None
            yield self.ask(question)
            with self._learning():
                if self._visits and self._context is not None:
                    self._visit(self._context)
                self._until(self._clock.now)

    # ------------------------------------------------------------------------------------------------------- telling

    def _say(self, thread: Thread, turn: Turn) -> None:
        added = self._owner.add_messages([message(turn)], thread=thread.id)
        if len(added.utterance_ids) != 1:
            raise EmberError(f"{self.unit.conversation.id}: the turn {turn.id} is in no page")
        self._turn_of[added.utterance_ids[0]] = turn.id

    def _until(self, at: datetime) -> None:
        """What falls due until a time is done when it does; the clock goes on to it."""
        system, store, in_vain = self._memory.system, self._memory.store, 0
        while isinstance(system, MemoryOS) and in_vain < _IN_VAIN:
            before = store.owner_state(self._owner.owner.id)
            if before is None or before.due_at is None or before.due_at > max(at, self._clock.now):
                break
            self._clock.tell(before.due_at)
            system.work()
            after = store.owner_state(self._owner.owner.id)
            if after is not None and after.failures:
                raise EmberError(f"{self.unit.conversation.id}: the work on its pages failed: {after.error}")
            if after is not None and after.due_at is not None and after.due_at <= self._clock.now:
                in_vain = in_vain + 1 if after.revision == before.revision else 0
                if self._clock.now + _STILL_DUE > at:
                    break
                self._clock.tell(self._clock.now + _STILL_DUE)
        self._clock.tell(at)

    def _end_session(self) -> None:
        """A system without work of its own learns when a session is over."""
        if not isinstance(self._memory.system, MemoryOS):
            self._left_out += self._settle(lambda done, total: None)

    def _whole(self) -> None:
        """All that was said is understood, as a run that asks at the end has it."""
        with self._learning():
            left_out = self._settle(lambda done, total: None)
        own = isinstance(self._memory.system, MemoryOS)  # it counts what waits now, the others what they left out since
        self._left_out = left_out if own else self._left_out + left_out

    @contextmanager
    def _learning(self) -> Iterator[None]:
        measured: list[Spent] = []
        try:
            with self._trace.measured() as measured:
                yield
        finally:
            self._spent += measured

    # -------------------------------------------------------------------------------------------------------- asking

    def _where(self) -> Stored:
        return Stored(
            turn_of=self._turn_of,
            seq_of=self._seq_of,
            thread_of=self._thread_of,
            at_of=self._at_of,
            latest=self._clock.now,
        )

    def recalled(self, owner: OwnerSystem, question: Question, stored: Stored) -> Context:
        """As of every unit; kept in mind, to be counted."""
        self._context = super().recalled(owner, question, stored)
        return self._context

    def _visit(self, context: Context) -> None:
        """What was packed is counted, and by MemoryOS the facts too, as the HTTP service does."""
        system = self._memory.system
        if isinstance(system, MemoryOS):
            system.visit(self._owner.owner, context.packed, context.facts)
        else:
            self._owner.visit(context.packed)
