"""/health and /metrics of `embermem worker`, and nothing else."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from fastapi import FastAPI, Request
from starlette.responses import JSONResponse

from embermem.core.errors import kind
from embermem.http import frame, health, problems
from embermem.http.metrics import Metrics
from embermem.http.rates import RateLimit
from embermem.http.recent import Recent
from embermem.http.serving import Serving
from embermem.memoryos.ingest.work_watch import kind_of_failure
from embermem.pulse import Pulse, stall_s

if TYPE_CHECKING:
    from embermem.memory import Memory

__all__ = ["Probe", "WorkerHealth", "create_app"]

logger = logging.getLogger(__name__)

_THREADS = 4
"""Requests that are worked on at once: a scrape and a health check, and another of each."""
_WAIT_S = 3.0
"""How long the store may take to answer a health check; those who ask wait some seconds themselves."""
_KEPT_S = 1.0
"""So long an answer of the store stands: it is asked once a second, however many ask for the health."""


def create_app(memory: Memory, pulse: Pulse, stop: threading.Event, *, hosts: Sequence[str], remote: bool) -> FastAPI:
    """The application over a worker's memory and the signs of life of its threads. With `remote`, whoever reaches the
    address may ask, by whatever name, and `/metrics` needs a key of the store, as it does on a server with keys."""
    serving = Serving(
        memory=memory,
        require_keys=remote,
        rate=RateLimit(memory.settings.http_rate_per_minute),
        metrics=Metrics(memory, pulse),
        recent=Recent(),
    )
    app = FastAPI(
        title="Ember worker",
        openapi_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        middleware=frame.middleware(serving, hosts=hosts),
    )
    app.state.serving = serving
    app.state.health = WorkerHealth(memory, pulse, stop)
    problems.install(app)
    app.add_api_route("/health", _health, methods=["GET"])
    app.add_api_route("/metrics", health.metrics, methods=["GET"])
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
    yield


def _health(request: Request) -> JSONResponse:
    """200 where the worker lives and its store can be reached, else 503. Needs no key: it holds no name and no text."""
    told: WorkerHealth = request.app.state.health
    state = told.state()
    return JSONResponse(state, status_code=200 if state["live"] and state["ready"] else 503)


class WorkerHealth:
    """Whether a worker does its work."""

    def __init__(self, memory: Memory, pulse: Pulse, stop: threading.Event) -> None:
        self._memory = memory
        self._pulse = pulse
        self._stop = stop
        self._store = Probe(lambda: memory.keys.key(""))

    def state(self) -> dict[str, Any]:
        """As the route tells it: `live` while every thread has given a sign of life within its time, `ready` while the
        store can be reached and the worker was not told to stop; `problems` say what is wrong."""
        pulse, counts = self._pulse.state(), self._memory.work_counts
        longest_s = stall_s(self._memory.settings, modelled=bool(self._memory.model_name))
        live = pulse.threads > 0 and pulse.silent_s <= longest_s
        store, stopping = self._store.failure(), self._stop.is_set()
        if not pulse.threads:
            silent = "no thread has begun yet"
        else:
            silent = f"a thread gave no sign of life for {pulse.silent_s:.0f} s (the most is {longest_s:g})"
        found = [] if live else [silent]
        found += [f"the store cannot be reached: {store}"] if store else []
        found += ["the worker was told to stop"] if stopping else []
        error = None if pulse.failed_s is None else {"kind": pulse.failed, "seconds_ago": round(pulse.failed_s, 1)}
        return {
            "status": "failing" if found else "ok",
            "live": live,
            "ready": not store and not stopping,
            "problems": found,
            "threads": pulse.threads,
            "silent_s": round(pulse.silent_s, 1),
            "rounds": pulse.rounds,
            "last_round_s": None if pulse.last_round_s is None else round(pulse.last_round_s, 1),
            "last_error": error,
            "failures": sum(counts.failures.values()),
            "leases": counts.leases,
            "oldest_lease_s": round(counts.oldest_lease_s, 1),
        }


class Probe:
    """Asks something that may never answer, by one thread at most."""

    def __init__(self, ask: Callable[[], object], *, wait_s: float = _WAIT_S) -> None:
        self._ask = ask
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._answered: threading.Event | None = None
        self._failure = ""
        self._at = -_KEPT_S

    def failure(self) -> str:
        """The class of the error that asking ended with, "no answer" where it takes too long, empty where all is
        well."""
        with self._lock:
            if self._answered is None and time.monotonic() - self._at < _KEPT_S:
                return self._failure
            if self._answered is None:
                self._answered = threading.Event()
                threading.Thread(target=self._run, args=(self._answered,), name="embermem-probe", daemon=True).start()
            answered = self._answered
        return self._failure if answered.wait(self._wait_s) else "no answer"

    def _run(self, answered: threading.Event) -> None:
        failure = ""
        try:
            self._ask()
        except Exception as error:  # noqa: BLE001 - whatever it is, the store was not reached
            logger.debug("the store did not answer a health check: %s", kind(error))
            failure = kind_of_failure(error)
        with self._lock:
            self._failure, self._at, self._answered = failure, time.monotonic(), None
        answered.set()
