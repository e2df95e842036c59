"""Where a server that requires keys asks for one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.requests import HTTPConnection

from embermem.http.access import access
from embermem.http.inspector import words
from embermem.http.inspector.place import PageRoute, environment
from embermem.http.problems import Unauthorized
from embermem.http.serving import serving_of

COOKIE = "ember_key"
_STAYS_S = 30 * 86_400
"""How long a browser keeps the key: 30 days."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/login")
def form(request: Request, next: str = "/") -> HTMLResponse:
    """The form for a key."""
    return _form(request, next)


@router.post("/login")
def login(request: Request, key: Annotated[str, Form()] = "", next: Annotated[str, Form()] = "/") -> Response:
    """Keep a good key in a cookie that no script can read."""
    given = key.strip()
    if not _is_good(request, given):
        return _form(request, next, wrong=True)
    answer = RedirectResponse(words.own_address(next), status_code=303)
    answer.set_cookie(
        COOKIE,
        given,
        max_age=_STAYS_S,
        httponly=True,
        samesite="strict",
        secure=_over_tls(request),
        path="/",
    )
    return answer


@router.post("/logout")
def logout() -> RedirectResponse:
    """Take the key away again."""
    answer = RedirectResponse("/login", status_code=303)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


def _over_tls(request: Request) -> bool:
    """Whether the browser speaks TLS, which a proxy before us may have taken off: it says so itself, by the Origin of a
    form that it sends. A cookie that is marked so guards nobody but that browser."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")


def _form(request: Request, next: str, *, wrong: bool = False) -> HTMLResponse:
    needed = serving_of(request).require_keys
    text = environment().get_template("login.html").render(next=words.own_address(next), wrong=wrong, needed=needed)
    return HTMLResponse(text, status_code=401 if wrong else 200)


def _is_good(request: Request, key: str) -> bool:
    """Whether a request with this key alone would be let in."""
    if not key.isascii() or not key.isprintable() or not key:
        return False
    headers = [(b"authorization", f"Bearer {key}".encode())]
    try:
        access(HTTPConnection({**request.scope, "headers": headers}))
    except Unauthorized:
        return False
    return True
