"""What all routes of one server share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from embermem.http.metrics import Metrics
    from embermem.http.rates import RateLimit
    from embermem.memory import Memory


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


def serving_of(connection: HTTPConnection) -> Serving:
    """The server that a request came to."""
    return cast("Serving", connection.app.state.serving)
