"""The server at a glance, for those who run it: what needs a look first, and the state of each part in a line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.core.types import Background, Breaking, KeyState, Leaving, StoreWork
from embermem.http.inspector.place import OperatorContext, PageRoute, ServerPlace, ago
from embermem.http.inspector.server.models import allowances
from embermem.http.inspector.server.requests import MINUTES
from embermem.http.recent import OfRoute, summed
from embermem.http.serving import serving_of
from embermem.protocols import Stats
from embermem.reports.cost import Allowance

NEARLY = 0.8
"""The share of a day's limit from which its end is told."""
SLOW_S = 1.0
"""So slow is 1 request in 20, and the page says so."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """Something that needs a look: what it is, and the page that tells more. `bad`: something does not work."""

    what: str
    path: str
    bad: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One part of the server: its name, its page, and how it stands."""

    name: str
    path: str
    state: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What the page reads, once."""

    stats: Stats
    work: StoreWork
    background: Background
    leaving: Leaving
    breaker: Breaking | None
    limits: list[Allowance]
    answered: OfRoute
    keys: int
    copies: int
    settings: int


@router.get("/operations")
def shown(here: OperatorContext) -> HTMLResponse:
    """All parts."""
    seen = _seen(here)
    return here.page(
        "operations.html",
        title="Operations",
        looks=sorted(_looks(here, seen), key=lambda one: not one.bad),
        parts=list(_parts(here, seen)),
        stats=seen.stats,
    )


def _seen(here: ServerPlace) -> Seen:
    memory, recent = here.memory, serving_of(here.request).recent
    return Seen(
        stats=memory.stats(),
        work=memory.work_state(limit=1),
        background=memory.background_state(),
        leaving=memory.leaving(limit=1),
        breaker=memory.model_breaker(),
        limits=allowances(memory),
        answered=summed("all", recent.newest(time.time() - MINUTES * 60)),
        keys=sum(key.revoked_at is None for key in memory.keys.all_keys()),
        copies=sum(one.bytes is not None for one in memory.copies()),
        settings=sum(one.changed for one in memory.settings_in_use()),
    )


def _looks(here: ServerPlace, seen: Seen) -> Iterator[Look]:
    """What needs a look, part by part."""
    yield from _of_work(here, seen)
    yield from _of_model(here, seen)
    if seen.leaving.key is KeyState.LOST:
        what = f"The key of forgotten values is not at {seen.leaving.key_place}: bring it back from a copy."
        yield Look(what=what, path="/operations/retention")
    if seen.leaving.scrub_due:
        what = "A scrub is due: bytes of what was forgotten may still be in the store's files."
        yield Look(what=what, path="/operations/retention", bad=False)
    if seen.answered.failed:
        what = f"{_count(seen.answered.failed, 'request')} of the last {MINUTES} minutes failed here (5xx)."
        yield Look(what=what, path="/operations/requests?status=5")
    if seen.answered.p95 > SLOW_S:
        what = f"1 request in 20 of the last {MINUTES} minutes took more than {seen.answered.p95:.1f} s."
        yield Look(what=what, path="/operations/requests?slower=1000", bad=False)


def _of_work(here: ServerPlace, seen: Seen) -> Iterator[Look]:
    work, page = seen.work, "/operations/workers"
    if work.failed_count:
        yield Look(
            what=f"The last work on {_count(work.failed_count, 'owner')} failed: {work.failed[0].error}", path=page
        )
    if seen.background.failed:
        yield Look(what=f"The background thread's last work ended with {seen.background.failed}.", path=page)
    late = timedelta(seconds=60 + here.memory.settings.batch_wait_s)
    first = work.due[0].due_at if work.due else None
    if first is not None and here.memory.now() - first > late and not work.at_work_count:
        what = f"{_count(work.due_count, 'owner')} wait for a worker, and none is at work; the first was due "
        yield Look(what=f"{what}{ago(first, here.memory.now())}.", path=page)
    if seen.stats.webhooks_stopped:
        yield Look(what=f"{_count(seen.stats.webhooks_stopped, 'webhook')} stopped after its last attempt.", path=page)
    if work.waits_count:
        what = f"Pages of {_count(work.waits_count, 'owner')} wait for the model, or were read without it."
        yield Look(what=what, path=page, bad=False)


def _of_model(here: ServerPlace, seen: Seen) -> Iterator[Look]:
    if seen.breaker is not None and seen.breaker.until is not None:
        times = _count(seen.breaker.failures, "time")
        yield Look(what=f"The model failed {times} in a row: this process leaves it alone.", path="/operations/models")
    for one in seen.limits:
        if one.limit and one.used >= NEARLY * one.limit:
            what = f"{one.used:,} of {one.limit:,} {one.what} a day are used."
            yield Look(what=what, path="/operations/models", bad=one.used >= one.limit)


def _parts(here: ServerPlace, seen: Seen) -> Iterator[Part]:
    """Each part in a line."""
    memory, work, leaving = here.memory, seen.work, seen.leaving
    needed = "every request needs one" if serving_of(here.request).require_keys else "none is needed on this machine"
    yield Part(name="Keys", path="/operations/keys", state=f"{_count(seen.keys, 'key')} in force; {needed}")
    yield Part(name="Settings", path="/operations/settings", state=f"{seen.settings} given or of another preset")
    answered = seen.answered
    times = f"; half within {answered.p50 * 1000:.0f} ms, 95 % within {answered.p95 * 1000:.0f} ms"
    told = f"{_count(answered.requests, 'request')} in {MINUTES} minutes{times if answered.requests else ''}"
    yield Part(name="Requests", path="/operations/requests", state=told)
    thread = "runs" if seen.background.running else "has not begun" if seen.background.on else "is off"
    told = f"{work.at_work_count} at work, {work.due_count} due; the background thread of this process {thread}"
    yield Part(name="Workers", path="/operations/workers", state=told)
    used = f"{_count(seen.limits[0].used, 'call')}, {seen.limits[1].used:,} tokens today"
    told = f"{memory.model_name}: {used}" if memory.model_name else f"no model is set; {used}"
    yield Part(name="Models", path="/operations/models", state=told)
    fades = "memories fade" if memory.settings.retention else "nothing fades"
    expired = leaving.expired_pages + leaving.expired_facts
    told = f"{fades}; {expired} expired and waiting; {_count(leaving.forgotten_count, 'forgetting')}"
    yield Part(name="Retention", path="/operations/retention", state=told)
    told = f"{_count(seen.copies, 'known copy', 'known copies')}; the store has {seen.stats.bytes / 2**20:,.1f} MB"
    yield Part(name="Backups", path="/operations/backups", state=told)


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"
