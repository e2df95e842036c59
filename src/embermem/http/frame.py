"""What an application of ours is framed by: who may use it, what every request goes through, what is ready before."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.middleware import Middleware

from embermem.core.errors import EmbedderError, kind
from embermem.http.limits import BodyLimit
from embermem.http.metrics import Metrics
from embermem.http.middleware import Guard, SecurityHeaders, TrailingSlash, Watch
from embermem.http.rates import RateLimit
from embermem.http.recent import Recent
from embermem.http.serving import Serving

if TYPE_CHECKING:
    from fastapi import FastAPI

    from embermem.memory import Memory

logger = logging.getLogger(__name__)


def serving_over(memory: Memory, *, require_keys: bool) -> Serving:
    """A server of a memory, whose figures and limits begin now. An application keeps it as `state.serving`."""
    return Serving(
        memory=memory,
        require_keys=require_keys,
        rate=RateLimit(memory.settings.http_rate_per_minute),
        metrics=Metrics(memory),
        recent=Recent(),
    )


def middleware(serving: Serving, *, hosts: Sequence[str], larger: Mapping[str, int] | None = None) -> list[Middleware]:
    """The outermost first. `hosts` are answered beside loopback; `larger` names paths whose bodies may be larger."""
    return [
        Middleware(TrailingSlash),
        Middleware(SecurityHeaders),
        Middleware(Watch, metrics=serving.metrics, recent=serving.recent),
        Middleware(Guard, hosts=tuple(hosts), any_host=serving.require_keys),
        Middleware(BodyLimit, most=serving.memory.settings.http_body_bytes, larger=larger),
    ]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """So many requests are worked on at once; the embedder's weights are read before the first, which would wait."""
    memory: Memory = app.state.serving.memory
    anyio.to_thread.current_default_thread_limiter().total_tokens = memory.settings.http_threads
    try:
        await anyio.to_thread.run_sync(memory.embed, ["ready"])
    except EmbedderError as error:
        logger.warning("the embedder is not ready: %s", kind(error))
    yield
