"""What all routes of one server share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import HTTPConnection

    from embermem.http.metrics import Metrics
    from embermem.http.rates import RateLimit
    from embermem.http.recent import Recent
    from embermem.memory import Memory

_Kept = TypeVar("_Kept")


@dataclass(frozen=True, kw_only=True, slots=True)
class Serving:
    """One server's memory, and who may use it.

    With `require_keys` every request needs a key; without, a request that gives none may do everything, and one that
    gives a key of ours may do what the key allows.
    """

    memory: Memory
    require_keys: bool
    rate: RateLimit
    metrics: Metrics
    recent: Recent


def kept(app: Starlette, name: str, make: Callable[[], _Kept]) -> _Kept:
    """What an application keeps under a name; made when it is first asked for."""
    if not hasattr(app.state, name):
        setattr(app.state, name, make())
    return cast("_Kept", getattr(app.state, name))


def serving_of(connection: HTTPConnection) -> Serving:
    """The server that a request came to."""
    return cast("Serving", connection.app.state.serving)
