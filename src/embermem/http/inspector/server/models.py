"""The calls of a language model: how many, of what use, what of the day's limits is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.core.types import CallSum
from embermem.http.inspector.place import OperatorContext, PageRoute
from embermem.memory import Memory
from embermem.reports.cost import STARTED, Allowance, midnight_of

PERIODS = {1: "today", 7: "7 days", 30: "30 days", 365: "a year"}
DEFAULT = 7
OWNERS = 20
DAYS = 31
"""Days listed at most."""
OUTCOMES = {
    "ok": "answered",
    STARTED: "under way, or ended with its process",
    "unusable": "answered, and the answer could not be used",
    "gave way": "ended to make room for a chat",
    "timeout": "no answer in time",
    "unreachable": "the server could not be reached",
    "busy": "the server was busy",
    "refused": "the server refused it",
    "too long": "the prompt did not fit the model's context",
    "bad reply": "the answer was none of a model",
    "missing": "there is no such model",
    "failed": "failed in another way",
}
"""What became of a call, in words."""
PURPOSES = {
    "annotate": "read what was said",
    "profile": "learn of the person",
    "chat": "reply in chat",
}

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """Calls under a name. `failed` are those whose answer was of no use; `mean_ms` is of those that ended."""

    name: str
    calls: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    mean_ms: float | None
    slowest_ms: int

    @property
    def tokens(self) -> int:
        """Those of prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens


@router.get("/operations/models")
def shown(here: OperatorContext, days: int = DEFAULT) -> HTMLResponse:
    """The calls of a period: by day, purpose, outcome, model and owner."""
    memory, days = here.memory, days if days in PERIODS else DEFAULT
    since = midnight_of(memory.now()) - timedelta(days=days - 1)
    cells = memory.call_sums(since, by=("day", "purpose", "model", "outcome"))
    by_day = lines(cells, lambda one: str(one.day))
    by_day.reverse()
    return here.page(
        "operations_models.html",
        title="Models",
        model=memory.model_name,
        breaker=memory.model_breaker(),
        failures=memory.settings.model_breaker_failures,
        days=days,
        periods=PERIODS,
        limits=allowances(memory),
        total=next(iter(lines(cells, lambda one: "all")), None),
        by_day=by_day[:DAYS],
        most=max((one.tokens for one in by_day), default=0) or 1,
        by_purpose=lines(cells, lambda one: PURPOSES.get(one.purpose or "", one.purpose or "")),
        by_outcome=lines(cells, lambda one: _in_words(one.outcome or "")),
        by_model=lines(cells, lambda one: one.model or ""),
    )


@router.get("/operations/models/owners")
def owners(here: OperatorContext, days: int = DEFAULT) -> HTMLResponse:
    """Whose calls they were: a part that is asked for by itself, since it takes as long as all others together."""
    memory, days = here.memory, days if days in PERIODS else DEFAULT
    since = midnight_of(memory.now()) - timedelta(days=days - 1)
    template = "operations_models_owners.html" if here.partial else "operations_models_whose.html"
    return here.page(template, title="Models", by_owner=memory.call_sums(since, by=("owner",), most=OWNERS))


def lines(cells: Iterable[CallSum], name: Callable[[CallSum], str]) -> list[Line]:
    """Sums put together under their names, in the names' order."""
    named: dict[str, list[CallSum]] = {}
    for one in cells:
        named.setdefault(name(one), []).append(one)
    return [_line(key, named[key]) for key in sorted(named)]


def allowances(memory: Memory) -> list[Allowance]:
    """The day's limits over all owners, against today's calls."""
    today = next(iter(memory.call_sums(midnight_of(memory.now()))), None)
    settings = memory.settings
    return [
        Allowance(what="calls", used=today.calls if today else 0, limit=settings.calls_per_day),
        Allowance(what="tokens", used=today.tokens if today else 0, limit=settings.tokens_per_day),
    ]


def _in_words(outcome: str) -> str:
    status = outcome.removeprefix("HTTP ")
    return OUTCOMES.get(outcome, outcome if status == outcome else f"the server failed (HTTP {status})")


def _line(name: str, cells: list[CallSum]) -> Line:
    ended = [one for one in cells if one.outcome != STARTED]
    count = sum(one.calls for one in ended)
    return Line(
        name=name,
        calls=sum(one.calls for one in cells),
        failed=sum(one.calls for one in ended if one.outcome not in ("ok", "gave way")),
        prompt_tokens=sum(one.prompt_tokens for one in cells),
        completion_tokens=sum(one.completion_tokens for one in cells),
        cached_tokens=sum(one.cached_tokens for one in cells),
        mean_ms=sum(one.ms for one in ended) / count if count else None,
        slowest_ms=max((one.slowest_ms for one in cells), default=0),
    )
