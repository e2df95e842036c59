"""The model of a run: asked at temperature 0, every reply recorded, calls and tokens counted by phase."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from embermem import bootstrap
from embermem.core.errors import BudgetSpent, ModelError, ModelReplyError, ModelTooLong, ModelWait
from embermem.protocols import LanguageModel, ModelReply, ModelRequest
from embermem_bench.results import Spent

__all__ = ["Asked", "Price", "Purse", "Trace"]

_NEVER = datetime(9000, 1, 1, tzinfo=UTC)
"""When a run whose calls are used up may ask again by itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What a million tokens cost, of prompts and of what a model writes. By default each token counts as one millionth:
    a budget is then one of a million tokens each."""

    prompt: float = 1.0
    completion: float = 1.0

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


class Purse:
    """What the models of a run may still be asked for: at most so many calls, and at most so much money."""

    def __init__(self, *, calls: int | None = None, money: float | None = None, paid: float = 0.0) -> None:
        """`paid` of the money is spent already."""
        self._calls = calls
        self._money = money
        self._asked = 0
        self._paid = paid

    def ask(self) -> None:
        """Before each call. Raises BudgetSpent when the calls or the money are used up."""
        if self._calls is not None and self._asked >= self._calls:
            self._spent(f"{self._calls} calls were made, as many as were allowed")
        if self._money is not None and self._paid >= self._money:
            self._spent(f"the budget is spent: {self._paid:.2f} of {self._money:.2f}")
        self._asked += 1

    def pay(self, price: float) -> None:
        """After each reply."""
        self._paid += price

    def _spent(self, what: str) -> NoReturn:
        raise BudgetSpent(what, _NEVER)


class Asked:
    """A LanguageModel that counts what really reaches another, and takes it from a purse."""

    def __init__(self, model: LanguageModel, purse: Purse | None = None, price: Price | None = None) -> None:
        self._model = model
        self._purse = purse or Purse()
        self._price = price or Price()
        self.answered = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def complete(self, request: ModelRequest) -> ModelReply:
        """As the model. Raises BudgetSpent when the calls are used up."""
        self._purse.ask()
        reply = self._model.complete(request)
        self._count(reply)
        return reply

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """As the model. Raises BudgetSpent when the calls are used up."""
        self._purse.ask()
        for piece in self._model.stream(request):
            if isinstance(piece, ModelReply):
                self._count(piece)
            yield piece

    def _count(self, reply: ModelReply) -> None:
        self.answered += 1
        self._purse.pay(self._price.of(reply.prompt_tokens, reply.completion_tokens))


class Trace:
    """The model that systems, answers and judges of one seed share, and what each phase of them spends.

    It is a LanguageModel, for one thread. Without a model (`asked` and `file` None) it measures time alone.
    """

    def __init__(self, asked: Asked | None, file: Path | None, *, name: str | None = None) -> None:
        """`asked` None with a `file`: only what that holds is answered, for the model `name`. Raises ConfigError,
        ModelMissing; see bootstrap.recorded."""
        self._asked = asked
        self._inner = None if file is None else bootstrap.recorded(asked, file, name=name)
        self._calls = self._prompt_tokens = self._completion_tokens = 0
        self._lost: list[tuple[ModelRequest, ModelError | ModelWait]] = []

    @property
    def model(self) -> LanguageModel | None:
        """Itself, if there is a model."""
        return None if self._inner is None else self

    @property
    def name(self) -> str:
        """The model's name; "" without one."""
        return "" if self._inner is None else self._inner.name

    def complete(self, request: ModelRequest) -> ModelReply:
        """The reply at temperature 0, recorded or new. Raises as LanguageModel, and ModelMissing where nobody may be
        asked."""
        request = replace(request, temperature=0.0)
        with self._noting(request):
            reply = self._recorded.complete(request)
        self._count(reply)
        return reply

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """The same, piece by piece."""
        request = replace(request, temperature=0.0)
        with self._noting(request):
            for piece in self._recorded.stream(request):
                if isinstance(piece, ModelReply):
                    self._count(piece)
                yield piece

    @contextmanager
    def measured(self) -> Iterator[list[Spent]]:
        """What the body spends, as the one element of the list when it is over, well or not. Raises as `check`."""
        before, live = (self._calls, self._prompt_tokens, self._completion_tokens), self._answered
        self._lost.clear()
        found: list[Spent] = []
        began = time.perf_counter()
        try:
            yield found
        finally:
            ms = round(1000 * (time.perf_counter() - began), 3)
            calls = self._calls - before[0]
            spent = Spent(
                calls=calls,
                prompt_tokens=self._prompt_tokens - before[1],
                completion_tokens=self._completion_tokens - before[2],
                ms=ms if self._answered - live == calls else None,
            )
            found.append(spent)
        self.check()

    def check(self) -> None:
        """Raises the error of a request that was left unanswered in this phase: a system may put up with a model that
        cannot be reached, and learn without; a bench may not."""
        if self._lost:
            raise self._lost[0][1]

    @property
    def _answered(self) -> int:
        return 0 if self._asked is None else self._asked.answered

    @property
    def _recorded(self) -> LanguageModel:
        if self._inner is None:
            raise AssertionError("asked without a model")
        return self._inner

    @contextmanager
    def _noting(self, request: ModelRequest) -> Iterator[None]:
        """Keeps in mind that a request failed, until the same one is answered. An empty reply is one, and a prompt that
        is too long has its answer."""
        try:
            yield
        except (ModelReplyError, ModelTooLong):
            raise
        except (ModelError, ModelWait) as error:
            self._lost.append((request, error))
            raise
        self._lost = [(other, error) for other, error in self._lost if other != request]

    def _count(self, reply: ModelReply) -> None:
        self._calls += 1
        self._prompt_tokens += reply.prompt_tokens
        self._completion_tokens += reply.completion_tokens
