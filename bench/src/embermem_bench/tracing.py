"""The model of a run: asked at temperature 0, every reply recorded, calls and tokens counted by phase."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from embermem import bootstrap
from embermem.core.errors import BudgetSpent, ModelError, ModelReplyError, ModelTooLong, ModelWait
from embermem.protocols import LanguageModel, ModelReply, ModelRequest
from embermem_bench.results import Spent

__all__ = ["Asked", "Trace"]

_NEVER = datetime(9000, 1, 1, tzinfo=UTC)
"""When a run whose calls are used up may ask again by itself."""


class Asked:
    """A LanguageModel that counts what really reaches another, and stops at `most` calls."""

    def __init__(self, model: LanguageModel, most: int | None = None) -> None:
        self._model = model
        self._most = most
        self.calls = self.answered = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def complete(self, request: ModelRequest) -> ModelReply:
        """As the model. Raises BudgetSpent when the calls are used up."""
        self._begin()
        reply = self._model.complete(request)
        self.answered += 1
        return reply

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """As the model. Raises BudgetSpent when the calls are used up."""
        self._begin()
        for piece in self._model.stream(request):
            self.answered += isinstance(piece, ModelReply)
            yield piece

    def _begin(self) -> None:
        if self._most is not None and self.calls >= self._most:
            raise BudgetSpent(
                f"{self._most} calls were made, as many as were allowed", datetime.max.replace(tzinfo=UTC)
            )
        self.calls += 1


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
