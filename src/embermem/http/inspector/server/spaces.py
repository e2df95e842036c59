"""Shared spaces: which there are, to whom each is granted since when, and granting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse

from embermem.core import messages
from embermem.core.errors import InputError
from embermem.core.types import NO_USER, Share
from embermem.http.access import Right
from embermem.http.inspector.place import PageRoute, ServerContext, ServerPlace
from embermem.http.problems import Forbidden

A_PART = 30
"""Spaces on one page: the grants of each are read."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class SpaceEntry:
    """One space in the list. Its grants are told to those who may grant it (`knows_grants`); only they may change
    them (`may_grant`), where the server writes."""

    name: str
    knows_grants: bool
    may_grant: bool
    standing: tuple[Share, ...]
    past: tuple[Share, ...]


@router.get("/spaces")
def spaces(here: ServerContext, after: str = "", granted: str = "", ended: str = "") -> HTMLResponse:
    """The spaces that the request may read, by name. `granted` and `ended` name the space whose grant has just been
    made, or ended."""
    names = [name for name in here.access.spaces() if name > after]
    return here.page(
        "spaces.html",
        title="Spaces",
        entries=[_entry(here, name) for name in names[:A_PART]],
        following=names[A_PART - 1] if len(names) > A_PART else None,
        after=after,
        may_begin=here.access.operates(Right.WRITE),
        may_look=here.access.operates(),
        no_user=NO_USER,
        granted=granted,
        ended=ended,
    )


@router.post("/spaces/grant")
def grant(
    here: ServerContext,
    space: Annotated[str, Form()] = "",
    user: Annotated[str, Form()] = "",
    agent: Annotated[str, Form()] = "",
    everybody: Annotated[bool, Form()] = False,
    write: Annotated[bool, Form()] = False,
) -> RedirectResponse:
    """Let a user, or everybody, read a space, or also write to it."""
    whom = _whom(user, everybody=everybody)
    here.access.space(space).grant(space, user=whom, agent=agent.strip() or None, write=write)
    return here.back("/spaces", granted=space)


@router.post("/spaces/revoke")
def revoke(
    here: ServerContext,
    space: Annotated[str, Form()] = "",
    user: Annotated[str, Form()] = "",
    agent: Annotated[str, Form()] = "",
    everybody: Annotated[bool, Form()] = False,
) -> RedirectResponse:
    """End a grant."""
    here.access.space(space).revoke(space, user=_whom(user, everybody=everybody), agent=agent or None)
    return here.back("/spaces", ended=space)


def _whom(user: str, *, everybody: bool) -> str | None:
    """The user of a grant; None is everybody, which has to be said. Raises InputError."""
    if everybody == bool(user.strip()):
        raise InputError("to whom is not clear; name a user, or mark everybody, and not both")
    return None if everybody else user


def _entry(here: ServerPlace, name: str) -> SpaceEntry:
    try:
        every = here.access.space(name, change=False).grants(name, past=True)
    except Forbidden:
        return SpaceEntry(name=name, knows_grants=False, may_grant=False, standing=(), past=())
    return SpaceEntry(
        name=name,
        knows_grants=True,
        may_grant=here.access.may(messages.space(name), Right.GRANT),
        standing=tuple(one for one in every if one.stands),
        past=tuple(one for one in every if not one.stands),
    )
