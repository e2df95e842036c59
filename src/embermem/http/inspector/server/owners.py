"""The start page: all owners that the request may reach, how they are, and their list; and its part in the header."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from embermem.core import messages
from embermem.core.errors import EmberError
from embermem.http.access import Access, Right
from embermem.http.inspector.drawing import days
from embermem.http.inspector.place import PageRoute, ServerContext, ServerPlace
from embermem.http.serving import kept
from embermem.protocols import Census, Grant, OwnerEntry, OwnerOrder
from embermem.reports import waiting

if TYPE_CHECKING:
    from embermem.memory import Memory

A_PART = 50
"""Owners on one page."""
PICKED = 20
"""Owners in the header's list."""
DAYS = 30
"""Days of the chart."""
REASONS = 6
"""Reasons for which something waits that are told."""
_LATE = timedelta(minutes=5)
"""Work that was due so long ago, and that nobody did, is told as a trouble."""
_STAYS_S = 60.0
"""So long a census counts: it reads what was recorded in a month."""
_CENSUSES = 64
"""Censuses kept, of as many sets of grants."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """How owners and server were a moment ago. `embedder` is what was wrong with it, if anything was."""

    census: Census
    embedder: str | None
    at: datetime


class Censuses:
    """What was counted last, for a minute, by the grants that bound it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Grant, ...] | None, Health] = OrderedDict()

    def of(self, access: Access, memory: Memory) -> Health:
        """The counts of what a request may reach."""
        now, among = memory.now(), access.among
        with self._lock:
            known = self._kept.get(among)
        if known is not None and abs((now - known.at).total_seconds()) < _STAYS_S:
            return known
        made = Health(census=memory.census(DAYS + 1, among=among), embedder=_embedder(memory), at=now)
        with self._lock:
            self._kept[among] = made
            self._kept.move_to_end(among)
            while len(self._kept) > _CENSUSES:
                self._kept.popitem(last=False)
        return made


@router.get("/")
def start(
    here: ServerContext,
    request: Request,
    user: str = "",
    agent: str = "",
    q: str = "",
    order: str = OwnerOrder.RECENT.value,
    after: str = "",
) -> Response:
    """All owners. The address of an owner, as it was once, leads to that owner's overview."""
    if user:
        return RedirectResponse(here.link("/overview", user=user, agent=agent), status_code=303)
    found, following = _part(here, q, order, after)
    health = None if here.partial else kept(request.app, "inspector_censuses", Censuses).of(here.access, here.memory)
    return here.page(
        "owners_found.html" if here.partial else "owners.html",
        title="Owners",
        found=found,
        q=q,
        order=order,
        orders=list(OwnerOrder),
        after=after,
        following=following,
        named=_named(q),
        **({} if health is None else _told(here, health)),
    )


@router.get("/owners")
def listed(here: ServerContext, q: str = "", user: str = "", agent: str = "") -> HTMLResponse:
    """The part that opens in the header: the owners of a text, those of now first; `user` is the one that is shown."""
    found = here.access.find_owners(q, limit=PICKED + 1)
    return here.page(
        "owners_part.html",
        found=found[:PICKED],
        more=len(found) > PICKED,
        q=q,
        current=(user, agent or "default"),
        named=_named(q),
    )


def _part(here: ServerPlace, q: str, order: str, after: str) -> tuple[tuple[OwnerEntry, ...], str | None]:
    """Owners, and where the following ones begin. An order that is not known is refused."""
    found = here.access.find_owners(q, order=order, limit=A_PART + 1, after=after or None)
    return found[:A_PART], found[A_PART - 1].position if len(found) > A_PART else None


def _told(here: ServerPlace, health: Health) -> dict[str, object]:
    """What stands above the list."""
    census, memory, zone = health.census, here.memory, here.zone
    now = memory.now()
    bars = days.bars(census.by_day(zone), now.astimezone(zone).date(), DAYS)
    began = now - timedelta(days=DAYS)
    sentences = waiting.sentences(census.waiting, now)
    return {
        "census": census,
        "embedder": health.embedder,
        "bars": bars,
        "recorded": sum(one.count for one in bars),
        "fullest": max(bars, key=lambda one: one.count),
        "wide": days.WIDE,
        "high": days.HIGH,
        "began": began,
        "waits": sentences[:REASONS],
        "more_waits": max(0, len(sentences) - REASONS),
        "working": memory.background_state().running,
        "background": memory.settings.background,
        "read_only": memory.read_only,
        "model": memory.model_name,
        "late": census.due_since is not None and now - census.due_since > _LATE,
        "beginnings": [] if census.owners else _beginnings(here),
    }


def _beginnings(here: ServerPlace) -> list[tuple[str, str, str | None]]:
    """Of whom there may be a memory: user, agent, and the command that begins it; None where the key may not."""
    key = here.access.key
    named = [("alice", "default")]
    if here.access.among is not None and key is not None:
        named = [(one.user, one.agent or "default") for one in key.of_users if one.user is not None]
        named = named or [("alice", one.agent) for one in key.of_users if one.agent is not None]
    return [(user, agent, _command(here, user, agent)) for user, agent in named[:PICKED]]


def _command(here: ServerPlace, user: str, agent: str) -> str | None:
    may = here.access.may(messages.owner(user, agent), Right.WRITE)
    return here.first_command(user, agent) if may else None


def _named(q: str) -> tuple[str, str] | None:
    """The user and agent that a text names, as `user` or `user/agent`; the last slash parts them."""
    before, slash, after = (one.strip() for one in q.rpartition("/"))
    user, agent = (before, after) if slash else (after, "")
    return (user, agent or "default") if user else None


def _embedder(memory: Memory) -> str | None:
    """What is wrong with the embedder, as /ready looks at it."""
    try:
        memory.embed(["ready"])
    except EmberError as error:
        return str(error)
    return None
