"""Work that a request begins and does not wait for: a bounded registry of this process, run by a few threads.

A process that ends takes its registry with it, and nothing is lost: what was not done is still due, and the work behind
does it. So an operation that is not found any more is asked for again.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum

from embermem.core import ids
from embermem.core.errors import EmberError, kind
from embermem.core.types import Owner
from embermem.http.problems import HttpError, Problem, problem_of

logger = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
Work = Callable[[Progress], Mapping[str, int]]
"""What an operation does: told (done, total) on the way, with a few numbers as its result."""

THREADS = 2  # understanding is bound by the model or by one core; more would only take turns
MOST_KEPT = 1000  # some 300 bytes each
MOST_WAITING = 200


class Status(StrEnum):
    """How an operation stands. Waiting for a thread counts as running."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class TooManyOperations(HttpError):
    """So many operations wait already that no more are taken."""

    tag = "too-many-operations"
    status = 503
    retry_after_s = 5.0


class _Stopping(BaseException):
    """The server stops: work that tells its progress ends there, and gives back what it holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """Work for one owner. `total` is None until it is known; `error` says why it failed."""

    id: str
    kind: str
    owner: Owner
    status: Status = Status.RUNNING
    done: int = 0
    total: int | None = None
    result: Mapping[str, int] = field(default_factory=dict)
    error: Problem | None = None


class Operations:
    """The operations of one server. The oldest that ended is dropped where there are too many.

    The same work for the same owner runs once at a time and waits once: whoever asks for what has not begun gets that
    operation, and what runs sees nothing of what came after it began. So no owner takes more than one thread.
    """

    def __init__(self, *, threads: int = THREADS, most_kept: int = MOST_KEPT, most_waiting: int = MOST_WAITING) -> None:
        self._most_kept = most_kept
        self._most_waiting = most_waiting
        self._lock = threading.Lock()
        self._all: OrderedDict[str, Operation] = OrderedDict()
        self._waiting: dict[tuple[str, str], tuple[str, Work]] = {}
        self._at_work: set[tuple[str, str]] = set()
        self._stopping = threading.Event()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="embermem-operation")

    def begin(self, kind: str, owner: Owner, work: Work) -> Operation:
        """Have work done for an owner. Raises TooManyOperations."""
        which = (kind, owner.id)
        with self._lock:
            if which in self._waiting:
                return self._all[self._waiting[which][0]]
            if len(self._waiting) >= self._most_waiting or self._stopping.is_set():
                raise TooManyOperations("too many operations are waiting; try again in a few seconds")
            made = Operation(id=ids.new_id("o"), kind=kind, owner=owner)
            self._all[made.id] = made
            self._drop()
            self._waiting[which] = made.id, work
            if which not in self._at_work:
                self._threads.submit(self._run, which)
            return made

    def get(self, operation_id: str) -> Operation | None:
        """An operation as it stands; None where there is none such, or no longer."""
        with self._lock:
            return self._all.get(operation_id)

    def close(self) -> None:
        """Ends: what waits is not begun, and what runs ends at its next step."""
        with self._lock:
            self._stopping.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _run(self, which: tuple[str, str]) -> None:
        """Do what waits; then have a thread do what came meanwhile."""
        with self._lock:
            operation_id, work = self._waiting.pop(which)
            self._at_work.add(which)
        try:
            self._do(operation_id, work)
        finally:
            with self._lock:
                self._at_work.discard(which)
                if which in self._waiting and not self._stopping.is_set():
                    self._threads.submit(self._run, which)

    def _do(self, operation_id: str, work: Work) -> None:
        def told(done: int, total: int) -> None:
            if self._stopping.is_set():
                raise _Stopping
            self._update(operation_id, done=done, total=total)

        try:
            result = work(told)
        except _Stopping:
            logger.info("an operation ended with the server; its work is still due")
        except EmberError as error:
            logger.warning("an operation failed: %s", type(error).__name__)
            self._update(operation_id, status=Status.FAILED, error=problem_of(error))
        except Exception as error:  # noqa: BLE001 - a defect ends this operation, and not the thread that others wait for
            logger.error("an operation failed: %s", kind(error))
            self._update(operation_id, status=Status.FAILED, error=problem_of(error))
        else:
            self._update(operation_id, status=Status.DONE, result=result)

    def _update(self, operation_id: str, **values: object) -> None:
        with self._lock:
            if operation_id in self._all:
                self._all[operation_id] = replace(self._all[operation_id], **values)  # type: ignore[arg-type]

    def _drop(self) -> None:
        """Drop the oldest that ended; those that run are bounded by who waits."""
        spare = len(self._all) - self._most_kept
        ended = (one.id for one in self._all.values() if one.status is not Status.RUNNING)
        for operation_id in [one for _, one in zip(range(max(0, spare)), ended, strict=False)]:
            del self._all[operation_id]
