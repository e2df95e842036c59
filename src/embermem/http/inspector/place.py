"""Where a request stands: on a page of the server or of one owner's memory, and how such pages are made."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, unquote, urlencode
from zoneinfo import ZoneInfo, available_timezones

from fastapi import Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined

from embermem.core import messages
from embermem.core.errors import EmberError, NotFound
from embermem.core.types import NO_USER
from embermem.http.access import Access, Accessible, Right, access, is_stranger
from embermem.http.inspector import sections, words
from embermem.http.inspector.assets import address
from embermem.http.inspector.entries import in_words
from embermem.http.problems import Forbidden, Problem, Unauthorized, problem_of
from embermem.http.serving import serving_of
from embermem.protocols import OwnerOrder

if TYPE_CHECKING:
    from embermem.core.changes import Change
    from embermem.core.types import Owner
    from embermem.memory import Memory, OwnerMemory

ZONE_COOKIE = "ember_zone"
"""The cookie in which a browser tells its time zone."""


@dataclass(frozen=True, kw_only=True)
class ServerPlace:
    """One request for a page of the server. `may_write` says whether the page offers to change anything."""

    request: Request
    access: Access
    memory: Memory
    may_write: bool

    @property
    def owner(self) -> Owner | None:
        """Whose memory the page shows; None on a page of the server."""
        return None

    def link(self, path: str, **query: object) -> str:
        """An address of the inspector. What is None or empty is left out."""
        told = {key: str(value) for key, value in query.items() if value not in (None, "")}
        return quote(path) + (f"?{urlencode(told)}" if told else "")

    def page(self, template: str, **values: Any) -> HTMLResponse:
        """A page, or the part of one that the template makes."""
        zone, own = self.zone, self.owner_zone
        now = self.memory.now()
        shared = {
            "owner": self.owner,
            "link": self.link,
            "may_write": self.may_write,
            "here": self.request.url.path,
            "sections": tuple(
                sections.shown(
                    owner=self.owner is not None,
                    operates=self.access.operates(),
                    spaces=self.access.knows_spaces,
                )
            ),
            "locked": serving_of(self.request).require_keys,
            "done": self.done,
            "done_here": self._without_done(),
            "method": self.request.method,
            "zone": zone.key,
            "owner_zone": own.key,
            "when": lambda moment: when(moment, zone),
            "day": lambda moment: "" if moment is None else f"{there(moment, zone):%Y-%m-%d}",
            "owner_day": lambda moment: f"{there(moment, own):%Y-%m-%d}",
            "valid_day": lambda moment: valid_day(moment, own),
            "ago": lambda moment: ago(moment, now),
        }
        return HTMLResponse(environment().get_template(template).render(**shared, **values))

    def first_command(self, user: str, agent: str) -> str:
        """What may be pasted into a shell to see something of an owner here; a key is taken from EMBERMEM_KEY. Into a
        space, those who run the server put something at the store."""
        if user == NO_USER:
            return f"embermem --space {agent} add 'The deploy happens every Friday.'"
        body = {
            "messages": [{"role": "user", "content": "I live in Lyon and I play the cello."}],
            "user_id": user,
            "agent_id": agent,
        }
        address = f"{self.request.url.scheme}://{self.request.url.netloc}/v1/memories"
        key = ' -H "Authorization: Bearer $EMBERMEM_KEY"' if serving_of(self.request).require_keys else ""
        said = shlex.quote(json.dumps(body, ensure_ascii=False))
        return f"curl {shlex.quote(address)} -H 'Content-Type: application/json'{key} -d {said}"

    def back(self, path: str, **query: object) -> RedirectResponse:
        """After something was done: the page that shows it. `done` is the number of the change that did it: the page
        tells it, with its undo beside."""
        return RedirectResponse(self.link(path, **query), status_code=303)

    @property
    def done(self) -> tuple[Change, str] | None:
        """The change that has just been made here, and what it did in words."""
        return None

    @property
    def partial(self) -> bool:
        """Whether htmx asks for a part of a page."""
        return self.request.headers.get("hx-request") == "true"

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which times are shown: the viewer's, as their browser tells it, else the owner's."""
        told = unquote(self.request.cookies.get(ZONE_COOKIE, ""))
        return ZoneInfo(told) if told in _zones() else self.owner_zone

    @property
    def owner_zone(self) -> ZoneInfo:
        """The zone of the days since and until which facts hold; where there is no owner, that of the settings."""
        return ZoneInfo(self.memory.settings.timezone)

    def _without_done(self) -> str:
        """The address of this page, without the change that it tells."""
        kept = [(name, value) for name, value in self.request.query_params.multi_items() if name != "done"]
        return self.request.url.path + (f"?{urlencode(kept)}" if kept else "")


@dataclass(frozen=True, kw_only=True)
class Place(ServerPlace):
    """One request for one owner's memory."""

    mine: OwnerMemory

    @property
    def owner(self) -> Owner:
        """Whose memory the page shows."""
        return self.mine.owner

    def link(self, path: str, **query: object) -> str:
        """An address of the inspector that keeps the owner. What is None or empty is left out."""
        return super().link(path, user=self.mine.owner.user, agent=self.mine.owner.agent, **query)

    @property
    def done(self) -> tuple[Change, str] | None:
        """The change that the address says was just made, and what it did in words."""
        told = self.request.query_params.get("done", "")
        if not (told.isascii() and told.isdigit()) or len(told) > _DIGITS or int(told) < 1:
            return None
        try:
            change = self.mine.change(int(told))
        except NotFound:
            return None
        return change, in_words(self.mine, change)

    @property
    def owner_zone(self) -> ZoneInfo:
        """The owner's zone, else that of the settings."""
        state = self.mine.state()
        return ZoneInfo(state.timezone) if state is not None and state.timezone else super().owner_zone


_DIGITS = 15
"""Digits of a change's number in an address, at most."""


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def server_place(request: Request, access: Accessible) -> ServerPlace:
    """A page of the server that shows only what the request may reach."""
    return ServerPlace(
        request=request,
        access=access,
        memory=serving_of(request).memory,
        may_write=access.operates(Right.WRITE),
    )


def operator_place(request: Request, access: Accessible) -> ServerPlace:
    """A page for those who run the server. Raises Forbidden."""
    return _operating(request, access, Right.READ)


def operator_place_to_change(request: Request, access: Accessible) -> ServerPlace:
    """The same, for a request that changes something. Raises Forbidden."""
    return _operating(request, access, Right.WRITE)


def _operating(request: Request, access: Access, right: Right) -> ServerPlace:
    if not access.operates(right):
        raise Forbidden("this needs a key for all owners" + (" that may write" if right is Right.WRITE else ""))
    return server_place(request, access)


def place(request: Request, access: Accessible, user: str = "", agent: str = "") -> Place:
    """The owner named in the address; without one, the first that the request may reach. The blank user is that of the
    spaces, each by its name as the agent."""
    return _placed(request, access, user, agent, Right.READ)


def place_to_change(request: Request, access: Accessible, user: str = "", agent: str = "") -> Place:
    """The same, for a request that changes something."""
    return _placed(request, access, user, agent, Right.WRITE)


def first_recorded(here: Place, as_of: str | None) -> datetime | None:
    """When the first message was recorded, if that was after `as_of`: nothing was known then, whenever it was said."""
    if not as_of or here.mine.pages(limit=1, as_of=as_of):
        return None
    return next((one.recorded_at for one in here.mine.utterances(limit=1)), None)


ServerContext = Annotated[ServerPlace, Depends(server_place)]
"""A route's parameter, for pages of the server that anybody with access may see."""
OperatorContext = Annotated[ServerPlace, Depends(operator_place)]
"""A route's parameter, for pages of those who run the server."""
Operating = Annotated[ServerPlace, Depends(operator_place_to_change)]
"""A route's parameter, for their actions."""
PageContext = Annotated[Place, Depends(place)]
"""A route's parameter, for pages of an owner that only show."""
Changing = Annotated[Place, Depends(place_to_change)]
"""A route's parameter, for actions on an owner's memory."""


def _placed(request: Request, access: Access, user: str, agent: str, right: Right) -> Place:
    if not user:
        user, agent = _first(access)
    mine = access.space_whole(agent, right) if user == NO_USER else access.owner(user, agent or "default", right)
    return Place(
        request=request,
        access=access,
        memory=serving_of(request).memory,
        mine=mine,
        may_write=access.may(mine.owner, Right.WRITE),
    )


def _first(access: Access) -> tuple[str, str]:
    """The user and agent of the first page: default, if that is known; else whoever is; else whom the key names."""
    default = messages.owner("default", "default")
    if access.may(default) and access.owner(default.user, default.agent).state() is not None:
        return default.user, default.agent
    known = access.find_owners(order=OwnerOrder.NAME, limit=1)
    if known:
        return known[0].owner.user, known[0].owner.agent
    named = () if access.key is None else access.key.of_users
    users = ((grant.user, grant.agent or "default") for grant in named if grant.user is not None)
    return next(users, (default.user, default.agent))


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
    """Within the pages of the owner that the address names, or of the server; alone, where these cannot be shown."""
    asked = request.query_params
    try:
        reached = access(request)
        if not asked.get("user"):
            return server_place(request, reached).page("failure.html", **values)
        return place(request, reached, asked["user"], asked.get("agent", "")).page("failure.html", **values)
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
    made.globals.update(asset=address)
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


def valid_day(moment: datetime | None, zone: ZoneInfo) -> str:
    """The day on which a fact began or ended. A day that was named begins and ends at midnight where it was named, and
    stays that day; any other moment is told in the zone."""
    if moment is None:
        return ""
    edge = moment + timedelta(microseconds=1) if moment.microsecond == 999_999 else moment
    return f"{moment if edge.time() == time.min else there(moment, zone):%Y-%m-%d}"


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
