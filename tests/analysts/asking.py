"""An asker that answers from a script: as strict as the real one, with one repair round, and without a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from embermem.core.errors import ModelReplyError
from embermem.core.types import Breaking, Owner
from embermem.llms.structured import read_answer
from embermem.protocols import AnswerForm, ChatMessage, Purpose

Reply = Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]]
_Answer = TypeVar("_Answer")


class ScriptedAsker:
    """Gives its replies in turn, the last one for ever; `asked` and `faults` say what was asked and refused."""

    model = "scripted"
    context_tokens: int | None = None
    breaking = Breaking(failures=0, until=None)

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.asked: list[tuple[Purpose, tuple[ChatMessage, ...]]] = []
        self.forms: list[AnswerForm | None] = []
        self.faults: list[str] = []

    def ask(
        self,
        owner: Owner,
        purpose: Purpose,
        messages: Sequence[ChatMessage],
        answer: type[_Answer],
        check: Callable[[_Answer], None] = lambda _: None,
        *,
        accept: Callable[[_Answer], bool] = lambda _: True,
        form: AnswerForm | None = None,
    ) -> _Answer:
        self.asked.append((purpose, tuple(messages)))
        self.forms.append(form)
        for _ in range(2):
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
            given = reply(body(messages)) if callable(reply) else reply
            try:
                read = read_answer(json.dumps(given), answer)
                check(read)
            except ValueError as error:
                self.faults.append(str(error))
            else:
                accept(read)
                return read
        raise ModelReplyError(f"no usable answer: {self.faults[-1]}", raw=str(given))

    def stream(self, owner: Owner, purpose: Purpose, messages: Sequence[ChatMessage]) -> Iterator[str]:
        raise NotImplementedError

    @property
    def sent(self) -> str:
        """What the last question held that differs from question to question."""
        return self.asked[-1][1][-1].text


def body(messages: Sequence[ChatMessage]) -> dict[str, Any]:
    """The messages as a chat request would carry them."""
    return {"messages": [{"role": m.role.value, "content": m.text} for m in messages]}
