"""Whether a model is asked a question in its long form or in its short one: what its last answers have shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from embermem.core.errors import ModelReplyError

_FAILURES = 2
"""Answers in a row to the long form after which the short one is used."""
_LEAST_PAGES, _LAST_PAGES = 8, 16
"""Pages by which a model is judged: no fewer than so many, and the last so many."""


@dataclass(slots=True)
class Asked:
    """One question: whether it is put in its short form, and whether anything of its answer was believed."""

    short: bool
    believed: bool = True


@dataclass(slots=True)
class Habit:
    """Counts the answers in a row that could not be used, or of which nothing was believed."""

    failures: int = 0
    shares: deque[float] = field(default_factory=lambda: deque(maxlen=_LAST_PAGES))

    def believes(self, shares: Sequence[float]) -> bool:
        """Whether an answer is believed, of which such shares of its pages' notes were borne out: half of it, or half
        of the last answers."""
        self.shares.extend(shares)
        return self.trusted or 2 * sum(shares) >= len(shares)

    @property
    def trusted(self) -> bool:
        """Whether half of what it said of the last pages was borne out, or too few are known."""
        return len(self.shares) < _LEAST_PAGES or 2 * sum(self.shares) >= len(self.shares)

    @property
    def short(self) -> bool:
        """Whether the short form is used."""
        return self.failures >= _FAILURES

    @contextmanager
    def asked(self, *, short: bool = False) -> Iterator[Asked]:
        """A question, whose failure is counted; `short`: it is put in its short form in any case."""
        asked = Asked(short=short or self.short)
        try:
            yield asked
        except ModelReplyError:
            self.failures += 1
            raise
        if not asked.believed:
            self.failures += 1
        elif not asked.short:
            self.failures = 0
