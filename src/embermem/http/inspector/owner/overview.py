"""The overview: the tiers as they flow, what is hot, what waits, what it cost, what changed last."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.core.types import OwnerStats, Page, Tier
from embermem.http.inspector import reading
from embermem.http.inspector.drawing import charts, tiers
from embermem.http.inspector.owner.audit import change_lines
from embermem.http.inspector.place import PageContext, PageRoute, Place
from embermem.protocols import Call
from embermem.reports import cost, waiting

RECENT = 8
"""Changes on the overview, the newest."""
BARS = 8
"""Segments on the overview, the hottest."""
FAILED_SHOWN = 20
"""Failed pages listed with their errors."""
DRAWN = 100
"""Pages of each segment whose arrivals are drawn, the newest."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/overview")
def overview(here: PageContext) -> HTMLResponse:
    """The first page."""
    mine, settings, now = here.mine, here.memory.settings, here.memory.now()
    stats, state = mine.stats(), mine.state()
    hottest = charts.heats(mine.segments(), now, settings)
    top = hottest[: charts.HOTTEST]
    held = reading.by_id(mine.page(one) for heat in top for one in heat.segment.page_ids[-DRAWN:])
    return here.page(
        "overview.html",
        title="Overview",
        stats=stats,
        state=state,
        model=settings.model,
        flows=tiers.flows(stats, hottest, settings),
        slot_high=tiers.SLOT_HIGH,
        heats=hottest[:BARS],
        more_segments=max(0, len(hottest) - BARS),
        label=charts.label,
        tau=settings.tau,
        lines=charts.heat_lines(top, held, now, settings),
        failed=_failed(here, stats),
        waits=waiting.sentences(stats.waiting, now),
        spend=_spend(here),
        first_command=here.first_command(mine.owner.user, mine.owner.agent),
        recent=change_lines(mine, mine.changes(max(0, stats.changes - RECENT)))[::-1],
    )


def _failed(here: Place, stats: OwnerStats) -> list[Page]:
    if not stats.failed:
        return []
    found = [page for page in here.mine.pages(Tier.PENDING) if page.error]
    if len(found) < stats.failed:  # pages of a segment, whose second reading failed
        found += [page for page in here.mine.pages(Tier.MID) if page.error]
    return found[:FAILED_SHOWN]


def _spend(here: Place) -> list[tuple[str, int, int]]:
    """Calls and tokens of this owner: today (UTC), and the last 30 days."""
    now = here.memory.now()
    midnight = cost.midnight_of(now)
    calls = [one for one in here.memory.calls(now - timedelta(days=30)) if one.owner_id == here.mine.owner.id]
    today = [one for one in calls if one.at >= midnight]
    return [(name, len(some), _tokens(some)) for name, some in (("today", today), ("30 days", calls))]


def _tokens(calls: list[Call]) -> int:
    return sum(one.prompt_tokens + one.completion_tokens for one in calls)
