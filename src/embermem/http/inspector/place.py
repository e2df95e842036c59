"""Where a request stands: whose memory it looks at, and how its pages are made."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from fastapi import Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined

from embermem.core.errors import EmberError
from embermem.http.access import Access, Accessible, Right, access, is_stranger
from embermem.http.inspector import words
from embermem.http.inspector.assets import address
from embermem.http.problems import Problem, Unauthorized, problem_of
from embermem.http.serving import serving_of

if TYPE_CHECKING:
    from embermem.memory import Memory, OwnerMemory

SECTIONS = (
    ("/", "Overview"),
    ("/pages", "Pages"),
    ("/segments", "Segments"),
    ("/persona", "Persona"),
    ("/map", "Map"),
    ("/recall", "Recall lab"),
    ("/changes", "Changes"),
    ("/import", "Import"),
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """One request for one owner's memory. `may_write` says whether the page offers to change anything."""

    request: Request
    access: Access
    memory: Memory
    mine: OwnerMemory
    may_write: bool

    def link(self, path: str, **query: object) -> str:
        """An address of the inspector that keeps the owner. What is None or empty is left out."""
        told = {key: str(value) for key, value in query.items() if value not in (None, "")}
        owner = self.mine.owner
        return f"{quote(path)}?{urlencode({'user': owner.user, 'agent': owner.agent, **told})}"

    def page(self, template: str, **values: Any) -> HTMLResponse:
        """A page, or the part of one that the template makes."""
        zone = self.zone
        now = self.memory.now()
        shared = {
            "owner": self.mine.owner,
            "link": self.link,
            "may_write": self.may_write,
            "here": self.request.url.path,
            "locked": serving_of(self.request).require_keys,
            "zone": zone.key,
            "when": lambda moment: when(moment, zone),
            "day": lambda moment: "" if moment is None else f"{there(moment, zone):%Y-%m-%d}",
            "ago": lambda moment: ago(moment, now),
        }
        return HTMLResponse(environment().get_template(template).render(**shared, **values))

    def back(self, path: str, **query: object) -> RedirectResponse:
        """After something was done: the page that shows it."""
        return RedirectResponse(self.link(path, **query), status_code=303)

    @property
    def partial(self) -> bool:
        """Whether htmx asks for a part of a page."""
        return self.request.headers.get("hx-request") == "true"

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which this owner's times are shown."""
        state = self.mine.state()
        return ZoneInfo(state.timezone if state is not None and state.timezone else self.memory.settings.timezone)


def place(request: Request, access: Accessible, user: str = "", agent: str = "") -> Place:
    """The owner named in the address; without one, the first that the request may reach."""
    return _placed(request, access, user, agent, Right.READ)


def place_to_change(request: Request, access: Accessible, user: str = "", agent: str = "") -> Place:
    """The same, for a request that changes something."""
    return _placed(request, access, user, agent, Right.WRITE)


PageContext = Annotated[Place, Depends(place)]
"""A route's parameter, for pages that only show."""
Changing = Annotated[Place, Depends(place_to_change)]
"""A route's parameter, for actions."""


def _placed(request: Request, access: Access, user: str, agent: str, right: Right) -> Place:
    if not user:
        user, agent = _first(access)
    mine = access.owner(user, agent or "default", right)
    return Place(
        request=request,
        access=access,
        memory=serving_of(request).memory,
        mine=mine,
        may_write=access.may(mine.owner, Right.WRITE),
    )


def _first(access: Access) -> tuple[str, str]:
    """The user and agent of the first page: default, if that is known; else whoever is; else whom the key names."""
    owners = [(one.user, one.agent) for one in access.owners()]
    if not owners and access.key is not None:
        owners = [(grant.user, grant.agent or "default") for grant in access.key.of_users if grant.user is not None]
    default = ("default", "default")
    return default if default in owners or not owners else owners[0]


# --------------------------------------------------------------------------------------------------- what failed


class PageRoute(APIRoute):
    """A route whose failures are pages: a login where a key is needed, else what went wrong in words."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, and what answers for it when it fails."""
        handle = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handle(request)
            except Unauthorized:
                return to_login(request)
            except EmberError as error:
                problem = problem_of(error)
                return failed(problem.status, problem.detail, request)
            except RequestValidationError as error:
                told = "; ".join(
                    f"{' '.join(str(at) for at in one['loc'][1:])}: {one['msg']}" for one in error.errors()
                )
                return failed(422, told, request)
            except HTTPException as error:
                return failed(error.status_code, str(error.detail), request)

        return answered


def to_login(request: Request) -> Response:
    """Where a key is asked for; afterwards the page that was wanted."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = "/login" if request.method != "GET" or wanted == "/" else f"/login?{urlencode({'next': wanted})}"
    if request.headers.get("hx-request") == "true":
        return Response(status_code=401, headers={"HX-Redirect": target})
    return RedirectResponse(target, status_code=303)


def failed(status: int, what: str, request: Request) -> HTMLResponse:
    """A page that says what went wrong, and leads back."""
    titles = {403: "Not yours to see", 404: "Not there", 413: "Too large", 422: "That did not work", 503: "Busy"}
    values = {"title": titles.get(status, "Something failed"), "what": what}
    if request.headers.get("hx-request") == "true":
        made = HTMLResponse(environment().get_template("failure_part.html").render(**values))
    else:
        made = _failed_in_place(request, values)
    made.status_code = status
    return made


def lost(problem: Problem, request: Request) -> Response:
    """The page for an address where nothing is."""
    if is_stranger(request):
        return to_login(request)
    return failed(problem.status, problem.detail, request)


def _failed_in_place(request: Request, values: Mapping[str, str]) -> HTMLResponse:
    """Within the pages of the owner that the address names; alone, where that owner cannot be shown."""
    asked = request.query_params
    try:
        here = place(request, access(request), asked.get("user", ""), asked.get("agent", ""))
        return here.page("failure.html", **values)
    except EmberError:
        return HTMLResponse(environment().get_template("failure_bare.html").render(**values))


# ----------------------------------------------------------------------------------------------------- templates


@cache
def environment() -> Environment:
    """The templates: all text is escaped, and a name that is not given is an error."""
    made = Environment(
        loader=PackageLoader("embermem.http.inspector"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        said=words.said,
        line=words.line,
        spans=words.spans,
        plain=words.plain,
        heat=words.heat,
        attribute=words.attribute,
        number=lambda value: f"{value:,}",
        json=lambda value: json.dumps(value, ensure_ascii=False),
    )
    made.globals.update(asset=address, sections=SECTIONS)
    return made


def when(moment: datetime | None, zone: ZoneInfo) -> str:
    """A time as a person reads it: to the minute, with its zone."""
    return "" if moment is None else f"{there(moment, zone):%Y-%m-%d %H:%M %Z}"


def there(moment: datetime, zone: ZoneInfo) -> datetime:
    """A time in a zone; as it is, where it would fall outside the years 1 to 9999 there."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago a moment was, or how long until it comes, in the largest whole unit."""
    if moment is None:
        return ""
    seconds = (now.astimezone(UTC) - moment.astimezone(UTC)).total_seconds()
    for unit, length in (("year", 31_557_600), ("month", 2_629_800), ("day", 86_400), ("hour", 3600), ("minute", 60)):
        count = int(abs(seconds) // length)
        if count:
            named = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"{named} ago" if seconds > 0 else f"in {named}"
    return "just now" if seconds >= 0 else "now"
