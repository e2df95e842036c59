"""The requests that this server answered last: which are slow, which failed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse

from embermem.http.inspector.place import OperatorContext, PageRoute, ServerPlace, there
from embermem.http.middleware import LIVE_REQUESTS, QUIET
from embermem.http.recent import Answered, by_route, summed
from embermem.http.serving import serving_of

MINUTES = 10
"""Minutes over which requests are summed up."""
SHOWN = 100
UNLISTED = QUIET | {"/assets/{mark}/{name}"}
"""Routes of no interest among others: listed where they are chosen."""
CLASSES = {"": "any", "2": "2xx", "3": "3xx", "4": "4xx", "5": "5xx"}

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True)
class Filter:
    """Which requests are listed: of a route with its method, of a class of statuses, slower than so many milliseconds;
    `paused`: as they stand."""

    route: str = ""
    status: str = ""
    slower: str = ""
    paused: str = ""

    @property
    def slower_ms(self) -> float:
        """The least milliseconds; what is no number is none."""
        try:
            return max(0.0, float(self.slower))
        except ValueError:
            return 0.0

    def takes(self, one: Answered) -> bool:
        """Whether a request is listed. What machines and pages ask by themselves is, where its route is chosen."""
        asked = f"{one.method} {one.route}"
        of_route = asked == self.route if self.route else one.route not in UNLISTED
        slow = not self.slower_ms or (one.seconds * 1000 >= self.slower_ms and not one.stream)
        return of_route and str(one.status).startswith(self.status) and slow


Filtered = Annotated[Filter, Depends(Filter)]


@router.get("/operations/requests")
def shown(here: OperatorContext, chosen: Filtered) -> HTMLResponse:
    """The page, which renews the part below every two seconds."""
    return here.page("operations_requests.html", title="Requests", **_values(here, chosen))


@router.get(LIVE_REQUESTS)
def live(here: OperatorContext, chosen: Filtered) -> HTMLResponse:
    """The part of it that moves."""
    return here.page("operations_requests_part.html", **_values(here, chosen))


def _values(here: ServerPlace, chosen: Filter) -> dict[str, object]:
    recent = serving_of(here.request).recent
    every = recent.newest()
    begun = time.time() - MINUTES * 60
    lately = [one for one in every if one.at >= begun]
    listed = [one for one in every if chosen.takes(one)]
    return {
        "chosen": chosen,
        "classes": CLASSES,
        "routes": sorted({f"{one.method} {one.route}" for one in every} | ({chosen.route} - {""})),
        "sums": by_route(lately),
        "all": summed("all", lately),
        "minutes": MINUTES,
        "listed": [(one, datetime.fromtimestamp(one.at, UTC)) for one in listed[:SHOWN]],
        "found": len(listed),
        "known": len(every),
        "keys": {key.id: key.name for key in here.memory.keys.all_keys()} if any(o.key_id for o in listed) else {},
        "at_second": lambda moment: f"{there(moment, here.zone):%H:%M:%S}",
        "live_address": here.link(LIVE_REQUESTS, route=chosen.route, status=chosen.status, slower=chosen.slower),
    }
