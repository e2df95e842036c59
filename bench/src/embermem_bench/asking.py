"""What the bench asks a model: to answer from a context, and to judge an answer. One function a question.

The prompts hold no word of any data set, and the model is told neither the category of a question nor the system that
recalled. What the data and the answers say stands between marks, as data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, Literal, assert_never

from embermem import prompts
from embermem.core.types import Owner, OwnerId, Role
from embermem.prompts.data import enclosed, one_line
from embermem.protocols import Asker, Call, ChatMessage, Limits, Purpose
from embermem_bench.datasets import Conversation, Question
from embermem_bench.plan import Replies
from embermem_bench.results import Verdict
from embermem_bench.scoring import REFUSAL

PROMPTS: Final = "embermem_bench.prompts"
"""The package of the prompts."""
ANSWER_CHARS: Final = 4_000
"""Of an answer so much is kept and judged; a short one was asked for."""
LINE_CHARS: Final = 2_000
"""Of a question, a gold answer, and an utterance of a history that a judge is shown."""
NOTHING: Final = "(nothing)"
"""Stands for a memory that recalled nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """The answer of the judges `strict` and `lenient`. The reason comes first: small models then judge better."""

    schema_name: ClassVar[str] = "Judgement"
    reason: str
    verdict: Literal["correct", "wrong"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CompanionJudgement:
    """The answer of the judge `gvd`."""

    schema_name: ClassVar[str] = "CompanionJudgement"
    reason: str
    accuracy: Literal["no", "yes"]
    correctness: Literal["none", "part", "full"]
    coherence: Literal["none", "part", "full"]


SCORES: Final = {
    "strict": ("correct",),
    "lenient": ("correct",),
    "gvd": ("accuracy", "correctness", "coherence"),
}
"""What each judge gives."""
SHARES: Final = {"no": 0.0, "yes": 1.0, "none": 0.0, "part": 0.5, "full": 1.0}
"""What the words of the judge `gvd` count: 0/1, and 0/0.5/1, as in the MemoryOS paper §4.1."""


def answer(
    asker: Asker, owner: Owner, replies: Replies, memory: str, question: Question, asked_at: datetime | None, seed: int
) -> str:
    """An answer from the text of a context alone. `seed` draws the order of two choices. Raises ModelError,
    ModelWait."""
    match replies:
        case "choice" if is_choice(question):
            choices = "".join(f"answer {n}: {one_line(text, LINE_CHARS)}\n" for n, text in _choices(question, seed))
            messages = _messages("answer_choice", _from_memory(memory, question, asked_at, choices))
        case "short" | "choice":
            messages = _messages("answer", _from_memory(memory, question, asked_at, ""))
        case "chat":
            messages = chat_messages(enclosed(memory or NOTHING), question.text, asked_at)
        case _:
            assert_never(replies)
    return "".join(asker.stream(owner, Purpose.CHAT, messages)).strip()[:ANSWER_CHARS]


def is_choice(question: Question) -> bool:
    """Whether `choice` asks it by two answers: the conversation does not say it, and the data lure to a wrong one."""
    return not question.answerable and question.trap is not None


def chat_messages(memory: str, query: str, now: datetime | None) -> list[ChatMessage]:
    """The prompt of `OwnerMemory.chat`, with no earlier turns beside the memory."""
    first = prompts.load("chat").fill(system=prompts.load("chat_system").fill(), agent="-", style="-")
    day = "-" if now is None else now.strftime("%Y-%m-%d (%a) %H:%M")
    asking = prompts.load("chat_asked").fill(now=day, memory=memory, query=query)
    return [ChatMessage(role=Role.SYSTEM, text=first), ChatMessage(role=Role.USER, text=asking)]


def judge(asker: Asker, owner: Owner, name: str, question: str, gold: str, given: str) -> Verdict:
    """What the judge `strict` or `lenient` says of an answer that has a gold one. Raises ModelError, ModelWait."""
    lines = {"question": (question, LINE_CHARS), "right answer": (gold, LINE_CHARS), "answer": (given, ANSWER_CHARS)}
    shown = enclosed("\n".join(f"{what}: {one_line(text, most)}" for what, (text, most) in lines.items()))
    made = asker.ask(owner, Purpose.JUDGE, _messages(f"judge_{name}", shown), Judgement)
    return Verdict(judge=name, scores={"correct": float(made.verdict == "correct")}, reason=_short(made.reason))


def judge_companion(asker: Asker, owner: Owner, history: str, memory: str, question: str, given: str) -> Verdict:
    """What the judge `gvd` says of an answer that has no gold one, by all that was said: whether `memory`, what was
    recalled for the question, holds what it is about, and what the answer made of it. Raises as `judge`."""
    asked = f"question: {one_line(question, LINE_CHARS)}\nanswer: {one_line(given, ANSWER_CHARS)}"
    shown = f"{enclosed(history)}\n\n{enclosed(memory or NOTHING)}\n\n{enclosed(asked)}"
    made = asker.ask(owner, Purpose.JUDGE, _messages("judge_gvd", shown), CompanionJudgement)
    words = {"accuracy": made.accuracy, "correctness": made.correctness, "coherence": made.coherence}
    return Verdict(judge="gvd", scores={name: SHARES[word] for name, word in words.items()}, reason=_short(made.reason))


def history_of(conversation: Conversation) -> str:
    """All that was said, a line an utterance with its day, as the judge `gvd` is shown it."""
    return "\n".join(
        f"{turn.at:%Y-%m-%d} {one_line(turn.speaker, 60)}: {one_line(turn.text, LINE_CHARS)}"
        for _, turn in conversation.turns()
    )


class NoLedger:
    """Keeps no calls and knows no limits: the run's recording holds every call."""

    def begin_call(self, owner: Owner, call: Call, limits: Limits) -> None:
        """Nothing."""

    def end_call(self, call: Call) -> None:
        """Nothing."""

    def calls(self, since: datetime, owner_id: OwnerId | None = None) -> tuple[Call, ...]:
        """None."""
        return ()


def _from_memory(memory: str, question: Question, asked_at: datetime | None, more: str) -> str:
    day = "" if asked_at is None else f"asked on: {asked_at:%Y-%m-%d}\n"
    asked = f"{day}question: {one_line(question.text, LINE_CHARS)}\n{more}".rstrip("\n")
    return f"{enclosed(memory or NOTHING)}\n\n{enclosed(asked)}"


def _choices(question: Question, seed: int) -> Iterable[tuple[int, str]]:
    """The wrong answer and the right one, numbered, in an order that the seed draws."""
    both = [question.trap or "", REFUSAL]
    drawn = hashlib.sha256(f"{seed}\x00{question.id}".encode("utf-8", "surrogatepass")).digest()
    return enumerate(both if drawn[0] % 2 else both[::-1], 1)


def _messages(prompt: str, shown: str) -> list[ChatMessage]:
    return [
        ChatMessage(role=Role.SYSTEM, text=prompts.load(prompt, PROMPTS).text),
        ChatMessage(role=Role.USER, text=shown),
    ]


def _short(reason: str) -> str:
    return one_line(reason, 300)
