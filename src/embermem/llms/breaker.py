"""The breaker: a server that failed several times in a row is left alone for a while.

Closed: every request may go. After `failures` in a row it is open: none may. When it has rested, one request may go to
see how it is; whether that one comes back decides. If nothing is heard of it, the next may go after another rest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from embermem.core.errors import ModelResting
from embermem.core.types import Breaking

__all__ = ["Breaker", "Permit"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Permit:
    """Leave to make one request. `trial` is when the rest would end that this request is to end sooner; None: the
    breaker was closed."""

    trial: datetime | None


class Breaker:
    """Counts failures in a row. Safe to use from several threads; each process has its own."""

    def __init__(self, *, failures: int, rest_s: float, clock: Callable[[], datetime]) -> None:
        """`failures` in a row open it, for `rest_s` seconds of `clock`."""
        self._limit = failures
        self._rest = timedelta(seconds=rest_s)
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._until: datetime | None = None

    def ask(self) -> Permit:
        """Leave to make one request, to be answered by `succeeded`, `failed` or `give_back`. Raises ModelResting."""
        with self._lock:
            if self._until is None:
                return Permit(trial=None)
            now = self._clock()
            # A clock that was set back must not make the rest longer.
            if self._until - self._rest <= now < self._until:
                raise ModelResting(
                    f"the model failed {self._failed} times in a row; requests pause until {self._until:%H:%M:%S %Z}",
                    self._until,
                )
            self._until = now + self._rest
            return Permit(trial=self._until)

    @property
    def state(self) -> Breaking:
        """How it stands. A rest that has ended leaves it open until a request came back."""
        with self._lock:
            return Breaking(failures=self._failed, until=self._until)

    def succeeded(self) -> None:
        """The server answered, be it with a refusal: closed."""
        with self._lock:
            self._failed, self._until = 0, None

    def failed(self) -> None:
        """The request failed on the way."""
        with self._lock:
            self._failed += 1
            if self._failed >= self._limit:
                self._until = self._clock() + self._rest

    def give_back(self, permit: Permit) -> None:
        """The request was not made, or says nothing of the server: if it was the trial, another may be it."""
        with self._lock:
            if permit.trial is not None and self._until == permit.trial:
                self._until = self._clock()
