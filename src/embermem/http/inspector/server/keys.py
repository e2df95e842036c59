"""The keys of the server: who may do what; made, shown once, and revoked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response

from embermem import api_keys
from embermem.core.errors import InputError, NotFound
from embermem.http.inspector.place import Operating, OperatorContext, PageRoute, ServerPlace
from embermem.http.serving import serving_of
from embermem.protocols import ApiKey

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the form for a new key holds. `owners` and `spaces` have a line for each."""

    name: str = ""
    everything: bool = False
    owners: str = ""
    spaces: str = ""
    read_only: bool = False


@router.get("/operations/keys")
def listed(here: OperatorContext) -> HTMLResponse:
    """All keys, those that hold first, the newest of them first."""
    return _page(here)


@router.post("/operations/keys")
def make(
    here: Operating,
    name: Annotated[str, Form()] = "",
    of: Annotated[str, Form()] = "",
    owners: Annotated[str, Form()] = "",
    spaces: Annotated[str, Form()] = "",
    read_only: Annotated[bool, Form()] = False,
) -> HTMLResponse:
    """A new key. Its text stands in this answer alone: it is never stored, and no address leads to it again."""
    wanted = Wanted(name=name, everything=of == "everything", owners=owners, spaces=spaces, read_only=read_only)
    try:
        key, text = api_keys.make(
            name, _owners(wanted), spaces=_lines(spaces), read_only=read_only, now=datetime.now(UTC)
        )
    except InputError as error:
        return _page(here, wanted=wanted, wrong=str(error), status=422)
    here.memory.keys.add_key(key)
    return _page(here, made=key, text=text)


@router.get("/operations/keys/{key_id}/revoke")
def asked(here: OperatorContext, key_id: str) -> HTMLResponse:
    """The question before a key is revoked."""
    template = "key_revoke_part.html" if here.partial else "key_revoke.html"
    key = _key(here, key_id)
    return here.page(template, title="Revoke a key", key=key, grants=_grants(key), mine=_is_mine(here, key))


@router.post("/operations/keys/{key_id}/revoke")
def revoke(here: Operating, key_id: str) -> Response:
    """End a key: every server on this store refuses it from now on."""
    here.memory.keys.revoke_key(key_id, datetime.now(UTC))
    return here.back("/operations/keys")


def _page(
    here: ServerPlace,
    *,
    wanted: Wanted | None = None,
    wrong: str = "",
    made: ApiKey | None = None,
    text: str = "",
    status: int = 200,
) -> HTMLResponse:
    keys = sorted(here.memory.keys.all_keys(), key=lambda one: one.created_at, reverse=True)
    used = serving_of(here.request).recent.used
    rows = [
        (key, _grants(key), datetime.fromtimestamp(used[key.id], UTC) if key.id in used else None)
        for key in sorted(keys, key=lambda one: one.revoked_at is not None)
    ]
    answer = here.page(
        "operations_keys.html",
        title="Keys",
        keys=rows,
        holding=sum(key.revoked_at is None for key in keys),
        own_id=None if here.access.key is None else here.access.key.id,
        since=datetime.fromtimestamp(serving_of(here.request).recent.since, UTC),
        wanted=wanted or Wanted(),
        wrong=wrong,
        made=made,
        made_grants=[] if made is None else _grants(made),
        text=text,
    )
    answer.status_code = status
    return answer


def _owners(wanted: Wanted) -> list[str]:
    """The owners of a new key. Raises InputError for `*` in a line: who means everybody says so."""
    lines = _lines(wanted.owners)
    if wanted.everything:
        return [api_keys.ANY]
    if api_keys.ANY in lines:
        raise InputError("a line of owners is *, which is everybody: choose “everything” for that")
    return lines


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _grants(key: ApiKey) -> list[str]:
    """What a key holds, in words."""
    if api_keys.is_for_all(key):
        return ["everything"]
    return [f"space {api_keys.shown(one)}" if one.space is not None else api_keys.shown(one) for one in key.grants]


def _key(here: ServerPlace, key_id: str) -> ApiKey:
    found = here.memory.keys.key(key_id)
    if found is None:
        raise NotFound(f"there is no key {key_id!r}")
    return found


def _is_mine(here: ServerPlace, key: ApiKey) -> bool:
    return here.access.key is not None and here.access.key.id == key.id
