"""Whether a model is asked a question in its long form or in its short one: what its last answers have shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from embermem.core.errors import ModelReplyError

_FAILURES = 2
"""Answers in a row to the long form after which the short one is used."""


@dataclass(slots=True)
class Asked:
    """One question: whether it is put in its short form, and whether anything of its answer was believed."""

    short: bool
    believed: bool = True


@dataclass(slots=True)
class Habit:
    """Counts the answers in a row that could not be used, or of which nothing was believed."""

    failures: int = 0

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
