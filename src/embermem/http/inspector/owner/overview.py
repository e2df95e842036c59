"""The overview: an owner at a glance; below, the tiers as they flow, what is hot, what waits, and what it cost."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.core.types import OwnerStats, Page, Tier
from embermem.http.inspector.drawing import charts, tiers
from embermem.http.inspector.owner import glance
from embermem.http.inspector.place import PageContext, PageRoute, Place
from embermem.memory import OwnerMemory
from embermem.reports import cost, outdated, waiting

TOPICS = 6
"""Warm topics at a glance."""
BARS = 5
"""Segments whose heat is drawn, the hottest."""
FAILED_SHOWN = 20
"""Failed pages listed with their errors."""
DRAWN = 25
"""Pages of each segment whose arrivals are drawn, the newest."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/overview")
def overview(here: PageContext) -> HTMLResponse:
    """The first page."""
    mine, settings, now = here.mine, here.memory.settings, here.memory.now()
    stats, state = mine.stats(), mine.state()
    people = mine.people()
    hottest = charts.heats(mine.segments(), now, settings)
    top = hottest[:BARS]
    said = {one.segment.id: [page.said_at for page in _newest(mine, one)] for one in top}
    plans = glance.plans(here)
    return here.page(
        "overview.html",
        title="Overview",
        stats=stats,
        state=state,
        model=here.memory.model_name,
        who=glance.who(here, people),
        conflicts=len(mine.conflicts()),
        topics=hottest[:TOPICS],
        plans=plans[: glance.PLANS],
        more_plans=len(plans) > glance.PLANS,
        news=glance.news(mine),
        flows=tiers.flows(stats, hottest, settings),
        slot_high=tiers.SLOT_HIGH,
        heats=top,
        label=charts.label,
        tau=settings.tau,
        lines=charts.heat_lines(top, said, now, settings),
        line_box=f"0 0 {charts.LINE_WIDE} {charts.LINE_HIGH}",
        failed=_failed(here, stats),
        waits=waiting.sentences(stats.waiting, now),
        outdated=outdated.sentence([stats.outdated]),
        spend=_spend(here),
        first_command=here.first_command(mine.owner.user, mine.owner.agent),
    )


def _newest(mine: OwnerMemory, heat: charts.Heat) -> tuple[Page, ...]:
    return mine.pages(segment=heat.segment.id, limit=DRAWN)


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
    found = []
    for name, since in (("today", cost.midnight_of(now)), ("30 days", now - timedelta(days=30))):
        asked = here.memory.call_sums(since, owner=here.mine.owner)
        found.append((name, sum(one.calls for one in asked), sum(one.tokens for one in asked)))
    return found
