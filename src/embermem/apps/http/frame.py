"""What an application of ours is framed by: who may use it, and the middleware that every request goes through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from starlette.middleware import Middleware

from embermem.apps.http.limits import BodyLimit, RateLimit
from embermem.apps.http.metrics import Metrics
from embermem.apps.http.middleware import Guard, SecurityHeaders, Watch
from embermem.apps.http.serving import Serving

if TYPE_CHECKING:
    from embermem.memory import Memory


def serving_over(memory: Memory, *, require_keys: bool) -> Serving:
    """A server of a memory, whose figures and limits begin now. An application keeps it as `state.serving`."""
    return Serving(
        memory=memory,
        require_keys=require_keys,
        rate=RateLimit(memory.settings.http_rate_per_minute),
        metrics=Metrics(memory),
    )


def middleware(serving: Serving, *, hosts: Sequence[str], larger: Mapping[str, int] | None = None) -> list[Middleware]:
    """The outermost first. `hosts` are answered beside loopback; `larger` names paths whose bodies may be larger."""
    return [
        Middleware(SecurityHeaders),
        Middleware(Watch, metrics=serving.metrics),
        Middleware(Guard, hosts=tuple(hosts), any_host=serving.require_keys),
        Middleware(BodyLimit, most=serving.memory.settings.http_body_bytes, larger=larger),
    ]
