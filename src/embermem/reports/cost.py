"""`embermem cost`: what a language model was asked, what it cost, and what today's limits leave. Days are UTC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from embermem.core.config import Settings
from embermem.core.types import OwnerId
from embermem.protocols import Call
from embermem.reports import render

if TYPE_CHECKING:
    from embermem.memory import Memory

STARTED = "started"
"""The outcome of a call that has not ended: its tokens are an estimate, its time is not known."""
_USED = frozenset({STARTED, "ok"})
"""Outcomes of calls whose answer was used, or may still be."""


class By(StrEnum):
    """How the ledger is summed up."""

    DAY = "day"
    PURPOSE = "purpose"
    OWNER = "owner"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """Calls of one day, purpose or owner. `unused_tokens` are those of calls that gave no usable answer; `outcomes`
    counts them by kind. `mean_ms` is of those that ended, None if none has."""

    name: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    unused_tokens: int
    mean_ms: float | None
    outcomes: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowance:
    """One limit of a day: what was used of it today, and what is left. None: there is no limit."""

    what: str
    used: int
    limit: int | None

    @property
    def left(self) -> int | None:
        """What may still be used today."""
        return None if self.limit is None else max(0, self.limit - self.used)


def show(memory: Memory, owner_id: OwnerId, since: datetime, by: By, now: datetime, as_json: bool) -> None:
    """The ledger from a time on, as tables or as JSON."""
    midnight = midnight_of(now)
    calls = memory.calls(min(since, midnight))
    asked = [call for call in calls if call.at >= since]
    rows = spent(asked, _naming(by, memory))
    total = spent(asked, lambda _: "all")
    left = allowances([call for call in calls if call.at >= midnight], memory.settings, owner_id)
    if as_json:
        allowed = [{"what": one.what, "used": one.used, "limit": one.limit, "left": one.left} for one in left]
        render.print_json(
            {"model": memory.settings.model, "since": since, "by": by, "rows": rows, "total": total, "today": allowed}
        )
        return
    columns = (by.value, "calls", "prompt", "answer", "cached", "unused", "mean ms", "outcomes")
    render.table(f"model calls since {since:%Y-%m-%d} UTC", columns, map(_row, [*rows, *total]))
    render.table(
        "today",
        ("limit", "used", "of", "left"),
        [(one.what, one.used, *(("no limit", "") if one.limit is None else (one.limit, one.left))) for one in left],
    )


def spent(calls: Iterable[Call], name: Callable[[Call], str]) -> list[Spent]:
    """Calls summed up under their names, in the names' order."""
    named: dict[str, list[Call]] = {}
    for call in calls:
        named.setdefault(name(call), []).append(call)
    return [_summed(key, named[key]) for key in sorted(named)]


def allowances(today: Sequence[Call], settings: Settings, owner_id: OwnerId) -> list[Allowance]:
    """The limits of all and of one owner, against the calls of today."""
    own = [call for call in today if call.owner_id == owner_id]
    return [
        Allowance(what="calls", used=len(today), limit=settings.calls_per_day),
        Allowance(what="tokens", used=_tokens(today), limit=settings.tokens_per_day),
        Allowance(what="calls of this user", used=len(own), limit=settings.owner_calls_per_day),
        Allowance(what="tokens of this user", used=_tokens(own), limit=settings.owner_tokens_per_day),
    ]


def midnight_of(now: datetime) -> datetime:
    """When the day of a moment began, in UTC: from then on its limits count."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _naming(by: By, memory: Memory) -> Callable[[Call], str]:
    if by is By.PURPOSE:
        return lambda call: call.purpose.value
    if by is By.OWNER:
        names = {owner.id: f"{owner.user} / {owner.agent}" for owner in memory.owners()}
        return lambda call: names.get(call.owner_id, call.owner_id)
    return lambda call: f"{call.at.astimezone(UTC):%Y-%m-%d}"


def _summed(name: str, calls: Sequence[Call]) -> Spent:
    ended = [call.ms for call in calls if call.outcome != STARTED]
    return Spent(
        name=name,
        calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        unused_tokens=_tokens(call for call in calls if call.outcome not in _USED),
        mean_ms=round(sum(ended) / len(ended), 1) if ended else None,
        outcomes=dict(sorted(Counter(call.outcome for call in calls).items())),
    )


def _tokens(calls: Iterable[Call]) -> int:
    return sum(call.prompt_tokens + call.completion_tokens for call in calls)


def _row(one: Spent) -> tuple[object, ...]:
    outcomes = ", ".join(f"{name} {count}" for name, count in one.outcomes.items())
    mean = "" if one.mean_ms is None else f"{one.mean_ms:.0f}"
    return (
        render.cut(one.name, 60),
        one.calls,
        one.prompt_tokens,
        one.completion_tokens,
        one.cached_tokens,
        one.unused_tokens,
        mean,
        outcomes,
    )
